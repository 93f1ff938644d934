"""A lower bound on the objective of the best forest for logistic loss.

For the probabilities p of any heights with the exact intercept (sum of w (y - p) = 0), c in [0, 1] and pi = y - c (y - p),

    J* >= sum of w Ent(pi)  -  T (c ||U'(w (y - p))||_inf - l1)_+^2 / (2 alpha)  -  c sum of w (y - p) o,

Ent(pi) = -pi ln pi - (1 - pi) ln(1 - pi), o the offset. The p of the fit is a good start; a step of the relaxation on the weighted
least-squares problem there, solved by coordinate descent, gives a much better one.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from solvers.gam.candidate_columns import bin_sums, row_sums
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import Gram, Response, column_weights
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.losses import LogisticLoss, class_entropy
from solvers.gam.lower_bound import Certificate, Steepest, certified, steepest_step
from solvers.gam.relaxation import Relaxation, relaxed_ridge
from solvers.gam.reweighted_fit import Products
from solvers.gam.sample import Sample

SWEEPS_PER_STEP = 200
STEPS = 1


def certify_logistic(
    sample: Sample,
    options: ForestOptions,
    forest: Forest,
    products: Products,
    *,
    iterations: int | None = None,
    steepest: Steepest = lambda pull: 0.0,
    should_stop: ShouldStop = never,
) -> Certificate:
    """Bound the objective of the best forest from below.

    Parameters
    ----------
    sample : Sample
        Its target is 0 or 1.
    options : ForestOptions
    forest : Forest
        What was fitted on the sample.
    products : callable
        Returns the products of the columns under given curvatures.
    iterations : int, optional
        Steps of the relaxation, 1 by default; each computes new products, unless these do not fit in memory.

    steepest : callable, optional
        Given w (y - p), its largest product with a column that is allowed and is not in the list.
    should_stop : callable, optional
        Asked before every step and within: the best bound so far is returned.

    Notes
    -----
    O(N D^2) a step.
    """
    columns, offset = sample.columns, sample.row_offsets()
    if options.n_stumps == 0 or len(columns) == 0 or forest.objective == 0:
        return certified(forest.objective, forest.objective, 0)
    if options.alpha == 0:
        return Certificate(forest.objective, None, None, "alpha", 0)
    loss, weights = LogisticLoss(), sample.row_weights()
    shares = column_weights(sample.table, columns, sample.weights) / weights.sum()
    heights, decision = forest.heights(len(columns)), sample.decision(forest) + forest.intercept + offset
    bound, spent = 0.0, 0
    n_steps = STEPS if iterations is None else iterations
    for step in range(1 + n_steps):
        gradient, curvature = loss.majorant(sample.target, decision, 0)
        pull = -weights * gradient
        correlations = columns.sums(bin_sums(sample.table, pull)) - shares * pull.sum()
        bound = max(bound, logistic_bound(sample, options, decision, max(steepest(pull), steepest_step(correlations, columns))))
        if step == n_steps or should_stop():
            break
        try:
            curved = products(weights * curvature)
        except Interrupted:
            break
        if not isinstance(curved, Gram):
            break
        s0 = correlations + curved.combine(np.flatnonzero(heights), heights[heights != 0])
        squares = float(np.sum(weights * gradient**2 / curvature)) + float((s0 + correlations) @ heights)
        mu = relaxed_ridge(options, len(columns))
        response = Response(s0, 0.0, squares)
        relaxation = Relaxation(curved, response, columns, mu=mu, l1=options.l1, start=heights, should_stop=should_stop)
        heights = relaxation.solve(SWEEPS_PER_STEP)
        decision = offset + row_sums(sample.table, columns.scores(heights, sample.table.n_codes))
        decision += loss.best_constant(sample.target, weights, decision)
        spent += 1
    return certified(forest.objective, bound, spent)


def logistic_bound(sample: Sample, options: ForestOptions, decision: np.ndarray, steepest: float) -> float:
    """Return the bound that a decision proves; its intercept must be the best for its heights, alpha positive.

    Parameters
    ----------
    decision : float64 array of shape (N,)
        F, offset included.
    steepest : float
        ||U'(w (y - p))||_inf.
    """
    loss, weights, target = LogisticLoss(), sample.row_weights(), sample.target
    gradient = loss.gradient(target, decision)
    drift = -float(weights @ (gradient * sample.row_offsets()))
    mu = relaxed_ridge(options, len(sample.columns))

    def dual(c: float) -> float:
        entropy = float(weights @ class_entropy(target + c * gradient))
        return entropy - max(0.0, c * steepest - options.l1) ** 2 / (2 * mu) - c * drift

    best = minimize_scalar(lambda c: -dual(c), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9})
    return max(dual(float(best.x)), dual(1.0), 0.0)
