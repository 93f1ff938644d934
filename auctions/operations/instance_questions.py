"""Ask the bidders of an instance: what bundles are worth to them, and what they want at prices."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from auctions.domains.bundle_forms import checked_index, checked_prices
from auctions.domains.instance import Demand, Instance
from auctions.operations.instance_source import read_instance
from auctions.operations.instances import InstanceRequest
from auctions.operations.supply import Bundle, Flag, Goods, Integer, Number
from solvers.operation import Context, Operation, Resources

MOST_PRICES = 100_000

VALUE_EXAMPLES: dict[str, dict[str, Any]] = {
    "Three bundles, all bidders": {
        "instance": {"domain": "gsvm", "seed": 1},
        "bundles": ["111100000000000000", {"national_0": 1, "regional_0": 1}, [1] * 18],
    },
}
DEMAND_EXAMPLES: dict[str, dict[str, Any]] = {
    "The two best bundles of everybody at two price vectors": {
        "instance": {"domain": "srvm", "seed": 2},
        "prices": [[100, 40, 10], [300, 90, 20]],
        "k": 2,
    },
}


class BiddersRequest(InstanceRequest):
    """An instance, and whom of it to ask."""

    bidder: Integer | None = Field(None, ge=0, description="Ask this one only; default: all, in their order.")

    def bidders(self, instance: Instance) -> list[int]:
        """Return whom to ask."""
        return list(range(instance.n_bidders)) if self.bidder is None else [checked_index(self.bidder, instance.n_bidders)]


class ValuesRequest(BiddersRequest):
    """Bundles to value."""

    bundles: list[Bundle] = Field(description="Any bundles within the supply.")


class ValuesResult(BaseModel):
    """What the bundles are worth."""

    values: list[list[float]] = Field(description="Of each bidder asked, of each bundle.")


class DemandRequest(BiddersRequest):
    """Prices."""

    prices: list[list[Number]] = Field(max_length=MOST_PRICES, description="Vectors of the price of a unit of each good.")
    k: Integer = Field(1, ge=1, le=1_000_000, description="How many of the best bundles; all, if there are fewer.")
    allow_negative: Flag = Field(False, description="Whether bundles that cost more than they are worth count too.")
    require_nonnegative: Flag = Field(False, description="Whether a negative price is refused.")


class Demanded(BaseModel):
    """A bundle that a bidder wants."""

    bundle: list[int]
    value: float
    price: float
    utility: float = Field(description="value - price.")

    @classmethod
    def of(cls, demand: Demand) -> Demanded:
        """Return what is told of a bundle."""
        return cls(bundle=demand.bundle.tolist(), value=demand.value, price=demand.price, utility=demand.utility)


class DemandResult(BaseModel):
    """What is wanted."""

    results: list[list[list[Demanded]]] = Field(
        description="At each price vector, of each bidder asked, its bundles, best first."
    )


def run_values(request: ValuesRequest, context: Context) -> ValuesResult:
    """Carry out a request."""
    context.require("max_bundles", len(request.bundles), "bundles", pointer="/bundles")
    instance = read_instance(request.instance, context)
    bidders = request.bidders(instance)
    bundles = goods_of(instance).bundles(request.bundles, lambda index: f"/bundles/{index}")
    return ValuesResult(values=[instance.values(bidder, bundles).tolist() for bidder in bidders])


def run_demand(request: DemandRequest, context: Context) -> DemandResult:
    """Carry out a request."""
    instance = read_instance(request.instance, context)
    bidders = request.bidders(instance)
    context.require("max_bundles", len(request.prices) * len(bidders) * request.k, "bundles", pointer="/k")
    vectors = [
        checked_prices(prices, instance.n_goods, nonnegative=request.require_nonnegative, pointer=f"/prices/{index}")
        for index, prices in enumerate(request.prices)
    ]
    results = []
    for prices in vectors:
        demands = [instance.demand(bidder, prices, request.k, request.allow_negative) for bidder in bidders]
        results.append([[Demanded.of(demand) for demand in own] for own in demands])
    return DemandResult(results=results)


def goods_of(instance: Instance) -> Goods:
    """Return the goods of an instance."""
    return Goods(instance.capacities, instance.good_names)


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for n, instance in ((6, {"domain": "lsvm", "seed": 1, "parameters": {"columns": 2}}), (42, {"domain": "mrvm", "seed": 1})):
        run_demand(DemandRequest.model_validate({"instance": instance, "prices": [[0.0] * n]}), Context())


INSTANCE_VALUES: Operation[ValuesRequest, ValuesResult] = Operation(
    name="auctions-instances-values",
    path="auctions/instances/values",
    request=ValuesRequest,
    result=ValuesResult,
    run=run_values,
    summary="Say what bundles are worth to the bidders of an instance.",
    description="Values are defined for every bundle within the supply, those that a bidder may not be given included.",
    resources=Resources(time_limit=60.0),
    examples=VALUE_EXAMPLES,
)

INSTANCE_DEMAND: Operation[DemandRequest, DemandResult] = Operation(
    name="auctions-instances-demand",
    path="auctions/instances/demand",
    request=DemandRequest,
    result=DemandResult,
    run=run_demand,
    summary="Say what the bidders of an instance want at prices.",
    description="""
Exact. Of bundles of the same utility the one of fewest units comes first, then the lexicographically smallest. Without `allow_negative`
only bundles that are worth their price are listed, and the empty one if nothing else is.
""",
    resources=Resources(time_limit=60.0),
    examples=DEMAND_EXAMPLES,
    warm=warm,
)
