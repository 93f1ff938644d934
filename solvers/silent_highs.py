"""HiGHS without a word on standard output."""

from __future__ import annotations

from collections.abc import Callable

import highspy


class SilentHighs(highspy.Highs):
    """HiGHS on one thread that writes nothing to standard output, not even the banner of its constructor."""

    def __init__(self) -> None:
        super().__init__()
        self.setOptionValue("threads", 1)

    def enableCallbacks(self) -> None:
        self.silent()
        super().enableCallbacks()

    def end_simplex_when(self, stop: Callable[[], bool]) -> None:
        """Ask `stop` between simplex iterations, and end once it is true."""
        self.cbSimplexInterrupt.subscribe(lambda event: event.interrupt() if stop() else None)

    def end_search_when(self, stop: Callable[[], bool]) -> None:
        """Ask `stop` during a branch and bound and its linear programs, and end once it is true."""
        self.end_simplex_when(stop)
        self.cbMipInterrupt.subscribe(lambda event: event.interrupt() if stop() else None)
