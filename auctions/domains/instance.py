"""An instance: a supply of goods and bidders who value bundles of them.

Every value domain is a subclass. Goods j have capacities c_j; a bundle x has 0 <= x_j <= c_j; bidder i has the value v_i(x) with
v_i(0) = 0, and a set F_i of bundles it may be given: its :class:`~auctions.bundles.Limits`, less what is worthless to it. Values
are defined for all bundles; demand and allocations keep to F_i.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles, Limits, all_bundles, count_bundles
from auctions.domains.bundle_forms import checked_bundle, checked_bundles, checked_index, checked_prices
from auctions.domains.sampling import sample
from auctions.domains.streams import Source
from auctions.outcome import AllocationResult, SearchLimits, never
from solvers.operation import InvalidInput, TooLarge

LARGEST_TABLE = 2**20


@dataclass(frozen=True, slots=True)
class Demand:
    """A bundle that a bidder wants at given prices.

    Attributes
    ----------
    bundle : array of shape (m,)
    value, price, utility : float
        What it is worth, what it costs, and the difference.
    """

    bundle: Bundles
    value: float
    price: float
    utility: float


@dataclass(frozen=True, slots=True)
class Payments:
    """VCG payments of an instance, with the allocations they were computed from.

    Attributes
    ----------
    outcome : AllocationResult
        The efficient allocation of all bidders.
    payments : array of shape (n_bidders,)
        Others' welfare without the bidder, less others' welfare with it; between 0 and the bidder's value.
    error_bound : array of shape (n_bidders,)
        How far a payment may be off: the sum of the two absolute gaps.
    exact : bool
        Whether all searches proved their optimum.
    """

    outcome: AllocationResult
    payments: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    exact: bool

    @property
    def revenue(self) -> float:
        """The sum of the payments."""
        return float(self.payments.sum())


class Instance(ABC):
    """A supply of goods and bidders who value bundles of them.

    Parameters
    ----------
    capacities : sequence of int
        Units of each good.
    good_names : sequence of str
    bidder_types : sequence of str
        One per bidder; at least one bidder.
    source : Source
        Where it comes from.
    """

    domain: ClassVar[str]

    def __init__(self, capacities: ArrayLike, good_names: Sequence[str], bidder_types: Sequence[str], source: Source) -> None:
        if not len(bidder_types):
            raise InvalidInput("an instance has at least one bidder", pointer="/bidders")
        self.capacities = np.array(capacities, dtype=np.int64)
        self.good_names = tuple(good_names)
        self.bidder_types = tuple(bidder_types)
        self.source = source

    @property
    def n_bidders(self) -> int:
        """How many bidders there are."""
        return len(self.bidder_types)

    @property
    def n_goods(self) -> int:
        """How many goods there are, each in one or more units."""
        return len(self.capacities)

    @property
    def monotone(self) -> bool:
        """Whether more of a good never lowers a value."""
        return True

    def value(self, bidder: int, bundle: Any) -> float:
        """Return what a bundle is worth to a bidder.

        Parameters
        ----------
        bidder : int
        bundle : array of shape (m,), dict of good name to quantity, or str of digits

        Raises
        ------
        InvalidInput
            There is no such bidder, or the bundle is none.
        """
        goods = checked_bundle(bundle, self.capacities, self.good_names, pointer="/bundle")
        return float(self._values(checked_index(bidder, self.n_bidders), goods[None])[0])

    def values(self, bidder: int, bundles: ArrayLike | Sequence[Any]) -> NDArray[np.float64]:
        """Return what each of several bundles is worth to a bidder; `bundles` has shape (n, m)."""
        goods = checked_bundles(bundles, self.capacities, self.good_names, pointer="/bundles")
        return self._values(checked_index(bidder, self.n_bidders), goods)

    def value_matrix(self, bundles: ArrayLike | Sequence[Any]) -> NDArray[np.float64]:
        """Return what each of several bundles is worth to each bidder, shape (n_bidders, n)."""
        goods = checked_bundles(bundles, self.capacities, self.good_names, pointer="/bundles")
        return np.array([self._values(bidder, goods) for bidder in range(self.n_bidders)]).reshape(self.n_bidders, len(goods))

    def allocation_values(self, allocation: ArrayLike | Sequence[Any]) -> NDArray[np.float64]:
        """Return what each bidder's bundle is worth to it.

        Raises
        ------
        InvalidInput
            It has not a bundle per bidder, or gives out more than there is.
        """
        goods = checked_bundles(allocation, self.capacities, self.good_names, pointer="/allocation")
        if len(goods) != self.n_bidders:
            raise InvalidInput(f"{len(goods)} bundles for {self.n_bidders} bidders", pointer="/allocation")
        given = goods.sum(axis=0)
        if (given > self.capacities).any():
            good = int(np.argmax(given > self.capacities))
            raise InvalidInput(
                f"{given[good]} units of {self.good_names[good]} are given out, there are {self.capacities[good]}",
                pointer="/allocation",
            )
        return np.array([self._values(bidder, goods[bidder : bidder + 1])[0] for bidder in range(self.n_bidders)])

    def value_table(self, bidder: int) -> NDArray[np.float64]:
        """Return the value of every bundle in mixed-radix order.

        Raises
        ------
        TooLarge
            There are more than 2^20 bundles.
        """
        index = checked_index(bidder, self.n_bidders)
        if count_bundles(self.capacities) > LARGEST_TABLE:
            raise TooLarge(f"a table of {count_bundles(self.capacities)} bundles; the most is {LARGEST_TABLE}")
        return self._values(index, all_bundles(self.capacities))

    def limits(self, bidder: int) -> Limits:
        """Return what a bidder may hold at most (X_i of the mechanisms); no limit unless the domain has one."""
        checked_index(bidder, self.n_bidders)
        return Limits()

    def goods_of_interest(self, bidder: int) -> list[int]:
        """Return the goods that a bidder has a value for."""
        checked_index(bidder, self.n_bidders)
        return list(range(self.n_goods))

    @property
    def licence_goods(self) -> NDArray[np.int64]:
        """The good that each licence is a unit of, by the number that SATS gives it."""
        return np.repeat(np.arange(self.n_goods), self.capacities)

    def licences_to_quantities(self, licences: Sequence[int]) -> Bundles:
        """Return the bundle that some licences are.

        Examples
        --------
        >>> from auctions.domains import srvm
        >>> srvm(1).licences_to_quantities([0, 5, 28]).tolist()
        [2, 0, 1]
        """
        goods = self.licence_goods
        for place, licence in enumerate(licences):
            checked_index(licence, len(goods), pointer=f"/licences/{place}", thing="licence")
        if len(set(licences)) < len(licences):
            raise InvalidInput("a licence is named twice", pointer="/licences")
        return np.bincount(goods[list(licences)], minlength=self.n_goods).astype(np.int64)

    def quantities_to_licences(self, bundle: Any) -> list[int]:
        """Return licences that make up a bundle: of each good those of the lowest numbers."""
        quantities = checked_bundle(bundle, self.capacities, self.good_names, pointer="/bundle")
        goods = self.licence_goods
        return sorted(
            licence
            for good, count in enumerate(quantities.tolist())
            for licence in np.flatnonzero(goods == good)[:count].tolist()
        )

    def sample_bundles(
        self, bidder: int, n: int, kind: str = "uniform", random_state: int | np.random.Generator | None = None, **shape: float
    ) -> Bundles:
        """Return random bundles, shape (n, m), as :mod:`~auctions.domains.sampling` draws them: `kind` is "uniform" or "gaussian_size"."""
        return sample(self, checked_index(bidder, self.n_bidders), n, kind, np.random.default_rng(random_state), **shape)

    def demand(
        self, bidder: int, prices: ArrayLike, k: int = 1, allow_negative: bool = False, require_nonnegative: bool = False
    ) -> list[Demand]:
        """Return the bundles that a bidder wants most at linear prices, best first.

        Parameters
        ----------
        bidder : int
        prices : array of shape (m,)
            Per unit of each good.
        k : int
            How many bundles; all that the bidder may hold, if there are fewer.
        allow_negative : bool
            Whether bundles that cost more than they are worth count too; if not, and nothing else does, the answer is the empty
            bundle.
        require_nonnegative : bool
            Whether a negative price is refused.

        Returns
        -------
        list of Demand
            Exact. Of bundles with the same utility (relative difference 1e-12) the one of fewest units comes first, then the
            lexicographically smallest.
        """
        index = checked_index(bidder, self.n_bidders)
        costs = checked_prices(prices, self.n_goods, nonnegative=require_nonnegative)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise InvalidInput(f"the number of bundles is an integer of at least 1, not {k!r}", pointer="/k")
        wanted = self._best_bundles(index, costs, int(k))
        worth = self._values(index, wanted)
        found = [
            Demand(bundle, value, price, value - price)
            for bundle, value, price in zip(wanted, worth.tolist(), (wanted @ costs).tolist(), strict=True)
        ]
        if allow_negative:
            return found
        return [each for each in found if each.utility >= 0 or not each.bundle.any()]

    def efficient_allocation(
        self,
        method: str = "auto",
        gap: float = 1e-9,
        node_limit: int | None = 100_000,
        time_limit: float = 60.0,
        without: int | Iterable[int] | None = None,
        cancelled: Callable[[], bool] = never,
    ) -> AllocationResult:
        """Return an allocation of the highest welfare, with the proof of how good it is.

        Parameters
        ----------
        method : str
            "auto", or one of :meth:`methods`.
        gap : float
            Relative gap at which a search may end.
        node_limit : int, optional
            Nodes of a branch and bound.
        time_limit : float
            Seconds: a guard, and a search that it ends is not deterministic.
        without : int or iterable of int, optional
            Bidders who get nothing.
        cancelled : callable
            Asked from time to time.

        Examples
        --------
        >>> from auctions.domains.srvm import srvm
        >>> round(srvm(1).efficient_allocation().welfare, 9)
        6979.808056495
        """
        search = checked_search(gap, node_limit, time_limit, cancelled)
        return self._allocate(self._checked_method(method), search, self._bidders_without(without))

    def vcg(
        self,
        method: str = "auto",
        gap: float = 1e-9,
        node_limit: int | None = 100_000,
        time_limit: float = 60.0,
        cancelled: Callable[[], bool] = never,
    ) -> Payments:
        """Return the VCG payments of the efficient allocation; parameters as for :meth:`efficient_allocation`, `time_limit` for all."""
        search = checked_search(gap, node_limit, time_limit, cancelled)
        economies = self._economies(self._checked_method(method), search)
        return payments_of(economies[0], economies[1:])

    def efficiency(self, allocation: ArrayLike | Sequence[Any], **search: Any) -> float:
        """Return the welfare of an allocation as a share of the optimum; 1 if both are 0."""
        welfare = float(self.allocation_values(allocation).sum())
        optimum = self.efficient_allocation(**search).welfare
        return welfare / optimum if optimum else 1.0

    @staticmethod
    def from_dict(document: Any) -> Instance:
        """Return the instance that a JSON document describes, in any of the schemas of :func:`~auctions.domains.read_instance`."""
        from auctions.domains.reading import read_instance

        return read_instance(document)

    @property
    @abstractmethod
    def methods(self) -> tuple[str, ...]:
        """The ways to find an efficient allocation of this instance, the one that "auto" takes first."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the whole instance as JSON."""

    @abstractmethod
    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        """Return the values of checked bundles, shape (n, m)."""

    @abstractmethod
    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        """Return the k best bundles of F_i, those of negative utility too, in the order of the tie rule."""

    @abstractmethod
    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        """Return an efficient allocation among some of the bidders."""

    def _economies(self, method: str, search: SearchLimits) -> list[AllocationResult]:
        """Return efficient allocations of all bidders and of all but each in turn; a domain may share work between them."""
        everybody = list(range(self.n_bidders))
        end = time.monotonic() + search.time_limit
        main = self._allocate(method, search, everybody)
        results = [main]
        for absent in everybody:
            if not main.allocation[absent].any() and main.status == "optimal":
                # Without a bidder who gets nothing the same allocation is the best.
                results.append(main)
                continue
            left = SearchLimits(
                search.gap, search.node_limit, search.iteration_limit, max(0.0, end - time.monotonic()), search.cancelled
            )
            results.append(self._allocate(method, left, [bidder for bidder in everybody if bidder != absent]))
        return results

    def _checked_method(self, method: str) -> str:
        if method == "auto":
            return self.methods[0]
        if method not in self.methods:
            known = ", ".join(repr(name) for name in ("auto", *self.methods))
            raise InvalidInput(f"this {self.domain} instance has no method {method!r}; it has {known}", pointer="/method")
        return method

    def _bidders_without(self, without: int | Iterable[int] | None) -> list[int]:
        absent = [] if without is None else [without] if isinstance(without, (int, np.integer)) else list(without)
        absentees = {checked_index(bidder, self.n_bidders, pointer="/without") for bidder in absent}
        return [bidder for bidder in range(self.n_bidders) if bidder not in absentees]


def checked_search(gap: float, node_limit: int | None, time_limit: float, cancelled: Callable[[], bool]) -> SearchLimits:
    """Return the limits of a search, if they are some."""
    if not (np.isfinite(gap) and gap >= 0):
        raise InvalidInput(f"a gap is a number of at least 0, not {gap!r}", pointer="/gap")
    if node_limit is not None and node_limit < 0:
        raise InvalidInput(f"a number of nodes is at least 0, not {node_limit!r}", pointer="/node_limit")
    if not time_limit >= 0:
        raise InvalidInput(f"a time limit is at least 0 seconds, not {time_limit!r}", pointer="/time_limit")
    return SearchLimits(gap=gap, node_limit=node_limit, time_limit=time_limit, cancelled=cancelled)


def payments_of(main: AllocationResult, marginals: Sequence[AllocationResult]) -> Payments:
    """Return the VCG payments of an allocation, given an allocation without each bidder.

    Where a search was stopped, others can still share out what they have in `main`: no marginal welfare is below that, so that
    payments stay between 0 and the bidder's value.
    """
    payments = np.zeros(len(marginals))
    error_bound = np.zeros(len(marginals))
    for bidder, marginal in enumerate(marginals):
        share = float(main.values[bidder])
        others = main.welfare - share
        if not main.allocation[bidder].any():
            continue
        payments[bidder] = min(max(marginal.welfare - others, 0.0), max(share, 0.0))
        error_bound[bidder] = max(0.0, main.bound - main.welfare) + max(0.0, marginal.bound - max(marginal.welfare, others))
    exact = all(result.status == "optimal" for result in (main, *marginals))
    # Payments depend on all searches: one that the clock ended makes the whole answer one that may not come again.
    stopped_by = next((result.stopped_by for result in (main, *marginals) if not result.deterministic), main.stopped_by)
    return Payments(replace(main, stopped_by=stopped_by), payments, error_bound, exact)
