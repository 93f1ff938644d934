"""The best bundles of an MRVM bidder: regions are independent but for the factor on how many of them are left out.

All bundles fall into classes in which they are: for u = 0, 1, .. exactly u regions are empty and those are named, and in the last
class of the factor's levels the first regions that are empty are named, what comes after is free. Within a class the factor is
fixed and a bundle is one choice per region out of a ranked list, so that its bundles come in order by moving on in one list at a
time.
"""

from __future__ import annotations

import heapq
import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles
from auctions.domains.ranking import TIE, best, tie_tolerance
from solvers.operation import TooLarge

EMPTY, HELD, FREE = 0, 1, 2

# How many equals of the last bundle are looked at, to find those that go first.
MOST_TIED = 10_000

MOST_CLASSES = 200_000


def best_bundles(
    worth: NDArray[np.float64], levels: NDArray[np.float64], prices: NDArray[np.float64], lots: tuple[int, ...], k: int
) -> Bundles:
    """Return the k bundles of highest utility, best first.

    Parameters
    ----------
    worth : array of shape (regions, configurations)
        Before the factor; minus infinity for what may not be held.
    levels : array
        The factor for 0, 1, .. empty regions, the last for that many or more.
    prices : array of shape (regions * bands,)
    lots : tuple of int
    k : int
    """
    if k == 1:
        return _best_bundle(worth, levels, prices, lots)[None]
    configurations = all_bundles(lots)
    n_regions = len(worth)
    costs = prices.reshape(n_regions, -1) @ configurations.T
    rankings = [[_rank(level * worth[r], costs[r], configurations) for r in range(n_regions)] for level in levels.tolist()]

    heads: list[NDArray[np.float64]] = []
    for level, modes in enumerate(_classes(n_regions, len(levels))):
        first = np.zeros((3, n_regions))
        for region, ranking in enumerate(rankings[level]):
            first[HELD, region] = ranking.first(HELD)
            first[FREE, region] = ranking.first(FREE)
        heads.append(first[modes, np.arange(n_regions)].sum(axis=1))
    found, utilities, values = _in_order(rankings, heads, worth, levels, k)
    bundles = configurations[found].reshape(len(found), -1)
    return bundles[best(values, utilities, k, bundles.__getitem__)]


def _best_bundle(
    worth: NDArray[np.float64], levels: NDArray[np.float64], prices: NDArray[np.float64], lots: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the bundle of highest utility: the best head of all classes."""
    configurations, order = _tie_order(lots)
    n_regions = len(worth)
    regions = np.arange(n_regions)
    costs = prices.reshape(n_regions, -1) @ configurations.T
    choices, utilities, values = [], [], []
    for level, modes in zip(levels.tolist(), _classes(n_regions, len(levels)), strict=True):
        scores = level * worth - costs
        held = _first_of_the_best(scores[:, order[1:]], level * worth[:, order[1:]]) + 1
        free = _first_of_the_best(scores[:, order], level * worth[:, order])
        first = order[np.stack([np.zeros(n_regions, dtype=np.int64), held, free])]
        heads = scores[regions, first][modes, regions].sum(axis=1)
        near = np.flatnonzero(heads >= heads.max() - 1e-9 * max(1.0, abs(heads.max())))
        for row in near.tolist():
            choice = first[modes[row], regions]
            choices.append(choice)
            utilities.append(heads[row])
            values.append(level * worth[regions, choice].sum())
    bundles = configurations[np.array(choices)].reshape(len(choices), -1)
    return np.asarray(bundles[best(np.array(values), np.array(utilities), 1, bundles.__getitem__)[0]])


def _first_of_the_best(scores: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return in each row the first place whose score is as good as the best."""
    top = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    slack = TIE * np.maximum(np.abs(scores[rows, top]), np.abs(values[rows, top]))
    # Where nothing may be held all scores are minus infinity, and so would the slack be.
    floor = np.where(np.isfinite(slack), scores[rows, top] - slack, -np.inf)
    return np.asarray((scores >= floor[:, None]).argmax(axis=1))


@lru_cache(maxsize=32)
def _tie_order(lots: tuple[int, ...]) -> tuple[Bundles, NDArray[np.intp]]:
    """Return all configurations, and their order among equals: fewest units, then the lexicographically smallest."""
    configurations = all_bundles(lots)
    return configurations, np.lexsort((*configurations.T[::-1], configurations.sum(axis=1)))


class _Ranking:
    """The configurations of a region, best first."""

    __slots__ = ("held", "order", "utilities")

    def __init__(self, order: NDArray[np.intp], utilities: NDArray[np.float64]) -> None:
        self.order = order
        self.utilities = utilities
        self.held = np.flatnonzero(order > 0)

    def choice(self, mode: int, place: int) -> int | None:
        """Return the configuration at a place of the list of a mode, None beyond its end."""
        if mode == EMPTY:
            return 0 if place == 0 else None
        if mode == FREE:
            return int(self.order[place]) if place < len(self.order) else None
        return int(self.order[self.held[place]]) if place < len(self.held) else None

    def first(self, mode: int) -> float:
        """Return the utility of the first configuration of a mode's list, minus infinity if there is none."""
        choice = self.choice(mode, 0)
        return -np.inf if choice is None else float(self.utilities[choice])


def _rank(values: NDArray[np.float64], costs: NDArray[np.float64], configurations: Bundles) -> _Ranking:
    utilities = np.where(values > -np.inf, values - costs, -np.inf)
    return _Ranking(best(values, utilities, len(values), configurations.__getitem__), utilities)


@lru_cache(maxsize=32)
def _classes(n_regions: int, n_levels: int) -> list[NDArray[np.int64]]:
    """Return for each level the classes of bundles, one per row, as a mode per region."""
    if sum(math.comb(n_regions, level) for level in range(n_levels)) > MOST_CLASSES:
        raise TooLarge(f"a factor of {n_levels} levels over {n_regions} regions has more than {MOST_CLASSES} classes of bundles")
    classes = []
    for level in range(n_levels):
        is_last = level == n_levels - 1
        rows = []
        for empty in combinations(range(n_regions), level):
            modes = np.full(n_regions, HELD)
            modes[list(empty)] = EMPTY
            if is_last:
                modes[(empty[-1] + 1 if empty else 0) :] = FREE
            rows.append(modes)
        classes.append(np.array(rows, dtype=np.int64).reshape(len(rows), n_regions))
    return classes


def _in_order(
    rankings: list[list[_Ranking]],
    heads: list[NDArray[np.float64]],
    worth: NDArray[np.float64],
    levels: NDArray[np.float64],
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return k best bundles and what ties with the last of them, as configurations, with their utilities and values."""
    n_regions = len(worth)
    classes = _classes(n_regions, len(levels))
    regions = np.arange(n_regions)
    start = (0,) * n_regions
    queue: list[tuple[float, int, int, tuple[int, ...], int]] = [
        (-float(head), level, row, start, 0)
        for level, values in enumerate(heads)
        for row, head in enumerate(values)
        if head > -np.inf
    ]
    heapq.heapify(queue)
    found: list[NDArray[np.int64]] = []
    utilities: list[float] = []
    values: list[float] = []
    while queue and len(found) < k + MOST_TIED:
        negative, level, row, places, last = heapq.heappop(queue)
        if len(found) >= k and -negative < utilities[k - 1] - tie_tolerance(utilities[k - 1], values[k - 1]):
            break
        modes = classes[level][row]
        choice = [rankings[level][r].choice(int(modes[r]), places[r]) for r in range(n_regions)]
        configuration = np.array(choice, dtype=np.int64)
        found.append(configuration)
        utilities.append(-negative)
        values.append(float(levels[level] * worth[regions, configuration].sum()))
        # Each choice of places is reached once: by moving on in regions from the last that moved.
        for region in range(last, n_regions):
            ranking = rankings[level][region]
            following = ranking.choice(int(modes[region]), places[region] + 1)
            if following is None:
                continue
            drop = ranking.utilities[choice[region]] - ranking.utilities[following]
            moved = (*places[:region], places[region] + 1, *places[region + 1 :])
            heapq.heappush(queue, (negative + float(drop), level, row, moved, region))
    return np.array(found), np.array(utilities), np.array(values)
