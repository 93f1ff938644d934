"""Products of the columns where all of them do not fit in memory: computed from the rows as they are asked for.

A row of M takes one pass over the table and is kept while there is room; sums over many columns take one pass, not one for each. The
moves of the stumps are those of :mod:`~solvers.gam.stump_updates`, so that fits are the same as on a :class:`~solvers.gam.gram.Gram`.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

import numpy as np
from numba import njit

from solvers.gam.binning import Codes
from solvers.gam.candidate_columns import CandidateColumns, bin_sums, row_sums
from solvers.gam.coarse_table import coarsen
from solvers.gam.forest import ColumnProducts
from solvers.gam.gram import build_gram, column_weights
from solvers.gam.interruption import ShouldStop, never, portions
from solvers.gam.stump_updates import Rules, Stumps, add_row, choose_column, put_in, swap_gain, take_out

GRAM_MEMORY_LIMIT = 2**31
FEWEST_ROWS_KEPT = 16

Engine = Literal["auto", "gram", "rows"]


def column_products(
    table: Codes,
    columns: CandidateColumns,
    curvature: np.ndarray | None = None,
    *,
    engine: Engine = "auto",
    memory_limit: int = GRAM_MEMORY_LIMIT,
    n_jobs: int = 1,
    should_stop: ShouldStop = never,
) -> ColumnProducts:
    """Return the products of all columns: in memory if 8 p^2 bytes are within the limit, else on demand.

    Parameters
    ----------
    table : Codes
    columns : CandidateColumns
    curvature : float array of shape (N,), optional
        h; 1 by default.
    engine : {"auto", "gram", "rows"}
        Which of the two, whatever the limit.
    memory_limit : int
        Bytes.
    n_jobs : int
        Threads that sum the rows up.
    should_stop : callable, optional
        Asked while they are summed up; :class:`~solvers.gam.interruption.Interrupted` if it says yes.
    """
    fits = 8 * len(columns) ** 2 <= memory_limit
    if engine == "gram" or (engine == "auto" and fits):
        return build_gram(table, columns, curvature, n_jobs=n_jobs, should_stop=should_stop)
    return RowProducts(table, columns, curvature, memory_limit=memory_limit)


class RowProducts:
    """Products of the centred columns, on demand; attributes and methods as those of :class:`~solvers.gam.gram.Gram`.

    Parameters
    ----------
    table : Codes
    columns : CandidateColumns
    curvature : float array of shape (N,), optional
        h; 1 by default.
    memory_limit : int
        Bytes for rows of M that are kept.

    Notes
    -----
    A move costs O(p), and O(N D) if it leads to a column whose row is not kept.
    """

    def __init__(
        self,
        table: Codes,
        columns: CandidateColumns,
        curvature: np.ndarray | None = None,
        *,
        memory_limit: int = GRAM_MEMORY_LIMIT,
    ) -> None:
        self.table, self.columns = table, columns
        self.curvature = np.ones(table.n_rows) if curvature is None else np.require(curvature, np.float64, ["C", "W"])
        self.total = float(self.curvature.sum())
        self._weights = column_weights(table, columns, self.curvature)
        self.shares = self._weights / self.total
        self.diagonal = self._weights * (1 - self.shares)
        self._kept: OrderedDict[int, np.ndarray] = OrderedDict()
        self._room = max(FEWEST_ROWS_KEPT, memory_limit // max(1, 8 * len(columns)))

    def row(self, column: int) -> np.ndarray:
        """Return M[column]."""
        row = self._kept.pop(column, None)
        if row is None:
            d, cut = self.columns.feature[column], self.columns.cut[column]
            codes = self.table.codes[d]
            members = np.flatnonzero(codes == cut if self.columns.is_level[column] else codes > cut)
            sums = _bin_sums_of(self.table.codes, members, self.curvature, int(self.table.n_codes.max()) + 1)
            row = self.columns.sums(sums) - self.shares[column] * self._weights
            if len(self._kept) >= self._room:
                self._kept.popitem(last=False)
        self._kept[column] = row
        return row

    def block(self, active: np.ndarray, should_stop: ShouldStop = never) -> np.ndarray:
        """Return the products of some columns with each other; O(N D'^2) for the D' features they are of."""
        order = np.argsort(active)
        coarse, columns = coarsen(self.table, self.columns, active[order])
        block = np.empty((len(active), len(active)))
        block[np.ix_(order, order)] = build_gram(coarse, columns, self.curvature, should_stop=should_stop).products
        return block

    def combine(self, active: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return M[:, active] @ steps, shape (p,)."""
        heights = np.zeros(len(self.columns))
        heights[active] = steps
        decision = row_sums(self.table, self.columns.scores(heights, self.table.n_codes))
        decision -= float(self.shares[active] @ steps)
        return self.columns.sums(bin_sums(self.table, self.curvature * decision))

    def sweep(self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = never) -> tuple[int, float]:
        """Move every stump once, in place, or those that there is time for; return how many changed their column and what was gained."""
        gains = np.empty(len(correlations))
        moved, decrease = 0, 0.0
        for first, last in portions(len(stumps.columns), self._work_of_row(), should_stop):
            for t in range(first, last):
                old = int(stumps.columns[t])
                if old >= 0:
                    take_out(self.row(old), correlations, stumps, t, rules.feature)
                new = int(choose_column(rules, correlations, stumps, old, gains))
                moved += new != old
                decrease += float(put_in(rules, correlations, stumps, t, old, new))
                if new >= 0:
                    add_row(self.row(new), correlations, -stumps.steps[t])
        return moved, decrease

    def swap_residual(
        self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = never
    ) -> float | None:
        """Return the most that moving one stump alone could gain, None if there was no time to find out."""
        gains = np.empty(len(correlations))
        used, example = np.unique(stumps.columns, return_index=True)
        residual, done = 0.0, 0
        for first, last in portions(len(used), self._work_of_row(), should_stop):
            for column, t in zip(used[first:last].tolist(), example[first:last].tolist(), strict=True):
                without = correlations.copy()
                if column >= 0:
                    add_row(self.row(column), without, stumps.steps[t])
                residual = max(residual, float(swap_gain(rules, without, stumps, column, gains)))
            done = last
        return residual if done == len(used) else None

    def _work_of_row(self) -> int:
        return len(self.columns) + int(self.table.codes.size)


@njit(cache=True, nogil=True)
def _bin_sums_of(codes, rows, values, n_codes):  # type: ignore[no-untyped-def]
    sums = np.zeros((codes.shape[0], n_codes))
    for d in range(codes.shape[0]):
        feature, mine = codes[d], sums[d]
        for i in range(rows.size):
            mine[feature[rows[i]]] += values[rows[i]]
    return sums
