"""Our integer programs in CP-SAT: the same columns and rows, with the objective scaled to whole numbers."""

from __future__ import annotations

import math

import numpy as np
from ortools.sat.python import cp_model

from auctions.domains.gsvm_mip import build_program as gsvm_program
from auctions.domains.instance import Instance
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.lsvm_mip import build_program as lsvm_program
from auctions.domains.mrvm_mip import LARGEST
from auctions.domains.mrvm_mip import build_program as mrvm_program
from auctions.domains.srvm_mip import build_program as srvm_program

# The largest coefficient of the objective: nine digits.
LARGEST_COEFFICIENT = 1e9


def program_of(instance: Instance) -> tuple[IntegerProgram, float]:
    """Return our program of an instance and what its objective has to be multiplied by."""
    everybody = list(range(instance.n_bidders))
    if instance.domain == "MRVM":
        highest = [float(np.maximum(instance.admissible(bidder), 0.0).max(axis=1).sum()) for bidder in everybody]
        scale = max(highest) / LARGEST
        return mrvm_program(instance, everybody, scale)[0], scale
    build = {"GSVM": gsvm_program, "LSVM": lsvm_program, "SRVM": srvm_program}[instance.domain]
    return build(instance, everybody)[0], 1.0


def solve(instance: Instance, time_limit: float) -> tuple[float, float, str | None]:
    """Return the welfare that CP-SAT finds on one thread, its bound, and what stopped it."""
    program, scale = program_of(instance)
    objective = program.objective
    unit = np.abs(objective).max() / LARGEST_COEFFICIENT
    model = cp_model.CpModel()
    # Columns that need no integrality may have it.
    columns = [model.new_int_var(0, int(upper), "") for upper in program.upper_bounds]
    for numbers, coefficients, lower, upper in program.rows():
        if len(numbers):
            total = cp_model.LinearExpr.weighted_sum(
                [columns[number] for number in numbers], np.rint(coefficients).astype(int).tolist()
            )
            low = int(lower) if np.isfinite(lower) else cp_model.INT_MIN
            high = int(upper) if np.isfinite(upper) else cp_model.INT_MAX
            model.add_linear_constraint(total, low, high)
    model.maximize(cp_model.LinearExpr.weighted_sum(columns, np.rint(objective / unit).astype(int).tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = time_limit
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        # Without a solution CP-SAT may have no bound either, and then tells 0.
        return 0.0, math.inf, "time_limit"
    found = np.array([solver.value(column) for column in columns])
    stopped_by = None if status == cp_model.OPTIMAL else "time_limit"
    # Rounding moves a coefficient by at most half a unit.
    slack = 0.5 * unit * len(objective)
    return scale * program.objective_of(found), scale * (unit * float(solver.best_objective_bound) + slack), stopped_by
