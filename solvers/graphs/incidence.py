"""Which set covers which element, in compressed rows both ways.

A cover is a bool array of n members: the sets that are chosen. It is worth the sum of their costs, the less the better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Incidence(NamedTuple):
    """A set cover instance in integers.

    Attributes
    ----------
    set_ptr : int64 array of shape (n + 1,)
    elements : int32 array of shape (k,)
        Those of set j are ``elements[set_ptr[j]:set_ptr[j + 1]]``, in increasing order.
    element_ptr : int64 array of shape (m + 1,)
    sets : int32 array of shape (k,)
        Those that contain element e are ``sets[element_ptr[e]:element_ptr[e + 1]]``, in increasing order.
    costs : int64 array of shape (n,)
        Never negative.
    """

    set_ptr: np.ndarray
    elements: np.ndarray
    element_ptr: np.ndarray
    sets: np.ndarray
    costs: np.ndarray

    @property
    def num_sets(self) -> int:
        return len(self.set_ptr) - 1

    @property
    def num_elements(self) -> int:
        return len(self.element_ptr) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Number of elements of every set."""
        return np.diff(self.set_ptr)

    @property
    def frequencies(self) -> np.ndarray:
        """Number of sets that contain each element."""
        return np.diff(self.element_ptr)

    def cost_of(self, members: np.ndarray) -> int:
        """Return the sum of the members' costs."""
        return int(self.costs[members].sum())

    def times_covered(self, members: np.ndarray) -> np.ndarray:
        """Return how many members contain each element."""
        held = np.repeat(np.asarray(members, dtype=bool), self.sizes)
        return np.bincount(self.elements[held], minlength=self.num_elements)

    def is_covered_by(self, members: np.ndarray) -> bool:
        """Whether every element is in a member."""
        return bool(self.times_covered(members).all())

    def restricted_to(self, kept_sets: np.ndarray, kept_elements: np.ndarray) -> Incidence:
        """Return the instance of some sets and elements, renumbered in their order.

        Parameters
        ----------
        kept_sets : int array
        kept_elements : int array
            Both increasing.
        """
        position = np.full(self.num_elements, -1, np.int32)
        position[kept_elements] = np.arange(len(kept_elements), dtype=np.int32)
        is_kept = np.zeros(self.num_sets, bool)
        is_kept[kept_sets] = True
        moved = position[self.elements]
        held = (moved >= 0) & np.repeat(is_kept, self.sizes)
        counted = np.concatenate(([0], np.cumsum(held)))[self.set_ptr]
        sizes = np.diff(counted)[kept_sets]
        return build_incidence(len(kept_elements), np.concatenate(([0], np.cumsum(sizes))), moved[held], self.costs[kept_sets])


def build_incidence(num_elements: int, set_ptr: np.ndarray, elements: np.ndarray, costs: np.ndarray) -> Incidence:
    """Return the instance with its rows both ways, in O(n + m + k).

    Parameters
    ----------
    num_elements : int
    set_ptr : int array of shape (n + 1,)
    elements : int array of shape (k,)
        In increasing order within each set, none twice.
    costs : int array of shape (n,)

    Examples
    --------
    >>> two = build_incidence(3, [0, 2, 4], [0, 1, 1, 2], [1, 1])
    >>> two.element_ptr.tolist(), two.sets.tolist()
    ([0, 1, 3, 4], [0, 0, 1, 1])
    """
    # Read-only arrays would be compiled for anew.
    begins = np.require(set_ptr, np.int64, ["C", "W"])
    held = np.require(elements, np.int32, ["C", "W"])
    return Incidence(begins, held, *_transposed(int(num_elements), begins, held), np.require(costs, np.int64, ["C", "W"]))


@njit(cache=True, nogil=True)
def _transposed(num_elements, set_ptr, elements):  # type: ignore[no-untyped-def]
    element_ptr = np.zeros(num_elements + 1, np.int64)
    for place in range(len(elements)):
        element_ptr[elements[place] + 1] += 1
    for e in range(num_elements):
        element_ptr[e + 1] += element_ptr[e]
    end = element_ptr[:-1].copy()
    sets = np.empty(len(elements), np.int32)
    for j in range(len(set_ptr) - 1):
        for place in range(set_ptr[j], set_ptr[j + 1]):
            e = elements[place]
            sets[end[e]] = j
            end[e] += 1
    return element_ptr, sets
