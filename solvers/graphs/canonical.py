"""The simple graph that the algorithms work on, and how it came from the edges that the caller listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import Array, as_written
from solvers.graphs.graph import Graph, InvalidGraph
from solvers.graphs.pairs import LARGEST_POSITION, first_appearances

Repair: TypeAlias = dict[str, str | None]
"""``{"code": .., "message": .., "pointer": ..}``"""

LARGEST_SUM = 2**53
"""Integer weights are exact while the sum of their magnitudes fits a float64."""

Problem: TypeAlias = Literal["max-cut", "vertex-cover", "independent-set"]
"""What a graph is looked at for."""

# What becomes of what the problem cannot use: of one self-loop or duplicate, and of several.
_LOOPS = {
    "max-cut": ("1 self-loop was dropped", "{} self-loops were dropped"),
    "vertex-cover": (
        "1 self-loop was taken out and its vertex put into the cover",
        "{} self-loops were taken out and their vertices put into the cover",
    ),
    "independent-set": (
        "1 self-loop was taken out and its vertex kept out of the set",
        "{} self-loops were taken out and their vertices kept out of the set",
    ),
}
_DIRECTED = ("the direction of 1 edge was dropped", "the directions of {} edges were dropped")
_FREE = ("1 vertex weighs nothing and was put into the cover", "{} vertices weigh nothing and were put into the cover")
_ADDED = (
    "1 edge repeats an earlier one and its weight was added",
    "{} edges repeat earlier ones and their weights were added",
)
_DROPPED = ("1 edge repeats an earlier one and was dropped", "{} edges repeat earlier ones and were dropped")


@dataclass(frozen=True, eq=False)
class Instance:
    """A simple graph in canonical order: edges by first appearance, each in the direction in which it was written there.

    Attributes
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
        Positions of vertices, from 0; no duplicates, no self-loops.
    edge_weights : array of shape (m,)
        int64 if all are integers, else float64. A weight may be 0. All 1 for problems about vertices.
    vertex_weights : array of shape (n,)
        int64 if all are integers, else float64; not negative. All 1 for problems about edges.
    labels : list, optional
        The caller's names of the vertices.
    index_base : int
        Where there are no labels, the caller's id of the vertex at position 0.
    warnings : list of dict
        What was repaired: one entry for each kind of repair.
    loops : int32 array
        The vertices of the self-loops that were dropped; a vertex may come more than once.
    listed_rows : int64 array of shape (listed,)
        For every listed edge its row in `edges`; -1 for a self-loop.
    is_swapped : bool array of shape (listed,)
        Whether a listed edge names its ends in the other order than its row.
    has_row_per_edge : bool
        Whether a table may have one row per listed edge, instead of one per row of `edges`.
    format : str, optional
        The format that the graph was read from.
    """

    num_vertices: int
    edges: npt.NDArray[np.int32]
    edge_weights: Array
    vertex_weights: Array
    labels: list[Any] | None
    index_base: int
    warnings: list[Repair]
    loops: npt.NDArray[np.int32]
    listed_rows: npt.NDArray[np.int64]
    is_swapped: npt.NDArray[np.bool_]
    has_row_per_edge: bool
    format: str | None

    def vertex_id(self, position: int) -> Any:
        """Return the caller's id of the vertex at a position."""
        return position + self.index_base if self.labels is None else self.labels[position]

    def vertex_ids(self, positions: npt.ArrayLike) -> list[Any]:
        """Return the caller's ids of the vertices at many positions."""
        many = np.asarray(positions, dtype=np.int64)
        if self.labels is None:
            return list((many + self.index_base).tolist())
        return [self.labels[position] for position in many.tolist()]


def canonicalise(graph: Graph, problem: Problem = "max-cut") -> Instance:
    """Return a listed graph as a simple one: duplicates merged, self-loops dropped.

    For cuts the weights of duplicates are added, and those of vertices ignored; for covers and independent sets it is the weights of
    edges that are.

    Raises
    ------
    InvalidGraph
        If there are more than 2^31 - 1 vertices, weights too large to be added, or a vertex of negative weight.

    Notes
    -----
    Duplicates whose weights cancel stay, with weight 0: predictions may speak of them. O(m log m).

    Examples
    --------
    >>> instance = canonicalise(Graph(3, [[1, 0], [2, 2], [0, 1], [1, 2]], edge_weights=[1, 5, 2, 1]))
    >>> instance.edges.tolist(), instance.edge_weights.tolist()
    ([[1, 0], [1, 2]], [3, 1])
    >>> [warning["message"] for warning in instance.warnings]
    ['1 self-loop was dropped; first: edge 1, 2 to 2',
     '1 edge repeats an earlier one and its weight was added; first: edge 2, 0 to 1']
    """
    if graph.num_vertices > LARGEST_POSITION:
        raise InvalidGraph(f"{graph.num_vertices} vertices are more than 2^31 - 1", pointer="/num_vertices")
    listed = graph.edges
    is_loop = listed[:, 0] == listed[:, 1]
    kept = np.flatnonzero(~is_loop)
    rows, firsts = first_appearances(listed[kept, 0], listed[kept, 1])
    edges = listed[kept[firsts]].astype(np.int32)

    listed_rows = np.full(len(listed), -1, dtype=np.int64)
    listed_rows[kept] = rows
    is_swapped = np.zeros(len(listed), dtype=bool)
    is_swapped[kept] = edges[rows, 0] != listed[kept, 0]
    is_repeat = np.ones(len(listed), dtype=bool)
    is_repeat[kept[firsts]] = False
    is_repeat[is_loop] = False
    is_cut = problem == "max-cut"
    vertex_weights = np.ones(graph.num_vertices, np.int64) if is_cut else _vertex_weights(graph)
    repairs = _repairs(graph, problem, np.flatnonzero(is_loop), np.flatnonzero(is_repeat))
    if problem == "vertex-cover":
        repairs += _free_vertices(graph, np.flatnonzero(vertex_weights == 0))
    return Instance(
        graph.num_vertices,
        edges,
        _added_weights(graph, kept, rows, len(edges)) if is_cut else np.ones(len(edges), np.int64),
        vertex_weights,
        graph.labels,
        graph.index_base,
        repairs,
        listed[is_loop, 0].astype(np.int32),
        listed_rows,
        is_swapped,
        graph.source.has_row_per_edge,
        graph.source.format,
    )


def _added_weights(graph: Graph, kept: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], num_rows: int) -> Array:
    if graph.edge_weights is None:
        return np.bincount(rows, minlength=num_rows).astype(np.int64)
    weights = graph.edge_weights[kept]
    magnitudes = np.abs(weights.astype(np.float64))
    with np.errstate(over="ignore"):
        total = magnitudes.sum()
    # A float sum errs by far less than the factor 2, so that the exact one cannot overflow.
    is_exact = total <= 2 * LARGEST_SUM and int(np.abs(weights).sum()) <= LARGEST_SUM
    is_integral = bool((weights == np.rint(weights)).all())
    if not np.isfinite(total) or (is_integral and not is_exact):
        heaviest = int(np.argmax(magnitudes))
        beyond = "2^53, beyond which cuts are not counted exactly" if is_integral else "the largest float"
        complaint = f"with a weight of {weights[heaviest]} the magnitudes of the weights sum to more than {beyond}"
        raise graph.source.fault(int(kept[heaviest]), complaint, "weight")
    # Added in the order of the list, so that sums round alike everywhere; integers below 2^53 are exact.
    added = np.bincount(rows, weights, num_rows)
    return added.astype(np.int64) if is_exact and bool((added == np.rint(added)).all()) else added


def _vertex_weights(graph: Graph) -> Array:
    weights = graph.weights_of_vertices()
    if weights is None:
        return np.ones(graph.num_vertices, np.int64)
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        raise _fault_of_vertex(graph, int(negative[0]), f"a weight of {weights[negative[0]]} is negative")
    with np.errstate(over="ignore"):
        total = weights.sum(dtype=np.float64)
    is_exact = total <= 2 * LARGEST_SUM and int(weights.sum()) <= LARGEST_SUM
    is_integral = bool((weights == np.rint(weights)).all())
    if not np.isfinite(total) or (is_integral and not is_exact):
        beyond = "2^53, beyond which they are not added exactly" if is_integral else "the largest float"
        heaviest = int(np.argmax(weights))
        raise _fault_of_vertex(graph, heaviest, f"with a weight of {weights[heaviest]} the weights sum to more than {beyond}")
    return weights.astype(np.int64) if is_integral else weights


def _fault_of_vertex(graph: Graph, vertex: int, complaint: str) -> InvalidGraph:
    return InvalidGraph(f"vertex {_name(graph, vertex)}: {complaint}", pointer=graph.source.vertex_weight.format(vertex=vertex))


def _name(graph: Graph, vertex: int) -> str:
    return str(vertex + graph.index_base) if graph.labels is None else as_written(graph.labels[vertex])


def _repairs(graph: Graph, problem: Problem, loops: npt.NDArray[np.int64], repeats: npt.NDArray[np.int64]) -> list[Repair]:
    repairs: list[Repair] = []
    if graph.source.is_directed and len(graph.edges):
        repairs.append(_repair(graph, "directed", _counted(_DIRECTED, len(graph.edges)), 0))
    if len(loops):
        repairs.append(_repair(graph, "self-loops", _counted(_LOOPS[problem], len(loops)), int(loops[0])))
    if len(repeats):
        what = _counted(_ADDED if problem == "max-cut" else _DROPPED, len(repeats))
        repairs.append(_repair(graph, "duplicate-edges", what, int(repeats[0])))
    return repairs


def _free_vertices(graph: Graph, free: npt.NDArray[np.int64]) -> list[Repair]:
    if not len(free):
        return []
    first = int(free[0])
    message = f"{_counted(_FREE, len(free))}; first: vertex {_name(graph, first)}"
    return [{"code": "free-vertices", "message": message, "pointer": graph.source.vertex_weight.format(vertex=first)}]


def _counted(one_or_many: tuple[str, str], count: int) -> str:
    return one_or_many[0] if count == 1 else one_or_many[1].format(count)


def _repair(graph: Graph, code: str, what: str, first: int) -> Repair:
    u, v = (_name(graph, position) for position in graph.edges[first].tolist())
    source = graph.source
    return {"code": code, "message": f"{what}; first: {source.name(first)}, {u} to {v}", "pointer": source.pointer(first)}
