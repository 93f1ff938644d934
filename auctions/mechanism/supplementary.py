"""The supplementary round of a clock auction: what bidders might bid beyond what their answers imply.

The variants are bidding heuristics of the CCA literature: the clock bids as they are; the same bundles at their true values ("raised");
and in addition the K bundles of highest utility at the last clock prices ("profit max").
"""

from __future__ import annotations

from typing import Literal

from auctions.domains.instance import Instance
from auctions.mechanism.bids import Bids, inferred_bids, raised_bids
from auctions.mechanism.state import AuctionState

Variant = Literal["clock", "raised", "profit_max_5", "profit_max_100"]
VARIANTS: tuple[Variant, ...] = ("clock", "raised", "profit_max_5", "profit_max_100")
PROFIT_MAX = {"profit_max_5": 5, "profit_max_100": 100}


def variant_bids(state: AuctionState, instance: Instance, variant: Variant) -> list[Bids]:
    """Return the bids of each bidder, were it to bid by a heuristic.

    Parameters
    ----------
    state : AuctionState
    instance : Instance
        Whose values the raised and added bids are.
    variant : {"clock", "raised", "profit_max_5", "profit_max_100"}
    """
    clock = [inferred_bids(bidder) for bidder in state.bidders]
    if variant == "clock":
        return clock
    raised = [
        raised_bids(bids, lambda bundle, bidder=bidder: instance.value(bidder, list(bundle)))  # type: ignore[misc]
        for bidder, bids in enumerate(clock)
    ]
    n_added = PROFIT_MAX.get(variant)
    prices = next((round_.prices for round_ in reversed(state.rounds) if round_.prices is not None), None)
    if n_added is None or prices is None:
        return raised
    for bidder, bids in enumerate(raised):
        for wanted in instance.demand(bidder, prices, n_added, allow_negative=True):
            if wanted.bundle.any():
                bids[tuple(int(quantity) for quantity in wanted.bundle)] = wanted.value
    return raised
