r"""Lower bounds of set cover from prices of the elements, proven in integers.

For any prices :math:`y \geq 0`, no cover costs less than :math:`L(y) = \sum_e y_e + \sum_j \min(0, c_j - \sum_{e \in S_j} y_e)`.
Good prices are the duals of the linear relaxation, or come from subgradient ascent (A. Caprara, M. Fischetti and P. Toth, "A Heuristic
Method for the Set Covering Problem", Operations Research 47, 1999). Either way they are turned into integers over a common scale, and
L is evaluated exactly, so that no rounding error of their making counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import highspy
import numpy as np
from numba import njit

from solvers.graphs.incidence import Incidence
from solvers.silent_highs import SilentHighs

FINEST_SCALE_BITS = 20
"""A million units to a unit of cost: floors lose less than one unit of cost to a million elements."""

WORK_PER_CALL = 5_000_000

# Of the subgradient's step: where it begins, how often and by how much it changes, and for what spread of the values. Values that
# spread because they rise steadily are no reason to slow down.
FIRST_STEP, STEP_PERIOD, STEP_RAISE, WIDE_SPREAD, NARROW_SPREAD, STEADY_GAIN = 0.1, 20, 1.5, 1e-2, 1e-3, 0.5

LARGEST_LP = 2_000_000
"""Entries beyond which the simplex method is not tried."""

Stop = Callable[[], bool]


class ExactPrices(NamedTuple):
    """Prices in integers, and what they prove.

    Attributes
    ----------
    prices : int64 array of shape (m,)
    scale : int
        A power of two; a price is ``prices / scale`` units of cost.
    value : int
        L in units of 1 / scale.
    """

    prices: np.ndarray
    scale: int
    value: int

    @property
    def whole_bound(self) -> int:
        """No cover at whole costs costs less."""
        return -(-self.value // self.scale)


class Subgradient:
    """Ascent to good prices that can be advanced piece by piece.

    Parameters
    ----------
    incidence : Incidence
        Every element in some set.
    upper : float
        Cost of a cover.

    Attributes
    ----------
    prices : float64 array of shape (m,)
        The best so far.
    value : float
        L there; says nothing certain, as it is rounded.
    converged : bool
        Whether the relaxation is solved, or the steps have become too small to matter.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> ascent = Subgradient(build_incidence(2, [0, 1, 2, 4], [0, 1, 0, 1], [1, 1, 5]), 2)
    >>> _ = ascent.advance(100)
    >>> round(ascent.value, 3)
    2.0
    """

    def __init__(self, incidence: Incidence, upper: float) -> None:
        self._incidence = incidence
        self._upper = float(upper)
        shares = incidence.costs / np.maximum(incidence.sizes, 1)
        self._current = np.full(incidence.num_elements, math.inf)
        np.minimum.at(self._current, incidence.elements, np.repeat(shares, incidence.sizes))
        self.prices = self._current.copy()
        # Best value; factor of the steps; least and greatest value of the present period; best value before it.
        self._state = np.array([-math.inf, FIRST_STEP, math.inf, -math.inf, 0.0])
        self.iterations_done = 0
        self.converged = incidence.num_elements == 0

    @property
    def value(self) -> float:
        return float(self._state[0]) if self._incidence.num_elements else 0.0

    def advance(self, iterations: int) -> int:
        """Do up to so many further iterations, on large instances fewer, and return how many."""
        if self.converged:
            return 0
        fits = max(1, WORK_PER_CALL // max(1, len(self._incidence.elements)))
        asked = min(int(iterations), fits)
        done: int = _ascend(
            self._incidence.set_ptr, self._incidence.elements, self._incidence.costs, self._current, self.prices, self._state,
            self._upper, self.iterations_done, asked,
        )  # fmt: skip
        self.iterations_done += done
        self.converged = done < asked or self._state[1] < 1e-6
        return done


class LpAnswer(NamedTuple):
    """A solution of the linear relaxation and of its dual, or what the simplex method had when it ended.

    Attributes
    ----------
    prices : float64 array of shape (m,)
        The duals.
    shares : float64 array of shape (n,)
        How much of each set is taken.
    is_optimal : bool
    """

    prices: np.ndarray
    shares: np.ndarray
    is_optimal: bool


def lp_prices(
    incidence: Incidence, *, time_limit: float = math.inf, iteration_limit: int | None = None, stop: Stop | None = None
) -> LpAnswer | None:
    """Solve the linear relaxation by the dual simplex method; None if it ended before it had duals.

    Parameters
    ----------
    incidence : Incidence
    time_limit : float
        Seconds.
    iteration_limit : int, optional
        Simplex iterations.
    stop : callable, optional
        Asked between iterations.
    """
    solver = SilentHighs()
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("time_limit", max(0.0, time_limit))
    if iteration_limit is not None:
        solver.setOptionValue("simplex_iteration_limit", iteration_limit)
    if stop is not None:
        solver.end_simplex_when(stop)
    solver.passModel(cover_model(incidence))
    solver.run()
    solution = solver.getSolution()
    duals = np.asarray(solution.row_dual)
    if len(duals) != incidence.num_elements or not np.isfinite(duals).all():
        return None
    return LpAnswer(
        np.maximum(duals, 0.0), np.asarray(solution.col_value), solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    )


def cover_model(incidence: Incidence, *, unit: int = 1) -> Any:
    """Return the linear relaxation: least cost, every element covered at least once; costs are divided by `unit`."""
    model = highspy.HighsLp()
    n, m = incidence.num_sets, incidence.num_elements
    model.num_col_, model.num_row_ = n, m
    model.col_cost_ = incidence.costs / unit
    model.col_lower_, model.col_upper_ = np.zeros(n), np.full(n, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = np.ones(m), np.full(m, highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = incidence.set_ptr, incidence.elements
    model.a_matrix_.value_ = np.ones(len(incidence.elements))
    return model


def exact_prices(incidence: Incidence, prices: np.ndarray) -> ExactPrices:
    """Turn prices into integers and evaluate what they prove, as they are and after repair, and keep the better.

    Parameters
    ----------
    incidence : Incidence
        Costs that sum to at most 2^53.
    prices : float64 array of shape (m,)

    Notes
    -----
    Repair lowers the prices of sets that are charged more than their cost, then raises prices as far as no set is. O(k).

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> odd = build_incidence(3, [0, 2, 4, 6], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> proven = exact_prices(odd, np.full(3, 0.5))
    >>> proven.value / proven.scale, proven.whole_bound
    (1.5, 2)
    """
    rows = (incidence.set_ptr, incidence.elements, incidence.costs)
    scale = 1 << min(FINEST_SCALE_BITS, 61 - int(incidence.costs.sum()).bit_length())
    # A price above the cost of a set that contains the element gains nothing.
    cheapest = np.full(incidence.num_elements, np.inf)
    np.minimum.at(cheapest, incidence.elements, np.repeat(incidence.costs.astype(np.float64), incidence.sizes))
    given = np.clip(np.nan_to_num(prices), 0, np.where(np.isfinite(cheapest), cheapest, 0))

    repaired = given.copy()
    _scale_down(*rows, repaired)
    raised = np.floor(repaired * scale).astype(np.int64)
    by_frequency = np.argsort(incidence.frequencies, kind="stable")
    _make_feasible(*rows, incidence.element_ptr, incidence.sets, scale, by_frequency, raised)
    best = ExactPrices(raised, scale, int(raised.sum()))
    charged = float((given * incidence.frequencies).sum()) + float(incidence.costs.astype(np.float64).sum())
    if charged * scale < 2.0**61:
        as_given = np.floor(given * scale).astype(np.int64)
        value = int(_lagrangian(*rows, scale, as_given))
        if value > best.value:
            best = ExactPrices(as_given, scale, value)
    return best


@njit(cache=True, nogil=True)
def _ascend(set_ptr, elements, costs, prices, best, state, upper, done, iterations):  # type: ignore[no-untyped-def]
    """Take steps along subgradients; return how many, fewer than asked where there is nothing left to gain."""
    n, m = len(costs), len(prices)
    slope = np.empty(m)
    for iteration in range(iterations):
        slope[:] = 1.0
        value = prices.sum()
        for j in range(n):
            reduced = float(costs[j])
            for place in range(set_ptr[j], set_ptr[j + 1]):
                reduced -= prices[elements[place]]
            if reduced < 0:
                value += reduced
                for place in range(set_ptr[j], set_ptr[j + 1]):
                    slope[elements[place]] -= 1.0
        if value > state[0]:
            state[0] = value
            best[:] = prices
        state[2], state[3] = min(state[2], value), max(state[3], value)
        if (done + iteration + 1) % STEP_PERIOD == 0:
            unit = max(1e-12, abs(state[0]))
            spread, gain = (state[3] - state[2]) / unit, (state[0] - state[4]) / unit
            if spread < NARROW_SPREAD or gain > STEADY_GAIN * spread:
                state[1] *= STEP_RAISE
            elif spread > WIDE_SPREAD:
                state[1] *= 0.5
            state[2], state[3], state[4] = np.inf, -np.inf, state[0]
        norm = 0.0
        for e in range(m):
            # Where a price is 0 already, it cannot fall.
            if prices[e] > 0 or slope[e] > 0:
                norm += slope[e] * slope[e]
        if norm == 0.0 or upper - value <= 0:
            return iteration
        step = state[1] * (upper - value) / norm
        for e in range(m):
            prices[e] = max(0.0, prices[e] + step * slope[e])
    return iterations


@njit(cache=True, nogil=True)
def _scale_down(set_ptr, elements, costs, prices):  # type: ignore[no-untyped-def]
    for j in range(len(costs)):
        charged = 0.0
        for place in range(set_ptr[j], set_ptr[j + 1]):
            charged += prices[elements[place]]
        if charged > costs[j]:
            for place in range(set_ptr[j], set_ptr[j + 1]):
                prices[elements[place]] *= costs[j] / charged


@njit(cache=True, nogil=True)
def _make_feasible(set_ptr, elements, costs, element_ptr, sets, scale, order, prices):  # type: ignore[no-untyped-def]
    """Lower prices until no set is charged more than its cost, then raise them one by one as far as that allows."""
    n = len(costs)
    for j in range(n):
        excess = -costs[j] * scale
        for place in range(set_ptr[j], set_ptr[j + 1]):
            excess += prices[elements[place]]
        for place in range(set_ptr[j], set_ptr[j + 1]):
            if excess <= 0:
                break
            lowered = min(excess, prices[elements[place]])
            prices[elements[place]] -= lowered
            excess -= lowered
    left = np.empty(n, np.int64)
    for j in range(n):
        left[j] = costs[j] * scale
        for place in range(set_ptr[j], set_ptr[j + 1]):
            left[j] -= prices[elements[place]]
    for e in order:
        if element_ptr[e] == element_ptr[e + 1]:
            continue
        raised = left[sets[element_ptr[e]]]
        for place in range(element_ptr[e], element_ptr[e + 1]):
            raised = min(raised, left[sets[place]])
        prices[e] += raised
        for place in range(element_ptr[e], element_ptr[e + 1]):
            left[sets[place]] -= raised


@njit(cache=True, nogil=True)
def _lagrangian(set_ptr, elements, costs, scale, prices):  # type: ignore[no-untyped-def]
    value = prices.sum()
    for j in range(len(costs)):
        reduced = costs[j] * scale
        for place in range(set_ptr[j], set_ptr[j + 1]):
            reduced -= prices[elements[place]]
        value += min(np.int64(0), reduced)
    return value
