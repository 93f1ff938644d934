"""The world of MRVM: regions with people and neighbours, and bands with lots; by default fourteen regions of Canada."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import all_bundles, count_bundles
from auctions.domains.json_reader import Reader
from solvers.operation import InvalidInput, TooLarge

REGIONS = (
    ("Newfoundland and Labrador", 514711),
    ("Nova Scotia and Prince Edward Island", 1061900),
    ("New Brunswick", 749623),
    ("Eastern Quebec", 1668504),
    ("Southern Quebec", 5683127),
    ("Eastern Ontario and Outaouais", 2347556),
    ("Northern Quebec", 190271),
    ("Southern Ontario", 10091045),
    ("Northern Ontario", 773104),
    ("Manitoba", 1208253),
    # SATS counts these two provinces twice; its instances rest on the sums.
    ("Saskatchewan", 2059248),
    ("Alberta", 7297342),
    ("British Columbia", 4399805),
    ("Yukon, Northwest Territories and Nunavut", 104625),
)

EDGES = (
    *((0, 1), (0, 3), (0, 6), (1, 2), (2, 3), (2, 4), (3, 4), (3, 6), (4, 6), (5, 7)),
    *((5, 8), (6, 8), (7, 8), (8, 9), (9, 10), (10, 11), (10, 13), (11, 12), (11, 13), (12, 13)),
)

MOST_CONFIGURATIONS = 1000

# Where PySATS and SATS number licences: band by band, lot by lot, region by region.
LICENCE_ORDER = ("UNPAIRED", "LOW_PAIRED", "HIGH_PAIRED")


@dataclass(frozen=True, slots=True)
class Region:
    """A region and how many live there."""

    id: int
    name: str
    population: int


@dataclass(frozen=True, slots=True)
class Band:
    """A band: so many lots in each region.

    Attributes
    ----------
    name : str
    lots : int
    base_capacity : float
        Of one lot.
    synergy : tuple of float
        Factor of 1, 2, .. lots; that of a single lot is 1.
    """

    name: str
    lots: int
    base_capacity: float
    synergy: tuple[float, ...]

    def capacities(self) -> NDArray[np.float64]:
        """Return the capacity of 0, 1, .. lots."""
        return np.array([0.0, *(lots * self.base_capacity * factor for lots, factor in enumerate(self.synergy, start=1))])


@dataclass(frozen=True)
class MrvmWorld:
    """Regions, which of them are neighbours, and bands."""

    regions: tuple[Region, ...]
    edges: tuple[tuple[int, int], ...]
    bands: tuple[Band, ...]

    @property
    def lots(self) -> tuple[int, ...]:
        """How many lots each band has in a region."""
        return tuple(band.lots for band in self.bands)

    @cached_property
    def band_capacities(self) -> list[NDArray[np.float64]]:
        """For each band the capacity of 0, 1, .. lots."""
        return [band.capacities() for band in self.bands]

    @cached_property
    def configuration_capacities(self) -> NDArray[np.float64]:
        """The capacity of every configuration of a region in mixed-radix order."""
        configurations = all_bundles(self.lots)
        return np.asarray(sum(capacities[configurations[:, band]] for band, capacities in enumerate(self.band_capacities)))

    @property
    def full_capacity(self) -> float:
        """The capacity of all lots of a region."""
        return float(self.configuration_capacities[-1])

    @cached_property
    def populations(self) -> NDArray[np.float64]:
        """How many live in each region."""
        return np.array([region.population for region in self.regions], dtype=np.float64)

    def distances(self, home: int) -> NDArray[np.int64]:
        """Return how many borders lie between a region and each; -1 where there is no way."""
        found = np.full(len(self.regions), -1)
        found[home] = 0
        waiting = deque([home])
        while waiting:
            here = waiting.popleft()
            for edge in self.edges:
                if here in edge:
                    there = edge[1] if edge[0] == here else edge[0]
                    if found[there] < 0:
                        found[there] = found[here] + 1
                        waiting.append(there)
        return found

    def first_licences(self) -> list[int]:
        """Return the number of each band's first licence in the numbering of SATS."""
        order = sorted(range(len(self.bands)), key=lambda band: _place_in_order(self.bands[band].name))
        firsts = [0] * len(self.bands)
        number = 0
        for band in order:
            firsts[band] = number
            number += self.bands[band].lots * len(self.regions)
        return firsts

    def to_dict(self) -> dict[str, Any]:
        """Return the world as JSON."""
        return {
            "regions": [{"id": region.id, "name": region.name, "population": region.population} for region in self.regions],
            "edges": [list(edge) for edge in self.edges],
            "bands": [
                {
                    "name": band.name,
                    "lots": band.lots,
                    "base_capacity": band.base_capacity,
                    "synergy": list(band.synergy),
                    "first_license_id": first,
                }
                for band, first in zip(self.bands, self.first_licences(), strict=True)
            ],
        }

    @classmethod
    def read(cls, world: Reader) -> MrvmWorld:
        """Read a world from its JSON."""
        regions = []
        for index, region in enumerate(world["regions"].items(least=1)):
            number = region["id"].integer()
            if number != index:
                raise region["id"].fault(f"is {index}: regions are numbered in the order of the list")
            name = region.get("name")
            regions.append(
                Region(number, f"region {number}" if name is None else name.text(), region["population"].integer(least=1))
            )
        edges = []
        for edge in world["edges"].items():
            one, other = edge.integers(length=2, least=0, most=len(regions) - 1)
            edges.append((one, other))
        bands = tuple(_read_band(band) for band in world["bands"].items(least=1))
        check_lots([band.lots for band in bands], pointer=world["bands"].pointer)
        return cls(tuple(regions), tuple(edges), bands)


def check_lots(lots: Sequence[int], *, pointer: str) -> None:
    """Refuse more configurations of a region than are worth listing."""
    if count_bundles(lots) > MOST_CONFIGURATIONS:
        raise TooLarge(
            f"a region has {count_bundles(lots)} configurations of lots; the most is {MOST_CONFIGURATIONS}", pointer=pointer
        )


def full_synergy(factors: dict[int, float], lots: int) -> tuple[float, ...]:
    """Return the factor of 1, 2, .. `lots` lots: 1 for a single lot, and where one is missing that of the next lower number.

    Examples
    --------
    >>> full_synergy({1: 1.1, 2: 1.2}, 3)
    (1.0, 1.2, 1.2)
    """
    synergy = [1.0]
    for number in range(2, lots + 1):
        synergy.append(factors.get(number, synergy[-1]))
    return tuple(synergy)


def default_synergy(lots: int) -> tuple[float, ...]:
    """Return the default factors: linear from 1.2 for two lots to 1 for four and more, 1 for a single lot."""
    return tuple(1.0 if number == 1 else float(np.interp(number, [2, 4], [1.2, 1.0])) for number in range(1, lots + 1))


def canada(bands: tuple[Band, ...]) -> MrvmWorld:
    """Return the default world with the given bands."""
    return MrvmWorld(tuple(Region(index, *region) for index, region in enumerate(REGIONS)), EDGES, bands)


def _read_band(band: Reader) -> Band:
    lots = band["lots"].integer(least=1, most=100)
    factors = {number: item.number(least=0.0) for number, item in enumerate(band["synergy"].items(), start=1)}
    base = band["base_capacity"].number(least=0.0)
    if base == 0.0:
        raise InvalidInput("a band's base capacity is above 0", pointer=band["base_capacity"].pointer)
    return Band(band["name"].text(), lots, base, full_synergy(factors, lots))


def _place_in_order(name: str) -> tuple[int, str]:
    return (LICENCE_ORDER.index(name), "") if name in LICENCE_ORDER else (len(LICENCE_ORDER), name)
