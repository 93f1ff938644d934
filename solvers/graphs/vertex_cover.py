"""Vertex cover, with or without predictions: few vertices that meet every edge; see :mod:`solvers.graphs.vertex_problems`."""

from __future__ import annotations

from typing import Any

from solvers.graphs import vertex_problems
from solvers.graphs.adapters import from_file, from_weighted_objects
from solvers.graphs.answer import DEFAULT_TIME_LIMIT
from solvers.graphs.library_files import with_files_loaded
from solvers.graphs.request import GraphRequest
from solvers.graphs.result import GraphResult
from solvers.graphs.vertex_problems import COVER
from solvers.operation import Context, Operation, Resources

# No vertex can be reduced and the bounds stay open, so that every stage of a search has work.
CIRCULANT = [[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)]
# About the cover that leaves out every fourth vertex; the second bit of every other row is wrong.
NOISY_BITS = [[int(u % 4 > 0), (int(v % 4 > 0) + row) % 2] for row, (u, v) in enumerate(CIRCULANT)]

EXAMPLES: dict[str, dict[str, Any]] = {
    "A star: its centre covers all": {"edges": [[0, 1], [0, 2], [0, 3]], "options": {"max_iterations": 1000}},
    "Weights of the vertices, and names": {
        "labels": ["ann", "bob", "cy", "dee"],
        "edges": [["ann", "bob"], ["bob", "cy"], ["cy", "dee"], ["bob", "bob"]],
        "vertex_weights": [3, 5, 2, 1],
        "options": {"max_iterations": 1000},
    },
    "Noisy predictions about every edge's ends": {
        "num_vertices": 31,
        "edges": CIRCULANT,
        "predictions": {"edge_bits": NOISY_BITS, "epsilon": 0.25},
        "options": {"max_iterations": 2000, "method": "local_search"},
    },
    "A probability for every vertex": {
        "num_vertices": 5,
        "edges_flat": [0, 1, 1, 2, 2, 3, 3, 4, 4, 0],
        "predictions": {"vertex_probabilities": [0.1, 0.9, 0.3, 0.8, None]},
        "options": {"max_iterations": 1000},
    },
    "A text in PACE's format": {"graph": {"text": "p td 4 3\n1 2\n2 3\n3 4\n"}, "options": {"max_iterations": 1000}},
}

DESCRIPTION = """
Finds vertices of small weight together that meet every edge, and proves a lower bound on every such cover. Give the graph inline, as
NetworkX's node-link data (weights of vertices: attribute `weight` of nodes), or as a text or file in PACE, DIMACS, METIS, Gset (rudy),
Matrix Market or edge-list format. Weights of edges are ignored; a vertex with a self-loop is in every cover.

`predictions` about one least cover may be two bits per edge, labels or probabilities of vertices, complete or not, right or wrong:
the answer is never worse than `value_without_predictions`, which the same run finds without looking at them.

The run ends when value and bound meet, at `target`, or at `time_limit`; with `max_iterations` the same seed gives the same answer.
`graphs/verify` proves the `certificate` again.
"""


class VertexCoverRequest(GraphRequest):
    """A graph and, if there is one, a prediction of a least vertex cover."""


def run_vertex_cover(request: VertexCoverRequest, context: Context) -> GraphResult:
    """Carry out a request; :func:`vertex_cover` is the library's form of it."""
    return vertex_problems.solve(request, context, COVER)


def vertex_cover(graph: Any, predictions: Any = None, **options: Any) -> GraphResult:
    """Approximate the vertex cover of least weight, with a proven lower bound.

    Parameters
    ----------
    graph : networkx.Graph, scipy sparse array, Graph, or array of shape (m, 2)
        Node attribute `weight` (default 1), or `vertex_weights` of a Graph: not negative.
    predictions : EdgePredictions, VertexPredictions or dict, or a list of them, optional
        About one least cover, 1 for its members. The answer is never worse than what the same run finds without them.
    **options
        Fields of :class:`solvers.graphs.request.SearchOptions`: `method`, `threshold`, `time_limit` (seconds, default 10),
        `max_iterations`, `target`, `certificate`, `solution_file` (into the working folder), `seed`.

    Returns
    -------
    GraphResult
        `solution` has the ids of the cover, sorted by position, `value` its weight, `bound` what no cover weighs less than,
        `certificate` the proof.

    Raises
    ------
    InvalidInput
        If the graph, a prediction or an option is malformed; it says where.

    Notes
    -----
    Reductions and the linear relaxation leave a kernel whose colouring with k colours gives a cover of at most 2 - 2/k times the
    least weight [2]_, which `guarantee` reports; the rest of the run only improves on it.

    References
    ----------
    .. [1] A. Aamand, J. Y. Chen, S. Gollapudi, S. Silwal, H. Wu, "Improved Approximations for Hard Graph Problems using
       Predictions", ICML 2025.
    .. [2] D. S. Hochbaum, "Efficient Bounds for the Stable Set, Vertex Cover and Set Packing Problems", Discrete Applied
       Mathematics 6 (1983).

    Examples
    --------
    >>> import networkx as nx
    >>> result = vertex_cover(nx.petersen_graph())
    >>> result.value, result.bound, result.optimal
    (6, 6, True)
    """
    request = VertexCoverRequest.of(graph, predictions, options=options)
    # Before the clock starts: what is compiled at the first call takes many times longer than most graphs.
    vertex_problems.warm()
    context = Context(VERTEX_COVER.time_limit(request), VERTEX_COVER.seed(request))
    return with_files_loaded(run_vertex_cover(request, context), COVER.file_name, context)


VERTEX_COVER: Operation[VertexCoverRequest, GraphResult] = Operation(
    name="vertex-cover",
    path="graphs/vertex-cover",
    request=VertexCoverRequest,
    result=GraphResult,
    run=run_vertex_cover,
    summary="Approximate the vertex cover of least weight, with a proven lower bound.",
    description=DESCRIPTION,
    resources=Resources(time_limit=DEFAULT_TIME_LIMIT, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("timings", "history.seconds"),
    warm=vertex_problems.warm,
    from_file=from_file,
    from_objects=from_weighted_objects,
)
