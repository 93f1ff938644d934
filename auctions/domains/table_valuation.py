"""Valuations by a table: the value of every bundle, in mixed-radix order."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits, all_bundles, bundles_at, indices_of
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.ranking import best
from auctions.domains.tabulated import costs_of_bundles


class TableValuation:
    """A bidder's value of every bundle.

    Parameters
    ----------
    table : array of shape (prod (c_j + 1),)
        Good 0 runs fastest; the first value is 0.
    capacities : array of shape (m,)

    Examples
    --------
    >>> TableValuation(np.array([0.0, 3.0, 2.0, 7.0]), np.array([1, 1])).values(np.array([[0, 1], [1, 1]])).tolist()
    [2.0, 7.0]
    """

    kind: ClassVar[str] = "table"

    def __init__(self, table: NDArray[np.float64], capacities: NDArray[np.int64]) -> None:
        self.table = table
        self._capacities = capacities

    @property
    def monotone(self) -> bool:
        """Whether more of a good never lowers the value."""
        grid = self.table.reshape(tuple(self._capacities[::-1] + 1))
        return all((np.diff(grid, axis=axis) >= 0).all() for axis in range(grid.ndim))

    def values(self, bundles: Bundles) -> NDArray[np.float64]:
        """Return what each bundle is worth."""
        return np.asarray(self.table[indices_of(bundles, self._capacities)])

    def best_bundles(self, prices: NDArray[np.float64], limits: Limits, k: int) -> Bundles:
        """Return the k best bundles within the limits."""
        return best_of_table(self.table, self._capacities, prices, limits, k)

    def add_to(self, program: IntegerProgram, limits: Limits) -> tuple[NDArray[np.int64], Bundles]:
        """Add a column per bundle that is worth more than what it contains; return the columns and what each brings."""
        grid = np.where(limits.admits(all_bundles(self._capacities)), self.table, 0.0).reshape(tuple(self._capacities[::-1] + 1))
        contained = grid.copy()
        for axis in range(grid.ndim):
            np.maximum.accumulate(contained, axis=axis, out=contained)
        within = np.zeros_like(grid)
        for axis in range(grid.ndim):
            more = [slice(None)] * grid.ndim
            less = [slice(None)] * grid.ndim
            more[axis], less[axis] = slice(1, None), slice(None, -1)
            np.maximum(within[tuple(more)], contained[tuple(less)], out=within[tuple(more)])
        useful = np.flatnonzero((grid > within).ravel())
        columns = program.add_columns(self.table[useful], integer=True)
        program.add_row(columns, 1.0, upper=1.0)
        return columns, bundles_at(useful, self._capacities)

    def highest(self) -> float:
        """Return a bound on every bundle's value."""
        return float(self.table.max())

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON."""
        return {"kind": self.kind, "values": self.table.tolist()}


def best_of_table(
    table: NDArray[np.float64], capacities: NDArray[np.int64], prices: NDArray[np.float64], limits: Limits, k: int
) -> Bundles:
    """Return the k best bundles of a table of values within some limits, best first."""
    if limits != Limits():
        table = np.where(limits.admits(all_bundles(capacities)), table, -np.inf)
    utilities = table - costs_of_bundles(prices, capacities)
    return bundles_at(best(table, utilities, k, lambda places: bundles_at(places, capacities)), capacities)
