"""Least-cost covers by branch and bound: HiGHS for what its linear programs are good at, CP-SAT for what only logic settles.

Neither proof can be checked again; certificates are of kind ``search`` with another one to fall back on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.metadata import version

import highspy
import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.cp_sat import LARGEST_SUM, SOLVER, UNLIMITED, VERSION, Limits, Search, common_unit
from solvers.graphs.incidence import Incidence
from solvers.graphs.lagrangian_bound import cover_model
from solvers.graphs.search_claim import SearchClaim
from solvers.silent_highs import SilentHighs

ROWS_PER_POLL = 2000

# HiGHS calls a solution optimal, and a number whole, within such tolerances.
ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE = 1e-6, 1e-9

Stop = Callable[[], bool]


def highs_cover(
    incidence: Incidence,
    hint: np.ndarray,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    node_limit: int | None = None,
    stop: Stop | None = None,
) -> SearchClaim:
    """Search for a least-cost cover by HiGHS' mixed-integer solver.

    Parameters
    ----------
    incidence : Incidence
        With at least one element; costs positive.
    hint : bool array of shape (n,)
        A cover; the answer is never worse.
    seed : int
    time_limit : float
        Seconds.
    node_limit : int, optional
        Nodes; the same limit and seed give the same answer.
    stop : callable, optional
        Asked now and then.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> odd = build_incidence(3, [0, 2, 4, 6], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> found = highs_cover(odd, np.array([True, True, True]))
    >>> found.value, found.bound
    (2, 2)
    """
    unit = common_unit(incidence.costs)
    solver = SilentHighs()
    solver.setOptionValue("random_seed", seed % 2**31)
    solver.setOptionValue("time_limit", max(0.0, time_limit))
    solver.setOptionValue("mip_rel_gap", 0.0)
    # Costs are whole multiples of the unit: a gap below one is none.
    solver.setOptionValue("mip_abs_gap", 1.0 - 1e-3)
    if node_limit is not None:
        solver.setOptionValue("mip_max_nodes", node_limit)
    if stop is not None:
        solver.end_search_when(stop)
    model = cover_model(incidence, unit=unit)
    model.col_upper_ = np.ones(incidence.num_sets)
    model.integrality_ = [highspy.HighsVarType.kInteger] * incidence.num_sets
    solver.passModel(model)
    start = highspy.HighsSolution()
    start.col_value = np.asarray(hint, dtype=np.float64).tolist()
    solver.setSolution(start)
    solver.run()

    members = np.array(hint, dtype=bool)
    values = np.asarray(solver.getSolution().col_value)
    if len(values) == incidence.num_sets:
        found = values > 0.5
        if incidence.is_covered_by(found) and incidence.cost_of(found) < incidence.cost_of(members):
            members = found
    info = solver.getInfo()
    bound = unit * _whole(info.mip_dual_bound)
    cost = incidence.cost_of(members)
    return SearchClaim(cost, members, min(bound, cost), max(0, int(info.mip_node_count)), "highs", version("highspy"))


def cp_sat_cover(incidence: Incidence, hint: np.ndarray, *, limits: Limits = UNLIMITED, seed: int = 0) -> SearchClaim | None:
    """Search for a least-cost cover by CP-SAT.

    Parameters
    ----------
    incidence, hint, seed
        As for :func:`highs_cover`.
    limits : Limits

    Returns
    -------
    SearchClaim or None
        None if out of time, or told to stop, before the search began, or if the costs are too large to be added exactly.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> odd = build_incidence(3, [0, 2, 4, 6], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> found = cp_sat_cover(odd, np.array([True, True, True]))
    >>> found.value, found.bound
    (2, 2)
    """
    if incidence.costs.sum() >= LARGEST_SUM:
        return None
    search = Search(limits, seed)
    members = np.array(hint, dtype=bool)
    unit = common_unit(incidence.costs)
    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(incidence.num_sets)]
    for variable, value in zip(chosen, members.tolist(), strict=True):
        model.add_hint(variable, value)
    for e in range(incidence.num_elements):
        if e % ROWS_PER_POLL == 0 and search.is_over():
            return None
        row = incidence.sets[incidence.element_ptr[e] : incidence.element_ptr[e + 1]]
        model.add_bool_or([chosen[j] for j in row.tolist()])
    model.minimize(cp_model.LinearExpr.weighted_sum(chosen, (incidence.costs // unit).tolist()))
    values, bound, branches = search.solve(model, chosen)

    if values is not None and incidence.cost_of(values) < incidence.cost_of(members):
        members = values
    cost = incidence.cost_of(members)
    return SearchClaim(cost, members, min(unit * max(0, bound or 0), cost), branches, SOLVER, VERSION)


def _whole(bound: float) -> int:
    """Return the least whole number that a bound in floating point surely allows."""
    if not math.isfinite(bound):
        return 0
    return max(0, math.ceil(bound - max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * abs(bound))))
