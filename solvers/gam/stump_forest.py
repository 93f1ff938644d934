"""From checked rows to a fitted model: what the estimators of regressions and classifications share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from solvers.gam.additive_fit import AdditiveFit, fit_additive
from solvers.gam.additive_model import AdditiveModel
from solvers.gam.binning import NumericBins
from solvers.gam.feature_columns import CategoricalFeatures, Column, FeatureReader, read_features
from solvers.gam.fit_summary import summarise
from solvers.gam.fitted_gam import Fitted, FittedGam
from solvers.gam.losses import Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import CodedColumn, Floats
from solvers.gam.training import prepare

FITTING_SHARE, PROOF_SHARE = 0.75, 0.85
"""Of the time, when the search for a model ends, and when the proof of its quality."""


class Monitor(Protocol):
    """What watches a long fit; the context of an operation is one."""

    def is_over(self, share: float) -> bool:
        """Return whether this share of the time is over, or what is asked for is the best model so far."""

    def report(self, *, fraction: float | None = None) -> None:
        """Take note of the share of the work that is done."""


class Unwatched:
    """No monitor."""

    def is_over(self, share: float) -> bool:
        """There is no hurry."""
        return False

    def report(self, *, fraction: float | None = None) -> None:
        """Ignore."""


class StumpForest(FittedGam):
    """What the estimators share: from checked rows to a model."""

    warnings_: tuple[str, ...]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Store the constructor's arguments as they are."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    def checked_parameters(self) -> FitParameters:
        """Return the parameters, checked."""
        return FitParameters.checked({name: getattr(self, name) for name in FitParameters.model_fields if hasattr(self, name)})

    def _fit_sample(self, sample: Sample, loss: Loss, n_classes: int, monitor: Monitor, kept: np.ndarray | None) -> AdditiveFit:
        """Fit as the parameters say; `kept` has the position of the sample's rows in the table where rows of no weight were left out."""
        return fit_additive(
            sample,
            loss,
            self.checked_parameters(),
            n_classes=n_classes,
            should_stop=lambda: monitor.is_over(FITTING_SHARE),
            report=lambda fraction: monitor.report(fraction=fraction),
        )

    def _read_training(self, X: Any, categorical_features: CategoricalFeatures) -> tuple[list[Column], FeatureReader]:
        columns, reader = read_features(X, categorical_features)
        if isinstance(X, Mapping):
            self.n_features_in_ = len(reader.names)
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        else:
            validate_data(self, X, skip_check_array=True)
        return columns, reader

    def _prepare(
        self, columns: list[Column], reader: FeatureReader, target: Floats, weights: Floats | None, offset: Floats | None
    ) -> Sample:
        parameters = self.checked_parameters()
        signs = parameters.signs(reader.names, [isinstance(column, CodedColumn) for column in columns])
        sample = prepare(
            columns,
            reader.names,
            target,
            weights=weights,
            offset=offset,
            max_bins=parameters.max_bins,
            min_samples_leaf=parameters.min_samples_leaf,
            monotonic_cst=signs,
        )
        self.bin_edges_ = [bins.thresholds if isinstance(bins, NumericBins) else bins.levels for bins in sample.table.features]
        self._warn(_idle_features(sample, parameters))
        return sample

    def _finish(self, reader: FeatureReader, model: AdditiveModel, fit: AdditiveFit, monitor: Monitor) -> Self:
        summary = summarise(fit, self.checked_parameters(), lambda: monitor.is_over(PROOF_SHARE))
        self._keep(reader, model, Fitted(summary, fit.spreads, fit.without_sums()))
        return self

    def _warn(self, messages: list[str]) -> None:
        self.warnings_ = (*self.warnings_, *messages)
        for message in messages:
            warnings.warn(message, UserWarning, stacklevel=4)


def rows_of_weight(weights: Floats | None) -> np.ndarray | None:
    """Return the positions of the rows that count, None for all."""
    return None if weights is None or np.all(weights > 0) else np.flatnonzero(weights)


def _idle_features(sample: Sample, parameters: FitParameters) -> list[str]:
    """Return what is to be said of features that can have no effect."""
    total = float(sample.row_weights().sum())
    if len(sample.columns) == 0 and total < 2 * parameters.min_samples_leaf:
        return [
            f"no step is possible: the rows weigh {total:g} in all, less than twice min_samples_leaf={parameters.min_samples_leaf:g} "
            "(weights count as rows); the model is a constant"
        ]
    idle = [bins.name for d, bins in enumerate(sample.table.features) if sample.columns.start[d] == sample.columns.start[d + 1]]
    return [
        f"column {name!r} has no effect: it is constant or missing, or no step leaves enough rows on both sides" for name in idle
    ]
