"""What a MaxCut run has found so far: the best cuts, the least bound, and how both came about."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.kernel import Kernel, SearchSpace
from solvers.graphs.upper_bound import UpperBound

RELATIVE_TOLERANCE = 1e-9


class HistoryEntry(NamedTuple):
    """A better value or a better bound, when it came, and from where."""

    seconds: float
    value: float
    bound: float
    source: str


class Progress:
    """The account of a run; values are in the caller's unit.

    Parameters
    ----------
    space : SearchSpace
    elapsed : callable
        Seconds since the operation started.
    on_progress : callable
        Called after every better value or bound.

    Attributes
    ----------
    best, free, advised : Incumbent
        Of everything, of the advice-free part, and of the advice part.
    upper_bound : UpperBound
    history : list of HistoryEntry
    threshold_used : int or None
        Of the advice's cut that the best one came from.
    """

    def __init__(self, space: SearchSpace, elapsed: Callable[[], float], on_progress: Callable[[], None]) -> None:
        is_exact = any(bound.kind != "trivial" for _, _, bound in space.settled.values())
        self.space = space
        self.best, self.free, self.advised = (Incumbent(space, "exact" if is_exact else "reductions") for _ in range(3))
        self.upper_bound = UpperBound(space)
        self.history: list[HistoryEntry] = []
        self.threshold_used: int | None = None
        self._start_threshold: int | None = None
        self._elapsed = elapsed
        self._on_progress = on_progress

    @property
    def kernel(self) -> Kernel:
        return self.space.kernel

    @property
    def value(self) -> float:
        """Value of the best cut."""
        return self.kernel.in_callers_unit(self.best.value + self.space.settled_value)

    @property
    def value_without_advice(self) -> float:
        """Value of the advice-free part's best cut."""
        return self.kernel.in_callers_unit(self.free.value + self.space.settled_value)

    @property
    def bound(self) -> float:
        """No cut is worth more."""
        return self.upper_bound.value

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound agree: exactly for whole weights, to `RELATIVE_TOLERANCE` for others."""
        slack = 0.0 if self.kernel.is_integral else RELATIVE_TOLERANCE * max(1.0, abs(self.bound))
        return self.value >= self.bound - slack

    @property
    def sides(self) -> np.ndarray:
        """The best cut of the caller's graph."""
        return self.kernel.lift(self.space.to_kernel(self.best.sides))

    def start(self) -> None:
        """Record what is known before any cut of the search space was offered."""
        self._record(self.best.source)

    def offer_free(self, sides: np.ndarray, source: str) -> None:
        """Take a cut that was found without advice."""
        self.free.offer(sides, source)
        if self.offer(sides, source):
            self.threshold_used = None

    def offer_advised(self, sides: np.ndarray, source: str, threshold: int | None = None) -> None:
        """Take a cut that advice led to; local search from advice inherits the threshold of the cut it started from."""
        if self.advised.offer(sides, source) and source != "advice_local_search":
            self._start_threshold = threshold
        if self.offer(sides, source):
            self.threshold_used = self._start_threshold

    def offer(self, sides: np.ndarray, source: str) -> bool:
        """Take a cut of any origin; return whether it is better."""
        if not self.best.offer(sides, source):
            return False
        self._record(source)
        return True

    def offer_part(self, part: int, sides: np.ndarray, source: str) -> bool:
        """Take a cut of one open component, by its place in `space.open`."""
        whole = self.best.sides.copy()
        whole[self.space.slices[part]] = sides
        return self.offer(whole, source)

    def offer_bound(self, part: int, bound: Bound) -> None:
        """Take a bound on one open component, by its place in `space.open`."""
        before = self.bound
        if self.upper_bound.offer(part, bound) and self.bound < before:
            self._record(bound.kind)

    def _record(self, source: str) -> None:
        self.history.append(HistoryEntry(self._elapsed(), self.value, self.bound, source))
        self._on_progress()
