"""Exact search among the rows that prices cannot rule out.

At prices p with W(p) = p.c + sum_i U_i(p), an allocation is worth W(p) less the losses of its rows, U_i(p) - (v_i(x) - p.x), less the
price of what stays unsold. The search goes through the bidders, those with the fewest rows first, and through the rows of each by their
loss; it turns back where the losses so far, with the smallest that each later bidder can still have in the room that is left, reach the
gap between W(p) and the best allocation known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.winner_determination.choices import Choices, fits

ROUNDING = 1e-12
"""Relative to W(p): a better allocation by less is not looked for."""

NODES_PER_TURN = 100_000
"""Between two looks at the clock; some hundredths of a second."""


class Found(NamedTuple):
    """What a search came to.

    Attributes
    ----------
    chosen : int array, or None
        The best rows known; None if there are none within the supply, or none was found.
    is_complete : bool
        Whether nothing is left that could be better.
    nodes : int
    """

    chosen: NDArray[np.int64] | None
    is_complete: bool
    nodes: int


class ReducedCostSearch:
    """The search at some prices; it can be run in turns.

    Parameters
    ----------
    choices : Choices
    prices : float array of shape (n_goods,)
    chosen : int array of shape (n_bidders,), optional
        The best rows known.
    """

    def __init__(self, choices: Choices, prices: NDArray[np.float64], chosen: NDArray[np.int64] | None = None) -> None:
        losses, self.bound = choices.losses(prices)
        self._choices, self._prices, self._chosen = choices, prices, chosen
        self._slack = ROUNDING * max(abs(self.bound), choices.scale)
        welfare = -np.inf if chosen is None else choices.welfare(chosen)
        survivors = losses < max(self.bound - welfare, 0.0)
        self._rows = np.flatnonzero(survivors)
        counts = np.bincount(choices.bidders[self._rows], minlength=choices.n_bidders)
        self._is_hopeless = bool((counts == 0).any())
        self._order = np.argsort(counts, kind="stable")
        rank = np.empty_like(self._order)
        rank[self._order] = np.arange(choices.n_bidders)
        by_loss = np.lexsort((self._rows, losses[self._rows], rank[choices.bidders[self._rows]]))
        self._rows = self._rows[by_loss]
        self._losses = losses[self._rows]
        self._packed = choices.packed[self._rows]
        self._starts = np.concatenate(([0], np.cumsum(counts[self._order])))
        self._state = _Stack.of(choices.n_bidders, choices.packing.supply)
        self.nodes = 0
        self.is_complete = self._is_hopeless

    @property
    def n_rows(self) -> int:
        """How many rows the prices could not rule out."""
        return len(self._rows)

    def run(self, nodes: int) -> Found:
        """Go on for some nodes at most, and return what is known by now."""
        if not self.is_complete:
            welfare = -np.inf if self._chosen is None else self._choices.welfare(self._chosen)
            prices = self._choices.bundles[self._rows] @ self._prices
            best = np.full(self._choices.n_bidders, -1)
            used, self.is_complete = _search(
                self._starts,
                self._packed,
                self._choices.values[self._rows],
                self._losses,
                prices,
                self._choices.packing.guards,
                float(self._prices @ self._choices.capacities),
                self.bound,
                welfare,
                self._slack,
                nodes,
                best,
                *self._state,
            )
            self.nodes += used
            if best[0] >= 0:
                self._chosen = np.empty(self._choices.n_bidders, dtype=np.int64)
                self._chosen[self._order] = self._rows[best]
        return Found(self._chosen, self.is_complete, self.nodes)


class _Stack(NamedTuple):
    """Where the search is: one level per bidder.

    Attributes
    ----------
    place : int array
        Of the row now taken at each level; before the first when a level is entered.
    depth : int array of one
    rooms : uint array of shape (n_levels + 1, n_words)
    lost : float array
        The losses of the rows above each level.
    spent : float array
        Their prices.
    gained : float array
        Their values.
    first : int array of shape (n_levels, n_levels)
        At each level, the place of the first row of each later bidder that fits the room.
    later : float array
        At each level, the losses of these rows, without the level's own.
    """

    place: NDArray[np.int64]
    depth: NDArray[np.int64]
    rooms: NDArray[np.uint64]
    lost: NDArray[np.float64]
    spent: NDArray[np.float64]
    gained: NDArray[np.float64]
    first: NDArray[np.int64]
    later: NDArray[np.float64]

    @classmethod
    def of(cls, n_levels: int, supply: NDArray[np.uint64]) -> _Stack:
        rooms = np.zeros((n_levels + 1, len(supply)), dtype=np.uint64)
        rooms[0] = supply
        return cls(
            np.full(n_levels, -1),
            np.full(1, -1),
            rooms,
            np.zeros(n_levels + 1),
            np.zeros(n_levels + 1),
            np.zeros(n_levels + 1),
            np.zeros((n_levels, n_levels), dtype=np.int64),
            np.zeros(n_levels),
        )


@njit(cache=True, nogil=True)
def _enter(starts, packed, losses, guards, level, rooms, lost, place, first, later, gap):  # type: ignore[no-untyped-def]
    """Find the first fitting rows of the bidders from a level on; tell whether their losses leave hope."""
    n_levels = len(place)
    total = 0.0
    for other in range(level, n_levels):
        row = first[level - 1, other] if level > 0 else starts[other]
        while row < starts[other + 1] and not fits(packed[row], rooms[level], guards):
            row += 1
        if row == starts[other + 1]:
            return False
        first[level, other] = row
        total += losses[row]
        if lost[level] + total >= gap:
            return False
    place[level] = first[level, level] - 1
    later[level] = total - losses[first[level, level]]
    return True


@njit(cache=True, nogil=True)
def _search(  # type: ignore[no-untyped-def]
    starts, packed, values, losses, prices, guards, all_sold, bound, welfare, slack, limit, best,
    place, depth, rooms, lost, spent, gained, first, later,
):  # fmt: skip
    n_levels = len(place)
    gap = bound - welfare - slack
    nodes = 0
    level = depth[0]
    if level < 0:
        level = 0
        if not _enter(starts, packed, losses, guards, 0, rooms, lost, place, first, later, gap):
            return nodes, True
    while level >= 0:
        if nodes >= limit:
            depth[0] = level
            return nodes, False
        row = place[level] + 1
        while row < starts[level + 1] and not fits(packed[row], rooms[level], guards):
            row += 1
        place[level] = row
        if row == starts[level + 1] or lost[level] + losses[row] + later[level] >= gap:
            level -= 1
            continue
        nodes += 1
        lost[level + 1] = lost[level] + losses[row]
        spent[level + 1] = spent[level] + prices[row]
        gained[level + 1] = gained[level] + values[row]
        if level + 1 == n_levels:
            # Of equal sums, rounding must not make one the better.
            if lost[level + 1] + all_sold - spent[level + 1] < gap and gained[level + 1] > welfare + slack:
                welfare = gained[level + 1]
                gap = bound - welfare - slack
                best[:] = place
            continue
        rooms[level + 1] = rooms[level] - packed[row]
        if _enter(starts, packed, losses, guards, level + 1, rooms, lost, place, first, later, gap):
            level += 1
    return nodes, True
