"""What a bidder wants at given prices, with the proof that nothing else is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles
from auctions.outcome import Status, StoppedBy, relative_gap
from solvers.operation import InvalidInput


@dataclass(frozen=True, slots=True)
class Demand:
    """A bundle of high utility at some prices.

    Attributes
    ----------
    bundle : int64 array of shape (m,)
    value : float
    utility : float
        The value less the price of the bundle.
    bound : float
        No admissible bundle has a higher utility.
    status : {"optimal", "feasible", "infeasible"}
        "infeasible" if every bundle is forbidden: then the bundle is empty, and value, utility and bound are minus infinity.
    stopped_by : {"node_limit", "iteration_limit", "time_limit", "cancelled"}, optional
    """

    bundle: Bundles
    value: float
    utility: float
    bound: float
    status: Status = "optimal"
    stopped_by: StoppedBy | None = None

    @property
    def gap(self) -> float:
        """The relative gap between `bound` and `utility`."""
        return 0.0 if self.status == "infeasible" else relative_gap(self.bound, self.utility)


def no_demand(n_goods: int) -> Demand:
    """Return the answer of a bidder that may hold nothing at all."""
    return Demand(np.zeros(n_goods, dtype=np.int64), -np.inf, -np.inf, -np.inf, "infeasible")


def checked_prices(prices: ArrayLike, n_goods: int) -> NDArray[np.float64]:
    """Return prices as an array of shape (K, m); a single price vector becomes one row.

    Raises
    ------
    InvalidInput
        Where a price is negative, infinite or no number, or one is missing.
    """
    try:
        rows = np.atleast_2d(np.asarray(prices, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidInput("the prices are no rows of numbers of equal length", pointer="/prices") from None
    if rows.ndim != 2 or rows.shape[1] != n_goods:
        raise InvalidInput(f"prices of shape {rows.shape} for {n_goods} goods", pointer="/prices")
    bad = np.argwhere(~(np.isfinite(rows) & (rows >= 0)))
    if len(bad):
        row, good = bad[0].tolist()
        pointer = f"/prices/{good}" if np.ndim(prices) == 1 else f"/prices/{row}/{good}"
        raise InvalidInput(f"the price {rows[row, good]} of good {good} is not finite and non-negative", pointer=pointer)
    return rows


def checked_bundles(bundles: ArrayLike, capacities: tuple[int, ...], pointer: str = "/bundles") -> Bundles:
    """Return bundles as an int64 array of shape (N, m).

    Raises
    ------
    InvalidInput
        Where a quantity is negative, no integer or above the supply, or one is missing.
    """
    try:
        rows = np.asarray(bundles, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the bundles are no rows of numbers of equal length", pointer=pointer) from None
    if rows.size == 0:
        return np.zeros((0, len(capacities)), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != len(capacities):
        raise InvalidInput(f"bundles of shape {rows.shape} for {len(capacities)} goods", pointer=pointer)
    fits = (rows >= 0) & (rows <= np.asarray(capacities)) & (rows == np.floor(rows))
    if not fits.all():
        row, good = np.argwhere(~fits)[0].tolist()
        raise InvalidInput(
            f"the quantity {rows[row, good]:g} of good {good} is no integer from 0 to {capacities[good]}",
            pointer=f"{pointer}/{row}/{good}",
        )
    return rows.astype(np.int64)
