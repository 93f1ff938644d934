"""The rules by which vertices leave a graph without loss for vertex cover and independent set, as kernels.

All are stated for the independent set of largest weight; w is the weight of a vertex, N[v] the closed neighbourhood of v.

- *simplicial* (degree 0 and 1, triangle): the neighbours of v form a clique. The set takes v or one of them, so that w(v) is gained and
  each neighbour is worth w(v) less; one that is then worth nothing leaves.
- *fold*: v has two neighbours a, b that are not adjacent, neither heavier than v. The set takes v, or both: w(v) is gained, and v stays
  for "both" with weight w(a) + w(b) - w(v) and their neighbours.
- *unconfined*: assume that every best set contains S = {v}. A u outside with w(u) >= w(N(u) & S) could take the place of those, unless
  another of its neighbours outside N[S] is taken: if there is none, some best set does without v and v leaves; if there is only one, it
  belongs to S as well. *Domination* is the case in which the first u has none: N[u] is part of N[v].
- *twin*: u, v not adjacent with N(u) = N(v) are taken together or not at all. With unit weights and three neighbours a, b, c they
  are taken if two of those are adjacent, else they fold with them as above.

References
----------
M. Xiao and H. Nagamochi, "Confining sets and avoiding bottleneck cases", Theoretical Computer Science 469 (2013).
T. Akiba and Y. Iwata, "Branch-and-reduce exponential/FPT algorithms in practice", Theoretical Computer Science 609 (2016).
S. Lamm, C. Schulz, D. Strash, R. Williger, H. Zhang, "Exactly solving the maximum weight independent set problem", ALENEX 2019.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.shrinking_graph import ShrinkingGraph, compacted_row, merge_into, take_vertex_out

DEGREE_0, DEGREE_1, DEGREE_2_TRIANGLE, FOLD, DOMINATION, UNCONFINED, TWIN, NT = range(8)
RULE_NAMES = ("degree_0", "degree_1", "degree_2_triangle", "fold", "domination", "unconfined", "twin", "nt")

# How far a chain of forced vertices is followed, and how long a row a twin is looked for in.
LONGEST_CHAIN = 16
LONGEST_TWIN_ROW = 256

# The longest entry of the log that these rules write, its head included.
LONGEST_ENTRY = 3 + LONGEST_CHAIN

# Places in the state: constant, entries used of the log, candidates looked at, length of the stack of low degrees, last stamp, work.
CONSTANT, LOG_USED, NEXT_CANDIDATE, LOW_SIZE, STAMP, WORK = range(6)

# Why a call of the kernel ended.
DONE, PAUSED, LOG_FULL, ROWS_FULL = range(4)


class Desk(NamedTuple):
    """What the rules note down.

    Attributes
    ----------
    state : int64 array
    log : int64 array
        Entries one after the other: rule, number of vertices, vertices.
    low, is_low : int32 and bool arrays of shape (n,)
        Stack of vertices of degree at most two.
    has_changed : bool array of shape (n,)
        Vertices that have lost neighbours, weight, or have been merged since the candidates were chosen.
    mark, inner : int64 arrays of shape (n,)
        The stamp of the last procedure that marked the vertex, and the weight of its neighbours in S.
    fringe : int32 array of shape (n,)
    """

    state: np.ndarray
    log: np.ndarray
    low: np.ndarray
    is_low: np.ndarray
    has_changed: np.ndarray
    mark: np.ndarray
    inner: np.ndarray
    fringe: np.ndarray


def make_desk(graph: ShrinkingGraph, log_size: int) -> Desk:
    """Return an empty desk with all vertices of low degree on the stack."""
    n = len(graph.degree)
    low = np.flatnonzero(graph.degree <= 2).astype(np.int32)[::-1]
    state = np.zeros(6, np.int64)
    state[LOW_SIZE] = len(low)
    return Desk(
        state=state,
        log=np.empty(log_size, np.int64),
        low=np.concatenate((low, np.empty(n - len(low), np.int32))),
        is_low=graph.degree <= 2,
        has_changed=np.ones(n, np.bool_),
        mark=np.zeros(n, np.int64),
        inner=np.zeros(n, np.int64),
        fringe=np.empty(n, np.int32),
    )


@njit(cache=True, nogil=True)
def apply_rules(graph, desk, candidates, is_unit, budget):  # type: ignore[no-untyped-def]
    """Apply rules to the low vertices and to the candidates until they are through or `budget` is spent; return why it ended."""
    state = desk.state
    limit = state[WORK] + budget
    while state[WORK] < limit:
        if state[LOG_USED] + LONGEST_ENTRY > desk.log.shape[0]:
            return LOG_FULL
        state[WORK] += 1
        if state[LOW_SIZE] > 0:
            state[LOW_SIZE] -= 1
            v = desk.low[state[LOW_SIZE]]
            desk.is_low[v] = False
            if graph.is_left[v] and graph.degree[v] <= 2 and not _take_low_vertex(graph, desk, v):
                _touch(graph, desk, v)
                return ROWS_FULL
            continue
        if state[NEXT_CANDIDATE] == candidates.shape[0]:
            return DONE
        v = candidates[state[NEXT_CANDIDATE]]
        if graph.is_left[v] and graph.degree[v] > 0 and not _is_unconfined(graph, desk, v):
            if is_unit:
                if graph.degree[v] == 3 and not _join_unit_twins(graph, desk, v):
                    return ROWS_FULL
            else:
                _join_twins(graph, desk, v)
        state[NEXT_CANDIDATE] += 1
    return PAUSED


@njit(cache=True, nogil=True)
def worth_looking_at(graph, has_changed, candidates):  # type: ignore[no-untyped-def]
    """Fill in the vertices that are left and have changed, or have a neighbour that has, and return their number."""
    count = 0
    for v in range(graph.is_left.shape[0]):
        if not graph.is_left[v]:
            continue
        is_worth = has_changed[v]
        if not is_worth:
            for u in compacted_row(graph, v):
                if has_changed[u]:
                    is_worth = True
                    break
        if is_worth:
            candidates[count] = v
            count += 1
    return count


@njit(cache=True, nogil=True)
def take_flow_out(graph, desk, covered, uncovered):  # type: ignore[no-untyped-def]
    """Take out the vertices of a step of rule ``nt``, those in the set and those in the cover."""
    for v in uncovered:
        desk.state[CONSTANT] += graph.weight[v]
        _leave(graph, desk, v)
    for v in covered:
        _leave(graph, desk, v)


@njit(cache=True, nogil=True)
def lift_independent_set(log, ends, members):  # type: ignore[no-untyped-def]
    """Decide the vertices that have left, given those that are left; `ends` says where the entries of the log end."""
    for entry in range(ends.shape[0] - 1, -1, -1):
        begin = ends[entry - 1] if entry > 0 else 0
        rule, names = log[begin], log[begin + 2 : ends[entry]]
        v = names[0]
        if rule == DEGREE_0:
            members[v] = True
        elif rule == DEGREE_1:
            members[v] = not members[names[1]]
        elif rule == DEGREE_2_TRIANGLE:
            members[v] = not (members[names[1]] or members[names[2]])
        elif rule == FOLD:
            members[names[1]] = members[names[2]] = members[v]
            members[v] = not members[v]
        elif rule == TWIN and len(names) == 2:
            members[names[1]] = members[v]
        elif rule == TWIN:
            members[names[2]] = members[names[3]] = members[names[4]] = members[v]
            members[v] = members[names[1]] = not members[v]
        elif rule == NT:
            for place in range(1, len(names), 3):
                members[names[place]] = True


@njit(cache=True, nogil=True)
def restrict_independent_set(log, ends, members):  # type: ignore[no-untyped-def]
    """Decide the vertices that are left, given an independent set of the graph before; what of it the kernel cannot hold is dropped.

    No step loses weight but ``unconfined`` ones of a longer chain and ``nt``.
    """
    for entry in range(ends.shape[0]):
        begin = ends[entry - 1] if entry > 0 else 0
        rule, names = log[begin], log[begin + 2 : ends[entry]]
        v = names[0]
        if rule == FOLD:
            members[v] = members[names[1]] and members[names[2]]
        elif rule == DOMINATION:
            # Whatever a set holds besides `v`, it may hold besides the vertex with fewer neighbours.
            members[names[1]] = members[names[1]] or members[v]
        elif rule == TWIN and len(names) == 2:
            members[v] = members[v] or members[names[1]]
        elif rule == TWIN:
            members[v] = members[names[2]] and members[names[3]] and members[names[4]]


@njit(cache=True, nogil=True)
def entry_ends(log, used, ends):  # type: ignore[no-untyped-def]
    """Fill in where the entries of the log end, and return their number."""
    count, place = 0, 0
    while place < used:
        place += 2 + log[place + 1]
        ends[count] = place
        count += 1
    return count


@njit(cache=True, nogil=True)
def _note(desk, rule, size):  # type: ignore[no-untyped-def]
    """Begin an entry of the log; return its vertices, to be filled in."""
    begin = desk.state[LOG_USED]
    desk.log[begin], desk.log[begin + 1] = rule, size
    desk.state[LOG_USED] = begin + 2 + size
    return desk.log[begin + 2 : begin + 2 + size]


@njit(cache=True, nogil=True)
def _touch(graph, desk, v):  # type: ignore[no-untyped-def]
    desk.has_changed[v] = True
    if graph.degree[v] <= 2 and not desk.is_low[v]:
        desk.is_low[v] = True
        desk.low[desk.state[LOW_SIZE]] = v
        desk.state[LOW_SIZE] += 1


@njit(cache=True, nogil=True)
def _leave(graph, desk, v):  # type: ignore[no-untyped-def]
    take_vertex_out(graph, v)
    for u in compacted_row(graph, v):
        _touch(graph, desk, u)


@njit(cache=True, nogil=True)
def _lighten(graph, desk, v, amount):  # type: ignore[no-untyped-def]
    graph.weight[v] -= amount
    if graph.weight[v] <= 0:
        _leave(graph, desk, v)
    else:
        _touch(graph, desk, v)


@njit(cache=True, nogil=True)
def _are_adjacent(graph, u, v):  # type: ignore[no-untyped-def]
    if graph.degree[u] > graph.degree[v]:
        u, v = v, u
    return v in compacted_row(graph, u)


@njit(cache=True, nogil=True)
def _take_low_vertex(graph, desk, v):  # type: ignore[no-untyped-def]
    """Apply the rule for a vertex of degree at most two, if one applies; return False if there is no room to merge."""
    weight = graph.weight[v]
    row = compacted_row(graph, v)
    if graph.degree[v] == 0:
        _note(desk, DEGREE_0, 1)[0] = v
        desk.state[CONSTANT] += weight
        graph.is_left[v] = False
        return True
    a, b = row[0], row[graph.degree[v] - 1]
    if a != b and not _are_adjacent(graph, a, b):
        return weight < max(graph.weight[a], graph.weight[b]) or _fold(graph, desk, v, a, b)
    if a == b:
        names = _note(desk, DEGREE_1, 2)
    else:
        names = _note(desk, DEGREE_2_TRIANGLE, 3)
        names[2] = b
    names[0], names[1] = v, a
    desk.state[CONSTANT] += weight
    _leave(graph, desk, v)
    _lighten(graph, desk, a, weight)
    if a != b:
        _lighten(graph, desk, b, weight)
    return True


@njit(cache=True, nogil=True)
def _fold(graph, desk, v, a, b):  # type: ignore[no-untyped-def]
    weight = graph.weight[v]
    both = graph.weight[a] + graph.weight[b] - weight
    if both > 0 and not _merge(graph, desk, v, np.array([a, b])):
        return False
    names = _note(desk, FOLD, 3)
    names[0], names[1], names[2] = v, a, b
    desk.state[CONSTANT] += weight
    if both > 0:
        graph.weight[v] = both
    else:
        _leave(graph, desk, v)
        _leave(graph, desk, a)
        _leave(graph, desk, b)
    return True


@njit(cache=True, nogil=True)
def _merge(graph, desk, v, others):  # type: ignore[no-untyped-def]
    desk.state[STAMP] += 1
    for other in others:
        desk.state[WORK] += graph.length[other]
    if not merge_into(graph, v, others, desk.mark, desk.state[STAMP]):
        return False
    _touch(graph, desk, v)
    for u in compacted_row(graph, v):
        desk.state[WORK] += 1
        _touch(graph, desk, u)
    return True


@njit(cache=True, nogil=True)
def _is_unconfined(graph, desk, v):  # type: ignore[no-untyped-def]
    """Take `v` out if some best set does without it; return whether that was shown."""
    desk.state[STAMP] += 1
    chain = np.empty(LONGEST_CHAIN, np.int64)
    fringe_size = _confine(graph, desk, v, 0)
    for length in range(LONGEST_CHAIN):
        forced = np.int64(-1)
        for place in range(fringe_size):
            u = desk.fringe[place]
            if graph.weight[u] < desk.inner[u]:
                continue
            outside, other = _outside(graph, desk, u)
            if outside == 0:
                chain[length] = u
                _note_unconfined(desk, v, chain, length + 1)
                _leave(graph, desk, v)
                return True
            if outside == 1 and forced < 0:
                chain[length], forced = u, other
        if forced < 0:
            return False
        fringe_size = _confine(graph, desk, forced, fringe_size)
    return False


@njit(cache=True, nogil=True)
def _confine(graph, desk, v, fringe_size):  # type: ignore[no-untyped-def]
    """Put `v` into S and its neighbours into the fringe, of which the size is returned."""
    stamp = desk.state[STAMP]
    desk.mark[v] = stamp
    desk.state[WORK] += graph.degree[v]
    for u in compacted_row(graph, v):
        if desk.mark[u] != stamp:
            desk.mark[u], desk.inner[u] = stamp, 0
            desk.fringe[fringe_size] = u
            fringe_size += 1
        desk.inner[u] += graph.weight[v]
    return fringe_size


@njit(cache=True, nogil=True)
def _outside(graph, desk, u):  # type: ignore[no-untyped-def]
    """Return how many neighbours `u` has outside N[S], none, one or more (2), and one of them."""
    stamp = desk.state[STAMP]
    count, other = 0, -1
    for slot in range(graph.start[u], graph.start[u] + graph.length[u]):
        x = graph.neighbours[slot]
        desk.state[WORK] += 1
        if desk.mark[x] != stamp and graph.is_left[x]:
            count += 1
            other = x
            if count == 2:
                break
    return count, other


@njit(cache=True, nogil=True)
def _note_unconfined(desk, v, chain, length):  # type: ignore[no-untyped-def]
    names = _note(desk, DOMINATION if length == 1 else UNCONFINED, 1 + length)
    names[0] = v
    names[1:] = chain[:length]


@njit(cache=True, nogil=True)
def _twin_of(graph, desk, v):  # type: ignore[no-untyped-def]
    """Return a vertex with the same neighbours as `v`, or -1."""
    row = compacted_row(graph, v)
    rarest = row[0]
    for u in row:
        if graph.degree[u] < graph.degree[rarest]:
            rarest = u
    if graph.degree[rarest] > LONGEST_TWIN_ROW:
        return -1
    desk.state[STAMP] += 1
    stamp = desk.state[STAMP]
    for u in row:
        desk.mark[u] = stamp
    for twin in compacted_row(graph, rarest):
        desk.state[WORK] += 1
        if twin == v or graph.degree[twin] != graph.degree[v]:
            continue
        is_twin = True
        for u in compacted_row(graph, twin):
            desk.state[WORK] += 1
            if desk.mark[u] != stamp:
                is_twin = False
                break
        if is_twin:
            return twin
    return -1


@njit(cache=True, nogil=True)
def _join_twins(graph, desk, v):  # type: ignore[no-untyped-def]
    """Merge `v` with a twin, if it has one, into a vertex as heavy as both."""
    twin = _twin_of(graph, desk, v)
    if twin < 0:
        return
    names = _note(desk, TWIN, 2)
    names[0], names[1] = v, twin
    graph.weight[v] += graph.weight[twin]
    _leave(graph, desk, twin)
    _touch(graph, desk, v)


@njit(cache=True, nogil=True)
def _join_unit_twins(graph, desk, v):  # type: ignore[no-untyped-def]
    """Take `v` and a twin of it, or fold them with their three neighbours; return False if there is no room to merge."""
    twin = _twin_of(graph, desk, v)
    if twin < 0:
        return True
    three = compacted_row(graph, v).copy()
    unit = graph.weight[v]
    is_independent = not (
        _are_adjacent(graph, three[0], three[1])
        or _are_adjacent(graph, three[0], three[2])
        or _are_adjacent(graph, three[1], three[2])
    )
    if is_independent:
        # The twin still counts as a neighbour of the three, and is passed over as one that has left.
        graph.is_left[twin] = False
        for u in three:
            graph.degree[u] -= 1
        if not _merge(graph, desk, v, three):
            graph.is_left[twin] = True
            for u in three:
                graph.degree[u] += 1
            return False
    else:
        _leave(graph, desk, v)
        _leave(graph, desk, twin)
        for u in three:
            _leave(graph, desk, u)
    names = _note(desk, TWIN, 5)
    names[0], names[1] = v, twin
    names[2:] = three
    desk.state[CONSTANT] += 2 * unit
    return True
