"""Prices whose Lagrangian bound is low: a certificate of an allocation that takes a demand query per bidder to check.

W(p) = p.c + sum of max_x (v_i(x) - p.x) bounds the welfare of every allocation at any prices p >= 0. It is convex in p, and
supply less demand is a subgradient; the steps are Polyak's, towards the welfare of a known allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from auctions.domains.instance import Instance


@dataclass(frozen=True, slots=True)
class PricedBound:
    """Prices and the bound on the welfare that holds at them."""

    prices: NDArray[np.float64]
    bound: float


def lagrangian_bound(instance: Instance, welfare: float, steps: int = 60) -> PricedBound:
    """Return the lowest bound found in a number of subgradient steps.

    Parameters
    ----------
    instance : Instance
    welfare : float
        Of an allocation; the closer to the best, the better the steps.
    steps : int

    Examples
    --------
    >>> from auctions.domains import srvm
    >>> found = lagrangian_bound(srvm(1), 6979.8)
    >>> 6979.8 < found.bound < 1.1 * 6979.8
    True
    """
    prices = np.zeros(instance.n_goods)
    best = PricedBound(prices, np.inf)
    scale = 1.0
    for _ in range(steps):
        wanted = [instance.demand(bidder, prices)[0] for bidder in range(instance.n_bidders)]
        bound = float(prices @ instance.capacities) + sum(demand.utility for demand in wanted)
        if bound < best.bound:
            best = PricedBound(prices, bound)
        else:
            # Past the valley: shorter steps from the best prices on.
            scale *= 0.7
        excess = np.sum([demand.bundle for demand in wanted], axis=0) - instance.capacities
        moves = np.where((prices > 0) | (excess > 0), excess, 0)
        length = float(moves @ moves)
        if length == 0.0 or bound - welfare <= 0.0:
            break
        prices = np.maximum(prices + scale * (bound - welfare) / length * moves, 0.0)
    return best
