"""Best leaf values for given splits under any loss, by damped Newton steps.

Each step solves the joint fit of the quadratic model at the present decision and goes along it as far as the objective falls.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.gam.candidate_columns import bin_sums, row_sums
from solvers.gam.coarse_table import coarsen
from solvers.gam.forest import Forest, ForestOptions, penalty
from solvers.gam.gram import build_gram
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.joint_fit import best_heights
from solvers.gam.losses import Loss
from solvers.gam.sample import Sample

MOST_STEPS = 50
MOST_HALVINGS = 30
TOLERANCE = 1e-13


def fit_leaves(
    sample: Sample,
    loss: Loss,
    options: ForestOptions,
    forest: Forest,
    offset: np.ndarray,
    *,
    iteration: int = 0,
    should_stop: ShouldStop = never,
) -> Forest:
    """Return the forest with the same splits and the best heights and intercept.

    Parameters
    ----------
    sample : Sample
    loss : Loss
    options : ForestOptions
    forest : Forest
        Its objective is that under this loss; a new one is added to its history.
    offset : float64 array of shape (N,)
    iteration : int
        That of the loss's majorant.
    should_stop : callable, optional
        Asked before every step and within long ones: the best leaves so far are returned.

    Notes
    -----
    O(N D'^2) a step for the D' features in use; convex, so that the steps end at the optimum.
    """
    if len(forest.columns) == 0:
        return forest
    coarse, columns = coarsen(sample.table, sample.columns, forest.columns)
    target, weights = sample.target, sample.row_weights()
    ridge = options.alpha / (options.smoothing + forest.multiplicity)

    def scored(heights: np.ndarray) -> tuple[Forest, np.ndarray]:
        decision = offset + row_sums(coarse, columns.scores(heights, coarse.n_codes))
        intercept = loss.best_constant(target, weights, decision)
        there = replace(forest, steps=heights, intercept=intercept)
        value = float(weights @ loss.value(target, decision + intercept)) + penalty(there, options)
        return replace(there, objective=value), decision + intercept

    now, decision = scored(forest.steps)
    for _ in range(MOST_STEPS):
        if should_stop():
            break
        gradient, curvature = loss.majorant(target, decision, iteration)
        pull = weights * gradient
        try:
            gram = build_gram(coarse, columns, weights * curvature, should_stop=should_stop)
            falling = gram.shares * pull.sum() - columns.sums(bin_sums(coarse, pull))
            wanted = best_heights(
                gram.products,
                falling + gram.products @ now.steps,
                ridge,
                l1=options.l1,
                sign=columns.sign,
                start=now.steps,
                should_stop=should_stop,
            )
        except Interrupted:
            break
        direction = wanted - now.steps
        if direction @ (gram.products @ direction + ridge * direction) <= 2 * TOLERANCE * abs(now.objective):
            break  # the quadratic promises nothing more
        further, stride = now, 1.0
        for _ in range(MOST_HALVINGS):
            candidate, there = scored(now.steps + stride * direction)
            if candidate.objective < now.objective:
                further, decision = candidate, there
                break
            stride /= 2
        gained = now.objective - further.objective
        now = further
        if gained <= TOLERANCE * abs(now.objective):
            break
    return replace(now, history=(*forest.history, now.objective))
