"""A bidder's value table: what each bundle it may hold is worth to it, and the questions that winner determination asks of one.

A table is kept as one number for every bundle there is, in mixed-radix order (:class:`FullTable`), or as a list of some bundles
(:class:`ListedTable`). Both answer which bundle is best at prices, which is best within what is left, and which come close enough at
prices to be part of something better.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles, bundles_at, count_bundles, indices_of, strides

LOW_BUNDLES = 1024
"""Of the first few goods; their prices stay in the fastest cache."""

NOT_THERE = -np.inf
LEAST = np.finfo(np.float64).min
"""The least utility of a bundle that the bidder may hold."""


class Choice(NamedTuple):
    """A bundle and what was asked of it: its utility at prices, or its value."""

    bundle: Bundles
    worth: float


class Table(Protocol):
    """What winner determination asks of a value table."""

    @property
    def n_bundles(self) -> int:
        """How many bundles the bidder may hold."""

    def full(self, capacities: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of all bundles in mixed-radix order."""

    def demand(self, prices: NDArray[np.float64]) -> Choice:
        """Return the bundle of largest utility at some prices."""

    def best_within(self, room: NDArray[np.int64]) -> Choice | None:
        """Return the most valuable bundle within some quantities."""

    def value(self, bundle: Bundles) -> float:
        """Return what a bundle is worth; minus infinity if the bidder may not hold it."""

    def close(self, prices: NDArray[np.float64], utility: float, most: int) -> ListedTable | None:
        """Return the table of all bundles of at least some utility at prices; None if there are more than `most`."""

    def without(self, bundles: Bundles) -> Table:
        """Return the table without some bundles."""


class FullTable:
    """Values of all bundles in mixed-radix order; minus infinity for those that the bidder may not hold.

    Parameters
    ----------
    values : float array of shape (n_bundles,)
    capacities : int array of shape (n_goods,)
    """

    def __init__(self, values: NDArray[np.float64], capacities: NDArray[np.int64]) -> None:
        self._capacities = capacities
        self._n_low = _split(capacities)
        self._low, self._high = (
            all_bundles(part).astype(np.float64) if len(part) else np.zeros((1, 0))
            for part in (capacities[: self._n_low], capacities[self._n_low :])
        )
        self._values = np.ascontiguousarray(values, dtype=np.float64).reshape(len(self._high), len(self._low))
        self._tops = self._values.max(axis=1)
        self._last = int(np.argmax(self._values))

    @cached_property
    def n_bundles(self) -> int:
        return int(np.isfinite(self._values).sum())

    def full(self, capacities: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._values.ravel()

    def demand(self, prices: NDArray[np.float64]) -> Choice:
        low, high = self._charges(prices)
        self._last, utility = _highest(self._values, self._tops, low, high, self._last)
        return Choice(bundles_at(self._last, self._capacities), utility)

    def best_within(self, room: NDArray[np.int64]) -> Choice | None:
        index, value = _highest_within(self._values.ravel(), strides(self._capacities), room)
        return None if index < 0 else Choice(bundles_at(index, self._capacities), value)

    def value(self, bundle: Bundles) -> float:
        return float(self._values.ravel()[indices_of(bundle, self._capacities)])

    def close(self, prices: NDArray[np.float64], utility: float, most: int) -> ListedTable | None:
        low, high = self._charges(prices)
        utility = max(utility, LEAST)
        indices = np.empty(min(most, self._values.size), dtype=np.int64)
        count = _collect_close(self._values, self._tops, low, high, utility, indices)
        if count < 0:
            return None
        return ListedTable(bundles_at(indices[:count], self._capacities), self._values.ravel()[indices[:count]])

    def without(self, bundles: Bundles) -> FullTable:
        values = self._values.ravel().copy()
        values[indices_of(bundles, self._capacities)] = NOT_THERE
        return FullTable(values, self._capacities)

    def _charges(self, prices: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._low @ prices[: self._n_low], self._high @ prices[self._n_low :]


class ListedTable:
    """A list of bundles, each at most once, with their values.

    Parameters
    ----------
    bundles : int array of shape (n_bundles, n_goods)
    values : float array of shape (n_bundles,)

    Attributes
    ----------
    bundles, values : arrays
        The most valuable first.
    """

    def __init__(self, bundles: Bundles, values: NDArray[np.float64]) -> None:
        order = np.argsort(-values, kind="stable")
        self.bundles, self.values = np.ascontiguousarray(bundles[order]), values[order]
        self._quantities = self.bundles.astype(np.float64)

    @property
    def n_bundles(self) -> int:
        return len(self.values)

    def full(self, capacities: NDArray[np.int64]) -> NDArray[np.float64]:
        values = np.full(count_bundles(capacities), NOT_THERE)
        values[indices_of(self.bundles, capacities)] = self.values
        return values

    def demand(self, prices: NDArray[np.float64]) -> Choice:
        utilities = self.values - self._quantities @ prices
        row = int(np.argmax(utilities))
        return Choice(self.bundles[row], float(utilities[row]))

    def best_within(self, room: NDArray[np.int64]) -> Choice | None:
        row = _first_within(self.bundles, room)
        return None if row < 0 else Choice(self.bundles[row], float(self.values[row]))

    def value(self, bundle: Bundles) -> float:
        same = (self.bundles == bundle).all(axis=1)
        return float(self.values[same][0]) if same.any() else NOT_THERE

    def close(self, prices: NDArray[np.float64], utility: float, most: int) -> ListedTable | None:
        kept = self.values - self._quantities @ prices >= utility
        return None if np.count_nonzero(kept) > most else ListedTable(self.bundles[kept], self.values[kept])

    def without(self, bundles: Bundles) -> ListedTable:
        kept = np.ones(len(self.values), dtype=bool)
        for bundle in bundles:
            kept &= (self.bundles != bundle).any(axis=1)
        return ListedTable(self.bundles[kept], self.values[kept])


def _split(capacities: NDArray[np.int64]) -> int:
    """Return how many of the first goods have at most :data:`LOW_BUNDLES` bundles."""
    n_low = 1
    while n_low < len(capacities) and count_bundles(capacities[: n_low + 1]) <= LOW_BUNDLES:
        n_low += 1
    return n_low


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _highest_of(values, charges):  # type: ignore[no-untyped-def]
    highest = -np.inf
    for k in range(len(charges)):
        utility = values[k] - charges[k]
        highest = utility if utility > highest else highest
    return highest


@njit(cache=True, nogil=True)
def _highest(values, tops, low, high, guess):  # type: ignore[no-untyped-def]
    """Return the index of largest utility and this utility; blocks that cannot reach what is known are passed over."""
    n_low = len(low)
    best = guess
    best_utility = values[guess // n_low, guess % n_low] - low[guess % n_low] - high[guess // n_low]
    for block in range(len(high)):
        if tops[block] - high[block] <= best_utility:
            continue
        utility = _highest_of(values[block], low) - high[block]
        if utility > best_utility:
            best_utility = utility
            for k in range(n_low):
                if values[block, k] - low[k] - high[block] == utility or values[block, k] - low[k] == utility + high[block]:
                    best = block * n_low + k
                    break
    return best, best_utility


@njit(cache=True, nogil=True)
def _highest_within(values, steps, room):  # type: ignore[no-untyped-def]
    """Go through all bundles within `room` as an odometer does, good 0 fastest."""
    taken = np.zeros(len(room), np.int64)
    index, best, best_value = 0, -1, -np.inf
    while True:
        if values[index] > best_value:
            best, best_value = index, values[index]
        good = 0
        while good < len(room) and taken[good] == room[good]:
            index -= taken[good] * steps[good]
            taken[good] = 0
            good += 1
        if good == len(room):
            return best, best_value
        taken[good] += 1
        index += steps[good]


@njit(cache=True, nogil=True)
def _first_within(bundles, room):  # type: ignore[no-untyped-def]
    for row in range(len(bundles)):
        within = True
        for good in range(len(room)):
            if bundles[row, good] > room[good]:
                within = False
                break
        if within:
            return row
    return -1


@njit(cache=True, nogil=True)
def _collect_close(values, tops, low, high, utility, indices):  # type: ignore[no-untyped-def]
    """Write down the indices of at least some utility and return how many there are; -1 if there is no place for them."""
    count = 0
    for block in range(len(high)):
        needed = utility + high[block]
        if tops[block] < needed or _highest_of(values[block], low) < needed:
            continue
        for k in range(len(low)):
            if values[block, k] - low[k] >= needed:
                if count == len(indices):
                    return -1
                indices[count] = block * len(low) + k
                count += 1
    return count
