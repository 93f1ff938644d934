"""The heaviest independent set by OR-Tools' CP-SAT: the exact finish of sparse graphs that are neither tiny nor narrow.

One Boolean per vertex, and "at most one" of every clique of a greedy cover of the edges: to the linear relaxation, that says much
more than the edges one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.cp_sat import LARGEST_SUM, SOLVER, UNLIMITED, VERSION, Limits, Search, common_unit
from solvers.graphs.csr import build_csr
from solvers.graphs.edge_cliques import edge_clique_cover
from solvers.graphs.search_claim import SearchClaim

CLIQUES_PER_POLL = 2000


def cp_sat_independent_set(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    hint: np.ndarray,
    *,
    limits: Limits = UNLIMITED,
    seed: int = 0,
) -> SearchClaim | None:
    """Search for an independent set of largest weight until it is proved, or a limit is reached.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (n,)
        Positive.
    hint : bool array of shape (n,)
        A good independent set; the answer is never worse.
    limits : Limits
    seed : int

    Returns
    -------
    SearchClaim or None
        None if the weights are too large to be counted exactly, or if told to stop, or out of time, before the search began.

    Examples
    --------
    >>> path = cp_sat_independent_set(3, [[0, 1], [1, 2]], [1, 1, 1], np.zeros(3, bool))
    >>> path.value, path.bound, path.solution
    (2, 2, array([ True, False,  True]))
    """
    weight_of = np.asarray(weights, dtype=np.int64)
    members = np.array(hint, dtype=np.bool_)
    if weight_of.astype(np.float64).sum() >= LARGEST_SUM:
        return None
    search = Search(limits, seed)
    # Bounds are rounded down to a multiple of the common factor.
    unit = common_unit(weight_of)
    built = _model(np.asarray(edges, dtype=np.int32).reshape(-1, 2), weight_of // unit, members, search.is_over)
    if built is None:
        return None
    values, bound, branches = search.solve(*built)

    if values is not None and weight_of[values].sum() > weight_of[members].sum():
        members = values
    most = int(weight_of.sum())
    return SearchClaim(
        int(weight_of[members].sum()), members, most if bound is None else min(most, unit * bound), branches, SOLVER, VERSION
    )


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
