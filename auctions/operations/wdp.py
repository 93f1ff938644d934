"""Winner determination: who gets what, so that it is worth the most."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from auctions.operations.bid_fields import BidderBids, read_bids
from auctions.operations.search_fields import Outcome, RunOptions, Search, TieBreakName
from auctions.operations.supply import Integer, Supply
from auctions.winner_determination.xor import solve_xor_wdp
from solvers.operation import Context, InvalidInput, Operation, Resources

TWO_LOCAL_BIDDERS: dict[str, Any] = {
    "capacities": [1, 1],
    "bids": [
        [{"bundle": [1, 0], "value": 6}],
        [{"bundle": [0, 1], "value": 6}],
        [{"bundle": [1, 1], "value": 8}],
    ],
}
EXAMPLES: dict[str, dict[str, Any]] = {
    "Two local bidders against one for both goods": TWO_LOCAL_BIDDERS,
    "Ties go to the earlier bidders": {
        "capacities": [1, 1, 1],
        "bids": [
            [{"bundle": "110", "value": 5}, {"bundle": "100", "value": 5}],
            [{"bundle": "011", "value": 4}],
            [{"bundle": "001", "value": 4}, {"bundle": "010", "value": 0}],
        ],
        "tie_break": "lexicographic",
    },
}


class WdpRequest(Supply):
    """What bundles are worth to whom."""

    bids: BidderBids
    exclude: list[Integer] = Field([], description="Bidders that get nothing.")
    tie_break: TieBreakName | None = Field(
        None,
        description="Of the best allocations, take the one that gives the first bidder its earliest bid (a bid rather than none), "
        "then the second, and so on. Default: any of them.",
    )
    search: Search = Field(default_factory=Search)
    options: RunOptions = Field(default_factory=RunOptions)


def run_wdp(request: WdpRequest, context: Context) -> Outcome:
    """Carry out a request."""
    goods = request.goods(context)
    bids = read_bids(request.bids, goods, context)
    exclude = checked_bidders(request.exclude, bids.n_bidders, "/exclude")
    limits = request.search.limits(context)
    return Outcome.of(solve_xor_wdp(bids, goods.capacities, limits, exclude=exclude, tie_break=request.tie_break))


def checked_bidders(bidders: list[int], n_bidders: int, pointer: str) -> list[int]:
    """Return indices of bidders, if all are some."""
    for place, bidder in enumerate(bidders):
        if not 0 <= bidder < n_bidders:
            raise InvalidInput(
                f"there is no bidder {bidder}; they are numbered 0 to {n_bidders - 1}", pointer=f"{pointer}/{place}"
            )
    return bidders


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for body in EXAMPLES.values():
        run_wdp(WdpRequest.model_validate(body), Context())


WDP: Operation[WdpRequest, Outcome] = Operation(
    name="auctions-wdp",
    path="auctions/wdp",
    request=WdpRequest,
    result=Outcome,
    run=run_wdp,
    summary="Determine the winners: the allocation that is worth the most.",
    description="""
At most one bid of each bidder wins, all within the supply. The answer is proved optimal, or comes with a bound when a limit ended the
search; the empty allocation is always possible.
""",
    resources=Resources(time_limit=600.0),
    examples=EXAMPLES,
    volatile=("seconds",),
    warm=warm,
)
