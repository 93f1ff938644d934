"""Winner determination over value tables: prices bound the welfare, and rule bundles out until a search can go through the rest.

At prices p no allocation is worth more than W(p). Whatever loses more at p than the gap between W(p) and an allocation that is known is
no part of anything better, so the tables shrink while the prices improve: from all bundles to short lists, which
:func:`~auctions.winner_determination.assignment.best_assignment` finishes exactly.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, count_bundles
from auctions.outcome import AllocationResult, SearchLimits, StoppedBy, relative_gap
from auctions.winner_determination.assignment import as_result, best_assignment
from auctions.winner_determination.choices import Choices
from auctions.winner_determination.linear_relaxation import dual_prices
from auctions.winner_determination.pair_splits import improved_by_pairs, marginal_prices
from auctions.winner_determination.subgradient import Descent
from auctions.winner_determination.table import NOT_THERE, ListedTable, Table
from auctions.winner_determination.tie_break import TIE, first_in_order

DEFAULT_STEPS = 150
PERIOD = 5
"""Steps between two attempts to improve the allocation and to shrink the tables."""

MOST_BUNDLES = 2**20
"""Up to here all values of a bidder are kept side by side, for the improvement of allocations."""

SHORT = 1_000
"""Rows of all bidders together: the linear relaxation of so few takes some hundredths of a second."""

MOST_ROWS = 400_000
"""Of all bidders together in the last search."""

ROUNDING = 1e-11
"""Relative: what counts as lost by rounding only."""


def solve_tables(
    tables: Sequence[Table],
    capacities: NDArray[np.int64],
    limits: SearchLimits,
    *,
    prices: NDArray[np.float64] | None = None,
    warm_start: Bundles | None = None,
) -> AllocationResult:
    """Return the allocation of largest value, or the best found within the limits.

    Parameters
    ----------
    tables : sequence of Table
        One per bidder, none without any bundle.
    capacities : int array of shape (n_goods,)
    limits : SearchLimits
        `iteration_limit` counts steps of the descent (default 150), `node_limit` those of the search.
    prices : float array of shape (n_goods,), optional
        To start from, such as those of a similar problem.
    warm_start : int array of shape (n_bidders, n_goods), optional
        An allocation to start from, such as that of a similar problem.
    """
    started = time.monotonic()
    deadline = started + limits.time_limit
    shrinking = _Shrinking(tables, capacities, prices, warm_start)
    most_steps = DEFAULT_STEPS if limits.iteration_limit is None else limits.iteration_limit
    stopped_by: StoppedBy | None = None
    for step in range(most_steps):
        shrinking.step(is_milestone=step % PERIOD == 0)
        if shrinking.is_closed or shrinking.n_bundles <= SHORT:
            break
        if limits.cancelled():
            stopped_by = "cancelled"
        elif time.monotonic() >= deadline:
            stopped_by = "time_limit"
        if stopped_by is not None:
            break
    return shrinking.finish(limits, deadline, started, stopped_by)


class _Shrinking:
    """Tables that shrink as prices and allocation improve.

    Attributes
    ----------
    welfare : float
        Of the best allocation known; minus infinity before there is one.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        capacities: NDArray[np.int64],
        prices: NDArray[np.float64] | None,
        warm_start: Bundles | None,
    ) -> None:
        self._original, self._tables, self._capacities = tables, list(tables), capacities
        self._full = [table.full(capacities) for table in tables] if count_bundles(capacities) <= MOST_BUNDLES else None
        self._allocation: Bundles | None = None
        self.welfare = -np.inf
        start = flat_prices(tables, capacities) if prices is None else prices
        self._offer([table.demand(start).bundle for table in tables] if warm_start is None else warm_start)
        self._descent = Descent(self._better_start(start))
        self._utilities = np.zeros(len(tables))

    @property
    def n_bundles(self) -> int:
        return sum(table.n_bundles for table in self._tables)

    @property
    def is_closed(self) -> bool:
        """Whether nothing is left to be found, but for rounding."""
        return self._descent.bound - self.welfare <= self._slack

    @property
    def _slack(self) -> float:
        return ROUNDING * max(abs(self._descent.bound), abs(self.welfare)) if np.isfinite(self.welfare) else 0.0

    def step(self, *, is_milestone: bool) -> None:
        """Ask for the demand at the current prices and move them; at milestones repair it and shrink the tables."""
        prices = self._descent.prices
        demands = [table.demand(prices) for table in self._tables]
        utilities = np.array([demand.worth for demand in demands])
        potential = float(prices @ self._capacities + utilities.sum())
        if potential < self._descent.bound:
            self._utilities = utilities
        over_demand = np.sum([demand.bundle for demand in demands], axis=0) - self._capacities
        if is_milestone or not (over_demand > 0).any():
            self._offer([demand.bundle for demand in demands])
        self._descent.step(potential, over_demand.astype(np.float64), max(self.welfare, 0.0))
        if is_milestone and not self.is_closed:
            self._shrink(MOST_ROWS // 4)

    def finish(self, limits: SearchLimits, deadline: float, started: float, stopped_by: StoppedBy | None) -> AllocationResult:
        """Search through what is left, unless nothing is, or time is up, or it is too much."""
        if self.is_closed or stopped_by is not None:
            return self._result(limits, started, stopped_by)
        self._shrink(MOST_ROWS)
        lists = [table for table in self._tables if isinstance(table, ListedTable)]
        if len(lists) < len(self._tables) or self.n_bundles > MOST_ROWS:
            return self._result(limits, started, "iteration_limit")
        choices = Choices.of([table.bundles for table in lists], [table.values for table in lists], self._capacities)
        prices = self._descent.best
        if self.n_bundles <= SHORT:
            duals = dual_prices(choices)
            if duals is not None and choices.losses(duals)[1] < choices.losses(prices)[1]:
                prices = duals
        best = best_assignment(choices, limits, deadline, prices=prices, chosen=choices.rows_of(self._allocation))
        return as_result(choices, best, limits, started)

    def _better_start(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the given prices or those that the allocation suggests, whichever prove more."""
        if self._full is None or self._allocation is None:
            return prices
        suggested = marginal_prices(self._full, self._allocation, self._capacities)
        return min(
            (suggested, prices), key=lambda p: float(p @ self._capacities) + sum(table.demand(p).worth for table in self._tables)
        )

    def _offer(self, wanted: Sequence[Bundles] | Bundles) -> None:
        """Make an allocation of what is wanted, and keep it if it is the best."""
        allocation = repaired_bundles(self._original, wanted, self._capacities)
        if allocation is None:
            return
        if self._full is not None:
            allocation = improved_by_pairs(self._full, allocation, self._capacities)
        welfare = float(sum(table.value(bundle) for table, bundle in zip(self._original, allocation, strict=True)))
        if welfare > self.welfare:
            self._allocation, self.welfare = allocation, welfare

    def _shrink(self, most: int) -> None:
        """Keep what can be part of something better; a table of which more than `most` bundles can stays as it is."""
        loss = self._descent.bound - self.welfare + self._slack
        for bidder, (table, utility) in enumerate(zip(self._tables, self._utilities, strict=True)):
            shrunk = table.close(self._descent.best, utility - loss, most)
            if shrunk is not None:
                self._tables[bidder] = shrunk

    def _result(self, limits: SearchLimits, started: float, stopped_by: StoppedBy | None) -> AllocationResult:
        """Return the best allocation known, with the bound that the prices prove."""
        is_known = self._allocation is not None
        allocation = np.zeros((len(self._tables), len(self._capacities)), dtype=np.int64)
        values = np.zeros(len(allocation))
        if self._allocation is not None:
            allocation = self._allocation
            values = np.array([table.value(bundle) for table, bundle in zip(self._original, allocation, strict=True)])
        welfare = float(values.sum())
        bound = max(welfare, self._descent.bound)
        return AllocationResult(
            allocation=allocation,
            values=values,
            welfare=welfare,
            bound=bound,
            status="optimal" if is_known and relative_gap(bound, welfare) <= limits.gap else "feasible",
            stopped_by=stopped_by,
            method="prices",
            seconds=time.monotonic() - started,
            prices=self._descent.best,
        )


def first_of_the_best(tables: Sequence[Table], result: AllocationResult, capacities: NDArray[np.int64]) -> AllocationResult:
    """Return, of all allocations worth as much, the one in which the first bidder has its first bundle, then the second, and so on.

    Bundles come in mixed-radix order, the empty one last.
    """
    if result.status != "optimal" or result.prices is None:
        return result
    utilities = [table.demand(result.prices).worth for table in tables]
    loss = float(result.prices @ capacities) + sum(utilities) - result.welfare + TIE * abs(result.welfare)
    lists = [table.close(result.prices, utility - loss, MOST_ROWS) for table, utility in zip(tables, utilities, strict=True)]
    if None in lists:
        return result
    ordered = [(own.bundles[order], own.values[order]) for own in lists if own is not None for order in [_in_order(own.bundles)]]
    choices = Choices.of([bundles for bundles, _ in ordered], [values for _, values in ordered], capacities)
    best = choices.rows_of(result.allocation)
    if best is None:
        return result
    chosen = first_in_order(choices, result.prices, best)
    return replace(result, allocation=choices.bundles[chosen], values=choices.values[chosen], welfare=choices.welfare(chosen))


def _in_order(bundles: Bundles) -> NDArray[np.int64]:
    return np.lexsort((*bundles.T, ~bundles.any(axis=1)))


def flat_prices(tables: Sequence[Table], capacities: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return prices to start from when nothing is known: half of what the highest value comes to per unit."""
    highest = max(table.demand(np.zeros(len(capacities))).worth for table in tables)
    return np.full(len(capacities), max(highest, 0.0) / 2 / capacities.sum())


def repaired_bundles(
    tables: Sequence[Table], wanted: Sequence[Bundles] | Bundles, capacities: NDArray[np.int64]
) -> Bundles | None:
    """Return an allocation within the supply, close to what is wanted; None if the greedy way leads nowhere.

    Bidders in the order of what they want is worth to them get it, or else the most valuable bundle that still fits; then each in turn
    trades what it has, with what is left, for the best of it.
    """
    allocation = np.zeros((len(tables), len(capacities)), dtype=np.int64)
    values = np.array([table.value(bundle) for table, bundle in zip(tables, wanted, strict=True)])
    order = np.argsort(-values, kind="stable").tolist()
    room = capacities.copy()
    for bidder in order:
        bundle = wanted[bidder]
        if values[bidder] == NOT_THERE or (bundle > room).any():
            fitting = tables[bidder].best_within(np.minimum(room, bundle)) or tables[bidder].best_within(room)
            if fitting is None:
                return None
            bundle = fitting.bundle
        allocation[bidder] = bundle
        room -= bundle
    for bidder in order:
        room += allocation[bidder]
        better = tables[bidder].best_within(room)
        if better is not None:
            allocation[bidder] = better.bundle
        room -= allocation[bidder]
    return allocation
