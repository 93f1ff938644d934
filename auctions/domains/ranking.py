"""The best bundles at given prices, in an order that does not depend on rounding.

Utilities that differ by at most `TIE` relative to the numbers they were made of count as equal; among equals the bundle of fewest
units comes first, then the lexicographically smallest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles

TIE = 1e-12


def tie_tolerance(utility: float, value: float) -> float:
    """Return by how much another utility may fall below `utility` and still count as equal.

    A utility is a value less a price, and either may be much larger than it: what rounding does is measured by the larger one.
    """
    return TIE * max(abs(utility), abs(value))


def best(
    values: NDArray[np.float64], utilities: NDArray[np.float64], k: int, bundles_of: Callable[[NDArray[np.intp]], Bundles]
) -> NDArray[np.intp]:
    """Return the places of the k best bundles, best first; places with a utility of minus infinity are not there.

    Parameters
    ----------
    values, utilities : arrays of shape (n,)
    k : int
        All of them if there are fewer.
    bundles_of : callable
        The bundles of some places; asked only where there is a tie.

    Examples
    --------
    >>> bundles = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    >>> best(np.array([3.0, 3, 3, 0]), np.array([3.0, 3, 3, 0]), 3, bundles.__getitem__).tolist()
    [2, 1, 0]
    """
    k = min(k, int(np.count_nonzero(utilities > -np.inf)))
    if k == 0:
        return np.zeros(0, dtype=np.intp)
    threshold = float(utilities.max() if k == 1 else np.partition(utilities, len(utilities) - k)[len(utilities) - k])
    at_threshold = np.flatnonzero(utilities == threshold)
    slack = tie_tolerance(threshold, float(np.abs(values[at_threshold]).max()))
    near = np.flatnonzero(utilities >= threshold - slack)
    near = near[np.argsort(-utilities[near], kind="stable")]
    descending = -utilities[near]
    apart = np.diff(descending)
    if (apart > TIE * np.maximum(np.abs(descending[:-1]), np.abs(values[near[:-1]]))).all():
        return near[:k]
    ranked: list[NDArray[np.intp]] = []
    start = 0
    while start < min(k, len(near)):
        leader = near[start]
        floor = utilities[leader] - tie_tolerance(float(utilities[leader]), float(values[leader]))
        end = int(np.searchsorted(descending, -floor, side="right"))
        ranked.append(in_tie_order(near[start:end], bundles_of))
        start = end
    return np.concatenate(ranked)[:k]


def in_tie_order(places: NDArray[np.intp], bundles_of: Callable[[NDArray[np.intp]], Bundles]) -> NDArray[np.intp]:
    """Return tied places in the order that ties are broken: fewest units, then the lexicographically smallest bundle."""
    if len(places) == 1:
        return places
    tied = bundles_of(places)
    return places[np.lexsort((*tied.T[::-1], tied.sum(axis=1)))]
