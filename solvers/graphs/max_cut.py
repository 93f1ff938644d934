"""Largest cut of a graph, with or without predictions.

The use of predictions follows Aamand, Chen, Gollapudi, Silwal and Wu, "Improved Approximations for Hard Graph Problems using
Predictions" (ICML 2025), on MaxCut, and Cohen-Addad, d'Orsi, Gupta, Lee and Panigrahi, "Max-Cut with eps-Accurate Predictions"
(NeurIPS 2024): vertices with many votes follow them, the others are placed without predictions, and the better answer is kept.
Beside it runs a search that never sees the predictions, so that the answer is never worse than that search's. Symbols: eps ->
`epsilon`, Delta -> `threshold`.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Literal

import networkx as nx
import numpy as np
from pydantic import Field

from solvers.graphs.adapters import from_file, from_objects, solution_text
from solvers.graphs.advice import Advice, tally
from solvers.graphs.answer import DEFAULT_TIME_LIMIT, Answer, Found, report_at_first_sight
from solvers.graphs.canonical import Instance
from solvers.graphs.course import Course
from solvers.graphs.csr import build_csr
from solvers.graphs.cut_portfolio import CutPortfolio
from solvers.graphs.graph import Graph
from solvers.graphs.guarantee import wide_cut_guarantee
from solvers.graphs.library_files import with_files_loaded
from solvers.graphs.predictions import sample_edge_predictions
from solvers.graphs.request import GraphRequest, SearchOptions
from solvers.graphs.result import RELATIVE_TOLERANCE, GraphResult, Guarantee, ReducedSize
from solvers.graphs.tabu import Tabu
from solvers.graphs.window_moves import WindowMover
from solvers.operation import Context, Operation, Resources

FILE_NAME = "sides.txt"
GOEMANS_WILLIAMSON_RATIO = 0.878567

PETERSEN_EDGES = [
    [0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [5, 7], [7, 9], [9, 6], [6, 8], [8, 5], [0, 5], [1, 6], [2, 7], [3, 8], [4, 9],
]  # fmt: skip

# No vertex can be reduced and the bounds stay open, so that every stage of a search has work.
NEAR_ON_A_RING = [[v, (v + step) % 10] for step in (1, 2, 3) for v in range(10)]
# About the cut of odd and even; the second bit of every other row is wrong.
NOISY_BITS = [[u % 2, (v + row) % 2] for row, (u, v) in enumerate(NEAR_ON_A_RING)]

EXAMPLES: dict[str, dict[str, Any]] = {
    "The Petersen graph": {"num_vertices": 10, "edges": PETERSEN_EDGES, "options": {"max_iterations": 100}},
    "Weights of both signs, and names": {
        "edges": [["ann", "bob"], ["bob", "cy"], ["cy", "ann"], ["cy", "dee"]],
        "edge_weights": [3, 2, -1, 4],
        "options": {"max_iterations": 100},
    },
    "Noisy predictions about every edge's ends": {
        "num_vertices": 10,
        "edges": NEAR_ON_A_RING,
        "predictions": {"edge_bits": NOISY_BITS, "epsilon": 0.25},
        "options": {"max_iterations": 100, "method": "local_search"},
    },
    "A probability for every vertex": {
        "num_vertices": 4,
        "edges_flat": [0, 1, 1, 2, 2, 3, 3, 0, 0, 2],
        "predictions": {"vertex_probabilities": [0.1, 0.8, 0.3, None]},
        "options": {"max_iterations": 100},
    },
    "A text in Gset's format": {"graph": {"text": "3 3\n1 2 1\n2 3 1\n1 3 -1\n"}, "options": {"max_iterations": 100}},
    "Node-link data, as NetworkX writes it": {
        "graph": {
            "node_link": {
                "directed": False,
                "multigraph": False,
                "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
                "edges": [{"source": "a", "target": "b", "weight": 2}, {"source": "b", "target": "c"}],
            }
        },
        "options": {"max_iterations": 100},
    },
}

DESCRIPTION = """
Finds a cut of large weight and proves an upper bound on every cut. Give the graph inline, as NetworkX's node-link data, or as a
text or file in Gset (rudy), DIMACS, METIS, Matrix Market or edge-list format.

`predictions` about one optimal cut may be two bits per edge, labels or probabilities of vertices, complete or not, right or wrong:
the answer is never worse than `value_without_predictions`, which the same run finds without looking at them.

The run ends when value and bound meet, at `target`, or at `time_limit`; with `max_iterations` the same seed gives the same answer.
`graphs/verify` proves the `certificate` again.
"""


class CutOptions(SearchOptions):
    """How to search, and when to stop."""

    method: Literal["auto", "paper", "greedy", "sdp", "local_search", "exact"] = Field(  # type: ignore[assignment]
        "auto",
        description="`auto`: every stage, ending with the exact finish; `paper`: the published algorithm with its own threshold; "
        "`greedy`, `sdp`, `local_search`: that stage, with no exact finish; `exact`: no more search than a warm start needs.",
    )


class MaxCutRequest(GraphRequest):
    """A graph and, if there is one, a prediction of the largest cut."""

    options: CutOptions = Field(default_factory=CutOptions)


def run_max_cut(request: MaxCutRequest, context: Context) -> GraphResult:
    """Carry out a request; :func:`max_cut` is the library's form of it."""
    instance = request.read_instance(context)
    most = float(np.maximum(instance.edge_weights, 0).sum())
    report_at_first_sight(instance, context, lambda: [0] * instance.num_vertices, 0, most)
    advice = _advice(request, instance)
    course = Course(
        advice,
        request.options,
        context,
        time_limit=DEFAULT_TIME_LIMIT,
        size=instance.num_vertices + len(instance.edges),
    )
    run = _Run(instance, advice, course)
    answer = Answer(run.found, instance, advice, course)
    run.portfolio.run()
    return answer.result(FILE_NAME, solution_text)


def max_cut(graph: Any, predictions: Any = None, **options: Any) -> GraphResult:
    """Approximate the largest cut of a graph, with a proven upper bound.

    Parameters
    ----------
    graph : networkx.Graph, scipy sparse array, Graph, or array of shape (m, 2) or (m, 3)
        Edge attribute `weight` (default 1), matrix entry, or third column: a finite weight of any sign.
    predictions : EdgePredictions, VertexPredictions or dict, or a list of them, optional
        About one largest cut. The answer is never worse than what the same run finds without them.
    **options
        Fields of :class:`CutOptions`: `method`, `threshold`, `time_limit` (seconds, default 10),
        `max_iterations`, `target`, `certificate`, `solution_file` (into the working folder), `seed`.

    Returns
    -------
    GraphResult
        `solution` has the side of every vertex, `value` its weight, `bound` what no cut exceeds, `certificate` the proof.

    Raises
    ------
    InvalidInput
        If the graph, a prediction or an option is malformed; it says where.

    Notes
    -----
    One sweep of the search takes time linear in the number of edges. With weights of at least 0 the rounded relaxation is worth at
    least 0.878 of the bound in expectation [2]_; the rest of the run only improves on it.

    References
    ----------
    .. [1] A. Aamand, J. Y. Chen, S. Gollapudi, S. Silwal, H. Wu, "Improved Approximations for Hard Graph Problems using
       Predictions", ICML 2025.
    .. [2] M. X. Goemans, D. P. Williamson, "Improved Approximation Algorithms for Maximum Cut and Satisfiability Problems Using
       Semidefinite Programming", Journal of the ACM 42 (1995).

    Examples
    --------
    >>> import networkx as nx
    >>> result = max_cut(nx.petersen_graph())
    >>> result.value, result.bound, result.optimal
    (12, 12, True)
    """
    request = MaxCutRequest.of(graph, predictions, options=options)
    # Before the clock starts: what is compiled at the first call takes many times longer than most graphs.
    warm()
    context = Context(MAX_CUT.time_limit(request), MAX_CUT.seed(request))
    return with_files_loaded(run_max_cut(request, context), FILE_NAME, context)


class _Run:
    """A portfolio at work, and what it has found."""

    def __init__(self, instance: Instance, advice: Advice | None, course: Course) -> None:
        self._instance = instance
        self._advice = advice
        self.portfolio = CutPortfolio(instance.num_vertices, instance.edges, instance.edge_weights, course)

    def found(self) -> Found:
        progress = self.portfolio.progress
        kernel, sides = progress.kernel, progress.sides
        value = _recomputed(self._instance, sides)
        return Found(
            solution=sides.tolist(),
            labels=sides,
            value=value,
            slack=0.0 if kernel.is_integral else kernel.rounding + RELATIVE_TOLERANCE * max(1.0, abs(value)),
            reduction=ReducedSize(n=kernel.num_vertices, m=len(kernel.edges)),
            guarantee=self._advice_guarantee() or self._relaxation_guarantee(),
        )

    def _advice_guarantee(self) -> Guarantee | None:
        prefix = self.portfolio.solved_prefix
        if self._advice is None or prefix is None:
            return None
        promised = wide_cut_guarantee(self._advice, self.portfolio.progress.kernel.original_csr, prefix)
        return None if promised is None else Guarantee(**promised._asdict())

    def _relaxation_guarantee(self) -> Guarantee | None:
        if not self.portfolio.rounded_relaxation or (self._instance.edge_weights < 0).any():
            return None
        return Guarantee(
            name="goemans_williamson_expected_ratio", value=GOEMANS_WILLIAMSON_RATIO, assumes_independent_predictions=False
        )


def _recomputed(instance: Instance, sides: np.ndarray) -> int | float:
    """Return the value of a cut from scratch, in the caller's weights."""
    separated = instance.edge_weights[sides[instance.edges[:, 0]] != sides[instance.edges[:, 1]]]
    return int(separated.sum()) if separated.dtype.kind == "i" else math.fsum(separated.tolist())


def _advice(request: GraphRequest, instance: Instance) -> Advice | None:
    predictions = request.read_predictions(instance)
    return tally(predictions, instance.num_vertices, instance.edges) if predictions else None


@functools.cache
def warm() -> None:
    """Compile, or load from the cache, all that a run may call; once per process."""
    rng = np.random.default_rng(0)
    cycle = np.arange(60)
    # Five neighbours on either side: nothing can be reduced; two: the window moves come in as well.
    for reach in (2, 5):
        edges = np.concatenate([np.column_stack([cycle, (cycle + step) % 60]) for step in range(1, reach + 1)])
        weights = rng.integers(1, 9, len(edges))
        advice = sample_edge_predictions(edges, rng.integers(0, 2, 60), 0.2, seed=0)
        for method in ("local_search", "auto"):
            _run_small(Graph(60, edges, edge_weights=weights), advice, method=method, max_iterations=3000)
        csr = build_csr(60, edges, weights)
        WindowMover(csr, seed=0).move(np.zeros(60, np.int8))
        Tabu(csr, np.zeros(60, np.int8), seed=0).advance(10)
    _run_small(nx.path_graph(7))
    _run_small(nx.complete_graph(9))


def _run_small(graph: Any, predictions: Any = None, **options: Any) -> None:
    run_max_cut(MaxCutRequest.of(graph, predictions, options=options), Context())


MAX_CUT: Operation[MaxCutRequest, GraphResult] = Operation(
    name="max-cut",
    path="graphs/max-cut",
    request=MaxCutRequest,
    result=GraphResult,
    run=run_max_cut,
    summary="Approximate the largest cut of a graph, with a proven upper bound.",
    description=DESCRIPTION,
    resources=Resources(time_limit=DEFAULT_TIME_LIMIT, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("timings", "history.seconds"),
    warm=warm,
    from_file=from_file,
    from_objects=from_objects,
)
