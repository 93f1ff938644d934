"""A graph as its caller lists it: duplicates, self-loops, names and all.

:mod:`solvers.graphs.canonical` turns it into the simple graph that the algorithms work on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal

import networkx
import numpy as np
import numpy.typing as npt
import scipy.sparse

from solvers.graphs.arrays import Array, as_written, integers, is_integer, numbers, pairs
from solvers.graphs.pairs import first_appearances
from solvers.operation import InvalidInput


class InvalidGraph(InvalidInput):
    """An edge, weight or name of a graph is wrong; the fault says which and where."""


@dataclass(frozen=True)
class Source:
    """Where the edges of a graph were listed, so that faults and warnings can name the place.

    Attributes
    ----------
    edge, first, second, weight : str
        JSON pointers of an edge, its two ends and its weight, with `{edge}` for its index; in a flat list, `{even}` and `{odd}`.
    vertex_weight : str
        JSON pointer of the weight of a vertex, with `{vertex}` for its position.
    lines : int64 array of shape (listed,), optional
        The line of a text that each edge stands on.
    has_row_per_edge : bool
        Whether the caller may hold a table with one row per listed edge; not so where a format lists both directions.
    format : str, optional
        Name of the text format.
    is_directed : bool
        Whether the caller's edges had a direction that is dropped.
    """

    edge: str = "/edges/{edge}"
    first: str = "/edges/{edge}/0"
    second: str = "/edges/{edge}/1"
    weight: str = "/edge_weights/{edge}"
    vertex_weight: str = "/vertex_weights/{vertex}"
    lines: npt.NDArray[np.int64] | None = None
    has_row_per_edge: bool = True
    format: str | None = None
    is_directed: bool = False

    def pointer(self, edge: int, part: Literal["edge", "first", "second", "weight"] = "edge") -> str:
        """Return the JSON pointer of a listed edge or of a part of it."""
        return str(getattr(self, part)).format_map({"edge": edge, "even": 2 * edge, "odd": 2 * edge + 1})

    def name(self, edge: int) -> str:
        """Return what a message calls a listed edge: its line, or its index."""
        return f"edge {edge}" if self.lines is None else f"line {self.lines[edge]}"

    def on_lines(self, lines: npt.NDArray[np.int64]) -> Source:
        """Return the source with the line of every edge."""
        return replace(self, lines=lines)

    def fault(self, edge: int, complaint: str, part: Literal["edge", "first", "second", "weight"] = "edge") -> InvalidGraph:
        """Return the fault of a listed edge."""
        members = {} if self.lines is None else {"line": int(self.lines[edge])}
        return InvalidGraph(f"{self.name(edge)}: {complaint}", pointer=self.pointer(edge, part), **members)


INLINE = Source()
FLAT = Source(edge="/edges_flat/{even}", first="/edges_flat/{even}", second="/edges_flat/{odd}")


class Graph:
    """An undirected graph as listed.

    Parameters
    ----------
    num_vertices : int, optional
        Default: the number of `labels`, else as many as the largest id asks for.
    edges : array_like, shape (m, 2)
        Integers from `index_base` up, or names: those of `labels`, or else named here for the first time. If one id is a string,
        all are names.
    edge_weights : array_like, shape (m,), optional
        Finite; default 1.
    vertex_weights : array_like, shape (n,), optional
        Finite.
    labels : sequence, optional
        A name for every vertex, isolated ones too; no two alike.
    index_base : {0, 1}
        The id of the first vertex, where ids are integers.
    source : Source
        Where the edges were listed, for messages.
    read_vertex_weights : callable, optional
        Returns `vertex_weights` where they are not given but written somewhere in the source. It is called only for problems that
        look at them.

    Attributes
    ----------
    num_vertices : int
    edges : int64 array of shape (m, 2)
        Positions from 0, in the order and direction of the list.
    edge_weights, vertex_weights : array or None
        int64 if all are integers, else float64.
    labels : list or None
    index_base : int
    source : Source

    Raises
    ------
    InvalidGraph
        If an id is out of range, a number is not finite, or lengths differ.

    Examples
    --------
    >>> graph = Graph(None, [["a", "b"], ["b", "c"]], edge_weights=[1, 2.5])
    >>> graph.num_vertices, graph.labels, graph.edges.tolist()
    (3, ['a', 'b', 'c'], [[0, 1], [1, 2]])
    """

    def __init__(
        self,
        num_vertices: int | None,
        edges: npt.ArrayLike | Sequence[Sequence[Any]],
        edge_weights: npt.ArrayLike | None = None,
        vertex_weights: npt.ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        index_base: int = 0,
        *,
        source: Source = INLINE,
        read_vertex_weights: Callable[[], Any] | None = None,
    ) -> None:
        if not is_integer(index_base) or index_base not in (0, 1):
            raise InvalidGraph(f"ids count from 0 or 1, not from {as_written(index_base)}", pointer="/index_base")
        if num_vertices is not None and (not is_integer(num_vertices) or num_vertices < 0):
            raise InvalidGraph(f"{as_written(num_vertices)} is not a number of vertices", pointer="/num_vertices")
        self.index_base = int(index_base)
        self.source = source
        self.labels = None if labels is None else list(labels)
        positions = None if self.labels is None else label_positions(self.labels)

        self.edges = self._positions_of(edges, positions)
        self.num_vertices = self._vertices_named() if num_vertices is None else int(num_vertices)
        self._require_vertices()
        self.edge_weights = self._weights_of_edges(edge_weights)
        self.vertex_weights = self._weights_of_vertices(vertex_weights)
        self.read_vertex_weights = read_vertex_weights

    def __repr__(self) -> str:
        return f"<Graph with {self.num_vertices} vertices and {len(self.edges)} listed edges>"

    @classmethod
    def from_objects(cls, graph: Any) -> Graph:
        """Return the graph that an object of another library describes.

        Parameters
        ----------
        graph : Graph, networkx.Graph, SciPy sparse matrix or array, or edge array
            NetworkX graphs may be directed or have parallel edges; attribute `weight` of edges and of nodes, 1 where it is missing.
            Of a matrix, entries (i, j) and (j, i) are one edge: their values must be equal, or one of them absent. An edge array has two
            columns, or three with the weights.

        Raises
        ------
        InvalidGraph
            If the object describes no undirected graph.

        Examples
        --------
        >>> Graph.from_objects(networkx.path_graph(3)).edges.tolist()
        [[0, 1], [1, 2]]
        >>> Graph.from_objects([[0, 1, 2.5], [1, 2, 1.0]]).edge_weights.tolist()
        [2.5, 1.0]
        """
        if isinstance(graph, Graph):
            return graph
        if isinstance(graph, networkx.Graph):
            return _from_networkx(graph)
        if scipy.sparse.issparse(graph):
            return _from_sparse(graph)
        return _from_edge_array(graph)

    def weights_of_vertices(self) -> Array | None:
        """Return the weights of the vertices, whether given or written in the source; None if there are none.

        Raises
        ------
        InvalidGraph
            If those of the source are no finite numbers, or not one for each vertex.
        """
        if self.vertex_weights is None and self.read_vertex_weights is not None:
            try:
                self.vertex_weights = self._weights_of_vertices(self.read_vertex_weights())
            except InvalidInput as fault:
                fault.pointer = self.source.vertex_weight if fault.pointer is None else fault.pointer
                raise
        return self.vertex_weights

    def _positions_of(self, edges: Any, positions: Mapping[Hashable, int] | None) -> npt.NDArray[np.int64]:
        def place(index: int) -> str:
            return self.source.pointer(index // 2, "second" if index % 2 else "first")

        if isinstance(edges, np.ndarray) and edges.dtype.kind not in "OUS":
            if edges.size and (edges.ndim != 2 or edges.shape[1] != 2):
                raise InvalidGraph(f"edges have shape (m, 2), not {edges.shape}", pointer="/edges")
            return integers(edges.ravel(), place, "the id of a vertex").reshape(-1, 2) - self.index_base
        rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
        flat = pairs(rows, "/edges", "a pair of vertices")
        if not any(issubclass(kind, str) for kind in set(map(type, flat))):
            return integers(flat, place, "the id of a vertex").reshape(-1, 2) - self.index_base
        return self._positions_of_names(flat, positions, place)

    def _positions_of_names(self, names: list[Any], positions: Any, place: Any) -> npt.NDArray[np.int64]:
        for index, name in enumerate(names):
            if not isinstance(name, str) and not is_integer(name):
                raise InvalidGraph(f"{as_written(name)} is not the id of a vertex", pointer=place(index))
        if positions is None:
            self.labels = list(dict.fromkeys(names))
            positions = label_positions(self.labels)
        found = [positions.get(name, -1) for name in names]
        if -1 in found:
            index = found.index(-1)
            raise InvalidGraph(f"no label is {as_written(names[index])}", pointer=place(index))
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _vertices_named(self) -> int:
        if self.labels is not None:
            return len(self.labels)
        return int(self.edges.max()) + 1 if self.edges.size else 0

    def _require_vertices(self) -> None:
        if self.labels is not None and len(self.labels) != self.num_vertices:
            raise InvalidGraph(f"{len(self.labels)} labels for {self.num_vertices} vertices", pointer="/labels")
        outside = (self.edges < 0) | (self.edges >= self.num_vertices)
        if outside.any():
            edge, end = divmod(int(np.argmax(outside)), 2)
            vertex = int(self.edges[edge, end]) + self.index_base
            last = self.num_vertices - 1 + self.index_base
            allowed = f"ids go from {self.index_base} to {last}" if self.num_vertices else "the graph has no vertices"
            raise self.source.fault(edge, f"there is no vertex {vertex}; {allowed}", "second" if end else "first")

    def _weights_of_edges(self, weights: Any) -> Array | None:
        if weights is None:
            return None
        if self.source.lines is None:
            found = numbers(_as_list(weights), lambda edge: self.source.pointer(edge, "weight"))
        else:
            found = np.asarray(weights)
            wrong = np.flatnonzero(~np.isfinite(found))
            if len(wrong):
                raise self.source.fault(int(wrong[0]), f"the weight {found[wrong[0]]} is not finite", "weight")
        if found.shape != (len(self.edges),):
            raise InvalidGraph(f"{len(found)} weights for {len(self.edges)} edges", pointer="/edge_weights")
        return found

    def _weights_of_vertices(self, weights: Any) -> Array | None:
        if weights is None:
            return None
        found = numbers(_as_list(weights), lambda vertex: self.source.vertex_weight.format(vertex=vertex))
        if found.shape != (self.num_vertices,):
            raise InvalidGraph(f"{len(found)} weights for {self.num_vertices} vertices", pointer="/vertex_weights")
        return found


def label_positions(labels: Sequence[Any], pointer: str = "/labels") -> dict[Hashable, int]:
    """Return the position of every label.

    Raises
    ------
    InvalidGraph
        If two are alike, or one is no name.
    """
    if not set(map(type, labels)) <= {str, int}:
        for index, label in enumerate(labels):
            if label is None or isinstance(label, bool) or not _is_hashable(label):
                raise InvalidGraph(f"{as_written(label)} is not the name of a vertex", pointer=f"{pointer}/{index}")
    positions: dict[Hashable, int] = {}
    for position, label in enumerate(labels):
        if positions.setdefault(label, position) != position:
            raise InvalidGraph(
                f"{as_written(label)} is already the name of vertex {positions[label]}", pointer=f"{pointer}/{position}"
            )
    return positions


def _is_hashable(label: Any) -> bool:
    # A tuple is Hashable whatever it holds; only hashing it tells.
    try:
        hash(label)
    except TypeError:
        return False
    return True


def without_mirror_images(listed: Graph) -> Graph:
    """Return the graph whose weighted adjacency matrix `listed` spells out, each edge once or in both directions.

    Parameters
    ----------
    listed : Graph
        One edge per entry of the matrix, with its value as weight.

    Raises
    ------
    InvalidGraph
        If (i, j) and (j, i) are both there with different values.
    """
    entries, values = listed.edges, listed.edge_weights
    if values is None:
        values = np.ones(len(entries), dtype=np.int64)
    rows, firsts = first_appearances(entries[:, 0], entries[:, 1])
    is_image = entries[:, 0] != entries[firsts[rows], 0]
    value = np.bincount(rows[~is_image], values[~is_image], len(firsts))
    image = np.bincount(rows[is_image], values[is_image], len(firsts))
    differs = (value != image) & (np.bincount(rows[is_image], minlength=len(firsts)) > 0)
    if differs.any():
        row = int(np.argmax(differs))
        i, j = (entries[firsts[row]] + listed.index_base).tolist()
        raise listed.source.fault(
            int(np.flatnonzero(is_image & (rows == row))[0]),
            f"entry ({j}, {i}) is {image[row]:.15g} and ({i}, {j}) is {value[row]:.15g}; both are one edge",
            "weight",
        )
    return listing_only(listed, np.flatnonzero(~is_image))


def listing_only(listed: Graph, kept: npt.NDArray[np.int64]) -> Graph:
    """Return the graph with some of the listed edges, where a format lists an edge more than once by its rules."""
    lines = None if listed.source.lines is None else listed.source.lines[kept]
    return Graph(
        listed.num_vertices,
        listed.edges[kept] + listed.index_base,
        None if listed.edge_weights is None else listed.edge_weights[kept],
        listed.vertex_weights,
        listed.labels,
        listed.index_base,
        source=replace(listed.source, lines=lines, has_row_per_edge=False),
        read_vertex_weights=listed.read_vertex_weights,
    )


def _from_networkx(graph: networkx.Graph) -> Graph:
    labels = list(graph.nodes)
    positions = {label: position for position, label in enumerate(labels)}
    listed = list(graph.edges(data="weight", default=1))
    ends = [np.fromiter(map(positions.__getitem__, map(itemgetter(end), listed)), np.int64, len(listed)) for end in (0, 1)]
    is_dense = set(map(type, labels)) <= {int} and labels == list(range(len(labels)))
    return Graph(
        len(labels),
        np.column_stack(ends),
        list(map(itemgetter(2), listed)),
        labels=None if is_dense else labels,
        source=Source(is_directed=graph.is_directed()),
        read_vertex_weights=lambda: [weight for _, weight in graph.nodes(data="weight", default=1)],
    )


def _from_sparse(matrix: Any) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGraph(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise InvalidGraph(f"an adjacency matrix has real entries, not {matrix.dtype}")
    by_row = scipy.sparse.csr_array(matrix, copy=True)
    if by_row.dtype.kind == "b":
        by_row = by_row.astype(np.int64)
    by_row.sum_duplicates()
    by_row.eliminate_zeros()
    entries = by_row.tocoo()
    finite = np.isfinite(entries.data)
    if not finite.all():
        entry = int(np.argmin(finite))
        raise InvalidGraph(f"entry ({entries.row[entry]}, {entries.col[entry]}) is {entries.data[entry]}; weights are finite")
    return without_mirror_images(Graph(matrix.shape[0], np.column_stack([entries.row, entries.col]), entries.data))


def _from_edge_array(edges: Any) -> Graph:
    rows = edges.tolist() if isinstance(edges, np.ndarray) and edges.dtype.kind in "OUS" else edges
    if isinstance(rows, (list, tuple)) and all(hasattr(row, "__len__") and len(row) == 2 for row in rows):
        return Graph(None, rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "iuf" and array.ndim == 2 and array.shape[1] in (2, 3):
        return Graph(None, array[:, :2], array[:, 2] if array.shape[1] == 3 else None)
    raise InvalidGraph(
        f"{as_written(edges)} is no graph; give a Graph, a NetworkX graph, a sparse matrix, or an array of shape (m, 2) or (m, 3)"
    )


def _as_list(values: Any) -> Any:
    return values if isinstance(values, (np.ndarray, list, tuple)) else list(values)
