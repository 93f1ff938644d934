"""Drawing instances of MRVM."""

from __future__ import annotations

from collections.abc import Sequence

from auctions.domains.mrvm import Mrvm
from auctions.domains.mrvm_bidders import MARGIN, MrvmBidder, breakpoints, five_decimals
from auctions.domains.mrvm_world import Band, canada, check_lots, default_synergy
from auctions.domains.parameters import Interval, checked_count, checked_interval, checked_population
from auctions.domains.streams import Generator, SeedConvention, Stream, drawn, open_streams
from solvers.operation import InvalidInput

BANDS = ("LOW_PAIRED", "HIGH_PAIRED", "UNPAIRED")

# What a border is worth: gamma falls to 2^(-1.25) of itself.
DISCOUNT = 1.25


def mrvm(
    seed: int,
    n_local: int = 3,
    n_regional: int = 4,
    n_national: int = 3,
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    lots: Sequence[int] = (2, 3, 2),
    low_paired_capacity: Interval = (3.0, 4.0),
    high_paired_capacity: Interval = (1.5, 2.5),
    unpaired_capacity: Interval = (0.5, 1.0),
    local_alpha: Interval = (60.0, 100.0),
    local_beta: Interval = (0.05, 0.12),
    local_regions: tuple[int, int] = (3, 7),
    regional_alpha: Interval = (500.0, 840.0),
    regional_beta: Interval = (0.04, 0.10),
    national_alpha: Interval = (700.0, 1200.0),
    national_beta: Interval = (0.08, 0.22),
    national_b: Interval = (0.1, 0.3),
    paired_caps: bool = False,
) -> Mrvm:
    """Draw an instance of the multi-region value model.

    Parameters
    ----------
    seed : int
        Signed 64 bits.
    n_local, n_regional, n_national : int
        Bidders of each type, in this order of ids.
    rng, seed_convention, population_seed
        As for :func:`~auctions.domains.streams.open_streams`.
    lots : sequence of int
        Lots per region of the bands LOW_PAIRED, HIGH_PAIRED and UNPAIRED.
    low_paired_capacity, high_paired_capacity, unpaired_capacity : pair of float
        Of one lot, uniform.
    local_alpha, local_beta, regional_alpha, regional_beta, national_alpha, national_beta : pair of float
        Worth of a customer and market share, uniform.
    local_regions : pair of int
        The fewest and the most regions of interest of a local bidder.
    national_b : pair of float
        g(1) = 1 - b^2 and g(2) = 1 - 4 b^2; at most 0.5.
    paired_caps : bool
        Whether paired lots are capped, as :class:`Mrvm` says.

    Examples
    --------
    >>> round(mrvm(10).value(9, [lots for _ in range(14) for lots in (2, 3, 2)]) / 1e6)
    4200
    """
    counts = checked_population(n_local=n_local, n_regional=n_regional, n_national=n_national)
    alphas = {
        "local": checked_interval("local_alpha", local_alpha),
        "regional": checked_interval("regional_alpha", regional_alpha),
        "national": checked_interval("national_alpha", national_alpha),
    }
    betas = {
        "local": _checked_shares("local_beta", local_beta),
        "regional": _checked_shares("regional_beta", regional_beta),
        "national": _checked_shares("national_beta", national_beta),
    }
    national_bounds = checked_interval("national_b", national_b, most=0.5)
    capacities = {
        "LOW_PAIRED": checked_interval("low_paired_capacity", low_paired_capacity),
        "HIGH_PAIRED": checked_interval("high_paired_capacity", high_paired_capacity),
        "UNPAIRED": checked_interval("unpaired_capacity", unpaired_capacity),
    }
    if len(lots) != len(BANDS):
        raise InvalidInput(f"lots are {len(BANDS)} numbers, one per band", pointer="/parameters/lots")
    check_lots([checked_count("lots", count, least=1, most=100) for count in lots], pointer="/parameters/lots")
    supply = dict(zip(BANDS, lots, strict=True))

    streams = open_streams(seed, rng, seed_convention, population_seed)
    supplier = streams.world()
    # The graph and the populations have streams of their own, of which nothing is drawn.
    supplier.stream(), supplier.stream()
    stream = supplier.stream()
    drawn_bands = {}
    for name in ("UNPAIRED", "LOW_PAIRED", "HIGH_PAIRED"):
        stream.below(1)
        drawn_bands[name] = Band(name, supply[name], stream.uniform(*capacities[name]), default_synergy(supply[name]))
    world = canada(tuple(drawn_bands[name] for name in BANDS))
    fewest, most = _checked_regions(local_regions, len(world.regions))

    types = [kind for kind, count in zip(alphas, counts, strict=True) for _ in range(count)]
    bidders = []
    for index, kind in enumerate(types):
        own = streams.bidder(index).stream()
        alpha = own.uniform(*alphas[kind])
        beta = own.uniforms([betas[kind][0]] * len(world.regions), betas[kind][1])
        z_low, z_high = breakpoints(beta, world)
        interest, home, discounts, gamma = None, None, None, None
        if kind == "local":
            interest = _draw_regions(own, fewest, most, len(world.regions))
        elif kind == "regional":
            home = own.below(len(world.regions))
            discounts = tuple(five_decimals(2.0 ** (-DISCOUNT * d)) for d in range(int(world.distances(home).max()) + 1))
        else:
            b = own.uniform(*national_bounds)
            gamma = (five_decimals(1 - b**2), five_decimals(1 - 4 * b**2))
        bidders.append(MrvmBidder(kind, alpha, tuple(beta.tolist()), z_low, z_high, interest, home, discounts, gamma))
    return Mrvm(world, bidders, paired_caps=bool(paired_caps), source=drawn(seed, rng, seed_convention, population_seed))


def _draw_regions(stream: Stream, fewest: int, most: int, count: int) -> tuple[int, ...]:
    number = stream.below(most - fewest + 1) + fewest
    return tuple(sorted(stream.permutation(count)[:number]))


def _checked_shares(name: str, bounds: Interval) -> Interval:
    low, high = checked_interval(name, bounds, most=1.0)
    if low <= 0.0:
        raise InvalidInput(f"{name} starts above 0, not at {low:g}", pointer=f"/parameters/{name}")
    if low == high == MARGIN:
        raise InvalidInput(f"{name} is not exactly {MARGIN}: the first breakpoint would lie at 0", pointer=f"/parameters/{name}")
    return low, high


def _checked_regions(bounds: tuple[int, int], count: int) -> tuple[int, int]:
    if len(bounds) != 2:
        raise InvalidInput("local_regions is a pair of numbers", pointer="/parameters/local_regions")
    fewest, most = (checked_count("local_regions", bound, most=count) for bound in bounds)
    if most < fewest:
        raise InvalidInput(f"local_regions ends at {most}, before it starts at {fewest}", pointer="/parameters/local_regions")
    return fewest, most
