"""What is left to search of a graph for MaxCut once exact reductions are done, and the way back to the caller's numbers.

The weights are made integers, vertices of degree at most three leave, and the rest falls into connected components, which are
searched and bounded apart. A component whose optimum is known early is settled: its sides are fixed and the search no longer
sees it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.components import connected_components
from solvers.graphs.csr import Csr, build_csr, cut_value
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.reductions import reduce_max_cut


class Component(NamedTuple):
    """A part of the kernel that shares no edge with the others, its vertices numbered from 0.

    Attributes
    ----------
    vertices : int32 array of shape (k,)
        Positions in the kernel, increasing.
    edges : int32 array of shape (e, 2)
    weights : int64 array of shape (e,)
    """

    vertices: np.ndarray
    edges: np.ndarray
    weights: np.ndarray

    @property
    def num_vertices(self) -> int:
        return len(self.vertices)

    def csr(self) -> Csr:
        """Return its adjacency."""
        return build_csr(self.num_vertices, self.edges, self.weights)


class Kernel:
    """The reduced graph of a MaxCut instance.

    Parameters
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
    weights : array of shape (m,)
        Integers or floats of any sign.
    stop : callable, optional
        Ends the reductions early once it answers true.

    Attributes
    ----------
    edges, weights
        Edges of the kernel and their int64 weights, in kernel units: `unit` of them make one of the caller's.
    is_integral : bool
        Whether the caller's weights are integers, so that a bound may be rounded down.
    rounding : float
        What a bound must allow for weights that were rounded, in the caller's unit.
    lightest : float
        Least magnitude of a weight of the caller's that is not 0.

    Examples
    --------
    >>> triangle = Kernel(3, np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 1]))
    >>> triangle.num_vertices, triangle.in_callers_unit(0)
    (0, 2)
    """

    def __init__(
        self, num_vertices: int, edges: np.ndarray, weights: np.ndarray, *, stop: Callable[[], bool] | None = None
    ) -> None:
        grid = to_integers(weights)
        self.rounding = grid.rounding
        self.lightest = grid.lightest
        self.is_integral = grid.exponent <= 0 and grid.rounding == 0
        self._exponent = grid.exponent
        self._original = (np.asarray(edges, dtype=np.int32).reshape(-1, 2), grid.weights)
        self.reduction = reduce_max_cut(num_vertices, *self._original, stop=stop)
        self.edges = self.reduction.edges
        self.weights = self.reduction.weights
        self.num_vertices = len(self.reduction.kernel_vertices)
        self._is_cut_short = stop is not None and stop()

    @cached_property
    def original_csr(self) -> Csr:
        """Adjacency of the caller's graph, with the integer weights."""
        return build_csr(self.reduction.num_vertices, *self._original)

    @property
    def is_reduced(self) -> bool:
        """Whether any vertex left."""
        return len(self.reduction.eliminated) > 0

    @property
    def scale(self) -> int:
        """The unit of the reduced weights is so many times finer than that of the integers before."""
        return self.reduction.scale

    def steps(self) -> list[list[Any]]:
        """Return the reductions for a certificate."""
        return self.reduction.steps()

    @cached_property
    def components(self) -> list[Component]:
        """The connected components, by their first vertex; all as one where there was no time to reduce the graph."""
        if self.num_vertices == 0:
            return []
        if self._is_cut_short:
            # What is not reduced may fall into a million pieces, some without an edge, and nobody will search them apart any more.
            return [self._as_one_component()]
        labels = connected_components(self.num_vertices, self.edges)
        count = int(labels.max()) + 1
        if count == 1:
            return [self._as_one_component()]
        vertices, vertex_starts = grouped(labels, count)
        rows, row_starts = grouped(labels[self.edges[:, 0]], count)
        position = np.empty(self.num_vertices, np.int32)
        position[vertices] = np.arange(self.num_vertices) - np.repeat(vertex_starts[:-1], np.diff(vertex_starts))
        return [
            Component(vertices[a:b].astype(np.int32), position[self.edges[rows[c:d]]], self.weights[rows[c:d]])
            for a, b, c, d in zip(vertex_starts[:-1], vertex_starts[1:], row_starts[:-1], row_starts[1:], strict=True)
        ]

    def _as_one_component(self) -> Component:
        return Component(np.arange(self.num_vertices, dtype=np.int32), self.edges, self.weights)

    def in_callers_unit(self, kernel_value: float) -> float | int:
        """Return the value of a cut of the whole graph, or a bound on it, from that of the kernel."""
        total = kernel_value + self.reduction.constant
        if self.is_integral and isinstance(total, int) and total % self.reduction.scale == 0:
            return (total // self.reduction.scale) << -self._exponent
        return float(np.ldexp(total / self.reduction.scale, -self._exponent))

    @property
    def unit(self) -> float:
        """Kernel units that make one of the caller's."""
        return float(np.ldexp(self.reduction.scale, self._exponent))

    def lift(self, sides: np.ndarray) -> np.ndarray:
        """Return the best cut of the whole graph that agrees with one of the kernel; its vertex 0 lies on side 0."""
        lifted = self.reduction.lift(sides)
        return lifted ^ lifted[0] if len(lifted) else lifted

    def restrict(self, sides: np.ndarray) -> np.ndarray:
        """Return what a cut of the whole graph says of the kernel."""
        return np.ascontiguousarray(sides[self.reduction.kernel_vertices], dtype=np.int8)


class Part(Protocol):
    """A connected component of a kernel; its weights are those of its edges or of its vertices."""

    @property
    def vertices(self) -> np.ndarray: ...

    @property
    def edges(self) -> np.ndarray: ...

    @property
    def weights(self) -> np.ndarray: ...

    @property
    def num_vertices(self) -> int: ...

    def csr(self) -> Csr: ...


class ReducedGraph(Protocol):
    """What a search needs to know of a kernel, whatever the problem."""

    num_vertices: int
    edges: np.ndarray
    is_integral: bool
    rounding: float
    lightest: float

    @property
    def components(self) -> Sequence[Part]: ...

    @property
    def is_reduced(self) -> bool: ...

    @property
    def scale(self) -> int: ...

    @property
    def unit(self) -> float: ...

    def in_callers_unit(self, kernel_value: float) -> float | int: ...

    def steps(self) -> list[list[Any]]: ...

    def lift(self, sides: np.ndarray) -> np.ndarray: ...

    def restrict(self, sides: np.ndarray) -> np.ndarray: ...


AnyKernel = TypeVar("AnyKernel", bound=ReducedGraph)


class SearchSpace(Generic[AnyKernel]):
    """The components of a kernel that are not settled, as one graph, with what is known of the others.

    Parameters
    ----------
    kernel : Kernel or another reduced graph
    settled : mapping of int to (value, sides, bound)
        By index of the component; value and bound in kernel units.
    """

    def __init__(self, kernel: AnyKernel, settled: Mapping[int, tuple[int, np.ndarray, Bound]]) -> None:
        self.kernel = kernel
        self.settled = settled
        self.open = [index for index in range(len(kernel.components)) if index not in settled]
        self.settled_value = sum(value for value, _, _ in settled.values())
        parts = [kernel.components[index] for index in self.open]
        self.vertices = np.concatenate([part.vertices for part in parts]) if parts else np.zeros(0, np.int32)
        starts = np.cumsum([0] + [part.num_vertices for part in parts])
        self.slices = [slice(int(a), int(b)) for a, b in itertools.pairwise(starts)]
        self.edges = _stacked([part.edges + np.int32(start) for part, start in zip(parts, starts[:-1], strict=True)])
        self.weights = np.concatenate([part.weights for part in parts]) if parts else np.zeros(0, np.int64)
        self._first_edges = np.cumsum([0] + [len(part.weights) for part in parts])[:-1]

    @cached_property
    def csr(self) -> Csr:
        return build_csr(len(self.vertices), self.edges, self.weights)

    @property
    def num_vertices(self) -> int:
        return len(self.vertices)

    def csr_of(self, part: int) -> Csr:
        """Return the adjacency of an open component."""
        return self.csr if len(self.open) == 1 else self.kernel.components[self.open[part]].csr()

    def part_values(self, sides: np.ndarray) -> np.ndarray:
        """Return the value of a cut on each open component, as an int64 array."""
        if len(self.open) == 1:
            return np.array([cut_value(self.edges, self.weights, sides)], np.int64)
        if not self.open:
            return np.zeros(0, np.int64)
        separated = sides[self.edges[:, 0]] != sides[self.edges[:, 1]]
        return np.add.reduceat(np.where(separated, self.weights, 0), self._first_edges)

    def to_kernel(self, sides: np.ndarray) -> np.ndarray:
        """Return a cut of the kernel from one of this space."""
        whole = np.zeros(self.kernel.num_vertices, np.int8)
        whole[self.vertices] = sides
        for index, (_, fixed, _) in self.settled.items():
            whole[self.kernel.components[index].vertices] = fixed
        return whole

    def from_original(self, sides: np.ndarray) -> np.ndarray:
        """Return what a cut of the caller's graph says of this space."""
        return np.ascontiguousarray(self.kernel.restrict(sides)[self.vertices])


def grouped(labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the labels 0, 1, .., those of each label in increasing order, and where each label's begin and end."""
    return np.argsort(labels, kind="stable"), np.concatenate(([0], np.cumsum(np.bincount(labels, minlength=count))))


def _stacked(blocks: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(blocks) if blocks else np.zeros((0, 2), np.int32)
