"""The answer to a question about a graph: a solution, a bound that proves how good it is, and how both were found."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Number: TypeAlias = int | float
"""An integer where the weights are integers."""

Id: TypeAlias = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "string"}, {"type": "array"}]})
]

Winner: TypeAlias = Literal[
    "reductions",
    "greedy",
    "local_ratio",
    "hochbaum",
    "sdp_rounding",
    "local_search",
    "window_moves",
    "exact",
    "paper",
    "threshold_scan",
    "confidence_scan",
    "ordered_greedy",
    "vote_rounding",
    "wide_lp",
    "majority",
    "advice_local_search",
]

BoundKind: TypeAlias = Literal[
    "trivial",
    "sdp_dual",
    "odd_cycles",
    "matching",
    "edge_packing",
    "clique_partition",
    "lagrangian",
    "elimination",
    "enumeration",
    "reduced",
    "sum",
    "search",
]

StoppedBy: TypeAlias = Literal["optimal", "target", "max_iterations", "time_limit", "cancelled", "completed"]


def relative_gap(value: float, bound: float) -> float:
    """Return how far a value may be from the optimum, relative to the bound.

    Examples
    --------
    >>> relative_gap(95, 100)
    0.05
    """
    return abs(value - bound) / max(1.0, abs(bound))


def ratio(value: float, bound: float) -> float:
    """Return the smaller of value and bound over the larger: a proven approximation ratio in [0, 1].

    Examples
    --------
    >>> ratio(95, 100), ratio(0, 0), ratio(0, 3)
    (0.95, 1.0, 0.0)
    """
    low, high = min(value, bound), max(value, bound)
    if high <= 0:
        return 1.0 if low == high else 0.0
    return max(0.0, low / high)


RELATIVE_TOLERANCE = 1e-9


def tolerance(value: float, bound: float, lightest: float) -> float:
    """Return how far apart a value and a bound may be that count as equal where weights are no integers.

    Relative to the larger of the two; an optimum of 0 is measured by the least magnitude of a weight that is not 0.

    Examples
    --------
    >>> tolerance(3e-12, 2e-12, lightest=1e-12) < 1e-12 < tolerance(2000.0, 1999.0, lightest=1e-12)
    True
    """
    return RELATIVE_TOLERANCE * max(abs(value), abs(bound), lightest)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WarningEntry(_Part):
    """Something of the request that was repaired, or that the caller should know."""

    code: str = Field(description="Stable name of the kind of warning, such as `self-loops`.")
    message: str = Field(description="What was done, how often, and where first.")
    pointer: str | None = Field(None, description="JSON pointer of the first place in the request, if it has one.")


class Guarantee(_Part):
    """A ratio promised before the run, by theory."""

    name: str = Field(description="Which theorem.")
    value: float = Field(description="The promised ratio, in expectation.")
    assumes_independent_predictions: bool = Field(
        description="Whether it holds only if the bits are independent as `epsilon` says."
    )


class ReducedSize(_Part):
    """Size of the graph that exact reductions left to search."""

    n: int = Field(description="Vertices.")
    m: int = Field(description="Edges.")


class HistoryRow(_Part):
    """A new best solution, or a new best bound."""

    seconds: float = Field(description="Since the operation started.")
    value: Number = Field(description="The best value so far.")
    bound: Number | None = Field(None, description="The best bound so far; null before the first.")
    source: Winner | BoundKind = Field(description="The stage that found the value, or the kind of the bound.")


class GraphResult(_Part):
    """A solution with a proven bound."""

    solution: list[Id] = Field(
        description="MaxCut: the side, 0 or 1, of every vertex in the order of the labels or ids; the first is on side 0. "
        "Other problems: the chosen ids, sorted."
    )
    solution_file: str | None = Field(None, description="Id of the file that holds the solution, if asked for.")
    value: Number = Field(description="Objective of the solution, recomputed in the weights of the request.")
    bound: Number = Field(description="No solution is better: an upper bound of a maximum, a lower bound of a minimum.")
    bound_kind: BoundKind = Field(description="How the bound was proven.")
    certificate: dict[str, Any] | None = Field(
        None,
        description="The proof, for `graphs/verify`: `kind` and the fields of that kind, or `kind` and `file`. Vertices are "
        "positions from 0, edges rows of the list without duplicates and self-loops.",
    )
    optimal: bool = Field(
        description="Whether the bound proves the solution optimal; 1e-9 relative where weights are no integers."
    )
    gap: float = Field(ge=0, description="|value - bound| / max(1, |bound|).")
    ratio: float = Field(ge=0, le=1, description="The smaller of value and bound over the larger; 1 if both are 0.")
    value_without_predictions: Number = Field(
        description="What the part of the run that saw no predictions found; `value` is never worse."
    )
    winner: Winner = Field(description="The stage that first produced the returned value.")
    epsilon_used: float | None = Field(
        None,
        description="The accuracy that the predictions were weighed with; null: they were starting points only, or had none.",
    )
    epsilon_estimate: float | None = Field(None, description="The accuracy that the agreement among the bits themselves shows.")
    prediction_agreement: float | None = Field(
        None, ge=0, le=1, description="Share of bits that agree with the solution; biased upwards, as the solution follows them."
    )
    threshold_used: Number | None = Field(None, description="The threshold of the stage that won, if it has one.")
    guarantee: Guarantee | None = Field(
        None, description="A ratio promised by theory, if `epsilon` was given and it says anything."
    )
    reduction: ReducedSize = Field(description="The graph after exact reductions.")
    history: list[HistoryRow] = Field(description="Every improvement, in order of time.")
    stopped_by: StoppedBy = Field(description="Why the run ended; `completed`: all planned work was done.")
    deterministic: bool = Field(description="Whether the same request gives the same answer; not so if the clock ended a stage.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired, and advice about the request.")
    labels: list[Id] | None = Field(None, description="The names of the vertices in order, if the request had names.")
    index_base: int = Field(0, ge=0, le=1, description="Where there are no labels, the id of the first vertex.")
    timings: dict[str, float] = Field(default_factory=dict, description="Seconds per stage.")
