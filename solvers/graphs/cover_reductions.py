"""Reductions of vertex cover and independent set that lose nothing; the rules are those of :mod:`solvers.graphs.cover_rules`.

Vertices of degree at most two come first, then all that have changed are looked at again until none can go, and last the half-integral
optimum of the linear relaxation settles vertices together (Nemhauser and Trotter): those of value 0 are in the independent set, those
of value 1 are not. Where all vertices weigh the same, so do all of the kernel.

The largest independent set of the graph weighs `constant` plus that of the kernel; the cover is what is left of the vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.garbage import without_collection
from solvers.graphs.cover_rules import (
    CONSTANT,
    DONE,
    LOG_FULL,
    LOG_USED,
    NEXT_CANDIDATE,
    NT,
    ROWS_FULL,
    RULE_NAMES,
    WORK,
    Desk,
    apply_rules,
    entry_ends,
    lift_independent_set,
    make_desk,
    restrict_independent_set,
    take_flow_out,
    worth_looking_at,
)
from solvers.graphs.csr import build_csr
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.shrinking_graph import ShrinkingGraph, build_shrinking_graph, repacked, what_is_left

WORK_PER_CALL = 500_000

# Rows read before the search for unconfined vertices is given up, per vertex and edge.
WORK_PER_ITEM = 30

# How often the linear relaxation may ask whether to stop, which it does about every tenth of a second, until it is given up. Flows
# of unit weight end long before; others on large sparse graphs can take minutes.
RELAXATION_LOOKS = 25

Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class CoverReduction:
    """What is left of a graph, and the way back.

    Attributes
    ----------
    kernel_vertices : int32 array of shape (k,)
        Vertices that are left, in increasing order.
    edges : int32 array of shape (mk, 2)
        Edges of the kernel between positions u < v in `kernel_vertices`, sorted.
    weights : int64 array of shape (k,)
        Positive.
    constant : int
        The largest independent set of the graph weighs this and that of the kernel.
    cover_constant : int
        So does the least cover.
    log : int64 array
        Steps in order, each as rule, number of vertices, vertices.
    num_vertices : int
        Of the graph that was reduced.
    """

    kernel_vertices: np.ndarray
    edges: np.ndarray
    weights: np.ndarray
    constant: int
    cover_constant: int
    log: np.ndarray
    num_vertices: int

    def steps(self, names: np.ndarray | None = None) -> list[list[str | int]]:
        """Return the steps for a certificate, ``[rule, vertex, ...]`` in order, in the numbers of the original vertices.

        Parameters
        ----------
        names : int array of shape (n,), optional
            Put in place of those numbers.

        Notes
        -----
        The first vertex is the one that leaves, but ``fold`` and ``twin`` keep it, for the vertex that stands for the others. Named
        with it are, by rule: all its neighbours (``degree_1``, ``degree_2_triangle``, ``fold``), the vertex that dominates it
        (``domination``), the vertices u of the chain (``unconfined``), the twin and, of unit weight, the three neighbours (``twin``).
        A step ``nt`` lists (covered vertex, neighbour in the set, amount) one after the other.
        """
        ends = self._ends
        starts = np.roll(ends, 1)
        starts[:1] = 0
        entries = (self.log if names is None else self._renamed(starts, ends, names)).tolist()
        with without_collection():
            return [
                [RULE_NAMES[entries[start]], *entries[start + 2 : end]]
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]

    def lift(self, members: np.ndarray) -> np.ndarray:
        """Return an independent set of the graph from one of the kernel; it weighs `constant` more.

        Parameters
        ----------
        members : bool array of shape (k,)

        Returns
        -------
        bool array of shape (n,)
        """
        lifted = np.zeros(self.num_vertices, np.bool_)
        lifted[self.kernel_vertices] = members
        lift_independent_set(self.log, self._ends, lifted)
        return lifted

    def lift_cover(self, members: np.ndarray) -> np.ndarray:
        """Return a cover of the graph from one of the kernel; it weighs `cover_constant` more.

        Parameters
        ----------
        members : bool array of shape (k,)

        Returns
        -------
        bool array of shape (n,)
        """
        return ~self.lift(~np.asarray(members, dtype=np.bool_))

    def restrict(self, members: np.ndarray) -> np.ndarray:
        """Return an independent set of the kernel that an independent set of the graph comes to; mostly its lift is no lighter.

        Parameters
        ----------
        members : bool array of shape (n,)

        Returns
        -------
        bool array of shape (k,)
        """
        remaining = np.array(members, dtype=np.bool_)
        restrict_independent_set(self.log, self._ends, remaining)
        kept: np.ndarray = remaining[self.kernel_vertices]
        return kept

    def _renamed(self, starts: np.ndarray, ends: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Return the log with `names` in place of the vertices' numbers."""
        is_vertex = np.ones(len(self.log), np.bool_)
        is_vertex[starts] = is_vertex[starts + 1] = False
        for step in np.flatnonzero(self.log[starts] == NT).tolist():
            is_vertex[starts[step] + 4 : ends[step] : 3] = False
        renamed = self.log.copy()
        renamed[is_vertex] = names[self.log[is_vertex]]
        return renamed

    @property
    def _ends(self) -> np.ndarray:
        ends = np.empty(len(self.log) // 3 + 1, np.int64)
        return ends[: entry_ends(self.log, len(self.log), ends)]


def reduce_cover(
    num_vertices: int,
    edges: np.ndarray,
    vertex_weights: np.ndarray,
    *,
    stop: Stop | None = None,
) -> CoverReduction:
    """Take out vertices until no rule applies, or finding one would take too long.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    vertex_weights : int array of shape (n,)
        Positive, adding up to less than 2^60.
    stop : callable, optional
        Asked now and then; once it answers True, the reduction ends where it is, which is still exact.

    Examples
    --------
    A cycle of five vertices vanishes; two of them are independent.

    >>> cycle = reduce_cover(5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], np.ones(5, np.int64))
    >>> len(cycle.kernel_vertices), cycle.constant, cycle.cover_constant
    (0, 2, 3)
    >>> cycle.steps()[0]
    ['fold', 0, 1, 4]
    >>> cycle.lift(np.zeros(0, bool)).sum()
    np.int64(2)
    """
    weights = np.asarray(vertex_weights, dtype=np.int64)
    run = _Run(num_vertices, np.asarray(edges, dtype=np.int32).reshape(-1, 2), weights, stop or _never)
    run.exhaust_rules()
    while run.settle():
        run.exhaust_rules()

    vertices, kernel_edges = what_is_left(run.graph)
    kernel_weights = run.graph.weight[vertices]
    constant = int(run.desk.state[CONSTANT])
    return CoverReduction(
        vertices,
        kernel_edges,
        kernel_weights,
        constant,
        int(weights.sum()) - constant - int(kernel_weights.sum()),
        run.desk.log[: run.desk.state[LOG_USED]].copy(),
        num_vertices,
    )


def _never() -> bool:
    return False


class _Run:
    """A reduction under way."""

    graph: ShrinkingGraph
    desk: Desk

    def __init__(self, num_vertices: int, edges: np.ndarray, weights: np.ndarray, stop: Stop) -> None:
        self.graph = build_shrinking_graph(num_vertices, edges, weights, spare=2 * len(edges))
        self.desk = make_desk(self.graph, 4 * num_vertices + 1000)
        self._is_unit = num_vertices == 0 or bool((weights == weights[0]).all())
        self._most_work = WORK_PER_ITEM * (num_vertices + len(edges))
        self._looks_left = RELAXATION_LOOKS
        self._stop = stop

    def exhaust_rules(self) -> None:
        """Apply the rules for single vertices until none applies."""
        none = candidates = np.zeros(0, np.int32)
        while not self._stop():
            status = apply_rules(self.graph, self.desk, candidates, self._is_unit, WORK_PER_CALL)
            if status == LOG_FULL:
                self._extend_log(len(self.desk.log))
            elif status == ROWS_FULL:
                self.graph = repacked(self.graph, spare=int(self.graph.degree[self.graph.is_left].sum(dtype=np.int64)))
            elif self.desk.state[WORK] > self._most_work:
                if status == DONE:
                    return
                candidates, self.desk.state[NEXT_CANDIDATE] = none, 0
            elif status == DONE:
                candidates = self._candidates()
                if not len(candidates):
                    return

    def settle(self) -> bool:
        """Take out what the linear relaxation settles; return whether that was anything."""
        if self._stop():
            return False
        vertices, edges = what_is_left(self.graph)
        if not len(edges):
            return False
        csr = build_csr(len(vertices), edges, np.ones(len(edges), np.int64))
        flow = half_integral_cover(csr, self.graph.weight[vertices], stop=self._is_relaxation_over).crown_flow()
        if not len(flow):
            return False
        self._extend_log(3 * len(flow) + 2)
        log, used = self.desk.log, self.desk.state[LOG_USED]
        log[used : used + 2] = NT, 3 * len(flow)
        entry = log[used + 2 : used + 2 + 3 * len(flow)].reshape(-1, 3)
        entry[:, :2], entry[:, 2] = vertices[flow[:, :2]], flow[:, 2]
        self.desk.state[LOG_USED] += 2 + 3 * len(flow)
        # Vertices of value 0 that give nothing stay behind without neighbours.
        take_flow_out(self.graph, self.desk, np.unique(entry[:, 0]), np.unique(entry[:, 1]))
        return True

    def _is_relaxation_over(self) -> bool:
        self._looks_left -= 1
        return self._looks_left < 0 or self._stop()

    def _candidates(self) -> np.ndarray:
        changed = self.desk.has_changed.copy()
        self.desk.has_changed[:] = False
        self.desk.state[NEXT_CANDIDATE] = 0
        candidates = np.empty(len(changed), np.int32)
        return candidates[: worth_looking_at(self.graph, changed, candidates)]

    def _extend_log(self, room: int) -> None:
        self.desk = self.desk._replace(log=np.concatenate((self.desk.log, np.empty(room, np.int64))))
