"""VCG payments: each winner pays what its presence costs the others.

pi_i = B*(without i) - sum of the other winners' bids, B* being the largest sum of bids that can win together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.outcome import AllocationResult, SearchLimits, relative_gap
from auctions.winner_determination.bids import BidLists, XorBids
from auctions.winner_determination.xor import TieBreak, solve_xor_wdp

ROUNDING = 1e-9
"""Of the welfare: a marginal economy better by less is no better."""


@dataclass(frozen=True, slots=True)
class Payments:
    """What the bidders pay, and how certain that is.

    Attributes
    ----------
    payments : float array of shape (n_bidders,)
        From 0 to the bidder's winning bid.
    error_bound : float array of shape (n_bidders,)
        How far each may be from the exact payment for this allocation's problem; 0 where every search proved its optimum.
    exact : bool
        Whether every search proved its optimum, to the gap asked for.
    wdp : AllocationResult
        Who wins what.
    welfare_without : float array of shape (n_bidders,)
        The best found when a bidder is left out; for one that wins nothing, the welfare itself.
    """

    payments: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    exact: bool
    wdp: AllocationResult
    welfare_without: NDArray[np.float64]

    @property
    def revenue(self) -> float:
        """The sum of the payments."""
        return float(self.payments.sum())

    @property
    def deterministic(self) -> bool:
        """Whether the same bids give the same payments: neither the clock nor a caller ended a search."""
        return self.wdp.deterministic


def vcg_payments(
    bids: BidLists | XorBids,
    capacities: ArrayLike,
    limits: SearchLimits | None = None,
    *,
    warm_start: ArrayLike | None = None,
    tie_break: TieBreak | None = None,
) -> Payments:
    """Return the best allocation by the bids and its VCG payments.

    Parameters
    ----------
    bids : list of lists of (bundle, value), or XorBids
    capacities : list of int
    limits : SearchLimits, optional
        Of each search; its `time_limit` is that of all together.
    warm_start, tie_break : optional
        As in :func:`~auctions.winner_determination.xor.solve_xor_wdp`.

    Returns
    -------
    Payments

    Raises
    ------
    InvalidInput
        If a bid or the supply is not valid.

    Notes
    -----
    Every search without a bidder starts from what the others have in the allocation. Should one that was stopped find more than the
    whole allocation is worth, that becomes the allocation and all is done again: so no payment is negative or above the winning bid,
    even when nothing was proved, and each is off by at most the two gaps that it is a difference of.

    Examples
    --------
    >>> vcg_payments([[([1, 0], 6.0)], [([0, 1], 6.0)], [([1, 1], 8.0)]], [1, 1]).payments.tolist()
    [2.0, 2.0, 0.0]
    """
    limits = limits or SearchLimits()
    deadline = time.monotonic() + limits.time_limit
    offered = XorBids.of(bids, capacities)
    main = solve_xor_wdp(offered, offered.capacities, limits, warm_start=warm_start, tie_break=tie_break)
    while True:
        marginal = _without_each(offered, main, limits, deadline)
        best = max(marginal.values(), key=lambda result: result.welfare, default=main)
        if best.welfare <= main.welfare + ROUNDING * abs(main.welfare):
            return _payments(main, marginal, limits)
        # What one bidder less can get, all can get; what was proved of all still holds.
        is_optimal = relative_gap(main.bound, best.welfare) <= limits.gap
        main = replace(best, bound=main.bound, status="optimal" if is_optimal else "feasible", stopped_by=main.stopped_by)


def _without_each(offered: XorBids, main: AllocationResult, limits: SearchLimits, deadline: float) -> dict[int, AllocationResult]:
    """Return the best allocation without each of the winners, ending at one that beats the main one."""
    marginal: dict[int, AllocationResult] = {}
    for winner in np.flatnonzero(main.allocation.any(axis=1)).tolist():
        others = main.allocation.copy()
        others[winner] = 0
        left = replace(limits, time_limit=max(0.0, deadline - time.monotonic()))
        marginal[winner] = solve_xor_wdp(offered, offered.capacities, left, exclude=[winner], warm_start=others)
        if marginal[winner].welfare > main.welfare + ROUNDING * abs(main.welfare):
            break
    return marginal


def _payments(main: AllocationResult, marginal: dict[int, AllocationResult], limits: SearchLimits) -> Payments:
    n_bidders = len(main.values)
    payments, error_bound = np.zeros(n_bidders), np.zeros(n_bidders)
    welfare_without = np.full(n_bidders, main.welfare)
    for bidder, result in marginal.items():
        payments[bidder] = result.welfare - (main.welfare - main.values[bidder])
        welfare_without[bidder] = result.welfare
        error_bound[bidder] = main.bound - main.welfare + result.bound - result.welfare
    is_exact = all(result.status == "optimal" for result in (main, *marginal.values()))
    stopped_by = next((result.stopped_by for result in (main, *marginal.values()) if not result.deterministic), main.stopped_by)
    return Payments(
        np.clip(payments, 0.0, main.values), error_bound, is_exact, replace(main, stopped_by=stopped_by), welfare_without
    )
