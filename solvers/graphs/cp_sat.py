"""Maximum cut by OR-Tools' CP-SAT: the exact finish of graphs that are neither tiny nor narrow.

One Boolean per vertex, one per edge. A positive edge counts only if its ends differ; a negative one counts unless they are equal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.components import connected_components
from solvers.graphs.csr import cut_value

# The solver reports objectives and bounds as floats; up to here they are exact.
LARGEST_SUM = 2**53
POLL_SECONDS = 0.05
EDGES_PER_POLL = 2000


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
        Seconds.
    deterministic_time_limit : float, optional
        In CP-SAT's own unit of work, about a second; the same limit and seed give the same answer.
    stop : callable, optional
        Asked about every 50 ms, from another thread.

    Returns
    -------
    CpSatAnswer or None
        None if the weights are too large to be counted exactly, or if told to stop before the search began.

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
    built = _model(num_vertices, ends, magnitudes // unit, hint, stop or _never)
    if built is None:
        return None
    model, vertices = built

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = max(0.0, time_limit)
    if deterministic_time_limit is not None:
        solver.parameters.max_deterministic_time = deterministic_time_limit
    with _stopping(solver, stop):
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


def _never() -> bool:
    return False


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

    counts, coefficients = [], []
    for row, ((u, v), weight) in enumerate(zip(edges.tolist(), weights.tolist(), strict=True)):
        if row % EDGES_PER_POLL == 0 and stop():
            return None
        if weight == 0:
            continue
        counted = model.new_bool_var("")
        model.add_hint(counted, int(hint[u] != hint[v]))
        if weight > 0:
            model.add_bool_or([~counted, vertices[u], vertices[v]])
            model.add_bool_or([~counted, ~vertices[u], ~vertices[v]])
        else:
            model.add_bool_or([counted, ~vertices[u], vertices[v]])
            model.add_bool_or([counted, vertices[u], ~vertices[v]])
        counts.append(counted)
        coefficients.append(weight)
    model.maximize(cp_model.LinearExpr.weighted_sum(counts, coefficients))
    return model, vertices


@contextmanager
def _stopping(solver: cp_model.CpSolver, stop: Callable[[], bool] | None) -> Iterator[None]:
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
