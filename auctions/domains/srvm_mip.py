"""Efficient allocations of SRVM by a mixed-integer program, for more supplies than a dynamic programme can list.

y_i1, y_i2 in {0, 1}: bidder i holds licences of one band, of several; y_i1 + y_i2 <= 1
z_isbn in {0, 1}: of band b it holds n licences, s = 1 or 2 as above; worth base_b f_b(n), for s = 2 times the inter-band factor
sum_n z_isbn <= y_is,  sum_{b,n} z_i1bn <= y_i1,  sum_{b,n} z_i2bn >= 2 y_i2,  supply of each band
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from auctions.domains.allocation_claim import claim
from auctions.domains.integer_program import IntegerProgram
from auctions.outcome import AllocationResult, SearchLimits

if TYPE_CHECKING:
    from auctions.domains.srvm import Srvm


def allocate_by_mip(instance: Srvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return an efficient allocation among `bidders`."""
    started = time.perf_counter()
    program, owners = build_program(instance, bidders)
    highest = 0.0
    for bidder in bidders:
        most = sum(float(values.max()) for values in instance.band_values(bidder))
        highest += instance.bidders[bidder].interband_synergy * most
    found = program.maximise(search)
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    if found.columns is not None:
        for column, (bidder, band, units) in owners.items():
            if found.columns[column] > 0.5:
                allocation[bidder, band] = units
    return claim(
        instance,
        allocation,
        method="mip",
        started=started,
        gap=search.gap,
        bound=min(found.bound, highest),
        stopped_by=found.stopped_by,
    )


def build_program(instance: Srvm, bidders: list[int]) -> tuple[IntegerProgram, dict[int, tuple[int, int, int]]]:
    """Return the program, and the bidder, the band and the number of licences that columns stand for."""
    program = IntegerProgram()
    supply: list[tuple[list[int], list[float]]] = [([], []) for _ in range(instance.n_goods)]
    owners: dict[int, tuple[int, int, int]] = {}
    for bidder in bidders:
        factor = instance.bidders[bidder].interband_synergy
        bands = instance.band_values(bidder)
        single, several = program.add_columns([0.0, 0.0], integer=True).tolist()
        program.add_row([single, several], 1.0, upper=1.0)
        for case, scale in ((single, 1.0), (several, factor)):
            held: list[int] = []
            for band, values in enumerate(bands):
                columns = program.add_columns(scale * values[1:], integer=True).tolist()
                program.add_row([*columns, case], [*[1.0] * len(columns), -1.0], upper=0.0)
                for units, column in enumerate(columns, start=1):
                    owners[column] = (bidder, band, units)
                    supply[band][0].append(column)
                    supply[band][1].append(float(units))
                held += columns
            if case == single:
                program.add_row([*held, single], [*[1.0] * len(held), -1.0], upper=0.0)
            else:
                program.add_row([*held, several], [*[1.0] * len(held), -2.0], lower=0.0)
    for band, (columns, units_of) in enumerate(supply):
        program.add_row(columns, units_of, upper=float(instance.capacities[band]))
    return program, owners
