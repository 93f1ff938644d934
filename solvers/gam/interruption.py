"""How long loops ask whether to stop: after so much work, counted and not timed, so that asking changes no result.

Whoever is asked must go on saying yes once it has said so: what was interrupted is not taken up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

WORK_BETWEEN_ASKS = 50_000_000
"""Multiply-adds: some hundredths of a second."""

ShouldStop = Callable[[], bool]


class Interrupted(Exception):
    """A computation that is of no use before it ends was told to stop."""


def never() -> bool:
    """Return that there is no need to stop."""
    return False


def portions(number: int, work_of_one: int, should_stop: ShouldStop = never) -> Iterator[tuple[int, int]]:
    """Yield the first and the last but one of some equal pieces of work at a time, until all are done or it is time to stop.

    Parameters
    ----------
    number : int
        Pieces.
    work_of_one : int
        Multiply-adds of each.
    should_stop : callable
        Asked before every portion but the first.

    Examples
    --------
    >>> list(portions(5, WORK_BETWEEN_ASKS // 2))
    [(0, 2), (2, 4), (4, 5)]
    >>> list(portions(5, WORK_BETWEEN_ASKS // 2, lambda: True))
    [(0, 2)]
    """
    at_once = max(1, WORK_BETWEEN_ASKS // max(1, work_of_one))
    for first in range(0, number, at_once):
        if first and should_stop():
            return
        yield first, min(first + at_once, number)
