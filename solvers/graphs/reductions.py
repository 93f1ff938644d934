"""Reductions of maximum cut that lose nothing: vertices with at most three neighbours leave the graph, whatever the signs.

A vertex v with edges of weight a, b, c to p, q, r adds to a cut the better of its two sides, a function of which neighbours are
separated from which. That function is a constant plus weights on the edges between the neighbours, so v can go:

- degree 0: nothing; degree 1: constant += max(0, a);
- degree 2: k = max(0, a + b); constant += k, edge pq += max(a, b) - k;
- degree 3: k = max(0, a + b + c), f_p = max(a, b + c), f_q = max(b, a + c), f_r = max(c, a + b);
  constant += k, edge pq += (f_p + f_q - f_r - k) / 2, edges pr and qr likewise.

Weights are doubled first, since halves appear. Quarters never do: the doubled weights at every vertex sum to an even number, and
keep doing so, for where a + b + c is even f_p has the parity of a and k is even; the numerators then are even too. Edges of weight 0
are no edges and parallel edges add up. The vertices come back in reverse order, each on the better side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.garbage import without_collection
from solvers.graphs.linked_graph import ABSENT, LinkedGraph, add_weight, build_linked_graph, take_out

SCALE = 2
LARGEST_DEGREE = 3
VERTICES_PER_CALL = 100_000


@dataclass(frozen=True, eq=False)
class Reduction:
    """What is left of a graph, and the way back.

    The largest cut of the graph is ``(constant + largest cut of the kernel) / scale``.

    Attributes
    ----------
    kernel_vertices : int32 array of shape (k,)
        Vertices that are left, in increasing order.
    edges : int32 array of shape (mk, 2)
        Edges of the kernel between positions u < v in `kernel_vertices`, sorted.
    weights : int64 array of shape (mk,)
        Never 0, `scale` times those of the graph.
    constant : int
        What the vertices that left are worth, in the unit of `weights`.
    scale : int
    eliminated : int32 array of shape (s, 5)
        In the order in which they left: number of neighbours, vertex, neighbours in increasing order, padded with -1.
    eliminated_weights : int64 array of shape (s, 3)
        Weights of the edges to those neighbours at that time.
    """

    kernel_vertices: np.ndarray
    edges: np.ndarray
    weights: np.ndarray
    constant: int
    scale: int
    eliminated: np.ndarray
    eliminated_weights: np.ndarray

    @property
    def num_vertices(self) -> int:
        """Number of vertices of the graph that was reduced."""
        return len(self.kernel_vertices) + len(self.eliminated)

    def steps(self) -> list[list[str | int]]:
        """Return the steps for a certificate: ``["degree_2", vertex, neighbour, neighbour]``, in order.

        Whoever replays them on the graph with its edges of weight 0 left out, dropping others when their weight becomes 0, finds
        exactly these neighbours at each step.
        """
        names = [f"degree_{degree}" for degree in range(LARGEST_DEGREE + 1)]
        with without_collection():
            return [[names[degree], *vertices[: degree + 1]] for degree, *vertices in self.eliminated.tolist()]

    def lift(self, sides: np.ndarray) -> np.ndarray:
        """Return the best cut of the graph that agrees with a cut of the kernel.

        Parameters
        ----------
        sides : int8 array of shape (k,)

        Returns
        -------
        int8 array of shape (n,)
            Its value times `scale` is `constant` plus the value of the cut of the kernel.
        """
        lifted = np.zeros(self.num_vertices, np.int8)
        lifted[self.kernel_vertices] = sides
        _put_back(self.eliminated, self.eliminated_weights, lifted)
        return lifted


def reduce_max_cut(
    num_vertices: int, edges: np.ndarray, weights: np.ndarray, *, stop: Callable[[], bool] | None = None
) -> Reduction:
    """Take out vertices with at most three neighbours until there are none.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (m,)
        Of any sign, their magnitudes adding up to less than 2^60.
    stop : callable, optional
        Asked now and then; once it answers True, the reduction ends where it is, which is still exact.

    Notes
    -----
    O(n + m) expected: no step adds more edges than it takes out.

    Examples
    --------
    A cycle of five vertices vanishes; its largest cut has four edges.

    >>> cycle = reduce_max_cut(5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], [1, 1, 1, 1, 1])
    >>> len(cycle.kernel_vertices), cycle.constant / cycle.scale
    (0, 4.0)
    >>> cycle.steps()[0]
    ['degree_2', 0, 1, 4]
    """
    ends = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    doubled = SCALE * np.asarray(weights, dtype=np.int64)
    degrees = np.bincount(ends[doubled != 0].ravel(), minlength=num_vertices)
    eliminated = np.empty((num_vertices, LARGEST_DEGREE + 2), np.int32)
    eliminated_weights = np.empty((num_vertices, LARGEST_DEGREE), np.int64)
    has_no_time = stop is not None and stop()
    if num_vertices == 0 or degrees.min() > LARGEST_DEGREE or has_no_time:
        return _untouched(num_vertices, ends, doubled, eliminated, eliminated_weights)

    graph = build_linked_graph(num_vertices, ends, doubled)
    queue = np.zeros(num_vertices, np.int32)
    candidates = np.flatnonzero(graph.degree <= LARGEST_DEGREE)
    queue[: len(candidates)] = candidates
    is_queued = graph.degree <= LARGEST_DEGREE
    has_left = np.zeros(num_vertices, np.bool_)
    state = np.array([0, len(candidates), 0, 0], np.int64)
    while state[_LENGTH] > 0 and not (stop is not None and stop()):
        _eliminate(graph, queue, is_queued, has_left, eliminated, eliminated_weights, state, VERTICES_PER_CALL)

    kernel = np.flatnonzero(~has_left).astype(np.int32)
    kernel_edges, kernel_weights = _sorted_edges(graph, kernel)
    count = int(state[_LEFT])
    return Reduction(
        kernel,
        kernel_edges,
        kernel_weights,
        int(state[_CONSTANT]),
        SCALE,
        eliminated[:count].copy(),
        eliminated_weights[:count].copy(),
    )


# Places in the state of an elimination: first of the queue, its length, vertices that left, constant so far.
_HEAD, _LENGTH, _LEFT, _CONSTANT = range(4)


def _untouched(
    num_vertices: int, edges: np.ndarray, weights: np.ndarray, eliminated: np.ndarray, eliminated_weights: np.ndarray
) -> Reduction:
    ends, order = _sorted_ends(edges[weights != 0])
    vertices = np.arange(num_vertices, dtype=np.int32)
    return Reduction(vertices, ends, weights[weights != 0][order], 0, SCALE, eliminated[:0].copy(), eliminated_weights[:0].copy())


def _sorted_edges(graph: LinkedGraph, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    position = np.zeros(len(graph.degree), np.int32)
    position[kernel] = np.arange(len(kernel), dtype=np.int32)
    used = np.ones(len(graph.weight), np.bool_)
    used[graph.unused[: graph.num_unused[0]]] = False
    ends, order = _sorted_ends(position[graph.target.reshape(-1, 2)[used]])
    return ends, graph.weight[used][order]


def _sorted_ends(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges with u < v in lexicographic order, and the permutation."""
    keys = np.minimum(edges[:, 0], edges[:, 1]).astype(np.int64) << 32 | np.maximum(edges[:, 0], edges[:, 1])
    # One sort of integers takes a fraction of a lexicographic one's time.
    order = np.argsort(keys)
    keys = keys[order]
    return np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32), order


@njit(cache=True, nogil=True)
def _eliminate(graph, queue, is_queued, has_left, eliminated, eliminated_weights, state, budget):  # type: ignore[no-untyped-def]
    """Work on up to `budget` vertices of the queue, a ring."""
    n = queue.shape[0]
    p = np.empty(LARGEST_DEGREE, np.int32)
    w = np.empty(LARGEST_DEGREE, np.int64)
    while state[_LENGTH] > 0 and budget > 0:
        budget -= 1
        v = queue[state[_HEAD]]
        state[_HEAD] = (state[_HEAD] + 1) % n
        state[_LENGTH] -= 1
        is_queued[v] = False
        if graph.degree[v] > LARGEST_DEGREE:
            continue
        degree = take_out(graph, v, p, w)
        has_left[v] = True
        step = state[_LEFT]
        state[_LEFT] += 1
        eliminated[step, 0] = degree
        eliminated[step, 1] = v
        eliminated[step, 2:] = ABSENT
        for i in range(degree):
            eliminated[step, 2 + i] = p[i]
            eliminated_weights[step, i] = w[i]
        state[_CONSTANT] += _join_neighbours(graph, degree, p, w)
        for i in range(degree):
            if graph.degree[p[i]] <= LARGEST_DEGREE and not is_queued[p[i]]:
                is_queued[p[i]] = True
                queue[(state[_HEAD] + state[_LENGTH]) % n] = p[i]
                state[_LENGTH] += 1


@njit(cache=True, nogil=True)
def _join_neighbours(graph, degree, p, w):  # type: ignore[no-untyped-def]
    """Put the function of a vertex that leaves on the edges between its neighbours; return the constant."""
    if degree == 0:
        return np.int64(0)
    if degree == 1:
        return max(np.int64(0), w[0])
    if degree == 2:
        constant = max(np.int64(0), w[0] + w[1])
        add_weight(graph, p[0], p[1], max(w[0], w[1]) - constant)
        return constant
    constant = max(np.int64(0), w[0] + w[1] + w[2])
    f0, f1, f2 = max(w[0], w[1] + w[2]), max(w[1], w[0] + w[2]), max(w[2], w[0] + w[1])
    add_weight(graph, p[0], p[1], (f0 + f1 - f2 - constant) >> 1)
    add_weight(graph, p[0], p[2], (f0 + f2 - f1 - constant) >> 1)
    add_weight(graph, p[1], p[2], (f1 + f2 - f0 - constant) >> 1)
    return constant


@njit(cache=True, nogil=True)
def _put_back(eliminated, eliminated_weights, sides):  # type: ignore[no-untyped-def]
    for step in range(eliminated.shape[0] - 1, -1, -1):
        pull = np.int64(0)
        for i in range(eliminated[step, 0]):
            weight = eliminated_weights[step, i]
            pull += weight if sides[eliminated[step, 2 + i]] == 0 else -weight
        sides[eliminated[step, 1]] = 1 if pull > 0 else 0
