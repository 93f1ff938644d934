"""A table in the few bins that some columns tell apart.

The products of K columns in use need only the bins between these columns; with few bins, the 2-D histograms of pairs of features are
small and fast however many thresholds there are in all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.gam.binning import Codes
from solvers.gam.candidate_columns import CandidateColumns


@dataclass(frozen=True, slots=True)
class CoarseTable:
    """Bins of rows for some columns.

    Attributes
    ----------
    codes : unsigned int array of shape (D', N)
        Of the features that have such a column.
    n_codes : int64 array of shape (D',)
    """

    codes: np.ndarray
    n_codes: np.ndarray

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


def coarsen(table: Codes, columns: CandidateColumns, active: np.ndarray) -> tuple[CoarseTable, CandidateColumns]:
    """Return the bins that the columns `active` tell apart, and these columns in terms of them; O(N D').

    Parameters
    ----------
    table : Codes
    columns : CandidateColumns
    active : int array of shape (K,)
        Increasing.

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> from solvers.gam.candidate_columns import candidate_columns
    >>> table = bin_table([np.arange(6.0)], ["x"])
    >>> coarse, columns = coarsen(table, candidate_columns(table, min_samples_leaf=1), np.array([1, 3]))
    >>> coarse.codes, columns.cut
    (array([[0, 0, 1, 1, 2, 2]], dtype=uint8), array([0, 1]))
    """
    mine = columns.subset(active)
    used, feature = np.unique(mine.feature, return_inverse=True)
    start = np.searchsorted(feature, np.arange(len(used) + 1))
    n_codes = np.diff(start) + 1
    codes = np.empty((len(used), table.n_rows), dtype=np.min_scalar_type(int(n_codes.max(initial=1))))
    for row, d in enumerate(used):
        cuts, bins = mine.cut[start[row] : start[row + 1]], np.arange(table.n_codes[d] + 1)
        if mine.is_level[start[row]]:
            of_bin = np.zeros(len(bins), dtype=codes.dtype)
            of_bin[cuts] = 1 + np.arange(len(cuts))
        else:
            of_bin = np.searchsorted(cuts, bins, side="left").astype(codes.dtype)
        codes[row] = of_bin[table.codes[d]]
    cut = np.arange(len(active)) - start[feature] + mine.is_level
    return CoarseTable(codes, n_codes), CandidateColumns(feature, cut, mine.is_level, mine.sign, start, np.arange(len(used)))
