"""A catalogue with one operation that does next to nothing, so that what is measured is the service around it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from solvers.operation import Context, Operation, Resources


class SumRequest(BaseModel, extra="forbid"):
    """Some numbers."""

    numbers: list[float] = Field(description="What to add up.")


class SumResult(BaseModel):
    """Their sum."""

    sum: float


def add_up(request: SumRequest, context: Context) -> SumResult:
    return SumResult(sum=sum(request.numbers))


CATALOGUE = (
    Operation(
        "sum",
        path="bench/sum",
        run=add_up,
        request=SumRequest,
        result=SumResult,
        summary="Add numbers up.",
        resources=Resources(time_limit=5),
        examples={"Two numbers": {"numbers": [1, 2]}},
    ),
)
