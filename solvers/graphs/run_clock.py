"""The time of one run: an absolute deadline, what is kept back for the answer, and where the time went."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from solvers.operation import Context

# Kept back for lifting, checking and writing the answer: seconds per vertex or edge, and a share of the time limit.
FINISH_SECONDS_PER_ITEM, FINISH_SHARE = 3e-7, 0.01
LONGEST_FINISH_SHARE_OF = 60.0


class RunClock:
    """Tells a run's stages when to end.

    Parameters
    ----------
    context : Context
    time_limit : float
        Seconds from the start of the context; its own deadline may be earlier.
    size : int
        Vertices and edges of the answer that must be written in the end.
    counts_iterations : bool
        Whether stages end by iterations, so that the clock only guards.

    Attributes
    ----------
    deadline : float
        On the clock of `time.monotonic`: when stages must have ended.
    total : float
        Seconds from the start of the run to the deadline.
    decided : bool
        Whether the clock ended any stage, so that another run may end elsewhere.
    timings : dict of str to float
        Seconds per stage; the first, ``reading``, is all that came before the run.
    """

    def __init__(self, context: Context, *, time_limit: float, size: int, counts_iterations: bool) -> None:
        self.counts_iterations = counts_iterations
        self.decided = False
        self.timings: dict[str, float] = {"reading": context.elapsed}
        self._context = context
        self._lap_started = time.monotonic()
        end = min(context.deadline, context.started + time_limit)
        left = max(0.0, end - self._lap_started)
        self.deadline = end - FINISH_SHARE * min(left, LONGEST_FINISH_SHARE_OF) - FINISH_SECONDS_PER_ITEM * size
        self.total = self.deadline - self._lap_started

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def elapsed(self) -> float:
        """Seconds since the operation started."""
        return self._context.elapsed

    @property
    def cancelled(self) -> bool:
        return self._context.cancelled

    def is_over(self) -> bool:
        """Return whether the run must end, and remember it if so."""
        if not (self._context.cancelled or time.monotonic() >= self.deadline):
            return False
        self.decided = True
        return True

    def reason_to_stop(self) -> str | None:
        """Return ``cancelled`` or ``time_limit`` if the run must end, else None."""
        if not self.is_over():
            return None
        return "cancelled" if self.cancelled else "time_limit"

    def how_it_ended(self, reason: str | None, *, searched: bool) -> str:
        """Return why a run ended: the reason to stop, the search's spent allowance, or that nothing was left to do."""
        if reason is not None:
            return reason
        if searched:
            return "max_iterations" if self.counts_iterations else "time_limit"
        return "completed"

    def end_of_share(self, share: float) -> float:
        """Return when a stage that starts now has used a share of the time; infinite where the clock only guards."""
        return math.inf if self.counts_iterations else time.monotonic() + share * self.total

    def after(self, share: float) -> Callable[[], bool]:
        """Return what tells a stage that starts now that it has used its share."""
        until = self.end_of_share(share)

        def is_used() -> bool:
            if time.monotonic() < until:
                return self.is_over()
            self.decided = True
            return True

        return is_used

    def lap(self, stage: str) -> None:
        """Charge the time since the last lap to a stage."""
        now = time.monotonic()
        self.timings[stage] = self.timings.get(stage, 0.0) + now - self._lap_started
        self._lap_started = now
