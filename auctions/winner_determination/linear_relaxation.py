"""The linear relaxation of winner determination: its dual prices give the best bound that linear prices can prove."""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from auctions.winner_determination.choices import Choices
from solvers.silent_highs import SilentHighs

RELAXATION_SECONDS = 60.0
"""A guard only: the simplex method takes hundredths of a second on what it is asked."""


def dual_prices(choices: Choices) -> NDArray[np.float64] | None:
    """Return prices at which W(p) is least; None if the solver found none.

    The bound is computed from the prices, never taken from the solver, so prices a little off cost a little of it and no more.
    """
    solver = SilentHighs()
    solver.setOptionValue("time_limit", RELAXATION_SECONDS)
    solver.passModel(assignment_model(choices))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    duals: NDArray[np.float64] = np.asarray(solver.getSolution().row_dual, dtype=np.float64)[choices.n_bidders :]
    return np.maximum(duals, 0.0) * max(choices.scale, 1e-300)


def assignment_model(choices: Choices, *, is_integral: bool = False) -> highspy.HighsLp:
    """Return the model: one variable per row, one row of each bidder, all within the supply; values relative to the largest."""
    n_rows, n_bidders, n_goods = len(choices.values), choices.n_bidders, len(choices.capacities)
    model = highspy.HighsLp()
    model.sense_ = highspy.ObjSense.kMaximize
    model.num_col_, model.num_row_ = n_rows, n_bidders + n_goods
    model.col_cost_ = choices.values / max(choices.scale, 1e-300)
    model.col_lower_, model.col_upper_ = np.zeros(n_rows), np.ones(n_rows)
    model.row_lower_ = np.concatenate((np.ones(n_bidders), np.full(n_goods, -highspy.kHighsInf)))
    model.row_upper_ = np.concatenate((np.ones(n_bidders), choices.capacities.astype(np.float64)))
    rows, goods = np.nonzero(choices.bundles)
    columns = np.concatenate((np.arange(n_rows), rows))
    places = np.concatenate((choices.bidders, n_bidders + goods))
    amounts = np.concatenate((np.ones(n_rows), choices.bundles[rows, goods]))
    order = np.lexsort((places, columns))
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.concatenate(([0], np.cumsum(np.bincount(columns, minlength=n_rows)))).astype(np.int32)
    model.a_matrix_.index_ = places[order].astype(np.int32)
    model.a_matrix_.value_ = amounts[order].astype(np.float64)
    if is_integral:
        model.integrality_ = [highspy.HighsVarType.kInteger] * n_rows
    return model
