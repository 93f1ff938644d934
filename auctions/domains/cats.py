"""CATS regions: goods on a map, where what lies together is worth more together; every bidder states a few XOR bids.

The map is a grid with some edges taken away and some diagonals added. Good j has a common value c_j and for each bidder a private
one p_j: v(x) = sum of (c_j + p_j) + |x|^1.2 (or, `quadratic`, the sum of c_j^2 in place of the power). A bidder's first bid grows
from a good it likes to neighbours it likes; substitutes of the same size grow from each good of that bid. In an auction a bundle
is worth the best own bid within it; `valuation="formula"` values bundles by the formula and has neither demand nor allocations.

References
----------
K. Leyton-Brown, M. Pearson and Y. Shoham, "Towards a universal test suite for combinatorial auction algorithms", ACM EC 2000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.cats_bids import Map, grow_bids
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.parameters import check_size, checked_count, checked_interval, checked_number, checked_population
from auctions.domains.streams import NumpyStream, Source, drawn, open_streams
from auctions.domains.valuations import StatedBidder, Valuations
from auctions.domains.xor_valuation import XorValuation
from solvers.operation import InvalidInput

BidderValues = Literal["xor", "formula"]


@dataclass(frozen=True, slots=True)
class CatsBidder:
    """A bidder: its private value of each good, and its XOR bids as goods and amount."""

    private: tuple[float, ...]
    bids: tuple[tuple[tuple[int, ...], float], ...]


class Cats(Valuations):
    """An instance of CATS regions; :func:`cats_regions` draws one."""

    domain: ClassVar[str] = "CATS"

    def __init__(self, world: Map, bidders: list[CatsBidder], *, valuation: BidderValues, source: Source) -> None:
        n_goods = world.rows * world.columns
        stated = []
        for index, bidder in enumerate(bidders):
            bundles = np.zeros((len(bidder.bids), n_goods), dtype=np.int64)
            for row, (items, _) in enumerate(bidder.bids):
                bundles[row, list(items)] = 1
            stated.append(StatedBidder(index, "bidder", XorValuation(bundles, np.array([amount for _, amount in bidder.bids]))))
        super().__init__([1] * n_goods, [f"good_{good}" for good in range(n_goods)], stated, source=source)
        self.world = world
        self.private = np.array([bidder.private for bidder in bidders]).reshape(len(bidders), n_goods)
        self.bids = tuple(bidder.bids for bidder in bidders)
        self.valuation: BidderValues = valuation

    @property
    def monotone(self) -> bool:
        return self.valuation == "xor"

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": self.world.to_dict() | {"valuation": self.valuation},
            "bidders": [
                {
                    "id": index,
                    "private": self.private[index].tolist(),
                    "bids": [{"items": list(items), "value": value} for items, value in bids],
                }
                for index, bids in enumerate(self.bids)
            ],
        }

    @classmethod
    def read(cls, document: Reader) -> Cats:
        """Read an instance from its JSON."""
        world = Map.read(document["world"])
        given = document["world"].get("valuation")
        valuation = _checked_valuation("xor" if given is None else given.text(), "/world/valuation")
        readers = read_bidders(document)
        check_size(len(readers), world.rows * world.columns, pointer="/world")
        bidders = [_read_bidder(bidder, world.rows * world.columns) for bidder in readers]
        return cls(world, bidders, valuation=valuation, source=Source.from_dict(document.value.get("source")))

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        if self.valuation == "xor":
            return super()._values(bidder, bundles)
        return self.world.values(self.private[bidder], bundles)

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        self._refuse_formula()
        return super()._best_bundles(bidder, prices, k)

    def _checked_method(self, method: str) -> str:
        self._refuse_formula()
        return super()._checked_method(method)

    def _refuse_formula(self) -> None:
        if self.valuation == "formula":
            raise InvalidInput(
                "bidders valued by the formula have no demand and no allocation; take valuation 'xor'", pointer="/valuation"
            )


def cats_regions(
    seed: int,
    n_bidders: int = 20,
    goods: int = 256,
    valuation: BidderValues = "xor",
    *,
    quadratic: bool = False,
    common: tuple[float, float] = (1.0, 100.0),
    private_deviation: float = 30.0,
    remove_edge: float = 0.1,
    add_diagonal: float = 0.2,
    add_good: float = 0.9,
    jump: float = 0.05,
    budget: float = 1.5,
    resale: float = 0.5,
    substitutes: int = 5,
) -> Cats:
    """Draw an instance of CATS regions, with NumPy's random numbers.

    Parameters
    ----------
    seed : int
    n_bidders : int
    goods : int
        The map has floor(sqrt(goods))^2 of them.
    valuation : {"xor", "formula"}
    quadratic : bool
        Whether the sum of squared common values stands in place of |x|^1.2.
    common : pair of float
        Common values, uniform.
    private_deviation : float
        Of private values, which are normal about 0.
    remove_edge, add_diagonal : float
        Chance that an inner good loses an edge, and that it gets another diagonal.
    add_good, jump : float
        Chance that a bid grows on, and that it grows to any good in place of a neighbour.
    budget, resale : float
        A substitute may be worth so many times the first bid, and its common value at least so much of the first one's.
    substitutes : int
        How many a bidder keeps.

    Examples
    --------
    >>> instance = cats_regions(1, n_bidders=3, goods=25)
    >>> instance.n_goods, instance.n_bidders
    (25, 3)
    """
    (count,) = checked_population(n_bidders=n_bidders)
    side = math.isqrt(checked_count("goods", goods, least=1))
    check_size(count, side * side)
    values = checked_interval("common", common)
    deviation = checked_number("private_deviation", private_deviation, least=0.0)
    chances = {
        name: checked_number(name, chance, least=0.0, most=1.0)
        for name, chance in (
            ("remove_edge", remove_edge),
            ("add_diagonal", add_diagonal),
            ("add_good", add_good),
            ("jump", jump),
        )
    }
    shares = [checked_number(name, share, least=0.0) for name, share in (("budget", budget), ("resale", resale))]
    kept = checked_count("substitutes", substitutes)

    streams = open_streams(seed, "numpy", "pysats", None)
    supplier = streams.world()
    if not isinstance(supplier, NumpyStream):
        raise TypeError("CATS draws from NumPy's generators")
    world = Map.draw(side, side, values, chances["remove_edge"], chances["add_diagonal"], bool(quadratic), supplier.generator)
    bidders = []
    for index in range(count):
        own = streams.bidder(index)
        if not isinstance(own, NumpyStream):
            raise TypeError("CATS draws from NumPy's generators")
        private = own.generator.normal(0.0, deviation, side * side)
        bids = grow_bids(world, private, chances["add_good"], chances["jump"], shares[0], shares[1], kept, own.generator)
        bidders.append(CatsBidder(tuple(private.tolist()), tuple(bids)))
    return Cats(
        world,
        bidders,
        valuation=_checked_valuation(valuation, "/parameters/valuation"),
        source=drawn(seed, "numpy", "pysats", None),
    )


def _checked_valuation(valuation: str, pointer: str) -> BidderValues:
    if valuation not in ("xor", "formula"):
        raise InvalidInput(f"there is no valuation {valuation!r}; it is 'xor' or 'formula'", pointer=pointer)
    return "formula" if valuation == "formula" else "xor"


def _read_bidder(bidder: Reader, n_goods: int) -> CatsBidder:
    bids = []
    for bid in bidder["bids"].items():
        items = bid["items"].distinct(least=0, most=n_goods - 1)
        bids.append((tuple(sorted(items)), bid["value"].number(least=0.0)))
    return CatsBidder(tuple(bidder["private"].numbers(length=n_goods).tolist()), tuple(bids))
