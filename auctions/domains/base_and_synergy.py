"""BVM and MBVM, the base and synergy value models: bands of like licences, with a synergy for the first few of each.

n licences of a band are worth base (k syn(k) + n' - k), where n' = min(n, threshold) are of use and k = min(n', number of
synergies) of them gain; the bands add up.

References
----------
M. Bichler, P. Shabalin and J. Wolf, "Do core-selecting combinatorial clock auctions always lead to high efficiency?",
Experimental Economics 16 (2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.parameters import Interval, checked_interval, checked_population
from auctions.domains.streams import Generator, SeedConvention, Source, drawn, open_streams
from auctions.domains.tabulated import TabulatedInstance

# Synergies of 1, 2, .. licences of a band by domain and name.
SYNERGIES: dict[str, dict[str, tuple[float, ...]]] = {
    "BVM": {"A": (1.0, 1.2, 1.4, 1.8), "B": (1.0,)},
    "MBVM": dict.fromkeys("ABCD", (1.0, 1.6, 1.5)),
}


@dataclass(frozen=True, slots=True)
class BaseBand:
    """A band: its name, how many licences it has, and the synergies of 1, 2, .. of them."""

    name: str
    quantity: int
    synergy: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BaseBidder:
    """A bidder: per band the value of a licence, and how many of them are of use."""

    base_values: tuple[float, ...]
    positive_value_threshold: tuple[int, ...]


class BaseAndSynergy(TabulatedInstance):
    """What both models have in common; :func:`bvm` and :func:`mbvm` draw instances."""

    domain: ClassVar[str]

    def __init__(self, bands: list[BaseBand], bidders: list[BaseBidder], *, source: Source) -> None:
        super().__init__([band.quantity for band in bands], [band.name for band in bands], ["bidder"] * len(bidders), source)
        self.bands = tuple(bands)
        self.bidders = tuple(bidders)

    @property
    def monotone(self) -> bool:
        return all((np.diff(units_worth(band, band.quantity)) >= 0).all() for band in self.bands)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": {
                "bands": [{"name": band.name, "quantity": band.quantity, "synergy": list(band.synergy)} for band in self.bands]
            },
            "bidders": [
                {
                    "id": index,
                    "type": "bidder",
                    "base_values": list(bidder.base_values),
                    "positive_value_threshold": list(bidder.positive_value_threshold),
                }
                for index, bidder in enumerate(self.bidders)
            ],
        }

    @classmethod
    def read(cls, document: Reader) -> BaseAndSynergy:
        """Read an instance from its JSON."""
        bands = [_read_band(band, cls.domain) for band in document["world"]["bands"].items(least=1)]
        bidders = [
            BaseBidder(
                tuple(bidder["base_values"].numbers(length=len(bands), least=0.0).tolist()),
                tuple(bidder["positive_value_threshold"].integers(length=len(bands), least=0)),
            )
            for bidder in read_bidders(document)
        ]
        return cls(bands, bidders, source=Source.from_dict(document.value.get("source")))

    def _computed(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        owner = self.bidders[bidder]
        worth = np.zeros(len(bundles))
        for number, band in enumerate(self.bands):
            worth += owner.base_values[number] * units_worth(band, owner.positive_value_threshold[number])[bundles[:, number]]
        return worth


class Bvm(BaseAndSynergy):
    """The base and synergy value model: bands A and B."""

    domain: ClassVar[str] = "BVM"


class Mbvm(BaseAndSynergy):
    """The multi-band base and synergy value model: bands A to D."""

    domain: ClassVar[str] = "MBVM"


def units_worth(band: BaseBand, useful: int) -> NDArray[np.float64]:
    """Return what 0, 1, .. licences of a band are worth relative to the base value.

    Examples
    --------
    >>> units_worth(BaseBand("A", 5, (1.0, 1.6, 1.5)), 4).tolist()
    [0.0, 1.0, 3.2, 4.5, 5.5, 5.5]
    """
    used = np.minimum(np.arange(band.quantity + 1), useful)
    gaining = np.minimum(used, len(band.synergy))
    factor = np.array([0.0, *band.synergy])[gaining]
    return np.asarray(gaining * factor + (used - gaining))


def bvm(
    seed: int,
    n_bidders: int = 5,
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    base_a: Interval = (120.0, 200.0),
    base_b: Interval = (60.0, 90.0),
) -> Bvm:
    """Draw an instance of the base and synergy value model: 14 licences in band A and 10 in band B, 6 of each of use.

    Examples
    --------
    >>> round(bvm(1).value(0, [1, 0]), 6)
    121.401187
    """
    (count,) = checked_population(n_bidders=n_bidders)
    intervals = [checked_interval("base_a", base_a), checked_interval("base_b", base_b)]
    streams = open_streams(seed, rng, seed_convention, population_seed)
    bidders = []
    for index in range(count):
        stream = streams.bidder(index).stream()
        bases = []
        for interval in intervals:
            bases.append(stream.uniform(*interval))
            stream.below(1)
        bidders.append(BaseBidder(tuple(bases), (6, 6)))
    return Bvm(_bands("BVM", [14, 10]), bidders, source=drawn(seed, rng, seed_convention, population_seed))


def mbvm(
    seed: int,
    n_bidders: int = 5,
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    base_a: Interval = (100.0, 300.0),
    base_others: Interval = (50.0, 200.0),
) -> Mbvm:
    """Draw an instance of the multi-band base and synergy value model: 6 licences in each of the bands A to D.

    Examples
    --------
    >>> mbvm(1).capacities.tolist()
    [6, 6, 6, 6]
    """
    (count,) = checked_population(n_bidders=n_bidders)
    first, others = checked_interval("base_a", base_a), checked_interval("base_others", base_others)
    streams = open_streams(seed, rng, seed_convention, population_seed)
    bidders = []
    for index in range(count):
        bases = streams.bidder(index).stream().uniforms([first[0], *[others[0]] * 3], [first[1], *[others[1]] * 3])
        bidders.append(BaseBidder(tuple(bases.tolist()), (6,) * 4))
    return Mbvm(_bands("MBVM", [6] * 4), bidders, source=drawn(seed, rng, seed_convention, population_seed))


def _bands(domain: str, quantities: list[int]) -> list[BaseBand]:
    return [BaseBand(name, quantity, SYNERGIES[domain][name]) for name, quantity in zip("ABCD", quantities, strict=False)]


def _read_band(band: Reader, domain: str) -> BaseBand:
    name, given = band["name"].text(), band.get("synergy")
    if given is not None:
        synergy = tuple(given.numbers(least=0.0).tolist())
    elif name in SYNERGIES[domain]:
        synergy = SYNERGIES[domain][name]
    else:
        raise band["name"].fault(f"is a band of {domain}, or has its own synergy; not {name!r}")
    if not synergy:
        raise band["synergy"].fault("has at least 1 item")
    return BaseBand(name, band["quantity"].integer(least=1, most=10_000), synergy)
