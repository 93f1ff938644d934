"""Efficient allocations among bidders with valuations of their own: by their XOR bids, by tables of values, or by an integer program."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from auctions.domains.allocation_claim import claim
from auctions.domains.capacity_programme import CapacityProgramme, economies
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.xor_valuation import XorValuation
from auctions.outcome import AllocationResult, SearchLimits
from auctions.winner_determination.xor import solve_xor_wdp

if TYPE_CHECKING:
    from auctions.domains.valuations import Valuations

# The dynamic programme over supplies is taken up to this many.
LARGEST_PROGRAMME = 20_000


def allocate(instance: Valuations, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
    """Return an efficient allocation among `bidders` by a method of the instance."""
    if method == "xor":
        return allocate_by_bids(instance, search, bidders)
    if method == "dp":
        tables = instance.tables()
        return CapacityProgramme(instance, instance.capacities, {bidder: tables[bidder] for bidder in bidders}, search).allocate()
    return allocate_by_mip(instance, search, bidders)


def economies_by_tables(instance: Valuations, search: SearchLimits) -> list[AllocationResult]:
    """Return efficient allocations of all bidders and of all but each in turn, by the dynamic programme over supplies."""

    def retry(absent: int) -> AllocationResult:
        return allocate(instance, "dp", search, [bidder for bidder in range(instance.n_bidders) if bidder != absent])

    return economies(instance, instance.capacities, instance.tables(), search, retry)


def allocate_by_bids(instance: Valuations, search: SearchLimits, bidders: list[int]) -> AllocationResult:
    """Return an efficient allocation among bidders with XOR bids."""
    started = time.perf_counter()
    bids = []
    for bidder in range(instance.n_bidders):
        valuation = instance.bidders[bidder].valuation
        if not isinstance(valuation, XorValuation):
            raise TypeError(f"bidder {bidder} has no XOR bids")
        admitted = instance.limits(bidder).admits(valuation.bundles)
        offers = zip(valuation.bundles[admitted], valuation.bids[admitted].tolist(), strict=True)
        bids.append(list(offers) if bidder in bidders else [])
    found = solve_xor_wdp(bids, instance.capacities, search)
    return claim(
        instance,
        found.allocation,
        method="xor",
        started=started,
        gap=search.gap,
        bound=found.bound,
        stopped_by=found.stopped_by,
    )


def allocate_by_mip(instance: Valuations, search: SearchLimits, bidders: list[int]) -> AllocationResult:
    """Return an efficient allocation among `bidders` by an integer program of their valuations and the supply."""
    started = time.perf_counter()
    program = IntegerProgram()
    owned = {}
    for bidder in bidders:
        owned[bidder] = instance.bidders[bidder].valuation.add_to(program, instance.limits(bidder))
    for good, capacity in enumerate(instance.capacities.tolist()):
        columns, units = [], []
        for mine, brought in owned.values():
            wanted = brought[:, good] > 0
            columns += mine[wanted].tolist()
            units += brought[wanted, good].tolist()
        program.add_row(columns, np.array(units, dtype=np.float64), upper=float(capacity))
    found = program.maximise(search)
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    if found.columns is not None:
        for bidder, (mine, brought) in owned.items():
            allocation[bidder] = (found.columns[mine] > 0.5).astype(np.int64) @ brought
    highest = sum(instance.bidders[bidder].valuation.highest() for bidder in bidders)
    return claim(
        instance,
        allocation,
        method="mip",
        started=started,
        gap=search.gap,
        bound=min(found.bound, highest),
        stopped_by=found.stopped_by,
    )
