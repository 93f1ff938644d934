"""Least-cost covers by branch and bound: HiGHS for what its linear programs are good at, CP-SAT for what only logic settles.

Neither proof can be checked again; certificates are of kind ``search`` with another one to fall back on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import highspy
import numpy as np
from ortools.sat.python import cp_model

from solvers.graphs.cp_sat import stopping
from solvers.graphs.incidence import Incidence
from solvers.graphs.lagrangian_bound import cover_model
from solvers.graphs.silent_highs import SilentHighs

LARGEST_FLOAT_INTEGER = 2**53
ROWS_PER_POLL = 2000

# HiGHS calls a solution optimal, and a number whole, within such tolerances.
ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE = 1e-6, 1e-9

Stop = Callable[[], bool]


class ExactCover(NamedTuple):
    """What a search found and claims.

    Attributes
    ----------
    members : bool array of shape (n,)
    cost : int
    bound : int
        No cover costs less, says the solver.
    solver : str
        ``highs`` or ``cp-sat``.
    nodes : int
    """

    members: np.ndarray
    cost: int
    bound: int
    solver: str
    nodes: int

    @property
    def is_optimal(self) -> bool:
        return self.cost <= self.bound

    def certificate(self, fallback: dict[str, Any]) -> dict[str, Any]:
        """Return the certificate of kind ``search``, with one of another kind that can be checked."""
        package = {"highs": "highspy", "cp-sat": "ortools"}[self.solver]
        return {
            "kind": "search",
            "solver": self.solver,
            "version": version(package),
            "nodes": self.nodes,
            "fallback": fallback,
        }


def highs_cover(
    incidence: Incidence,
    hint: np.ndarray,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    node_limit: int | None = None,
    stop: Stop | None = None,
) -> ExactCover:
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
    >>> found.cost, found.bound
    (2, 2)
    """
    unit = _common_unit(incidence)
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
    return ExactCover(members, cost, min(bound, cost), "highs", max(0, int(info.mip_node_count)))


def cp_sat_cover(
    incidence: Incidence,
    hint: np.ndarray,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    deterministic_time_limit: float | None = None,
    stop: Stop | None = None,
) -> ExactCover | None:
    """Search for a least-cost cover by CP-SAT with one worker.

    Parameters
    ----------
    incidence, hint, seed, time_limit, stop
        As for :func:`highs_cover`.
    deterministic_time_limit : float, optional
        In CP-SAT's own unit of work, up to a few seconds; the same limit and seed give the same answer.

    Returns
    -------
    ExactCover or None
        None if out of time, or told to stop, before the search began, or if the costs are too large to be added exactly.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> odd = build_incidence(3, [0, 2, 4, 6], [0, 1, 1, 2, 0, 2], [1, 1, 1])
    >>> found = cp_sat_cover(odd, np.array([True, True, True]))
    >>> found.cost, found.bound
    (2, 2)
    """
    unit = _common_unit(incidence)
    if incidence.costs.sum() >= LARGEST_FLOAT_INTEGER:
        return None
    deadline = time.monotonic() + time_limit
    model = cp_model.CpModel()
    chosen = [model.new_bool_var("") for _ in range(incidence.num_sets)]
    for variable, value in zip(chosen, np.asarray(hint, dtype=bool).tolist(), strict=True):
        model.add_hint(variable, value)
    for e in range(incidence.num_elements):
        if e % ROWS_PER_POLL == 0 and (time.monotonic() >= deadline or (stop is not None and stop())):
            return None
        row = incidence.sets[incidence.element_ptr[e] : incidence.element_ptr[e + 1]]
        model.add_bool_or([chosen[j] for j in row.tolist()])
    model.minimize(cp_model.LinearExpr.weighted_sum(chosen, (incidence.costs // unit).tolist()))

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    # With one worker the default leaves the linear relaxation out, and no bound comes of it.
    solver.parameters.linearization_level = 2
    if math.isfinite(deadline):
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
    if deterministic_time_limit is not None:
        solver.parameters.max_deterministic_time = deterministic_time_limit
    with stopping(solver, stop):
        status = solver.solve(model)

    members, bound = np.array(hint, dtype=bool), 0
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = unit * max(0, round(solver.best_objective_bound))
        found = np.array([solver.boolean_value(variable) for variable in chosen], dtype=bool)
        if incidence.cost_of(found) < incidence.cost_of(members):
            members = found
    cost = incidence.cost_of(members)
    return ExactCover(members, cost, min(bound, cost), "cp-sat", solver.num_branches)


def _common_unit(incidence: Incidence) -> int:
    """Return the greatest common divisor of the costs, of which every cover's cost is a multiple."""
    return max(1, int(np.gcd.reduce(incidence.costs))) if incidence.num_sets else 1


def _whole(bound: float) -> int:
    """Return the least whole number that a bound in floating point surely allows."""
    if not math.isfinite(bound):
        return 0
    return max(0, math.ceil(bound - max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * abs(bound))))
