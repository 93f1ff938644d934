"""Least-cost covers by at most 25 sets: every choice of sets is looked at.

A choice covers an element if it meets the element's mask, the sets that contain it as bits. Choices are counted up in binary; what
lies in the low and the high half of the bits costs what two short tables say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.incidence import Incidence

MAX_SETS = 25
WORK_PER_CALL = 1 << 22


class EnumeratedCover(NamedTuple):
    """A least-cost cover.

    Attributes
    ----------
    cost : int
    members : bool array of shape (n,)
    """

    cost: int
    members: np.ndarray


def enumerate_covers(
    incidence: Incidence, known: np.ndarray, *, stop: Callable[[], bool] | None = None
) -> EnumeratedCover | None:
    """Return a least-cost cover, the known one unless there is a better, or None when told to stop.

    Parameters
    ----------
    incidence : Incidence
        At most 25 sets.
    known : bool array of shape (n,)
        A cover; only cheaper choices are looked at closely.
    stop : callable, optional
        Asked now and then.

    Notes
    -----
    O(2^n) where costs rule most choices out, at most O(2^n m).

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> enumerate_covers(build_incidence(2, [0, 1, 2, 4], [0, 1, 0, 1], [1, 2, 4]), np.array([False, False, True])).cost
    3
    """
    n = incidence.num_sets
    if n > MAX_SETS:
        raise ValueError(f"{n} sets can be chosen in too many ways to look at each; at most {MAX_SETS} sets")
    masks = np.zeros(incidence.num_elements, np.int64)
    np.add.at(masks, incidence.elements, np.repeat(np.int64(1) << np.arange(n), incidence.sizes))
    # Few sets contain an element of few bits: those masks fail most often.
    masks = np.unique(masks)
    masks = masks[np.argsort(np.bitwise_count(masks), kind="stable")]
    low_bits = n // 2
    low, high = _costs_of_choices(incidence.costs[:low_bits]), _costs_of_choices(incidence.costs[low_bits:])
    # Least cost and the choice of it.
    members = np.asarray(known, dtype=bool)
    state = np.array([incidence.cost_of(members), int((members.astype(np.int64) << np.arange(n)).sum())], np.int64)
    choices = max(1, WORK_PER_CALL // (1 + len(masks) // 64))
    for begin in range(0, 1 << n, choices):
        if stop is not None and stop():
            return None
        _look_at_choices(masks, low, high, low_bits, state, begin, min(1 << n, begin + choices))
    return EnumeratedCover(int(state[0]), (int(state[1]) >> np.arange(n) & 1).astype(bool))


def _costs_of_choices(costs: np.ndarray) -> np.ndarray:
    table = np.zeros(1, np.int64)
    for cost in costs.tolist():
        table = np.concatenate([table, table + cost])
    return table


@njit(cache=True, nogil=True)
def _look_at_choices(masks, low, high, low_bits, state, begin, end):  # type: ignore[no-untyped-def]
    low_mask = (np.int64(1) << low_bits) - 1
    for choice in range(begin, end):
        cost = low[choice & low_mask] + high[choice >> low_bits]
        if cost >= state[0]:
            continue
        covers = True
        for mask in masks:
            if choice & mask == 0:
                covers = False
                break
        if covers:
            state[0], state[1] = cost, choice
