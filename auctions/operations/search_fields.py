"""How hard a request says to search, and what a search for an allocation answers."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from auctions.operations.supply import Integer, Number
from auctions.outcome import AllocationResult, SearchLimits, Status, StoppedBy
from solvers.operation import Context


class RunOptions(BaseModel):
    """How long the whole of it may take."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(None, gt=0, description="Seconds for everything; default: the operation's.")


class Search(BaseModel):
    """When a search may end. Counts end it in the same place every time; the clock is a guard only."""

    model_config = ConfigDict(extra="forbid")

    gap: Number = Field(
        1e-6, ge=0, le=1, description="Relative gap, (bound - welfare) / max(1, |welfare|), that counts as optimal."
    )
    node_limit: Integer | None = Field(None, ge=0, le=10**12, description="Nodes of a search; default: the method's own.")
    time_limit: Number | None = Field(
        None, gt=0, description="Seconds; an answer that it ends is not deterministic. Default: what the job has left."
    )

    def limits(self, context: Context) -> SearchLimits:
        """Return the limits, no longer than the job may run."""
        asked = float("inf") if self.time_limit is None else self.time_limit
        return SearchLimits(
            gap=self.gap,
            node_limit=self.node_limit,
            time_limit=min(asked, context.remaining),
            cancelled=lambda: context.cancelled,
        )


class Outcome(BaseModel):
    """An allocation with the proof of how good it is."""

    allocation: list[list[int]] = Field(description="Of each bidder the units of each good that it gets.")
    values: list[float] = Field(description="What each bidder's bundle is worth, in the terms of the problem.")
    welfare: float = Field(description="The sum of the values.")
    bound: float = Field(description="No allocation is worth more.")
    gap: float = Field(description="(bound - welfare) / max(1, |welfare|).", ge=0)
    status: Status = Field(description="`optimal`: the gap is at most the one asked for.")
    stopped_by: StoppedBy | None = Field(description="What ended the search before its own end.")
    deterministic: bool = Field(
        description="Whether the same request gets the same answer: false if the clock or a cancel ended it."
    )
    method: str = Field(description="The algorithm that was taken.")
    seconds: float = Field(description="Wall-clock time.", ge=0)

    @classmethod
    def of(cls, result: AllocationResult) -> Outcome:
        """Return what is told of a result."""
        return cls(**outcome_members(result))


def outcome_members(result: AllocationResult) -> dict[str, object]:
    """Return a result as JSON values, by the names of :class:`Outcome`."""
    return {
        "allocation": result.allocation.tolist(),
        "values": result.values.tolist(),
        "welfare": result.welfare,
        "bound": result.bound,
        "gap": result.gap,
        "status": result.status,
        "stopped_by": result.stopped_by,
        "deterministic": result.deterministic,
        "method": result.method,
        "seconds": result.seconds,
    }
