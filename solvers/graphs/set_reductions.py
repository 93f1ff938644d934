"""Exact reductions of set cover: what a cheaper or larger set, a rarer element or a lack of choice makes superfluous.

Until nothing applies:

- a set is dropped if another one contains it and costs no more (of two alike the one of higher index goes);
- an element is dropped if the sets that contain it include all those that contain another element (of two alike: higher index);
- a set that is free, or alone contains an element, is chosen, and its elements are covered.

A cover of what is left, with the chosen sets, covers everything at least cost if it covers what is left at least cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.graphs.incidence import Incidence

WORK_PER_CALL = 4_000_000

Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class SetReduction:
    """What is left of a set cover instance, and the way back.

    The least cost of the whole is ``constant`` plus the least cost of the kernel.

    Attributes
    ----------
    original, kernel : Incidence
    sets, elements : int64 array
        Positions in `original` of the kernel's sets and elements; increasing.
    forced : int64 array
        Sets that are chosen, in the order in which they were found.
    forcing : int64 array
        For each forced set an element that was in no other set left, and is in none of the sets forced later; for a free one
        just any of its elements.
    """

    original: Incidence
    kernel: Incidence
    sets: np.ndarray
    elements: np.ndarray
    forced: np.ndarray
    forcing: np.ndarray

    @property
    def constant(self) -> int:
        """Cost of the forced sets."""
        return int(self.original.costs[self.forced].sum())

    @property
    def is_reduced(self) -> bool:
        """Whether anything was dropped or chosen."""
        return len(self.sets) < self.original.num_sets or len(self.elements) < self.original.num_elements

    def lift(self, members: np.ndarray) -> np.ndarray:
        """Return the cover of the original that a cover of the kernel stands for.

        Parameters
        ----------
        members : bool array of shape (kernel sets,)
        """
        lifted = np.zeros(self.original.num_sets, bool)
        lifted[self.sets[np.asarray(members, dtype=bool)]] = True
        lifted[self.forced] = True
        return lifted

    def lift_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return multipliers of the original's elements that prove as much as those of the kernel and the forced sets together.

        Parameters
        ----------
        multipliers : array of shape (kernel elements,)
            At least 0; if they do not charge any kernel set more than its cost, those returned charge no set more than its cost.

        Notes
        -----
        A forced set is paid for by its forcing element. Sets dropped before are inside sets that are not overcharged; sets left
        after do not contain that element.
        """
        lifted = np.zeros(self.original.num_elements, multipliers.dtype)
        lifted[self.elements] = multipliers
        lifted[self.forcing] = self.original.costs[self.forced]
        return lifted


def reduce_sets(incidence: Incidence, *, stop: Stop = lambda: False) -> SetReduction:
    """Drop and choose until nothing more follows.

    Parameters
    ----------
    incidence : Incidence
        Every element in some set.
    stop : callable
        Asked now and then; once true, the reduction ends where it is, which is still exact.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> found = reduce_sets(build_incidence(3, [0, 2, 3, 5], [0, 1, 1, 1, 2], [1, 1, 1]))
    >>> found.forced.tolist(), found.constant, found.kernel.num_sets
    ([0, 2], 2, 0)
    """
    n, m = incidence.num_sets, incidence.num_elements
    frequencies = incidence.frequencies.astype(np.int64)
    is_free = (incidence.costs == 0) & (incidence.sizes > 0)
    element_lives = incidence.times_covered(is_free) == 0
    sizes = _counts_of_living(incidence.set_ptr, incidence.elements, element_lives)
    set_lives = ~is_free
    is_stale_set, is_stale_element = np.ones(n, bool), np.ones(m, bool)
    free = np.flatnonzero(is_free)
    forced, forcing = np.empty(len(free) + m, np.int64), np.empty(len(free) + m, np.int64)
    forced[: len(free)], forcing[: len(free)] = free, incidence.elements[incidence.set_ptr[free]]
    # Number of forced sets; where the present pass stands; whether anything changed since the passes began.
    state = np.array([len(free), 0, 1], np.int64)
    rows = (*incidence, sizes, frequencies, set_lives, element_lives, is_stale_set, is_stale_element)
    passes = (_force, _drop_elements, _drop_sets)
    while state[_CHANGED] and not stop():
        state[_CHANGED] = 0
        for one_pass in passes:
            state[_PLACE] = 0
            while not one_pass(*rows, forced, forcing, state, WORK_PER_CALL):
                if stop():
                    break
    set_lives &= sizes > 0
    kept_sets, kept_elements = np.flatnonzero(set_lives), np.flatnonzero(element_lives)
    count = int(state[_FORCED])
    kernel = incidence.restricted_to(kept_sets, kept_elements)
    return SetReduction(incidence, kernel, kept_sets, kept_elements, forced[:count].copy(), forcing[:count].copy())


_FORCED, _PLACE, _CHANGED = range(3)


@njit(cache=True, nogil=True)
def _counts_of_living(ptr, members, lives):  # type: ignore[no-untyped-def]
    counts = np.zeros(len(ptr) - 1, np.int64)
    for row in range(len(counts)):
        for place in range(ptr[row], ptr[row + 1]):
            if lives[members[place]]:
                counts[row] += 1
    return counts


@njit(cache=True, nogil=True)
def _force(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, sizes, frequencies, set_lives, element_lives, stale_sets, stale_elements,
    forced, forcing, state, budget,
):  # fmt: skip
    """Choose sets that alone contain an element; return whether the pass is over."""
    m = len(element_lives)
    while state[_PLACE] < m:
        e = state[_PLACE]
        state[_PLACE] += 1
        if not element_lives[e] or frequencies[e] != 1:
            continue
        j = -1
        for place in range(element_ptr[e], element_ptr[e + 1]):
            if set_lives[sets[place]]:
                j = sets[place]
        forced[state[_FORCED]], forcing[state[_FORCED]] = j, e
        state[_FORCED] += 1
        state[_CHANGED] = 1
        for place in range(set_ptr[j], set_ptr[j + 1]):
            f = elements[place]
            if element_lives[f]:
                budget -= element_ptr[f + 1] - element_ptr[f]
                _take_element(element_ptr, sets, sizes, set_lives, element_lives, stale_sets, f)
        set_lives[j] = False
        if budget < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _drop_elements(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, sizes, frequencies, set_lives, element_lives, stale_sets, stale_elements,
    forced, forcing, state, budget,
):  # fmt: skip
    """Drop elements that are covered whenever another one is; return whether the pass is over."""
    m = len(element_lives)
    while state[_PLACE] < m:
        e = state[_PLACE]
        state[_PLACE] += 1
        if not element_lives[e] or not stale_elements[e]:
            continue
        stale_elements[e] = False
        smallest = -1
        for place in range(element_ptr[e], element_ptr[e + 1]):
            j = sets[place]
            if set_lives[j] and (smallest < 0 or sizes[j] < sizes[smallest]):
                smallest = j
        if smallest < 0:
            continue
        for place in range(set_ptr[smallest], set_ptr[smallest + 1]):
            f = elements[place]
            if f == e or not element_lives[f] or frequencies[f] < frequencies[e]:
                continue
            if frequencies[f] == frequencies[e] and f < e:
                continue
            budget -= 10 + element_ptr[e + 1] - element_ptr[e]
            if _is_inside(element_ptr, sets, set_lives, e, f):
                _take_element(element_ptr, sets, sizes, set_lives, element_lives, stale_sets, f)
                state[_CHANGED] = 1
        if budget < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _drop_sets(  # type: ignore[no-untyped-def]
    set_ptr, elements, element_ptr, sets, costs, sizes, frequencies, set_lives, element_lives, stale_sets, stale_elements,
    forced, forcing, state, budget,
):  # fmt: skip
    """Drop sets that another one contains at no higher cost; return whether the pass is over."""
    n = len(set_lives)
    while state[_PLACE] < n:
        j = state[_PLACE]
        state[_PLACE] += 1
        if not set_lives[j] or not stale_sets[j]:
            continue
        stale_sets[j] = False
        rarest = -1
        for place in range(set_ptr[j], set_ptr[j + 1]):
            e = elements[place]
            if element_lives[e] and (rarest < 0 or frequencies[e] < frequencies[rarest]):
                rarest = e
        if rarest < 0:
            set_lives[j] = False
            continue
        for place in range(element_ptr[rarest], element_ptr[rarest + 1]):
            k = sets[place]
            if k == j or not set_lives[k] or sizes[k] < sizes[j] or costs[k] > costs[j]:
                continue
            if sizes[k] == sizes[j] and costs[k] == costs[j] and k > j:
                continue
            budget -= 10 + set_ptr[j + 1] - set_ptr[j]
            if _is_inside(set_ptr, elements, element_lives, j, k):
                set_lives[j] = False
                state[_CHANGED] = 1
                for other in range(set_ptr[j], set_ptr[j + 1]):
                    e = elements[other]
                    frequencies[e] -= 1
                    stale_elements[e] = True
                break
        if budget < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _take_element(element_ptr, sets, sizes, set_lives, element_lives, stale_sets, e):  # type: ignore[no-untyped-def]
    element_lives[e] = False
    for place in range(element_ptr[e], element_ptr[e + 1]):
        sizes[sets[place]] -= 1
        stale_sets[sets[place]] = True


@njit(cache=True, nogil=True)
def _is_inside(ptr, members, lives, a, b):  # type: ignore[no-untyped-def]
    """Whether all members of row a that live are in row b; rows are sorted."""
    last = ptr[b + 1]
    low = ptr[b]
    for place in range(ptr[a], ptr[a + 1]):
        wanted = members[place]
        if not lives[wanted]:
            continue
        high = last
        while low < high:
            middle = (low + high) >> 1
            if members[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == last or members[low] != wanted:
            return False
        low += 1
    return True
