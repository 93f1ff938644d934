"""Random bundles, as the papers draw them for training and testing value models.

"uniform": every bundle that the bidder may hold is as likely as any other. "gaussian_size": the number of units is normal, drawn
again until it is between 1 and all units, and then every set of so many units is as likely as any other; limits do not count.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits
from solvers.operation import InvalidInput, TooLarge

MOST_UNITS = 50_000_000


class Limited(Protocol):
    """Bidders with limits on what they may hold."""

    capacities: NDArray[np.int64]

    def limits(self, bidder: int) -> Limits: ...


def sample(instance: Limited, bidder: int, n: int, kind: str, generator: np.random.Generator, **shape: float) -> Bundles:
    """Return n random bundles.

    Parameters
    ----------
    kind : {"uniform", "gaussian_size"}
    mean, deviation : float, optional
        Of the size of "gaussian_size"; by default half and a quarter of all units.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise InvalidInput(f"a number of bundles is a whole number of at least 0, not {n!r}", pointer="/n")
    if n * int(instance.capacities.sum()) > MOST_UNITS:
        raise TooLarge(f"{n} bundles of {instance.capacities.sum()} units; the most is {MOST_UNITS} units", pointer="/n")
    if kind == "uniform" and not shape:
        return uniform(instance.capacities, instance.limits(bidder), int(n), generator)
    if kind == "gaussian_size" and set(shape) <= {"mean", "deviation"}:
        units = float(instance.capacities.sum())
        return of_gaussian_size(
            instance.capacities, int(n), shape.get("mean", units / 2), shape.get("deviation", units / 4), generator
        )
    raise InvalidInput(f"there is no kind {kind!r} of bundles with {sorted(shape)}; 'uniform' has none", pointer="/kind")


def uniform(capacities: NDArray[np.int64], limits: Limits, n: int, generator: np.random.Generator) -> Bundles:
    """Return n bundles, each that the limits admit as likely as any other.

    Examples
    --------
    >>> uniform(np.array([1, 1]), Limits(max_items=0), 2, np.random.default_rng(0)).tolist()
    [[0, 0], [0, 0]]
    """
    most = limits.quantities(capacities)
    if limits.max_items is None or limits.max_items >= most.sum():
        return np.floor(generator.random((n, len(most))) * (most + 1)).astype(np.int64)
    # ways[j][r]: in how many ways r units at most can be made of the goods from j on.
    room = limits.max_items
    ways = [np.ones(room + 1)]
    for quantity in most[::-1].tolist():
        before = np.concatenate((np.zeros(quantity), ways[-1]))
        ways.append(np.array([before[left : left + quantity + 1].sum() for left in range(room + 1)]))
    bundles = np.zeros((n, len(most)), dtype=np.int64)
    left = np.full(n, room)
    for good, quantity in enumerate(most.tolist()):
        following = ways[len(most) - 1 - good]
        chances = np.stack(
            [np.where(left >= units, following[np.maximum(left - units, 0)], 0.0) for units in range(quantity + 1)]
        )
        thresholds = generator.random(n) * chances.sum(axis=0)
        bundles[:, good] = (np.cumsum(chances, axis=0) <= thresholds).sum(axis=0)
        left = left - bundles[:, good]
    return bundles


def of_gaussian_size(
    capacities: NDArray[np.int64], n: int, mean: float, deviation: float, generator: np.random.Generator
) -> Bundles:
    """Return n bundles of normally distributed size."""
    units = int(capacities.sum())
    if not (np.isfinite(mean) and np.isfinite(deviation) and deviation > 0):
        raise InvalidInput("a mean is finite, a deviation finite and above 0", pointer="/deviation")
    if not 1 - 8 * deviation <= mean <= units + 8 * deviation:
        raise InvalidInput(f"sizes of mean {mean:g} and deviation {deviation:g} are never from 1 to {units}", pointer="/mean")
    sizes = np.zeros(n)
    wrong = np.ones(n, dtype=bool)
    while wrong.any():
        sizes[wrong] = np.round(generator.normal(mean, deviation, int(wrong.sum())))
        wrong = (sizes < 1) | (sizes > units)
    # The units of the lowest of random keys: every set of that many is as likely.
    ranks = generator.random((n, units)).argsort(axis=1).argsort(axis=1)
    taken = ranks < sizes[:, None]
    starts = np.concatenate(([0], np.cumsum(capacities)[:-1]))
    return np.add.reduceat(taken, starts, axis=1, dtype=np.int64)
