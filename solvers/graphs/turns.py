"""Parts of a search that take turns, each with its own allowance of iterations or seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from solvers.graphs.run_clock import RunClock

FIRST_SLICE = 1 / 64
"""Share of its allowance that a part has in the first round; slices double from round to round."""


@dataclass
class Allowance:
    """What a part may still spend: iterations, or seconds at the speed seen so far.

    Parameters
    ----------
    iterations : float
    seconds : float
    """

    iterations: float = math.inf
    seconds: float = math.inf
    spent_iterations: int = field(default=0, init=False)
    spent_seconds: float = field(default=0.0, init=False)

    @property
    def share(self) -> float:
        """Share of the allowance that is spent, in [0, 1] while something is left."""
        return max(self.spent_iterations / self.iterations, self.spent_seconds / self.seconds if self.seconds > 0 else 1.0)

    @property
    def is_spent(self) -> bool:
        return self.share >= 1

    def charge(self, iterations: int) -> None:
        """Count iterations as soon as they are done; `Turns` counts the seconds."""
        self.spent_iterations += iterations

    def fits(self, iterations: int) -> int:
        """Return how many of `iterations` are likely to fit into what is left, at least 1."""
        left = self.iterations - self.spent_iterations
        if math.isfinite(self.seconds) and self.spent_iterations and self.spent_seconds:
            left = min(left, (self.seconds - self.spent_seconds) * self.spent_iterations / self.spent_seconds)
        return max(1, int(min(iterations, left)))


class Turns:
    """The parts of one search at work.

    Parameters
    ----------
    parts : list of (iterator, Allowance)
        A part charges its allowance with the iterations of each piece of its work, then yields.
    clock : RunClock
    must_stop : callable
        Whether there is a reason to end the run.
    """

    def __init__(self, parts: list[tuple[Iterator[None], Allowance]], clock: RunClock, must_stop: Callable[[], bool]) -> None:
        self._parts = parts
        self._clock = clock
        self._must_stop = must_stop

    def rounds(self) -> Iterator[None]:
        """Let every part work in turn, longer in every round, until all is spent; yield after each round."""
        share = FIRST_SLICE
        while not all(allowance.is_spent for _, allowance in self._parts):
            for work, allowance in self._parts:
                self._spend(work, allowance, min(share, 1.0))
                if self._must_stop():
                    break
            self._clock.lap("search")
            yield
            share *= 2

    def give(self, seconds: float) -> None:
        """Add to the allowances, in equal parts, or take from them if negative."""
        for _, allowance in self._parts:
            allowance.seconds += seconds / len(self._parts)

    def _spend(self, work: Iterator[None], allowance: Allowance, share: float) -> None:
        while allowance.share < share and not self._must_stop():
            started = time.monotonic()
            next(work)
            allowance.spent_seconds += time.monotonic() - started
        self._clock.decided |= not self._clock.counts_iterations
