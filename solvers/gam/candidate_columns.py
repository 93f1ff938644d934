"""The steps that a forest may take: one 0/1 column per threshold of a numeric feature and per level of a categorical one.

A numeric feature has the columns 1[bin > k]: k >= 1 stands for the threshold between bins k and k + 1, k = 0 for "not missing" (its
threshold is reported as -inf). Missing values lie left of every threshold, so that "missing" has its own free step. A categorical
feature has the columns 1[bin = c], that of the missing values included. A column is admissible if both its sides weigh at least
`min_samples_leaf` in sample weights: weight 2 equals the row twice, and the list does not change while a fit reweights the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.gam.binning import BinnedTable, Codes, NumericBins

# A column whose centred square sum is below this share of all weight is constant but for rounding.
CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class CandidateColumns:
    """Columns of a table, ordered by feature, then threshold or level.

    Attributes
    ----------
    feature : int64 array of shape (p,)
    cut : int64 array of shape (p,)
        k of the numeric column 1[bin > k], c of the level column 1[bin = c].
    is_level : bool array of shape (p,)
    sign : float64 array of shape (p,)
        +1 or -1 where only steps of that sign are allowed, else 0.
    start : int64 array of shape (D + 1,)
        Feature d has the columns start[d] .. start[d + 1] - 1.
    counts_as : int64 array of shape (D,)
        Feature whose limits apply to those of each feature; itself, unless it is a view of another.
    """

    feature: np.ndarray
    cut: np.ndarray
    is_level: np.ndarray
    sign: np.ndarray
    start: np.ndarray
    counts_as: np.ndarray

    def __len__(self) -> int:
        return len(self.feature)

    def thresholds(self, table: BinnedTable) -> np.ndarray:
        """Return the threshold of each column, -inf for "not missing", NaN for a level."""
        values = np.full(len(self), np.nan)
        for d, feature in enumerate(table.features):
            if isinstance(feature, NumericBins):
                mine = slice(self.start[d], self.start[d + 1])
                values[mine] = np.concatenate([[-np.inf], feature.thresholds])[self.cut[mine]]
        return values

    def subset(self, index: np.ndarray) -> CandidateColumns:
        """Return some of the columns, given in increasing order."""
        feature = self.feature[index]
        start = np.searchsorted(feature, np.arange(len(self.start)))
        return CandidateColumns(feature, self.cut[index], self.is_level[index], self.sign[index], start, self.counts_as)

    def sums(self, by_bin: np.ndarray) -> np.ndarray:
        """Return the sum over each column's rows of a quantity that is given as its sums per bin.

        Parameters
        ----------
        by_bin : float64 array of shape (D, C)
            From :func:`bin_sums`.

        Returns
        -------
        float64 array of shape (p,)
        """
        beyond = np.zeros((by_bin.shape[0], by_bin.shape[1] + 1))
        beyond[:, :-1] = np.cumsum(by_bin[:, ::-1], axis=1)[:, ::-1]
        sums: np.ndarray = np.where(self.is_level, by_bin[self.feature, self.cut], beyond[self.feature, self.cut + 1])
        return sums

    def scores(self, steps: np.ndarray, n_codes: np.ndarray) -> np.ndarray:
        """Return the shape functions of steps: the sum of a bin's steps, not centred, shape (D, C); bins that do not exist have 0.

        Parameters
        ----------
        steps : float64 array of shape (p,)
            Height of each column's step.
        n_codes : int64 array of shape (D,)
            Bins of each feature; C is one more than the most, the code of unseen levels.
        """
        shapes = np.zeros((len(n_codes), int(n_codes.max(initial=0)) + 1))
        at = self.cut + ~self.is_level
        np.add.at(shapes, (self.feature, at), steps)
        is_numeric = np.ones(len(n_codes), dtype=bool)
        is_numeric[self.feature[self.is_level]] = False
        shapes[is_numeric] = np.cumsum(shapes[is_numeric], axis=1)
        return shapes


def candidate_columns(
    table: BinnedTable, weights: np.ndarray | None = None, *, min_samples_leaf: float = 5, monotonic_cst: np.ndarray | None = None
) -> CandidateColumns:
    """List the admissible columns of a binned table.

    Parameters
    ----------
    table : BinnedTable
    weights : float array of shape (N,), optional
        Sample weights.
    min_samples_leaf : float
        Least weight on either side of a step.
    monotonic_cst : int array of shape (D,), optional
        +1, -1 or 0: the only sign that the steps of a numeric feature may have. The step of the missing values is exempt.

    Notes
    -----
    O(D N).

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> table = bin_table([np.array([1.0, 2.0, 3.0, np.nan])], ["age"])
    >>> columns = candidate_columns(table, min_samples_leaf=1)
    >>> columns.thresholds(table), columns.sums(bin_sums(table, np.ones(4)))
    (array([-inf,  1.5,  2.5]), array([3., 2., 1.]))
    """
    feature, cut, is_level = [], [], []
    for d, bins in enumerate(table.features):
        cuts = np.arange(bins.n_codes - isinstance(bins, NumericBins))[0 if bins.has_missing else 1 :]
        feature.append(np.full(len(cuts), d, dtype=np.int64))
        cut.append(cuts)
        is_level.append(np.full(len(cuts), not isinstance(bins, NumericBins)))
    every = _columns(np.concatenate(feature), np.concatenate(cut), np.concatenate(is_level), len(table.features), monotonic_cst)
    mass = np.ones(table.n_rows) if weights is None else weights
    total = float(mass.sum())
    inside = every.sums(bin_sums(table, mass))
    least = min_samples_leaf * (1 - 1e-12)
    kept = (inside >= least) & (total - inside >= least) & (inside * (1 - inside / total) > CONSTANT * total)
    return _columns(every.feature[kept], every.cut[kept], every.is_level[kept], len(table.features), monotonic_cst)


def _columns(
    feature: np.ndarray, cut: np.ndarray, is_level: np.ndarray, n_features: int, monotonic_cst: np.ndarray | None
) -> CandidateColumns:
    sign = np.zeros(len(feature)) if monotonic_cst is None else np.asarray(monotonic_cst, dtype=np.float64)[feature]
    sign = np.where(is_level | (cut == 0), 0.0, sign)
    start = np.searchsorted(feature, np.arange(n_features + 1))
    return CandidateColumns(feature, cut, is_level, sign, start, np.arange(n_features))


def bin_sums(table: Codes, values: np.ndarray) -> np.ndarray:
    """Return the sum of `values` over the rows of each bin, shape (D, C); compensated, so that the rows' order hardly matters.

    Parameters
    ----------
    table : Codes
    values : float array of shape (N,)
    """
    most = int(table.n_codes.max(initial=0))
    sums: np.ndarray = _bin_sums(table.codes, np.require(values, np.float64, ["C", "W"]), most + 1)
    return sums


def row_sums(table: Codes, shapes: np.ndarray) -> np.ndarray:
    """Return the sum of the scores of each row's bins, shape (N,).

    Parameters
    ----------
    table : Codes
    shapes : float64 array of shape (D, C)
        From :meth:`CandidateColumns.scores`.
    """
    return _row_sums(table.codes, shapes)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _row_sums(codes, shapes):  # type: ignore[no-untyped-def]
    sums = np.zeros(codes.shape[1])
    for d in range(codes.shape[0]):
        row, shape = codes[d], shapes[d]
        if np.any(shape != 0.0):
            for i in range(sums.size):
                sums[i] += shape[row[i]]
    return sums


@njit(cache=True, nogil=True)
def _bin_sums(codes, values, n_codes):  # type: ignore[no-untyped-def]
    n_features, n_rows = codes.shape
    sums = np.zeros((n_features, n_codes))
    lost = np.empty(n_codes)
    for d in range(n_features):
        row, mine = codes[d], sums[d]
        lost[:] = 0.0
        for i in range(n_rows):  # Kahan's summation
            c = row[i]
            term = values[i] - lost[c]
            total = mine[c] + term
            lost[c] = (total - mine[c]) - term
            mine[c] = total
    return sums
