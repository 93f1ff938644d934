"""Maximum cut by OR-Tools' CP-SAT: the exact finish of graphs that are neither tiny nor narrow.

One Boolean per vertex, one per edge. A positive edge counts only if its ends differ; a negative one counts unless they are equal.
A cut meets every cycle in an even number of edges; short cycles are stated as such, since without them the linear relaxation says
next to nothing (F. Barahona and A. R. Mahjoub, "On the cut polytope", Mathematical Programming 36, 1986).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.components import connected_components
from solvers.graphs.csr import cut_value
from solvers.graphs.short_cycles import short_cycles

# The solver reports objectives and bounds as floats; up to here they are exact.
LARGEST_SUM = 2**53
POLL_SECONDS = 0.05
ROWS_PER_POLL = 2000
# A cycle of length k takes 2^(k - 1) clauses.
MOST_CYCLE_CLAUSES = 24_000


class CpSatAnswer(NamedTuple):
    """What CP-SAT found and proved.

    Attributes
    ----------
    value : int
    sides : int8 array of shape (n,)
    bound : int
        No cut is worth more, says the solver; nobody can check it again.
    optimal : bool
    branches : int
    """

    value: int
    sides: np.ndarray
    bound: int
    optimal: bool
    branches: int

    def certificate(self, fallback: dict[str, Any]) -> dict[str, Any]:
        """Return the certificate of kind ``search``, with one of another kind that can be checked."""
        return {
            "kind": "search",
            "solver": "cp-sat",
            "version": version("ortools"),
            "nodes": self.branches,
            "fallback": fallback,
        }


def cp_sat_max_cut(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    hint: np.ndarray,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    deterministic_time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> CpSatAnswer | None:
    """Search for a largest cut with one worker until it is proved, or time is up, or told to stop.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (m,)
        Of any sign.
    hint : int8 array of shape (n,)
        A good cut; the answer is never worse.
    seed : int
    time_limit : float, optional
        Seconds, those in which the model is built included.
    deterministic_time_limit : float, optional
        In CP-SAT's own unit of work, up to a few seconds; the same limit and seed give the same answer.
    stop : callable, optional
        Asked about every 50 ms, from another thread.

    Returns
    -------
    CpSatAnswer or None
        None if the weights are too large to be counted exactly, or if told to stop, or out of time, before the search began.

    Examples
    --------
    >>> triangle = cp_sat_max_cut(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1], np.zeros(3, np.int8))
    >>> triangle.value, triangle.bound, triangle.optimal
    (2, 2, True)
    """
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    magnitudes = np.asarray(weights, dtype=np.int64)
    hint = np.asarray(hint, dtype=np.int8)
    if np.abs(magnitudes.astype(np.float64)).sum() >= LARGEST_SUM:
        return None
    # Bounds are rounded down to a multiple of the common factor.
    unit = max(1, int(np.gcd.reduce(magnitudes))) if len(magnitudes) else 1
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    built = _model(
        num_vertices, ends, magnitudes // unit, hint, lambda: time.monotonic() >= deadline or (stop is not None and stop())
    )
    if built is None:
        return None
    model, vertices = built

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    # With one worker the default leaves most of the linear relaxation out, and no bound comes of it.
    solver.parameters.linearization_level = 2
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
    if deterministic_time_limit is not None:
        solver.parameters.max_deterministic_time = deterministic_time_limit
    with stopping(solver, stop):
        status = solver.solve(model)

    bound = int(np.maximum(magnitudes, 0).sum())
    sides, value = hint, cut_value(ends, magnitudes, hint)
    # Without a solution the solver's bound may be a 0 that means nothing.
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = min(bound, unit * round(solver.best_objective_bound))
        found = np.array([solver.boolean_value(vertex) for vertex in vertices], dtype=np.int8)
        found_value = cut_value(ends, magnitudes, found)
        if found_value > value:
            sides, value = found, found_value
    return CpSatAnswer(value, sides, bound, value == bound, solver.num_branches)


def _model(
    num_vertices: int, edges: np.ndarray, weights: np.ndarray, hint: np.ndarray, stop: Callable[[], bool]
) -> tuple[cp_model.CpModel, list[cp_model.IntVar]] | None:
    """Return the model and its Booleans for the vertices, or None when told to stop."""
    model = cp_model.CpModel()
    vertices = [model.new_bool_var("") for _ in range(num_vertices)]
    for vertex, side in zip(vertices, hint.tolist(), strict=True):
        model.add_hint(vertex, side)
    # Every component may be complemented; half of those cuts is enough.
    for v in np.unique(connected_components(num_vertices, edges), return_index=True)[1].tolist():
        model.add_bool_or([vertices[v] if hint[v] else ~vertices[v]])

    present = np.flatnonzero(weights)
    edges, weights = edges[present], weights[present]
    counts = []
    for row, ((u, v), weight) in enumerate(zip(edges.tolist(), weights.tolist(), strict=True)):
        if row % ROWS_PER_POLL == 0 and stop():
            return None
        counted = model.new_bool_var("")
        model.add_hint(counted, int(hint[u] != hint[v]))
        if weight > 0:
            model.add_bool_or([~counted, vertices[u], vertices[v]])
            model.add_bool_or([~counted, ~vertices[u], ~vertices[v]])
        else:
            model.add_bool_or([counted, ~vertices[u], vertices[v]])
            model.add_bool_or([counted, vertices[u], ~vertices[v]])
        counts.append(counted)
    num_clauses = 0
    for cycle in short_cycles(num_vertices, edges, stop=stop):
        num_clauses += 2 ** (len(cycle) - 1)
        if num_clauses > MOST_CYCLE_CLAUSES:
            break
        _forbid_odd_cuts(model, [counts[row] for row in cycle])
    model.maximize(cp_model.LinearExpr.weighted_sum(counts, weights.tolist()))
    return model, vertices


def _forbid_odd_cuts(model: cp_model.CpModel, cycle: list[cp_model.IntVar]) -> None:
    for size in range(1, len(cycle) + 1, 2):
        for cut in combinations(range(len(cycle)), size):
            model.add_bool_or([~edge if place in cut else edge for place, edge in enumerate(cycle)])


@contextmanager
def stopping(solver: cp_model.CpSolver, stop: Callable[[], bool] | None) -> Iterator[None]:
    """Stop the solver soon after `stop` first answers True."""
    if stop is None:
        yield
        return
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
