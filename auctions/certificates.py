"""What prices and answers prove about the efficiency of an allocation, without any further question.

Weak duality: at prices p no allocation is worth more than W(p) = p.c + sum_i U_i(p), and what the bidders demand at p is worth W(p) less
the price of what stays unsold. All statements assume truthful answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from auctions.revealed_preference import DemandAnswers, ValueAnswers, revealed_preference_bounds
from solvers.operation import InvalidInput


def clearing_potential(prices: ArrayLike, utilities: ArrayLike, capacities: ArrayLike) -> float:
    """Return W(p), above which no welfare is.

    Parameters
    ----------
    prices : array of shape (n_goods,)
    utilities : array of shape (n_bidders,)
        Of each bidder's demand, value less price.
    capacities : array of shape (n_goods,)

    Examples
    --------
    >>> clearing_potential([2.0, 1.0], [3.0, 0.5], [1, 1])
    6.5
    """
    return float(np.asarray(prices, dtype=np.float64) @ np.asarray(capacities)) + float(np.sum(utilities))


def unsold_value(prices: ArrayLike, demands: ArrayLike, capacities: ArrayLike) -> float:
    """Return the price of all that nobody demands; what goods demanded too often come to counts against it.

    Examples
    --------
    >>> unsold_value([2.0, 1.0], [[1, 0], [0, 0]], [1, 1])
    1.0
    """
    left = np.asarray(capacities) - np.asarray(demands).sum(axis=0)
    return float(np.asarray(prices, dtype=np.float64) @ left)


def efficiency_of_round(prices: ArrayLike, demands: ArrayLike, capacities: ArrayLike) -> float | None:
    """Return what share of the largest welfare the demanded bundles have at least; None where they are more than there is.

    It is p.d / p.c for the total demand d, for each bidder values its bundle at no less than its price. It needs no values.

    Parameters
    ----------
    prices : array of shape (n_goods,)
    demands : array of shape (n_bidders, n_goods)
    capacities : array of shape (n_goods,)

    Examples
    --------
    >>> efficiency_of_round([2.0, 2.0], [[1, 0], [0, 0]], [1, 1])
    0.5
    >>> efficiency_of_round([2.0, 2.0], [[1, 0], [1, 0]], [1, 1]) is None
    True
    """
    taken, supply = np.asarray(demands).sum(axis=0), np.asarray(capacities)
    if (taken > supply).any():
        return None
    all_sold = float(np.asarray(prices, dtype=np.float64) @ supply)
    # Where everything is free, whoever wants anything has it.
    return 1.0 if all_sold == 0.0 else 1.0 - unsold_value(prices, demands, capacities) / all_sold


@dataclass(frozen=True, slots=True)
class CertifiedEfficiency:
    """What the answers prove of an allocation.

    Attributes
    ----------
    optimum_bound : float
        No allocation is worth more; infinite before any round was answered by everybody.
    welfare_bound : float
        The allocation is worth at least as much.
    efficiency : float or None
        Their quotient, at most 1; None if nothing is worth anything.
    """

    optimum_bound: float
    welfare_bound: float
    efficiency: float | None


def certified_efficiency(
    demand_answers: Sequence[DemandAnswers],
    value_answers: Sequence[ValueAnswers],
    rounds: Sequence[tuple[ArrayLike, ArrayLike]],
    allocation: ArrayLike,
    capacities: ArrayLike,
    *,
    tolerance: float = 1e-9,
) -> CertifiedEfficiency | None:
    """Return what all answers prove of an allocation; None if those of a bidder contradict each other.

    Parameters
    ----------
    demand_answers, value_answers : sequence of answers
        One entry per bidder, each as for :func:`~auctions.revealed_preference.revealed_preference_bounds`.
    rounds : sequence of (prices, demands)
        Those that everybody answered: at some prices, every bidder's demand, of shape (n_bidders, n_goods).
    allocation : array of shape (n_bidders, n_goods)
    capacities : array of shape (n_goods,)
    tolerance : float
        Of the consistency of answers.

    Notes
    -----
    The optimum is at most W(p) of each round, in which every bidder's utility is at most the upper bound of the value of its demand, less
    its price. The allocation is worth at least the sum of the lower bounds of its bundles.

    Examples
    --------
    >>> certified_efficiency([[([2.0], [1])], [([2.0], [0])]], [[([1], 5.0)], []], [([2.0], [[1], [0]])], [[1], [0]], [1])
    CertifiedEfficiency(optimum_bound=5.0, welfare_bound=5.0, efficiency=1.0)
    """
    bundles = np.asarray(allocation, dtype=np.int64)
    if not len(demand_answers) == len(value_answers) == len(bundles):
        raise InvalidInput("answers and allocation must be of the same bidders", pointer="/allocation")
    demands = np.array([demanded for _, demanded in rounds], dtype=np.int64).reshape(len(rounds), *bundles.shape)
    prices = np.array([charged for charged, _ in rounds], dtype=np.float64).reshape(len(rounds), bundles.shape[1])
    potentials = prices @ np.asarray(capacities)
    welfare_bound = 0.0
    for bidder, (demand, value) in enumerate(zip(demand_answers, value_answers, strict=True)):
        asked = np.vstack((bundles[bidder][None], demands[:, bidder]))
        report = revealed_preference_bounds(demand, value, capacities, asked, tolerance=tolerance)
        if report.lower is None or report.upper is None:
            return None
        welfare_bound += float(report.lower[0])
        potentials += report.upper[1:] - (prices * demands[:, bidder]).sum(axis=1)
    optimum_bound = float(potentials.min(initial=np.inf))
    return CertifiedEfficiency(optimum_bound, welfare_bound, _share(welfare_bound, optimum_bound))


def _share(welfare_bound: float, optimum_bound: float) -> float | None:
    if optimum_bound <= 0.0:
        return None
    return min(1.0, welfare_bound / optimum_bound) if np.isfinite(optimum_bound) else 0.0
