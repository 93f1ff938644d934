"""Row-weighting local search for set cover.

A row is an element. Rows that stay uncovered gain weight; a set's score is the weight of the rows that it alone covers or, outside
the cover, would newly cover. A step takes the set of least score per cost out, then covers random uncovered rows by sets of largest
score per cost as long as the cover stays below the best cost (C. Gao, T. Weise and J. Li, "An Efficient Local Search Heuristic with
Row Weighting for the Unicost Set Covering Problem", European Journal of Operational Research 246, 2015; here with costs). A set that
was taken out stays out until a set that shares a row with it has moved. Ratios are compared exactly; of equal ones the set that has
not moved for longest wins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.graphs.annealing import seeded_state
from solvers.graphs.exact_products import compare_products
from solvers.graphs.incidence import Incidence

# Rows and sets touched before a kernel returns, so that Python can look at the clock: some hundredths of a second.
WORK_PER_CALL = 5_000_000


class RowWeighting:
    """One run of the search that can be advanced piece by piece.

    Parameters
    ----------
    incidence : Incidence
        With at least one element; every element in some set; costs positive.
    members : bool array of shape (n,)
        A cover to start from; not modified.
    seed : int

    Attributes
    ----------
    steps_done : int
    best_value : int
    best_members : bool array of shape (n,)

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> path = build_incidence(3, [0, 1, 2, 3, 5, 7], [0, 1, 2, 0, 1, 1, 2], [1, 1, 1, 1, 1])
    >>> run = RowWeighting(path, np.array([True, True, True, False, False]), seed=1)
    >>> run.advance(50), run.best_value
    (50, 2)
    """

    def __init__(self, incidence: Incidence, members: np.ndarray, *, seed: int) -> None:
        n, m = incidence.num_sets, incidence.num_elements
        self._incidence = incidence
        self._is_member = np.array(members, dtype=bool)
        self._best = self._is_member.copy()
        # A heap, the next one to be taken out first, and where in it each member is.
        self._heap, self._heap_place = np.zeros(n, np.int32), np.zeros(n, np.int32)
        count = int(self._is_member.sum())
        self._cover_counts = incidence.times_covered(self._is_member).astype(np.int64)
        if m and not self._cover_counts.all():
            raise ValueError("the search starts from a cover")
        self._owner_sums = _owner_sums(incidence.set_ptr, incidence.elements, self._is_member, m)
        self._row_weights = np.ones(m, np.int64)
        self._row_moved = np.zeros(m, np.int64)
        self._scores = _scores(incidence.set_ptr, incidence.elements, self._is_member, self._cover_counts)
        self._moved = np.zeros(n, np.int64)
        self._uncovered = np.zeros(m, np.int32)
        self._uncovered_place = np.zeros(m, np.int32)
        _fill_heap(self._is_member, incidence.costs, self._scores, self._moved, self._heap, self._heap_place)
        cost = incidence.cost_of(self._is_member)
        self._state = np.array([cost, cost, count, 0, 0, -1], np.int64)
        self._rng = seeded_state(seed)
        self.steps_done = 0

    @property
    def best_value(self) -> int:
        return int(self._state[_BEST])

    @property
    def best_members(self) -> np.ndarray:
        return self._best.copy()

    @property
    def row_weights(self) -> np.ndarray:
        """Weight of every row: how often it was left uncovered, and one more."""
        return self._row_weights.copy()

    def advance(self, steps: int) -> int:
        """Take up to `steps` further steps, on large instances fewer, so that the caller can look at the clock; return how many."""
        if self._incidence.num_elements == 0:
            return 0
        taken: int = _search(
            *self._incidence, self._is_member, self._best, self._heap, self._heap_place, self._cover_counts,
            self._owner_sums, self._row_weights, self._row_moved, self._scores, self._moved, self._uncovered,
            self._uncovered_place, self._state, self._rng, int(steps), WORK_PER_CALL,
        )  # fmt: skip
        self.steps_done += taken
        return taken


# Places in the state: cost, best cost, number of members, number of uncovered rows, moves so far, set added last.
_COST, _BEST, _SIZE, _OPEN, _MOVES, _LAST = range(6)


@njit(cache=True, nogil=True)
def _owner_sums(set_ptr, elements, is_member, num_elements):  # type: ignore[no-untyped-def]
    """Return for every row the sum of the members that cover it: where it is one, its index."""
    sums = np.zeros(num_elements, np.int64)
    for j in range(len(is_member)):
        if is_member[j]:
            for place in range(set_ptr[j], set_ptr[j + 1]):
                sums[elements[place]] += j
    return sums


@njit(cache=True, nogil=True)
def _scores(set_ptr, elements, is_member, cover_counts):  # type: ignore[no-untyped-def]
    """Return the score of every set where all rows weigh 1."""
    scores = np.zeros(len(is_member), np.int64)
    for j in range(len(is_member)):
        wanted = 1 if is_member[j] else 0
        for place in range(set_ptr[j], set_ptr[j + 1]):
            if cover_counts[elements[place]] == wanted:
                scores[j] += 1
    return scores


@njit(cache=True, nogil=True)
def _search(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, is_member, best, heap, heap_place, cover_counts, owner_sums, row_weights,
    row_moved, scores, moved, uncovered, uncovered_place, state, rng, steps, budget,
):  # fmt: skip
    for step in range(steps):
        if budget <= 0:
            return step
        while state[_OPEN] == 0:
            if state[_COST] < state[_BEST]:
                state[_BEST] = state[_COST]
                best[:] = is_member
                budget -= len(best) >> 3
            budget -= _take_out(
                set_ptr, elements, element_ptr, sets, costs, is_member, heap, heap_place, cover_counts, owner_sums,
                row_weights, row_moved, scores, moved, uncovered, uncovered_place, state, -1,
            )  # fmt: skip
        budget -= _take_out(
            set_ptr, elements, element_ptr, sets, costs, is_member, heap, heap_place, cover_counts, owner_sums,
            row_weights, row_moved, scores, moved, uncovered, uncovered_place, state, state[_LAST],
        )  # fmt: skip
        while state[_OPEN] > 0:
            row = uncovered[_random_below(rng, state[_OPEN])]
            j = _best_for_row(set_ptr, elements, element_ptr, sets, costs, row_moved, scores, moved, row)
            budget -= 4 * (element_ptr[row + 1] - element_ptr[row])
            if state[_COST] + costs[j] >= state[_BEST]:
                break
            budget -= _put_in(
                set_ptr, elements, element_ptr, sets, costs, is_member, heap, heap_place, cover_counts, owner_sums,
                row_weights, row_moved, scores, moved, uncovered, uncovered_place, state, j,
            )  # fmt: skip
        for place in range(state[_OPEN]):
            row = uncovered[place]
            row_weights[row] += 1
            budget -= element_ptr[row + 1] - element_ptr[row]
            for other in range(element_ptr[row], element_ptr[row + 1]):
                scores[sets[other]] += 1
    if state[_OPEN] == 0 and state[_COST] < state[_BEST]:
        state[_BEST] = state[_COST]
        best[:] = is_member
    return steps


@njit(cache=True, nogil=True)
def _take_out(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, is_member, heap, heap_place, cover_counts, owner_sums, row_weights,
    row_moved, scores, moved, uncovered, uncovered_place, state, spared,
):  # fmt: skip
    """Take the member of least score per cost out, but not the spared one; return the work."""
    size = state[_SIZE]
    at = 0
    if heap[0] == spared:
        # The second of the heap is a child of the first.
        at = 1
        if size > 2 and _leaves_before(costs, scores, moved, heap[2], heap[1]):
            at = 2
    if at >= size:
        return 1
    j = heap[at]
    work = 20
    state[_MOVES] += 1
    state[_COST] -= costs[j]
    state[_SIZE] -= 1
    last = heap[state[_SIZE]]
    if last != j:
        heap[at] = last
        heap_place[last] = at
        _sift(costs, scores, moved, heap, heap_place, state[_SIZE], at)
    is_member[j] = False
    moved[j] = state[_MOVES]
    for place in range(set_ptr[j], set_ptr[j + 1]):
        row = elements[place]
        row_moved[row] = state[_MOVES]
        cover_counts[row] -= 1
        owner_sums[row] -= j
        if cover_counts[row] == 1:
            owner = owner_sums[row]
            scores[owner] += row_weights[row]
            _sift(costs, scores, moved, heap, heap_place, state[_SIZE], heap_place[owner])
        elif cover_counts[row] == 0:
            uncovered_place[row] = state[_OPEN]
            uncovered[state[_OPEN]] = row
            state[_OPEN] += 1
            work += element_ptr[row + 1] - element_ptr[row]
            for other in range(element_ptr[row], element_ptr[row + 1]):
                if sets[other] != j:
                    scores[sets[other]] += row_weights[row]
    return work + set_ptr[j + 1] - set_ptr[j]


@njit(cache=True, nogil=True)
def _put_in(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, is_member, heap, heap_place, cover_counts, owner_sums, row_weights,
    row_moved, scores, moved, uncovered, uncovered_place, state, j,
):  # fmt: skip
    """Put a set in; return the work."""
    work = set_ptr[j + 1] - set_ptr[j]
    state[_MOVES] += 1
    state[_COST] += costs[j]
    state[_LAST] = j
    is_member[j] = True
    moved[j] = state[_MOVES]
    heap[state[_SIZE]] = j
    heap_place[j] = state[_SIZE]
    state[_SIZE] += 1
    _sift(costs, scores, moved, heap, heap_place, state[_SIZE], state[_SIZE] - 1)
    for place in range(set_ptr[j], set_ptr[j + 1]):
        row = elements[place]
        row_moved[row] = state[_MOVES]
        if cover_counts[row] == 1:
            owner = owner_sums[row]
            scores[owner] -= row_weights[row]
            _sift(costs, scores, moved, heap, heap_place, state[_SIZE], heap_place[owner])
        elif cover_counts[row] == 0:
            state[_OPEN] -= 1
            last = uncovered[state[_OPEN]]
            uncovered[uncovered_place[row]] = last
            uncovered_place[last] = uncovered_place[row]
            work += element_ptr[row + 1] - element_ptr[row]
            for other in range(element_ptr[row], element_ptr[row + 1]):
                if sets[other] != j:
                    scores[sets[other]] -= row_weights[row]
        cover_counts[row] += 1
        owner_sums[row] += j
    return work


@njit(cache=True, nogil=True)
def _leaves_before(costs, scores, moved, i, j):  # type: ignore[no-untyped-def]
    """Whether member i is to be taken out before member j: less score per cost, or not moved for longer."""
    order = compare_products(scores[i], costs[j], scores[j], costs[i])
    return order < 0 or (order == 0 and (moved[i] < moved[j] or (moved[i] == moved[j] and i < j)))


@njit(cache=True, nogil=True)
def _fill_heap(is_member, costs, scores, moved, heap, heap_place):  # type: ignore[no-untyped-def]
    size = 0
    for j in range(len(is_member)):
        if is_member[j]:
            heap[size] = j
            heap_place[j] = size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sift(costs, scores, moved, heap, heap_place, size, at)


@njit(cache=True, nogil=True)
def _sift(costs, scores, moved, heap, heap_place, size, at):  # type: ignore[no-untyped-def]
    """Move the entry at a place up or down to where it belongs."""
    j = heap[at]
    while at > 0 and _leaves_before(costs, scores, moved, j, heap[(at - 1) >> 1]):
        above = (at - 1) >> 1
        heap[at] = heap[above]
        heap_place[heap[at]] = at
        at = above
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _leaves_before(costs, scores, moved, heap[below + 1], heap[below]):
            below += 1
        if not _leaves_before(costs, scores, moved, heap[below], j):
            break
        heap[at] = heap[below]
        heap_place[heap[at]] = at
        at = below
    heap[at] = j
    heap_place[j] = at


@njit(cache=True, nogil=True)
def _best_for_row(set_ptr, elements, element_ptr, sets, costs, row_moved, scores, moved, row):  # type: ignore[no-untyped-def]
    """Return the set of largest score per cost that covers a row and may be added; if none may, of all that cover it."""
    j = fallback = -1
    for place in range(element_ptr[row], element_ptr[row + 1]):
        k = sets[place]
        if _is_better(scores, costs, moved, k, fallback):
            fallback = k
        if _is_better(scores, costs, moved, k, j) and _may_be_added(set_ptr, elements, row_moved, moved, k):
            j = k
    return j if j >= 0 else fallback


@njit(cache=True, nogil=True)
def _is_better(scores, costs, moved, k, j):  # type: ignore[no-untyped-def]
    if j < 0:
        return True
    order = compare_products(scores[k], costs[j], scores[j], costs[k])
    return order > 0 or (order == 0 and moved[k] < moved[j])


@njit(cache=True, nogil=True)
def _may_be_added(set_ptr, elements, row_moved, moved, j):  # type: ignore[no-untyped-def]
    """Whether a set never moved, or another one that shares a row with it has moved since."""
    may = moved[j] == 0
    place = set_ptr[j]
    while not may and place < set_ptr[j + 1]:
        may = row_moved[elements[place]] > moved[j]
        place += 1
    return may


@njit(cache=True, nogil=True)
def _random_below(rng, bound):  # type: ignore[no-untyped-def]
    """Return a number from 0 to bound - 1, from a xorshift generator."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(bound))
