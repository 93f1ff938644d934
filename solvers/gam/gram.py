"""Rows summed up: the inner products of centred candidate columns, from which a forest is fitted without looking at a row again.

For curvatures h (the sample weights for squared loss) and H = sum h, column j has the share omega_j = n_j / H, n_j = sum of h over its
rows, and

    M_jk = sum over the rows of both j and k of h  -  n_j n_k / H                  (`Gram.products`)
    s0_j = sum over the rows of j of h (z - mean z)                                (`Response.correlations`)

for a response z. All of them come from the 2-D histograms of pairs of features, one pass over the rows each, which are summed up to
thresholds, centred and stored while they are in cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit

from solvers.gam.binning import Codes
from solvers.gam.candidate_columns import CandidateColumns, bin_sums
from solvers.gam.interruption import WORK_BETWEEN_ASKS, Interrupted, ShouldStop, never, portions
from solvers.gam.stump_updates import Rules, Stumps, swap_residual, sweep


@dataclass(frozen=True, slots=True)
class Gram:
    """Weighted inner products of the centred columns.

    Attributes
    ----------
    products : float64 array of shape (p, p)
        M.
    diagonal : float64 array of shape (p,)
        Of M.
    shares : float64 array of shape (p,)
        omega, each column's share of the weight.
    total : float
        H.
    """

    products: np.ndarray
    diagonal: np.ndarray
    shares: np.ndarray
    total: float

    def block(self, active: np.ndarray, should_stop: ShouldStop = never) -> np.ndarray:
        """Return the products of some columns with each other."""
        block: np.ndarray = self.products[np.ix_(active, active)]
        return block

    def subset(self, index: np.ndarray) -> Gram:
        """Return the products of some columns, given in increasing order."""
        return Gram(self.block(index), self.diagonal[index], self.shares[index], self.total)

    def combine(self, active: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return M[:, active] @ steps, shape (p,)."""
        combined: np.ndarray = _combine_rows(self.products, active, np.asarray(steps, dtype=np.float64))
        return combined

    def sweep(self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = never) -> tuple[int, float]:
        """Move every stump once, in place, or those that there is time for; return how many changed their column and what was gained."""
        moved, decrease = 0, 0.0
        for first, last in portions(len(stumps.columns), len(correlations), should_stop):
            more, fell = sweep(self.products, rules, correlations, stumps, first, last)
            moved, decrease = moved + int(more), decrease + float(fell)
        return moved, decrease

    def swap_residual(
        self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = never
    ) -> float | None:
        """Return the most that moving one stump alone could gain, None if there was no time to find out."""
        seen = np.zeros(len(correlations) + 1, dtype=bool)
        residual, done = 0.0, 0
        for first, last in portions(len(stumps.columns), len(correlations), should_stop):
            part = swap_residual(self.products, rules, correlations, stumps, first, last, seen)
            residual, done = max(residual, float(part)), last
        return residual if done == len(stumps.columns) else None


@dataclass(frozen=True, slots=True)
class Response:
    """What a fit must know of the response z.

    Attributes
    ----------
    correlations : float64 array of shape (p,)
        s0, the products of the centred columns with z.
    mean : float
        h-mean of z: the best constant.
    squares : float
        sum of h (z - mean)^2; half of it is the objective of the empty forest.
    """

    correlations: np.ndarray
    mean: float
    squares: float


def build_gram(
    table: Codes,
    columns: CandidateColumns,
    curvature: np.ndarray | None = None,
    *,
    n_jobs: int = 1,
    should_stop: ShouldStop = never,
) -> Gram:
    """Sum the rows up to the products of all columns.

    Parameters
    ----------
    table : Codes
    columns : CandidateColumns
    curvature : float array of shape (N,), optional
        h; 1 for every row by default, which is faster and exact.
    n_jobs : int
        Threads; the result does not depend on it.
    should_stop : callable, optional
        Asked between features.

    Raises
    ------
    Interrupted
        If it was told to stop.

    Notes
    -----
    O(N D^2 + p^2), 8 p^2 bytes.

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> from solvers.gam.candidate_columns import candidate_columns
    >>> table = bin_table([np.array([1.0, 2.0, 3.0, 4.0])], ["age"])
    >>> build_gram(table, candidate_columns(table, min_samples_leaf=1)).products
    array([[0.75, 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 0.75]])
    """
    weights = column_weights(table, columns, curvature)
    total = float(table.n_rows if curvature is None else curvature.sum())
    products = shared_weights(table, columns, curvature, weights, 1 / total, n_jobs, should_stop)
    return Gram(products, products.diagonal().copy(), weights / total, total)


def respond(table: Codes, columns: CandidateColumns, response: np.ndarray, curvature: np.ndarray | None = None) -> Response:
    """Sum a response up; O(N D).

    Parameters
    ----------
    response : float array of shape (N,)
        z.
    curvature : float array of shape (N,), optional
        h.

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> from solvers.gam.candidate_columns import candidate_columns
    >>> table = bin_table([np.array([1.0, 2.0, 3.0, 4.0])], ["age"])
    >>> respond(table, candidate_columns(table, min_samples_leaf=1), np.array([5.0, 5.0, 7.0, 9.0]))
    Response(correlations=array([1.5, 3. , 2.5]), mean=6.5, squares=11.0)
    """
    h = np.ones(table.n_rows) if curvature is None else curvature
    origin = response_origin(response, h)
    shifted = response - origin
    total = float(h.sum())
    mean = float(h @ shifted) / total
    weights = column_weights(table, columns, curvature)
    correlations = columns.sums(bin_sums(table, h * shifted)) - weights * mean
    return Response(correlations, origin + mean, float(h @ (shifted - mean) ** 2))


def column_weights(table: Codes, columns: CandidateColumns, curvature: np.ndarray | None) -> np.ndarray:
    """Return n, the curvature of each column's rows."""
    return columns.sums(bin_sums(table, np.ones(table.n_rows) if curvature is None else curvature))


def response_origin(response: np.ndarray, weights: np.ndarray) -> float:
    """Return the response nearest to the mean: sums of differences from it stay exact where the responses are whole numbers."""
    distance = np.abs(response - np.average(response, weights=weights))
    return float(response[distance == distance.min()].min())


def shared_weights(
    table: Codes,
    columns: CandidateColumns,
    curvature: np.ndarray | None,
    weights: np.ndarray,
    centring: float,
    n_jobs: int,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """Return the products of all columns less `centring` n_j n_k, feature pair by feature pair."""
    p = len(columns)
    products = np.empty((p, p))
    at = columns.cut + ~columns.is_level
    _own_products(columns.feature, columns.is_level, columns.start, weights, centring, products)
    used = np.flatnonzero(np.diff(columns.start))
    first, second = np.triu_indices(len(used), k=1)
    pairs = np.stack([used[first], used[second]], axis=1)
    n_codes = table.n_codes

    def fill(number: int, part: np.ndarray) -> None:
        if number and should_stop():
            raise Interrupted
        shape = (table.codes, at, columns.is_level, columns.start, n_codes, weights, centring, part, products)
        if curvature is None:
            _count_pairs(*shape)
        else:
            _weigh_pairs(np.require(curvature, np.float64, ["C", "W"]), *shape)

    if len(pairs) == 0:
        return products
    parts = list(_chunks(pairs, max(8 * n_jobs if n_jobs > 1 else 1, len(pairs) * table.n_rows // WORK_BETWEEN_ASKS)))
    if n_jobs == 1:
        for number, part in enumerate(parts):
            fill(number, part)
        return products
    with ThreadPoolExecutor(n_jobs) as threads:  # the kernels release the interpreter's lock
        list(threads.map(fill, range(len(parts)), parts))
    return products


def _chunks(pairs: np.ndarray, number: int) -> Iterator[np.ndarray]:
    bounds = np.linspace(0, len(pairs), number + 1).astype(int)
    return (pairs[low:high] for low, high in pairwise(bounds) if high > low)


@njit(cache=True, nogil=True)
def _own_products(feature, is_level, start, weights, centring, products):  # type: ignore[no-untyped-def]
    """Products within a feature: of two thresholds the rows beyond the larger, of two levels none."""
    for j in range(feature.size):
        for k in range(start[feature[j]], j + 1):
            shared = (weights[j] if j == k else 0.0) if is_level[j] else weights[j]
            products[j, k] = shared - weights[j] * weights[k] * centring
            products[k, j] = products[j, k]


@njit(cache=True, nogil=True)
def _count_pairs(codes, at, is_level, start, n_codes, weights, centring, pairs, products):  # type: ignore[no-untyped-def]
    most = n_codes.max()
    cells = np.empty(most * most, np.int32)
    for pair in range(pairs.shape[0]):
        d, e = pairs[pair, 0], pairs[pair, 1]
        rows, width = codes[d], np.uint64(n_codes[e])
        others = codes[e]
        tile = cells[: n_codes[d] * n_codes[e]]
        tile[:] = 0
        for i in range(rows.size):
            tile[np.uint64(rows[i]) * width + np.uint64(others[i])] += 1
        _store_tile(tile.reshape(n_codes[d], n_codes[e]), d, e, at, is_level, start, weights, centring, products)


@njit(cache=True, nogil=True)
def _weigh_pairs(curvature, codes, at, is_level, start, n_codes, weights, centring, pairs, products):  # type: ignore[no-untyped-def]
    most = n_codes.max()
    cells = np.empty(most * most, np.float64)
    for pair in range(pairs.shape[0]):
        d, e = pairs[pair, 0], pairs[pair, 1]
        rows, width = codes[d], np.uint64(n_codes[e])
        others = codes[e]
        tile = cells[: n_codes[d] * n_codes[e]]
        tile[:] = 0.0
        for i in range(rows.size):
            tile[np.uint64(rows[i]) * width + np.uint64(others[i])] += curvature[i]
        _store_tile(tile.reshape(n_codes[d], n_codes[e]), d, e, at, is_level, start, weights, centring, products)


@njit(cache=True, nogil=True)
def _store_tile(tile, d, e, at, is_level, start, weights, centring, products):  # type: ignore[no-untyped-def]
    """Sum a histogram up to thresholds, centre it and store it with its mirror image."""
    height, width = tile.shape
    if not is_level[start[e]]:
        for a in range(height):
            for c in range(width - 2, -1, -1):
                tile[a, c] += tile[a, c + 1]
    if not is_level[start[d]]:
        for a in range(height - 2, -1, -1):
            for c in range(width):
                tile[a, c] += tile[a + 1, c]
    for j in range(start[d], start[d + 1]):
        share = weights[j] * centring
        for k in range(start[e], start[e + 1]):
            products[j, k] = tile[at[j], at[k]] - share * weights[k]
    for k in range(start[e], start[e + 1]):
        for j in range(start[d], start[d + 1]):
            products[k, j] = tile[at[j], at[k]] - weights[j] * centring * weights[k]


@njit(cache=True, nogil=True)
def _combine_rows(products, active, steps):  # type: ignore[no-untyped-def]
    combined = np.zeros(products.shape[1])
    for a in range(active.size):
        row, step = products[active[a]], steps[a]
        for k in range(combined.size):
            combined[k] += step * row[k]
    return combined
