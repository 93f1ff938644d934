"""What a solver is to the benchmark: prepared outside the time, then asked for an answer within it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.instances import Members
from solvers.graphs.result import GraphResult

# The next run of a method that looks at no clock is started if this share of the time left is as long as it should take.
SHARE_THAT_FITS = 0.97


class Answer(NamedTuple):
    """A solution, its value as the solver counts it, and a bound of the optimum, if the solver proves one."""

    members: Members | None
    claimed: float | None = None
    bound: float | None = None


Solve: TypeAlias = Callable[[int, float], Answer]
"""From a seed and a limit in seconds to an answer."""


class Solver(NamedTuple):
    """A solver of one problem.

    Attributes
    ----------
    prepare : callable
        From a Graph or SetSystem to the run itself: imports and compiles. Models are built by the run.
    package : str
        The distribution that its version is that of.
    is_random : bool
        Whether it is run with every seed, or once.
    looks_at_clock : bool
        A solver that does not is stopped at its limit.
    fallback : str, optional
        The solver that has the time once more if this one had to be stopped or failed, and stands for it.
    """

    prepare: Callable[[Any], Solve]
    package: str
    is_random: bool = False
    looks_at_clock: bool = True
    fallback: str | None = None


class Clock:
    """The time that a run has."""

    def __init__(self, limit: float) -> None:
        self._until = time.monotonic() + limit

    @property
    def left(self) -> float:
        return max(0.0, self._until - time.monotonic())


def repeated(attempt: Callable[[], tuple[float, Any]], limit: float) -> tuple[float, Any]:
    """Return the highest of what attempts yield, as many as fit into the time and at least one."""
    clock = Clock(limit)
    best, longest = (-math.inf, None), 0.0
    while longest <= SHARE_THAT_FITS * clock.left:
        before = clock.left
        score, found = attempt()
        longest = max(longest, before - clock.left)
        if best[1] is None or score > best[0]:
            best = score, found
    return best


def own_answer(result: GraphResult, size: int) -> Answer:
    """Return what a problem other than MaxCut was answered."""
    return Answer(members_of(np.array(result.solution, np.int64) - result.index_base, size), result.value, result.bound)


def members_of(positions: Any, size: int) -> Members:
    """Return a set of positions as an array of 0 and 1."""
    members = np.zeros(size, np.int8)
    members[list(positions)] = 1
    return members
