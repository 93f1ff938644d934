"""Efficient allocations of LSVM by a dynamic programme over sets of cells.

W[S] is the best welfare that some of the bidders can make of the cells S. A bidder with cells P and values T joins by W_new[S] =
max over X within S and P of W[S - X] + T[X], which takes 2^(m-k) 3^k steps for k = |P|. The bidder with the most cells never
joins that way: it starts the other end, where W[S] = T[S], so that regional bidders are the only ones to be convolved. For VCG
prefixes are kept from one end and suffixes from the other: W(N - i) = max over S of prefix[S] + suffix[all - S].
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.allocation_claim import claim
from auctions.domains.interruption import Stopped, stop_if_over
from auctions.outcome import AllocationResult, SearchLimits, StoppedBy

if TYPE_CHECKING:
    from auctions.domains.lsvm import Lsvm

LARGEST_GRID = 24

# Steps between two looks at the clock: about a tenth of a second.
STEPS_PER_POLL = 50_000_000

Table = NDArray[np.float64]


def allocate_by_subsets(instance: Lsvm, bidders: list[int], search: SearchLimits) -> AllocationResult:
    """Return an efficient allocation among `bidders`."""
    started = time.perf_counter()
    programme = SubsetProgramme(instance, bidders, search, started)
    return programme.allocate()


def economies_by_subsets(instance: Lsvm, search: SearchLimits) -> list[AllocationResult]:
    """Return efficient allocations of all bidders and of all but each in turn."""
    started = time.perf_counter()
    programme = SubsetProgramme(instance, list(range(instance.n_bidders)), search, started)
    main = programme.allocate()
    if main.status != "optimal":
        return [main, *[allocate_by_subsets(instance, programme.all_but(absent), search) for absent in range(instance.n_bidders)]]
    return [
        main,
        *[main if not main.allocation[absent].any() else programme.without(absent) for absent in range(instance.n_bidders)],
    ]


class SubsetProgramme:
    """The dynamic programme for some bidders of an instance, with the tables of its prefixes and suffixes.

    Parameters
    ----------
    instance : Lsvm
        Of at most `LARGEST_GRID` cells.
    bidders : list of int
    search : SearchLimits
    started : float
        :func:`time.perf_counter` when it began.
    """

    def __init__(self, instance: Lsvm, bidders: list[int], search: SearchLimits, started: float) -> None:
        self._instance = instance
        self._search = search
        self._started = started
        self._bidders = bidders
        by_size = sorted(bidders, key=lambda bidder: len(instance.cells(bidder)))
        self._joining, self._base = by_size[:-1], by_size[-1:]
        self._all = (1 << instance.n_goods) - 1
        self._prefixes: list[Table] = [np.zeros(self._all + 1)]
        self._suffixes: list[Table] = []

    def all_but(self, absent: int) -> list[int]:
        """Return the bidders but for one."""
        return [bidder for bidder in self._bidders if bidder != absent]

    def allocate(self) -> AllocationResult:
        """Return an efficient allocation; after a limit the best among the bidders that joined, and a bound for the others."""
        stopped_by: StoppedBy | None = None
        try:
            self._complete_prefixes()
        except Stopped as stop:
            stopped_by = stop.stopped_by
        joined = len(self._prefixes) - 1
        base = self._base_table()
        # Reversing the order of the masks turns each set into its complement.
        best = int(np.argmax(self._prefixes[-1][::-1] + base))
        allocation = self._shares(self._prefixes[: joined + 1], self._all ^ best)
        if self._base:
            self._give(allocation, self._base[0], self._cheapest(base, best))
        unjoined = sum(float(self._instance.table(bidder).max()) for bidder in self._joining[joined:])
        welfare = float(self._prefixes[-1][self._all ^ best] + base[best])
        bound = None if stopped_by is None else welfare + unjoined
        return self._claim(allocation, bound, stopped_by)

    def without(self, absent: int) -> AllocationResult:
        """Return an efficient allocation of all bidders but one, once :meth:`allocate` has found one of all."""
        if absent in self._base:
            return self._claim(self._shares(self._prefixes, self._all), None, None)
        try:
            self._complete_suffixes()
        except Stopped:
            return allocate_by_subsets(self._instance, self.all_but(absent), self._search)
        place = self._joining.index(absent)
        prefix = self._prefixes[place]
        after = len(self._joining) - 1 - place
        suffix = self._suffixes[after]
        rest = int(np.argmax(prefix[::-1] + suffix))
        allocation = self._shares(self._prefixes[: place + 1], self._all ^ rest)
        for bidder, table in zip(self._joining[place + 1 :], self._suffixes[:after][::-1], strict=True):
            share = self._share_of(bidder, table, rest)
            self._give(allocation, bidder, share)
            rest ^= share
        self._give(allocation, self._base[0], self._cheapest(self._base_table(), rest))
        return self._claim(allocation, None, None)

    def _complete_prefixes(self) -> None:
        for bidder in self._joining[len(self._prefixes) - 1 :]:
            self._prefixes.append(self._join(self._prefixes[-1], bidder))

    def _complete_suffixes(self) -> None:
        if not self._suffixes:
            self._suffixes.append(self._base_table())
        for bidder in self._joining[::-1][len(self._suffixes) - 1 : -1]:
            self._suffixes.append(self._join(self._suffixes[-1], bidder))

    def _join(self, table: Table, bidder: int) -> Table:
        """Return the best welfare of every set of cells once a bidder has joined those of `table`."""
        inner, outer, values = self._places(bidder)
        joined = np.empty_like(table)
        sets = len(outer) * len(inner)
        # The sets of one `outer` take 3^k steps.
        per_poll = max(1, int(STEPS_PER_POLL / max(1.0, 1.5 ** np.log2(len(inner)))))
        for first in range(0, sets, per_poll):
            stop_if_over(self._search, self._started)
            convolve(table, values, inner, outer, joined, first, min(first + per_poll, sets))
        return joined

    def _shares(self, tables: list[Table], cells: int) -> Bundles:
        """Return an allocation of `cells` among the joining bidders that is worth what the last of `tables` says."""
        allocation = np.zeros((self._instance.n_bidders, self._instance.n_goods), dtype=np.int64)
        for bidder, table in reversed(list(zip(self._joining, tables[:-1], strict=False))):
            share = self._share_of(bidder, table, cells)
            self._give(allocation, bidder, share)
            cells ^= share
        return allocation

    def _share_of(self, bidder: int, table: Table, cells: int) -> int:
        """Return what a bidder takes of `cells` when `table` is what the others make of the rest: the fewest cells of the best."""
        inner, _, values = self._places(bidder)
        within = (inner & ~np.int64(cells)) == 0
        worth = np.where(within, values + table[cells & ~inner], -np.inf)
        best = np.flatnonzero(worth == worth.max())
        return int(inner[best[np.argmin(np.bitwise_count(inner[best]))]])

    def _places(self, bidder: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Table]:
        """Return the masks of the subsets of a bidder's cells, those of the other cells, and the values of the former."""
        own = self._instance.cells(bidder)
        others = [cell for cell in range(self._instance.n_goods) if cell not in own]
        return _spread(own), _spread(others), self._instance.table(bidder)

    def _base_table(self) -> Table:
        """Return what the bidder who never joins makes of every set of cells."""
        if not self._base:
            return np.zeros(self._all + 1)
        inner, outer, values = self._places(self._base[0])
        table = np.empty(self._all + 1)
        for rest in outer.tolist():
            table[inner | rest] = values
        return table

    def _cheapest(self, base: Table, cells: int) -> int:
        """Return which of `cells` are of use to the bidder who never joins."""
        own = self._instance.cells(self._base[0])
        return cells & sum(1 << cell for cell in own)

    def _give(self, allocation: Bundles, bidder: int, cells: int) -> None:
        allocation[bidder] = cells >> np.arange(self._instance.n_goods) & 1

    def _claim(self, allocation: Bundles, bound: float | None, stopped_by: StoppedBy | None) -> AllocationResult:
        return claim(
            self._instance,
            allocation,
            method="dp",
            started=self._started,
            gap=self._search.gap,
            bound=bound,
            stopped_by=stopped_by,
        )


@njit(cache=True, nogil=True)
def convolve(
    table: Table, values: Table, inner: NDArray[np.int64], outer: NDArray[np.int64], joined: Table, first: int, last: int
) -> None:
    """Fill `joined` for the sets numbered `first` to `last`: set r of `outer` with set s of `inner` has the number r * len(inner) + s."""
    k = len(inner)
    for number in range(first, last):
        rest = outer[number // k]
        own = number % k
        best = table[rest | inner[own]]
        share = own
        while share:
            worth = table[rest | inner[own ^ share]] + values[share]
            if worth > best:
                best = worth
            share = (share - 1) & own
        joined[rest | inner[own]] = best


def _spread(cells: list[int]) -> NDArray[np.int64]:
    """Return the mask of every subset of cells, in the order of the subsets' own masks."""
    masks = np.zeros(1 << len(cells), dtype=np.int64)
    for place, cell in enumerate(cells):
        half = 1 << place
        masks[half : 2 * half] = masks[:half] | 1 << cell
    return masks
