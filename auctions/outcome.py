"""What every search for an allocation returns: the best one found, a bound, and why it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles

Status = Literal["optimal", "feasible", "infeasible"]
StoppedBy = Literal["node_limit", "iteration_limit", "time_limit", "cancelled"]


def never() -> bool:
    """Tell that nobody has cancelled."""
    return False


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """When a search may end.

    Attributes
    ----------
    gap : float
        Relative gap at which an answer counts as optimal.
    node_limit, iteration_limit : int, optional
        Counted, so that the same search ends in the same place; None for the method's own default.
    time_limit : float
        Seconds. A guard only: a search that it ends is not deterministic.
    cancelled : callable
        Asked from time to time; a search that it ends is not deterministic either.
    """

    gap: float = 1e-6
    node_limit: int | None = None
    iteration_limit: int | None = None
    time_limit: float = 600.0
    cancelled: Callable[[], bool] = never


@dataclass(frozen=True, slots=True)
class AllocationResult:
    """An allocation with the proof of how good it is.

    Attributes
    ----------
    allocation : array of shape (n_bidders, n_goods)
        A bundle per bidder; together within the supply.
    values : array of shape (n_bidders,)
        What each bidder's bundle is worth, in the terms of the problem that was solved.
    welfare : float
        Their sum.
    bound : float
        No allocation is worth more.
    status : {"optimal", "feasible", "infeasible"}
        "optimal" if `gap` is at most the one asked for.
    stopped_by : {"node_limit", "iteration_limit", "time_limit", "cancelled"}, optional
        None if the search came to its own end.
    method : str
        The algorithm that was taken.
    seconds : float
        Wall-clock time.
    prices : array of shape (n_goods,), optional
        Of a unit of each good, by which the bound was proved: a start for a similar problem. Not every method has them.
    """

    allocation: Bundles
    values: NDArray[np.float64]
    welfare: float
    bound: float
    status: Status
    stopped_by: StoppedBy | None
    method: str
    seconds: float
    prices: NDArray[np.float64] | None = None

    @property
    def gap(self) -> float:
        """The relative gap between `bound` and `welfare`."""
        return relative_gap(self.bound, self.welfare)

    @property
    def deterministic(self) -> bool:
        """Whether the same search returns the same answer: neither the clock nor a caller ended it."""
        return self.stopped_by not in ("time_limit", "cancelled")


def relative_gap(bound: float, value: float) -> float:
    """Return how far `value` may be below the optimum, relative to it.

    Examples
    --------
    >>> relative_gap(11.0, 10.0)
    0.1
    """
    return max(0.0, bound - value) / max(1.0, abs(value))
