"""What is fixed when an auction starts: the supply, the bidders and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError

from auctions.bundles import Limits
from auctions.mechanism.budget import Mechanism, QuestionCounts
from auctions.mechanism.parameters import Parameters
from solvers.field_faults import json_pointer
from solvers.operation import InvalidInput

MOST_GOODS = 500
MOST_UNITS = 1000
MOST_BIDDERS = 1000
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class BidderConfig:
    """A bidder as the auctioneer knows it.

    Attributes
    ----------
    id : str
    type : str, optional
        Picks the networks' hyper-parameters where the domain has a table.
    limits : Limits
        Which bundles it may be asked for and may win.
    """

    id: str
    type: str | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class AuctionConfig:
    """An auction before its first question. Build it with :func:`auctions.mechanism.rules.configure`.

    Attributes
    ----------
    mechanism : str
    capacities : tuple of int
        Units of each good.
    bidders : tuple of BidderConfig
    counts : QuestionCounts
    start_prices : tuple of float, optional
        None only in mechanisms without prices.
    increment : float
    parameters : Parameters
    seed : int
        Of the mechanism's own draws.
    domain : str, optional
        Whose tables apply.
    scales : tuple of float, optional
        Per bidder the unit in which its network works, to begin with.
    """

    mechanism: Mechanism
    capacities: tuple[int, ...]
    bidders: tuple[BidderConfig, ...]
    counts: QuestionCounts
    start_prices: tuple[float, ...] | None
    increment: float
    parameters: Parameters
    seed: int = 0
    domain: str | None = None
    scales: tuple[float, ...] | None = None

    @property
    def n_goods(self) -> int:
        """Number of goods."""
        return len(self.capacities)

    @property
    def n_bidders(self) -> int:
        """Number of bidders."""
        return len(self.bidders)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON values."""
        counts = self.counts
        return {
            "mechanism": self.mechanism,
            "capacities": list(self.capacities),
            "bidders": [
                {
                    "id": bidder.id,
                    "type": bidder.type,
                    "limits": {
                        "max_items": bidder.limits.max_items,
                        "goods": None if bidder.limits.goods is None else list(bidder.limits.goods),
                        "caps": None if bidder.limits.caps is None else list(bidder.limits.caps),
                    },
                }
                for bidder in self.bidders
            ],
            "counts": {name: getattr(counts, name) for name in QuestionCounts.__dataclass_fields__},
            "start_prices": None if self.start_prices is None else list(self.start_prices),
            "increment": self.increment,
            "parameters": self.parameters.model_dump(mode="json"),
            "seed": self.seed,
            "domain": self.domain,
            "scales": None if self.scales is None else list(self.scales),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> AuctionConfig:
        """Return the configuration that :meth:`to_dict` wrote."""
        return cls(
            mechanism=document["mechanism"],
            capacities=tuple(document["capacities"]),
            bidders=tuple(
                BidderConfig(
                    bidder["id"],
                    bidder["type"],
                    Limits(
                        bidder["limits"]["max_items"],
                        _tuple_or_none(bidder["limits"]["goods"]),
                        _tuple_or_none(bidder["limits"]["caps"]),
                    ),
                )
                for bidder in document["bidders"]
            ),
            counts=QuestionCounts(**document["counts"]),
            start_prices=_tuple_or_none(document["start_prices"]),
            increment=document["increment"],
            parameters=Parameters.model_validate(document["parameters"]),
            seed=document["seed"],
            domain=document["domain"],
            scales=_tuple_or_none(document["scales"]),
        )


def read_parameters(document: dict[str, Any]) -> Parameters:
    """Return the parameters of a document.

    Raises
    ------
    InvalidInput
        With a pointer to the first field at fault.
    """
    try:
        return Parameters.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        place = tuple(part for part in fault["loc"] if part != "[key]")
        raise InvalidInput(fault["msg"].removeprefix("Value error, "), pointer="/parameters" + json_pointer(place)) from None


def validate_supply(capacities: Sequence[int]) -> tuple[int, ...]:
    """Return the supply as integers.

    Raises
    ------
    InvalidInput
        If there is no good, or too many, or a supply is not a positive integer of reasonable size.
    """
    if not len(capacities):
        raise InvalidInput("an auction needs at least one good", pointer="/capacities")
    if len(capacities) > MOST_GOODS:
        raise InvalidInput(f"{len(capacities)} goods; at most {MOST_GOODS} are allowed", pointer="/capacities")
    for good, units in enumerate(capacities):
        if isinstance(units, bool) or not isinstance(units, int | np.integer) or not 1 <= units <= MOST_UNITS:
            raise InvalidInput(f"the supply of a good is an integer from 1 to {MOST_UNITS}", pointer=f"/capacities/{good}")
    return tuple(int(units) for units in capacities)


def validate_bidders(bidders: Sequence[BidderConfig], capacities: Sequence[int]) -> tuple[BidderConfig, ...]:
    """Return the bidders.

    Raises
    ------
    InvalidInput
        If there is none, two have the same id, or limits do not go with the goods.
    """
    if not bidders:
        raise InvalidInput("an auction needs at least one bidder", pointer="/bidders")
    if len(bidders) > MOST_BIDDERS:
        raise InvalidInput(f"{len(bidders)} bidders; at most {MOST_BIDDERS} are allowed", pointer="/bidders")
    seen: set[str] = set()
    for index, bidder in enumerate(bidders):
        if bidder.id in seen:
            raise InvalidInput(f"two bidders have the id {bidder.id!r}", pointer=f"/bidders/{index}/id")
        seen.add(bidder.id)
        for name in ("goods", "caps"):
            listed = getattr(bidder.limits, name)
            if listed is not None and len(listed) != len(capacities):
                raise InvalidInput(
                    f"{len(listed)} entries for {len(capacities)} goods", pointer=f"/bidders/{index}/limits/{name}"
                )
        caps = bidder.limits.caps or ()
        if (bidder.limits.max_items or 0) < 0 or any(cap < 0 for cap in caps):
            raise InvalidInput("a limit is 0 or more", pointer=f"/bidders/{index}/limits")
    return tuple(bidders)


def validate_prices(prices: Sequence[float], n_goods: int, pointer: str) -> tuple[float, ...]:
    """Return the prices as floats.

    Raises
    ------
    InvalidInput
        If one is missing, negative or not finite.
    """
    if len(prices) != n_goods:
        raise InvalidInput(f"{len(prices)} prices for {n_goods} goods", pointer=pointer)
    for good, price in enumerate(prices):
        if not (np.isfinite(price) and price >= 0):
            raise InvalidInput("a price is a finite number, 0 or more", pointer=f"{pointer}/{good}")
    return tuple(float(price) for price in prices)


def _tuple_or_none(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
