"""OR-Tools' CP-SAT as the exact finish of all problems: one worker, until it is proved, or time is up, or told to stop.

A model has one Boolean per vertex or set, and an objective of whole numbers.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from ortools.sat.python import cp_model

# The solver reports objectives and bounds as floats; up to here they are exact.
LARGEST_SUM = 2**53

POLL_SECONDS = 0.05

SOLVER, VERSION = "cp-sat", version("ortools")

Stop = Callable[[], bool]


class Limits(NamedTuple):
    """When a search ends.

    Attributes
    ----------
    time_limit : float
        Seconds, those in which the model is built included.
    work : float or None
        In CP-SAT's own deterministic unit, up to a few seconds; the same limit and seed give the same answer.
    stop : callable
        Asked about every 50 ms, from another thread.
    """

    time_limit: float = math.inf
    work: float | None = None
    stop: Stop = lambda: False


UNLIMITED = Limits()


class Answer(NamedTuple):
    """What the solver found and proved.

    Attributes
    ----------
    values : bool array, or None
        Of the Booleans.
    bound : int or None
        Of the objective.
    branches : int
    """

    values: np.ndarray | None
    bound: int | None
    branches: int


class Search:
    """One search; its time begins before the model is built.

    Parameters
    ----------
    limits : Limits
    seed : int
    """

    def __init__(self, limits: Limits, seed: int) -> None:
        self._deadline = time.monotonic() + limits.time_limit
        self._limits = limits
        self._seed = seed

    def is_over(self) -> bool:
        """Return whether the model must not be built any further."""
        return time.monotonic() >= self._deadline or self._limits.stop()

    def solve(self, model: cp_model.CpModel, variables: list[cp_model.IntVar]) -> Answer:
        """Run the solver."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = self._seed % 2**31
        # With one worker the default leaves most of the linear relaxation out, and no bound comes of it.
        solver.parameters.linearization_level = 2
        # Steiner triples and other designs are proven by their symmetry or not at all.
        solver.parameters.symmetry_level = 4
        if math.isfinite(self._deadline):
            solver.parameters.max_time_in_seconds = max(0.0, self._deadline - time.monotonic())
        if self._limits.work is not None:
            solver.parameters.max_deterministic_time = self._limits.work
        with _stopping(solver, self._limits.stop):
            status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            # Without a solution the bound may be a 0 that means nothing.
            return Answer(None, None, solver.num_branches)
        values = np.array([solver.boolean_value(variable) for variable in variables], dtype=np.bool_)
        return Answer(values, round(solver.best_objective_bound), solver.num_branches)


def common_unit(weights: np.ndarray) -> int:
    """Return the greatest common divisor of some weights, of which every sum of them is a multiple.

    Examples
    --------
    >>> common_unit(np.array([6, -4])), common_unit(np.array([], dtype=int))
    (2, 1)
    """
    return max(1, int(np.gcd.reduce(weights))) if len(weights) else 1


@contextmanager
def _stopping(solver: cp_model.CpSolver, stop: Stop) -> Iterator[None]:
    """Stop the solver soon after `stop` first answers True."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            if stop():
                # Again and again: a call before the search has begun has no effect.
                solver.stop_search()

    watcher = threading.Thread(target=watch, name="cp-sat-stop", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
