"""The allocation of the highest welfare of an instance, with its VCG payments, and how close another one comes to it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from auctions.domains.instance import Payments
from auctions.domains.lagrangian import lagrangian_bound
from auctions.operations.instance_questions import goods_of
from auctions.operations.instance_source import read_instance
from auctions.operations.instances import InstanceRequest
from auctions.operations.search_fields import Outcome, outcome_members
from auctions.operations.supply import Bundle, Flag, Integer, Number
from auctions.operations.wdp import checked_bidders
from auctions.outcome import Status
from solvers.operation import Context, InvalidInput, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {
    "Proven optimal, with VCG payments": {"instance": {"domain": "srvm", "seed": 1}, "vcg": True},
}
EFFICIENCY_EXAMPLES: dict[str, dict[str, Any]] = {
    "Two bidders share a band": {
        "instance": {"domain": "srvm", "seed": 1},
        "allocation": [[0, 0, 1], [0, 0, 1], [0, 4, 0], [2, 2, 1], [0, 2, 2], [2, 2, 2], [2, 4, 2]],
    },
}


class SearchedInstanceRequest(InstanceRequest):
    """An instance, and how hard to search."""

    method: str = Field("auto", max_length=100, description="auto, or dp or mip where the domain has it.")
    gap: Number = Field(1e-9, ge=0, le=1, description="Relative gap that counts as optimal.")
    node_limit: Integer | None = Field(100_000, ge=0, le=10**12, description="Nodes of a branch and bound.")
    time_limit: Number = Field(60.0, gt=0, description="Seconds: a guard; an answer that it ends is not deterministic.")

    def search(self, context: Context) -> dict[str, Any]:
        """Return the arguments of a search."""
        return {
            "method": self.method,
            "gap": self.gap,
            "node_limit": self.node_limit,
            "time_limit": min(self.time_limit, context.remaining),
            "cancelled": lambda: context.cancelled,
        }


class AllocationRequest(SearchedInstanceRequest):
    """An instance."""

    without: list[Integer] = Field([], description="Bidders that get nothing.")
    vcg: Flag = Field(False, description="Also the VCG payments of all bidders.")


class LagrangianBound(BaseModel):
    """A bound that demand queries alone prove: the price of the supply, and the bidders' utilities."""

    prices: list[float]
    bound: float = Field(description="No allocation is worth more.")


class VcgOfInstance(BaseModel):
    """VCG payments."""

    payments: list[float]
    revenue: float
    error_bound: list[float] = Field(description="How far each payment may be off.")
    exact: bool


class AllocationAnswer(Outcome):
    """The allocation and what proves it."""

    lagrangian: LagrangianBound
    vcg: VcgOfInstance | None


class EfficiencyRequest(SearchedInstanceRequest):
    """An allocation of an instance."""

    allocation: list[Bundle] = Field(description="A bundle of each bidder, together within the supply.")


class EfficiencyResult(BaseModel):
    """How good an allocation is."""

    efficiency: float | None = Field(description="welfare / optimal_welfare; null if nothing is worth anything.")
    welfare: float
    optimal_welfare: float = Field(description="The best that is known.")
    optimal_bound: float = Field(description="No allocation is worth more.")
    status: Status = Field(description="`optimal`: `optimal_welfare` is proved to be the best.")


def run_efficient_allocation(request: AllocationRequest, context: Context) -> AllocationAnswer:
    """Carry out a request."""
    instance = read_instance(request.instance, context)
    without = checked_bidders(request.without, instance.n_bidders, "/without")
    if request.vcg and without:
        raise InvalidInput("VCG payments are those of all bidders; leave out `without` or `vcg`", pointer="/vcg")
    search = request.search(context)
    paid: Payments | None = None
    if request.vcg:
        paid = instance.vcg(**search)
        result = paid.outcome
    else:
        result = instance.efficient_allocation(**search, without=without)
    proved = lagrangian_bound(instance, result.welfare)
    return AllocationAnswer(
        **outcome_members(result),
        lagrangian=LagrangianBound(prices=proved.prices.tolist(), bound=proved.bound),
        vcg=None
        if paid is None
        else VcgOfInstance(
            payments=paid.payments.tolist(), revenue=paid.revenue, error_bound=paid.error_bound.tolist(), exact=paid.exact
        ),
    )


def run_efficiency(request: EfficiencyRequest, context: Context) -> EfficiencyResult:
    """Carry out a request."""
    instance = read_instance(request.instance, context)
    context.require("max_bundles", len(request.allocation), "bundles", pointer="/allocation")
    allocation = goods_of(instance).bundles(request.allocation, lambda index: f"/allocation/{index}")
    welfare = float(instance.allocation_values(allocation).sum())
    optimum = instance.efficient_allocation(**request.search(context))
    best = max(welfare, optimum.welfare)
    return EfficiencyResult(
        efficiency=welfare / best if best > 0 else None,
        welfare=welfare,
        optimal_welfare=best,
        optimal_bound=max(best, optimum.bound),
        status=optimum.status,
    )


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for instance in ({"domain": "lsvm", "seed": 1, "parameters": {"columns": 2}}, {"domain": "mrvm", "seed": 1}):
        run_efficient_allocation(AllocationRequest.model_validate({"instance": instance}), Context())


EFFICIENT_ALLOCATION: Operation[AllocationRequest, AllocationAnswer] = Operation(
    name="auctions-instances-efficient-allocation",
    path="auctions/instances/efficient-allocation",
    request=AllocationRequest,
    result=AllocationAnswer,
    run=run_efficient_allocation,
    summary="Find the allocation of an instance that is worth the most, and prove it.",
    description="""
The dynamic programme or tight integer programme of the domain, whichever is faster. A search ends by its gap or its nodes, so that the same
request gets the same answer; bound and gap say what was proved. `lagrangian` proves a bound once more, by a demand query of each bidder.
""",
    resources=Resources(time_limit=600.0),
    examples=EXAMPLES,
    volatile=("seconds",),
    warm=warm,
)

EFFICIENCY: Operation[EfficiencyRequest, EfficiencyResult] = Operation(
    name="auctions-instances-efficiency",
    path="auctions/instances/efficiency",
    request=EfficiencyRequest,
    result=EfficiencyResult,
    run=run_efficiency,
    summary="Say how close an allocation of an instance comes to the best one.",
    resources=Resources(time_limit=600.0),
    examples=EFFICIENCY_EXAMPLES,
)
