"""What a bidder's answers say about its values: a lower bound for each bundle it has named.

A bundle x chosen at prices p is worth at least p.x to a bidder that answers truthfully, and as much as was answered where its value was
asked.
"""

from __future__ import annotations

from collections.abc import Callable

from auctions.mechanism.events import Bundle
from auctions.mechanism.state import BidderRecord

Bids = dict[Bundle, float]
"""A bidder's bids: at most one of them wins. The empty bundle is never among them."""


def inferred_bids(bidder: BidderRecord, *, value_answers: bool = True) -> Bids:
    """Return the bids that a bidder's answers imply, in the order in which the bundles were first named.

    Examples
    --------
    >>> bidder = BidderRecord()
    >>> bidder.record_demand(1, (2.0, 3.0), (1, 0))
    >>> bidder.record_demand(2, (4.0, 3.0), (1, 0))
    >>> bidder.record_value(3, (1, 1), 9.5)
    >>> inferred_bids(bidder)
    {(1, 0): 4.0, (1, 1): 9.5}
    """
    bids: Bids = {}
    for demand in bidder.demand_answers:
        price = sum(p * quantity for p, quantity in zip(demand.prices, demand.bundle, strict=True))
        bids[demand.bundle] = max(bids.get(demand.bundle, 0.0), price)
    if value_answers:
        for answer in bidder.value_answers:
            bids[answer.bundle] = max(bids.get(answer.bundle, 0.0), answer.value)
    return {bundle: value for bundle, value in bids.items() if any(bundle)}


def raised_bids(bids: Bids, value: Callable[[Bundle], float]) -> Bids:
    """Return bids on the same bundles at what they are worth."""
    return {bundle: value(bundle) for bundle in bids}
