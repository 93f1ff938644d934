"""Instances so small that a bidder's values of all bundles fit into a table: every question is answered by looking it up."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles, bundles_at, count_bundles, indices_of
from auctions.domains.capacity_programme import CapacityProgramme, economies
from auctions.domains.instance import LARGEST_TABLE, Instance
from auctions.domains.ranking import best
from auctions.outcome import AllocationResult, SearchLimits
from solvers.operation import TooLarge


class TabulatedInstance(Instance):
    """An instance whose bidders' values are tables in mixed-radix order, made when they are first asked for."""

    @abstractmethod
    def _computed(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        """Return the values of bundles by the formula."""

    def table(self, bidder: int) -> NDArray[np.float64]:
        """Return a bidder's values of all bundles in mixed-radix order.

        Raises
        ------
        TooLarge
            There are more than 2^20 bundles.
        """
        cache: dict[int, NDArray[np.float64]] = self.__dict__.setdefault("_cache", {})
        if bidder not in cache:
            if count_bundles(self.capacities) > LARGEST_TABLE:
                raise TooLarge(f"there are {count_bundles(self.capacities)} bundles; a table has at most {LARGEST_TABLE}")
            cache[bidder] = self._computed(bidder, all_bundles(self.capacities))
        return cache[bidder]

    @property
    def methods(self) -> tuple[str, ...]:
        return ("dp",)

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        if count_bundles(self.capacities) > LARGEST_TABLE:
            return self._computed(bidder, bundles)
        return np.asarray(self.table(bidder)[indices_of(bundles, self.capacities)])

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        values = self.admissible_table(bidder)
        utilities = values - costs_of_bundles(prices, self.capacities)
        return bundles_at(best(values, utilities, k, lambda places: bundles_at(places, self.capacities)), self.capacities)

    def admissible_table(self, bidder: int) -> NDArray[np.float64]:
        """Return a bidder's values of all bundles, minus infinity where it may not hold them."""
        limits = self.limits(bidder)
        if limits.max_items is None and limits.goods is None and limits.caps is None:
            return self.table(bidder)
        return np.where(limits.admits(all_bundles(self.capacities)), self.table(bidder), -np.inf)

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        return CapacityProgramme(self, self.capacities, self._tables_of(bidders), search).allocate()

    def _economies(self, method: str, search: SearchLimits) -> list[AllocationResult]:
        if method != "dp":
            return super()._economies(method, search)

        def retry(absent: int) -> AllocationResult:
            return self._allocate(method, search, [bidder for bidder in range(self.n_bidders) if bidder != absent])

        return economies(self, self.capacities, self._tables_of(list(range(self.n_bidders))), search, retry)

    def _tables_of(self, bidders: list[int]) -> dict[int, NDArray[np.float64]]:
        return {bidder: self.admissible_table(bidder) for bidder in bidders}


def costs_of_bundles(prices: NDArray[np.float64], capacities: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the price of every bundle in mixed-radix order.

    Examples
    --------
    >>> costs_of_bundles(np.array([1.0, 10.0]), np.array([1, 2])).tolist()
    [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]
    """
    costs = np.zeros(1)
    for price, capacity in zip(prices.tolist(), capacities.tolist(), strict=True):
        costs = (np.arange(capacity + 1)[:, None] * price + costs).ravel()
    return costs
