"""What a set cover run has found so far: the cheapest covers, the greatest bound, and how both came about."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.integer_weights import IntegerWeights
from solvers.graphs.lagrangian_bound import ExactPrices
from solvers.graphs.progress import HistoryEntry
from solvers.graphs.result import tolerance
from solvers.graphs.set_reductions import SetReduction

LARGEST_EXACT_FLOAT = 2**53


class CoverIncumbent:
    """The cheapest cover of the kernel that was offered.

    Attributes
    ----------
    members : bool array of shape (kernel sets,), or None
    cost : int or None
        In grid units, of the kernel alone; None before the first offer.
    source : str
        The stage that first produced this cost.
    """

    def __init__(self) -> None:
        self.members: np.ndarray | None = None
        self.cost: int | None = None
        self.source = "reductions"

    def offer(self, members: np.ndarray, cost: int, source: str) -> bool:
        """Take the cover over if it is cheaper; return whether it is."""
        if self.cost is not None and cost >= self.cost:
            return False
        self.members, self.cost, self.source = np.array(members, dtype=bool), cost, source
        return True


class LowerBound(NamedTuple):
    """What no cover costs less than.

    Attributes
    ----------
    kind : str
        ``trivial``, ``lagrangian``, ``enumeration`` or ``search``.
    units : Fraction
        In grid units, of the whole instance.
    certificate : dict or None
        Of kinds other than ``trivial`` and ``lagrangian``, without its fallback.
    """

    kind: str
    units: Fraction
    certificate: dict[str, Any] | None = None


class CoverProgress:
    """The account of a run; values and bounds are in the caller's unit.

    Parameters
    ----------
    reduction : SetReduction
    grid : IntegerWeights
        How the costs came from the caller's.
    elapsed : callable
        Seconds since the operation started.
    on_progress : callable
        Called after every better value or bound, once there is a cover.

    Attributes
    ----------
    best, free, advised : CoverIncumbent
        Of everything, of the advice-free part, and of the advice part.
    history : list of HistoryEntry
    threshold_used : int or None
        Of the advice's cover that the best one came from.
    """

    def __init__(
        self, reduction: SetReduction, grid: IntegerWeights, elapsed: Callable[[], float], on_progress: Callable[[], None]
    ) -> None:
        self.reduction = reduction
        self.best, self.free, self.advised = CoverIncumbent(), CoverIncumbent(), CoverIncumbent()
        self.history: list[HistoryEntry] = []
        self.threshold_used: int | None = None
        self._start_threshold: int | None = None
        self._grid = grid
        self._elapsed = elapsed
        self._on_progress = on_progress
        self._bound = LowerBound("trivial", Fraction(0))
        self._prices: ExactPrices | None = None

    @property
    def is_integral(self) -> bool:
        """Whether the caller's costs are integers."""
        return self._grid.exponent <= 0 and self._grid.rounding == 0

    @property
    def rounding(self) -> float:
        """What values and bounds must allow for costs that were rounded."""
        return self._grid.rounding

    @property
    def value(self) -> float:
        """Cost of the cheapest cover."""
        return self._in_callers_unit(self.best.cost)

    @property
    def value_without_advice(self) -> float:
        """Cost of the advice-free part's cheapest cover."""
        return self._in_callers_unit(self.free.cost)

    @property
    def bound(self) -> float:
        """No cover costs less."""
        exact = self._bound.units / Fraction(2) ** self._grid.exponent
        if self.is_integral:
            return math.ceil(exact)
        lowered = exact - Fraction(self._grid.rounding)
        if lowered <= 0:
            return 0.0
        nearest = float(lowered)
        return nearest if Fraction(nearest) <= lowered else math.nextafter(nearest, -math.inf)

    @property
    def bound_kind(self) -> str:
        return self._bound.kind

    @property
    def is_optimal(self) -> bool:
        """Whether the cheapest cover meets the bound, whatever the rounding of its costs hides."""
        return self.best.cost is not None and self.proves(self.value + self.rounding)

    @property
    def is_settled(self) -> bool:
        """Whether the search has nothing left to find: with rounded costs the cheapest cover meets the bound."""
        return self.best.cost is not None and self._bound.units >= self.best.cost + self.reduction.constant

    def proves(self, value: float) -> bool:
        """Return whether a cost meets the bound: exactly for whole costs, to the relative tolerance for others."""
        bound = self.bound
        return value <= bound + (0.0 if self.is_integral else tolerance(value, bound, self._grid.lightest))

    @property
    def members(self) -> np.ndarray:
        """The cheapest cover of the whole instance."""
        assert self.best.members is not None
        return self.reduction.lift(self.best.members)

    def offer_free(self, members: np.ndarray, source: str) -> None:
        """Take a cover that was found without advice."""
        self.free.offer(members, self._cost(members), source)
        if self.offer(members, source):
            self.threshold_used = None

    def offer_advised(self, members: np.ndarray, source: str, threshold: int | None = None) -> None:
        """Take a cover that advice led to; local search from advice inherits the threshold of the cover it started from."""
        if self.advised.offer(members, self._cost(members), source) and source != "advice_local_search":
            self._start_threshold = threshold
        if self.offer(members, source):
            self.threshold_used = self._start_threshold

    def offer(self, members: np.ndarray, source: str) -> bool:
        """Take a cover of any origin; return whether it is better."""
        if not self.best.offer(members, self._cost(members), source):
            return False
        self._record(source)
        return True

    def offer_prices(self, prices: ExactPrices) -> None:
        """Take prices of the whole instance's elements."""
        if self._prices is None or Fraction(prices.value, prices.scale) > Fraction(self._prices.value, self._prices.scale):
            self._prices = prices
        if prices.value > 0:
            self.offer_bound(LowerBound("lagrangian", Fraction(prices.value, prices.scale)))

    def offer_bound(self, bound: LowerBound) -> None:
        """Take a bound on the whole instance."""
        before = self.bound
        if bound.units > self._bound.units:
            # Of two that say the same, the one that can be checked stays.
            kept, self._bound = self._bound, bound
            if self.bound <= before and bound.kind == "search":
                self._bound = kept
            elif self.bound > before and self.best.cost is not None:
                self._record(bound.kind)

    def certificate(self) -> dict[str, Any]:
        """Return the proof of the bound, for the caller's costs."""
        if self._bound.kind == "trivial":
            return {"kind": "trivial"}
        if self._bound.certificate is None:
            return self._price_certificate()
        if self._bound.kind != "search":
            return self._bound.certificate
        fallback = {"kind": "trivial"} if self._prices is None else self._price_certificate()
        return self._bound.certificate | {"fallback": fallback}

    def _price_certificate(self) -> dict[str, Any]:
        assert self._prices is not None
        scale = Fraction(self._prices.scale) * Fraction(2) ** self._grid.exponent
        # A power of two; as a float it is exact where it is no integer of moderate size.
        is_whole = scale.denominator == 1 and scale <= LARGEST_EXACT_FLOAT
        return {"kind": "lagrangian", "y": self._prices.prices.tolist(), "scale": int(scale) if is_whole else float(scale)}

    def _cost(self, members: np.ndarray) -> int:
        return self.reduction.kernel.cost_of(np.asarray(members, dtype=bool))

    def _in_callers_unit(self, cost: int | None) -> float:
        if cost is None:
            return math.inf
        whole = cost + self.reduction.constant
        return whole << -self._grid.exponent if self.is_integral else math.ldexp(whole, -self._grid.exponent)

    def _record(self, source: str) -> None:
        self.history.append(HistoryEntry(self._elapsed(), self.value, self.bound, source))
        self._on_progress()
