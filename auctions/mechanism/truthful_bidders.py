"""Simulated bidders: they answer every question as an instance's values say."""

from __future__ import annotations

from auctions.domains.instance import Instance
from auctions.mechanism.config import BidderConfig
from auctions.mechanism.events import Bundle
from auctions.mechanism.state import Round


def bidders_of(instance: Instance) -> list[BidderConfig]:
    """Return the bidders of an instance as the auctioneer knows them."""
    return [
        BidderConfig(str(bidder), bidder_type, instance.limits(bidder))
        for bidder, bidder_type in enumerate(instance.bidder_types)
    ]


def truthful_answer(instance: Instance, bidder: int, round_: Round) -> Bundle | float:
    """Return a bidder's answer to its question in a round."""
    if round_.prices is not None:
        bundle: Bundle = tuple(int(quantity) for quantity in instance.demand(bidder, round_.prices)[0].bundle)
        return bundle
    assert round_.bundles is not None
    return instance.value(bidder, list(round_.bundles[bidder] or ()))


def start_prices_of(instance: Instance, share: float) -> list[float]:
    """Return start prices for an instance without a table: a share of the mean value of one unit of each good.

    A good of which one unit is worth nothing to anybody starts at a millionth of the largest of these means, or of 1 if all are zero, so
    that it can rise.
    """
    units = [[int(good == other) for other in range(instance.n_goods)] for good in range(instance.n_goods)]
    means = instance.value_matrix(units).clip(min=0.0).mean(axis=0)
    smallest = 1e-6 * (float(means.max(initial=0.0)) or 1.0)
    return [max(share * float(mean), smallest) for mean in means]
