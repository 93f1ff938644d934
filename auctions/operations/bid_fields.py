"""Bundle bids of a request: a list per bidder, of which at most one wins."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from auctions.operations.supply import Bundle, Goods, Number
from auctions.winner_determination.bids import XorBids
from solvers.operation import Context


class BidFields(BaseModel):
    """What a bidder offers for a bundle."""

    model_config = ConfigDict(extra="forbid")

    bundle: Bundle
    value: Number = Field(description="At least 0; of several bids on one bundle the highest counts.")


BidderBids = Annotated[list[list[BidFields]], Field(description="Of each bidder its bids, of which at most one wins.")]


def read_bids(bids: list[list[BidFields]], goods: Goods, context: Context, pointer: str = "/bids") -> XorBids:
    """Return the bids of a request.

    Raises
    ------
    InvalidInput
        If one is malformed, with its place.
    TooLarge
        If there are more bidders or bids than the service takes.
    """
    context.require("max_bidders", len(bids), "bidders", pointer=pointer)
    context.require("max_bids", sum(map(len, bids)), "bids", pointer=pointer)
    lists = []
    for bidder, own in enumerate(bids):
        bundles = goods.bundles([bid.bundle for bid in own], lambda bid, at=bidder: f"{pointer}/{at}/{bid}/bundle")  # type: ignore[misc]
        lists.append(list(zip(np.asarray(bundles), [bid.value for bid in own], strict=True)))
    return XorBids.of(lists, goods.capacities, pointer=pointer)
