"""The best assignment of rows to bidders: prices first, then a search among what they leave, then an integer program."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auctions.outcome import AllocationResult, SearchLimits, Status, StoppedBy, relative_gap
from auctions.winner_determination.assignment_mip import solve_assignment
from auctions.winner_determination.choices import Choices
from auctions.winner_determination.linear_relaxation import dual_prices
from auctions.winner_determination.reduced_cost_search import NODES_PER_TURN, ReducedCostSearch
from auctions.winner_determination.repair import repaired

SEARCH_NODES = 2_000_000
"""What the search may spend before the integer program takes over: about a second."""

MOST_MIP_ROWS = 20_000
MOST_SEARCHED_BIDDERS = 500


@dataclass(frozen=True, slots=True)
class Assignment:
    """Rows for all bidders, with what was proved.

    Attributes
    ----------
    chosen : int array of shape (n_bidders,), or None
        None if no rows fit together, or none were found.
    bound : float
    stopped_by : str, optional
    method : str
    prices : float array of shape (n_goods,)
        The last ones used, a warm start for a similar problem.
    """

    chosen: NDArray[np.int64] | None
    bound: float
    stopped_by: StoppedBy | None
    method: str
    prices: NDArray[np.float64]


def best_assignment(
    choices: Choices,
    limits: SearchLimits,
    deadline: float,
    *,
    prices: NDArray[np.float64] | None = None,
    chosen: NDArray[np.int64] | None = None,
) -> Assignment:
    """Return the best rows, one per bidder, within the supply.

    Parameters
    ----------
    choices : Choices
        At least one row for each bidder.
    limits : SearchLimits
    deadline : float
        On the monotonic clock.
    prices : float array, optional
        To start from; by default those of the linear relaxation.
    chosen : int array, optional
        Rows known to fit together.
    """
    if prices is None:
        prices = dual_prices(choices)
    if prices is None:
        prices = np.zeros(len(choices.capacities))
    chosen = better_of(choices, chosen, repaired(choices, prices))
    search, stopped_by = searched(choices, prices, chosen, limits, deadline, SEARCH_NODES)
    chosen = search.chosen
    if search.is_complete:
        return Assignment(chosen, -np.inf if chosen is None else choices.welfare(chosen), None, "reduced-cost search", prices)
    if stopped_by in ("cancelled", "time_limit") or search.n_rows > MOST_MIP_ROWS:
        return Assignment(chosen, search.bound, stopped_by, "reduced-cost search", prices)
    return _finish(choices, prices, chosen, limits, deadline)


def better_of(choices: Choices, one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return the more valuable of two assignments, the first if they are equal."""
    if one is None or other is None:
        return one if other is None else other
    return other if choices.welfare(other) > choices.welfare(one) else one


@dataclass(frozen=True, slots=True)
class Searched:
    """Where a search stands: the best rows, the bound, whether it is complete, and how many rows it had to look at."""

    chosen: NDArray[np.int64] | None
    bound: float
    is_complete: bool
    n_rows: int


def searched(
    choices: Choices,
    prices: NDArray[np.float64],
    chosen: NDArray[np.int64] | None,
    limits: SearchLimits,
    deadline: float,
    most_nodes: int,
) -> tuple[Searched, StoppedBy | None]:
    """Search in turns until it is complete or a limit is reached."""
    search = ReducedCostSearch(choices, prices, chosen)
    # A node costs time in proportion to the bidders below it; the counts are for ten of them.
    allowed = 0 if choices.n_bidders > MOST_SEARCHED_BIDDERS else most_nodes * 10 // max(10, choices.n_bidders)
    if limits.node_limit is not None:
        allowed = min(allowed, limits.node_limit)
    stopped_by: StoppedBy | None = None
    while not search.is_complete and stopped_by is None:
        chosen = search.run(min(NODES_PER_TURN, allowed - search.nodes)).chosen
        if search.is_complete:
            break
        if search.nodes >= allowed:
            stopped_by = "node_limit"
        elif limits.cancelled():
            stopped_by = "cancelled"
        elif time.monotonic() >= deadline:
            stopped_by = "time_limit"
    return Searched(chosen, search.bound, search.is_complete, search.n_rows), stopped_by


def _finish(
    choices: Choices, prices: NDArray[np.float64], chosen: NDArray[np.int64] | None, limits: SearchLimits, deadline: float
) -> Assignment:
    """Solve what the prices leave open as an integer program."""
    losses, bound = choices.losses(prices)
    gap = np.inf if chosen is None else bound - choices.welfare(chosen)
    left, rows = choices.keep(losses <= gap + 1e-9 * max(1.0, choices.scale))
    known = None if chosen is None else np.searchsorted(rows, chosen)
    solved = solve_assignment(left, limits, deadline, known)
    if solved.chosen is not None:
        chosen = better_of(choices, chosen, rows[solved.chosen])
    welfare = -np.inf if chosen is None else choices.welfare(chosen)
    # Rows were only left out that are no part of anything better than what is known.
    bound = min(bound, max(welfare, solved.bound))
    return Assignment(chosen, bound, solved.stopped_by, "integer program", prices)


def as_result(choices: Choices, assignment: Assignment, limits: SearchLimits, started: float) -> AllocationResult:
    """Return the assignment as what every search for an allocation returns."""
    seconds = time.monotonic() - started
    if assignment.chosen is None:
        nothing = np.zeros((choices.n_bidders, len(choices.capacities)), dtype=np.int64)
        status: Status = "infeasible" if assignment.stopped_by is None else "feasible"
        return AllocationResult(
            nothing,
            np.zeros(len(nothing)),
            0.0,
            0.0,
            status,
            assignment.stopped_by,
            assignment.method,
            seconds,
            assignment.prices,
        )
    values = choices.values[assignment.chosen]
    welfare = float(values.sum())
    bound = max(welfare, assignment.bound)
    is_optimal = relative_gap(bound, welfare) <= limits.gap
    return AllocationResult(
        allocation=choices.bundles[assignment.chosen],
        values=values,
        welfare=welfare,
        bound=bound,
        status="optimal" if is_optimal else "feasible",
        stopped_by=assignment.stopped_by,
        method=assignment.method,
        seconds=seconds,
        prices=assignment.prices,
    )
