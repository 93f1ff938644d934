"""What a run on a graph has found so far, component by component."""

from __future__ import annotations

import math
from typing import Any, Generic, Protocol

import numpy as np

from solvers.graphs.account import Account
from solvers.graphs.bound import Bound
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.kernel import AnyKernel, SearchSpace
from solvers.graphs.upper_bound import UpperBound


class Sense(Protocol):
    """How the problem's own values come from those of the search, which maximises."""

    maximises: bool

    def value(self, counted: float) -> float:
        """Return the value of a solution."""

    def bound(self, counted: float) -> float:
        """Return what an upper bound of the search proves."""


class AsCounted:
    """The problem is to maximise what the search maximises."""

    maximises = True

    def value(self, counted: float) -> float:
        return counted

    def bound(self, counted: float) -> float:
        return counted


class Complement:
    """The problem is to minimise the weight of what a solution of the search leaves out.

    Parameters
    ----------
    total : float
        The weight of everything: exact if `is_integral`, else correctly rounded.
    is_integral : bool
    """

    maximises = False

    def __init__(self, total: float, is_integral: bool) -> None:
        self._total = total
        self._is_integral = is_integral

    def value(self, counted: float) -> float:
        return self._total - counted

    def bound(self, counted: float) -> float:
        difference = self._total - counted
        if not self._is_integral:
            # Both roundings together move it by no more.
            difference -= 2 * math.ulp(max(self._total, abs(difference)))
        return max(0, difference)


class Progress(Account[Incumbent], Generic[AnyKernel]):
    """The account of a run on a graph.

    Parameters
    ----------
    space : SearchSpace
    sense : Sense

    Attributes
    ----------
    upper_bound : UpperBound
    """

    def __init__(
        self,
        space: SearchSpace[AnyKernel],
        sense: Sense | None = None,
    ) -> None:
        is_exact = any(bound.kind != "trivial" for _, _, bound in space.settled.values())
        self.space = space
        self.upper_bound = UpperBound(space)
        self._sense = AsCounted() if sense is None else sense
        super().__init__(
            lambda: Incumbent(space, "exact" if is_exact else "reductions"),
            maximises=self._sense.maximises,
            is_integral=space.kernel.is_integral,
            rounding=space.kernel.rounding,
            lightest=space.kernel.lightest,
        )

    @property
    def kernel(self) -> AnyKernel:
        return self.space.kernel

    def _value_of(self, incumbent: Incumbent) -> float:
        return self._sense.value(self.kernel.in_callers_unit(incumbent.value + self.space.settled_value))

    @property
    def bound(self) -> float:
        return self._sense.bound(self.upper_bound.value)

    @property
    def bound_kind(self) -> str:
        return self.upper_bound.kind

    def certificate(self) -> dict[str, Any]:
        return self.upper_bound.certificate()

    @property
    def is_settled(self) -> bool:
        return math.fsum(bound.value for bound in self.upper_bound.parts) <= self.best.value

    @property
    def sides(self) -> np.ndarray:
        """The best solution of the search on the caller's graph."""
        return self.kernel.lift(self.space.to_kernel(self.best.sides))

    def start(self) -> None:
        """Record what is known before any solution of the search space was offered."""
        self._record(self.best.source)

    def offer_part(self, part: int, sides: np.ndarray, source: str) -> bool:
        """Take a solution of one open component, by its place in `space.open`."""
        whole = self.best.sides.copy()
        whole[self.space.slices[part]] = sides
        return self.offer(whole, source)

    def offer_bound(self, part: int, bound: Bound) -> None:
        """Take a bound on one open component, by its place in `space.open`."""
        before = self.upper_bound.value
        if self.upper_bound.offer(part, bound) and self.upper_bound.value < before:
            self._record(bound.kind)
