"""Winner determination over XOR bids: at most one bid of each bidder wins, all within the supply, so that their sum is largest."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import validate_bundles
from auctions.outcome import AllocationResult, SearchLimits
from auctions.winner_determination.assignment import as_result, best_assignment
from auctions.winner_determination.bids import BidLists, XorBids
from auctions.winner_determination.choices import Choices
from auctions.winner_determination.tie_break import first_in_order

TieBreak = Literal["lexicographic"]


def solve_xor_wdp(
    bids: BidLists | XorBids,
    capacities: ArrayLike,
    limits: SearchLimits | None = None,
    *,
    exclude: Collection[int] = (),
    warm_start: ArrayLike | None = None,
    tie_break: TieBreak | None = None,
) -> AllocationResult:
    """Return an allocation that is worth the most by the bids, or the best found within the limits.

    Parameters
    ----------
    bids : list of lists of (bundle, value), or XorBids
        Of each bidder; at most one of them wins.
    capacities : list of int
        The supply of each good.
    limits : SearchLimits, optional
    exclude : collection of int
        Bidders that get nothing.
    warm_start : int array of shape (n_bidders, n_goods), optional
        An allocation to start from, such as that of the round before. What is no bid of its bidder counts as nothing.
    tie_break : {"lexicographic"}, optional
        Of the best allocations, take the one that gives the first bidder its earliest bid (a bid rather than none), then the
        second, and so on. By default any of them.

    Returns
    -------
    AllocationResult

    Raises
    ------
    InvalidInput
        If a bid or the supply is not valid.

    Notes
    -----
    Dual prices of the linear relaxation rule out most bids, and a depth-first search goes through the rest; where it takes too
    many nodes, HiGHS solves what is left as an integer program. Counts end both, so that the same bids give the same answer.

    Examples
    --------
    >>> solve_xor_wdp([[([1, 0], 6.0)], [([0, 1], 6.0)], [([1, 1], 8.0)]], [1, 1]).allocation.tolist()
    [[1, 0], [0, 1], [0, 0]]
    """
    started = time.monotonic()
    limits = limits or SearchLimits()
    offered = XorBids.of(bids, capacities).without(*exclude)
    program = XorProgram.of(offered.undominated() if tie_break is None else offered)
    known = None if warm_start is None else program.rows_of(warm_start)
    deadline = started + limits.time_limit
    assignment = best_assignment(program.choices, limits, deadline, chosen=known)
    if tie_break == "lexicographic" and assignment.stopped_by is None and assignment.chosen is not None:
        assignment = replace(assignment, chosen=first_in_order(program.choices, assignment.prices, assignment.chosen))
    return as_result(program.choices, assignment, limits, started)


@dataclass(frozen=True, slots=True)
class XorProgram:
    """XOR bids as choices: after the bids of each bidder comes the row with which it gets nothing."""

    choices: Choices

    @classmethod
    def of(cls, bids: XorBids) -> XorProgram:
        """Return the choices of some bids."""
        nothing = np.zeros((1, len(bids.capacities)), dtype=np.int64)
        return cls(
            Choices.of(
                [np.concatenate((bundles, nothing)) for bundles in bids.bundles],
                [np.append(values, 0.0) for values in bids.values],
                bids.capacities,
            )
        )

    def rows_of(self, allocation: ArrayLike) -> NDArray[np.int64] | None:
        """Return the rows of an allocation; None if it is not within the supply."""
        bundles = validate_bundles(allocation, self.choices.capacities, pointer="/warm_start")
        chosen = self.choices.starts[1:] - 1
        for bidder, bundle in enumerate(bundles[: len(chosen)]):
            low, high = self.choices.starts[bidder], self.choices.starts[bidder + 1]
            same = np.flatnonzero((self.choices.bundles[low:high] == bundle).all(axis=1))
            if len(same):
                chosen[bidder] = low + same[0]
        return chosen if self.choices.fit_together(chosen) else None
