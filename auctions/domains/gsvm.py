"""GSVM, the global synergy value model: licences on two circles, and a synergy for every further licence.

A national circle of 2s licences (goods 0..2s-1) and a regional circle of s (goods 2s..3s-1). A regional bidder at position q is
interested in four neighbouring national licences and two regional ones, the national bidder in the national circle. With n
licences of interest in a bundle, their values add up and grow by 20 % for each but the first: v(x) = (sum of v_j) (1 + 0.2 max(n
- 1, 0)). A regional bidder may hold a limited number of licences; nobody is given what is worthless to it.

`legacy=True` is the model as it was before SATS 0.7.0: n counts all licences of the bundle, and nothing limits a bidder.

References
----------
J. K. Goeree and C. A. Holt, "Hierarchical package bidding", Games and Economic Behavior 70 (2010).
M. Weiss, B. Lubin and S. Seuken, "SATS: A Universal Spectrum Auction Test Suite", AAMAS 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits
from auctions.domains.gsvm_demand import best_subsets, synergy
from auctions.domains.gsvm_mip import allocate_by_mip
from auctions.domains.instance import Instance
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.parameters import Interval, check_size, checked_count, checked_interval, checked_population
from auctions.domains.streams import Generator, SeedConvention, Source, drawn, open_streams
from auctions.outcome import AllocationResult, SearchLimits


@dataclass(frozen=True, slots=True)
class GsvmBidder:
    """A bidder of the model.

    Attributes
    ----------
    type : str
        "regional" or "national".
    position : int
        On the regional circle; -1 for a national bidder.
    items : tuple of int
        The licences of interest, ascending.
    values : tuple of float
        What each is worth alone.
    activity_limit : int, optional
        How many licences it may hold.
    restrict_to_items : bool
        Whether it may hold licences of interest only.
    """

    type: str
    position: int
    items: tuple[int, ...]
    values: tuple[float, ...]
    activity_limit: int | None
    restrict_to_items: bool


class Gsvm(Instance):
    """An instance of the global synergy value model; :func:`gsvm` draws one."""

    domain: ClassVar[str] = "GSVM"

    def __init__(self, size: int, bidders: list[GsvmBidder], *, legacy: bool, source: Source) -> None:
        names = [f"national_{t}" for t in range(2 * size)] + [f"regional_{t}" for t in range(size)]
        super().__init__(np.ones(3 * size), names, [bidder.type for bidder in bidders], source)
        self.size = size
        self.legacy = legacy
        self.bidders = tuple(bidders)
        self._worth = np.zeros((len(bidders), 3 * size))
        for row, bidder in enumerate(bidders):
            self._worth[row, list(bidder.items)] = bidder.values

    def limits(self, bidder: int) -> Limits:
        super().limits(bidder)
        holder = self.bidders[bidder]
        goods = tuple(good in holder.items for good in range(self.n_goods)) if holder.restrict_to_items else None
        return Limits(max_items=holder.activity_limit, goods=goods)

    def goods_of_interest(self, bidder: int) -> list[int]:
        super().goods_of_interest(bidder)
        return list(self.bidders[bidder].items)

    def candidates(self, bidder: int) -> list[int]:
        """Return the licences that a bidder may be given."""
        holder = self.bidders[bidder]
        return list(range(self.n_goods)) if self.legacy and not holder.restrict_to_items else list(holder.items)

    def most_items(self, bidder: int) -> int:
        """Return how many licences a bidder may be given."""
        limit = self.bidders[bidder].activity_limit
        count = len(self.candidates(bidder))
        return count if limit is None else min(limit, count)

    def worth(self, bidder: int) -> NDArray[np.float64]:
        """Return what each licence is worth to a bidder alone."""
        return np.asarray(self._worth[bidder])

    @property
    def methods(self) -> tuple[str, ...]:
        return ("mip",)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": {"size": self.size, "legacy": self.legacy},
            "bidders": [
                {
                    "id": index,
                    "type": bidder.type,
                    "position": bidder.position,
                    "items": list(bidder.items),
                    "values": list(bidder.values),
                    "activity_limit": bidder.activity_limit,
                    "restrict_to_items": bidder.restrict_to_items,
                }
                for index, bidder in enumerate(self.bidders)
            ],
        }

    @classmethod
    def read(cls, document: Reader) -> Gsvm:
        """Read an instance from its JSON."""
        size = document["world"]["size"].integer(least=1, most=10_000)
        legacy = document["world"].get("legacy")
        source = Source.from_dict(document.value.get("source"))
        readers = read_bidders(document)
        check_size(len(readers), 3 * size, pointer="/world/size")
        bidders = [_read_bidder(bidder, size) for bidder in readers]
        return cls(size, bidders, legacy=legacy is not None and legacy.boolean(), source=source)

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        holder = self.bidders[bidder]
        worth = weighted_sums(bundles, holder.items, self._worth[bidder])
        counted = bundles.sum(axis=1) if self.legacy else bundles[:, holder.items].sum(axis=1)
        return np.asarray(worth * synergy(counted))

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        goods = np.array(self.candidates(bidder), dtype=np.intp)
        chosen = best_subsets(self._worth[bidder, goods], prices[goods], self.most_items(bidder), k)
        bundles = np.zeros((len(chosen), self.n_goods), dtype=np.int64)
        bundles[:, goods] = chosen
        return bundles

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        return allocate_by_mip(self, bidders, search)


def weighted_sums(bundles: Bundles, goods: Sequence[int], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted sum of some goods of each bundle, added up in the same order for one bundle as for many."""
    sums = np.zeros(len(bundles))
    for good in goods:
        sums += weights[good] * bundles[:, good]
    return sums


def gsvm(
    seed: int,
    n_regional: int = 6,
    n_national: int = 1,
    size: int = 6,
    legacy: bool = False,
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    national_low: Interval = (0.0, 10.0),
    national_high: Interval = (0.0, 20.0),
    regional_low: Interval = (0.0, 20.0),
    regional_high: Interval = (0.0, 40.0),
    regional_circle: Interval = (0.0, 20.0),
    activity_limit: int | None = None,
) -> Gsvm:
    """Draw an instance of the global synergy value model.

    Parameters
    ----------
    seed : int
        Signed 64 bits.
    n_regional, n_national : int
        Bidders of each type, in this order of ids. A regional bidder's position is its number modulo `size`.
    size : int
        Licences of the regional circle; the national one has twice as many.
    legacy : bool
        The model before SATS 0.7.0.
    rng, seed_convention, population_seed
        As for :func:`~auctions.domains.streams.open_streams`.
    national_low, national_high : pair of float
        Values of a national bidder, uniform, for licences of low and of high value.
    regional_low, regional_high, regional_circle : pair of float
        The same for a regional bidder, and for licences of the regional circle.
    activity_limit : int, optional
        How many licences any bidder may hold, in place of two thirds of those of interest (regional bidders) and no limit
        (national ones).

    Examples
    --------
    >>> round(gsvm(1).value(0, "1" * 18), 6)
    127.543999
    """
    regional, national = checked_population(n_regional=n_regional, n_national=n_national)
    size = checked_count("size", size, least=1)
    check_size(regional + national, 3 * size)
    bounds = {
        "national_low": checked_interval("national_low", national_low),
        "national_high": checked_interval("national_high", national_high),
        "regional_low": checked_interval("regional_low", regional_low),
        "regional_high": checked_interval("regional_high", regional_high),
    }
    circle = checked_interval("regional_circle", regional_circle)
    override = None if activity_limit is None else checked_count("activity_limit", activity_limit)

    streams = open_streams(seed, rng, seed_convention, population_seed)
    streams.world().stream().below(1)
    bidders = []
    for index in range(regional + national):
        kind = "regional" if index < regional else "national"
        position = index % size if kind == "regional" else -1
        items = _items_at(position, size) if kind == "regional" else range(2 * size)
        intervals = [circle if item >= 2 * size else bounds[f"{kind}_{_height(item, size)}"] for item in items]
        values = streams.bidder(index).stream().uniforms(*zip(*intervals, strict=True))
        limit = override
        if limit is None and kind == "regional" and not legacy:
            limit = int(2 / 3 * len(items) + 1 / 2)
        bidders.append(
            GsvmBidder(
                type=kind,
                position=position,
                items=tuple(items),
                values=tuple(values.tolist()),
                activity_limit=None if legacy else limit,
                restrict_to_items=kind == "national" and not legacy,
            )
        )
    return Gsvm(size, bidders, legacy=bool(legacy), source=drawn(seed, rng, seed_convention, population_seed))


def _items_at(position: int, size: int) -> list[int]:
    national = {(2 * position + step) % (2 * size) for step in range(4)}
    regional = {2 * size + (position + step) % size for step in range(2)}
    return sorted(national | regional)


def _height(item: int, size: int) -> str:
    third = size // 3
    return "high" if 2 * third <= item < 4 * third else "low"


def _read_bidder(bidder: Reader, size: int) -> GsvmBidder:
    items = bidder["items"].distinct(least=0, most=3 * size - 1)
    values = bidder["values"].numbers(length=len(items), least=0.0)
    order = np.argsort(items)
    limit = bidder.get("activity_limit")
    position = bidder.get("position")
    restricted = bidder.get("restrict_to_items")
    return GsvmBidder(
        type=bidder["type"].text(),
        position=-1 if position is None else position.integer(),
        items=tuple(items[place] for place in order),
        values=tuple(float(values[place]) for place in order),
        activity_limit=None if limit is None else limit.integer(least=0),
        restrict_to_items=restricted is not None and restricted.boolean(),
    )
