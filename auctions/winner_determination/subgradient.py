"""Descent of W(p) = p.c + sum_i max_x (v_i(x) - p.x) along subgradients, with Polyak's step length.

A subgradient of W at p is the supply less the demand. The step is theta (W - L) / |o|^2 along the over-demand o, L being the best welfare
known; after some steps without progress theta shrinks and the descent goes back to the best prices.

References
----------
B. T. Polyak, "Minimization of unsmooth functionals", USSR Computational Mathematics and Mathematical Physics 9 (1969).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST_THETA = 2.0
SHRINKING = 0.6
MOST_IDLE = 8


class Descent:
    """Where the descent stands.

    Parameters
    ----------
    prices : float array of shape (n_goods,)
        To start from, none negative.

    Attributes
    ----------
    prices : float array of shape (n_goods,)
        To be tried next.
    best : float array of shape (n_goods,)
        The best ones tried.
    bound : float
        W of these.
    is_settled : bool
        Whether no step leads any further: the prices clear.
    """

    def __init__(self, prices: NDArray[np.float64]) -> None:
        self.prices = self.best = prices
        self.bound = np.inf
        self.is_settled = False
        self._theta, self._idle = FIRST_THETA, 0
        self._over_demand = np.zeros_like(prices)

    def step(self, potential: float, over_demand: NDArray[np.float64], welfare: float) -> None:
        """Take note of W and the over-demand at the current prices, and move on.

        Parameters
        ----------
        potential : float
            W at the current prices.
        over_demand : float array of shape (n_goods,)
            Demand less supply.
        welfare : float
            Of the best allocation known.
        """
        self._idle += 1
        if potential < self.bound:
            self.bound, self.best, self._over_demand, self._idle = potential, self.prices, over_demand, 0
        elif self._idle >= MOST_IDLE:
            self._theta, self._idle = self._theta * SHRINKING, 0
            self.prices, potential, over_demand = self.best, self.bound, self._over_demand
        # What is not wanted at a price of 0 cannot become cheaper.
        direction = np.where((self.prices > 0) | (over_demand > 0), over_demand, 0.0)
        length = float(direction @ direction)
        if length == 0.0:
            self.is_settled = True
            return
        step = self._theta * max(potential - welfare, 1e-12 * abs(potential)) / length
        self.prices = np.maximum(0.0, self.prices + step * direction)
