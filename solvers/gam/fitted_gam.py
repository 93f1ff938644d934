"""What every fitted estimator shows and can do: its shapes, bands, edits and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.gam.additive_fit import AdditiveFit, single_fit
from solvers.gam.additive_model import AdditiveModel
from solvers.gam.bands import Spread
from solvers.gam.compression import compress
from solvers.gam.edit_history import COMPRESS, EditHistory, HistoryEntry
from solvers.gam.edit_operations import EditOperation
from solvers.gam.editing import Edit, edit
from solvers.gam.export.onnx_model import to_onnx
from solvers.gam.export.pmml import to_pmml
from solvers.gam.export.python_source import to_python
from solvers.gam.export.scorecard import to_scorecard
from solvers.gam.export.sql import to_sql
from solvers.gam.feature_columns import Column, FeatureReader, array_names, n_rows, raw_columns
from solvers.gam.fit_summary import FitSummary, summarise
from solvers.gam.kept_rows import KeptRows
from solvers.gam.parameters import FitParameters
from solvers.gam.row_errors import row_error
from solvers.gam.shape_functions import Floats, ShapeFunction, require_seen_levels
from solvers.gam.stump_table import STUMP
from solvers.gam.targets import row_offsets
from solvers.operation import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Band:
    """Pointwise confidence band of a shape function, by bin with the missing values first.

    Attributes
    ----------
    kind : str
        "conditional" (on the splits), "jackknife" or "bootstrap".
    thresholds : float64 array of shape (B - 1,)
        Of a numeric feature.
    levels : tuple of str
        Of a categorical one.
    lower, scores, upper : float64 array of shape (B + 1,)
    """

    kind: str
    thresholds: Floats
    levels: tuple[str, ...]
    lower: Floats
    scores: Floats
    upper: Floats


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit, or a compression of it.

    Attributes
    ----------
    summary : FitSummary
    spreads : tuple of Spread or None, one for each output
    fit : AdditiveFit, optional
        With the training rows.
    """

    summary: FitSummary
    spreads: tuple[Spread | None, ...]
    fit: AdditiveFit | None


class FittedGam(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Attributes and methods of the estimators after `fit`.

    Training rows (in bins) stay with the estimator for edit scores and :meth:`compress`; a pickle leaves them out.
    """

    unseen: Literal["score", "error"]
    _reader: FeatureReader
    _model: AdditiveModel
    _edits: EditHistory | None
    _fits: dict[str | None, Fitted]  # by the edit that made it, None for the fit itself

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_fits" not in state:
            return state
        return state | {"_fits": {edit_id: replace(fitted, fit=None) for edit_id, fitted in self._fits.items()}}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _keep(self, reader: FeatureReader, model: AdditiveModel, fitted: Fitted) -> None:
        self._reader, self._model, self._edits, self._fits = reader, model, None, {None: fitted}

    @property
    def fitted_(self) -> Fitted:
        """What was fitted, with its training rows while they are there: the fit, or the last compression that was not undone."""
        check_is_fitted(self)
        standing = [] if self._edits is None else [entry.edit_id for entry in self._edits.entries if not entry.undone]
        return next((self._fits[edit_id] for edit_id in reversed(standing) if edit_id in self._fits), self._fits[None])

    @property
    def model_(self) -> AdditiveModel:
        """The fitted model, with all edits."""
        check_is_fitted(self)
        return self._model

    @property
    def intercept_(self) -> Any:
        """Mean of the decision over the training rows; of several classes an array."""
        intercepts = self.model_.intercepts
        return intercepts.copy() if len(intercepts) > 1 else float(intercepts[0])

    @property
    def shape_functions_(self) -> list[Any]:
        """Shape function of each feature; with more than two classes a tuple of one for each class."""
        return [per_output if len(per_output) > 1 else per_output[0] for per_output in self.model_.shapes]

    @property
    def feature_importances_(self) -> Floats:
        """Weighted standard deviation of each shape function as a share of all."""
        return self.model_.importances()

    @property
    def summary_(self) -> FitSummary:
        """Report of the fit."""
        return self.fitted_.summary

    @property
    def is_edited_(self) -> bool:
        """Whether the model is no longer one that was fitted."""
        check_is_fitted(self)
        return self._edits is not None and self._edits.is_edited

    @property
    def stumps_(self) -> np.ndarray:
        """Steps of the fitted forest; see :func:`~solvers.gam.stump_table.stump_table`."""
        return self.summary_.stumps

    @property
    def n_steps_(self) -> int:
        """Distinct steps of the fitted forest."""
        return len(self.summary_.stumps)

    @property
    def n_iter_(self) -> int:
        """Rounds of the fit."""
        return self.summary_.n_iter

    @property
    def objective_history_(self) -> list[float]:
        """Objective of the best constant and after every round."""
        return list(self.summary_.history)

    @property
    def objective_(self) -> float | None:
        """Objective of the fit; None for an edited model or an average."""
        return None if self.is_edited_ else self.summary_.objective

    @property
    def lower_bound_(self) -> float | None:
        """No forest under the same options has a lower objective."""
        return None if self.is_edited_ else self.summary_.lower_bound

    @property
    def gap_(self) -> float | None:
        """(objective - lower bound) / objective."""
        return None if self.is_edited_ else self.summary_.gap

    @property
    def gap_reason_(self) -> str | None:
        """Why there is no gap."""
        return "edited" if self.is_edited_ else self.summary_.gap_reason

    @property
    def edit_history_(self) -> list[HistoryEntry]:
        """Edits, oldest first."""
        check_is_fitted(self)
        return [] if self._edits is None else self._edits.entries

    def shape_function(self, feature: str | int, label: Any = None) -> ShapeFunction:
        """Return the shape function of a feature, given by name or position; with more than two classes, that of a class."""
        return self.model_.shape(self._feature_name(feature), label)

    def contributions(self, X: Any) -> Floats:
        """Return what each feature adds to the decision of each row, shape (N, D), with more than two classes (N, D, K).

        Their sum and the intercept are the decision.
        """
        model = self.model_
        return model.contributions(self._columns(X))

    def confidence_band(self, feature: str | int, level: float = 0.95, label: Any = None) -> Band:
        """Return the pointwise band of a shape function: quantiles of the bags of a bootstrap, else the normal band.

        Parameters
        ----------
        feature : str or int
        level : float
            In (0, 1).
        label : optional
            The class, of more than two.

        Raises
        ------
        InvalidInput
            If the model was edited, or nothing is known of its spread: then `bagging` gives a band.
        """
        if not 0 < level < 1:
            raise InvalidInput(f"a confidence level lies between 0 and 1, not at {level}", pointer="/level")
        name = self._feature_name(feature)
        shape = self.shape_function(feature, label)
        spread = self._spread(0 if label is None else self.model_.output_of(label))
        position = self.model_.feature(name)
        basis = spread.features[position].bins
        below, above = spread.band(position, level)
        if shape.kind == "categorical":
            scores = shape.table[:-1]
            return Band(spread.kind, np.empty(0), shape.levels, scores - below, scores, scores + above)
        thresholds: Floats = basis.thresholds  # type: ignore[union-attr]
        scores = np.append(shape.missing, shape.values(np.append(thresholds, np.inf)))
        return Band(spread.kind, thresholds, (), scores - below, scores, scores + above)

    def decision_errors(self, X: Any) -> Floats:
        """Return the standard error of the decision of each row, shape (N,), with more than two classes (N, K)."""
        check_is_fitted(self)
        columns = self._columns(X)
        errors = [self._spread(output).decision_errors(columns) for output in range(self.model_.n_outputs)]
        return errors[0] if len(errors) == 1 else np.column_stack(errors)

    def plot_shape(self, feature: str | int, ax: Axes | None = None, *, label: Any = None, band: float | None = 0.95) -> Axes:
        """Draw the shape function of a feature with its band; return the axes."""
        from solvers.gam.plots import draw_shape

        ax = _axes(ax)
        draw_shape(self.model_, self._feature_name(feature), ax, label=label, band=band)
        return ax

    def plot_importance(self, ax: Axes | None = None) -> Axes:
        """Draw the importances of the features; return the axes."""
        from solvers.gam.plots import draw_importances

        ax = _axes(ax)
        draw_importances(self.model_, ax)
        return ax

    def preview_edit(self, operations: Sequence[EditOperation | Mapping[str, Any]]) -> Edit:
        """Return what operations would make of the model; see :func:`~solvers.gam.editing.edit`."""
        return edit(self.model_, operations)

    def edit(self, operations: Sequence[EditOperation | dict[str, Any]], *, note: str | None = None) -> HistoryEntry:
        """Change the shape functions; return what changed, with the error on the training rows before and after.

        Parameters
        ----------
        operations : sequence
            Such as ``{"op": "monotonise", "feature": "age", "direction": "increasing"}``.
        note : str, optional
        """
        return self._record(edit(self.model_, operations), operations, note)

    def undo(self, edit_id: str | None = None) -> list[str]:
        """Undo an edit and all later ones, by default the last; return the ids of those undone."""
        self._edits, undone = self._history().after_undo(edit_id)
        self._model = self._edits.model
        return undone

    def compress(self, tol: float) -> HistoryEntry | None:
        """Drop the steps without which the training objective rises by less than `tol` each; can be undone.

        Returns
        -------
        HistoryEntry or None
            None if no step is that cheap: then the model stays as it is.

        Raises
        ------
        InvalidInput
            If the model was edited, is an average, or its training rows are not there any more.
        """
        model = self.model_
        if self.is_edited_:
            raise InvalidInput("the model was edited; undo the edits before compressing it")
        before = self.fitted_.fit
        if before is None or before.training is None:
            raise InvalidInput("only a single fit, with its training rows, can be compressed")
        training = before.training.with_sums()
        after = compress(training, tol)
        if after is training:
            return None
        fit = single_fit(after, before.sample)
        smaller = fit.model(classes=model.classes, offset=model.offset)
        entry = self._record(Edit(smaller, (), ()), [{"op": COMPRESS, "tol": tol}], None)
        self._fits[entry.edit_id] = Fitted(summarise(fit, self.checked_parameters()), fit.spreads, fit.without_sums())
        return entry

    def to_json(self) -> str:
        """Return the model as its canonical JSON document."""
        return self.model_.to_json()

    def to_sql(self, table: str, dialect: Literal["sqlite", "postgresql", "duckdb", "bigquery", "tsql"] = "sqlite") -> str:
        """Return a query that scores the rows of a table."""
        return to_sql(self.model_, table, dialect)

    def to_onnx(self) -> bytes:
        """Return the model as an ONNX file."""
        return to_onnx(self.model_)

    def to_pmml(self) -> str:
        """Return the model as a PMML document."""
        return to_pmml(self.model_)

    def to_python(self) -> str:
        """Return the model as the source of a Python module."""
        return to_python(self.model_)

    def scorecard(self, form: Literal["markdown", "html"] = "markdown") -> str:
        """Return the model as tables to read."""
        return to_scorecard(self.model_, form)

    def checked_parameters(self) -> FitParameters:
        """Return the constructor's arguments, checked; `InvalidInput` names one that is wrong."""
        raise NotImplementedError

    def _columns(self, X: Any) -> list[Column]:
        """Return the columns of a table that looks like the training table."""
        if isinstance(X, Mapping) and not issparse(X):
            absent = [name for name in self._reader.names if name not in X]
            if absent:
                raise InvalidInput(f"column {absent[0]!r} is absent", column=absent[0])
            columns = self._reader.typed(raw_columns({name: X[name] for name in self._reader.names})[0])
        else:
            columns, _ = raw_columns(X)
            validate_data(self, X, reset=False, skip_check_array=True)
            columns = self._reader.typed(columns)
        if self.unseen == "error":
            for per_output, column in zip(self.model_.shapes, columns, strict=True):
                require_seen_levels(per_output[0], column)
        return columns

    def _decision(self, X: Any, offset: npt.ArrayLike | None, exposure: npt.ArrayLike | None) -> Floats:
        model = self.model_
        columns = self._columns(X)
        added, _ = row_offsets(offset, exposure, model.link, n_rows(columns))
        return model.decision(columns, added)

    def _spread(self, output: int) -> Spread:
        if self.is_edited_:
            raise InvalidInput("the model was edited, its bands are not known")
        spreads = self.fitted_.spreads
        spread = spreads[output] if spreads else None
        if spread is None:
            raise InvalidInput("nothing is known of the spread of this fit; bagging=20 gives bands")
        return spread

    def _feature_name(self, feature: str | int) -> str:
        names = self.model_.feature_names
        if isinstance(feature, str):
            return feature
        if not 0 <= feature < len(names):
            raise InvalidInput(f"there is no feature {feature}; there are {len(names)}", pointer="/feature")
        return names[feature]

    def _history(self) -> EditHistory:
        return EditHistory.of(self.model_) if self._edits is None else self._edits

    def _record(self, done: Edit, operations: Sequence[Any], note: str | None) -> HistoryEntry:
        before, after = (self._training_error(model) for model in (self.model_, done.model))
        history = self._history().after_edit(
            done, operations, at=datetime.now(UTC), note=note, score_before=before, score_after=after
        )
        self._edits, self._model = history, done.model
        return history.entries[-1]

    def _training_error(self, model: AdditiveModel) -> float | None:
        """Return the error of a model on the training rows, None if they are gone."""
        fit = self.fitted_.fit
        if fit is None:
            return None
        sample = fit.sample
        kept = KeptRows(sample.table, sample.target, sample.row_weights(), sample.offset)
        return kept.score(model, row_error(fit.loss, len(model.classes or (0, 1))).of)

    def _restore(self, model: AdditiveModel) -> Self:
        """Take the place of an estimator that was fitted to give this model."""
        reader = FeatureReader(model.feature_names, tuple(per_output[0].kind for per_output in model.shapes))
        summary = FitSummary(np.zeros(0, dtype=STUMP), 0, gap_reason="data")
        self._keep(reader, model, Fitted(summary, (), None))
        self.n_features_in_ = len(reader.names)
        if reader.names != array_names(self.n_features_in_):
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        return self


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
