"""What the phases compute with: limits on searches, a way to spread work, and the time it took.

None of it may change an answer. Seconds are kept here, not in the log, so that two runs of an auction have the same log.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from auctions.outcome import SearchLimits, never

Part = Literal["training", "search", "wdp"]
PARTS: tuple[Part, ...] = ("training", "search", "wdp")
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(eq=False)
class Workbench:
    """Tools of an auction's computations.

    Attributes
    ----------
    map : callable
        Applies a function of the module's top level to items, in order; a process pool's `map` spreads the training of the bidders.
    cancelled : callable
        Asked from time to time.
    seconds : dict
        Wall-clock time per part.
    deterministic : bool
        False once a search was ended by the clock or a caller.
    """

    map: Map = map
    cancelled: Callable[[], bool] = never
    seconds: dict[Part, float] = field(default_factory=lambda: defaultdict(float))
    deterministic: bool = True

    @contextmanager
    def timed(self, part: Part) -> Iterator[None]:
        """Count the time of a block towards a part."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += time.perf_counter() - started

    def limits(self, node_limit: int | None, time_limit: float, gap: float = 1e-6) -> SearchLimits:
        """Return the limits of one search."""
        return SearchLimits(gap=gap, node_limit=node_limit, time_limit=time_limit, cancelled=self.cancelled)
