"""Bounds on the optimum of a problem, without a search for a solution.

Every kind is tried on the instance as it is; `reduced` and `sum` first take vertices out of a graph and the graph apart, and keep the
best bound of each component.
"""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs import adapters
from solvers.graphs.any_instance import AnyInstanceFields, AnyProblem, body_of
from solvers.graphs.arrays import Flag, Integer, Number
from solvers.graphs.bound import Bound
from solvers.graphs.bound_attempts import Attempts, GraphAttempts, NotApplicable
from solvers.graphs.canonical import Instance
from solvers.graphs.certificate import store_large
from solvers.graphs.cover_kernel import CoverKernel, CoverSpace
from solvers.graphs.cut_bounds import CUT_METHODS
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.kernel import Kernel, SearchSpace
from solvers.graphs.progress import AsCounted, Complement
from solvers.graphs.result import BoundKind, WarningEntry
from solvers.graphs.set_cover_bounds import SetCoverAttempts
from solvers.graphs.set_system import SetSystem
from solvers.graphs.vertex_bounds import VERTEX_METHODS
from solvers.graphs.vertex_solution import total_weight
from solvers.operation import Context, Operation, Resources

PETERSEN_EDGES = [
    [0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [5, 7], [7, 9], [9, 6], [6, 8], [8, 5], [0, 5], [1, 6], [2, 7], [3, 8], [4, 9],
]  # fmt: skip

AskedKind = Literal[
    "trivial",
    "odd_cycles",
    "sdp_dual",
    "matching",
    "edge_packing",
    "clique_partition",
    "lagrangian",
    "enumeration",
    "elimination",
    "reduced",
    "sum",
]


class BoundsOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(None, gt=0, description="Seconds until the answer; default: the operation's.")
    certificate: Flag = Field(True, description="Whether to return the proof of the least bound.")
    seed: Integer = Field(0, ge=0, le=2**53, description="Of the relaxation's starting vectors.")


class BoundsRequest(AnyInstanceFields):
    """A graph or set system, of which the optimum of a problem is to be bounded."""

    problem: AnyProblem = Field("max-cut", description="The problem whose optimum is bounded.")
    kinds: list[AskedKind] | None = Field(None, min_length=1, description="Which bounds to try; default: all that apply.")
    options: BoundsOptions = Field(default_factory=BoundsOptions)


class KindOutcome(BaseModel):
    """What became of one kind of bound."""

    model_config = ConfigDict(extra="forbid")

    kind: AskedKind
    bound: int | float | None = Field(None, description="No solution is better; null if this kind proves nothing here.")
    seconds: float = Field(description="Time it took.")
    reason: str | None = Field(None, description="Why there is no bound of this kind.")


class BoundsResult(BaseModel):
    """The least bound with its proof, and every kind's."""

    model_config = ConfigDict(extra="forbid")

    bound: int | float = Field(description="The best: no solution is better.")
    bound_kind: BoundKind = Field(description="How it was proven.")
    certificate: dict[str, Any] | None = Field(None, description="The proof, for `graphs/verify`.")
    kinds: list[KindOutcome] = Field(description="Every kind that was tried, in that order.")
    stopped_by: Literal["completed", "time_limit", "cancelled"] = Field(description="Why the run ended.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the instance.")
    labels: list[Any] | None = Field(None, description="The names of the vertices in order, if the request had names.")
    index_base: int = Field(0, description="Where there are no labels, the id of the first vertex.")


def run_bounds(request: BoundsRequest, context: Context) -> BoundsResult:
    """Try every kind of bound asked for, cheapest first, and prove the best."""
    instance, attempts = _read(request, context)
    best_of = min if attempts.maximises else max
    proven: list[Bound] = []
    outcomes: list[KindOutcome] = []
    for kind in _asked(request, attempts):
        started = time.monotonic()
        try:
            if context.stop and kind != "trivial":
                raise NotApplicable("time ran out")
            if kind not in attempts.kinds:
                raise NotApplicable(f"it is no bound for {request.problem}")
            bound = attempts.attempt(kind)
        except NotApplicable as reason:
            if request.kinds is not None:
                outcomes.append(KindOutcome(kind=kind, seconds=time.monotonic() - started, reason=str(reason)))
            continue
        proven.append(bound)
        outcomes.append(KindOutcome(kind=kind, bound=bound.value, seconds=time.monotonic() - started))
        context.report(bound=best_of(bound.value for bound in proven), source=kind)
    best = best_of(proven or [attempts.attempt("trivial")], key=lambda bound: bound.value)
    return BoundsResult(
        bound=best.value,
        bound_kind=best.kind,
        certificate=store_large(best.certificate, context) if request.options.certificate else None,
        kinds=outcomes,
        stopped_by="cancelled" if context.cancelled else "time_limit" if context.stop else "completed",
        warnings=[WarningEntry.model_validate(repair) for repair in instance.warnings],
        labels=instance.labels,
        index_base=instance.index_base,
    )


def _asked(request: BoundsRequest, attempts: Attempts) -> list[Any]:
    """Return the kinds to try, those that apply to the problem first."""
    if request.kinds is None:
        return list(attempts.kinds)
    asked = dict.fromkeys(request.kinds)
    return [kind for kind in attempts.kinds if kind in asked] + [kind for kind in asked if kind not in attempts.kinds]


def _read(request: BoundsRequest, context: Context) -> tuple[Instance | SetSystem, Attempts]:
    if request.problem == "set-cover":
        system = request.read_system(context)
        system.require_coverable()
        return system, SetCoverAttempts(system, context)
    instance = request.read(context)
    n, edges, seed = instance.num_vertices, instance.edges, request.options.seed
    if request.problem == "max-cut":
        weights = instance.edge_weights
        return instance, GraphAttempts(
            (n, edges),
            to_integers(weights),
            CUT_METHODS,
            lambda stop: SearchSpace(Kernel(n, edges, weights, stop=stop), {}),
            AsCounted(),
            seed,
            context,
        )
    grid = to_integers(instance.vertex_weights)
    # Those with loops are in no independent set; whoever checks the bound has them on the same grid all the same.
    grid.weights[instance.loops] = 0
    is_integral = instance.vertex_weights.dtype.kind == "i"
    return instance, GraphAttempts(
        (n, edges),
        grid,
        VERTEX_METHODS,
        lambda stop: CoverSpace(CoverKernel(n, edges, instance.vertex_weights, instance.loops, stop=stop, is_over=stop), {}),
        Complement(total_weight(instance), is_integral) if request.problem == "vertex-cover" else AsCounted(),
        seed,
        context,
    )


def from_objects(
    graph: Any, kinds: list[str] | None = None, *, problem: AnyProblem = "max-cut", **options: Any
) -> dict[str, Any]:
    """Return the body that asks for bounds on a graph, or a set system, in memory."""
    body = body_of(problem)(graph, **options)
    body |= {} if problem == "max-cut" else {"problem": problem}
    return body if kinds is None else body | {"kinds": kinds}


def warm() -> None:
    """Compile, or load from the cache, what the first request would wait for."""
    problems: tuple[AnyProblem, ...] = ("max-cut", "vertex-cover")
    for problem in problems:
        run_bounds(BoundsRequest(problem=problem, edges_flat=[0, 1, 1, 2, 2, 0, 2, 3, 3, 4, 4, 2]), Context(seed=0))
    run_bounds(BoundsRequest(problem="set-cover", sets=[[0, 1], [1, 2], [0, 2]]), Context(seed=0))


GRAPHS_BOUNDS: Operation[BoundsRequest, BoundsResult] = Operation(
    name="graphs-bounds",
    path="graphs/bounds",
    request=BoundsRequest,
    result=BoundsResult,
    run=run_bounds,
    summary="Bound the optimum of a problem, with proofs.",
    description="Tries several kinds of bound, from above where the problem is to maximise, else from below, and returns the best with its "
    "certificate, and what each kind gave.",
    resources=Resources(time_limit=10.0, memory_mb=4096),
    examples={
        "A triangle beside a square": {"edges": [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 6], [6, 3]]},
        "Two kinds, weights of both signs": {
            "edges": [[0, 1], [1, 2], [2, 0], [2, 3]],
            "edge_weights": [2, 1.5, 3, -1],
            "kinds": ["odd_cycles", "sdp_dual"],
        },
        "How many vertices cover the Petersen graph": {"problem": "vertex-cover", "edges": PETERSEN_EDGES},
        "How much an independent set can weigh": {
            "problem": "independent-set",
            "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 4]],
            "vertex_weights": [2, 3, 2, 2, 3],
            "kinds": ["matching", "edge_packing", "clique_partition", "reduced"],
        },
        "What a cover by sets costs at least": {"problem": "set-cover", "sets": [[0, 1], [1, 2], [0, 2]], "costs": [2, 3, 4]},
    },
    volatile=("kinds.seconds",),
    warm=warm,
    from_file=adapters.from_file,
    from_objects=from_objects,
)
