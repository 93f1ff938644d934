"""The prices at which the networks say that supply meets demand.

The clearing potential W(p) = p.c + sum_i max_x (v_i(x) - p.x) is convex in the prices; its minimum clears the market if any linear prices
do, and a subgradient is minus the over-demand. The multiplicative search is the reference's; the dual one takes subgradient steps of
Polyak's length towards the best welfare it has found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.mechanism.parameters import PriceSearchParameters

Vector = NDArray[np.float64]
DemandOracle = Callable[[Vector], tuple[Bundles, Vector]]
"""Prices -> each bidder's bundle of highest predicted utility, and that utility."""

SMALLEST_SHARE = 1e-6  # of the largest scale per unit: a price below it would hardly move any more
MOST_DRAWS = 1000  # zero prices cannot be moved away from


@dataclass(frozen=True, slots=True)
class Visit:
    """A price vector that the search has looked at.

    Attributes
    ----------
    prices : array of shape (n_goods,)
    potential : float
        W there.
    over_demand : array of int of shape (n_goods,)
    step : int
    """

    prices: Vector
    potential: float
    over_demand: NDArray[np.int64]
    step: int

    @property
    def is_feasible(self) -> bool:
        """Whether nothing is wanted beyond the supply."""
        return bool((self.over_demand <= 0).all())

    @property
    def clears(self) -> bool:
        """Whether demand equals supply."""
        return not self.over_demand.any()

    @property
    def clearing_error(self) -> int:
        """The sum of squares of the over-demand."""
        return int(self.over_demand @ self.over_demand)


@dataclass(frozen=True, slots=True)
class PriceSearchResult:
    """Where a search ended.

    Attributes
    ----------
    best : Visit
    reason : {"clears", "best_feasible", "best"}
    n_steps : int
        Price vectors looked at.
    """

    best: Visit
    reason: str
    n_steps: int


def search_prices(
    demand: DemandOracle,
    capacities: Bundles,
    start: Vector,
    *,
    parameters: PriceSearchParameters,
    max_steps: int = 150,
    floor: float = 0.0,
    on_visit: Callable[[Visit], None] | None = None,
) -> PriceSearchResult:
    """Minimise the clearing potential from a start.

    Parameters
    ----------
    demand : callable
        See :data:`DemandOracle`.
    capacities : array of int of shape (n_goods,)
    start : array of shape (n_goods,)
        Prices per unit.
    parameters : PriceSearchParameters
    max_steps : int
        Price vectors to look at.
    floor : float
        No price falls below it.
    on_visit : callable, optional
        Sees every price vector.

    Examples
    --------
    >>> def wants_the_good_below_7(prices):
    ...     return np.array([[int(prices[0] < 7)], [int(prices[0] < 9)]]), np.maximum(0, np.array([7.0, 9.0]) - prices[0])
    >>> result = search_prices(wants_the_good_below_7, np.array([1]), np.array([5.0]), parameters=PriceSearchParameters())
    >>> result.reason, bool(7 <= result.best.prices[0] < 9)
    ('clears', True)
    """
    move = _multiplicative_steps(parameters) if parameters.method == "multiplicative" else _polyak_steps()
    prices = np.maximum(np.asarray(start, dtype=np.float64), floor)
    best: Visit | None = None
    best_feasible: Visit | None = None
    idle = 0
    for step in range(max_steps):
        if idle >= parameters.max_idle_steps:
            break
        bundles, utilities = demand(prices)
        potential = float(prices @ capacities + utilities.sum())
        visit = Visit(prices, potential, bundles.sum(axis=0) - capacities, step)
        if on_visit is not None:
            on_visit(visit)
        idle += 1
        if best is None or visit.potential < best.potential:
            best, idle = visit, 0
        if visit.is_feasible and (best_feasible is None or visit.potential < best_feasible.potential):
            best_feasible, idle = visit, 0
        if visit.clears:
            return PriceSearchResult(visit, "clears", step + 1)
        prices = np.maximum(move(visit, best_feasible is not None), floor)
    assert best is not None
    if parameters.filter_feasible and best_feasible is not None:
        return PriceSearchResult(best_feasible, "best_feasible", step + 1)
    return PriceSearchResult(best, "best", step + 1)


def distant_prices(
    prices: Vector,
    earlier: list[Vector],
    threshold: float,
    rng: np.random.Generator,
    *,
    growth: float = 1.1,
    skip_zero_prices: bool = True,
) -> Vector:
    """Move prices at random until they differ from all earlier ones by a relative threshold in some good.

    Parameters
    ----------
    prices : array of shape (n_goods,)
    earlier : list of array
        Price vectors that have been asked, the null one aside.
    threshold : float
    rng : numpy.random.Generator
    growth : float
        Of the neighbourhood, per draw.
    skip_zero_prices : bool
        Leave out goods whose earlier price is zero, to which there is no relative distance.
    """
    moved, radius = prices, threshold / 2
    for _ in range(MOST_DRAWS):
        if all(relative_distance(moved, other, skip_zero_prices) >= threshold for other in earlier):
            break
        moved = np.maximum(prices * rng.uniform(1 - radius, 1 + radius, size=len(prices)), 0.0)
        radius *= growth
    if any(np.array_equal(moved, other) for other in earlier):
        moved = moved + 0.01 * rng.uniform(size=len(prices))
    return moved


def relative_distance(prices: Vector, other: Vector, skip_zero_prices: bool = True) -> float:
    """Return the largest relative difference of a price.

    Examples
    --------
    >>> round(relative_distance(np.array([1.1, 3.0]), np.array([1.0, 0.0])), 9)
    0.1
    """
    difference = np.abs(prices - other)
    is_zero = other == 0
    if not skip_zero_prices and (difference[is_zero] > 0).any():
        return float("inf")
    shares = difference[~is_zero] / other[~is_zero]
    return float(shares.max()) if shares.size else 0.0


def _multiplicative_steps(parameters: PriceSearchParameters) -> Callable[[Visit, bool], Vector]:
    push = parameters.feasibility_multiplier

    def move(visit: Visit, has_feasible: bool) -> Vector:
        nonlocal push
        rate = parameters.step * parameters.step_decay**visit.step
        prices: Vector = visit.prices * (1 + rate * visit.over_demand)
        # The extra push belongs to the step that follows, whose rate has decayed once more.
        prices = prices * (1 + push * rate * parameters.step_decay * np.maximum(visit.over_demand, 0))
        if not has_feasible:
            push *= parameters.feasibility_growth
        return np.maximum(prices, 0.0)

    return move


def _polyak_steps(relaxation: float = 1.0, patience: int = 8) -> Callable[[Visit, bool], Vector]:
    """Return subgradient steps of length theta (W - L) / |o|^2 from the best prices so far.

    The welfare L to aim for is not known. A feasible visit leaves p.(c - demand) unsold, so W less that is a welfare that is reached; until
    there is one, a hundredth of W is aimed at. theta is halved after `patience` steps without progress.
    """
    best: Visit | None = None
    reached = -np.inf
    idle = 0

    def move(visit: Visit, has_feasible: bool) -> Vector:
        nonlocal best, reached, relaxation, idle
        if visit.is_feasible:
            reached = max(reached, visit.potential + float(visit.prices @ visit.over_demand))
        idle += 1
        if best is None or visit.potential < best.potential:
            best, idle = visit, 0
        elif idle >= patience:
            visit, idle, relaxation = best, 0, relaxation / 2
        aim = reached if np.isfinite(reached) else 0.99 * best.potential
        length = relaxation * max(visit.potential - aim, 1e-9) / visit.clearing_error
        return np.maximum(visit.prices + length * visit.over_demand, 0.0)

    return move
