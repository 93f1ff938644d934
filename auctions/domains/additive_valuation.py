"""Additive valuations with synergies: every unit has a value, and bundles that are complete bring a bonus."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits, count_bundles
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.table_valuation import best_of_table
from auctions.outcome import SearchLimits

LARGEST_TABLE = 2**20

# The demand of a bidder without a table is a small integer program, solved to the end.
TO_THE_END = SearchLimits(gap=0.0, time_limit=600.0)

# Relative slack within which a bundle is as good as the best.
TIE = 1e-9


class AdditiveValuation:
    """A bidder's values of units and its synergies.

    Parameters
    ----------
    units : list of arrays
        Per good the value of the 1st, 2nd, .. unit, as many as there are; at least 0.
    synergies : array of shape (n, m)
        Bundles that bring a bonus once they are contained.
    bonuses : array of shape (n,)
        At least 0.
    capacities : array of shape (m,)

    Examples
    --------
    >>> units = [np.array([3.0, 1.0]), np.array([4.0])]
    >>> valuation = AdditiveValuation(units, np.array([[1, 1]]), np.array([2.0]), np.array([2, 1]))
    >>> valuation.values(np.array([[2, 0], [1, 1], [2, 1]])).tolist()
    [4.0, 9.0, 10.0]
    """

    kind: ClassVar[str] = "additive"
    monotone: ClassVar[bool] = True

    def __init__(
        self, units: list[NDArray[np.float64]], synergies: Bundles, bonuses: NDArray[np.float64], capacities: NDArray[np.int64]
    ) -> None:
        self.units = units
        self.synergies = synergies
        self.bonuses = bonuses
        self._capacities = capacities
        self._sums = [np.concatenate(([0.0], np.cumsum(values))) for values in units]

    def values(self, bundles: Bundles) -> NDArray[np.float64]:
        """Return what each bundle is worth."""
        worth = np.zeros(len(bundles))
        for good, sums in enumerate(self._sums):
            worth += sums[bundles[:, good]]
        for synergy, bonus in zip(self.synergies, self.bonuses.tolist(), strict=True):
            worth += np.where((bundles >= synergy).all(axis=1), bonus, 0.0)
        return worth

    def table(self) -> NDArray[np.float64]:
        """Return the value of every bundle in mixed-radix order."""
        table = np.zeros(1)
        for sums in self._sums:
            table = (sums[:, None] + table).ravel()
        grid = table.reshape(tuple(self._capacities[::-1] + 1))
        for synergy, bonus in zip(self.synergies, self.bonuses.tolist(), strict=True):
            grid[tuple(slice(quantity, None) for quantity in synergy[::-1].tolist())] += bonus
        return grid.ravel()

    def best_bundles(self, prices: NDArray[np.float64], limits: Limits, k: int) -> Bundles:
        """Return the k best bundles within the limits."""
        if count_bundles(self._capacities) <= LARGEST_TABLE:
            return best_of_table(self.table(), self._capacities, prices, limits, k)
        found: list[NDArray[np.int64]] = []
        for _ in range(k):
            bundle = _first_of_the_best(self, prices, limits, found)
            if bundle is None:
                break
            found.append(bundle)
        return np.array(found)

    def add_to(
        self, program: IntegerProgram, limits: Limits, prices: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], Bundles]:
        """Add a column per unit and synergy; return the columns and what each brings."""
        costs = np.zeros(len(self._capacities)) if prices is None else prices
        steps: list[list[int]] = []
        for good, most in enumerate(limits.quantities(self._capacities).tolist()):
            columns = program.add_columns(self.units[good][:most] - costs[good], integer=True).tolist()
            for lower, upper in pairwise(columns):
                program.add_row([upper, lower], [1.0, -1.0], upper=0.0)
            steps.append(columns)
        owned = [column for columns in steps for column in columns]
        brought = np.zeros((len(owned), len(steps)), dtype=np.int64)
        brought[np.arange(len(owned)), np.repeat(np.arange(len(steps)), [len(columns) for columns in steps])] = 1
        if limits.max_items is not None:
            program.add_row(owned, 1.0, upper=float(limits.max_items))
        for synergy, bonus in zip(self.synergies, self.bonuses.tolist(), strict=True):
            if not limits.admits(synergy[None])[0] or not synergy.any():
                continue
            (complete,) = program.add_columns([bonus], integer=True).tolist()
            for good in np.flatnonzero(synergy).tolist():
                program.add_row([complete, steps[good][synergy[good] - 1]], [1.0, -1.0], upper=0.0)
        return np.array(owned, dtype=np.int64), brought

    def highest(self) -> float:
        """Return a bound on every bundle's value."""
        return float(sum(sums.max() for sums in self._sums) + self.bonuses.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return units and synergies as JSON."""
        pairs = zip(self.synergies.tolist(), self.bonuses.tolist(), strict=True)
        return {
            "kind": self.kind,
            "values": [values.tolist() for values in self.units],
            "synergies": [{"bundle": bundle, "bonus": bonus} for bundle, bonus in pairs],
        }


def _first_of_the_best(
    valuation: AdditiveValuation, prices: NDArray[np.float64], limits: Limits, known: list[NDArray[np.int64]]
) -> NDArray[np.int64] | None:
    """Return the best bundle that is not known yet; of several the one of fewest units, then the lexicographically smallest."""
    n_goods = len(prices)
    # (goods whose quantity counts, bound on it): rows that the search for the first of the best adds one by one.
    fixed: list[tuple[list[int], int]] = []
    best = _search(valuation, prices, limits, known, fixed, None, None)
    if best is None:
        return None
    utility = _utility(valuation, best, prices)
    floor = utility - TIE * max(abs(utility), float(valuation.values(best[None])[0]), 1e-300)
    goals = [list(range(n_goods)), *([good] for good in range(n_goods))]
    for goal in goals:
        held = int(best[goal].sum())
        if held:
            fewer = _search(valuation, prices, limits, known, fixed, goal, floor)
            if fewer is not None:
                best, held = fewer, int(fewer[goal].sum())
        fixed.append((goal, held))
    return best


def _search(
    valuation: AdditiveValuation,
    prices: NDArray[np.float64],
    limits: Limits,
    known: list[NDArray[np.int64]],
    fixed: list[tuple[list[int], int]],
    goal: list[int] | None,
    floor: float | None,
) -> NDArray[np.int64] | None:
    """Return the bundle of the highest utility, or with a `goal` that of fewest units of these goods among utilities above `floor`."""
    program = IntegerProgram()
    columns, brought = valuation.add_to(program, limits, prices)
    for bundle in known:
        # A bundle is another one if a unit that it had is missing, or one is there that it had not.
        order = np.cumsum(brought, axis=0)[np.arange(len(columns)), brought.argmax(axis=1)]
        had = order <= bundle[brought.argmax(axis=1)]
        program.add_row(columns, np.where(had, -1.0, 1.0), lower=1.0 - float(had.sum()))
    for goods, most in fixed:
        counted = columns[brought[:, goods].any(axis=1)]
        program.add_row(counted, 1.0, upper=float(most))
    if goal is not None and floor is not None:
        program.replace_objective(columns[brought[:, goal].any(axis=1)], floor=floor)
    found = program.maximise(TO_THE_END)
    if found.columns is None:
        return None
    return np.asarray((found.columns[columns] > 0.5).astype(np.int64) @ brought)


def _utility(valuation: AdditiveValuation, bundle: NDArray[np.int64], prices: NDArray[np.float64]) -> float:
    return float(valuation.values(bundle[None])[0] - bundle @ prices)
