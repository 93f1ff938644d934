"""Improvement of an allocation by pairs: two bidders share anew, in the best way, what they have and what nobody has.

When no pair can do better, the allocation is often the best there is; and what the goods are then worth at the margin, to those who have
them and to those who would have them next, makes prices that are close to the best ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, bundles_at, strides
from auctions.winner_determination.dynamic_program import best_split

MOST_ROUNDS = 20


def improved_by_pairs(values: Sequence[NDArray[np.float64]], allocation: Bundles, capacities: NDArray[np.int64]) -> Bundles:
    """Return an allocation that no pair of bidders can improve by sharing anew.

    Parameters
    ----------
    values : sequence of float arrays of shape (n_bundles,)
        Per bidder, in mixed-radix order; minus infinity for what it may not hold.
    allocation : int array of shape (n_bidders, n_goods)
        Within the supply, each bundle one that its bidder may hold.
    capacities : int array of shape (n_goods,)
    """
    steps = strides(capacities)
    allocation = allocation.copy()
    current = np.array([own[bundle @ steps] for own, bundle in zip(values, allocation, strict=True)])
    # A pair that could do no better cannot do so until something has changed for one of it, or become free.
    changed = np.ones(len(values), dtype=np.int64)
    tried: dict[tuple[int, int], tuple[int, int]] = {}
    for _ in range(MOST_ROUNDS):
        has_improved = False
        for pair in itertools.combinations(range(len(values)), 2):
            state = (int(changed[pair[0]]), int(changed[pair[1]]))
            if tried.get(pair) == state:
                continue
            first, second = pair
            pool = capacities - allocation.sum(axis=0) + allocation[first] + allocation[second]
            index, worth = best_split(values[second], values[first], steps, pool)
            if worth > current[first] + current[second] + 1e-12 * abs(worth):
                allocation[first] = bundles_at(index, capacities)
                allocation[second] = pool - allocation[first]
                current[[first, second]] = values[first][index], worth - values[first][index]
                changed[[first, second]] += 1
                has_improved = True
            tried[pair] = (int(changed[first]), int(changed[second]))
        if not has_improved:
            break
    return allocation


def marginal_prices(
    values: Sequence[NDArray[np.float64]], allocation: Bundles, capacities: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return prices between what an owner loses and what anybody else gains with one more unit of each good.

    Examples
    --------
    >>> marginal_prices([np.array([0.0, 5.0]), np.array([0.0, 3.0])], np.array([[1], [0]]), np.array([1])).tolist()
    [4.0]
    """
    steps = strides(capacities)
    indices = allocation @ steps
    prices = np.zeros(len(capacities))
    for good, step in enumerate(steps):
        holdings = list(zip(values, indices, allocation[:, good], strict=True))
        gains = [own[index + step] - own[index] for own, index, held in holdings if held < capacities[good]]
        losses = [own[index] - own[index - step] for own, index, held in holdings if held > 0]
        gain = max([0.0, *(gain for gain in gains if np.isfinite(gain))])
        loss = min([loss for loss in losses if np.isfinite(loss)], default=gain)
        prices[good] = (gain + max(loss, 0.0)) / 2
    return prices
