"""Efficient allocations of MRVM by a mixed-integer program, for more national bidders than the dynamic programme can take.

    l_irq in {0, 1}: local or regional bidder i holds configuration q in region r, worth gamma_r omega_r(q); sum_q l_irq <= 1
    y_ik in {0, 1}: national bidder i has level k of its factor; sum_k y_ik <= 1
    l_ikrq in {0, 1}: it holds q in r at that level, worth g(k) omega_r(q); sum_q l_ikrq <= y_ik
    below the last level: sum_{r,q} l_ikrq >= (R - k) y_ik;  supply of each region and band

A configuration is left out where another one within it is worth as much.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from auctions.bundles import Bundles, all_bundles
from auctions.domains.allocation_claim import claim
from auctions.domains.integer_program import IntegerProgram
from auctions.outcome import AllocationResult, SearchLimits

if TYPE_CHECKING:
    from auctions.domains.mrvm import Mrvm

# Values are scaled so that the largest bundle is worth this much, near what HiGHS's tolerances are made for.
LARGEST = 1e4


def allocate_by_mip(instance: Mrvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return an efficient allocation among `bidders`."""
    started = time.perf_counter()
    configurations = all_bundles(instance.world.lots)
    n_regions, n_bands = len(instance.world.regions), len(instance.world.bands)
    highest = [float(np.maximum(instance.admissible(bidder), 0.0).max(axis=1).sum()) for bidder in bidders]
    scale = max([*highest, 1e-300]) / LARGEST
    program, owners = build_program(instance, bidders, scale)
    found = program.maximise(search)
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    if found.columns is not None:
        per_region = allocation.reshape(instance.n_bidders, n_regions, n_bands)
        for column, bidder, region, configuration in owners:
            if found.columns[column] > 0.5:
                per_region[bidder, region] = configurations[configuration]
    bound = min(scale * found.bound, sum(highest))
    return claim(instance, allocation, method="mip", started=started, gap=search.gap, bound=bound, stopped_by=found.stopped_by)


def build_program(instance: Mrvm, bidders: list[int], scale: float) -> tuple[IntegerProgram, list[tuple[int, int, int, int]]]:
    """Return the program with values divided by `scale`, and the column, bidder, region and configuration of each choice."""
    configurations = all_bundles(instance.world.lots)
    n_regions, n_bands = len(instance.world.regions), len(instance.world.bands)
    worth = {bidder: np.maximum(instance.admissible(bidder), 0.0) for bidder in bidders}
    program = IntegerProgram()
    supply: list[tuple[list[int], list[float]]] = [([], []) for _ in range(instance.n_goods)]
    owners: list[tuple[int, int, int, int]] = []
    for bidder in bidders:
        levels = instance.levels(bidder).tolist()
        chosen = program.add_columns(np.zeros(len(levels)), integer=True).tolist()
        program.add_row(chosen, 1.0, upper=1.0)
        for level, factor in enumerate(levels):
            held: list[int] = []
            for region in range(n_regions):
                useful = _undominated(worth[bidder][region], configurations)
                columns = program.add_columns(factor * worth[bidder][region, useful] / scale, integer=True).tolist()
                program.add_row([*columns, chosen[level]], [*[1.0] * len(columns), -1.0], upper=0.0)
                for column, configuration in zip(columns, useful, strict=True):
                    owners.append((column, bidder, region, configuration))
                    for band in np.flatnonzero(configurations[configuration]).tolist():
                        supply[region * n_bands + band][0].append(column)
                        supply[region * n_bands + band][1].append(float(configurations[configuration, band]))
                held += columns
            if level < len(levels) - 1:
                program.add_row([*held, chosen[level]], [*[1.0] * len(held), -float(n_regions - level)], lower=0.0)
    for good, (columns, units) in enumerate(supply):
        program.add_row(columns, units, upper=float(instance.capacities[good]))
    return program, owners


def _undominated(worth: np.ndarray, configurations: Bundles) -> list[int]:
    """Return the configurations worth more than every other one within them."""
    kept = []
    for index in range(1, len(configurations)):
        within = (configurations <= configurations[index]).all(axis=1)
        within[index] = False
        if worth[index] > worth[within].max():
            kept.append(index)
    return kept
