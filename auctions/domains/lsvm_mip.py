"""Allocations of LSVM as set packing: a column for every bidder and connected set of its cells.

No row keeps a bidder's sets apart: a component is never worth less than its parts, since the factor does not fall with the size.
For grids on which there are too many connected sets only the smaller ones become columns; then the bound is one that needs none
of them: every cell at the highest of its values with the factor of the largest component its bidder could have.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from auctions.bundles import Bundles
from auctions.domains.allocation_claim import claim
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.lsvm_table import masks_of
from auctions.outcome import AllocationResult, SearchLimits, StoppedBy

if TYPE_CHECKING:
    from auctions.domains.lsvm import Lsvm

# Of a bidder, and of all together; a grid of 3 x 6 cells has 28,992 connected sets.
MOST_SETS = 40_000
MOST_COLUMNS = 200_000


def allocate_by_packing(instance: Lsvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return the best allocation among `bidders` that the search finds, and a bound."""
    started = time.perf_counter()
    program, owners, is_complete = build_program(instance, bidders)
    left = max(0.0, search.time_limit - (time.perf_counter() - started))
    found = program.maximise(replace(search, time_limit=left))
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    if found.columns is not None:
        for column in np.flatnonzero(found.columns > 0.5).tolist():
            bidder, held = owners[column]
            allocation[bidder, held] = 1
    # A search that was stopped early may have found less than what takes no search.
    allocation = max(allocation, one_after_the_other(instance, bidders), key=lambda each: instance.allocation_values(each).sum())
    bound = min(cellwise_bound(instance, bidders), found.bound if is_complete else np.inf)
    stopped_by: StoppedBy | None = found.stopped_by if is_complete else found.stopped_by or "node_limit"
    return claim(instance, allocation, method="mip", started=started, gap=search.gap, bound=bound, stopped_by=stopped_by)


def build_program(instance: Lsvm, bidders: list[int]) -> tuple[IntegerProgram, list[tuple[int, list[int]]], bool]:
    """Return the program, the bidder and the cells of each column, and whether it has all connected sets."""
    program = IntegerProgram()
    supply: list[list[int]] = [[] for _ in range(instance.n_goods)]
    owners: list[tuple[int, list[int]]] = []
    is_complete = True
    for bidder in bidders:
        cells, worth, factor = instance.cells(bidder), instance.worth(bidder), instance.factor(bidder)
        sets, has_all = connected_sets(neighbour_masks(instance, bidder), min(MOST_SETS, MOST_COLUMNS // len(bidders)))
        is_complete &= has_all
        members = [[place for place in range(len(cells)) if mask >> place & 1] for mask in sets]
        columns = program.add_columns([factor[len(places)] * worth[places].sum() for places in members], integer=True)
        for column, places in zip(columns.tolist(), members, strict=True):
            owners.append((bidder, [cells[place] for place in places]))
            for place in places:
                supply[cells[place]].append(column)
    for columns_of_cell in supply:
        program.add_row(columns_of_cell, 1.0, upper=1.0)
    return program, owners, is_complete


def one_after_the_other(instance: Lsvm, bidders: list[int]) -> Bundles:
    """Return an allocation in which each bidder, whose cells together are worth most first, takes what is left of them."""
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    is_left = np.ones(instance.n_goods, dtype=bool)
    for bidder in sorted(bidders, key=lambda bidder: -instance.factor(bidder)[-1] * instance.worth(bidder).sum()):
        cells = np.array(instance.goods_of_interest(bidder), dtype=np.int64)
        allocation[bidder, cells[is_left[cells]]] = 1
        is_left[cells] = False
    return allocation


def neighbour_masks(instance: Lsvm, bidder: int) -> list[int]:
    """Return the neighbours of each of a bidder's cells as a bit mask of as many bits as it takes."""
    beside = instance.beside(bidder)
    if len(beside) < 63:
        return [int(mask) for mask in masks_of(beside)]
    return [sum(1 << int(near) for near in row if near >= 0) for row in beside]


def connected_sets(beside: list[int], most: int) -> tuple[list[int], bool]:
    """Return connected sets of cells as bit masks, the smallest first, and whether these are all.

    Examples
    --------
    >>> connected_sets([0b10, 0b101, 0b10], 100)
    ([1, 2, 4, 3, 6, 7], True)
    """
    layer = {1 << cell for cell in range(len(beside))}
    found: list[int] = []
    while layer:
        found += sorted(layer)
        if len(found) > most:
            return found[:most], False
        grown = set()
        for cells in layer:
            near = 0
            rest = cells
            while rest:
                lowest = rest & -rest
                near |= beside[lowest.bit_length() - 1]
                rest ^= lowest
            near &= ~cells
            while near:
                lowest = near & -near
                grown.add(cells | lowest)
                near ^= lowest
        layer = grown
    return found, True


def cellwise_bound(instance: Lsvm, bidders: list[int]) -> float:
    """Return a bound on the welfare: each cell at its highest value, with the factor of the bidder's largest component."""
    highest = np.zeros(instance.n_goods)
    for bidder in bidders:
        cells = instance.cells(bidder)
        np.maximum.at(highest, cells, instance.factor(bidder)[len(cells)] * instance.worth(bidder))
    return float(highest.sum())
