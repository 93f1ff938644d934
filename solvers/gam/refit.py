"""Best leaves for given splits, whatever the loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from solvers.gam.forest import Forest, fit_forest, penalty
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.losses import ClassLoss, Loss
from solvers.gam.reweighted_fit import MOST_ITERATIONS
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training

CLASS_CYCLES = 25


def refit_leaves(training: Training, forests: Sequence[Forest], should_stop: ShouldStop = never) -> Training:
    """Return the training with other splits: the columns and multiplicities of the given forests, all leaves jointly optimal.

    Parameters
    ----------
    training : Training
    forests : sequence of Forest
        One for each output.
    should_stop : callable, optional
        Asked now and then; the leaves are then the best so far.
    """
    if training.sums is not None:
        options = replace(training.options, max_iter=0)
        fitted = fit_forest(
            *training.sums, training.sample.columns, options, start=forests[0].stump_columns(), should_stop=should_stop
        )
        return replace(training, forests=(fitted,), objective=fitted.objective)
    if len(forests) > 1:
        return _refit_classes(training, list(forests), should_stop)
    sample = training.sample
    loss = training.loss.scaled_to(sample.target - sample.row_offsets(), sample.row_weights())
    fitted = _refit(sample, loss, training, forests[0], sample.row_offsets(), should_stop)
    return replace(training, forests=(fitted,), objective=fitted.objective)


def _refit(sample: Sample, loss: Loss, training: Training, forest: Forest, offset: Floats, should_stop: ShouldStop) -> Forest:
    decision = offset + sample.decision(forest)
    intercept = loss.best_constant(sample.target, sample.row_weights(), decision)
    value = float(sample.row_weights() @ loss.value(sample.target, decision + intercept))
    start = replace(forest, intercept=intercept, objective=value + penalty(forest, training.options))
    return fit_leaves(sample, loss, training.options, start, offset, iteration=MOST_ITERATIONS, should_stop=should_stop)


def _refit_classes(training: Training, forests: list[Forest], should_stop: ShouldStop) -> Training:
    """Refit class by class, the others fixed, until the objective falls no more."""
    sample, options = training.sample, training.options
    target = sample.target.astype(np.int64)
    decisions = np.stack([sample.decision(forest) + forest.intercept for forest in forests])
    objective = np.inf
    for _ in range(CLASS_CYCLES):
        for k, forest in enumerate(forests):
            one = replace(sample, target=(target == k).astype(np.float64))
            others = -logsumexp(np.delete(decisions, k, axis=0), axis=0)
            forests[k] = _refit(one, ClassLoss(), training, forest, others, should_stop)
            decisions[k] = sample.decision(forests[k]) + forests[k].intercept
        loss = logsumexp(decisions, axis=0) - decisions[target, np.arange(len(target))]
        before, objective = objective, float(sample.row_weights() @ loss) + sum(penalty(forest, options) for forest in forests)
        if before - objective <= options.tol * abs(training.history[0] - objective) or should_stop():
            break
    return replace(training, forests=tuple(forests), objective=objective)
