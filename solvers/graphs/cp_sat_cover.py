"""The heaviest independent set by OR-Tools' CP-SAT: the exact finish of sparse graphs that are neither tiny nor narrow.

One Boolean per vertex, and "at most one" of every clique of a greedy cover of the edges: to the linear relaxation, that says much
more than the edges one by one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.cp_sat import LARGEST_SUM, stopping
from solvers.graphs.csr import build_csr
from solvers.graphs.edge_cliques import edge_clique_cover
from solvers.graphs.independent_search import IndependentSearch

CLIQUES_PER_POLL = 2000


def cp_sat_independent_set(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    hint: np.ndarray,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    deterministic_time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> IndependentSearch | None:
    """Search for an independent set of largest weight with one worker until it is proved, or time is up, or told to stop.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (n,)
        Positive.
    hint : bool array of shape (n,)
        A good independent set; the answer is never worse.
    seed : int
    time_limit : float, optional
        Seconds, those in which the model is built included.
    deterministic_time_limit : float, optional
        In CP-SAT's own unit of work, up to a few seconds; the same limit and seed give the same answer.
    stop : callable, optional
        Asked about every 50 ms, from another thread.

    Returns
    -------
    IndependentSearch or None
        None if the weights are too large to be counted exactly, or if told to stop, or out of time, before the search began.

    Examples
    --------
    >>> path = cp_sat_independent_set(3, [[0, 1], [1, 2]], [1, 1, 1], np.zeros(3, bool))
    >>> path.value, path.bound, path.members
    (2, 2, array([ True, False,  True]))
    """
    weight_of = np.asarray(weights, dtype=np.int64)
    members = np.array(hint, dtype=np.bool_)
    if weight_of.astype(np.float64).sum() >= LARGEST_SUM:
        return None
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    ends = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
    # Bounds are rounded down to a multiple of the common factor.
    unit = max(1, int(np.gcd.reduce(weight_of))) if num_vertices else 1
    built = _model(ends, weight_of // unit, members, lambda: time.monotonic() >= deadline or (stop is not None and stop()))
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

    bound, value = int(weight_of.sum()), int(weight_of[members].sum())
    # Without a solution the solver's bound may be a 0 that means nothing.
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = min(bound, unit * round(solver.best_objective_bound))
        found = np.array([solver.boolean_value(vertex) for vertex in vertices], dtype=np.bool_)
        if weight_of[found].sum() > value:
            members, value = found, int(weight_of[found].sum())
    return IndependentSearch(value, members, bound, solver.num_branches, "cp-sat", version("ortools"))


def _model(
    edges: np.ndarray, weights: np.ndarray, hint: np.ndarray, stop: Callable[[], bool]
) -> tuple[cp_model.CpModel, list[cp_model.IntVar]] | None:
    """Return the model and its Booleans for the vertices, or None when told to stop."""
    cliques = edge_clique_cover(build_csr(len(weights), edges, np.ones(len(edges), np.int64)), stop=stop)
    if cliques is None:
        return None
    model = cp_model.CpModel()
    vertices = [model.new_bool_var("") for _ in range(len(weights))]
    for vertex, is_member in zip(vertices, hint.tolist(), strict=True):
        model.add_hint(vertex, is_member)
    for number, clique in enumerate(cliques):
        if number % CLIQUES_PER_POLL == 0 and stop():
            return None
        model.add_at_most_one([vertices[v] for v in clique])
    model.maximize(cp_model.LinearExpr.weighted_sum(vertices, weights.tolist()))
    return model, vertices
