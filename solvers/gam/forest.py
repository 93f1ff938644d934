"""A forest of T stumps on given sums over rows: sweeps of exact single moves, and joint fits of all leaves, in turn.

The objective is that of (weighted) least squares,

    J = sum of h (z - F)^2 / 2 + (alpha / 2) sum_t beta_t^2 + l1 sum_t |beta_t| + l0 #{t: beta_t != 0},

with the intercept free. J never rises: each move and each joint fit is an exact minimisation over a block of variables. `smoothing` = m0
gives every column a base of m0 stumps' worth of height beside those of the forest, penalty alpha b_j^2 / (2 (m0 + m_j)) in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.gram import Gram, Response
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.joint_fit import best_heights
from solvers.gam.panel_cholesky import LARGE
from solvers.gam.stump_updates import Rules, Stumps, rules, stumps_on


@dataclass(frozen=True, slots=True)
class ForestOptions:
    """What to minimise, under which limits, and for how long.

    Attributes
    ----------
    n_stumps : int
        T.
    alpha : float
        Ridge on every stump's step, in units of weight: a step that separates n rows from the rest is shrunk by about n / (n + alpha).
    l1, l0 : float
        Price of a step's size and of its existence.
    smoothing : float
        Base multiplicity m0 of every column.
    max_features, max_steps_per_feature : int, optional
        Most features in use and most distinct columns per feature.
    max_iter : int
        Rounds.
    sweeps_per_iter : int
        Sweeps before each joint fit.
    tol : float
        A round that lowers J by less than this share of what was gained so far is the last.
    """

    n_stumps: int = 200
    alpha: float = 30.0
    l1: float = 0.0
    l0: float = 0.0
    smoothing: float = 0.0
    max_features: int | None = None
    max_steps_per_feature: int | None = None
    max_iter: int = 30
    sweeps_per_iter: int = 3
    tol: float = 1e-6


@dataclass(frozen=True, slots=True)
class Forest:
    """A fitted forest: its steps, and how it was reached.

    Attributes
    ----------
    columns : int64 array of shape (K,)
        Columns in use, increasing.
    steps : float64 array of shape (K,)
        Height b_j of each.
    multiplicity : int64 array of shape (K,)
        Stumps m_j that share it; 0 where only the smoothing base is there.
    intercept : float
        Best constant beside the uncentred steps.
    objective : float
        J.
    history : tuple of float
        J of the empty forest and after every round.
    is_settled : bool
        Whether the last round moved no stump.
    """

    columns: np.ndarray
    steps: np.ndarray
    multiplicity: np.ndarray
    intercept: float
    objective: float
    history: tuple[float, ...]
    is_settled: bool

    def stump_columns(self) -> np.ndarray:
        """Return the column of every stump that is not empty."""
        return np.repeat(self.columns, self.multiplicity)

    def heights(self, n_columns: int) -> np.ndarray:
        """Return the step of every candidate column, float64 of shape (p,)."""
        every = np.zeros(n_columns)
        every[self.columns] = self.steps
        return every


class ColumnProducts(Protocol):
    """Products of the centred columns: all in memory (:class:`~solvers.gam.gram.Gram`) or computed as they are asked for."""

    @property
    def diagonal(self) -> np.ndarray: ...
    @property
    def shares(self) -> np.ndarray: ...
    @property
    def total(self) -> float: ...
    def block(self, active: np.ndarray, should_stop: ShouldStop = ...) -> np.ndarray: ...
    def combine(self, active: np.ndarray, steps: np.ndarray) -> np.ndarray: ...
    def sweep(
        self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = ...
    ) -> tuple[int, float]: ...
    def swap_residual(
        self, rules: Rules, correlations: np.ndarray, stumps: Stumps, should_stop: ShouldStop = ...
    ) -> float | None: ...


def fit_forest(
    gram: ColumnProducts,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    *,
    start: np.ndarray | None = None,
    should_stop: ShouldStop = never,
) -> Forest:
    """Fit a forest of `options.n_stumps` stumps.

    Parameters
    ----------
    gram : Gram or RowProducts
    response : Response
    columns : CandidateColumns
    options : ForestOptions
    start : int array of shape (at most T,), optional
        Columns of the stumps to begin with, -1 for an empty one; none by default, which lets the first sweep choose greedily.
    should_stop : callable, optional
        Asked before every round and, if it is a long one, within: the forest so far is returned.

    Notes
    -----
    A sweep costs O(T p), a joint fit O(K^3). When `is_settled`, no single stump can move to a better place and the leaves are jointly
    optimal.

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> from solvers.gam.candidate_columns import candidate_columns
    >>> from solvers.gam.gram import build_gram, respond
    >>> table = bin_table([np.array([1.0, 2.0, 3.0, 4.0])], ["age"])
    >>> columns = candidate_columns(table, min_samples_leaf=1)
    >>> response = respond(table, columns, np.array([0.0, 0.0, 4.0, 4.0]))
    >>> forest = fit_forest(build_gram(table, columns), response, columns, ForestOptions(n_stumps=1, alpha=1.0))
    >>> forest.columns, forest.steps, forest.objective
    (array([1]), array([2.]), 4.0)
    """
    fit = _Fit(gram, response, columns, options, start)
    history = [response.squares / 2]
    if start is not None:
        fit.fit_leaves(should_stop)
        history.append(fit.objective())
    is_settled = options.n_stumps == 0 or len(columns) == 0
    for _ in range(options.max_iter):
        if is_settled or should_stop():
            break
        is_settled = fit.move_stumps(should_stop) == 0 and not should_stop()
        fit.fit_leaves(should_stop)
        history.append(fit.objective())
        if history[-2] - history[-1] <= options.tol * abs(history[0] - history[-1]):
            break
    return fit.forest(tuple(history), is_settled)


def penalty(forest: Forest, options: ForestOptions) -> float:
    """Return what a forest pays beside the loss."""
    ridge = options.alpha / 2 * np.sum(forest.steps**2 / (options.smoothing + forest.multiplicity))
    return float(ridge + options.l1 * np.abs(forest.steps).sum() + options.l0 * forest.multiplicity.sum())


def one_swap_residual(
    gram: ColumnProducts,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    forest: Forest,
    should_stop: ShouldStop = never,
) -> float | None:
    """Return the most that moving one stump alone could still gain, as a share of the empty forest's objective; O(K p).

    None if there was no time to find out. At most 1e-9 for a forest that was fitted with `tol=0` until no stump moved.
    """
    if response.squares == 0 or len(columns) == 0:
        return 0.0
    fit = _Fit(gram, response, columns, options, forest.stump_columns())
    fit.keep_heights(forest.columns, forest.steps)
    residual = gram.swap_residual(fit.rules, fit.correlations, fit.stumps, should_stop)
    return None if residual is None else residual / (response.squares / 2)


def _within_limits(start: np.ndarray, columns: CandidateColumns, options: ForestOptions) -> np.ndarray:
    """Leave out the stumps of a start, later ones first, that would use too many features or columns of a feature."""
    if options.max_features is None and options.max_steps_per_feature is None:
        return start
    used: dict[int, set[int]] = {}
    admitted = []
    for column in start[start >= 0]:
        feature = int(columns.counts_as[columns.feature[column]])
        steps = used.get(feature, set())
        has_room = column in steps or len(steps) < (options.max_steps_per_feature or len(columns))
        if has_room and (steps or len(used) < (options.max_features or len(columns))):
            used[feature] = steps | {int(column)}
            admitted.append(column)
    return np.array(admitted, dtype=np.int64)


class _Fit:
    """A forest between two rounds, with the correlations of its residual."""

    def __init__(
        self,
        gram: ColumnProducts,
        response: Response,
        columns: CandidateColumns,
        options: ForestOptions,
        start: np.ndarray | None,
    ) -> None:
        self.gram, self.response, self.columns, self.options = gram, response, columns, options
        self.rules = rules(
            columns,
            gram.diagonal,
            gram.total,
            null_objective=response.squares / 2,
            alpha=options.alpha,
            l1=options.l1,
            l0=options.l0,
            max_features=options.max_features,
            max_steps_per_feature=options.max_steps_per_feature,
        )
        stump_columns = np.full(options.n_stumps, -1)
        if start is not None:
            admitted = _within_limits(start, columns, options)
            stump_columns[: len(admitted)] = admitted
        self.stumps = stumps_on(stump_columns, np.zeros(options.n_stumps), columns)
        self.correlations = response.correlations.copy()
        self.active = np.empty(0, dtype=np.int64)
        self.heights = np.empty(0)
        self._base = np.zeros(len(columns))  # what the smoothing base adds to each column's height

    def move_stumps(self, should_stop: ShouldStop) -> int:
        """Sweep until no stump changes its column, a few times at most; return how many changes there were."""
        changes = 0
        for number in range(self.options.sweeps_per_iter):
            if number and should_stop():
                break
            moved, _ = self.gram.sweep(self.rules, self.correlations, self.stumps, should_stop)
            changes += moved
            if moved == 0:
                break
        return changes

    def fit_leaves(self, should_stop: ShouldStop) -> None:
        """Fit all heights jointly; a large fit that is interrupted leaves them as they are."""
        share = self.options.smoothing + self.stumps.on_column
        self.active = np.flatnonzero((share > 0) & (self.rules.step_scale > 0))
        heights: np.ndarray
        try:
            heights = self._best_heights(self.options.alpha / share[self.active], should_stop)
        except Interrupted:
            heights = self._present_heights()[self.active]
        self._share_out(heights, share[self.active])

    def keep_heights(self, active: np.ndarray, heights: np.ndarray) -> None:
        """Take the heights of the columns in use as they are."""
        self.active = active
        self._share_out(heights, self.options.smoothing + self.stumps.on_column[active])

    def _share_out(self, heights: np.ndarray, share: np.ndarray) -> None:
        """Let the stumps on each column share its height equally, which costs least.

        The correlations are recomputed from scratch, which also removes the drift of their updates.
        """
        self.heights = heights
        self.correlations = self.response.correlations - self.gram.combine(self.active, heights)
        per_stump = np.zeros(len(self.columns) + 1)  # the last is that of an empty stump, column -1
        per_stump[self.active] = heights / share
        self._base = self.options.smoothing * per_stump[:-1]
        columns = self.stumps.columns
        steps = per_stump[columns]
        self.stumps = stumps_on(np.where(steps != 0, columns, -1), steps, self.columns)

    def _present_heights(self) -> np.ndarray:
        used = self.stumps.columns >= 0
        of_stumps = np.bincount(self.stumps.columns[used], weights=self.stumps.steps[used], minlength=len(self.columns))
        present: np.ndarray = self._base + of_stumps
        return present

    def _best_heights(self, ridge: np.ndarray, should_stop: ShouldStop) -> np.ndarray:
        is_long = len(self.active) > LARGE or not isinstance(self.gram, Gram)
        if is_long and should_stop():
            raise Interrupted
        block, correlations = self.gram.block(self.active, should_stop), self.response.correlations[self.active]
        sign = self.columns.sign[self.active]
        return best_heights(block, correlations, ridge, l1=self.options.l1, sign=sign, should_stop=should_stop)

    def objective(self) -> float:
        """Return J of the present forest."""
        options, b = self.options, self.heights
        inner = self.response.correlations[self.active] @ b + self.correlations[self.active] @ b
        share = options.smoothing + self.stumps.on_column[self.active]
        penalised = b != 0
        ridge = options.alpha * np.sum(b[penalised] ** 2 / share[penalised])
        return float(
            (self.response.squares - inner + ridge) / 2
            + options.l1 * np.abs(b).sum()
            + options.l0 * np.count_nonzero(self.stumps.columns >= 0)
        )

    def forest(self, history: tuple[float, ...], is_settled: bool) -> Forest:
        """Return what was fitted."""
        used = self.heights != 0
        columns, steps = self.active[used], self.heights[used]
        return Forest(
            columns,
            steps,
            self.stumps.on_column[columns],
            self.response.mean - float(steps @ self.gram.shares[columns]),
            history[-1],
            history,
            is_settled,
        )
