"""A lower bound on the objective of the best possible forest, and how far a fitted one can be from it.

For squared loss the dual of the :mod:`relaxation <solvers.gam.relaxation>` gives a bound from any heights b: with r = z - U b (products
weighted by h) and a = z'r,

    J* >= max over c >= 0 of  c a - c^2 ||r||^2 / 2 - T (c ||U'r||_inf - l1)_+^2 / (2 alpha),

for l1 = 0 equal to a^2 / (2 (||r||^2 + T ||U'r||_inf^2 / alpha)). Columns of one allowed sign count with that sign only; l0 and limits
on features only raise J*. Descent on the relaxation from the fitted heights tightens the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions
from solvers.gam.gram import Gram, Response
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.relaxation import Relaxation, relaxed_ridge

SWEEPS_PER_BOUND = 10
MOST_SWEEPS = 1000
RELAXATION_GAP = 1e-4
# Multiply-adds per row; counted and not timed, so that the answer can be reproduced.
WORK_PER_ROW = 20_000
FEWEST_ROWS, MOST_ROWS = 2_500, 100_000
ROUNDS, COLUMNS_PER_ROUND = 10, 100


Steepest = Callable[[np.ndarray], float]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proven about a fitted forest.

    Attributes
    ----------
    objective : float
        J of the forest.
    lower_bound : float or None
        No forest under the same options has a lower objective.
    gap : float or None
        (J - lower_bound) / J, 0 when J = 0.
    reason : str or None
        Why there is no bound: "alpha" (no ridge, no bound), "loss" or "data".
    iterations : int
        Sweeps or steps spent on it.
    """

    objective: float
    lower_bound: float | None
    gap: float | None
    reason: str | None
    iterations: int


def certify(
    products: ColumnProducts,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    forest: Forest,
    *,
    n_rows: int,
    iterations: int | None = None,
    steepest: Steepest = lambda heights: 0.0,
    should_stop: ShouldStop = never,
) -> Certificate:
    """Bound the objective of the best forest from below.

    Parameters
    ----------
    products : Gram or RowProducts
    forest : Forest
        What was fitted on the same sums.
    n_rows : int
        Rows behind the sums; the work is limited in proportion to them.
    iterations : int, optional
        Sweeps of the relaxation, instead of that limit (without a Gram: rounds of ten sweeps and more on some columns).
    steepest : callable, optional
        Given heights, the largest |u'r| over columns u that are allowed and are not in the list.
    should_stop : callable, optional
        Asked now and then: the best bound so far is returned.

    Notes
    -----
    Stops when the relaxation itself is solved to 1e-4 of J. A gap remains even for the best forest, for the relaxation is below it.
    """
    objective = forest.objective
    if response.squares == 0 or options.n_stumps == 0 or len(columns) == 0:
        return certified(objective, objective, 0)
    if options.alpha == 0:
        return Certificate(objective, None, None, "alpha", 0)
    if isinstance(products, Gram):
        bound, spent = _bound_on_gram(products, response, columns, options, forest, n_rows, iterations, steepest, should_stop)
    else:
        rounds = ROUNDS if iterations is None else iterations
        bound, spent = _bound_on_rows(products, response, columns, options, forest, rounds, steepest, should_stop)
    return certified(objective, bound, spent)


def _bound_on_gram(
    gram: Gram,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    forest: Forest,
    n_rows: int,
    iterations: int | None,
    steepest: Steepest,
    should_stop: ShouldStop,
) -> tuple[float, int]:
    """Sweep over all columns from the fitted heights; return the best bound and the sweeps."""

    def bound_of(heights: np.ndarray, correlations: np.ndarray) -> float:
        return dual_bound(heights, correlations, response, columns, options, steepest=steepest(heights))

    mu = relaxed_ridge(options, len(columns))
    start = forest.heights(len(columns))
    relaxation = Relaxation(gram, response, columns, mu=mu, l1=options.l1, start=start, should_stop=should_stop)
    bound = bound_of(relaxation.heights, relaxation.correlations)
    budget = WORK_PER_ROW * min(max(n_rows, FEWEST_ROWS), MOST_ROWS) / len(columns)
    sweeps, most = 0, MOST_SWEEPS if iterations is None else iterations
    while sweeps < most and (iterations is not None or budget > 0) and not should_stop():
        step = min(SWEEPS_PER_BOUND, most - sweeps)
        changed, _ = relaxation.descend(step)
        sweeps += step
        budget -= changed
        bound = max(bound, bound_of(relaxation.heights, relaxation.correlations))
        if changed == 0 or (iterations is None and relaxation.objective() - bound <= RELAXATION_GAP * forest.objective):
            break
    return bound, sweeps


def _bound_on_rows(
    products: ColumnProducts,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    forest: Forest,
    rounds: int,
    steepest: Steepest,
    should_stop: ShouldStop,
) -> tuple[float, int]:
    """Solve the relaxation on the columns in use and, round by round, the columns that it lacks most; return bound and rounds.

    A round costs a few passes over the rows: all correlations, and the products of the columns that were added.
    """

    def bound_of(heights: np.ndarray, correlations: np.ndarray) -> float:
        return dual_bound(heights, correlations, response, columns, options, steepest=steepest(heights))

    mu, l1 = relaxed_ridge(options, len(columns)), options.l1
    heights, part = forest.heights(len(columns)), forest.columns
    correlations = response.correlations - products.combine(part, heights[part])
    bound, spent = bound_of(heights, correlations), 0
    for _ in range(rounds):
        if should_stop():
            break
        lacking = np.flatnonzero(allowed_pull(correlations, columns) > mu * np.abs(heights).sum() + l1)
        lacking = np.setdiff1d(lacking, part)
        worst = np.argsort(-allowed_pull(correlations, columns)[lacking], kind="stable")
        part = np.sort(np.concatenate([part, lacking[worst[:COLUMNS_PER_ROUND]]]))
        try:
            block = products.block(part, should_stop)
        except Interrupted:
            break
        gram = Gram(block, products.diagonal[part], products.shares[part], products.total)
        mine = Response(response.correlations[part], response.mean, response.squares)
        some = columns.subset(part)
        relaxation = Relaxation(gram, mine, some, mu=mu, l1=l1, start=heights[part], should_stop=should_stop)
        heights[part] = relaxation.solve()
        correlations = response.correlations - products.combine(part, heights[part])
        bound, spent = max(bound, bound_of(heights, correlations)), spent + 1
        if relaxation.objective() - bound <= RELAXATION_GAP * forest.objective:
            break
    return bound, spent


def certified(objective: float, lower_bound: float, iterations: int) -> Certificate:
    """Return the certificate of a bound.

    Examples
    --------
    >>> certified(10.0, 9.5, 20).gap
    0.05
    """
    gap = max(0.0, (objective - lower_bound) / objective) if objective > 0 else 0.0
    return Certificate(objective, lower_bound, gap, None, iterations)


def dual_bound(
    heights: np.ndarray,
    correlations: np.ndarray,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    *,
    steepest: float = 0.0,
) -> float:
    """Return the bound that heights b, with the correlations s = s0 - M b of their residual, prove; alpha must be positive.

    Parameters
    ----------
    steepest : float
        Largest |u'r| over columns that are not in the list.

    Examples
    --------
    >>> from solvers.gam.binning import bin_table
    >>> from solvers.gam.candidate_columns import candidate_columns
    >>> table = bin_table([np.array([0.0, 0.0, 1.0, 1.0])], ["x"])
    >>> columns = candidate_columns(table, min_samples_leaf=1)
    >>> response = Response(np.array([4.0]), 2.0, 16.0)
    >>> dual_bound(np.array([2.0]), np.array([2.0]), response, columns, ForestOptions(n_stumps=1, alpha=1.0))
    4.0
    """
    stumps = options.alpha / relaxed_ridge(options, len(columns))
    fitted, left = float(response.correlations @ heights), float(correlations @ heights)
    along = response.squares - fitted
    residual = max(0.0, response.squares - fitted - left)
    if residual == 0:
        return 0.0
    steepest = max(steepest, steepest_step(correlations, columns))
    ridge = stumps * steepest**2 / options.alpha
    # The maximum over c of a c - ||r||^2 c^2 / 2 - T (c ||U'r|| - l1)_+^2 / (2 alpha), concave and quadratic on either side of its kink.
    scale = along / residual
    if scale * steepest > options.l1:
        scale = (along + stumps * steepest * options.l1 / options.alpha) / (residual + ridge)
    scale = max(0.0, scale)
    excess = max(0.0, scale * steepest - options.l1)
    return max(0.0, scale * along - scale**2 * residual / 2 - stumps * excess**2 / (2 * options.alpha))


def steepest_step(correlations: np.ndarray, columns: CandidateColumns) -> float:
    """Return ||U'r||_inf, of columns with one allowed sign only the part of that sign."""
    return float(allowed_pull(correlations, columns).max(initial=0.0))


def allowed_pull(correlations: np.ndarray, columns: CandidateColumns) -> np.ndarray:
    """Return |s_j|, and the sign times s_j where only one sign is allowed."""
    pull: np.ndarray = np.where(columns.sign == 0, np.abs(correlations), columns.sign * correlations)
    return pull
