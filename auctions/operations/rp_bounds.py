"""What a bidder's answers imply about its values."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from auctions.operations.answer_fields import DemandAnswerFields, read_demand_answers, read_value_answers
from auctions.operations.bid_fields import BidFields
from auctions.operations.search_fields import RunOptions
from auctions.operations.supply import Bundle, Number, Supply
from auctions.revealed_preference import RpReport, revealed_preference_bounds
from solvers.operation import Context, Operation, Resources

MOST_ANSWERS = 2_000

EXAMPLES: dict[str, dict[str, Any]] = {
    "Two choices and a value": {
        "capacities": [1, 1],
        "demand": [{"prices": [2, 3], "bundle": [1, 0]}, {"prices": [4, 1], "bundle": [0, 1]}],
        "value": [{"bundle": [1, 1], "value": 6}],
        "bundles": [[1, 0], [0, 1]],
    },
    "A choice that contradicts another": {
        "capacities": [1, 1],
        "demand": [{"prices": [2, 3], "bundle": [0, 1]}, {"prices": [3, 2], "bundle": [1, 0]}],
    },
}


class RpRequest(Supply):
    """The answers of one bidder, and bundles to bound the values of."""

    demand: list[DemandAnswerFields] = Field([], max_length=MOST_ANSWERS, description="What it chose at prices.")
    value: list[BidFields] = Field([], max_length=MOST_ANSWERS, description="What it said that bundles are worth.")
    bundles: list[Bundle] = Field([], description="To bound the values of.")
    tolerance: Number = Field(1e-9, ge=0, le=1, description="Relative: a contradiction by less counts as rounding.")
    options: RunOptions = Field(default_factory=RunOptions)


class AnswerName(BaseModel):
    """Which answer a step of a contradiction comes from."""

    kind: Literal["demand", "value", "free_disposal"]
    number: int | None = Field(description="Among the answers of its kind; null for free disposal.")


class CycleStep(BaseModel):
    """A step of a contradiction: the value of `to` is at most that of `from` plus `length`."""

    model_config = ConfigDict(serialize_by_alias=True)

    source: list[int] = Field(alias="from")
    target: list[int] = Field(alias="to")
    length: float
    answer: AnswerName


class RpResult(BaseModel):
    """Whether some monotone value explains the answers, and between what bounds values lie then."""

    consistent: bool
    cycle: list[CycleStep] | None = Field(description="Answers that contradict each other: the lengths add up to less than 0.")
    lower: list[float] | None = Field(description="Of each bundle; null if the answers contradict each other.")
    upper: list[float | None] | None = Field(description="Of each bundle, null where nothing bounds it from above.")


def run_rp_bounds(request: RpRequest, context: Context) -> RpResult:
    """Carry out a request."""
    goods = request.goods(context)
    context.require("max_bundles", len(request.bundles), "bundles", pointer="/bundles")
    demand = read_demand_answers(request.demand, goods, "/demand")
    value = read_value_answers(request.value, goods, "/value")
    asked = goods.bundles(request.bundles, lambda index: f"/bundles/{index}")
    report = revealed_preference_bounds(
        list(zip(*demand, strict=True)),
        list(zip(value[0], value[1].tolist(), strict=True)),
        goods.capacities,
        asked,
        tolerance=request.tolerance,
    )
    return RpResult(
        consistent=report.consistent,
        cycle=_steps(report),
        lower=None if report.lower is None else report.lower.tolist(),
        upper=None if report.upper is None else _bounded(report.upper),
    )


def _steps(report: RpReport) -> list[CycleStep] | None:
    if report.cycle is None:
        return None
    return [
        CycleStep.model_validate({"from": edge.source, "to": edge.target, "length": edge.length, "answer": edge.answer._asdict()})
        for edge in report.cycle
    ]


def _bounded(bounds: NDArray[np.float64]) -> list[float | None]:
    return [bound if math.isfinite(bound) else None for bound in bounds.tolist()]


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for body in EXAMPLES.values():
        run_rp_bounds(RpRequest.model_validate(body), Context())


RP_BOUNDS: Operation[RpRequest, RpResult] = Operation(
    name="auctions-rp-bounds",
    path="auctions/rp-bounds",
    request=RpRequest,
    result=RpResult,
    run=run_rp_bounds,
    summary="Bound a bidder's values by what it chose and said, or show a contradiction.",
    description="""
Every choice says that nothing else was preferred at its prices, and more of a good is never worth less. Shortest paths through these
inequalities are the tightest bounds that follow. A negative cycle among them means that no monotone value explains the answers.
""",
    resources=Resources(time_limit=60.0),
    examples=EXAMPLES,
    warm=warm,
)
