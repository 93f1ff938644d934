"""The best subsets of licences under a synergy that depends on their number alone.

For a fixed number t of licences a bundle's utility adds up from the scores s_j = (1 + 0.2 (t - 1)) v_j - p_j, so the best is made
of the t highest ones. Several best bundles come from a table of all subsets if there are at most `LARGEST_SET` licences, else
from the t-subsets in the order of their sums.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import bundles_at
from auctions.domains.ranking import best, tie_tolerance

SYNERGY = 0.2

LARGEST_SET = 16

# How many equals of the last bundle are looked at, where there is no table, to find those that go first.
MOST_TIED = 10_000


def synergy(count: ArrayLike) -> NDArray[np.float64]:
    """Return the factor on the sum of values of a bundle with `count` licences that count."""
    return np.asarray(1.0 + SYNERGY * np.maximum(np.asarray(count) - 1.0, 0.0))


def best_subsets(worth: NDArray[np.float64], prices: NDArray[np.float64], most: int, k: int) -> NDArray[np.int64]:
    """Return the k subsets of highest utility as rows of zeros and ones, best first.

    Parameters
    ----------
    worth, prices : arrays of shape (n,)
    most : int
        The largest size of a subset.
    k : int

    Notes
    -----
    For k = 1 the time is O(n log n) per size.
    """
    if k == 1:
        return best_subset(worth, prices, most)[None]
    if len(worth) <= LARGEST_SET:
        return _from_all(worth, prices, most, k)
    return _from_sizes(worth, prices, most, k)


def best_subset(worth: NDArray[np.float64], prices: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the subset of highest utility; the empty one has none."""
    sizes = np.arange(1, most + 1)
    scores = synergy(sizes)[:, None] * worth - prices
    # Row t - 1 of the sums has at place t - 1 the sum of the t highest scores.
    utilities = np.concatenate(([0.0], np.cumsum(-np.sort(-scores, axis=1), axis=1)[sizes - 1, sizes - 1]))
    leader = int(np.argmax(utilities))
    slack = tie_tolerance(float(utilities[leader]), float(synergy(leader)) * float(worth.sum()))
    size = int(np.argmax(utilities >= utilities[leader] - slack))
    chosen = np.zeros(len(worth), dtype=np.int64)
    if size == 0:
        return chosen
    least = np.sort(scores[size - 1])[-size]
    sure = scores[size - 1] > least + slack
    tied = np.flatnonzero((scores[size - 1] >= least - slack) & ~sure)
    chosen[sure] = 1
    # Among equal scores the last licences make the lexicographically smallest bundle.
    chosen[tied[len(tied) - (size - int(sure.sum())) :]] = 1
    return chosen


def _from_all(worth: NDArray[np.float64], prices: NDArray[np.float64], most: int, k: int) -> NDArray[np.int64]:
    ones = np.ones(len(worth), dtype=np.int64)
    subsets = bundles_at(np.arange(2 ** len(worth)), ones)
    counts = subsets.sum(axis=1)
    values = (subsets @ worth) * synergy(counts)
    utilities = np.where(counts <= most, values - subsets @ prices, -np.inf)
    return subsets[best(values, utilities, k, subsets.__getitem__)]


def _from_sizes(worth: NDArray[np.float64], prices: NDArray[np.float64], most: int, k: int) -> NDArray[np.int64]:
    found = [np.zeros((1, len(worth)), dtype=np.int64)]
    for size in range(1, most + 1):
        found.append(_highest_sums(synergy(size) * worth - prices, worth, size, k))
    subsets = np.concatenate(found)
    counts = subsets.sum(axis=1)
    values = (subsets @ worth) * synergy(counts)
    return subsets[best(values, values - subsets @ prices, k, subsets.__getitem__)]


def _highest_sums(scores: NDArray[np.float64], worth: NDArray[np.float64], size: int, k: int) -> NDArray[np.int64]:
    """Return the k subsets of one size with the highest sums of scores, and what ties with the last of them."""
    order = np.argsort(-scores, kind="stable")
    n = len(scores)
    ranked = scores[order].tolist()
    first = tuple(range(size))
    # A subset is followed by those in which one place moves on by one; each is reached once, by moving the leftmost place that may move.
    queue = [(-sum(ranked[:size]), first, 0)]
    rows: list[tuple[int, ...]] = []
    last = 0.0
    while queue and len(rows) < k + MOST_TIED:
        negative, places, _ = heapq.heappop(queue)
        if len(rows) >= k and -negative < last - tie_tolerance(last, float(np.abs(worth).sum())):
            break
        rows.append(places)
        if len(rows) <= k:
            last = -negative
        for move in range(size):
            nxt = places[move] + 1
            if nxt < (places[move + 1] if move + 1 < size else n):
                moved = (*places[:move], nxt, *places[move + 1 :])
                if _leftmost_moved(moved) == move:
                    heapq.heappush(queue, (negative + ranked[places[move]] - ranked[nxt], moved, move))
    subsets = np.zeros((len(rows), n), dtype=np.int64)
    for row, places in enumerate(rows):
        subsets[row, order[list(places)]] = 1
    return subsets


def _leftmost_moved(places: tuple[int, ...]) -> int:
    """Return the first place that is not where it began: a subset's one parent has it moved back by one."""
    return next(index for index, place in enumerate(places) if place != index)
