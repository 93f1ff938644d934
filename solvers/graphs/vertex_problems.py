"""Vertex cover and independent set as operations: one run, seen from either side.

The use of predictions follows Aamand, Chen, Gollapudi, Silwal and Wu, "Improved Approximations for Hard Graph Problems using
Predictions" (ICML 2025): vertices with many votes follow them, the others are decided without predictions, and the better answer is
kept. Beside it runs a search that never sees the predictions, so that the answer is never worse than that search's. Symbols:
eps -> `epsilon`, Delta -> `threshold`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, tally
from solvers.graphs.canonical import Instance, Problem
from solvers.graphs.certificate import store_large
from solvers.graphs.cover_portfolio import CoverPortfolio
from solvers.graphs.graph import Graph
from solvers.graphs.guarantee import RatioGuarantee, independent_set_guarantee
from solvers.graphs.predictions import VertexPredictions, sample_edge_predictions
from solvers.graphs.progress import RELATIVE_TOLERANCE
from solvers.graphs.request import GraphRequest, SearchOptions
from solvers.graphs.result import GraphResult, Guarantee, HistoryRow, ReducedSize, WarningEntry, ratio, relative_gap
from solvers.graphs.vertex_solution import file_text, total_weight, value_of, violations_of
from solvers.operation import Context

LARGEST_WITHOUT_FIRST_SIGHT = 100_000

DEFAULT_TIME_LIMIT = 10.0


class VertexProblem(NamedTuple):
    """Which of the two problems is solved.

    Attributes
    ----------
    name : {"vertex-cover", "independent-set"}
    file_name : str
        Of the file that holds a solution.
    """

    name: Problem
    file_name: str

    @property
    def is_cover(self) -> bool:
        return self.name == "vertex-cover"


COVER = VertexProblem("vertex-cover", "cover.txt")
INDEPENDENT = VertexProblem("independent-set", "independent-set.txt")


def solve(request: GraphRequest, context: Context, problem: VertexProblem) -> GraphResult:
    """Carry out a request about either problem.

    Raises
    ------
    InvalidInput
        If the request is malformed.
    """
    instance = request.read_instance(context, problem.name)
    if len(instance.edges) > LARGEST_WITHOUT_FIRST_SIGHT:
        # Preparing a graph of this size may outlast a small time limit; there is an answer all the same.
        first = _at_first_sight(instance, problem, context)
        context.report(value=first.value, bound=first.bound, source="trivial", snapshot=lambda: first)
    predictions = request.read_predictions(instance)
    advice = tally(predictions, instance.num_vertices, instance.edges, symmetric=False) if predictions else None
    run = _Run(instance, problem, advice, request.options, context)
    run.portfolio.run()
    return run.result()


class _Run:
    """A portfolio at work, and the result as it stands."""

    def __init__(
        self, instance: Instance, problem: VertexProblem, advice: Advice | None, options: SearchOptions, context: Context
    ) -> None:
        self._instance = instance
        self._problem = problem
        self._advice = advice
        self._options = options
        self._context = context
        self.portfolio = CoverPortfolio(
            instance,
            problem.is_cover,
            None if advice is None or advice.is_empty else advice,
            options,
            DEFAULT_TIME_LIMIT if options.time_limit is None else options.time_limit,
            context,
            self._report,
        )

    def result(self) -> GraphResult:
        """Return the final result, with its proof."""
        snapshot = self._snapshot(self.portfolio.stopped_by)
        certificate = self.portfolio.progress.upper_bound.certificate()
        snapshot.bound_kind = certificate["kind"]
        if self._options.certificate:
            snapshot.certificate = store_large(certificate, self._context)
        if self._options.solution_file:
            text = file_text(self._instance, self._problem.name, self._members()).encode()
            snapshot.solution_file = self._context.files.save(text, name=self._problem.file_name, media_type="text/plain")
        return snapshot

    def _members(self) -> np.ndarray:
        """Return the solution as a mask of the caller's vertices."""
        independent = self.portfolio.progress.sides == 1
        return ~independent if self._problem.is_cover else self.portfolio.kernel.with_free_vertices(independent)

    def _report(self) -> None:
        newest = self.portfolio.progress.history[-1]
        limit = self._context.time_limit
        self._context.report(
            fraction=min(1.0, self._context.elapsed / limit) if limit else None,
            value=newest.value,
            bound=newest.bound,
            source=newest.source,
            seconds=round(newest.seconds, 3),
            iterations=self.portfolio.iterations,
            snapshot=lambda: self._snapshot("cancelled" if self._context.cancelled else "time_limit"),
        )

    def _snapshot(self, stopped_by: str) -> GraphResult:
        run, found, instance = self.portfolio, self.portfolio.progress, self._instance
        members = self._members()
        value = self._recomputed(members)
        return GraphResult(
            solution=instance.vertex_ids(np.flatnonzero(members)),
            value=value,
            bound=found.bound,
            bound_kind=found.upper_bound.kind,
            optimal=found.is_optimal,
            gap=relative_gap(value, found.bound),
            ratio=ratio(value, found.bound),
            value_without_predictions=self._value_without_predictions(value),
            winner=found.best.source,
            reduction=ReducedSize(n=run.kernel.num_vertices, m=len(run.kernel.edges)),
            history=[HistoryRow(**row._asdict()) for row in found.history],
            stopped_by=stopped_by,
            deterministic=not run.clock.decided,
            warnings=self._warnings(),
            labels=instance.labels,
            index_base=instance.index_base,
            timings={stage: round(seconds, 6) for stage, seconds in run.clock.timings.items()},
            guarantee=self._guarantee(),
            **self._prediction_report(members),
        )

    def _recomputed(self, members: np.ndarray) -> int | float:
        """Return the weight of a solution from scratch, and refuse to answer with one that the search's own account contradicts."""
        run = self.portfolio.progress
        violations = violations_of(self._instance, self._problem.name, members)
        if violations:
            raise AssertionError(f"the search's solution is none: {violations[0]}")
        value = value_of(self._instance, members)
        total = total_weight(self._instance)
        slack = 0.0 if run.kernel.is_integral else run.kernel.rounding + RELATIVE_TOLERANCE * max(1.0, total)
        excess = run.bound - value if self._problem.is_cover else value - run.bound
        if abs(value - run.value) > slack or excess > slack:
            raise AssertionError(f"the solution is worth {value}, the search counted {run.value}, bounded by {run.bound}")
        return value

    def _value_without_predictions(self, value: float) -> float:
        counted = self.portfolio.value_without_predictions
        # The search's account of rounded weights may be better than the recomputed value by the rounding.
        if self.portfolio.kernel.is_integral:
            return counted
        return max(value, counted) if self._problem.is_cover else min(value, counted)

    def _prediction_report(self, members: np.ndarray) -> dict[str, Any]:
        advice = self._advice
        if advice is None:
            return {}
        estimate = advice.epsilon_estimate
        return {
            "epsilon_used": advice.epsilon_used,
            "epsilon_estimate": None if estimate is None else estimate.epsilon,
            "prediction_agreement": advice.agreement(members),
            "threshold_used": self.portfolio.progress.threshold_used,
        }

    def _guarantee(self) -> Guarantee | None:
        promised = self.portfolio.cover_guarantee if self._problem.is_cover else self._guarantee_of_the_rule()
        return None if promised is None else Guarantee(**promised._asdict())

    def _guarantee_of_the_rule(self) -> RatioGuarantee | None:
        run, weights = self.portfolio, self._instance.vertex_weights
        if self._advice is None or run.followed is None or run.kernel.is_weightless.any() or (weights != weights[:1]).any():
            return None
        # What reductions leave of the rule's set may be less than it; then nothing is promised of the answer.
        if run.weight_found < run.followed.value:
            return None
        return independent_set_guarantee(self._advice, run.kernel.base, run.followed.threshold)

    def _warnings(self) -> list[WarningEntry]:
        repairs = [WarningEntry.model_validate(repair) for repair in self._instance.warnings]
        return repairs + ([] if self._advice is None else [WarningEntry(**entry._asdict()) for entry in self._advice.warnings])


def _at_first_sight(instance: Instance, problem: VertexProblem, context: Context) -> GraphResult:
    """Return the answer before any work: all vertices cover, and none are independent."""
    members = np.full(instance.num_vertices, problem.is_cover)
    everything = total_weight(instance)
    value, bound = (everything, 0) if problem.is_cover else (0, everything)
    return GraphResult(
        solution=instance.vertex_ids(np.flatnonzero(members)),
        value=value,
        bound=bound,
        bound_kind="trivial",
        certificate={"kind": "trivial"},
        optimal=value == bound,
        gap=relative_gap(value, bound),
        ratio=ratio(value, bound),
        value_without_predictions=value,
        winner="reductions",
        reduction=ReducedSize(n=instance.num_vertices, m=len(instance.edges)),
        history=[HistoryRow(seconds=context.elapsed, value=value, bound=bound, source="trivial")],
        stopped_by="time_limit",
        deterministic=False,
        labels=instance.labels,
        index_base=instance.index_base,
    )


@functools.cache
def warm() -> None:
    """Compile, or load from the cache, all that a run may call; once per process."""
    rng = np.random.default_rng(0)
    # No rule applies and the bounds stay open.
    ring = _ring(150, (1, 3, 7, 12))
    labels = rng.integers(0, 2, 150)
    predictions = [sample_edge_predictions(ring, labels, 0.2, seed=0), VertexPredictions(labels=labels, epsilon=0.2)]
    for weights, prediction in zip((None, rng.integers(0, 9, 150)), predictions, strict=True):
        for problem in (COVER, INDEPENDENT):
            _run_small(Graph(150, ring, vertex_weights=weights), problem, prediction, method="local_search")
    sparse, dense = (np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0) for n, m in ((200, 300), (60, 600)))
    two_sided = np.unique(rng.integers([0, 30], [30, 60], (150, 2)), axis=0)
    weights = rng.integers(0, 9, 200)
    for graph in (
        Graph(150, ring),
        Graph(60, _ring(60, (1, 3, 4))),
        Graph(60, dense),
        Graph(200, sparse),
        Graph(200, sparse, vertex_weights=weights),
        Graph(60, two_sided, vertex_weights=weights[:60]),
    ):
        _run_small(graph, INDEPENDENT)


def _run_small(graph: Graph, problem: VertexProblem, predictions: Any = None, **options: Any) -> None:
    solve(GraphRequest.of(graph, predictions, options=options | {"max_iterations": 1000}), Context(), problem)


def _ring(num_vertices: int, steps: tuple[int, ...]) -> np.ndarray:
    ring = np.arange(num_vertices)
    return np.concatenate([np.column_stack([ring, (ring + step) % num_vertices]) for step in steps])
