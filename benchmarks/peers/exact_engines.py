"""CP-SAT and HiGHS with one thread, asked for the 0/1 variables of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.solver import Answer, Clock


def solve_with_cp_sat(model: Any, variables: Sequence[Any], seed: int, clock: Clock, **parameters: Any) -> Answer:
    """Return what CP-SAT has of a model when it ends."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_time_in_seconds = clock.left
    for name, setting in parameters.items():
        setattr(solver.parameters, name, setting)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None)
    found = np.array([solver.value(variable) for variable in variables], np.int8)
    return Answer(found, solver.objective_value, solver.best_objective_bound)


class Rows(NamedTuple):
    """Linear constraints, row by row: the positions and coefficients of the columns in row i start at ``begins[i]``."""

    lower: np.ndarray
    upper: np.ndarray
    begins: np.ndarray
    columns: np.ndarray
    coefficients: np.ndarray


def rows_of_ones(groups: Sequence[Sequence[int]], lower: float, upper: float) -> Rows:
    """Return a constraint on the sum of the variables of each group."""
    count, sizes = len(groups), [len(group) for group in groups]
    return Rows(
        np.full(count, lower),
        np.full(count, upper),
        np.cumsum([0, *sizes[:-1]]).astype(np.int32),
        np.concatenate(groups).astype(np.int32),
        np.ones(sum(sizes)),
    )


def solve_with_highs(objective: np.ndarray, rows: Rows, maximise: bool, size: int, seed: int, clock: Clock) -> Answer:
    """Return what HiGHS has of the model in 0/1 variables when it ends; the first `size` are the answer."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(objective), len(rows.lower)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = objective.astype(float), np.zeros(len(objective)), np.ones(len(objective))
    lp.row_lower_, lp.row_upper_ = rows.lower, rows.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.append(rows.begins, len(rows.columns)).astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.columns, rows.coefficients
    lp.integrality_ = [highspy.HighsVarType.kInteger] * len(objective)
    lp.sense_ = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize

    engine = highspy.Highs()
    engine.silent()
    engine.setOptionValue("threads", 1)
    engine.setOptionValue("random_seed", seed)
    engine.passModel(lp)
    engine.setOptionValue("time_limit", clock.left)
    engine.run()
    found = engine.getInfo()
    bound = found.mip_dual_bound if np.isfinite(found.mip_dual_bound) else None
    if found.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return Answer(None, bound=bound)
    values = np.array(engine.getSolution().col_value[:size])
    return Answer(np.round(values).astype(np.int8), found.objective_function_value, bound)
