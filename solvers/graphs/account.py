"""What a run has found so far, whatever its problem: the best solutions, the best bound, and how both came about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from solvers.graphs.result import tolerance


class HistoryEntry(NamedTuple):
    """A better value or a better bound, when it came, and from where."""

    seconds: float
    value: float
    bound: float
    source: str


class Best(Protocol):
    """Keeps the best solution that it is offered.

    Attributes
    ----------
    source : str
        The stage that first produced this value.
    """

    source: str

    def offer(self, solution: np.ndarray, source: str) -> bool:
        """Take the solution over if it is better; return whether it is."""


AnyBest = TypeVar("AnyBest", bound=Best)


class Account(ABC, Generic[AnyBest]):
    """The account of a run; values and bounds are in the caller's unit and the problem's own sense.

    Parameters
    ----------
    incumbent : callable
        Makes what keeps the best solution.
    maximises : bool
    is_integral : bool
        Whether the caller's weights are integers.
    rounding : float
        By how much a value or a bound may be off for weights that were rounded.
    lightest : float
        Least magnitude of a weight that is not 0.

    Attributes
    ----------
    best, free, advised
        The incumbents of everything, of the advice-free part, and of the advice part.
    history : list of HistoryEntry
    threshold_used : int or None
        Of the advice's solution that the best one came from.
    """

    def __init__(
        self,
        incumbent: Callable[[], AnyBest],
        *,
        maximises: bool,
        is_integral: bool,
        rounding: float,
        lightest: float,
    ) -> None:
        self.best, self.free, self.advised = incumbent(), incumbent(), incumbent()
        self.maximises = maximises
        self.is_integral = is_integral
        self.rounding = rounding
        self._lightest = lightest
        self.history: list[HistoryEntry] = []
        self.threshold_used: int | None = None
        self._start_threshold: int | None = None
        self._elapsed: Callable[[], float] = lambda: 0.0
        self._on_progress: Callable[[], None] = lambda: None

    def tell(self, elapsed: Callable[[], float], on_progress: Callable[[], None]) -> None:
        """Take the time of every entry from `elapsed`, and call `on_progress` after it."""
        self._elapsed, self._on_progress = elapsed, on_progress

    @abstractmethod
    def _value_of(self, incumbent: AnyBest) -> float:
        """Return the value of an incumbent."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """No solution is better."""

    @property
    @abstractmethod
    def bound_kind(self) -> str:
        """The kind of :meth:`certificate`, as far as it is known before that is made."""

    @abstractmethod
    def certificate(self) -> dict[str, Any]:
        """Return the proof of the bound."""

    @property
    def value(self) -> float:
        """Value of the best solution."""
        return self._value_of(self.best)

    @property
    def value_without_advice(self) -> float:
        """Value of the advice-free part's best solution."""
        return self._value_of(self.free)

    def reaches(self, value: float) -> bool:
        """Return whether the best solution is at least as good as a value."""
        return self.value >= value if self.maximises else self.value <= value

    @property
    def is_optimal(self) -> bool:
        """Whether the best solution meets the bound, whatever the rounding of its weights hides."""
        return self.proves(self.value - self.rounding if self.maximises else self.value + self.rounding)

    def proves(self, value: float) -> bool:
        """Return whether a value meets the bound: exactly for whole weights, to the relative tolerance for others."""
        bound = self.bound
        slack = 0.0 if self.is_integral else tolerance(value, bound, self._lightest)
        return value >= bound - slack if self.maximises else value <= bound + slack

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether nothing is left to find: with rounded weights the best solution meets the bound.

        Where weights are of very different sizes, what rounding may hide can keep the bound apart from the value all the same.
        """

    def require_agreement(self, value: float, slack: float) -> None:
        """Refuse an answer whose recomputed value this account, or its bound, contradicts."""
        excess = value - self.bound if self.maximises else self.bound - value
        if abs(value - self.value) > slack or excess > slack:
            raise AssertionError(f"the solution is worth {value}, the search counted {self.value}, bounded by {self.bound}")

    def offer_free(self, solution: np.ndarray, source: str) -> None:
        """Take a solution that was found without advice."""
        self.free.offer(solution, source)
        if self.offer(solution, source):
            self.threshold_used = None

    def offer_advised(self, solution: np.ndarray, source: str, threshold: int | None = None) -> None:
        """Take a solution that advice led to; local search from advice inherits the threshold of the one it started from."""
        if self.advised.offer(solution, source) and source != "advice_local_search":
            self._start_threshold = threshold
        if self.offer(solution, source):
            self.threshold_used = self._start_threshold

    def offer(self, solution: np.ndarray, source: str) -> bool:
        """Take a solution of any origin; return whether it is better."""
        if not self.best.offer(solution, source):
            return False
        self._record(source)
        return True

    def _record(self, source: str) -> None:
        self.history.append(HistoryEntry(self._elapsed(), self.value, self.bound, source))
        self._on_progress()
