"""Maximum cut by OR-Tools' CP-SAT: the exact finish of graphs that are neither tiny nor narrow.

One Boolean per vertex, one per edge. A positive edge counts only if its ends differ; a negative one counts unless they are equal.
A cut meets every cycle in an even number of edges; short cycles are stated as such, since without them the linear relaxation says
next to nothing (F. Barahona and A. R. Mahjoub, "On the cut polytope", Mathematical Programming 36, 1986).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.components import connected_components
from solvers.graphs.cp_sat import LARGEST_SUM, SOLVER, UNLIMITED, VERSION, Limits, Search, common_unit
from solvers.graphs.csr import cut_value
from solvers.graphs.search_claim import SearchClaim
from solvers.graphs.short_cycles import short_cycles

ROWS_PER_POLL = 2000
# A cycle of length k takes 2^(k - 1) clauses.
MOST_CYCLE_CLAUSES = 24_000


def cp_sat_max_cut(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    hint: np.ndarray,
    *,
    limits: Limits = UNLIMITED,
    seed: int = 0,
) -> SearchClaim | None:
    """Search for a largest cut with one worker until it is proved, or a limit is reached.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (m,)
        Of any sign.
    hint : int8 array of shape (n,)
        A good cut; the answer is never worse.
    limits : Limits
    seed : int

    Returns
    -------
    SearchClaim or None
        None if the weights are too large to be counted exactly, or if told to stop, or out of time, before the search began.

    Examples
    --------
    >>> triangle = cp_sat_max_cut(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1], np.zeros(3, np.int8))
    >>> triangle.value, triangle.bound, triangle.is_optimal
    (2, 2, True)
    """
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    magnitudes = np.asarray(weights, dtype=np.int64)
    hint = np.asarray(hint, dtype=np.int8)
    if np.abs(magnitudes.astype(np.float64)).sum() >= LARGEST_SUM:
        return None
    search = Search(limits, seed)
    # Bounds are rounded down to a multiple of the common factor.
    unit = common_unit(magnitudes)
    built = _model(num_vertices, ends, magnitudes // unit, hint, search.is_over)
    if built is None:
        return None
    values, bound, branches = search.solve(*built)

    sides, value = hint, cut_value(ends, magnitudes, hint)
    found_value = 0 if values is None else cut_value(ends, magnitudes, values)
    if values is not None and found_value > value:
        sides, value = values.astype(np.int8), found_value
    most = int(np.maximum(magnitudes, 0).sum())
    return SearchClaim(value, sides, most if bound is None else min(most, unit * bound), branches, SOLVER, VERSION)


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
