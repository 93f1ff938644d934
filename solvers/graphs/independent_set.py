"""Independent set, with or without predictions: many vertices, no two joined; see :mod:`solvers.graphs.vertex_problems`."""

from __future__ import annotations

from typing import Any

from solvers.graphs import vertex_problems
from solvers.graphs.adapters import from_file, from_weighted_objects
from solvers.graphs.answer import DEFAULT_TIME_LIMIT
from solvers.graphs.library_files import with_files_loaded
from solvers.graphs.request import GraphRequest
from solvers.graphs.result import GraphResult
from solvers.graphs.vertex_problems import INDEPENDENT
from solvers.operation import Context, Operation, Resources

# No vertex can be reduced and the bounds stay open, so that every stage of a search has work.
CIRCULANT = [[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)]
# About every fourth vertex; the second bit of every other row is wrong.
NOISY_BITS = [[int(u % 4 == 0), (int(v % 4 == 0) + row) % 2] for row, (u, v) in enumerate(CIRCULANT)]

EXAMPLES: dict[str, dict[str, Any]] = {
    "A cycle of five vertices": {
        "num_vertices": 5,
        "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],
        "options": {"max_iterations": 1000},
    },
    "Weights of the vertices, and names": {
        "labels": ["ann", "bob", "cy", "dee"],
        "edges": [["ann", "bob"], ["bob", "cy"], ["cy", "dee"], ["dee", "dee"]],
        "vertex_weights": [3, 5, 3.5, 1],
        "options": {"max_iterations": 1000},
    },
    "Noisy predictions about every edge's ends": {
        "num_vertices": 31,
        "edges": CIRCULANT,
        "predictions": {"edge_bits": NOISY_BITS, "epsilon": 0.25},
        "options": {"max_iterations": 2000, "method": "local_search"},
    },
    "A label for every vertex": {
        "num_vertices": 5,
        "edges_flat": [0, 1, 1, 2, 2, 3, 3, 4, 4, 0],
        "predictions": {"vertex_labels": [1, 0, 1, 0, None], "epsilon": 0.3},
        "options": {"max_iterations": 1000},
    },
    "Node-link data, as NetworkX writes it": {
        "graph": {
            "node_link": {
                "directed": False,
                "multigraph": False,
                "nodes": [{"id": "a", "weight": 2}, {"id": "b", "weight": 3}, {"id": "c", "weight": 2}],
                "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
            }
        },
        "options": {"max_iterations": 1000},
    },
}

DESCRIPTION = """
Finds vertices of large weight together, no two of them joined, and proves an upper bound on every such set. Give the graph inline, as
NetworkX's node-link data (weights of vertices: attribute `weight` of nodes), or as a text or file in DIMACS, METIS, PACE, Gset (rudy),
Matrix Market or edge-list format. Weights of edges are ignored; a vertex with a self-loop is in no set.

`predictions` about one largest set may be two bits per edge, labels or probabilities of vertices, complete or not, right or wrong:
the answer is never worse than `value_without_predictions`, which the same run finds without looking at them.

The run ends when value and bound meet, at `target`, or at `time_limit`; with `max_iterations` the same seed gives the same answer.
`graphs/verify` proves the `certificate` again.
"""


class IndependentSetRequest(GraphRequest):
    """A graph and, if there is one, a prediction of a largest independent set."""


def run_independent_set(request: IndependentSetRequest, context: Context) -> GraphResult:
    """Carry out a request; :func:`independent_set` is the library's form of it."""
    return vertex_problems.solve(request, context, INDEPENDENT)


def independent_set(graph: Any, predictions: Any = None, **options: Any) -> GraphResult:
    """Approximate the independent set of greatest weight, with a proven upper bound.

    Parameters
    ----------
    graph : networkx.Graph, scipy sparse array, Graph, or array of shape (m, 2)
        Node attribute `weight` (default 1), or `vertex_weights` of a Graph: not negative.
    predictions : EdgePredictions, VertexPredictions or dict, or a list of them, optional
        About one largest set, 1 for its members. The answer is never worse than what the same run finds without them.
    **options
        Fields of :class:`solvers.graphs.request.SearchOptions`: `method`, `threshold`, `time_limit` (seconds, default 10),
        `max_iterations`, `target`, `certificate`, `solution_file` (into the working folder), `seed`.

    Returns
    -------
    GraphResult
        `solution` has the ids of the set, sorted by position, `value` its weight, `bound` what no set exceeds, `certificate` the proof.

    Raises
    ------
    InvalidInput
        If the graph, a prediction or an option is malformed; it says where.

    Notes
    -----
    No ratio can be promised without predictions that does not fall with the number of vertices. With independent bits of known
    accuracy there is one [1]_, which `guarantee` reports where the vertices' degrees allow it.

    References
    ----------
    .. [1] A. Aamand, J. Y. Chen, S. Gollapudi, S. Silwal, H. Wu, "Improved Approximations for Hard Graph Problems using
       Predictions", ICML 2025.

    Examples
    --------
    >>> import networkx as nx
    >>> result = independent_set(nx.petersen_graph())
    >>> result.value, result.bound, result.optimal
    (4, 4, True)
    """
    request = IndependentSetRequest.of(graph, predictions, options=options)
    # Before the clock starts: what is compiled at the first call takes many times longer than most graphs.
    vertex_problems.warm()
    context = Context(INDEPENDENT_SET.time_limit(request), INDEPENDENT_SET.seed(request))
    return with_files_loaded(run_independent_set(request, context), INDEPENDENT.file_name, context)


INDEPENDENT_SET: Operation[IndependentSetRequest, GraphResult] = Operation(
    name="independent-set",
    path="graphs/independent-set",
    request=IndependentSetRequest,
    result=GraphResult,
    run=run_independent_set,
    summary="Approximate the independent set of greatest weight, with a proven upper bound.",
    description=DESCRIPTION,
    resources=Resources(time_limit=DEFAULT_TIME_LIMIT, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("timings", "history.seconds"),
    warm=vertex_problems.warm,
    from_file=from_file,
    from_objects=from_weighted_objects,
)
