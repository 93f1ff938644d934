"""SRVM, the single-region value model: three bands of like licences, with synergies within a band and between bands.

Good b is a band with capacity Q_b. With n >= 1 licences of it and q = min(n, th_b),
f_b(n) = q + (q - 1) / q syn_b + (ln(n - th_b + 1) if n >= th_b), f_b(0) = 0, and
v(x) = (sum over bands of base_b f_b(x_b)) times the inter-band factor if x holds licences of two bands or more: worthless ones
count too.

`rounding="sats"` evaluates (q - 1) / q rounded up to 5 decimals and ln rounded up to 5 significant digits, as SATS does;
`rounding="exact"` takes the numbers as they are.

References
----------
C. Kroemer, M. Bichler and A. Goetzendorff, "(Un)expected bidder behavior in spectrum auctions", Group Decision and Negotiation 25
(2016). M. Weiss, B. Lubin and S. Seuken, "SATS: A Universal Spectrum Auction Test Suite", AAMAS 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, count_bundles
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.parameters import Interval, checked_count, checked_interval, checked_population
from auctions.domains.srvm_mip import allocate_by_mip
from auctions.domains.streams import Generator, SeedConvention, Source, drawn, open_streams
from auctions.domains.tabulated import TabulatedInstance
from auctions.outcome import AllocationResult, SearchLimits
from solvers.operation import InvalidInput

Rounding = Literal["sats", "exact"]

BANDS = ("A", "B", "C")
THRESHOLDS = (4, 2, 2)
MEANS = {"small": (0, 0, 8), "high_frequency": (0, 70, 15), "secondary": (200, 70, 15), "primary": (300, 70, 15)}

# "auto" takes the dynamic programme up to this many supplies.
PREFERRED_SUPPLIES = 20_000


@dataclass(frozen=True, slots=True)
class SrvmBidder:
    """A bidder of the model, with a number per band in each tuple.

    Attributes
    ----------
    type : str
        "small", "high_frequency", "secondary" or "primary".
    base_values, intraband_synergy : tuple of float
    interband_synergy : float
        At least 1.
    threshold : tuple of int
        How many licences of a band a bidder needs.
    strength : float, optional
        What the base values were drawn with.
    """

    type: str
    base_values: tuple[float, ...]
    intraband_synergy: tuple[float, ...]
    interband_synergy: float
    threshold: tuple[int, ...]
    strength: float | None = None


class Srvm(TabulatedInstance):
    """An instance of the single-region value model; :func:`srvm` draws one."""

    domain: ClassVar[str] = "SRVM"

    def __init__(
        self, names: list[str], quantities: list[int], bidders: list[SrvmBidder], *, rounding: Rounding, source: Source
    ) -> None:
        super().__init__(quantities, names, [bidder.type for bidder in bidders], source)
        self.bidders = tuple(bidders)
        self.rounding: Rounding = rounding

    def goods_of_interest(self, bidder: int) -> list[int]:
        super().goods_of_interest(bidder)
        return [band for band, base in enumerate(self.bidders[bidder].base_values) if base > 0]

    def band_values(self, bidder: int) -> list[NDArray[np.float64]]:
        """Return the value of 0, 1, .. licences of each band, the factor between bands aside."""
        owner = self.bidders[bidder]
        bands = zip(owner.base_values, owner.intraband_synergy, owner.threshold, self.capacities.tolist(), strict=True)
        return [
            np.array([base * units_worth(n, synergy, threshold, self.rounding) for n in range(quantity + 1)])
            for base, synergy, threshold, quantity in bands
        ]

    @property
    def licence_goods(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.n_goods), self.capacities)

    @property
    def methods(self) -> tuple[str, ...]:
        return ("dp", "mip") if count_bundles(self.capacities) <= PREFERRED_SUPPLIES else ("mip", "dp")

    def to_dict(self) -> dict[str, Any]:
        first = np.concatenate(([0], np.cumsum(self.capacities)[:-1])).tolist()
        bands = zip(self.good_names, self.capacities.tolist(), first, strict=True)
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": {
                "bands": [{"name": name, "quantity": quantity, "first_license_id": start} for name, quantity, start in bands],
                "rounding": self.rounding,
            },
            "bidders": [
                {
                    "id": index,
                    "type": bidder.type,
                    "base_values": list(bidder.base_values),
                    "intraband_synergy": list(bidder.intraband_synergy),
                    "interband_synergy": bidder.interband_synergy,
                    "threshold": list(bidder.threshold),
                }
                | ({} if bidder.strength is None else {"strength": bidder.strength})
                for index, bidder in enumerate(self.bidders)
            ],
        }

    @classmethod
    def read(cls, document: Reader) -> Srvm:
        """Read an instance from its JSON."""
        bands = document["world"]["bands"].items(least=1)
        rounding = document["world"].get("rounding")
        return cls(
            [band["name"].text() for band in bands],
            [band["quantity"].integer(least=1, most=10_000) for band in bands],
            [_read_bidder(bidder, len(bands)) for bidder in read_bidders(document)],
            rounding=_checked_rounding("sats" if rounding is None else rounding.text(), "/world/rounding"),
            source=Source.from_dict(document.value.get("source")),
        )

    def _computed(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        worth = np.zeros(len(bundles))
        for band, values in enumerate(self.band_values(bidder)):
            worth += values[bundles[:, band]]
        return np.where((bundles > 0).sum(axis=1) >= 2, worth * self.bidders[bidder].interband_synergy, worth)

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        return allocate_by_mip(self, bidders, search) if method == "mip" else super()._allocate(method, search, bidders)


def units_worth(units: int, synergy: float, threshold: int, rounding: Rounding) -> float:
    """Return f(n): what n licences of a band are worth relative to its base value.

    Examples
    --------
    >>> [units_worth(n, 2.0, 4, "sats") for n in range(7)]
    [0.0, 1.0, 3.0, 4.33334, 5.5, 6.19315, 6.5987]
    """
    if units == 0:
        return 0.0
    useful = min(units, threshold)
    rounded = rounding == "sats"
    share = -(-100_000 * (useful - 1) // useful) / 100_000 if rounded else (useful - 1) / useful
    beyond = math.log(units - threshold + 1) if units >= threshold else 0.0
    return useful + share * synergy + (_five_digits(beyond) if rounded else beyond)


def srvm(
    seed: int,
    n_small: int = 2,
    n_high_frequency: int = 1,
    n_secondary: int = 2,
    n_primary: int = 2,
    rounding: Rounding = "sats",
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    quantities: tuple[int, int, int] = (6, 14, 9),
    strength: Interval = (0.75, 1.25),
    influence: Interval = (0.75, 1.25),
    interband_synergy: Interval = (1.0, 1.2),
    intraband_synergy: Interval = (1.75, 2.25),
    primary_synergy_a: Interval = (3.75, 4.25),
) -> Srvm:
    """Draw an instance of the single-region value model.

    Parameters
    ----------
    seed : int
        Signed 64 bits.
    n_small, n_high_frequency, n_secondary, n_primary : int
        Bidders of each type, in this order of ids.
    rounding : {"sats", "exact"}
    rng, seed_convention, population_seed
        As for :func:`~auctions.domains.streams.open_streams`.
    quantities : tuple of int
        Licences of the bands A, B and C.
    strength, influence : pair of float
        Of a bidder, and of it on each band: factors of the base value, uniform.
    interband_synergy, intraband_synergy, primary_synergy_a : pair of float
        Uniform; the last is that of primary bidders within band A. At least 1.

    Examples
    --------
    >>> srvm(1).demand(0, [0, 0, 0])[0].bundle.tolist()
    [0, 1, 9]
    """
    counts = checked_population(n_small=n_small, n_high_frequency=n_high_frequency, n_secondary=n_secondary, n_primary=n_primary)
    if len(quantities) != len(BANDS):
        raise InvalidInput(f"quantities are {len(BANDS)} numbers, one per band", pointer="/parameters/quantities")
    supply = [checked_count("quantities", quantity, least=1) for quantity in quantities]
    strengths, influences = checked_interval("strength", strength), checked_interval("influence", influence)
    between = checked_interval("interband_synergy", interband_synergy, least=1.0)
    within = checked_interval("intraband_synergy", intraband_synergy, least=1.0)
    within_a = checked_interval("primary_synergy_a", primary_synergy_a, least=1.0)

    streams = open_streams(seed, rng, seed_convention, population_seed)
    world = streams.world().stream()
    for _ in BANDS:
        world.below(1)
    types = [kind for kind, count in zip(MEANS, counts, strict=True) for _ in range(count)]
    bidders = []
    for index, kind in enumerate(types):
        supplier = streams.bidder(index)
        thresholds = supplier.stream()
        for _ in BANDS:
            thresholds.below(1)
        own_strength = supplier.stream().uniform(*strengths)
        influence_on = supplier.stream().uniforms([influences[0]] * len(BANDS), influences[1])
        intervals = [within_a if kind == "primary" and band == "A" else within for band in BANDS]
        synergies = supplier.stream().uniforms(*zip(*intervals, strict=True))
        bidders.append(
            SrvmBidder(
                type=kind,
                base_values=tuple((np.array(MEANS[kind]) * own_strength * influence_on).tolist()),
                intraband_synergy=tuple(synergies.tolist()),
                interband_synergy=supplier.stream().uniform(*between),
                threshold=THRESHOLDS,
                strength=own_strength,
            )
        )
    source = drawn(seed, rng, seed_convention, population_seed)
    return Srvm(list(BANDS), supply, bidders, rounding=_checked_rounding(rounding, "/parameters/rounding"), source=source)


def _five_digits(number: float) -> float:
    """Return a number rounded up to five significant digits."""
    if number == 0.0:
        return 0.0
    exact = Decimal(number)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 4), rounding=ROUND_CEILING))


def _checked_rounding(rounding: str, pointer: str) -> Rounding:
    if rounding not in ("sats", "exact"):
        raise InvalidInput(f"there is no rounding {rounding!r}; it is 'sats' or 'exact'", pointer=pointer)
    return "exact" if rounding == "exact" else "sats"


def _read_bidder(bidder: Reader, n_bands: int) -> SrvmBidder:
    strength = bidder.get("strength")
    return SrvmBidder(
        type=bidder["type"].text(),
        base_values=tuple(bidder["base_values"].numbers(length=n_bands, least=0.0).tolist()),
        intraband_synergy=tuple(bidder["intraband_synergy"].numbers(length=n_bands, least=1.0).tolist()),
        interband_synergy=bidder["interband_synergy"].number(least=1.0),
        threshold=tuple(bidder["threshold"].integers(length=n_bands, least=1)),
        strength=None if strength is None else strength.number(),
    )
