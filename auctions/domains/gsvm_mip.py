"""Efficient allocations of GSVM by a mixed-integer program whose only integers are the numbers of licences.

    y_it in {0, 1}: bidder i gets exactly t licences; g_ijt in [0, 1]: licence j is one of them
    max sum (1 + 0.2 (t - 1)) v_ij g_ijt
    sum_t y_it <= 1,  g_ijt <= y_it,  sum_j g_ijt = t y_it,  sum_{i,t} g_ijt <= 1

For fixed y the rest is a transportation problem, so that g needs no integrality; once y is known the licences are handed out by
solving that problem as an assignment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from auctions.bundles import Bundles
from auctions.domains.allocation_claim import claim
from auctions.domains.gsvm_demand import synergy
from auctions.domains.integer_program import IntegerProgram
from auctions.outcome import AllocationResult, SearchLimits

if TYPE_CHECKING:
    from auctions.domains.gsvm import Gsvm


def allocate_by_mip(instance: Gsvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return an efficient allocation among `bidders`."""
    started = time.perf_counter()
    program, counts = build_program(instance, bidders)
    found = program.maximise(search)
    sizes = np.zeros(instance.n_bidders, dtype=np.int64)
    if found.columns is not None:
        for bidder in bidders:
            chosen = np.flatnonzero(found.columns[counts[bidder]] > 0.5)
            sizes[bidder] = chosen[0] + 1 if len(chosen) else 0
    bound = min(found.bound, sum(_highest_value(instance, bidder) for bidder in bidders))
    return claim(
        instance,
        _hand_out(instance, sizes),
        method="mip",
        started=started,
        gap=search.gap,
        bound=bound,
        stopped_by=found.stopped_by,
    )


def build_program(instance: Gsvm, bidders: list[int]) -> tuple[IntegerProgram, dict[int, NDArray[np.int64]]]:
    """Return the program and, of each bidder, the columns that say how many licences it gets: 1, 2, .."""
    program = IntegerProgram()
    counts: dict[int, NDArray[np.int64]] = {}
    supply: list[list[int]] = [[] for _ in range(instance.n_goods)]
    for bidder in bidders:
        goods = instance.candidates(bidder)
        worth = instance.worth(bidder)[goods]
        most = instance.most_items(bidder)
        counts[bidder] = program.add_columns(np.zeros(most), integer=True)
        for size, count in enumerate(counts[bidder].tolist(), start=1):
            given = program.add_columns(synergy(size) * worth, integer=False)
            for good, column in zip(goods, given.tolist(), strict=True):
                program.add_row([column, count], [1.0, -1.0], upper=0.0)
                supply[good].append(column)
            program.add_row([*given.tolist(), count], [*[1.0] * len(goods), -float(size)], lower=0.0, upper=0.0)
        program.add_row(counts[bidder], 1.0, upper=1.0)
    for columns in supply:
        program.add_row(columns, 1.0, upper=1.0)
    return program, counts


def _hand_out(instance: Gsvm, sizes: NDArray[np.int64]) -> Bundles:
    """Return the best allocation in which each bidder gets a given number of licences."""
    holders = np.repeat(np.arange(instance.n_bidders), sizes)
    worth = np.full((len(holders), instance.n_goods), -np.inf)
    for row, bidder in enumerate(holders.tolist()):
        goods = instance.candidates(bidder)
        worth[row, goods] = synergy(sizes[bidder]) * instance.worth(bidder)[goods]
    rows, assigned = linear_sum_assignment(worth, maximize=True)
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    allocation[holders[rows], assigned] = 1
    return allocation


def _highest_value(instance: Gsvm, bidder: int) -> float:
    worth = np.sort(instance.worth(bidder)[instance.candidates(bidder)])[::-1]
    most = instance.most_items(bidder)
    return float(synergy(most) * worth[:most].sum())
