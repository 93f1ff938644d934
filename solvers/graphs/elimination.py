"""Optima on graphs of small width, largest cuts above all, by dynamic programming over an order in which vertices are eliminated.

Eliminating a vertex joins all its remaining neighbours to each other; it needs a table over those, and the most neighbours that any
vertex has when its turn comes is the *width* of the order. Two orders are tried: least degree first, and reverse Cuthill-McKee,
which is narrow on long thin graphs such as grids. Time and memory grow with 2^width.

References
----------
U. Bertele and F. Brioschi, "Nonserial Dynamic Programming", Academic Press 1972.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from solvers.graphs.bag_tables import add_message, chosen_side, fill_cut, maximise, words_for
from solvers.graphs.csr import Csr, build_csr
from solvers.graphs.linked_graph import add_weight, build_linked_graph, take_out

MAX_WIDTH = 20
VERTICES_PER_CALL = 2_000


class EliminationOptimum(NamedTuple):
    """An optimum and the order that proves it.

    Attributes
    ----------
    value : int
    sides : int8 array of shape (n,)
        The 0 or 1 of every vertex.
    order : list of int
        What a certificate of kind ``elimination`` holds.
    """

    value: int
    sides: np.ndarray
    order: list[int]


class EliminationPlan(NamedTuple):
    """An order of elimination and what its tables take.

    Attributes
    ----------
    order : int32 array of shape (n,)
    scope_start : int64 array of shape (n + 1,)
    scopes : int32 array
        Places in the order of the vertices that the i-th one is joined to when its turn comes, the last first:
        ``scopes[scope_start[i]:scope_start[i + 1]]``.
    width : int
    table_entries : int
        Entries of all tables together: the time it takes, at about 5 ns each.
    peak_bytes : int
        Memory at the worst moment.
    """

    order: np.ndarray
    scope_start: np.ndarray
    scopes: np.ndarray
    width: int
    table_entries: int
    peak_bytes: int


def elimination_optimum(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    *,
    max_width: int = MAX_WIDTH,
    max_bytes: int = 2**30,
    max_table_entries: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> EliminationOptimum | None:
    """Return a largest cut, or None if the graph is too wide or its tables too large, or when told to stop.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (m,)
        Of any sign, their magnitudes adding up to less than 2^62.
    max_width, max_bytes, max_table_entries : int, optional
        Limits on the order, the memory, and the work, known before the first table is made.
    stop : callable, optional
        Asked before every table.

    Examples
    --------
    >>> elimination_optimum(5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], [1, 1, 1, 1, 1]).value
    4
    """
    plan = plan_elimination(num_vertices, edges, max_width=max_width, stop=stop)
    if plan is None or plan.peak_bytes > max_bytes or (max_table_entries is not None and plan.table_entries > max_table_entries):
        return None
    return _optimum(plan, edges, weights, stop or _never)


def plan_elimination(
    num_vertices: int, edges: np.ndarray, *, max_width: int = MAX_WIDTH, stop: Callable[[], bool] | None = None
) -> EliminationPlan | None:
    """Return the cheaper of the two orders, or None if neither is narrow enough, or when told to stop.

    Examples
    --------
    >>> plan_elimination(4, [[0, 1], [1, 2], [2, 3], [3, 0]]).width
    2
    """
    ends = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    # A graph of width w has fewer than w n edges.
    if num_vertices and len(ends) >= max(1, max_width) * num_vertices:
        return None
    csr = build_csr(num_vertices, ends, np.ones(len(ends), np.int64))
    plans = []
    for find_order in (_least_degree_order, _reverse_cuthill_mckee_order):
        order = find_order(csr, ends, max_width, stop or _never)
        plan = None if order is None else _plan(order, ends, max_width)
        if plan is not None:
            plans.append(plan)
    return min(plans, key=lambda plan: plan.table_entries, default=None)


def _never() -> bool:
    return False


def _least_degree_order(csr: Csr, edges: np.ndarray, max_width: int, stop: Callable[[], bool]) -> np.ndarray | None:
    n = csr.num_vertices
    # Every edge is taken out with one of its ends, at most max_width at a time, so that more than max_width n at once are too many.
    # The rest is for a moment's overlap; graphs whose edges more than treble have been too wide long before.
    most_edges = min(max(0, max_width) * n, 3 * len(edges)) + max_width**2
    graph = build_linked_graph(n, edges, np.ones(len(edges), np.int64), spare_edges=max(0, most_edges - len(edges)))
    order = np.empty(n, np.int32)
    first = np.full(max_width + 1, -1, np.int32)
    after, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    bucket = np.full(n, -1, np.int32)
    _sort_into_buckets(graph.degree, first, after, before, bucket)
    done = 0
    while done < n:
        if stop():
            return None
        reached = _eliminate_least_degree(graph, order, done, first, after, before, bucket, VERTICES_PER_CALL)
        if reached < 0:
            return None
        done = reached
    return order


def _reverse_cuthill_mckee_order(csr: Csr, edges: np.ndarray, max_width: int, stop: Callable[[], bool]) -> np.ndarray | None:
    if stop():
        return None
    n = csr.num_vertices
    links = csr_array((np.ones(len(csr.indices), np.int8), csr.indices, csr.indptr.astype(np.int32)), shape=(n, n))
    return np.asarray(reverse_cuthill_mckee(links, symmetric_mode=True), dtype=np.int32) if n else np.zeros(0, np.int32)


def _plan(order: np.ndarray, edges: np.ndarray, max_width: int) -> EliminationPlan | None:
    n = len(order)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    csr = build_csr(n, place[edges], np.zeros(len(edges), np.int64))
    scope_start, scopes = np.zeros(n + 1, np.int64), np.empty(n * max(0, max_width), np.int32)
    if not _find_scopes(csr.indptr, csr.indices, max_width, scope_start, scopes):
        return None
    sizes = np.diff(scope_start)
    choice_bytes = 8 * int(np.maximum(1, (1 << sizes) >> 6).sum())
    width = int(sizes.max(initial=0))
    live = int(_most_live_entries(scope_start, scopes))
    # Messages that wait, two tables, and an index of half the bytes.
    peak = choice_bytes + 8 * live + 20 * (1 << width)
    return EliminationPlan(order, scope_start, scopes[: scope_start[-1]].copy(), width, int((2 << sizes).sum()), peak)


def _optimum(
    plan: EliminationPlan, edges: np.ndarray, weights: np.ndarray, stop: Callable[[], bool]
) -> EliminationOptimum | None:
    csr = csr_in_order(plan, edges, weights)
    return optimum_by_tables(plan, lambda v, scope, on_0, on_1: _start_tables(csr, v, scope, on_0, on_1), stop)


def csr_in_order(plan: EliminationPlan, edges: np.ndarray, weights: np.ndarray) -> Csr:
    """Return the adjacency of a graph, its vertices numbered by their places in the order."""
    place = np.empty(len(plan.order), np.int32)
    place[plan.order] = np.arange(len(plan.order), dtype=np.int32)
    return build_csr(len(plan.order), place[np.asarray(edges, dtype=np.int32).reshape(-1, 2)], weights)


def optimum_by_tables(
    plan: EliminationPlan, start_tables: Callable[[int, np.ndarray, np.ndarray, np.ndarray], None], stop: Callable[[], bool]
) -> EliminationOptimum | None:
    """Return the optimum of any problem that gives every vertex a 0 or a 1, a sum of terms that concern a vertex and its neighbours.

    Parameters
    ----------
    plan : EliminationPlan
    start_tables : callable
        ``start_tables(v, scope, on_0, on_1)`` fills in the two tables of the vertex at place `v` with the terms that concern it and
        vertices of its scope only.
    stop : callable
        Asked before every table; once true, None is returned.
    """
    n = len(plan.order)
    room = 1 << plan.width
    on_0, on_1, index = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int32)
    random_state = np.zeros(1, np.uint64)
    inbox: list[list[tuple[int, np.ndarray]]] = [[] for _ in range(n)]
    choices = []
    value = 0
    for v in range(n):
        if stop():
            return None
        scope = _scope(plan, v)
        start_tables(v, scope, on_0, on_1)
        for child, message in inbox[v]:
            _take_message(_scope(plan, child), scope, message, on_0, on_1, index)
        inbox[v] = []
        message = np.empty(1 << len(scope), np.int64)
        choices.append(np.empty(words_for(len(scope)), np.uint64))
        maximise(on_0, on_1, len(scope), message, choices[v], random_state)
        if len(scope):
            inbox[scope[-1]].append((v, message))
        else:
            value += int(message[0])
    in_order = np.empty(n, np.int8)
    for v in range(n - 1, -1, -1):
        _place_vertex(v, _scope(plan, v), choices[v], in_order)
    sides = np.empty(n, np.int8)
    sides[plan.order] = in_order
    return EliminationOptimum(value, sides, plan.order.tolist())


def _scope(plan: EliminationPlan, v: int) -> np.ndarray:
    return plan.scopes[plan.scope_start[v] : plan.scope_start[v + 1]]


@njit(cache=True, nogil=True)
def _start_tables(csr, v, scope, on_0, on_1):  # type: ignore[no-untyped-def]
    weights = np.zeros(len(scope), np.int64)
    # Both the scope, backwards, and the row of v are increasing.
    slot = csr.indptr[v + 1] - 1
    for bit in range(len(scope)):
        while slot >= csr.indptr[v] and csr.indices[slot] > scope[bit]:
            slot -= 1
        if slot >= csr.indptr[v] and csr.indices[slot] == scope[bit]:
            weights[bit] = csr.weights[slot]
    fill_cut(on_0, on_1, np.int64(0), np.int64(0), weights, len(scope))


@njit(cache=True, nogil=True)
def _take_message(child_scope, scope, message, on_0, on_1, index):  # type: ignore[no-untyped-def]
    bits = np.zeros(len(scope), np.int32)
    child_bit = 0
    for bit in range(len(scope)):
        if child_bit < len(child_scope) and child_scope[child_bit] == scope[bit]:
            bits[bit] = 1 << child_bit
            child_bit += 1
    add_message(on_0, on_1, message, bits, len(scope), len(child_scope), index)


@njit(cache=True, nogil=True)
def _place_vertex(v, scope, choices, sides):  # type: ignore[no-untyped-def]
    index = np.int64(0)
    for bit in range(len(scope)):
        index |= np.int64(sides[scope[bit]]) << bit
    sides[v] = chosen_side(choices, index)


@njit(cache=True, nogil=True)
def _find_scopes(indptr, indices, max_width, scope_start, scopes):  # type: ignore[no-untyped-def]
    """Fill in the scope of every vertex, whose place is its number; return False as soon as one exceeds `max_width`."""
    n = indptr.shape[0] - 1
    seen_at = np.full(n, -1, np.int32)
    first_child, next_child = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    found = np.empty(max(0, max_width), np.int32)
    for v in range(n):
        size = 0
        child = first_child[v]
        slot, end = indptr[v], indptr[v + 1]
        source = -1
        # First the neighbours, then the scopes of the children.
        while True:
            while slot < end:
                u = indices[slot] if source < 0 else scopes[slot]
                slot += 1
                if u <= v or seen_at[u] == v:
                    continue
                if size >= max_width:
                    return False
                seen_at[u] = v
                place = size
                while place > 0 and found[place - 1] < u:
                    found[place] = found[place - 1]
                    place -= 1
                found[place] = u
                size += 1
            source = child
            if source < 0:
                break
            slot, end = scope_start[source], scope_start[source + 1]
            child = next_child[source]
        begin = scope_start[v]
        scope_start[v + 1] = begin + size
        for i in range(size):
            scopes[begin + i] = found[i]
        if size > 0:
            receiver = found[size - 1]
            next_child[v] = first_child[receiver]
            first_child[receiver] = v
    return True


@njit(cache=True, nogil=True)
def _most_live_entries(scope_start, scopes):  # type: ignore[no-untyped-def]
    """Return the most entries of messages that wait at one time."""
    n = scope_start.shape[0] - 1
    waiting = np.zeros(n, np.int64)
    live = most = np.int64(0)
    for v in range(n):
        size = scope_start[v + 1] - scope_start[v]
        live += np.int64(1) << size
        most = max(most, live)
        live -= waiting[v]
        if size > 0:
            waiting[scopes[scope_start[v + 1] - 1]] += np.int64(1) << size
        else:
            live -= 1
    return most


@njit(cache=True, nogil=True)
def _put_into_bucket(v, degree, first, after, before, bucket):  # type: ignore[no-untyped-def]
    """Move `v` to the bucket of its degree; there is none for degrees that are too large."""
    old = bucket[v]
    if old >= 0:
        if before[v] >= 0:
            after[before[v]] = after[v]
        else:
            first[old] = after[v]
        if after[v] >= 0:
            before[after[v]] = before[v]
    bucket[v] = -1
    if degree < first.shape[0]:
        bucket[v] = degree
        before[v], after[v] = -1, first[degree]
        if first[degree] >= 0:
            before[first[degree]] = v
        first[degree] = v


@njit(cache=True, nogil=True)
def _sort_into_buckets(degree, first, after, before, bucket):  # type: ignore[no-untyped-def]
    for v in range(degree.shape[0] - 1, -1, -1):
        _put_into_bucket(v, degree[v], first, after, before, bucket)


@njit(cache=True, nogil=True)
def _eliminate_least_degree(graph, order, done, first, after, before, bucket, budget):  # type: ignore[no-untyped-def]
    """Eliminate up to `budget` vertices; return how many are done, or -1 if the next one exceeds the width."""
    neighbours = np.empty(first.shape[0], np.int32)
    weights = np.empty(first.shape[0], np.int64)
    end = min(order.shape[0], done + budget)
    least = 0
    while done < end:
        while least < first.shape[0] and first[least] < 0:
            least += 1
        if least == first.shape[0]:
            return -1
        v = first[least]
        order[done] = v
        done += 1
        _put_into_bucket(v, first.shape[0], first, after, before, bucket)
        size = take_out(graph, v, neighbours, weights)
        if graph.num_unused[0] < size * (size - 1) // 2:
            return -1
        for i in range(size):
            for j in range(i):
                add_weight(graph, neighbours[i], neighbours[j], np.int64(1))
        for i in range(size):
            _put_into_bucket(neighbours[i], graph.degree[neighbours[i]], first, after, before, bucket)
        least = max(0, least - 1)
    return done
