"""What is left to search of a graph for covers and independent sets once exact reductions are done, and the way back.

Everything is said of the independent set of greatest weight; a cover is what one leaves out. The weights are made integers, vertices
that weigh nothing and those with loops, which no independent set may hold, leave first, then others by the rules of
:mod:`solvers.graphs.cover_reductions`. The rest falls into connected components, which are searched and bounded apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from solvers.garbage import without_collection
from solvers.graphs.components import connected_components
from solvers.graphs.cover_reductions import reduce_cover
from solvers.graphs.csr import Csr, build_csr
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.kernel import SearchSpace, grouped
from solvers.graphs.min_degree_greedy import completed_in_order


class VertexComponent(NamedTuple):
    """A part of the kernel that shares no edge with the others, its vertices numbered from 0.

    Attributes
    ----------
    vertices : int32 array of shape (k,)
        Positions in the kernel, increasing.
    edges : int32 array of shape (e, 2)
    weights : int64 array of shape (k,)
        Of the vertices, positive.
    """

    vertices: np.ndarray
    edges: np.ndarray
    weights: np.ndarray

    @property
    def num_vertices(self) -> int:
        return len(self.vertices)

    @property
    def is_unit(self) -> bool:
        """Whether all vertices weigh the same."""
        return bool((self.weights == self.weights[:1]).all())

    def csr(self) -> Csr:
        """Return its adjacency."""
        return unweighted_csr(self.num_vertices, self.edges)


class CoverKernel:
    """The reduced graph of an instance of vertex cover or independent set.

    Parameters
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
        Simple, without loops.
    vertex_weights : array of shape (n,)
        Integers or floats, none negative.
    loops : int array
        Vertices that are joined to themselves.
    stop : callable, optional
        Ends the reductions early once it answers true.
    is_over : callable
        Whether there is no time left to search.

    Attributes
    ----------
    edges, weights
        Edges of the kernel and the int64 weights of its vertices, in kernel units: `unit` of them make one of the caller's.
    is_weightless : bool array of shape (n,)
        Vertices that were taken out first.
    base : Csr
        The graph without them, its vertices `base_vertices` in order, with weights `base_weights`.
    is_integral : bool
        Whether the caller's weights are integers, so that a bound may be rounded.
    rounding : float
        What a bound must allow for weights that were rounded, in the caller's unit.
    lightest : float
        Least magnitude of a weight of the caller's that is not 0.
    total : int
        Weight of all vertices, those with loops too, in kernel units.

    Examples
    --------
    >>> triangle = CoverKernel(3, np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 1]))
    >>> triangle.num_vertices, triangle.in_callers_unit(0), triangle.lift(np.zeros(0, np.int8)).sum()
    (0, 1, np.int64(1))
    """

    def __init__(
        self,
        num_vertices: int,
        edges: np.ndarray,
        vertex_weights: np.ndarray,
        loops: np.ndarray | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        grid = to_integers(vertex_weights)
        self.rounding = grid.rounding
        self.lightest = grid.lightest
        self.is_integral = grid.exponent <= 0 and grid.rounding == 0
        self.total = int(grid.weights.sum())
        self._exponent = grid.exponent
        self._original_edges = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
        self._has_loop = np.zeros(num_vertices, np.bool_)
        self._has_loop[np.asarray([] if loops is None else loops, dtype=np.int64)] = True
        self.is_weightless = (grid.weights == 0) | self._has_loop

        self.base_vertices = np.flatnonzero(~self.is_weightless)
        self.base_weights = grid.weights[self.base_vertices]
        self._base_edges = self._among(self.base_vertices)
        self.reduction = reduce_cover(len(self.base_vertices), self._base_edges, self.base_weights, stop=stop)
        self.is_reduced = len(self.base_vertices) < num_vertices or len(self.reduction.log) > 0
        # Where nothing has left, proofs name edges by the caller's rows.
        self.edges = self.reduction.edges if self.is_reduced else self._original_edges
        self.weights = self.reduction.weights
        self.num_vertices = len(self.reduction.kernel_vertices)
        self._is_cut_short = is_over()

    @cached_property
    def base(self) -> Csr:
        return unweighted_csr(len(self.base_vertices), self._base_edges)

    @cached_property
    def components(self) -> list[VertexComponent]:
        """The connected components, by their first vertex; all as one where there was no time to reduce the graph."""
        if self.num_vertices == 0:
            return []
        labels = np.zeros(0, np.int32) if self._is_cut_short else connected_components(self.num_vertices, self.edges)
        count = int(labels.max(initial=0)) + 1
        if count == 1:
            return [VertexComponent(np.arange(self.num_vertices, dtype=np.int32), self.edges, self.weights)]
        vertices, vertex_starts = grouped(labels, count)
        rows, row_starts = grouped(labels[self.edges[:, 0]], count)
        position = np.empty(self.num_vertices, np.int32)
        position[vertices] = np.arange(self.num_vertices) - np.repeat(vertex_starts[:-1], np.diff(vertex_starts))
        return [
            VertexComponent(vertices[a:b].astype(np.int32), position[self.edges[rows[c:d]]], self.weights[vertices[a:b]])
            for a, b, c, d in zip(vertex_starts[:-1], vertex_starts[1:], row_starts[:-1], row_starts[1:], strict=True)
        ]

    def in_callers_unit(self, kernel_value: float) -> float | int:
        """Return the weight of an independent set of the whole graph, or a bound on it, from that of the kernel."""
        return self._scaled(kernel_value + self.reduction.constant)

    def cover_value(self, kernel_value: float) -> float | int:
        """Return the weight of the cover that the independent set of :meth:`in_callers_unit` leaves."""
        return self._scaled(self.total - (kernel_value + self.reduction.constant))

    def _scaled(self, units: float) -> float | int:
        if self.is_integral and float(units).is_integer():
            return int(units) << -self._exponent
        return float(np.ldexp(units, -self._exponent))

    @property
    def scale(self) -> int:
        """Reduced weights are in the unit of the integers before."""
        return 1

    @property
    def unit(self) -> float:
        """Kernel units that make one of the caller's."""
        return float(np.ldexp(1.0, self._exponent))

    def steps(self) -> list[list[str | int]]:
        """Return the steps that lead from the caller's graph to the kernel, for a certificate."""
        with without_collection():
            weightless: list[list[str | int]] = [["weightless", vertex] for vertex in np.flatnonzero(self.is_weightless).tolist()]
        return weightless + self.reduction.steps(self.base_vertices)

    def lift(self, sides: np.ndarray) -> np.ndarray:
        """Return the best independent set of the whole graph that agrees with one of the kernel, without weightless vertices."""
        lifted = np.zeros(len(self.is_weightless), np.int8)
        lifted[self.base_vertices] = self.reduction.lift(np.asarray(sides, dtype=np.bool_))
        return lifted

    def with_free_vertices(self, members: np.ndarray) -> np.ndarray:
        """Return an independent set of the whole graph with vertices that weigh nothing added as far as it stays one."""
        order = np.flatnonzero(self.is_weightless & ~self._has_loop)
        if not len(order):
            return np.asarray(members, dtype=np.bool_)
        return completed_in_order(unweighted_csr(len(self.is_weightless), self._original_edges), members, order)

    def restrict(self, sides: np.ndarray) -> np.ndarray:
        """Return what an independent set of the graph without weightless vertices comes to in the kernel: one of it."""
        return np.ascontiguousarray(self.reduction.restrict(sides), dtype=np.int8)

    def _among(self, vertices: np.ndarray) -> np.ndarray:
        """Return the edges between some vertices, by their places among those."""
        if len(vertices) == len(self.is_weightless):
            return self._original_edges
        place = np.full(len(self.is_weightless), -1, np.int32)
        place[vertices] = np.arange(len(vertices))
        ends = place[self._original_edges]
        return ends[(ends >= 0).all(axis=1)]


class CoverSpace(SearchSpace[CoverKernel]):
    """The components of a :class:`CoverKernel` that are not settled, as one graph; a set has 1 where its members are."""

    @cached_property
    def csr(self) -> Csr:
        return unweighted_csr(self.num_vertices, self.edges)

    def part_values(self, sides: np.ndarray) -> np.ndarray:
        """Return the weight of an independent set in each open component, as an int64 array."""
        if not self.open:
            return np.zeros(0, np.int64)
        return np.add.reduceat(np.where(np.asarray(sides) == 1, self.weights, 0), [piece.start for piece in self.slices])


def unweighted_csr(num_vertices: int, edges: np.ndarray) -> Csr:
    """Return the adjacency of a graph whose edges have no weights."""
    return build_csr(num_vertices, edges, np.ones(len(edges), np.int64))
