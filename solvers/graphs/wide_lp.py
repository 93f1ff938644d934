"""The wide part of MaxCut with predictions: a linear program against the predicted sides of the neighbours.

Cohen-Addad et al., "Max-Cut with eps-Accurate Predictions" (NeurIPS 2024), and the "Truncation" step of Aamand et al., "Improved
Approximations for Hard Graph Problems using Predictions" (ICML 2025). Let s in {-1, +1}^n be the cut that the predictions are
about and z_j an estimate of s_j. Without the Delta heaviest entries of each row, the adjacency matrix is A~, and r = A~ z comes
close to A~ s, because many small terms average their errors out. For weights >= 0 the program

    minimise  r'x + ||A~ x - r||_1  over  x in [-1, 1]^n

bounds x'A~x from above and almost touches it at s, so that its solution, rounded vertex by vertex, cuts almost as much as s.
Symbols: Delta -> `prefix`, A~ -> `truncated`, z -> `estimates`, r -> `row_estimates`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import highspy
import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.silent_highs import SilentHighs

MOST_NONZEROS = 20_000
"""Larger programs take longer than their gain over plain rounding is worth."""


class Truncated(NamedTuple):
    """Adjacency rows without their heaviest entries.

    Attributes
    ----------
    indptr, indices, weights : ndarray
        The entries that are left, in compressed rows; weights are floats.
    edge_ids : ndarray of int32
        Row of each entry in the list of edges.
    prefix_weights : ndarray of float64, shape (n,)
        What each row lost.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    edge_ids: np.ndarray
    prefix_weights: np.ndarray

    def row_sums(self, entries: np.ndarray) -> np.ndarray:
        """Return the sum of `entries` (one number for each entry that is left) over each row."""
        sums = np.concatenate(([0.0], np.cumsum(entries)))
        return sums[self.indptr[1:]] - sums[self.indptr[:-1]]


def truncate(csr: Csr, prefix: int) -> Truncated:
    """Drop the `prefix` heaviest entries of every row; of equal ones the lower neighbour first.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> star = build_csr(4, [[0, 1], [0, 2], [0, 3]], [1, 5, 5])
    >>> left = truncate(star, 1)
    >>> left.indices.tolist(), left.prefix_weights.tolist()
    ([1, 3], [5.0, 1.0, 5.0, 5.0])
    """
    return _without_prefix(csr, _ranks(csr), prefix)


def _ranks(csr: Csr) -> np.ndarray:
    """Return how many entries of its row come before each entry, by weight and then by neighbour."""
    degrees = np.diff(csr.indptr)
    places = np.arange(len(csr.indices)) - np.repeat(csr.indptr[:-1], degrees)
    if len(csr.weights) == 0 or csr.weights.min() == csr.weights.max():
        return places
    # Sorted by neighbour within each row already, and stably.
    order = np.lexsort((-csr.weights, np.repeat(np.arange(csr.num_vertices), degrees)))
    ranks = np.empty_like(places)
    ranks[order] = places
    return ranks


def _without_prefix(csr: Csr, ranks: np.ndarray, prefix: int) -> Truncated:
    kept = ranks >= prefix
    indptr = np.concatenate(([0], np.cumsum(kept)))[csr.indptr]
    weights = csr.weights.astype(np.float64)
    lost = np.concatenate(([0.0], np.cumsum(np.where(kept, 0.0, weights))))[csr.indptr]
    return Truncated(indptr, csr.indices[kept], weights[kept], csr.edge_ids[kept], np.diff(lost))


def predicted_loss(truncated: Truncated, variances: np.ndarray) -> float:
    """Return what the cut is expected to lose at most: half the prefixes, and half the errors of the row estimates.

    Parameters
    ----------
    truncated : Truncated
    variances : ndarray of float64, shape (n,)
        Expected square error of each vertex's estimate.
    """
    errors = np.sqrt(truncated.row_sums(np.square(truncated.weights) * variances[truncated.indices]).clip(0))
    return 0.5 * float((truncated.prefix_weights + errors).sum())


def best_prefix(csr: Csr, variances: np.ndarray) -> int:
    """Return the Delta in {1, 2, 4, ...} of least predicted loss, of equal ones the smallest.

    The heaviest entry always goes: where one term makes up a row, its error has nothing to be averaged out by.
    """
    ranks = _ranks(csr)
    scan = [2**power for power in range(int(ranks.max(initial=0)).bit_length() + 1)]
    return min(scan, key=lambda prefix: predicted_loss(_without_prefix(csr, ranks, prefix), variances))


class WideSolution(NamedTuple):
    """Optimum of the linear program.

    Attributes
    ----------
    x : ndarray of float64, shape (n,)
        A fractional cut, -1 to 1.
    value : float
    """

    x: np.ndarray
    value: float


def solve_wide_lp(
    truncated: Truncated,
    row_estimates: np.ndarray,
    *,
    time_limit: float = math.inf,
    iteration_limit: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> WideSolution | None:
    """Solve the program by the dual simplex method; None if it does not end within its limits.

    Parameters
    ----------
    truncated : Truncated
    row_estimates : ndarray of float64, shape (n,)
        r, an estimate of A~ s.
    time_limit : float
        Seconds.
    iteration_limit : int, optional
        Simplex iterations.
    stop : callable, optional
        Asked between iterations.
    """
    solver = SilentHighs()
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("time_limit", time_limit)
    if iteration_limit is not None:
        solver.setOptionValue("simplex_iteration_limit", iteration_limit)
    if stop is not None:
        solver.end_simplex_when(stop)
    solver.passModel(_model(truncated, row_estimates))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    x = np.asarray(solver.getSolution().col_value)[: len(row_estimates)]
    return WideSolution(np.clip(x, -1.0, 1.0), solver.getInfo().objective_function_value)


def _model(truncated: Truncated, row_estimates: np.ndarray) -> Any:
    """Write ``A~ x - above + below = r``, above and below >= 0, whose sum is the norm; empty rows are left out."""
    n = len(row_estimates)
    rows = np.flatnonzero(np.diff(truncated.indptr))
    k = len(rows)
    lengths = np.diff(truncated.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths + 2)))
    places = np.arange(len(truncated.indices)) + 2 * np.repeat(np.arange(k), lengths)
    columns, coefficients = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.float64)
    columns[places], coefficients[places] = truncated.indices, truncated.weights
    columns[indptr[1:] - 2], coefficients[indptr[1:] - 2] = n + np.arange(k), -1.0
    columns[indptr[1:] - 1], coefficients[indptr[1:] - 1] = n + k + np.arange(k), 1.0

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n + 2 * k, k
    model.col_cost_ = np.concatenate((row_estimates, np.ones(2 * k)))
    model.col_lower_ = np.concatenate((np.full(n, -1.0), np.zeros(2 * k)))
    model.col_upper_ = np.concatenate((np.ones(n), np.full(2 * k, highspy.kHighsInf)))
    model.row_lower_ = model.row_upper_ = row_estimates[rows]
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = indptr, columns, coefficients
    return model


def round_against_neighbours(csr: Csr, estimates: np.ndarray) -> np.ndarray:
    """Put the vertices, in their order, opposite to what their neighbours are or are estimated to be.

    Parameters
    ----------
    csr : Csr
    estimates : ndarray of float64, shape (n,)
        From -1 (side 0) to 1 (side 1).

    Returns
    -------
    ndarray of int8, shape (n,)
        Sides 0 and 1; a tie goes to side 1.

    Notes
    -----
    For any weights the cut is worth at least the expected cut under independent sides of these means, since each step keeps or
    raises it.
    """
    return _round_against_neighbours(csr.indptr, csr.indices, csr.weights, np.array(estimates, dtype=np.float64))


@njit(cache=True, nogil=True)
def _round_against_neighbours(indptr, indices, weights, x):  # type: ignore[no-untyped-def]
    n = indptr.shape[0] - 1
    sides = np.empty(n, np.int8)
    for v in range(n):
        pull = 0.0
        for slot in range(indptr[v], indptr[v + 1]):
            pull += weights[slot] * x[indices[slot]]
        sides[v] = 0 if pull > 0.0 else 1
        x[v] = 2.0 * sides[v] - 1.0
    return sides
