"""The bundles that a bidder may hold, listed without going through all the others."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits, all_bundles, count_bundles

FREE = Limits()


@lru_cache(maxsize=64)
def count_admissible(capacities: tuple[int, ...], limits: Limits = FREE) -> int:
    """Return how many bundles a bidder may hold, the empty one included; O(m s c) for s units in all.

    Examples
    --------
    >>> count_admissible((1,) * 18, Limits(max_items=4))
    4048
    """
    most = limits.quantities(capacities).tolist()
    room = sum(most) if limits.max_items is None else min(sum(most), limits.max_items)
    ways = [1] + [0] * room  # of holding exactly so many units of the goods so far
    for units in most:
        ways = [sum(ways[max(0, total - units) : total + 1]) for total in range(room + 1)]
    return sum(ways)


@lru_cache(maxsize=64)
def admissible_bundles(capacities: tuple[int, ...], limits: Limits = FREE) -> Bundles:
    """Return every bundle that a bidder may hold, in mixed-radix order; the array is shared and read-only.

    Examples
    --------
    >>> admissible_bundles((1, 2), Limits(max_items=2)).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]]
    """
    most = limits.quantities(capacities)
    n_bundles = count_admissible(capacities, limits)
    bundles = all_bundles(most) if n_bundles == count_bundles(most) else first_bundles(capacities, limits, n_bundles)
    bundles.setflags(write=False)
    return bundles


def first_bundles(capacities: tuple[int, ...], limits: Limits, n: int) -> Bundles:
    """Return the first n admissible bundles in mixed-radix order, or all if there are fewer.

    Examples
    --------
    >>> first_bundles((1,) * 100, FREE, 3)[:, :3].tolist()
    [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    """
    most = limits.quantities(capacities)
    bundles = np.zeros((min(n, count_admissible(capacities, limits)), len(most)), dtype=np.int64)
    _list_bundles(most, int(most.sum()) if limits.max_items is None else limits.max_items, bundles)
    return bundles


@njit(cache=True, nogil=True)
def _list_bundles(most, max_items, bundles: NDArray[np.int64]) -> None:  # type: ignore[no-untyped-def]
    """Count upwards, good 0 fastest, carrying wherever a good or the total is used up."""
    bundle = np.zeros_like(most)
    total = 0
    for row in range(1, len(bundles)):
        good = 0
        while bundle[good] == most[good] or total == max_items:
            total -= bundle[good]
            bundle[good] = 0
            good += 1
        bundle[good] += 1
        total += 1
        bundles[row] = bundle
