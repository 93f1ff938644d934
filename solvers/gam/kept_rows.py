"""Binned rows that are kept with a model, to say how an edit changes its score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.binning import BinnedTable, FeatureBins, NumericBins
from solvers.gam.shape_functions import CodedColumn, Floats

RowLoss = Callable[[npt.NDArray[Any], Floats], Floats]
"""From targets and decisions to the loss of each row."""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows as the fit saw them.

    Attributes
    ----------
    table : BinnedTable
        Its features are those of the model, in order.
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


def _one_of_each_bin(feature: FeatureBins) -> Floats | CodedColumn:
    """Return a value of each bin; a threshold belongs to the bin on its left."""
    if isinstance(feature, NumericBins):
        return np.concatenate([[np.nan], feature.thresholds, [np.inf]])
    levels = [*feature.levels, *feature.pooled[:1]]
    return CodedColumn(np.arange(-1, len(levels)), levels)
