"""Winner determination: who gets what, so that it is worth the most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, WithJsonSchema, model_validator

from auctions.bundles import Bundles, all_bundles, count_bundles
from auctions.operations.bid_fields import BidderBids, BidFields, read_bids
from auctions.operations.network_fields import BidderLimits, Networks, limited, read_networks
from auctions.operations.search_fields import Outcome, RunOptions, Search
from auctions.operations.supply import Bundle, Flag, Goods, Integer, Supply
from auctions.outcome import AllocationResult
from auctions.winner_determination.choose import as_table, solve_wdp
from auctions.winner_determination.xor import solve_xor_wdp
from solvers.operation import Context, InvalidInput, Operation, Resources, TooLarge

LARGEST_TABLE = 2**20

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
    "Values of all bundles, of which one is forbidden": {
        "capacities": [1, 2],
        "tables": [[0, 4, 3, 6, 5, 9], [{"bundle": [0, 1], "value": 3.5}, {"bundle": [1, 1], "value": 6}]],
        "forbidden": [[[1, 2]], []],
    },
}

ValueTableFields = Annotated[
    list[Any],
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "number", "minimum": 0}},
                {"type": "array", "items": BidFields.model_json_schema() | {"title": "ValueOfBundle"}},
            ]
        }
    ),
]


class WdpSearch(Search):
    """How to search, and when to stop."""

    method: Literal["auto", "tables", "dynamic_program", "exchange", "milp"] = Field(
        "auto",
        description="For tables and networks: prices and a search (`tables`), or a dynamic programme over the supply. For networks only: "
        "single moves from many starts (`exchange`), which prove little, or with a branch and bound after them (`milp`). `auto` takes "
        "`exchange` where there are more bundles than can be listed.",
    )


class WdpRequest(Supply):
    """What bundles are worth to whom: one of `bids`, `networks` and `tables`."""

    bids: BidderBids | None = None
    networks: Networks | None = Field(None, description="Value networks, one per bidder.")
    tables: list[ValueTableFields] | None = Field(
        None,
        description="Of each bidder the values of all bundles in mixed-radix order (good 0 fastest), or some bundles with their values; "
        "others cannot be had, but for the empty one.",
    )
    forbidden: list[list[Bundle]] | None = Field(
        None, description="Of each bidder, bundles that it must not get, the empty one if it is among them."
    )
    exclude: list[Integer] = Field([], description="Bidders that get nothing.")
    limits: BidderLimits | None = Field(None, description="With networks: of each bidder, what it may hold at most.")
    free_disposal: Flag = Field(False, description="With tables: a bundle is worth at least what any bundle within it is.")
    tie_break: Literal["lexicographic"] | None = Field(
        None,
        description="Of the best allocations, take the one that gives the first bidder its earliest bid or bundle (one rather than "
        "none), then the second, and so on. Default: any of them.",
    )
    search: WdpSearch = Field(default_factory=WdpSearch)
    options: RunOptions = Field(default_factory=RunOptions)

    @model_validator(mode="after")
    def _one_kind(self) -> WdpRequest:
        if sum(given is not None for given in (self.bids, self.networks, self.tables)) != 1:
            raise ValueError("give one of bids, networks and tables")
        return self


def run_wdp(request: WdpRequest, context: Context) -> Outcome:
    """Carry out a request."""
    goods = request.goods(context)
    if request.networks is None and request.search.method in ("exchange", "milp"):
        raise InvalidInput("this method is for networks", pointer="/search/method")
    if request.bids is not None and request.forbidden is None:
        bids = read_bids(request.bids, goods, context)
        exclude = checked_bidders(request.exclude, bids.n_bidders, "/exclude")
        limits = request.search.limits(context)
        return Outcome.of(solve_xor_wdp(bids, goods.capacities, limits, exclude=exclude, tie_break=request.tie_break))
    return Outcome.of(_by_values(request, goods, context))


def _by_values(request: WdpRequest, goods: Goods, context: Context) -> AllocationResult:
    values = _values_of(request, goods, context)
    exclude = checked_bidders(request.exclude, len(values), "/exclude")
    forbidden: list[Bundles] | None = None
    if request.forbidden is not None:
        if len(request.forbidden) != len(values):
            raise InvalidInput(
                f"{len(request.forbidden)} lists of forbidden bundles for {len(values)} bidders", pointer="/forbidden"
            )
        forbidden = [
            goods.bundles(own, lambda index, at=bidder: f"/forbidden/{at}/{index}")  # type: ignore[misc]
            for bidder, own in enumerate(request.forbidden)
        ]
    return solve_wdp(
        values,
        goods.capacities,
        request.search.limits(context),
        forbidden=forbidden,
        exclude=exclude,
        method=request.search.method,
        tie_break=request.tie_break,
    )


def _values_of(request: WdpRequest, goods: Goods, context: Context) -> Sequence[Any]:
    if request.networks is not None:
        models = read_networks(request.networks, context)
        if models[0].architecture.capacities != tuple(goods.capacities.tolist()):
            raise InvalidInput("the networks are of another supply", pointer="/capacities")
        return limited(models, request.limits)
    if request.bids is not None:
        bids = read_bids(request.bids, goods, context)
        return [
            list(zip(bundles.tolist(), values.tolist(), strict=True))
            for bundles, values in zip(bids.bundles, bids.values, strict=True)
        ]
    assert request.tables is not None
    context.require("max_bidders", len(request.tables), "bidders", pointer="/tables")
    if not request.tables:
        raise InvalidInput("there is no bidder", pointer="/tables")
    return [
        _table(table, goods, context, request.free_disposal, f"/tables/{bidder}") for bidder, table in enumerate(request.tables)
    ]


def _table(table: list[Any], goods: Goods, context: Context, free_disposal: bool, pointer: str) -> Any:
    """Return the values of one bidder."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in table) and table:
        n_bundles = count_bundles(goods.capacities)
        if n_bundles > LARGEST_TABLE:
            raise TooLarge(f"there are {n_bundles} bundles; a table has at most {LARGEST_TABLE}", pointer=pointer)
        return as_table(np.array(table, dtype=np.float64), goods.capacities, free_disposal=free_disposal, pointer=pointer)
    bids = []
    for place, entry in enumerate(table):
        if not isinstance(entry, dict) or entry.keys() != {"bundle", "value"}:
            raise InvalidInput("a table has numbers, or objects of a bundle and its value", pointer=f"{pointer}/{place}")
        if not isinstance(entry["value"], int | float) or isinstance(entry["value"], bool):
            raise InvalidInput("a value is a number", pointer=f"{pointer}/{place}/value")
        bids.append(entry)
    context.require("max_bids", len(bids), "bundles", pointer=pointer)
    bundles = goods.bundles([entry["bundle"] for entry in bids], lambda place: f"{pointer}/{place}/bundle")
    for place, entry in enumerate(bids):
        if not (0 <= entry["value"] < np.inf):
            raise InvalidInput(f"a value is finite and at least 0, not {entry['value']!r}", pointer=f"{pointer}/{place}/value")
    named = list(zip(bundles.tolist(), [float(entry["value"]) for entry in bids], strict=True))
    return as_table(named, goods.capacities, free_disposal=free_disposal, pointer=pointer)


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
    table = all_bundles([1] * 9).sum(axis=1).tolist()
    run_wdp(WdpRequest.model_validate({"capacities": [1] * 9, "tables": [table] * 3, "search": {"method": "tables"}}), Context())


WDP: Operation[WdpRequest, Outcome] = Operation(
    name="auctions-wdp",
    path="auctions/wdp",
    request=WdpRequest,
    result=Outcome,
    run=run_wdp,
    summary="Determine the winners: the allocation that is worth the most.",
    description="""
Each bidder gets at most one bundle, all within the supply. What bundles are worth is given by bids, of which at most one of each bidder
wins, by tables, or by value networks. The answer is proved optimal, or comes with a bound when a limit ended the search. It is infeasible
only where what is forbidden leaves a bidder nothing, not even the empty bundle.
""",
    resources=Resources(time_limit=600.0),
    examples=EXAMPLES,
    volatile=("seconds",),
    warm=warm,
)
