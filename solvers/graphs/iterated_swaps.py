r"""Iterated local search for the independent set of largest weight, by swaps of one vertex for others.

A local optimum allows neither of two swaps: (omega, 1), one vertex outside for all its neighbours in the set, which without weights
is just a vertex that has none there; and (1, 2), two vertices outside that are not adjacent for the one neighbour x that each has in
the set. An iteration forces k vertices in, their neighbours leave, and swaps follow wherever something has changed. k is 1, or with
probability 1/(2|I|) more; for k = 1 the vertex is, of four random ones, the one that has been outside longest. A set I' worse than the
I before is kept with probability :math:`1 / (1 + (w(I) - w(I')) (w(I^*) - w(I')))`, weights counted in units of their mean, where
:math:`I^*` is the best so far; otherwise the iteration is undone.

References
----------
D. V. Andrade, M. G. C. Resende, R. F. Werneck, "Fast local search for the maximum independent set problem", Journal of Heuristics 18
(2012).
B. Nogueira, R. G. S. Pinheiro, A. Subramanian, "A hybrid iterated local search heuristic for the maximum weight independent set
problem", Optimization Letters 12 (2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.annealing import seeded_state
from solvers.graphs.csr import Csr
from solvers.graphs.xorshift import next_below, next_uniform

# Rows read before a kernel returns, so that Python can look at the clock: at most about a tenth of a second.
WORK_PER_CALL = 4_000_000

# Changes that an iteration can undo; one that makes more is kept.
JOURNAL_PER_VERTEX, JOURNAL_SIZE = 4, 20_000

OUTSIDERS_COMPARED = 4
SIZE_OF_SMALL_SETS = 128

ONE_TIE, ALL_NUMBERS = 1 << 32, (1 << 32) - 1


class IteratedSwaps:
    """One run of the search that can be advanced piece by piece.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    members : bool array of shape (n,)
        The independent set that the run starts from; not modified.
    weights : int64 array of shape (n,), optional
        Positive weights of the vertices; default 1.
    seed : int

    Attributes
    ----------
    value, members
        The present set.
    best_value, best_members
        The best set so far.
    effort : float
        Work done so far, in units of about a tenth of a second at most.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> run = IteratedSwaps(path, np.array([False, True, False, False]), weights=np.array([2, 3, 1, 2]), seed=1)
    >>> run.advance(10), run.best_value, run.best_members
    (10, 5, array([False,  True, False,  True]))
    """

    def __init__(self, csr: Csr, members: np.ndarray, *, weights: np.ndarray | None = None, seed: int) -> None:
        n = csr.num_vertices
        self._csr = csr
        self._weights = np.ones(n, np.int64) if weights is None else np.array(weights, dtype=np.int64)
        self._state = _empty_state(n, bool((self._weights == 1).all()))
        _start(csr.indptr, csr.indices, self._weights, np.asarray(members, dtype=np.bool_), self._state)
        self._rng = seeded_state(seed)
        self._scale = float(self._weights.mean()) if n else 1.0
        self.effort = 0.0

    @property
    def value(self) -> int:
        return int(self._state.numbers[_VALUE])

    @property
    def members(self) -> np.ndarray:
        return self._state.is_in.copy()

    @property
    def best_value(self) -> int:
        return int(self._state.numbers[_BEST])

    @property
    def best_members(self) -> np.ndarray:
        return self._state.best.copy()

    def advance(self, iterations: int) -> int:
        """Run up to `iterations` further iterations, on large graphs fewer, so that the caller can look at the clock.

        Returns
        -------
        int
            How many were finished. On a large graph that may be none while the start is being improved.
        """
        csr = self._csr
        done: int = _iterate(
            csr.indptr, csr.indices, self._weights, self._state, self._rng, self._scale, int(iterations), WORK_PER_CALL
        )
        self.effort += self._state.numbers[_WORK] / WORK_PER_CALL
        return done


class _State(NamedTuple):
    """The set, what is known of the vertices outside, and what changed since."""

    is_in: np.ndarray  # (n,) bool
    ties: (
        np.ndarray
    )  # (n,) int64: neighbours in the set, their count in the upper half, in the lower the exclusive or of their numbers
    pressure: np.ndarray  # (n,) int64: their weight; of no length if all weights are 1
    order: np.ndarray  # (n,) int32: the vertices, those in the set first
    place: np.ndarray  # (n,) int32: where each stands there
    num_loose: np.ndarray  # (n,) int32: of each vertex in the set, neighbours outside that have no other there
    left_at: np.ndarray  # (n,) int64: iteration in which each left the set
    gainers: np.ndarray  # (n,) int32: vertices outside that may be worth more than their neighbours in the set
    is_gainer: np.ndarray  # (n,) bool
    swappers: np.ndarray  # (n,) int32: vertices of the set that may be worth less than two of their neighbours
    is_swapper: np.ndarray  # (n,) bool
    loose: np.ndarray  # (n,) int32: those neighbours of one vertex
    mark: np.ndarray  # (n,) int64: stamp of the last procedure that marked it
    best: np.ndarray  # (n,) bool
    unlike: np.ndarray  # (n,) int32: vertices that changed since the best set was noted
    is_unlike: np.ndarray  # (n,) bool
    journal: np.ndarray  # changes of this iteration: v entered, or ~v left
    numbers: np.ndarray  # (9,) int64, by the names below


_VALUE, _BEST, _SIZE, _GAINERS, _SWAPPERS, _STAMP, _UNLIKE, _JOURNAL, _ITERATION, _BEFORE, _WORK = range(11)


def _empty_state(n: int, is_unit: bool) -> _State:
    return _State(
        is_in=np.zeros(n, np.bool_),
        ties=np.zeros(n, np.int64),
        pressure=np.zeros(0 if is_unit else n, np.int64),
        order=np.arange(n, dtype=np.int32),
        place=np.arange(n, dtype=np.int32),
        num_loose=np.zeros(n, np.int32),
        left_at=np.zeros(n, np.int64),
        gainers=np.empty(n, np.int32),
        is_gainer=np.zeros(n, np.bool_),
        swappers=np.empty(n, np.int32),
        is_swapper=np.zeros(n, np.bool_),
        loose=np.empty(n, np.int32),
        mark=np.zeros(n, np.int64),
        best=np.zeros(n, np.bool_),
        unlike=np.empty(n, np.int32),
        is_unlike=np.zeros(n, np.bool_),
        journal=np.empty(JOURNAL_PER_VERTEX * n + JOURNAL_SIZE, np.int32),
        numbers=np.zeros(11, np.int64),
    )


@njit(cache=True, nogil=True)
def _start(indptr, indices, weights, members, state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    for v in range(members.shape[0]):
        if members[v]:
            _enter(indptr, indices, weights, state, v)
    for v in range(members.shape[0]):
        if not members[v] and not state.is_gainer[v] and _would_gain(weights, state, v):
            _add_gainer(state, v)
    # The first iteration improves the start, which nothing must undo.
    numbers[_JOURNAL] = state.journal.shape[0] + 1
    numbers[_BEFORE] = numbers[_VALUE]
    _note_best(state)


@njit(cache=True, nogil=True)
def _iterate(indptr, indices, weights, state, rng, scale, iterations, work_limit):  # type: ignore[no-untyped-def]
    """Finish up to `iterations` iterations, or one that takes more than the work, later; return their number."""
    numbers = state.numbers
    done = 0
    numbers[_WORK] = 0
    while done < iterations and numbers[_WORK] < work_limit:
        if not _improve(indptr, indices, weights, state, rng, work_limit):
            break
        if numbers[_VALUE] > numbers[_BEST]:
            _note_best(state)
        elif numbers[_VALUE] < numbers[_BEFORE] and numbers[_JOURNAL] <= state.journal.shape[0]:
            loss, lack = (numbers[_BEFORE] - numbers[_VALUE]) / scale, (numbers[_BEST] - numbers[_VALUE]) / scale
            if next_uniform(rng) * (1.0 + loss * lack * _strictness(state)) >= 1.0:
                _undo(indptr, indices, weights, state)
        numbers[_JOURNAL] = 0
        numbers[_BEFORE] = numbers[_VALUE]
        numbers[_ITERATION] += 1
        done += 1
        _perturb(indptr, indices, weights, state, rng)
    return done


@njit(cache=True, nogil=True)
def _strictness(state):  # type: ignore[no-untyped-def]
    return 1.0 if state.pressure.shape[0] == 0 else max(1.0, state.numbers[_SIZE] / SIZE_OF_SMALL_SETS)


@njit(cache=True, nogil=True)
def _improve(indptr, indices, weights, state, rng, work_limit):  # type: ignore[no-untyped-def]
    """Swap until the set is locally best; return False if the work ran out before."""
    numbers = state.numbers
    while numbers[_GAINERS] > 0 or numbers[_SWAPPERS] > 0:
        if numbers[_WORK] >= work_limit:
            return False
        if numbers[_GAINERS] > 0:
            v = _drawn(state.gainers, state.is_gainer, numbers, _GAINERS, rng)
            if not state.is_in[v] and _would_gain(weights, state, v):
                _force(indptr, indices, weights, state, v)
        else:
            x = _drawn(state.swappers, state.is_swapper, numbers, _SWAPPERS, rng)
            if state.is_in[x] and state.num_loose[x] >= 2:
                _swap_for_two(indptr, indices, weights, state, rng, x)
    return True


@njit(cache=True, nogil=True)
def _drawn(vertices, is_listed, numbers, size, rng):  # type: ignore[no-untyped-def]
    """Take a random vertex out of a list."""
    place = next_below(numbers[size], rng)
    v = vertices[place]
    numbers[size] -= 1
    vertices[place] = vertices[numbers[size]]
    is_listed[v] = False
    return v


@njit(cache=True, nogil=True)
def _swap_for_two(indptr, indices, weights, state, rng, x):  # type: ignore[no-untyped-def]
    """Put two vertices in place of `x` if that gains."""
    numbers = state.numbers
    count = 0
    for slot in range(indptr[x], indptr[x + 1]):
        v = indices[slot]
        if state.ties[v] >> 32 == 1:
            state.loose[count] = v
            count += 1
    numbers[_WORK] += indptr[x + 1] - indptr[x]
    first = next_below(count, rng)
    for offset in range(count):
        v = state.loose[(first + offset) % count]
        w = _apart_from(indptr, indices, weights, state, v, weights[x] - weights[v], count)
        if w >= 0:
            _leave(indptr, indices, weights, state, x)
            _enter(indptr, indices, weights, state, v)
            _enter(indptr, indices, weights, state, w)
            return


@njit(cache=True, nogil=True)
def _apart_from(indptr, indices, weights, state, v, more_than, count):  # type: ignore[no-untyped-def]
    """Return one of the `count` loose vertices that is no neighbour of `v` and weighs more than a weight, or -1."""
    numbers = state.numbers
    numbers[_WORK] += count + indptr[v + 1] - indptr[v]
    numbers[_STAMP] += 1
    stamp = numbers[_STAMP]
    state.mark[v] = stamp
    for slot in range(indptr[v], indptr[v + 1]):
        state.mark[indices[slot]] = stamp
    for other in range(count):
        w = state.loose[other]
        if state.mark[w] != stamp and weights[w] > more_than:
            return w
    return -1


@njit(cache=True, nogil=True)
def _perturb(indptr, indices, weights, state, rng):  # type: ignore[no-untyped-def]
    """Force vertices in that are outside: one that has been there long, or now and then several."""
    numbers = state.numbers
    n = state.is_in.shape[0]
    size = numbers[_SIZE]
    if size == n:
        return
    if next_uniform(rng) * 2 * size >= 1.0:
        v = state.order[size + next_below(n - size, rng)]
        for _ in range(OUTSIDERS_COMPARED - 1):
            other = state.order[size + next_below(n - size, rng)]
            if state.left_at[other] < state.left_at[v]:
                v = other
        _force(indptr, indices, weights, state, v)
        return
    count = 2
    while next_uniform(rng) < 0.5:
        count += 1
    for _ in range(count):
        if numbers[_SIZE] == n:
            return
        _force(indptr, indices, weights, state, state.order[numbers[_SIZE] + next_below(n - numbers[_SIZE], rng)])


@njit(cache=True, nogil=True)
def _force(indptr, indices, weights, state, v):  # type: ignore[no-untyped-def]
    """Put `v` in the set in place of its neighbours there."""
    slot = indptr[v]
    while state.ties[v] >= ONE_TIE:
        x = indices[slot]
        if state.is_in[x]:
            _leave(indptr, indices, weights, state, x)
        slot += 1
    state.numbers[_WORK] += slot - indptr[v]
    _enter(indptr, indices, weights, state, v)


@njit(cache=True, nogil=True)
def _enter(indptr, indices, weights, state, v):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    _exchange(state, v, numbers[_SIZE])
    numbers[_SIZE] += 1
    numbers[_VALUE] += weights[v]
    state.is_in[v] = True
    _note_change(state, v, v)
    num_loose = 0
    for slot in range(indptr[v], indptr[v + 1]):
        u = indices[slot]
        ties = state.ties[u]
        state.ties[u] = (ties + ONE_TIE) ^ v
        count = ties >> 32
        if count == 0:
            num_loose += 1
        elif count == 1:
            state.num_loose[ties & ALL_NUMBERS] -= 1
    if state.pressure.shape[0] > 0:
        for slot in range(indptr[v], indptr[v + 1]):
            state.pressure[indices[slot]] += weights[v]
    numbers[_WORK] += indptr[v + 1] - indptr[v]
    state.num_loose[v] = num_loose
    if num_loose >= 2:
        _add_swapper(state, v)


@njit(cache=True, nogil=True)
def _leave(indptr, indices, weights, state, x):  # type: ignore[no-untyped-def]
    """Take `x` out, and list the vertices for which that opens a swap."""
    numbers = state.numbers
    numbers[_SIZE] -= 1
    _exchange(state, x, numbers[_SIZE])
    numbers[_VALUE] -= weights[x]
    state.is_in[x] = False
    state.left_at[x] = numbers[_ITERATION]
    _note_change(state, x, ~x)
    if state.pressure.shape[0] > 0:
        for slot in range(indptr[x], indptr[x + 1]):
            state.pressure[indices[slot]] -= weights[x]
    for slot in range(indptr[x], indptr[x + 1]):
        v = indices[slot]
        ties = (state.ties[v] - ONE_TIE) ^ x
        state.ties[v] = ties
        count = ties >> 32
        if count == 1:
            # The one neighbour it has left in the set may now be worth less than v and another vertex.
            partner = ties & ALL_NUMBERS
            state.num_loose[partner] += 1
            if state.num_loose[partner] >= 2:
                _add_swapper(state, partner)
        if (count == 0 or state.pressure.shape[0] > 0) and not state.is_gainer[v] and _would_gain(weights, state, v):
            _add_gainer(state, v)
    numbers[_WORK] += indptr[x + 1] - indptr[x]


@njit(cache=True, nogil=True)
def _note_change(state, v, change):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    if numbers[_JOURNAL] < state.journal.shape[0]:
        state.journal[numbers[_JOURNAL]] = change
    numbers[_JOURNAL] += 1
    if not state.is_unlike[v]:
        state.is_unlike[v] = True
        state.unlike[numbers[_UNLIKE]] = v
        numbers[_UNLIKE] += 1


@njit(cache=True, nogil=True)
def _would_gain(weights, state, v):  # type: ignore[no-untyped-def]
    """Return whether a vertex outside is worth more than its neighbours in the set."""
    if state.pressure.shape[0] == 0:
        return state.ties[v] < ONE_TIE
    return weights[v] > state.pressure[v]


@njit(cache=True, nogil=True)
def _add_gainer(state, v):  # type: ignore[no-untyped-def]
    state.is_gainer[v] = True
    state.gainers[state.numbers[_GAINERS]] = v
    state.numbers[_GAINERS] += 1


@njit(cache=True, nogil=True)
def _add_swapper(state, v):  # type: ignore[no-untyped-def]
    if not state.is_swapper[v]:
        state.is_swapper[v] = True
        state.swappers[state.numbers[_SWAPPERS]] = v
        state.numbers[_SWAPPERS] += 1


@njit(cache=True, nogil=True)
def _exchange(state, v, place):  # type: ignore[no-untyped-def]
    """Let `v` and the vertex that stands at `place` change places in the order."""
    other, old = state.order[place], state.place[v]
    state.order[place], state.order[old] = v, other
    state.place[v], state.place[other] = place, old


@njit(cache=True, nogil=True)
def _undo(indptr, indices, weights, state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    count = numbers[_JOURNAL]
    numbers[_JOURNAL] = state.journal.shape[0]
    for place in range(count - 1, -1, -1):
        change = state.journal[place]
        if change >= 0:
            _leave(indptr, indices, weights, state, change)
        else:
            _enter(indptr, indices, weights, state, ~change)
    # The set was locally best; nothing is left to be swapped.
    for place in range(numbers[_GAINERS]):
        state.is_gainer[state.gainers[place]] = False
    for place in range(numbers[_SWAPPERS]):
        state.is_swapper[state.swappers[place]] = False
    numbers[_GAINERS] = numbers[_SWAPPERS] = 0


@njit(cache=True, nogil=True)
def _note_best(state):  # type: ignore[no-untyped-def]
    numbers = state.numbers
    for place in range(numbers[_UNLIKE]):
        v = state.unlike[place]
        state.best[v] = state.is_in[v]
        state.is_unlike[v] = False
    numbers[_UNLIKE] = 0
    numbers[_BEST] = numbers[_VALUE]
