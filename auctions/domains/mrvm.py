"""MRVM, the multi-region value model: regions of a country with three bands each, for local, regional and national bidders.

Good 3r + b is band b (LOW_PAIRED, HIGH_PAIRED, UNPAIRED) in region r, with as many units as the band has lots. n lots of a band
bring the capacity n base syn(n); c is a region's capacity over its bands, C_max that of all lots. A bidder values region r by
omega_r = beta_r population_r sv_r(c), where sv_r is piecewise linear through (0, 0), (z_low pop beta, 0.27 alpha), (z_high pop
beta, 0.73 alpha) and (C_max, alpha), and v(x) = sum of gamma_r omega_r. For a local bidder gamma_r is 1 in its regions, else 0;
for a regional one it falls with the distance from its home; for a national one it is the same everywhere, g(u) for u regions
without any licence.

References
----------
M. Weiss, B. Lubin and S. Seuken, "SATS: A Universal Spectrum Auction Test Suite", AAMAS 2017.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles, strides
from auctions.domains.instance import Instance
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.mrvm_allocation import allocate_by_regions
from auctions.domains.mrvm_bidders import MrvmBidder, read_bidder
from auctions.domains.mrvm_demand import best_bundles
from auctions.domains.mrvm_mip import allocate_by_mip
from auctions.domains.mrvm_world import MrvmWorld
from auctions.domains.parameters import check_size
from auctions.domains.streams import Source
from auctions.outcome import AllocationResult, SearchLimits

# "auto" takes the dynamic programme up to this many national bidders.
MOST_NATIONALS = 5

# Choices of levels per region, of five bidders with two levels and the last one.
MOST_CHOICES = 4**MOST_NATIONALS


class Mrvm(Instance):
    """An instance of the multi-region value model; :func:`~auctions.domains.mrvm_draw.mrvm` draws one.

    Parameters
    ----------
    world : MrvmWorld
    bidders : list of MrvmBidder
    paired_caps : bool
        Whether nobody may hold more than two paired lots of a region, and national bidders only one paired band there, at most
        one high lot.
    source : Source
    """

    domain: ClassVar[str] = "MRVM"

    def __init__(self, world: MrvmWorld, bidders: list[MrvmBidder], *, paired_caps: bool = False, source: Source) -> None:
        names = [f"{region.id}-{band.name}" for region in world.regions for band in world.bands]
        super().__init__(world.lots * len(world.regions), names, [bidder.type for bidder in bidders], source)
        self.world = world
        self.bidders = tuple(bidders)
        self.paired_caps = paired_caps
        self._strides = strides(world.lots)
        self._cache: dict[int, NDArray[np.float64]] = {}
        self._admissible: dict[int, NDArray[np.float64]] = {}

    @property
    def monotone(self) -> bool:
        return all((np.diff(capacities) > 0).all() for capacities in self.world.band_capacities)

    def goods_of_interest(self, bidder: int) -> list[int]:
        super().goods_of_interest(bidder)
        weights = self.region_weights(bidder)
        return [good for good in range(self.n_goods) if weights[good // len(self.world.bands)] > 0]

    def is_national(self, bidder: int) -> bool:
        """Tell whether a bidder's factor depends on how many regions it leaves out."""
        return self.bidders[bidder].gamma is not None

    def omega(self, bidder: int) -> NDArray[np.float64]:
        """Return what each configuration of each region is worth before gamma, shape (regions, configurations in mixed-radix order)."""
        if bidder not in self._cache:
            self._cache[bidder] = self.bidders[bidder].omega(self.world)
        return self._cache[bidder]

    def region_weights(self, bidder: int) -> NDArray[np.float64]:
        """Return gamma_r of each region; for a national bidder ones."""
        return self.bidders[bidder].region_weights(self.world)

    def levels(self, bidder: int) -> NDArray[np.float64]:
        """Return g(u) of u = 0, 1, .. regions left out, the last for that many or more; of others than national bidders [1]."""
        gamma = self.bidders[bidder].gamma
        return np.array([1.0]) if gamma is None else np.array([1.0, *gamma])

    def admissible(self, bidder: int) -> NDArray[np.float64]:
        """Return gamma_r omega_r (national: omega_r) of what a bidder may be given, minus infinity for what it may not."""
        if bidder in self._admissible:
            return self._admissible[bidder]
        weights = self.region_weights(bidder)
        worth = weights[:, None] * self.omega(bidder)
        worth[weights == 0.0, 1:] = -np.inf
        if self.paired_caps:
            low, high = all_bundles(self.world.lots).T[:2]
            excess = low + high > 2
            if self.is_national(bidder):
                excess |= ((low > 0) & (high > 0)) | (high > 1)
            worth[:, excess] = -np.inf
        worth.setflags(write=False)
        self._admissible[bidder] = worth
        return worth

    @property
    def licence_goods(self) -> NDArray[np.int64]:
        bands, regions = len(self.world.bands), len(self.world.regions)
        goods = np.empty(int(self.capacities.sum()), dtype=np.int64)
        for band, (first, lots) in enumerate(zip(self.world.first_licences(), self.world.lots, strict=True)):
            goods[first : first + lots * regions] = np.tile(np.arange(regions) * bands + band, lots)
        return goods

    @property
    def methods(self) -> tuple[str, ...]:
        nationals = [len(self.levels(bidder)) for bidder in range(self.n_bidders) if self.is_national(bidder)]
        choices = math.prod(levels + 1 for levels in nationals)
        return ("dp", "mip") if len(nationals) <= MOST_NATIONALS and choices <= MOST_CHOICES else ("mip",)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": self.world.to_dict() | ({"paired_caps": True} if self.paired_caps else {}),
            "bidders": [{"id": index} | bidder.to_dict() for index, bidder in enumerate(self.bidders)],
        }

    @classmethod
    def read(cls, document: Reader) -> Mrvm:
        """Read an instance from its JSON."""
        world = MrvmWorld.read(document["world"])
        caps = document["world"].get("paired_caps")
        readers = read_bidders(document)
        check_size(len(readers), len(world.regions) * len(world.bands), pointer="/world")
        bidders = [read_bidder(bidder, world) for bidder in readers]
        return cls(
            world, bidders, paired_caps=caps is not None and caps.boolean(), source=Source.from_dict(document.value.get("source"))
        )

    def configurations(self, bundles: Bundles) -> NDArray[np.int64]:
        """Return the index of what each bundle holds in each region, shape (n, regions)."""
        return np.asarray(bundles.reshape(len(bundles), len(self.world.regions), len(self.world.bands)) @ self._strides)

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        held = self.configurations(bundles)
        regions = np.arange(held.shape[1])
        worth = self.omega(bidder)[regions, held]
        if not self.is_national(bidder):
            return np.asarray((worth * self.region_weights(bidder)).sum(axis=1))
        levels = self.levels(bidder)
        left_out = (held == 0).sum(axis=1)
        return np.asarray(worth.sum(axis=1) * levels[np.minimum(left_out, len(levels) - 1)])

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        return best_bundles(self.admissible(bidder), self.levels(bidder), prices, self.world.lots, k)

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        return allocate_by_regions(self, bidders, search) if method == "dp" else allocate_by_mip(self, bidders, search)
