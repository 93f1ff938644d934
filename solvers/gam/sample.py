"""The rows that a forest is fitted to: their bins, targets, weights and offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.gam.binning import BinnedTable
from solvers.gam.candidate_columns import CandidateColumns, row_sums
from solvers.gam.forest import Forest


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows to fit.

    Attributes
    ----------
    table : BinnedTable
    columns : CandidateColumns
    target : float64 array of shape (N,)
    weights : float64 array of shape (N,), optional
        Positive; 1 by default.
    offset : float64 array of shape (N,), optional
        Added to the decision.
    min_samples_leaf : float
        Least weight on either side of a column.
    """

    table: BinnedTable
    columns: CandidateColumns
    target: np.ndarray
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    min_samples_leaf: float = 0.0

    def row_weights(self) -> np.ndarray:
        """Return the weights, 1 by default."""
        return np.ones(self.table.n_rows) if self.weights is None else self.weights

    def row_offsets(self) -> np.ndarray:
        """Return the offsets, 0 by default."""
        return np.zeros(self.table.n_rows) if self.offset is None else self.offset

    def rows(self, index: np.ndarray) -> Sample:
        """Return some of the rows, with the same columns."""
        weights = None if self.weights is None else self.weights[index]
        offset = None if self.offset is None else self.offset[index]
        return replace(self, table=self.table.rows(index), target=self.target[index], weights=weights, offset=offset)

    def decision(self, forest: Forest) -> np.ndarray:
        """Return the steps of a forest summed up for each row, without intercept and offset."""
        return row_sums(self.table, self.columns.scores(forest.heights(len(self.columns)), self.table.n_codes))
