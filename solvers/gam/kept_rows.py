"""Binned rows that are kept with a model, to say how an edit changes its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.binning import BinnedTable, FeatureBins, LevelBins, NumericBins
from solvers.gam.shape_functions import CodedColumn, Floats

RowLoss = Callable[[npt.NDArray[Any], Floats], Floats]
"""From targets and decisions to the loss of each row."""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows as the fit saw them.

    Attributes
    ----------
    table : BinnedTable
        Its features are those of the model, in order; the code after the last bin stands for a level that is none of the bins'.
    target : array of shape (N,)
        Numbers, or the positions of the classes.
    weights : float64 array of shape (N,)
    offset : float64 array of shape (N,), optional
        On the link scale.
    """

    table: BinnedTable
    target: npt.NDArray[Any]
    weights: Floats
    offset: Floats | None = None

    def decision(self, model: AdditiveModel) -> Floats:
        """Return F of each row, as :meth:`AdditiveModel.decision` gives it of the values themselves.

        Holds for any model whose thresholds are some of those of the bins: a fitted one, or one edited since.
        """
        total = np.zeros((self.table.n_rows, model.n_outputs)) + model.intercepts
        for feature, codes, per_output in zip(self.table.features, self.table.codes, model.shapes, strict=True):
            members = _one_of_each_bin(feature)
            for output, shape in enumerate(per_output):
                total[:, output] += shape.values(members)[codes]
        if self.offset is not None:
            total += self.offset[:, None]
        return total if model.link == "softmax" else total[:, 0]

    def score(self, model: AdditiveModel, loss: RowLoss) -> float:
        """Return the weighted mean of a loss over the rows."""
        return float(np.average(loss(self.target, self.decision(model)), weights=self.weights))


def further_table(features: tuple[FeatureBins, ...], columns: Sequence[Floats | CodedColumn]) -> BinnedTable:
    """Return rows that the bins were not made from.

    A level that no training row had gets the code after the last bin, also where rare levels share one: the model scores it as unseen.

    Examples
    --------
    >>> bins = LevelBins("plan", ("basic",), ("plus", "pro"), False)
    >>> further_table((bins,), [CodedColumn(np.array([0, 1, -1]), ("plus", "new"))]).codes
    array([[2, 3, 0]], dtype=uint8)
    """
    most = max((bins.n_codes for bins in features), default=0)
    codes = np.array([_further_codes(bins, column) for bins, column in zip(features, columns, strict=True)])
    return BinnedTable(features, codes.astype(np.min_scalar_type(most)))


def _further_codes(bins: FeatureBins, column: Floats | CodedColumn) -> npt.NDArray[np.int64]:
    codes: npt.NDArray[np.int64] = bins.codes(column)  # type: ignore[arg-type]  # each kind of feature has its kind of column
    if isinstance(bins, LevelBins) and isinstance(column, CodedColumn):
        known = {*bins.levels, *bins.pooled}
        is_unseen = np.array([*(level not in known for level in column.levels), False])
        codes[is_unseen[np.maximum(column.codes, -1)]] = bins.n_codes
    return codes


def _one_of_each_bin(feature: FeatureBins) -> Floats | CodedColumn:
    """Return a value of each bin; a threshold belongs to the bin on its left."""
    if isinstance(feature, NumericBins):
        return np.concatenate([[np.nan], feature.thresholds, [np.inf]])
    levels = [*feature.levels, *feature.pooled[:1], _no_level(feature)]
    return CodedColumn(np.arange(-1, len(levels)), levels)


def _no_level(feature: LevelBins) -> str:
    """Return a text that is no level: what a row held back may have where no training row did."""
    known = {*feature.levels, *feature.pooled}
    return next(text for text in ("?" * length for length in range(len(known) + 1)) if text not in known)
