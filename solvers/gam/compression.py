"""Fewer steps for nearly the same fit.

Deleting column j and fitting the others again raises the objective of (weighted) least squares by exactly b_j^2 / (2 (A^-1)_jj) with
A = M + diag(alpha / m). The cheapest column goes first, the others move to b - b_j / (A^-1)_jj (A^-1)_j, and so on: an order in which
columns may go. How many do go is decided by the loss itself, with all remaining leaves fitted again. What is left is a forest of at most
T stumps with jointly optimal leaves, so that its objective can be compared with the lower bound.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
from scipy.linalg import pinvh

from solvers.gam.bands import one_output, products_in_use
from solvers.gam.forest import penalty
from solvers.gam.refit import refit_leaves
from solvers.gam.reweighted_fit import MOST_ITERATIONS
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training
from solvers.operation import InvalidInput

ROUNDING = 1e-9


def compress(training: Training, tol: float) -> Training:
    """Return the fit with as few steps as the tolerance allows.

    Parameters
    ----------
    training : Training
    tol : float
        Share of the loss saved against the best constant that may be given back, in [0, 1]: with 0.01 the compressed model explains at
        least 99 % of what the forest explains.

    Raises
    ------
    InvalidInput
        If `tol` is not in [0, 1], or the fit was smoothed: then no step ever goes.

    Notes
    -----
    O(K^3) for the order, then log K fits of the leaves.

    Examples
    --------
    >>> from solvers.gam.forest import ForestOptions
    >>> from solvers.gam.losses import SquaredLoss
    >>> from solvers.gam.training import prepare, train
    >>> x = np.arange(200.0)
    >>> sample = prepare([x], ["x"], np.where(x > 99, 1.0, 0.0) + 1e-3 * np.sin(x))
    >>> fit = train(sample, SquaredLoss(), ForestOptions(n_stumps=20, alpha=0.1))
    >>> len(fit.forests[0].columns) > 5, len(compress(fit, 0.01).forests[0].columns)
    (True, 1)
    """
    if not 0 <= tol <= 1:
        raise InvalidInput(f"tol is {tol}; it must be from 0 to 1", pointer="/tol")
    if training.options.smoothing > 0:
        raise InvalidInput("a smoothed model keeps every step; it cannot be compressed")
    loss = _loss(training)
    allowed = loss + (tol + ROUNDING) * max(0.0, training.history[0] - loss)
    order = _deletion_order(training)
    kept, fewest, most = training, 0, len(order)
    while fewest < most:
        number = (fewest + most + 1) // 2
        smaller = _without(training, order[:number])
        if _loss(smaller) <= allowed:
            kept, fewest = smaller, number
        else:
            most = number - 1
    return kept


def _loss(training: Training) -> float:
    return training.objective - sum(penalty(forest, training.options) for forest in training.forests)


def _deletion_order(training: Training) -> list[tuple[int, int]]:
    """Return (output, position of the column in its forest), the cheapest first; of several outputs merged by cost."""
    queues = []
    for output, forest in enumerate(training.forests):
        loss, target, decision = one_output(training, output)
        curvature = training.sample.row_weights() * loss.majorant(target, decision, MOST_ITERATIONS)[1]
        products, _ = products_in_use(training, output, curvature)
        ridge = training.options.alpha / forest.multiplicity
        queues.append([(cost, output, position) for position, cost in _deletions(products, ridge, forest.steps)])
    return [(output, position) for _, output, position in heapq.merge(*queues)]


def _deletions(products: Floats, ridge: Floats, steps: Floats) -> list[tuple[int, float]]:
    """Return positions in the order of their deletion, each with the rise so far."""
    inverse, heights = pinvh(products + np.diag(ridge), check_finite=False), steps.copy()
    left = np.ones(len(steps), dtype=bool)
    deletions, rise = [], 0.0
    for _ in range(len(steps)):
        diagonal = np.where(left, np.maximum(inverse.diagonal(), np.finfo(float).tiny), 1.0)
        cost = np.where(left, heights**2 / (2 * diagonal), np.inf)
        j = int(np.argmin(cost))
        rise += float(cost[j])
        deletions.append((j, rise))
        pivot = inverse[j].copy()
        heights -= heights[j] / diagonal[j] * pivot
        inverse -= np.outer(pivot, pivot) / diagonal[j]
        left[j] = False
    return deletions


def _without(training: Training, deleted: list[tuple[int, int]]) -> Training:
    """Return the fit without some columns, all other leaves fitted again."""
    forests = []
    for output, forest in enumerate(training.forests):
        stays = np.ones(len(forest.columns), dtype=bool)
        stays[[position for of, position in deleted if of == output]] = False
        forests.append(
            replace(forest, columns=forest.columns[stays], steps=forest.steps[stays], multiplicity=forest.multiplicity[stays])
        )
    return refit_leaves(training, forests)
