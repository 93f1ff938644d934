"""What a set cover run has found so far: the cheapest covers, the greatest bound, and how both came about."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.account import Account
from solvers.graphs.integer_weights import IntegerWeights
from solvers.graphs.lagrangian_bound import ExactPrices
from solvers.graphs.set_reductions import SetReduction

LARGEST_EXACT_FLOAT = 2**53


class CoverIncumbent:
    """The cheapest cover of the kernel that was offered.

    Parameters
    ----------
    cost_of : callable
        Of a cover, given as its mask.

    Attributes
    ----------
    members : bool array of shape (kernel sets,), or None
    cost : int or None
        In grid units, of the kernel alone; None before the first offer.
    source : str
        The stage that first produced this cost.
    """

    def __init__(self, cost_of: Callable[[np.ndarray], int]) -> None:
        self._cost_of = cost_of
        self.members: np.ndarray | None = None
        self.cost: int | None = None
        self.source = "reductions"

    def offer(self, members: np.ndarray, source: str) -> bool:
        """Take the cover over if it is cheaper; return whether it is."""
        members = np.array(members, dtype=bool)
        cost = self._cost_of(members)
        if self.cost is not None and cost >= self.cost:
            return False
        self.members, self.cost, self.source = members, cost, source
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


class CoverProgress(Account[CoverIncumbent]):
    """The account of a run; bounds are recorded once there is a cover.

    Parameters
    ----------
    reduction : SetReduction
    grid : IntegerWeights
        How the costs came from the caller's.
    """

    def __init__(self, reduction: SetReduction, grid: IntegerWeights) -> None:
        self.reduction = reduction
        self._grid = grid
        self._bound = LowerBound("trivial", Fraction(0))
        self._prices: ExactPrices | None = None
        super().__init__(
            lambda: CoverIncumbent(reduction.kernel.cost_of),
            maximises=False,
            is_integral=grid.exponent <= 0 and grid.rounding == 0,
            rounding=grid.rounding,
            lightest=grid.lightest,
        )

    def _value_of(self, incumbent: CoverIncumbent) -> float:
        if incumbent.cost is None:
            return math.inf
        whole = incumbent.cost + self.reduction.constant
        return whole << -self._grid.exponent if self.is_integral else math.ldexp(whole, -self._grid.exponent)

    @property
    def bound(self) -> float:
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
    def is_settled(self) -> bool:
        return self.best.cost is not None and self._bound.units >= self.best.cost + self.reduction.constant

    @property
    def members(self) -> np.ndarray:
        """The cheapest cover of the whole instance."""
        assert self.best.members is not None
        return self.reduction.lift(self.best.members)

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
