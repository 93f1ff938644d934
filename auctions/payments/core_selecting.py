"""Core-selecting payments: the least revenue at which no coalition of bidders and the seller can do better, nearest to VCG.

Symbols: W -> `winners`, w(C) -> the value of a coalition, pi -> `payments`, R* -> `revenue`. A payment vector is in the core if for every
coalition C: sum of pi_i over the winners outside C >= w(C) - sum of the winning bids of the winners inside C.

References
----------
R. Day, S. Raghavan, "Fair payments for efficient allocations in public sector combinatorial auctions", Management Science 53 (2007).
R. Day, P. Cramton, "Quadratic core-selecting payment rules for combinatorial auctions", Operations Research 60 (2012).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.outcome import AllocationResult, SearchLimits
from auctions.payments.nearest_point import nearest_point
from auctions.payments.vcg import Payments, vcg_payments
from auctions.winner_determination.bids import BidLists, XorBids
from auctions.winner_determination.xor import TieBreak, solve_xor_wdp
from solvers.silent_highs import SilentHighs

BLOCKED = 1e-8
"""Of the welfare: what a coalition must gain to count as blocking."""

MOST_COALITIONS = 2_000


@dataclass(frozen=True, slots=True)
class CorePayments(Payments):
    """Payments in the core.

    Attributes
    ----------
    vcg_payments : float array of shape (n_bidders,)
    vcg_exact : bool
        Whether the VCG payments, from which the distance is measured, are exact.
    coalitions : tuple of tuples of int
        The bidders of each coalition that had to be kept from blocking, in the order found.
    blocking_gap : float
        What a coalition could still gain at most: 0, unless a search was stopped.
    """

    vcg_payments: NDArray[np.float64]
    vcg_exact: bool
    coalitions: tuple[tuple[int, ...], ...]
    blocking_gap: float


def core_payments(
    bids: BidLists | XorBids,
    capacities: ArrayLike,
    limits: SearchLimits | None = None,
    *,
    warm_start: ArrayLike | None = None,
    tie_break: TieBreak | None = None,
) -> CorePayments:
    """Return the best allocation by the bids and its payments in the core of least revenue, nearest to VCG.

    Parameters
    ----------
    bids : list of lists of (bundle, value), or XorBids
    capacities : list of int
    limits : SearchLimits, optional
        Of each search; its `time_limit` is that of all together.
    warm_start, tie_break : optional
        As in :func:`~auctions.winner_determination.xor.solve_xor_wdp`.

    Returns
    -------
    CorePayments
        `error_bound` is 0 where `exact`; otherwise the whole range from the VCG payment to the bid is open.

    Raises
    ------
    InvalidInput
        If a bid or the supply is not valid.

    Notes
    -----
    Coalitions are found one by one: with every winner's bids lowered by what it gains at the payments so far, the best allocation is
    that of the coalition with the most to gain. Each adds a row, so it ends.

    Examples
    --------
    >>> core_payments([[([1, 0], 6.0)], [([0, 1], 6.0)], [([1, 1], 8.0)]], [1, 1]).payments.round(6).tolist()
    [4.0, 4.0, 0.0]
    """
    limits = limits or SearchLimits()
    deadline = time.monotonic() + limits.time_limit
    offered = XorBids.of(bids, capacities)
    vcg = vcg_payments(offered, offered.capacities, limits, warm_start=warm_start, tie_break=tie_break)
    while True:
        core = _Core(offered, vcg)
        better = core.close(limits, deadline)
        if better is None:
            return core.result(limits)
        # A search for a blocking coalition found more than the allocation is worth: so it was not the best.
        left = replace(limits, time_limit=max(0.0, deadline - time.monotonic()))
        vcg = vcg_payments(offered, offered.capacities, left, warm_start=better.allocation)


class _Core:
    """The rows found so far, and the payments that satisfy them."""

    def __init__(self, offered: XorBids, vcg: Payments) -> None:
        self._offered, self._vcg = offered, vcg
        self._highest = vcg.wdp.values
        self._winners = np.flatnonzero(vcg.wdp.allocation.any(axis=1))
        self._payments = vcg.payments.copy()
        self._rows: dict[tuple[int, ...], tuple[NDArray[np.float64], float]] = {}
        self._separations: list[AllocationResult] = []
        self._blocking_gap = 0.0

    def close(self, limits: SearchLimits, deadline: float) -> AllocationResult | None:
        """Add rows until no coalition blocks; return an allocation that shows the winners are not the best ones, if one turns up."""
        welfare = self._vcg.wdp.welfare
        tolerance = BLOCKED * max(1.0, welfare)
        while True:
            left = replace(limits, time_limit=max(0.0, deadline - time.monotonic()))
            blocking = self._best_coalition(left)
            self._separations.append(blocking)
            revenue = float(self._payments.sum())
            self._blocking_gap = max(0.0, blocking.bound - revenue)
            coalition = tuple(np.flatnonzero(blocking.allocation.any(axis=1)).tolist())
            if blocking.welfare <= revenue + tolerance or coalition in self._rows or len(self._rows) == MOST_COALITIONS:
                if blocking.status == "optimal" and blocking.welfare <= revenue + tolerance:
                    self._blocking_gap = 0.0
                return None
            at_full_bids = sum(self._offered.value_of(i, blocking.allocation[i]) for i in coalition)
            if at_full_bids > welfare + tolerance:
                return blocking
            inside = np.isin(self._winners, coalition)
            pays = self._payments[self._winners]
            self._rows[coalition] = ((~inside).astype(np.float64), blocking.welfare - float(pays[inside].sum()))
            self._payments[self._winners] = self._least(pays)

    def _best_coalition(self, limits: SearchLimits) -> AllocationResult:
        """Return the best allocation when each winner's bids are lowered by what it gains."""
        gains = self._highest - self._payments
        lowered = [values - gain for values, gain in zip(self._offered.values, gains, strict=True)]
        kept = [values >= 0 for values in lowered]
        bids = XorBids(
            self._offered.capacities,
            tuple(bundles[mask] for bundles, mask in zip(self._offered.bundles, kept, strict=True)),
            tuple(values[mask] for values, mask in zip(lowered, kept, strict=True)),
        )
        return solve_xor_wdp(bids, bids.capacities, limits, warm_start=self._vcg.wdp.allocation)

    def _least(self, pays: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the winners' payments of least revenue that satisfy all rows, of these the nearest to VCG."""
        lowest, highest = self._vcg.payments[self._winners], self._highest[self._winners]
        normals = np.array([normal for normal, _ in self._rows.values()])
        offsets = np.array([offset for _, offset in self._rows.values()])
        revenue = least_sum(normals, offsets, lowest, highest)
        if revenue is None:
            return pays
        n = len(lowest)
        all_normals = np.vstack((np.ones((1, n)), normals, np.eye(n), -np.eye(n)))
        # The second try is for a least sum that the simplex method's tolerance made a little too small.
        for least in (revenue, revenue + 1e-9 * self._vcg.wdp.welfare):
            nearest = nearest_point(lowest, all_normals, np.concatenate(([least], offsets, lowest, -highest)), n_equalities=1)
            if nearest is not None:
                return np.clip(nearest, lowest, highest)
        return pays

    def result(self, limits: SearchLimits) -> CorePayments:
        """Return the payments."""
        is_exact = self._vcg.exact and all(result.status == "optimal" for result in self._separations)
        open_range = np.where(self._highest > 0, self._highest - self._vcg.payments + self._vcg.error_bound, 0.0)
        not_deterministic = next((r.stopped_by for r in self._separations if not r.deterministic), self._vcg.wdp.stopped_by)
        return CorePayments(
            payments=self._payments,
            error_bound=np.zeros_like(open_range) if is_exact else open_range,
            exact=is_exact,
            wdp=replace(self._vcg.wdp, stopped_by=not_deterministic),
            welfare_without=self._vcg.welfare_without,
            vcg_payments=self._vcg.payments,
            vcg_exact=self._vcg.exact,
            coalitions=tuple(self._rows),
            blocking_gap=self._blocking_gap,
        )


def least_sum(
    normals: NDArray[np.float64], offsets: NDArray[np.float64], lowest: NDArray[np.float64], highest: NDArray[np.float64]
) -> float | None:
    """Return the least sum of numbers within their ranges that satisfies all rows; None if none do.

    Examples
    --------
    >>> least_sum(np.array([[1.0, 1.0]]), np.array([3.0]), np.array([1.0, 0.0]), np.array([2.0, 2.0]))
    3.0
    """
    scale = max(float(np.abs(highest).max(initial=0.0)), 1e-300)
    n_rows, n = normals.shape
    solver = SilentHighs()
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, n_rows
    model.col_cost_ = np.ones(n)
    model.col_lower_, model.col_upper_ = lowest / scale, highest / scale
    model.row_lower_, model.row_upper_ = offsets / scale, np.full(n_rows, highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    rows, columns = np.nonzero(normals)
    model.a_matrix_.start_ = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows)))).astype(np.int32)
    model.a_matrix_.index_, model.a_matrix_.value_ = columns.astype(np.int32), normals[rows, columns]
    for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(tolerance, 1e-10)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(np.asarray(solver.getSolution().col_value).sum() * scale)
