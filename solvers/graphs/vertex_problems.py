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
from solvers.graphs.answer import DEFAULT_TIME_LIMIT, Answer, Found, report_at_first_sight
from solvers.graphs.canonical import Instance, Problem
from solvers.graphs.course import Course
from solvers.graphs.cover_portfolio import CoverPortfolio
from solvers.graphs.csr import build_csr
from solvers.graphs.graph import Graph
from solvers.graphs.guarantee import RatioGuarantee, independent_set_guarantee
from solvers.graphs.numvc import NuMVC
from solvers.graphs.predictions import VertexPredictions, sample_edge_predictions
from solvers.graphs.request import GraphRequest
from solvers.graphs.result import RELATIVE_TOLERANCE, GraphResult, Guarantee, ReducedSize
from solvers.graphs.vertex_solution import file_text, total_weight, value_of, violations_of
from solvers.operation import Context


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
    members = np.full(instance.num_vertices, problem.is_cover)
    everything = total_weight(instance)
    value, bound = (everything, 0) if problem.is_cover else (0, everything)
    report_at_first_sight(instance, context, lambda: instance.vertex_ids(np.flatnonzero(members)), value, bound)
    predictions = request.read_predictions(instance)
    advice = tally(predictions, instance.num_vertices, instance.edges, symmetric=False) if predictions else None
    course = Course(
        advice,
        request.options,
        context,
        time_limit=DEFAULT_TIME_LIMIT,
        size=instance.num_vertices + len(instance.edges),
    )
    run = _Run(instance, problem, advice, course)
    answer = Answer(run.found, instance, advice, course)
    run.portfolio.run()
    return answer.result(problem.file_name, lambda _: file_text(instance, problem.name, run.members()))


class _Run:
    """A portfolio at work, and what it has found."""

    def __init__(self, instance: Instance, problem: VertexProblem, advice: Advice | None, course: Course) -> None:
        self._instance = instance
        self._problem = problem
        self._advice = advice
        self.portfolio = CoverPortfolio(instance, problem.is_cover, course)

    def members(self) -> np.ndarray:
        """Return the solution as a mask of the caller's vertices."""
        independent = self.portfolio.progress.sides == 1
        return ~independent if self._problem.is_cover else self.portfolio.kernel.with_free_vertices(independent)

    def found(self) -> Found:
        instance, kernel, members = self._instance, self.portfolio.kernel, self.members()
        violations = violations_of(instance, self._problem.name, members)
        if violations:
            raise AssertionError(f"the search's solution is none: {violations[0]}")
        rounding = kernel.rounding + RELATIVE_TOLERANCE * max(1.0, total_weight(instance))
        return Found(
            solution=instance.vertex_ids(np.flatnonzero(members)),
            labels=members,
            value=value_of(instance, members),
            slack=0.0 if kernel.is_integral else rounding,
            reduction=ReducedSize(n=kernel.num_vertices, m=len(kernel.edges)),
            guarantee=self._guarantee(),
        )

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
    # Small graphs are solved before the search gets so far.
    NuMVC(build_csr(150, ring, np.ones(len(ring), np.int64)), np.ones(150, bool), seed=0).advance(10)


def _run_small(graph: Graph, problem: VertexProblem, predictions: Any = None, **options: Any) -> None:
    solve(GraphRequest.of(graph, predictions, options=options | {"max_iterations": 1000}), Context(), problem)


def _ring(num_vertices: int, steps: tuple[int, ...]) -> np.ndarray:
    ring = np.arange(num_vertices)
    return np.concatenate([np.column_stack([ring, (ring + step) % num_vertices]) for step in steps])
