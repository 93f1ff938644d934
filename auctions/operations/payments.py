"""VCG and core-selecting payments of bundle bids."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from auctions.operations.bid_fields import BidderBids, read_bids
from auctions.operations.search_fields import Outcome, RunOptions, Search
from auctions.operations.supply import Supply
from auctions.operations.wdp import TWO_LOCAL_BIDDERS
from auctions.payments.core_selecting import core_payments
from auctions.payments.vcg import vcg_payments
from solvers.operation import Context, Operation, Resources

TWO_SLOTS: dict[str, Any] = {
    "capacities": [2, 1],
    "good_names": ["morning", "evening"],
    "bids": [
        [{"bundle": {"morning": 2}, "value": 7}, {"bundle": {"morning": 1}, "value": 5}],
        [{"bundle": {"morning": 1, "evening": 1}, "value": 6}],
        [{"bundle": {"evening": 1}, "value": 2}, {"bundle": {"morning": 1}, "value": 4}],
    ],
}


class PaymentsRequest(Supply):
    """Bundle bids."""

    bids: BidderBids
    search: Search = Field(default_factory=Search, description="Of each winner determination; `time_limit` is that of all.")
    options: RunOptions = Field(default_factory=RunOptions)


class VcgResult(BaseModel):
    """Who wins, and what each pays: what its presence costs the others."""

    payments: list[float] = Field(description="From 0 to the bidder's winning bid.")
    revenue: float = Field(description="The sum of the payments.")
    error_bound: list[float] = Field(description="How far each payment may be from the exact one; 0 where all was proved.")
    exact: bool = Field(description="Whether every search proved its optimum, to the gap asked for.")
    welfare_without: list[float] = Field(description="The best found without each bidder.")
    outcome: Outcome


class CoreResult(BaseModel):
    """Who wins, and the payments of least revenue that no coalition can object to, nearest to VCG."""

    payments: list[float] = Field(description="From the VCG payment to the bidder's winning bid.")
    revenue: float = Field(description="The sum of the payments.")
    vcg_payments: list[float]
    vcg_revenue: float
    coalitions: list[list[int]] = Field(description="Bidders of each coalition that had to be kept from blocking, as found.")
    blocking_gap: float = Field(description="What a coalition could still gain at most; 0 unless a search was stopped.", ge=0)
    exact: bool = Field(description="Whether every search proved its optimum.")
    outcome: Outcome


def run_vcg(request: PaymentsRequest, context: Context) -> VcgResult:
    """Carry out a request."""
    goods = request.goods(context)
    paid = vcg_payments(read_bids(request.bids, goods, context), goods.capacities, request.search.limits(context))
    return VcgResult(
        payments=paid.payments.tolist(),
        revenue=paid.revenue,
        error_bound=paid.error_bound.tolist(),
        exact=paid.exact,
        welfare_without=paid.welfare_without.tolist(),
        outcome=Outcome.of(paid.wdp),
    )


def run_core_payments(request: PaymentsRequest, context: Context) -> CoreResult:
    """Carry out a request."""
    goods = request.goods(context)
    paid = core_payments(read_bids(request.bids, goods, context), goods.capacities, request.search.limits(context))
    return CoreResult(
        payments=paid.payments.tolist(),
        revenue=paid.revenue,
        vcg_payments=paid.vcg_payments.tolist(),
        vcg_revenue=float(paid.vcg_payments.sum()),
        coalitions=[list(coalition) for coalition in paid.coalitions],
        blocking_gap=paid.blocking_gap,
        exact=paid.exact,
        outcome=Outcome.of(paid.wdp),
    )


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for body in (TWO_SLOTS, TWO_LOCAL_BIDDERS):
        run_core_payments(PaymentsRequest.model_validate(body), Context())


VCG: Operation[PaymentsRequest, VcgResult] = Operation(
    name="auctions-vcg",
    path="auctions/vcg",
    request=PaymentsRequest,
    result=VcgResult,
    run=run_vcg,
    summary="Determine winners and their VCG payments.",
    description="""
Each winner pays what its presence costs the others by the bids: the best they could share without it, less what they get with it. Where a
search was stopped, `error_bound` says how far each payment may be off.
""",
    resources=Resources(time_limit=600.0),
    examples={"Two units of one good, bundles by names": TWO_SLOTS},
    volatile=("outcome.seconds",),
    warm=warm,
)

CORE_PAYMENTS: Operation[PaymentsRequest, CoreResult] = Operation(
    name="auctions-core-payments",
    path="auctions/core-payments",
    request=PaymentsRequest,
    result=CoreResult,
    run=run_core_payments,
    summary="Determine winners and core-selecting payments.",
    description="""
The core has the payments at which no coalition of bidders could offer the seller more. Of those of least revenue the nearest to VCG is
returned (Day and Cramton 2012); coalitions are generated as needed.
""",
    resources=Resources(time_limit=600.0),
    examples={"Two local bidders against one for both goods": TWO_LOCAL_BIDDERS},
    volatile=("outcome.seconds",),
    warm=warm,
)
