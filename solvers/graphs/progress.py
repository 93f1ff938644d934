"""What a run has found so far: the best solutions, the best bound, and how both came about."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.kernel import AnyKernel, SearchSpace
from solvers.graphs.result import tolerance
from solvers.graphs.upper_bound import UpperBound


class HistoryEntry(NamedTuple):
    """A better value or a better bound, when it came, and from where."""

    seconds: float
    value: float
    bound: float
    source: str


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


class Progress(Generic[AnyKernel]):
    """The account of a run; values are in the caller's unit and the problem's own sense.

    Parameters
    ----------
    space : SearchSpace
    elapsed : callable
        Seconds since the operation started.
    on_progress : callable
        Called after every better value or bound.
    sense : Sense

    Attributes
    ----------
    best, free, advised : Incumbent
        Of everything, of the advice-free part, and of the advice part.
    upper_bound : UpperBound
    history : list of HistoryEntry
    threshold_used : int or None
        Of the advice's solution that the best one came from.
    """

    def __init__(
        self,
        space: SearchSpace[AnyKernel],
        elapsed: Callable[[], float],
        on_progress: Callable[[], None],
        sense: Sense | None = None,
    ) -> None:
        is_exact = any(bound.kind != "trivial" for _, _, bound in space.settled.values())
        self.space = space
        self.best, self.free, self.advised = (Incumbent(space, "exact" if is_exact else "reductions") for _ in range(3))
        self.upper_bound = UpperBound(space)
        self.history: list[HistoryEntry] = []
        self.threshold_used: int | None = None
        self._sense = AsCounted() if sense is None else sense
        self._start_threshold: int | None = None
        self._elapsed = elapsed
        self._on_progress = on_progress

    @property
    def kernel(self) -> AnyKernel:
        return self.space.kernel

    @property
    def value(self) -> float:
        """Value of the best solution."""
        return self._sense.value(self.kernel.in_callers_unit(self.best.value + self.space.settled_value))

    @property
    def value_without_advice(self) -> float:
        """Value of the advice-free part's best solution."""
        return self._sense.value(self.kernel.in_callers_unit(self.free.value + self.space.settled_value))

    @property
    def bound(self) -> float:
        """No solution is better."""
        return self._sense.bound(self.upper_bound.value)

    @property
    def is_optimal(self) -> bool:
        """Whether the best solution meets the bound, whatever the rounding of its weights hides."""
        hidden = self.kernel.rounding
        return self.proves(self.value - hidden if self._sense.maximises else self.value + hidden)

    @property
    def is_settled(self) -> bool:
        """Whether the search has nothing left to find: with rounded weights the best solution meets the bound.

        Where weights are of very different sizes, what rounding may hide can keep the bound apart from the value all the same.
        """
        return math.fsum(bound.value for bound in self.upper_bound.parts) <= self.best.value

    def proves(self, value: float) -> bool:
        """Return whether a value meets the bound: exactly for whole weights, to the relative tolerance for others."""
        bound = self.bound
        slack = 0.0 if self.kernel.is_integral else tolerance(value, bound, self.kernel.lightest)
        return value >= bound - slack if self._sense.maximises else value <= bound + slack

    @property
    def sides(self) -> np.ndarray:
        """The best solution of the search on the caller's graph."""
        return self.kernel.lift(self.space.to_kernel(self.best.sides))

    def start(self) -> None:
        """Record what is known before any solution of the search space was offered."""
        self._record(self.best.source)

    def offer_free(self, sides: np.ndarray, source: str) -> None:
        """Take a solution that was found without advice."""
        self.free.offer(sides, source)
        if self.offer(sides, source):
            self.threshold_used = None

    def offer_advised(self, sides: np.ndarray, source: str, threshold: int | None = None) -> None:
        """Take a solution that advice led to; local search from advice inherits the threshold of the one it started from."""
        if self.advised.offer(sides, source) and source != "advice_local_search":
            self._start_threshold = threshold
        if self.offer(sides, source):
            self.threshold_used = self._start_threshold

    def offer(self, sides: np.ndarray, source: str) -> bool:
        """Take a solution of any origin; return whether it is better."""
        if not self.best.offer(sides, source):
            return False
        self._record(source)
        return True

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

    def _record(self, source: str) -> None:
        self.history.append(HistoryEntry(self._elapsed(), self.value, self.bound, source))
        self._on_progress()
