"""Mixed-integer programs as the allocations need them: columns between 0 and a bound, rows, a maximum, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.outcome import SearchLimits, StoppedBy
from solvers.silent_highs import SilentHighs

SEED = 0


@dataclass(frozen=True, slots=True)
class Solution:
    """What a search found.

    Attributes
    ----------
    columns : array, optional
        The best feasible point; None if none was found.
    bound : float
        No feasible point is worth more; infinite if the search ended before it knew a bound.
    stopped_by : {"node_limit", "time_limit", "cancelled"}, optional
    """

    columns: NDArray[np.float64] | None
    bound: float
    stopped_by: StoppedBy | None


class IntegerProgram:
    """A mixed-integer program that is built column by column and row by row.

    Examples
    --------
    >>> program = IntegerProgram()
    >>> taken = program.add_columns([3.0, 2.0], integer=True)
    >>> program.add_row(taken, [1.0, 1.0], upper=1.0)
    >>> found = program.maximise(SearchLimits(gap=1e-9))
    >>> (found.columns > 0.5).tolist(), found.bound
    ([True, False], 3.0)
    """

    def __init__(self) -> None:
        self._objective: list[float] = []
        self._upper: list[float] = []
        self._is_integer: list[bool] = []
        self._starts = [0]
        self._columns: list[int] = []
        self._coefficients: list[float] = []
        self._row_lower: list[float] = []
        self._row_upper: list[float] = []

    @property
    def n_columns(self) -> int:
        return len(self._objective)

    def add_columns(self, objective: ArrayLike, *, integer: bool, upper: float = 1.0) -> NDArray[np.int64]:
        """Add columns between 0 and `upper` and return their numbers."""
        worth = np.asarray(objective, dtype=np.float64).ravel().tolist()
        first = len(self._objective)
        self._objective += worth
        self._upper += [upper] * len(worth)
        self._is_integer += [integer] * len(worth)
        return np.arange(first, first + len(worth))

    def add_row(
        self,
        columns: Sequence[int] | NDArray[np.int64],
        coefficients: ArrayLike,
        *,
        lower: float = -highspy.kHighsInf,
        upper: float = highspy.kHighsInf,
    ) -> None:
        """Add a row; a single coefficient goes for all its columns."""
        numbers = np.asarray(columns, dtype=np.int64).ravel()
        self._columns += numbers.tolist()
        self._coefficients += np.broadcast_to(np.asarray(coefficients, dtype=np.float64), numbers.shape).tolist()
        self._starts.append(len(self._columns))
        self._row_lower.append(lower)
        self._row_upper.append(upper)

    @property
    def objective(self) -> NDArray[np.float64]:
        """The objective's coefficients."""
        return np.array(self._objective)

    @property
    def upper_bounds(self) -> NDArray[np.float64]:
        """The columns' upper bounds; the lower ones are 0."""
        return np.array(self._upper)

    def rows(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], float, float]]:
        """Go through the rows: columns, coefficients, lower and upper bound."""
        for row, (lower, upper) in enumerate(zip(self._row_lower, self._row_upper, strict=True)):
            part = slice(self._starts[row], self._starts[row + 1])
            yield np.array(self._columns[part], dtype=np.int64), np.array(self._coefficients[part]), lower, upper

    def objective_of(self, columns: NDArray[np.float64]) -> float:
        """Return the objective at a point."""
        return float(columns @ self.objective)

    def replace_objective(self, columns: NDArray[np.int64], *, floor: float) -> None:
        """Keep the objective at `floor` or above by a row, and from now on have the fewest of some columns instead."""
        worth = np.array(self._objective)
        self.add_row(np.arange(len(worth)), worth, lower=floor)
        worth[:] = 0.0
        worth[columns] = -1.0
        self._objective = worth.tolist()

    def maximise(self, search: SearchLimits, start: ArrayLike | None = None) -> Solution:
        """Search for the best point by branch and bound on one thread, from a feasible `start` if there is one.

        Returns
        -------
        Solution
            Without columns if there is no feasible point, or none was found in time.
        """
        # Presolve does not look at either.
        if search.cancelled():
            return Solution(None, np.inf, "cancelled")
        if search.time_limit <= 0.0:
            return Solution(None, np.inf, "time_limit")
        solver = SilentHighs()
        solver.setOptionValue("random_seed", SEED)
        solver.setOptionValue("mip_rel_gap", search.gap)
        solver.setOptionValue("mip_abs_gap", min(search.gap, 1e-9))
        solver.setOptionValue("time_limit", max(0.0, search.time_limit))
        if search.node_limit is not None:
            solver.setOptionValue("mip_max_nodes", search.node_limit)
        solver.end_search_when(search.cancelled)
        solver.passModel(self._model())
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = np.asarray(start, dtype=np.float64).tolist()
            solver.setSolution(known)
        solver.run()

        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return Solution(None, -np.inf, None)
        info = solver.getInfo()
        is_feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        columns = np.asarray(solver.getSolution().col_value, dtype=np.float64) if is_feasible else None
        stopped_by: StoppedBy | None = "node_limit"
        if status == highspy.HighsModelStatus.kOptimal:
            stopped_by = None
        elif status == highspy.HighsModelStatus.kTimeLimit:
            stopped_by = "time_limit"
        elif status == highspy.HighsModelStatus.kInterrupt:
            stopped_by = "cancelled"
        return Solution(columns, float(info.mip_dual_bound), stopped_by)

    def relaxed_bound(self) -> float:
        """Return what no feasible point is worth more than by the linear relaxation; infinite if the solver found no such bound."""
        solver = SilentHighs()
        model = self._model()
        model.integrality_ = []
        solver.passModel(model)
        solver.run()
        return (
            float(solver.getInfo().objective_function_value)
            if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
            else np.inf
        )

    def _model(self) -> highspy.HighsLp:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self._objective), len(self._row_lower)
        model.sense_ = highspy.ObjSense.kMaximize
        model.col_cost_ = np.array(self._objective)
        model.col_lower_, model.col_upper_ = np.zeros(len(self._objective)), np.array(self._upper)
        model.row_lower_, model.row_upper_ = np.array(self._row_lower), np.array(self._row_upper)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array(self._starts, dtype=np.int32)
        model.a_matrix_.index_ = np.array(self._columns, dtype=np.int32)
        model.a_matrix_.value_ = np.array(self._coefficients)
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[is_integer] for is_integer in self._is_integer]
        return model
