"""How a dynamic programme asks, between its steps, whether it may go on."""

from __future__ import annotations

import time

from auctions.outcome import SearchLimits, StoppedBy


class Stopped(Exception):
    """A limit ended the programme."""

    def __init__(self, stopped_by: StoppedBy) -> None:
        super().__init__(stopped_by)
        self.stopped_by = stopped_by


def stop_if_over(search: SearchLimits, started: float) -> None:
    """Raise :class:`Stopped` if a caller has cancelled, or if the time since `started` (`time.perf_counter`) is over the limit."""
    if search.cancelled():
        raise Stopped("cancelled")
    if time.perf_counter() - started > search.time_limit:
        raise Stopped("time_limit")
