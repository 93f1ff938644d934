"""Winner determination as an integer program, for what prices leave too much open."""

from __future__ import annotations

import time
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from auctions.outcome import SearchLimits, StoppedBy
from auctions.winner_determination.choices import Choices
from auctions.winner_determination.linear_relaxation import assignment_model
from solvers.silent_highs import SilentHighs

DEFAULT_NODES = 20_000

EXACT = 1e-6
"""Whoever asks for no more than this gap gets the optimum itself, for payments are differences of optima."""


class Solved(NamedTuple):
    """What the solver found and proved.

    Attributes
    ----------
    chosen : int array, or None
    bound : float
    stopped_by : str, optional
    """

    chosen: NDArray[np.int64] | None
    bound: float
    stopped_by: StoppedBy | None


def solve_assignment(choices: Choices, limits: SearchLimits, deadline: float, chosen: NDArray[np.int64] | None) -> Solved:
    """Solve by HiGHS, on one thread and with a fixed seed, from the best rows known.

    Parameters
    ----------
    choices : Choices
    limits : SearchLimits
        `gap`, `node_limit` and `cancelled` count here.
    deadline : float
        On the monotonic clock.
    chosen : int array, optional
    """
    solver = SilentHighs()
    solver.setOptionValue("random_seed", 0)
    solver.setOptionValue("mip_rel_gap", limits.gap if limits.gap > EXACT else 0.0)
    solver.setOptionValue("mip_abs_gap", EXACT * 1e-3)
    solver.setOptionValue("mip_max_nodes", DEFAULT_NODES if limits.node_limit is None else limits.node_limit)
    solver.setOptionValue("time_limit", max(0.0, deadline - time.monotonic()))
    solver.passModel(assignment_model(choices, is_integral=True))
    if chosen is not None:
        start = highspy.HighsSolution()
        start.col_value = np.isin(np.arange(len(choices.values)), chosen).astype(np.float64).tolist()
        solver.setSolution(start)
    solver.end_search_when(lambda: limits.cancelled() or time.monotonic() >= deadline)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return Solved(chosen, -np.inf, None)
    return Solved(
        _taken(choices, np.asarray(solver.getSolution().col_value), chosen),
        float(solver.getInfo().mip_dual_bound) * choices.scale,
        _reason(status, limits, deadline),
    )


def _taken(choices: Choices, taken: NDArray[np.float64], known: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    if len(taken) != len(choices.values):
        return known
    rows = np.array(
        [low + int(np.argmax(taken[low:high])) for low, high in zip(choices.starts[:-1], choices.starts[1:], strict=True)]
    )
    if not choices.fit_together(rows) or (known is not None and choices.welfare(known) >= choices.welfare(rows)):
        return known
    return rows


def _reason(status: highspy.HighsModelStatus, limits: SearchLimits, deadline: float) -> StoppedBy | None:
    if status == highspy.HighsModelStatus.kOptimal:
        return None
    if limits.cancelled():
        return "cancelled"
    return "time_limit" if time.monotonic() >= deadline else "node_limit"
