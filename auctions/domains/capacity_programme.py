"""Efficient allocations by a dynamic programme over supplies, for bidders with a table of values.

W[c] is the best welfare that some of the bidders can make of a supply c. A bidder with the values T joins by the max-plus
convolution W_new[c] = max over x <= c of W[c - x] + T[x]. Tables are in mixed-radix order, in which the complement of a supply is
the reversed index: W(N - i) = max over c of prefix[c] + suffix[all - c].
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles, bundles_at, count_bundles, indices_of
from auctions.domains.allocation_claim import Valued, claim
from auctions.domains.interruption import Stopped, stop_if_over
from auctions.outcome import AllocationResult, SearchLimits, StoppedBy

Table = NDArray[np.float64]

# Steps between two looks at the clock: about a tenth of a second.
STEPS_PER_POLL = 30_000_000


class CapacityProgramme:
    """The dynamic programme for some bidders of an instance, with the tables of its prefixes and suffixes.

    Parameters
    ----------
    instance
        Whose bidders they are.
    capacities : array of shape (m,)
    tables : dict of int to array
        Of each bidder that takes part, the value of every bundle; minus infinity where it may not hold it.
    search : SearchLimits
    """

    def __init__(self, instance: Valued, capacities: NDArray[np.int64], tables: dict[int, Table], search: SearchLimits) -> None:
        self._instance = instance
        self._capacities = capacities
        self._tables = tables
        self._bidders = list(tables)
        self._search = search
        self._started = time.perf_counter()
        self._bundles = all_bundles(capacities)
        self._prefixes: list[Table] = [np.zeros(count_bundles(capacities))]
        self._suffixes: list[Table] = [np.zeros(count_bundles(capacities))]

    def allocate(self) -> AllocationResult:
        """Return an efficient allocation; if a limit ends the search, one among the bidders that joined, with a bound for the others."""
        stopped_by: StoppedBy | None = None
        try:
            for bidder in self._bidders[len(self._prefixes) - 1 :]:
                self._prefixes.append(self._join(self._prefixes[-1], bidder))
        except Stopped as stop:
            stopped_by = stop.stopped_by
        joined = len(self._prefixes) - 1
        allocation = np.zeros((self._instance.n_bidders, len(self._capacities)), dtype=np.int64)
        self._share_out(allocation, self._bidders[:joined], self._prefixes, self._capacities)
        unjoined = sum(float(self._tables[bidder].max()) for bidder in self._bidders[joined:])
        bound = None if stopped_by is None else float(self._prefixes[-1][-1]) + unjoined
        return self._claim(allocation, bound, stopped_by)

    def without(self, absent: int) -> AllocationResult:
        """Return an efficient allocation of all bidders but one, once :meth:`allocate` has found one of all."""
        place = self._bidders.index(absent)
        after = len(self._bidders) - 1 - place
        for bidder in self._bidders[::-1][len(self._suffixes) - 1 : after]:
            self._suffixes.append(self._join(self._suffixes[-1], bidder))
        supply = bundles_at(int(np.argmax(self._prefixes[place] + self._suffixes[after][::-1])), self._capacities)
        allocation = np.zeros((self._instance.n_bidders, len(self._capacities)), dtype=np.int64)
        self._share_out(allocation, self._bidders[:place], self._prefixes, supply)
        self._share_out(allocation, self._bidders[place + 1 :][::-1], self._suffixes, self._capacities - supply)
        return self._claim(allocation, None, None)

    def _join(self, table: Table, bidder: int) -> Table:
        """Return the best welfare of every supply once a bidder has joined those of `table`."""
        values = self._tables[bidder]
        shares = np.flatnonzero(values > -np.inf)
        joined = np.empty_like(table)
        per_poll = max(1, STEPS_PER_POLL // len(shares))
        for first in range(0, len(table), per_poll):
            stop_if_over(self._search, self._started)
            convolve(table, values, shares, self._bundles, joined, first, min(first + per_poll, len(table)))
        return joined

    def _share_out(self, allocation: Bundles, bidders: list[int], tables: list[Table], supply: NDArray[np.int64]) -> None:
        """Give each bidder what makes `tables` come true, the last who joined first, and of equals the fewest units."""
        for bidder, table in zip(bidders[::-1], tables[: len(bidders)][::-1], strict=True):
            fits = np.flatnonzero((self._bundles <= supply).all(axis=1))
            worth = self._tables[bidder][fits] + table[indices_of(supply - self._bundles[fits], self._capacities)]
            best = fits[worth == worth.max()]
            share = self._bundles[best[np.argmin(self._bundles[best].sum(axis=1))]]
            allocation[bidder] = share
            supply = supply - share

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
    table: Table, values: Table, shares: NDArray[np.int64], bundles: Bundles, joined: Table, first: int, last: int
) -> None:
    """Fill `joined` for the supplies numbered `first` to `last`; `shares` are the bundles that may be taken, ascending."""
    n_goods = bundles.shape[1]
    for supply in range(first, last):
        best = -np.inf
        for share in shares:
            if share > supply:
                break
            fits = True
            for good in range(n_goods):
                if bundles[share, good] > bundles[supply, good]:
                    fits = False
                    break
            if fits and table[supply - share] + values[share] > best:
                best = table[supply - share] + values[share]
        joined[supply] = best


def economies(
    instance: Valued,
    capacities: NDArray[np.int64],
    tables: dict[int, Table],
    search: SearchLimits,
    retry: Callable[[int], AllocationResult],
) -> list[AllocationResult]:
    """Return efficient allocations of all bidders and of all but each in turn; `retry` finds one that a limit kept from being shared."""
    programme = CapacityProgramme(instance, capacities, tables, search)
    main = programme.allocate()
    results = [main]
    for absent in tables:
        if main.status == "optimal" and not main.allocation[absent].any():
            results.append(main)
            continue
        try:
            results.append(programme.without(absent) if main.stopped_by is None else retry(absent))
        except Stopped:
            results.append(retry(absent))
    return results
