"""Who wins what and pays what, by the answers.

After a round that clears the answers are the allocation, at the round's prices. Otherwise the bids that the answers imply decide, and the
pricing rule says what their winners pay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles
from auctions.mechanism.bids import Bids, inferred_bids
from auctions.mechanism.events import Prices
from auctions.mechanism.state import AuctionState, Round
from auctions.mechanism.workbench import Workbench
from auctions.outcome import AllocationResult
from auctions.payments.core_selecting import core_payments
from auctions.payments.vcg import vcg_payments
from auctions.winner_determination.xor import solve_xor_wdp

Pricing = Literal["vcg", "core", "clearing", "pay_as_bid"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of an auction.

    Attributes
    ----------
    outcome : AllocationResult
        The allocation, valued by the bids.
    payments : array of shape (n_bidders,)
    pricing : str
        The rule that was applied: "clearing" whenever the last round cleared.
    error_bound : array of shape (n_bidders,)
        How far a payment may be off because a search was stopped.
    exact : bool
    clearing_prices : tuple of float, optional
    core : dict, optional
        Of core-selecting payments, the VCG payments, the coalitions that bound and the `blocking_gap`.
    """

    outcome: AllocationResult
    payments: NDArray[np.float64]
    pricing: Pricing
    error_bound: NDArray[np.float64]
    exact: bool
    clearing_prices: Prices | None = None
    core: dict[str, Any] | None = None

    @property
    def allocation(self) -> Bundles:
        """A bundle per bidder."""
        return self.outcome.allocation

    @property
    def revenue(self) -> float:
        """The sum of the payments."""
        return float(self.payments.sum())


def bid_lists(bids: list[Bids]) -> list[list[tuple[list[int], float]]]:
    """Return bids in the form in which winner determination takes them."""
    return [[(list(bundle), value) for bundle, value in own.items()] for own in bids]


def bids_of(state: AuctionState) -> list[Bids]:
    """Return the bids that the answers of each bidder imply."""
    return [inferred_bids(bidder) for bidder in state.bidders]


def winning_allocation(
    state: AuctionState, workbench: Workbench, bids: list[Bids] | None = None, warm_start: ArrayLike | None = None
) -> AllocationResult:
    """Return the allocation that is worth the most by the bids so far, or by others."""
    config = state.config
    with workbench.timed("wdp"):
        result = solve_xor_wdp(
            bid_lists(bids_of(state) if bids is None else bids),
            config.capacities,
            workbench.limits(config.parameters.node_limit, config.parameters.time_limit),
            warm_start=warm_start,
            tie_break=config.parameters.tie_break,
        )
    workbench.deterministic &= result.deterministic
    return result


def settle(state: AuctionState, workbench: Workbench | None = None) -> Settlement:
    """Return the outcome of an auction that has ended, or what it would be if it ended now."""
    workbench = Workbench() if workbench is None else workbench
    if state.has_cleared:
        return _settle_at_prices(state.rounds[-1])
    return _settle_by_bids(state, workbench)


def _settle_at_prices(round_: Round) -> Settlement:
    assert round_.prices is not None
    assert round_.counted is not None
    allocation = np.array(round_.counted, dtype=np.int64)
    payments = allocation @ np.array(round_.prices)
    welfare = float(payments.sum())
    outcome = AllocationResult(allocation, payments, welfare, welfare, "optimal", None, "clearing prices", 0.0)
    return Settlement(outcome, payments, "clearing", np.zeros(len(payments)), True, round_.prices)


def _settle_by_bids(state: AuctionState, workbench: Workbench) -> Settlement:
    parameters, bids = state.config.parameters, bid_lists(bids_of(state))
    limits = workbench.limits(parameters.node_limit, parameters.time_limit)
    nothing = np.zeros(len(bids))
    if parameters.pricing == "pay_as_bid":
        outcome = winning_allocation(state, workbench)
        return Settlement(outcome, outcome.values, "pay_as_bid", nothing, outcome.status == "optimal")
    with workbench.timed("wdp"):
        if parameters.pricing == "core":
            core = core_payments(bids, state.config.capacities, limits, tie_break=parameters.tie_break)
            settlement = Settlement(
                core.wdp,
                core.payments,
                "core",
                core.error_bound,
                core.exact,
                core={
                    "vcg_payments": core.vcg_payments.tolist(),
                    "coalitions": [list(coalition) for coalition in core.coalitions],
                    "blocking_gap": core.blocking_gap,
                },
            )
        else:
            vcg = vcg_payments(bids, state.config.capacities, limits, tie_break=parameters.tie_break)
            settlement = Settlement(vcg.wdp, vcg.payments, "vcg", vcg.error_bound, vcg.exact)
    workbench.deterministic &= settlement.outcome.deterministic
    return settlement
