"""Repair: from what the bidders demand at some prices to an allocation within the supply."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.winner_determination.choices import Choices, fits

SWEEPS = 4
"""Improvement rarely goes on after two."""


def repaired(choices: Choices, prices: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return rows that fit together, close to what is demanded at `prices`; None if the greedy way leads nowhere.

    Two orders are tried: bidders by the value of what they demand, and by its value per price. In turn each gets its demand, or else the
    best that still fits; then each in turn trades what it has, with what is left, for the best of it.
    """
    utilities = choices.values - choices.bundles @ prices
    demand = _best_rows(choices.starts, utilities)
    worth = choices.values[demand]
    charged = choices.bundles[demand] @ prices
    best, best_welfare = None, -np.inf
    for urgency in (worth, worth / np.maximum(charged, 1e-12 * max(choices.scale, 1e-300))):
        for scores in (choices.values, utilities):
            chosen = np.empty(choices.n_bidders, dtype=np.int64)
            order = np.argsort(-urgency, kind="stable")
            found = _repair(
                choices.starts,
                choices.packed,
                choices.values,
                scores,
                choices.packing.guards,
                choices.packing.supply,
                demand,
                order,
                chosen,
            )
            welfare = choices.welfare(chosen) if found else -np.inf
            if welfare > best_welfare:
                best, best_welfare = chosen, welfare
    return best


@njit(cache=True, nogil=True)
def _best_rows(starts, scores):  # type: ignore[no-untyped-def]
    best = np.empty(len(starts) - 1, np.int64)
    for bidder in range(len(best)):
        best[bidder] = starts[bidder] + np.argmax(scores[starts[bidder] : starts[bidder + 1]])
    return best


@njit(cache=True, nogil=True)
def _best_fitting(starts, packed, scores, guards, room, bidder):  # type: ignore[no-untyped-def]
    best, best_score = -1, -np.inf
    for row in range(starts[bidder], starts[bidder + 1]):
        if scores[row] > best_score and fits(packed[row], room, guards):
            best, best_score = row, scores[row]
    return best


@njit(cache=True, nogil=True)
def _repair(starts, packed, values, scores, guards, supply, demand, order, chosen):  # type: ignore[no-untyped-def]
    room = supply.copy()
    for bidder in order:
        row = demand[bidder]
        if not fits(packed[row], room, guards):
            row = _best_fitting(starts, packed, scores, guards, room, bidder)
        if row < 0:
            return False
        chosen[bidder] = row
        room -= packed[row]
    for _ in range(SWEEPS):
        has_improved = False
        for bidder in order:
            room += packed[chosen[bidder]]
            row = _best_fitting(starts, packed, values, guards, room, bidder)
            if values[row] > values[chosen[bidder]]:
                chosen[bidder] = row
                has_improved = True
            room -= packed[chosen[bidder]]
        if not has_improved:
            break
    return True
