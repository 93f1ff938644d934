"""All the bundles that a bidder may hold with their values: its demand at any prices is one pass over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from auctions.admissible import FREE, admissible_bundles, count_admissible
from auctions.bundles import Bundles, Limits, all_bundles, bundles_at, count_bundles, indices_of
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.block_evaluation import Precision, middle, sparse_network, value_grid, value_list
from auctions.networks.demand import Demand, checked_bundles, checked_prices, no_demand
from auctions.networks.forward_pass import evaluate
from solvers.operation import InvalidInput, TooLarge

LARGEST_TABLE = 2**20

SINGLE_ERROR, DOUBLE_ERROR = 1e-5, 1e-11
"""By how much, relative to the greatest value, a utility may be off in either precision: sums of up to a hundred terms."""

SAME_UTILITY = 1e-12
"""Relative to the greatest value, utilities this close are one, and the smaller bundle in mixed-radix order is taken."""

ExactValues = Callable[[Bundles], NDArray[np.float64]]


class ValueTable:
    """Values of all admissible bundles, in mixed-radix order.

    Parameters
    ----------
    capacities : sequence of int
    values : array of shape (N,)
        Of every bundle, or of every one of `bundles`. Minus infinity forbids a bundle.
    bundles : int64 array of shape (N, m), optional
        In mixed-radix order; None for all bundles within the capacities.
    exact : callable, optional
        Computes values in double precision where `values` are in single; winners are looked up there.

    Examples
    --------
    >>> table = ValueTable((1, 1), [0.0, 3.0, 2.0, 6.0])
    >>> table.demand([1.0, 4.0]).bundle.tolist()
    [1, 0]
    >>> table.restrict([[1, 0]]).demand([1.0, 4.0]).bundle.tolist()
    [1, 1]
    """

    def __init__(
        self, capacities: ArrayLike, values: ArrayLike, bundles: Bundles | None = None, exact: ExactValues | None = None
    ) -> None:
        self.capacities = tuple(int(capacity) for capacity in np.asarray(capacities).tolist())
        array = np.asarray(values)
        self.values: NDArray[Any] = array if array.dtype == np.float32 else array.astype(np.float64)
        n_rows = count_bundles(self.capacities) if bundles is None else len(bundles)
        if self.values.shape != (n_rows,):
            raise InvalidInput(f"values of shape {self.values.shape} for {n_rows} bundles", pointer="/values")
        bad = np.flatnonzero(np.isnan(self.values) | (self.values == np.inf))
        if len(bad):
            raise InvalidInput(f"the value {self.values[bad[0]]} of bundle {bad[0]} is not finite", pointer=f"/values/{bad[0]}")
        self._listed = bundles
        self._exact = exact
        self._split = middle(self.capacities)

    @cached_property
    def _greatest(self) -> float:
        return float(np.max(np.abs(self.values), where=np.isfinite(self.values), initial=0.0))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_goods(self) -> int:
        return len(self.capacities)

    @property
    def bundles(self) -> Bundles:
        """The bundles that the values are of, shape (N, m)."""
        return all_bundles(self.capacities) if self._listed is None else self._listed

    def bundles_of(self, rows: NDArray[np.int64]) -> Bundles:
        """Return the bundles of some rows."""
        return bundles_at(rows, self.capacities) if self._listed is None else self._listed[rows]

    def exact_values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of some rows in double precision."""
        return self._exact_values(rows, None)

    def _exact_values(self, rows: NDArray[np.int64], bundles: Bundles | None) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.values[rows].astype(np.float64)
        if self._exact is None:
            return values
        return np.where(np.isneginf(values), values, self._exact(self.bundles_of(rows) if bundles is None else bundles))

    def demand(self, prices: ArrayLike) -> Demand:
        """Return the bundle of highest value less price; of equal ones the first in mixed-radix order."""
        row = checked_prices(prices, self.n_goods)
        rows, utilities = self.best_rows(row)
        if rows[0] < 0:
            return no_demand(self.n_goods)
        utility = float(utilities[0])
        return Demand(self.bundles_of(rows)[0], float(self.exact_values(rows)[0]), utility, utility)

    def demands(self, prices: NDArray[np.float64]) -> tuple[Bundles, NDArray[np.float64]]:
        """Return the bundles of highest utility at K price vectors, and the utilities; empty at minus infinity where all is forbidden."""
        rows, utilities = self.best_rows(prices)
        bundles = self.bundles_of(np.maximum(rows, 0))
        bundles[rows < 0] = 0
        return bundles, utilities

    def best_rows(self, prices: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return which row is best at each of K price vectors, -1 if all are forbidden, and its utility; O(K N)."""
        greatest = self._greatest
        search = self._search_grid if self._listed is None else self._search_list
        rows, utilities = np.full(len(prices), -1), np.full(len(prices), -np.inf)
        found = [(place, near) for place, (best, near) in enumerate(search(prices, greatest)) if best > -np.inf]
        if not found:
            return rows, utilities
        # All that comes near at any price in one go: one by one, calls would cost more than sums.
        places, nears = np.array([place for place, _ in found]), [near for _, near in found]
        counts = np.array([len(near) for near in nears])
        near = np.concatenate(nears)
        bundles = self.bundles_of(near)
        exact = self._exact_values(near, bundles) - np.einsum("ij,ij->i", bundles, np.repeat(prices[places], counts, axis=0))
        starts = np.cumsum(counts) - counts
        enough = np.maximum.reduceat(exact, starts) - SAME_UTILITY * greatest
        candidates = np.flatnonzero(exact >= np.repeat(enough, counts))
        first = candidates[np.searchsorted(candidates, starts)]
        rows[places], utilities[places] = near[first], exact[first]
        return rows, utilities

    def restrict(self, forbidden: ArrayLike) -> ValueTable:
        """Return the table without some bundles; the rows stay where they are."""
        unwanted = checked_bundles(forbidden, self.capacities, pointer="/forbidden")
        values = self.values.copy()
        if len(unwanted):
            values[self.rows_of(unwanted)] = -np.inf
        return ValueTable(self.capacities, values, self._listed, self._exact)

    def rows_of(self, bundles: Bundles) -> NDArray[np.int64]:
        """Return the rows of some bundles, leaving out those that are not in the table."""
        if self._listed is None:
            return indices_of(bundles, self.capacities)
        matches = (self._listed[:, None, :] == bundles[None, :, :]).all(axis=2)
        return np.flatnonzero(matches.any(axis=1))

    def _tolerance(self, greatest: float, best: float) -> float:
        error = SINGLE_ERROR if self.values.dtype == np.float32 else DOUBLE_ERROR
        return error * (greatest + abs(best))

    def _search_grid(self, prices: NDArray[np.float64], greatest: float) -> list[tuple[float, NDArray[np.int64]]]:
        """Return the best utility at each price vector, in the precision of the table, and the rows that may be the best."""
        low = prices[:, : self._split] @ all_bundles(self.capacities[: self._split]).T
        high = prices[:, self._split :] @ all_bundles(self.capacities[self._split :]).T
        grid = self.values.reshape(high.shape[1], low.shape[1])
        low, high = low.astype(grid.dtype), high.astype(grid.dtype)
        tops = np.empty_like(high)
        _best_of_each_line(grid, low, high, tops)
        found = []
        for k, best in enumerate(tops.max(axis=1).tolist()):
            least = best - self._tolerance(greatest, best)
            lines = np.flatnonzero(tops[k] >= least)
            line, place = np.nonzero(grid[lines] - low[k] - high[k, lines, None] >= least)
            found.append((best, lines[line] * grid.shape[1] + place))
        return found

    def _search_list(self, prices: NDArray[np.float64], greatest: float) -> list[tuple[float, NDArray[np.int64]]]:
        utilities = self.values - (prices @ self.bundles.T).astype(self.values.dtype)
        bests = utilities.max(axis=1, initial=-np.inf).tolist()
        return [
            (best, np.flatnonzero(row >= best - self._tolerance(greatest, best)))
            for best, row in zip(bests, utilities, strict=True)
        ]


def network_table(
    architecture: Architecture,
    parameters: Vector,
    scale: float = 1.0,
    limits: Limits = FREE,
    precision: Precision = np.float64,
) -> ValueTable:
    """Return the values scale * M(x) of every bundle that the limits admit.

    Raises
    ------
    TooLarge
        If there are more than 2^20.
    """
    capacities = architecture.capacities
    listed = admissible_list(capacities, limits)
    network = sparse_network(architecture, parameters, precision)
    values = value_grid(network, capacities) if listed is None else value_list(network, capacities, listed)
    values *= precision(scale)
    if precision is np.float64:
        return ValueTable(capacities, values, listed)
    return ValueTable(capacities, values, listed, lambda bundles: scale * evaluate(architecture, parameters, bundles))


def admissible_list(capacities: tuple[int, ...], limits: Limits) -> Bundles | None:
    """Return what a table must list: the admissible bundles, or None if all are admissible.

    Raises
    ------
    TooLarge
        If there are more than 2^20.
    """
    n_bundles = count_admissible(capacities, limits)
    if n_bundles > LARGEST_TABLE:
        raise TooLarge(f"{n_bundles} bundles are too many for a table; at most {LARGEST_TABLE}")
    return None if n_bundles == count_bundles(capacities) else admissible_bundles(capacities, limits)


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _best_of_each_line(grid, low, high, tops):  # type: ignore[no-untyped-def]
    """For each price vector, the highest utility in each line of the grid; a line stays in the nearest cache for all of them.

    The best of every 32nd place first: a single running maximum would have to wait for each comparison.
    """
    bests = np.empty(min(32, grid.shape[1]), dtype=grid.dtype)
    width = len(bests)
    for line in range(grid.shape[0]):
        values = grid[line]
        for k in range(low.shape[0]):
            costs = low[k]
            for x in range(width):
                bests[x] = values[x] - costs[x]
            start = width
            while start + width <= len(values):
                for x in range(width):
                    utility = values[start + x] - costs[start + x]
                    bests[x] = utility if utility > bests[x] else bests[x]
                start += width
            best = bests[0]
            for x in range(width):
                best = max(best, bests[x])
            for x in range(start, len(values)):
                best = max(best, values[x] - costs[x])
            tops[k, line] = best - high[k, line]
