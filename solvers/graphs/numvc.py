r"""Local search for a small vertex cover by edge weights that learn which edges are hard to cover (NuMVC).

The set C covers all edges but some. A vertex's *score* is by how much the weight of the uncovered edges would fall if it changed sides:
at least 0 outside C, at most 0 inside. Each step takes out of C the vertex of highest score, other than the one that came in last;
covers a random uncovered edge by that end, among those with a neighbour that has changed since it was itself taken out, which has the
higher score; and adds 1 to the weight of every edge still uncovered. Once the mean weight exceeds n/2, all are multiplied by 0.3.
Whenever C covers everything it is noted down and the vertex of highest score leaves. Ties go to the vertex that has not changed sides
for longest. Above 10000 vertices the vertex to take out is the best of 50 random ones.

References
----------
S. Cai, K. Su, C. Luo, A. Sattar, "NuMVC: an efficient local search algorithm for minimum vertex cover", Journal of Artificial
Intelligence Research 46 (2013).
S. Cai, "Balance between complexity and quality: local search for minimum vertex cover in massive graphs", IJCAI 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.annealing import seeded_state
from solvers.graphs.csr import Csr
from solvers.graphs.xorshift import next_below

# Entries read before a kernel returns, so that Python can look at the clock: at most about a tenth of a second.
WORK_PER_CALL = 8_000_000

MOST_VERTICES_COMPARED_WITH_ALL = 10_000
RANDOM_VERTICES_COMPARED = 50
FORGETTING_MEAN, KEPT_SHARE = 0.5, 0.3


class NuMVC:
    """One run of the search that can be advanced piece by piece.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    members : bool array of shape (n,)
        The cover that the run starts from; not modified. Edges that it does not cover are covered first.
    seed : int

    Attributes
    ----------
    best_value, best_members
        The smallest cover so far, its size and its mask.
    effort : float
        Work done so far, in units of about a tenth of a second at most.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> star = build_csr(4, [[0, 1], [0, 2], [0, 3]], [1, 1, 1])
    >>> run = NuMVC(star, np.ones(4, bool), seed=1)
    >>> run.advance(10), run.best_value, run.best_members
    (10, 1, array([ True, False, False, False]))
    """

    def __init__(self, csr: Csr, members: np.ndarray, *, seed: int) -> None:
        self._csr = csr
        self._state = _empty_state(csr)
        _start(csr, np.asarray(members, dtype=np.bool_), self._state)
        self._rng = seeded_state(seed)
        self.effort = 0.0

    @property
    def best_value(self) -> int:
        return int(self._state.numbers[_BEST])

    @property
    def best_members(self) -> np.ndarray:
        return self._state.best.copy()

    def advance(self, steps: int) -> int:
        """Run up to `steps` further steps, on large graphs fewer, so that the caller can look at the clock; return how many."""
        done: int = _search(self._csr, self._state, self._rng, int(steps), WORK_PER_CALL)
        self.effort += self._state.numbers[_WORK] / WORK_PER_CALL
        return done


class _State(NamedTuple):
    """The cover, the edges it leaves, and what the search has learnt."""

    is_in: np.ndarray  # (n,) bool
    members: np.ndarray  # (n,) int32: the vertices of C
    place: np.ndarray  # (n,) int32: where each stands there
    score: np.ndarray  # (n,) int64
    changed_at: np.ndarray  # (n,) int64: the step in which each changed sides
    may_enter: np.ndarray  # (n,) bool: whether a neighbour has changed since the vertex was taken out
    ends: np.ndarray  # (m, 2) int32
    weight: np.ndarray  # (m,) int64
    uncovered: np.ndarray  # (m,) int32
    place_uncovered: np.ndarray  # (m,) int32
    best: np.ndarray  # (n,) bool
    unlike: np.ndarray  # (n,) int32: vertices that changed since the best cover was noted
    is_unlike: np.ndarray  # (n,) bool
    numbers: np.ndarray  # (8,) int64, by the names below


_SIZE, _UNCOVERED, _BEST, _UNLIKE, _STEP, _LAST_IN, _TOTAL_WEIGHT, _WORK = range(8)


def _empty_state(csr: Csr) -> _State:
    n, m = csr.num_vertices, len(csr.indices) // 2
    return _State(
        is_in=np.zeros(n, np.bool_),
        members=np.empty(n, np.int32),
        place=np.empty(n, np.int32),
        score=np.diff(csr.indptr).astype(np.int64),
        changed_at=np.zeros(n, np.int64),
        may_enter=np.ones(n, np.bool_),
        ends=np.empty((m, 2), np.int32),
        weight=np.ones(m, np.int64),
        uncovered=np.arange(m, dtype=np.int32),
        place_uncovered=np.arange(m, dtype=np.int32),
        best=np.zeros(n, np.bool_),
        unlike=np.empty(n, np.int32),
        is_unlike=np.zeros(n, np.bool_),
        numbers=np.array([0, m, 0, 0, 0, -1, m, 0], np.int64),
    )


@njit(cache=True, nogil=True)
def _start(csr, members, state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    n = members.shape[0]
    for v in range(n):
        for slot in range(csr.indptr[v], csr.indptr[v + 1]):
            u = csr.indices[slot]
            if v < u:
                state.ends[csr.edge_ids[slot], 0], state.ends[csr.edge_ids[slot], 1] = v, u
        if members[v]:
            _enter(csr, state, v)
    for e in range(state.ends.shape[0]):
        u, v = state.ends[e]
        if not (state.is_in[u] or state.is_in[v]):
            _enter(csr, state, u if state.score[u] >= state.score[v] else v)
    state.best[:] = state.is_in
    state.is_unlike[:] = False
    numbers[_BEST], numbers[_UNLIKE] = numbers[_SIZE], 0


@njit(cache=True, nogil=True)
def _search(csr, state, rng, steps, work_limit):  # type: ignore[no-untyped-def]
    """Take up to `steps` steps, fewer if the work is done before; return their number."""
    numbers = state.numbers
    numbers[_WORK] = 0
    done = 0
    while done < steps and numbers[_WORK] < work_limit:
        done += 1
        numbers[_STEP] += 1
        if numbers[_UNCOVERED] == 0:
            if numbers[_SIZE] < numbers[_BEST]:
                _note_best(state)
            if numbers[_SIZE] > 0:
                _leave(csr, state, _least_missed(state, rng))
            continue
        if 0 < numbers[_SIZE] >= numbers[_BEST] - 1:
            _leave(csr, state, _least_missed(state, rng))
        edge = state.uncovered[next_below(numbers[_UNCOVERED], rng)]
        v = _better_end(state, edge)
        _enter(csr, state, v)
        numbers[_LAST_IN] = v
        _learn(csr, state)
    return done


@njit(cache=True, nogil=True)
def _least_missed(state, rng):  # type: ignore[no-untyped-def]
    """Return the vertex of C of highest score that was not the last to come in."""
    numbers = state.numbers
    size = numbers[_SIZE]
    best = -1
    compare_all = state.is_in.shape[0] <= MOST_VERTICES_COMPARED_WITH_ALL
    count = size if compare_all else RANDOM_VERTICES_COMPARED
    for i in range(count):
        v = state.members[i if compare_all else next_below(size, rng)]
        if v == numbers[_LAST_IN]:
            continue
        if best < 0 or _goes_before(state, v, best):
            best = v
    numbers[_WORK] += count
    # It may be the only one, or the only one drawn.
    return best if best >= 0 else state.members[0]


@njit(cache=True, nogil=True)
def _goes_before(state, u, v):  # type: ignore[no-untyped-def]
    if state.score[u] != state.score[v]:
        return state.score[u] > state.score[v]
    return state.changed_at[u] < state.changed_at[v]


@njit(cache=True, nogil=True)
def _better_end(state, edge):  # type: ignore[no-untyped-def]
    u, v = state.ends[edge, 0], state.ends[edge, 1]
    if not state.may_enter[u]:
        return v
    if not state.may_enter[v]:
        return u
    return u if _goes_before(state, u, v) else v


@njit(cache=True, nogil=True)
def _learn(csr, state):  # type: ignore[no-untyped-def]
    """Make uncovered edges heavier, and forget when the weights have become large."""
    numbers = state.numbers
    for i in range(numbers[_UNCOVERED]):
        e = state.uncovered[i]
        state.weight[e] += 1
        state.score[state.ends[e, 0]] += 1
        state.score[state.ends[e, 1]] += 1
    numbers[_TOTAL_WEIGHT] += numbers[_UNCOVERED]
    numbers[_WORK] += numbers[_UNCOVERED]
    n, m = state.is_in.shape[0], state.weight.shape[0]
    if numbers[_TOTAL_WEIGHT] > FORGETTING_MEAN * n * m:
        _forget(state)


@njit(cache=True, nogil=True)
def _forget(state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    state.score[:] = 0
    numbers[_TOTAL_WEIGHT] = 0
    for e in range(state.weight.shape[0]):
        state.weight[e] = np.int64(KEPT_SHARE * state.weight[e])
        numbers[_TOTAL_WEIGHT] += state.weight[e]
        u, v = state.ends[e, 0], state.ends[e, 1]
        if state.is_in[u] and not state.is_in[v]:
            state.score[u] -= state.weight[e]
        elif state.is_in[v] and not state.is_in[u]:
            state.score[v] -= state.weight[e]
        elif not state.is_in[u]:
            state.score[u] += state.weight[e]
            state.score[v] += state.weight[e]
    numbers[_WORK] += state.weight.shape[0]


@njit(cache=True, nogil=True)
def _enter(csr, state, v):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    state.is_in[v] = True
    state.members[numbers[_SIZE]], state.place[v] = v, numbers[_SIZE]
    numbers[_SIZE] += 1
    state.score[v] = -state.score[v]
    for slot in range(csr.indptr[v], csr.indptr[v + 1]):
        u, e = csr.indices[slot], csr.edge_ids[slot]
        if state.is_in[u]:
            state.score[u] += state.weight[e]
            continue
        state.score[u] -= state.weight[e]
        state.may_enter[u] = True
        numbers[_UNCOVERED] -= 1
        moved = state.uncovered[numbers[_UNCOVERED]]
        state.uncovered[state.place_uncovered[e]], state.place_uncovered[moved] = moved, state.place_uncovered[e]
    _note_change(csr, state, v)


@njit(cache=True, nogil=True)
def _leave(csr, state, v):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    state.is_in[v] = False
    numbers[_SIZE] -= 1
    moved = state.members[numbers[_SIZE]]
    state.members[state.place[v]], state.place[moved] = moved, state.place[v]
    state.score[v] = -state.score[v]
    state.may_enter[v] = False
    for slot in range(csr.indptr[v], csr.indptr[v + 1]):
        u, e = csr.indices[slot], csr.edge_ids[slot]
        if state.is_in[u]:
            state.score[u] -= state.weight[e]
            continue
        state.score[u] += state.weight[e]
        state.may_enter[u] = True
        state.uncovered[numbers[_UNCOVERED]], state.place_uncovered[e] = e, numbers[_UNCOVERED]
        numbers[_UNCOVERED] += 1
    _note_change(csr, state, v)


@njit(cache=True, nogil=True)
def _note_change(csr, state, v):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    state.changed_at[v] = numbers[_STEP]
    numbers[_WORK] += csr.indptr[v + 1] - csr.indptr[v]
    if not state.is_unlike[v]:
        state.is_unlike[v] = True
        state.unlike[numbers[_UNLIKE]] = v
        numbers[_UNLIKE] += 1


@njit(cache=True, nogil=True)
def _note_best(state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    for i in range(numbers[_UNLIKE]):
        v = state.unlike[i]
        state.best[v] = state.is_in[v]
        state.is_unlike[v] = False
    numbers[_UNLIKE] = 0
    numbers[_BEST] = numbers[_SIZE]
