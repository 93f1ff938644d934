"""Upper bounds on the largest cut of a graph, without a search for the cut.

Every kind is tried on the graph as it is; `reduced` and `sum` first take vertices of low degree out and the graph apart, and keep the
least bound of each component.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs import adapters
from solvers.graphs.arrays import Flag, Integer, Number
from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.certificate import store_large
from solvers.graphs.csr import build_csr
from solvers.graphs.elimination import elimination_optimum, plan_elimination
from solvers.graphs.enumeration import MAX_VERTICES, enumerate_max_cut
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.kernel import Kernel, SearchSpace
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.odd_cycles import odd_cycle_bound
from solvers.graphs.request import InstanceFields
from solvers.graphs.result import BoundKind, WarningEntry
from solvers.graphs.upper_bound import FLOAT_NOISE, UpperBound, in_unit
from solvers.operation import Context, Operation, Resources

LeafKind = Literal["trivial", "odd_cycles", "sdp_dual", "enumeration", "elimination"]
AskedKind = Literal["trivial", "odd_cycles", "sdp_dual", "enumeration", "elimination", "reduced", "sum"]

LEAVES: tuple[LeafKind, ...] = ("trivial", "odd_cycles", "enumeration", "elimination", "sdp_dual")
COMBINATIONS: tuple[AskedKind, ...] = ("reduced", "sum")

SWEEPS_PER_CALL = 20


class BoundsOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(None, gt=0, description="Seconds until the answer; default: the operation's.")
    certificate: Flag = Field(True, description="Whether to return the proof of the least bound.")
    seed: Integer = Field(0, ge=0, le=2**53, description="Of the relaxation's starting vectors.")


class BoundsRequest(InstanceFields):
    """A graph whose largest cut is to be bounded."""

    problem: Literal["max-cut"] = Field("max-cut", description="The problem whose optimum is bounded.")
    kinds: list[AskedKind] | None = Field(None, min_length=1, description="Which bounds to try; default: all that apply.")
    options: BoundsOptions = Field(default_factory=BoundsOptions)


class KindOutcome(BaseModel):
    """What became of one kind of bound."""

    model_config = ConfigDict(extra="forbid")

    kind: AskedKind
    bound: int | float | None = Field(None, description="No cut is worth more; null if this kind proves nothing here.")
    seconds: float = Field(description="Time it took.")
    reason: str | None = Field(None, description="Why there is no bound of this kind.")


class BoundsResult(BaseModel):
    """The least bound with its proof, and every kind's."""

    model_config = ConfigDict(extra="forbid")

    bound: int | float = Field(description="The least: no cut is worth more.")
    bound_kind: BoundKind = Field(description="How it was proven.")
    certificate: dict[str, Any] | None = Field(None, description="The proof, for `graphs/verify`.")
    kinds: list[KindOutcome] = Field(description="Every kind that was tried, in that order.")
    stopped_by: Literal["completed", "time_limit", "cancelled"] = Field(description="Why the run ended.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired in the graph.")
    labels: list[Any] | None = Field(None, description="The names of the vertices in order, if the request had names.")
    index_base: int = Field(0, description="Where there are no labels, the id of the first vertex.")


class NotApplicable(Exception):
    """A kind of bound has nothing to say of a graph; the message says why."""


def run_bounds(request: BoundsRequest, context: Context) -> BoundsResult:
    """Try every kind of bound asked for, cheapest first, and prove the least."""
    instance = request.read_instance(context)
    attempts = _Attempts(instance.num_vertices, instance.edges, instance.edge_weights, request.options.seed, context)
    proven: list[Bound] = []
    outcomes: list[KindOutcome] = []
    for kind in [kind for kind in (*LEAVES, *COMBINATIONS) if request.kinds is None or kind in request.kinds]:
        started = time.monotonic()
        try:
            if context.stop and kind != "trivial":
                raise NotApplicable("time ran out")
            bound = attempts.combination(kind) if kind in COMBINATIONS else attempts.leaf(kind)
        except NotApplicable as reason:
            if request.kinds is not None:
                outcomes.append(KindOutcome(kind=kind, seconds=time.monotonic() - started, reason=str(reason)))
            continue
        proven.append(bound)
        outcomes.append(KindOutcome(kind=kind, bound=bound.value, seconds=time.monotonic() - started))
        context.report(bound=min(bound.value for bound in proven), source=kind)
    best = min(proven or [attempts.leaf("trivial")], key=lambda bound: bound.value)
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


class _Attempts:
    """Bounds on one graph, in the caller's unit."""

    def __init__(self, num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> None:
        self._graph = (num_vertices, edges, weights)
        self._grid = to_integers(weights)
        self._seed = seed
        self._context = context

    def leaf(self, kind: AskedKind) -> Bound:
        num_vertices, edges, _ = self._graph
        bound = _LEAF_METHODS[kind](num_vertices, edges, self._grid.weights, self._seed, self._context)
        unit = float(np.ldexp(1.0, self._grid.exponent))
        value = bound.value / unit
        if self._grid.rounding == 0 and self._grid.exponent <= 0:
            value = math.floor(value + FLOAT_NOISE)
        else:
            value = math.nextafter(value + self._grid.rounding, math.inf) if self._grid.rounding else value
        return Bound(value, bound.kind, in_unit(bound.certificate, unit))

    def combination(self, kind: AskedKind) -> Bound:
        """Bound every component of the reduced graph by the best kind that applies."""
        kernel = Kernel(*self._graph, stop=lambda: self._context.stop)
        upper_bound = UpperBound(SearchSpace(kernel, {}))
        if upper_bound.kind != kind:
            wanting = "no vertex can be reduced" if kind == "reduced" else "the graph is connected or can be reduced"
            raise NotApplicable(wanting)
        for part, component in enumerate(kernel.components):
            for leaf in LEAVES[1:]:
                if self._context.stop:
                    break
                try:
                    method = _LEAF_METHODS[leaf]
                    bound = method(component.num_vertices, component.edges, component.weights, self._seed, self._context)
                except NotApplicable:
                    continue
                upper_bound.offer(part, bound)
                if leaf in ("enumeration", "elimination"):
                    break
        return Bound(upper_bound.value, upper_bound.kind, upper_bound.certificate())


def _trivial(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    return trivial_bound(weights)


def _odd_cycles(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    return odd_cycle_bound(build_csr(num_vertices, edges, weights), stop=lambda: context.stop)


def _sdp_dual(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    relaxation = LowRankSdp(build_csr(num_vertices, edges, weights), seed=seed)
    swept_until = time.monotonic() + context.remaining / 2
    while not relaxation.converged and not context.stop and time.monotonic() < swept_until:
        relaxation.advance(SWEEPS_PER_CALL)
    bounds = [relaxation.dual_bound(integral=False, stop=lambda: context.stop)]
    if not (relaxation.converged or context.stop):
        # Of vectors that are far from their best, the bound may be worse than that of a constant y, which needs none.
        bounds.append(relaxation.eigenvalue_bound(integral=False, stop=lambda: context.stop))
    bound = min((bound for bound in bounds if bound is not None), key=lambda bound: bound.value, default=None)
    if bound is None:
        raise NotApplicable("the graph is too large and fills in too much for a proof, or time ran out")
    return bound


def _enumeration(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    if num_vertices > MAX_VERTICES:
        raise NotApplicable(f"{num_vertices} vertices are more than {MAX_VERTICES}")
    found = enumerate_max_cut(num_vertices, edges, weights, stop=lambda: context.stop)
    if found is None:
        raise NotApplicable("time ran out")
    return Bound(found.value, "enumeration", {"kind": "enumeration"})


def _elimination(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    if plan_elimination(num_vertices, edges, stop=lambda: context.stop) is None:
        raise NotApplicable("no order of elimination is narrow enough")
    found = elimination_optimum(num_vertices, edges, weights, stop=lambda: context.stop)
    if found is None:
        raise NotApplicable("time or memory ran out")
    return Bound(found.value, "elimination", {"kind": "elimination", "order": found.order})


_LEAF_METHODS: dict[str, Callable[[int, np.ndarray, np.ndarray, int, Context], Bound]] = {
    "trivial": _trivial,
    "odd_cycles": _odd_cycles,
    "sdp_dual": _sdp_dual,
    "enumeration": _enumeration,
    "elimination": _elimination,
}


def from_objects(graph: Any, kinds: list[str] | None = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks for bounds on a graph in memory, as :func:`solvers.graphs.adapters.from_objects` does for a cut."""
    body = adapters.from_objects(graph, **options)
    return body if kinds is None else body | {"kinds": kinds}


def warm() -> None:
    """Compile, or load from the cache, what the first request would wait for."""
    run_bounds(BoundsRequest(edges_flat=[0, 1, 1, 2, 2, 0, 2, 3, 3, 4, 4, 2]), Context(seed=0))


GRAPHS_BOUNDS: Operation[BoundsRequest, BoundsResult] = Operation(
    name="graphs-bounds",
    path="graphs/bounds",
    request=BoundsRequest,
    result=BoundsResult,
    run=run_bounds,
    summary="Bound the largest cut of a graph from above, with proofs.",
    description="Tries several kinds of upper bound and returns the least with its certificate, and what each kind gave.",
    resources=Resources(time_limit=10.0, memory_mb=4096),
    examples={
        "A triangle beside a square": {"edges": [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 6], [6, 3]]},
        "Two kinds, weights of both signs": {
            "edges": [[0, 1], [1, 2], [2, 0], [2, 3]],
            "edge_weights": [2, 1.5, 3, -1],
            "kinds": ["odd_cycles", "sdp_dual"],
        },
    },
    volatile=("kinds.seconds",),
    warm=warm,
    from_file=adapters.from_file,
    from_objects=from_objects,
)
