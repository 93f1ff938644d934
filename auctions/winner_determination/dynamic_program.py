"""Winner determination by dynamic programming over what is left: exact whatever the values, for few enough bundles.

best_k(r) = max over x <= r of best_{k-1}(r - x) + v_k(x), for all bidders k and all rooms r. The work is the number of pairs of a room and
a bundle within it, prod_j (c_j + 1)(c_j + 2) / 2 per bidder: 3^m for m single units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles, bundles_at, count_bundles, strides


def pairs(capacities: NDArray[np.int64]) -> int:
    """Return how many pairs there are of a room and a bundle that fits into it.

    Examples
    --------
    >>> pairs(np.array([1, 1])), pairs(np.array([2]))
    (9, 6)
    """
    return math.prod((int(c) + 1) * (int(c) + 2) // 2 for c in capacities)


def best_by_dynamic_program(values: Sequence[NDArray[np.float64]], capacities: NDArray[np.int64]) -> Bundles | None:
    """Return an allocation of largest value.

    Parameters
    ----------
    values : sequence of float arrays of shape (n_bundles,)
        Per bidder, in mixed-radix order; minus infinity for what it may not hold.
    capacities : int array of shape (n_goods,)

    Returns
    -------
    int array of shape (n_bidders, n_goods), or None if the bidders cannot all have something they may hold.

    Notes
    -----
    O(n P) time with P = :func:`pairs`, except for the first and the last bidder; O(n S) memory, S being the number of bundles.
    """
    steps = strides(capacities)
    n_bundles = count_bundles(capacities)
    best = [np.zeros(n_bundles)]
    is_single = bool((capacities == 1).all())
    for own in values[:-1]:
        reached = np.empty(n_bundles)
        if is_single:
            _extend_sets(best[-1], own, reached)
        else:
            _extend(best[-1], own, steps, capacities, reached)
        best.append(reached)
    room = capacities.copy()
    allocation = np.zeros((len(values), len(capacities)), dtype=np.int64)
    for bidder in range(len(values) - 1, -1, -1):
        index, value = best_split(best[bidder], values[bidder], steps, room)
        if value == -np.inf:
            return None
        allocation[bidder] = bundles_at(index, capacities)
        room -= allocation[bidder]
    return allocation


@njit(cache=True, nogil=True)
def _extend_sets(before, own, reached):  # type: ignore[no-untyped-def]
    """Add a bidder where there is one unit of each good: rooms and bundles are sets, numbered by their bits."""
    for room in range(len(own)):
        best = before[0] + own[room]
        rest = room
        while rest > 0:
            value = before[rest] + own[room ^ rest]
            best = value if value > best else best
            rest = (rest - 1) & room
        reached[room] = best


@njit(cache=True, nogil=True)
def _extend(before, own, steps, capacities, reached):  # type: ignore[no-untyped-def]
    room = np.zeros(len(steps), np.int64)
    for index in range(len(own)):
        reached[index] = best_split(before, own, steps, room)[1]
        for good in range(len(room)):
            room[good] += 1
            if room[good] <= capacities[good]:
                break
            room[good] = 0


@njit(cache=True, nogil=True)
def best_split(before, own, steps, room):  # type: ignore[no-untyped-def]
    """Return the bundle for one bidder that is best with the rest for those before, and what both are worth."""
    taken = np.zeros(len(room), np.int64)
    full = 0
    for good in range(len(room)):
        full += room[good] * steps[good]
    index, best_index, best = 0, 0, -np.inf
    while True:
        # Along good 0 the numbers lie side by side.
        for k in range(index, index + room[0] + 1):
            value = before[full - k] + own[k]
            if value > best:
                best_index, best = k, value
        good = 1
        while good < len(room) and taken[good] == room[good]:
            index -= taken[good] * steps[good]
            taken[good] = 0
            good += 1
        if good >= len(room):
            return best_index, best
        taken[good] += 1
        index += steps[good]
