"""Ties: of the allocations that are worth the most, the one that comes first in the order of bidders and of their rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.winner_determination.choices import Choices, fits

TIE = 1e-9
"""Relative difference of welfare up to which two allocations count as equally good."""

MOST_NODES = 2_000_000


def first_in_order(choices: Choices, prices: NDArray[np.float64], best: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of the best assignments: the first bidder has its earliest row, then the second its earliest, and so on.

    Bidder by bidder, rows are tried in their order. A row is left when its loss at `prices`, with the losses so far and the smallest
    that later bidders can have in what remains, shows that nothing as good as `best` contains it. If more rows have to be tried than
    :data:`MOST_NODES`, `best` itself is returned.
    """
    welfare = choices.welfare(best)
    losses, bound = choices.losses(prices)
    most_lost = bound - welfare + TIE * abs(welfare)
    left, rows = choices.keep(losses <= most_lost)
    found = np.empty(choices.n_bidders, dtype=np.int64)
    is_found = _first(
        left.starts,
        left.packed,
        losses[rows],
        left.bundles @ prices,
        left.packing.guards,
        left.packing.supply,
        float(prices @ choices.capacities),
        most_lost,
        MOST_NODES,
        found,
    )
    return rows[found] if is_found else best


@njit(cache=True, nogil=True)
def _first(starts, packed, losses, charges, guards, supply, all_sold, most_lost, most_nodes, place):  # type: ignore[no-untyped-def]
    n_levels = len(place)
    rooms = np.empty((n_levels + 1, len(supply)), np.uint64)
    rooms[0] = supply
    lost, spent = np.zeros(n_levels + 1), np.zeros(n_levels + 1)
    level, nodes = 0, 0
    place[0] = starts[0] - 1
    while level >= 0 and nodes < most_nodes:
        place[level] += 1
        row = place[level]
        if row == starts[level + 1]:
            level -= 1
            continue
        if lost[level] + losses[row] > most_lost or not fits(packed[row], rooms[level], guards):
            continue
        nodes += 1
        lost[level + 1] = lost[level] + losses[row]
        spent[level + 1] = spent[level] + charges[row]
        rooms[level + 1] = rooms[level] - packed[row]
        if level + 1 == n_levels:
            if lost[n_levels] + all_sold - spent[n_levels] <= most_lost:
                return True
            continue
        if lost[level + 1] + _least_lost(starts, packed, losses, guards, rooms[level + 1], level + 1) <= most_lost:
            level += 1
            place[level] = starts[level] - 1
    return False


@njit(cache=True, nogil=True)
def _least_lost(starts, packed, losses, guards, room, level):  # type: ignore[no-untyped-def]
    """Return the sum of the smallest losses that the bidders from a level on can each have in what is left."""
    total = 0.0
    for bidder in range(level, len(starts) - 1):
        least = np.inf
        for row in range(starts[bidder], starts[bidder + 1]):
            if losses[row] < least and fits(packed[row], room, guards):
                least = losses[row]
        total += least
    return total
