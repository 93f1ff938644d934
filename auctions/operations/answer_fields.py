"""A bidder's answers as a request gives them: what it chose at prices, and what it said bundles are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from auctions.bundles import Bundles, Limits
from auctions.domains.bundle_forms import checked_prices
from auctions.operations.bid_fields import BidFields
from auctions.operations.supply import Bundle, Flag, Goods, Integer, Number
from solvers.operation import InvalidInput


class DemandAnswerFields(BaseModel):
    """What a bidder chose at prices."""

    model_config = ConfigDict(extra="forbid")

    prices: list[Number] = Field(description="Of a unit of each good, at least 0.")
    bundle: Bundle


class LimitFields(BaseModel):
    """What a bidder may hold at most."""

    model_config = ConfigDict(extra="forbid")

    max_items: Integer | None = Field(None, ge=0, le=10**9, description="Units in total.")
    goods: list[Flag] | None = Field(None, description="Of each good, whether it may hold any.")
    caps: list[Integer] | None = Field(None, description="Units of each good.")

    def limits(self, goods: Goods, pointer: str) -> Limits:
        """Return the limits, if they go with the goods."""
        for name in ("goods", "caps"):
            listed = getattr(self, name)
            if listed is not None and len(listed) != len(goods.capacities):
                raise InvalidInput(f"{len(listed)} entries for {len(goods.capacities)} goods", pointer=f"{pointer}/{name}")
        for good, cap in enumerate(self.caps or ()):
            if not 0 <= cap <= 10**9:
                raise InvalidInput("a cap is at least 0", pointer=f"{pointer}/caps/{good}")
        return Limits(
            self.max_items,
            None if self.goods is None else tuple(self.goods),
            None if self.caps is None else tuple(self.caps),
        )


def read_demand_answers(answers: Sequence[DemandAnswerFields], goods: Goods, pointer: str) -> tuple[NDArray[np.float64], Bundles]:
    """Return prices, shape (R, m), and the bundles chosen at them."""
    n_goods = len(goods.capacities)
    prices = [
        checked_prices(answer.prices, n_goods, nonnegative=True, pointer=f"{pointer}/{index}/prices")
        for index, answer in enumerate(answers)
    ]
    bundles = goods.bundles([answer.bundle for answer in answers], lambda index: f"{pointer}/{index}/bundle")
    return np.array(prices, dtype=np.float64).reshape(len(prices), n_goods), bundles


def read_value_answers(answers: Sequence[BidFields], goods: Goods, pointer: str) -> tuple[Bundles, NDArray[np.float64]]:
    """Return bundles and what each is worth, at least 0."""
    bundles = goods.bundles([answer.bundle for answer in answers], lambda index: f"{pointer}/{index}/bundle")
    for index, answer in enumerate(answers):
        if answer.value < 0:
            raise InvalidInput(f"a value is at least 0, not {answer.value!r}", pointer=f"{pointer}/{index}/value")
    return bundles, np.array([answer.value for answer in answers], dtype=np.float64)
