"""What bidders would want at prices, by their value networks."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from auctions.certificates import clearing_potential
from auctions.domains.bundle_forms import checked_prices
from auctions.operations.network_fields import BidderLimits, Networks, goods_of, limited, read_networks
from auctions.operations.search_fields import RunOptions, Search
from auctions.operations.supply import Bundle, Number
from auctions.outcome import Status, StoppedBy
from solvers.operation import Context, InvalidInput, Operation, Resources

SMALL_NETWORKS: list[dict[str, Any]] = [
    {
        "network": {
            "m": 2,
            "capacities": [2, 1],
            "layers": [{"weight": [[0.8, 0.4], [0.2, 0.9]], "bias": [0.0, -0.1], "cutoff": [0.7, 0.9]}],
            "output_weight": [0.6, 0.5],
            "skip_weight": [0.05, 0.0],
        },
        "scale": 100,
    },
    {
        "network": {"m": 2, "capacities": [2, 1], "layers": [], "output_weight": [], "skip_weight": [0.3, 0.35]},
        "scale": 80,
    },
]
EXAMPLES: dict[str, dict[str, Any]] = {
    "Two bidders at two price vectors": {"networks": SMALL_NETWORKS, "prices": [[10, 15], [25, 40]]},
    "Not the bundle that was asked about before": {
        "networks": SMALL_NETWORKS,
        "prices": [[10, 15]],
        "forbidden": [[[2, 1]], []],
        "limits": [None, {"max_items": 2}],
    },
}


class MvnnDemandRequest(BaseModel):
    """Value networks and prices."""

    model_config = ConfigDict(extra="forbid")

    networks: Networks = Field(description="One per bidder, all of the same goods.")
    prices: list[list[Number]] = Field(max_length=100_000, description="Vectors of the price of a unit of each good.")
    forbidden: list[list[Bundle]] | None = Field(None, description="Of each bidder, bundles that it must not choose.")
    limits: BidderLimits | None = Field(None, description="Of each bidder, what it may hold at most.")
    search: Search = Field(default_factory=Search, description="Of each bidder at each price vector.")
    options: RunOptions = Field(default_factory=RunOptions)


class NetworkDemand(BaseModel):
    """A bundle of high utility."""

    bundle: list[int]
    value: float | None = Field(description="Null if every bundle is forbidden.")
    utility: float | None = Field(description="value - price of the bundle.")
    bound: float | None = Field(description="No bundle has a higher utility.")
    gap: float
    status: Status
    stopped_by: StoppedBy | None


class MvnnDemandResult(BaseModel):
    """What is wanted at each price vector."""

    results: list[list[NetworkDemand]] = Field(description="At each price vector, of each network.")
    clearing_potential: list[float | None] = Field(
        description="The price of the supply and the bidders' utilities: no allocation has a higher predicted value."
    )
    over_demand: list[list[int]] = Field(description="At each price vector, units wanted less supply, of each good.")


def run_mvnn_demand(request: MvnnDemandRequest, context: Context) -> MvnnDemandResult:
    """Carry out a request."""
    models = limited(read_networks(request.networks, context), request.limits)
    goods = goods_of(models)
    context.require("max_bundles", len(request.prices) * len(models), "answers", pointer="/prices")
    vectors = [
        checked_prices(prices, len(goods.capacities), nonnegative=True, pointer=f"/prices/{index}")
        for index, prices in enumerate(request.prices)
    ]
    lists = request.forbidden or [[] for _ in models]
    if len(lists) != len(models):
        raise InvalidInput(f"{len(lists)} lists of forbidden bundles for {len(models)} networks", pointer="/forbidden")
    forbidden = [
        goods.bundles(own, lambda index, at=bidder: f"/forbidden/{at}/{index}")  # type: ignore[misc]
        for bidder, own in enumerate(lists)
    ]
    results, potentials, over_demand = [], [], []
    for done, prices in enumerate(vectors):
        limits = request.search.limits(context)
        wanted = [model.demand(prices, unwanted, search=limits) for model, unwanted in zip(models, forbidden, strict=True)]
        results.append([_told(demand) for demand in wanted])
        is_bounded = all(demand.status != "infeasible" for demand in wanted)
        bounds = [demand.bound for demand in wanted]
        potentials.append(clearing_potential(prices, bounds, goods.capacities) if is_bounded else None)
        over_demand.append((sum(demand.bundle for demand in wanted) - goods.capacities).tolist())
        context.report(fraction=(done + 1) / len(vectors))
    return MvnnDemandResult(results=results, clearing_potential=potentials, over_demand=over_demand)


def _told(demand: Any) -> NetworkDemand:
    is_possible = demand.status != "infeasible"
    return NetworkDemand(
        bundle=demand.bundle.tolist(),
        value=demand.value if is_possible else None,
        utility=demand.utility if is_possible else None,
        bound=demand.bound if is_possible else None,
        gap=demand.gap,
        status=demand.status,
        stopped_by=demand.stopped_by,
    )


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for body in EXAMPLES.values():
        run_mvnn_demand(MvnnDemandRequest.model_validate(body), Context())


MVNN_DEMAND: Operation[MvnnDemandRequest, MvnnDemandResult] = Operation(
    name="auctions-mvnn-demand",
    path="auctions/mvnn/demand",
    request=MvnnDemandRequest,
    result=MvnnDemandResult,
    run=run_mvnn_demand,
    summary="Say what bidders would want at prices, by their value networks.",
    description="""
The bundle of highest predicted value less price, exact or with a bound: by a table of all bundles up to 2^20, else by branch and bound.
""",
    resources=Resources(time_limit=600.0),
    examples=EXAMPLES,
    warm=warm,
)
