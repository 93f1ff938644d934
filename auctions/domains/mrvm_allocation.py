"""Efficient allocations of MRVM by a dynamic programme over regions.

Regions interact only through the factor g of each national bidder, which depends on how many regions it is left out of. So for
every choice o that says of each national bidder at which level of g it is in region r, or that it is not, T_r[o] is the best
total of that region: max-plus convolutions over the region's supply. For every target k of levels, one per national bidder, a
programme over regions with the numbers of regions left out so far (at most k_i, and any number at the last level) picks between
"in at level k_i" and "out"; the best target wins. "At most" is exact since g does not rise.
"""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import all_bundles, strides
from auctions.domains.allocation_claim import claim
from auctions.outcome import AllocationResult, SearchLimits, StoppedBy

if TYPE_CHECKING:
    from auctions.domains.mrvm import Mrvm

Table = NDArray[np.float64]

OUT = -1


def allocate_by_regions(instance: Mrvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return an efficient allocation among `bidders`; if a limit ends the search, none of them gets anything."""
    started = time.perf_counter()
    programme = RegionProgramme(instance, bidders)
    choices, stopped_by = programme.choose(search, started)
    allocation = np.zeros((instance.n_bidders, instance.n_goods), dtype=np.int64)
    bound = None
    if choices is None:
        bound = sum(float(np.maximum(instance.admissible(bidder), 0.0).max(axis=1).sum()) for bidder in bidders)
    else:
        per_region = allocation.reshape(instance.n_bidders, len(instance.world.regions), len(instance.world.bands))
        for region, choice in enumerate(choices):
            for bidder, configuration in programme.hand_out(region, choice).items():
                per_region[bidder, region] = programme.configurations[configuration]
    return claim(instance, allocation, method="dp", started=started, gap=search.gap, bound=bound, stopped_by=stopped_by)


class RegionProgramme:
    """The dynamic programme for some bidders of an instance."""

    def __init__(self, instance: Mrvm, bidders: list[int]) -> None:
        self.configurations = all_bundles(instance.world.lots)
        self._instance = instance
        self._others = [bidder for bidder in bidders if not instance.is_national(bidder)]
        self._nationals = [bidder for bidder in bidders if instance.is_national(bidder)]
        self._worth = {bidder: instance.admissible(bidder) for bidder in bidders}
        self._levels = [instance.levels(bidder).tolist() for bidder in self._nationals]
        self._n_regions = len(instance.world.regions)
        self._rest = _rest_indices(instance.world.lots)

    def choose(self, search: SearchLimits, started: float) -> tuple[list[tuple[int, ...]] | None, StoppedBy | None]:
        """Return for each region the level of each national bidder, `OUT` if it gets nothing there; None if a limit ended the search."""
        totals = []
        for region in range(self._n_regions):
            if search.cancelled():
                return None, "cancelled"
            if time.perf_counter() - started > search.time_limit:
                return None, "time_limit"
            totals.append(self._region_totals(region))
        best, choices = -np.inf, None
        for target in product(*(range(len(levels)) for levels in self._levels)):
            if search.cancelled():
                return None, "cancelled"
            if time.perf_counter() - started > search.time_limit:
                return None, "time_limit"
            total, options = self._over_regions(target, totals)
            if total > best:
                best, choices = total, options
        return choices, None

    def hand_out(self, region: int, choice: tuple[int, ...]) -> dict[int, int]:
        """Return what each bidder gets of a region, as configurations."""
        tables = [(bidder, self._worth[bidder][region]) for bidder in self._others]
        for place, (bidder, level) in enumerate(zip(self._nationals, choice, strict=True)):
            if level != OUT:
                tables.append((bidder, self._held_at(place, level, region)))
        prefixes = [np.zeros(len(self.configurations))]
        for _, table in tables:
            prefixes.append(self._join(prefixes[-1], table))
        shares = {}
        supply = len(self.configurations) - 1
        for (bidder, table), prefix in zip(tables[::-1], prefixes[:-1][::-1], strict=True):
            rest = self._rest[supply]
            worth = np.where(rest >= 0, prefix[rest] + table, -np.inf)
            tied = np.flatnonzero(worth == worth.max())
            shares[bidder] = int(tied[np.argmin(self.configurations[tied].sum(axis=1))])
            supply = int(rest[shares[bidder]])
        return shares

    def _region_totals(self, region: int) -> Table:
        """Return the best total of a region for every choice of levels; the last index of each axis means `OUT`."""
        table = np.zeros(len(self.configurations))
        for bidder in self._others:
            table = self._join(table, self._worth[bidder][region])
        if not self._nationals:
            return np.array(table[-1])
        tables = table[None]
        for place in range(len(self._nationals) - 1):
            options = [
                np.stack([self._join(before, self._held_at(place, level, region)) for before in tables])
                for level in range(len(self._levels[place]))
            ]
            tables = np.stack([*options, tables], axis=1).reshape(-1, len(self.configurations))
        # Of the last one only what it makes of the full supply counts.
        last = len(self._nationals) - 1
        rest = self._rest[-1]
        totals = [(tables[:, rest] + self._held_at(last, level, region)).max(axis=1) for level in range(len(self._levels[last]))]
        shape = [len(levels) + 1 for levels in self._levels]
        return np.stack([*totals, tables[:, -1]], axis=1).reshape(shape)

    def _over_regions(self, target: tuple[int, ...], totals: list[Table]) -> tuple[float, list[tuple[int, ...]]]:
        """Return the best welfare in which every national bidder has its level of `target`, and the choice in each region."""
        counted = [level < len(levels) - 1 for level, levels in zip(target, self._levels, strict=True)]
        shape = tuple(level + 1 if counts else 1 for level, counts in zip(target, counted, strict=True))
        options = list(product((False, True), repeat=len(target)))
        welfare = np.full(shape, -np.inf)
        welfare[(0,) * len(shape)] = 0.0
        taken = []
        for table in totals:
            after = np.full(shape, -np.inf)
            option_of = np.zeros(shape, dtype=np.int64)
            for number, is_out in enumerate(options):
                step = [int(out and counts) for out, counts in zip(is_out, counted, strict=True)]
                choice = tuple(OUT if out else level for out, level in zip(is_out, target, strict=True))
                source = tuple(slice(0, size - by) for size, by in zip(shape, step, strict=True))
                goal = tuple(slice(by, None) for by in step)
                worth = welfare[source] + table[choice]
                is_better = worth > after[goal]
                after[goal] = np.where(is_better, worth, after[goal])
                option_of[goal] = np.where(is_better, number, option_of[goal])
            welfare = after
            taken.append(option_of)
        state = tuple(int(place) for place in np.unravel_index(int(np.argmax(welfare)), shape)) if shape else ()
        best = float(welfare[state])
        choices: list[tuple[int, ...]] = []
        for option_of in taken[::-1]:
            is_out = options[int(option_of[state])]
            choices.append(tuple(OUT if out else level for out, level in zip(is_out, target, strict=True)))
            state = tuple(at - int(out and counts) for at, out, counts in zip(state, is_out, counted, strict=True))
        return best, choices[::-1]

    def _held_at(self, place: int, level: int, region: int) -> Table:
        """Return what a national bidder makes of each configuration at a level; it holds something there."""
        worth = self._levels[place][level] * self._worth[self._nationals[place]][region]
        worth[0] = -np.inf
        return np.asarray(worth)

    def _join(self, before: Table, table: Table) -> Table:
        """Return the max-plus convolution of two tables over a region's supply."""
        return np.asarray(np.where(self._rest >= 0, before[self._rest] + table, -np.inf).max(axis=1))


def _rest_indices(lots: tuple[int, ...]) -> NDArray[np.int64]:
    """Return for every supply and configuration the index of what is left, -1 where the supply does not suffice."""
    configurations = all_bundles(lots)
    left = configurations[:, None, :] - configurations[None, :, :]
    return np.where((left >= 0).all(axis=2), left @ strides(lots), -1)
