"""The bidders of MRVM: how much each region's capacity is worth to them, and how the regions add up."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_DOWN, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auctions.domains.json_reader import Reader
from auctions.domains.mrvm_world import MrvmWorld

# Shares of alpha that the first and the second breakpoint bring.
LOW_SHARE, HIGH_SHARE = 0.27, 0.73

# How far around beta the breakpoints lie, in shares of the full capacity, and the least place of the first one.
MARGIN, LEAST_PLACE = 0.3, 0.01


@dataclass(frozen=True, slots=True)
class MrvmBidder:
    """A bidder of the model.

    Attributes
    ----------
    type : str
        "local", "regional" or "national".
    alpha : float
        What a customer is worth at full capacity.
    beta, z_low, z_high : tuple of float
        Per region: market share, and where the two breakpoints lie.
    regions_of_interest : tuple of int, optional
        Of a local bidder.
    home : int, optional
    distance_discounts : tuple of float, optional
        Of a regional bidder: gamma of the regions 0, 1, .. borders away; 0 beyond.
    gamma : tuple of float, optional
        Of a national bidder: g(1), g(2), .., the last for that many regions left out or more.
    """

    type: str
    alpha: float
    beta: tuple[float, ...]
    z_low: tuple[float, ...]
    z_high: tuple[float, ...]
    regions_of_interest: tuple[int, ...] | None = None
    home: int | None = None
    distance_discounts: tuple[float, ...] | None = None
    gamma: tuple[float, ...] | None = None

    def region_weights(self, world: MrvmWorld) -> NDArray[np.float64]:
        """Return gamma_r of each region; ones for a national bidder."""
        if self.regions_of_interest is not None:
            weights = np.zeros(len(world.regions))
            weights[list(self.regions_of_interest)] = 1.0
            return weights
        if self.home is None or self.distance_discounts is None:
            return np.ones(len(world.regions))
        discounts = self.distance_discounts
        return np.array([discounts[d] if 0 <= d < len(discounts) else 0.0 for d in world.distances(self.home).tolist()])

    def omega(self, world: MrvmWorld) -> NDArray[np.float64]:
        """Return what each configuration of each region is worth before gamma."""
        customers = np.array(self.beta) * world.populations
        capacities = world.configuration_capacities
        heights = [0.0, LOW_SHARE * self.alpha, HIGH_SHARE * self.alpha, self.alpha]
        worth = np.empty((len(customers), len(capacities)))
        for region, people in enumerate(customers.tolist()):
            places = [0.0, self.z_low[region] * people, self.z_high[region] * people, world.full_capacity]
            worth[region] = people * np.interp(capacities, places, heights)
        # The last breakpoint may coincide with the one before, and all lots are worth alpha nevertheless.
        worth[:, capacities >= world.full_capacity] = customers[:, None] * self.alpha
        return worth

    def to_dict(self) -> dict[str, Any]:
        """Return the bidder as JSON."""
        document: dict[str, Any] = {
            "type": self.type,
            "alpha": self.alpha,
            "beta": list(self.beta),
            "z_low": list(self.z_low),
            "z_high": list(self.z_high),
        }
        if self.regions_of_interest is not None:
            document["regions_of_interest"] = list(self.regions_of_interest)
        if self.home is not None and self.distance_discounts is not None:
            document |= {"home": self.home, "distance_discounts": list(self.distance_discounts)}
        if self.gamma is not None:
            document["gamma"] = list(self.gamma)
        return document


def breakpoints(beta: NDArray[np.float64], world: MrvmWorld) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return z_low and z_high of each region."""
    per_customer = world.full_capacity / (world.populations * beta)
    low = np.where(beta < MARGIN, LEAST_PLACE, beta - MARGIN)
    high = np.minimum(beta + MARGIN, 1.0)
    return tuple(_ten_digits(z) for z in (low * per_customer).tolist()), tuple((high * per_customer).tolist())


def five_decimals(number: float) -> float:
    """Return a number rounded to five decimals, a half down.

    Examples
    --------
    >>> five_decimals(2.0 ** -1.25)
    0.42045
    """
    return float(Decimal(number).quantize(Decimal("1e-5"), rounding=ROUND_HALF_DOWN))


def read_bidder(bidder: Reader, world: MrvmWorld) -> MrvmBidder:
    """Read a bidder from its JSON; without `z_low` and `z_high` they are computed."""
    count = len(world.regions)
    kind = bidder["type"].text()
    beta = bidder["beta"].numbers(length=count, most=1.0)
    for place, share in enumerate(beta.tolist()):
        item = bidder["beta"].items()[place]
        if share <= 0.0:
            raise item.fault(f"is above 0, not {share}")
        if share == MARGIN:
            raise item.fault(f"is not exactly {MARGIN}: the first breakpoint would lie at 0")
    z_low, z_high = breakpoints(beta, world)
    if bidder.get("z_low") is not None:
        z_low = tuple(bidder["z_low"].numbers(length=count, least=0.0).tolist())
    if bidder.get("z_high") is not None:
        z_high = tuple(bidder["z_high"].numbers(length=count, least=0.0).tolist())
    for place, (low, high) in enumerate(zip(z_low, z_high, strict=True)):
        if not 0.0 < low <= high:
            raise bidder.fault(f"has breakpoints of region {place} that are not 0 < z_low <= z_high: {low}, {high}")
    interest, home, discounts, gamma = None, None, None, None
    if kind == "local":
        interest = tuple(bidder["regions_of_interest"].distinct(least=0, most=count - 1))
    elif kind == "regional":
        home = bidder["home"].integer(least=0, most=count - 1)
        discounts = tuple(_falling(bidder["distance_discounts"]))
    elif kind == "national":
        gamma = tuple(_falling(bidder["gamma"]))
    else:
        raise bidder["type"].fault(f"is 'local', 'regional' or 'national', not {kind!r}")
    alpha = bidder["alpha"].number(least=0.0)
    return MrvmBidder(kind, alpha, tuple(beta.tolist()), z_low, z_high, interest, home, discounts, gamma)


def _falling(factors: Reader) -> list[float]:
    numbers: list[float] = factors.numbers(least=0.0, most=1.0).tolist()
    if not numbers:
        raise factors.fault("has at least 1 item")
    for place, (before, after) in enumerate(pairwise(numbers), start=1):
        if after > before:
            raise factors.items()[place].fault(f"is at most the {before} before it, not {after}")
    return numbers


def _ten_digits(number: float) -> float:
    """Return a number rounded up to ten significant digits."""
    exact = Decimal(number)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 9), rounding=ROUND_CEILING))
