"""Fewer steps for nearly the same fit.

Deleting column j and fitting the others again raises the objective of (weighted) least squares by exactly b_j^2 / (2 (A^-1)_jj) with
A = M + diag(alpha / m). The cheapest column goes first, the others move to b - b_j / (A^-1)_jj (A^-1)_j, and so on, until every column
that is left would cost the tolerance or more. For other losses these are the costs under the quadratic at the fit: so many columns go as
the objective itself, all remaining leaves fitted again, allows, and then the quadratic is renewed. What is left is a forest of at most T
stumps with jointly optimal leaves, so that its objective can be compared with the lower bound.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import pinvh

from solvers.gam.bands import one_output, products_in_use
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.refit import refit_leaves
from solvers.gam.reweighted_fit import MOST_ITERATIONS
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training
from solvers.operation import InvalidInput


def compress(training: Training, tol: float, should_stop: ShouldStop = never) -> Training:
    """Return the fit without the steps that cost less than the tolerance; the fit itself if there are none.

    Parameters
    ----------
    training : Training
    tol : float
        A step goes if without it, all other leaves fitted again, the objective rises by less than this; the cheapest first.
    should_stop : callable, optional
        Asked now and then: the steps that did go are gone.

    Raises
    ------
    InvalidInput
        If `tol` is negative or not finite, or the fit was smoothed: then no step ever goes.

    Notes
    -----
    O(K^3), but for squared loss once for each quadratic, of which a few are enough, with some fits of the leaves.

    Examples
    --------
    >>> from solvers.gam.forest import ForestOptions
    >>> from solvers.gam.losses import SquaredLoss
    >>> from solvers.gam.training import prepare, train
    >>> x = np.arange(200.0)
    >>> sample = prepare([x], ["x"], np.where(x > 99, 1.0, 0.0) + 1e-3 * np.sin(x))
    >>> fit = train(sample, SquaredLoss(), ForestOptions(n_stumps=20, alpha=0.1))
    >>> len(fit.forests[0].columns) > 5, len(compress(fit, 0.1).forests[0].columns)
    (True, 1)
    """
    if not 0 <= tol < np.inf:
        raise InvalidInput(f"tol is {tol}; it must be finite and not negative", pointer="/tol")
    if training.options.smoothing > 0:
        raise InvalidInput("a smoothed model keeps every step; it cannot be compressed")
    kept = training
    while not should_stop():
        smaller = _without_some(kept, _cheap_steps(kept, tol), tol, should_stop)
        if smaller is None:
            break
        kept = smaller
    return kept


def _without_some(training: Training, cheap: Sequence[tuple[int, int]], tol: float, should_stop: ShouldStop) -> Training | None:
    """Return the fit without as many of some steps as the objective allows, or half of that; None if without none."""
    number = len(cheap)
    while number:
        smaller = _without(training, cheap[:number], should_stop)
        if smaller.objective - training.objective < number * tol:
            return smaller
        if should_stop():
            break
        number //= 2
    return None


def _cheap_steps(training: Training, tol: float) -> list[tuple[int, int]]:
    """Return (output, position of the column in its forest) of the steps to go, in this order."""
    queues = []
    for output, forest in enumerate(training.forests):
        loss, target, decision = one_output(training, output)
        curvature = training.sample.row_weights() * loss.majorant(target, decision, MOST_ITERATIONS)[1]
        products, _ = products_in_use(training, output, curvature)
        ridge = training.options.alpha / forest.multiplicity
        queues.append([(cost, output, position) for position, cost in _deletions(products, ridge, forest.steps)])
    cheapest_first = heapq.merge(*queues, key=lambda step: step[0])
    return [(output, position) for _, output, position in itertools.takewhile(lambda step: step[0] < tol, cheapest_first)]


def _deletions(products: Floats, ridge: Floats, steps: Floats) -> list[tuple[int, float]]:
    """Return positions in the order of their deletion, each with its cost."""
    inverse, heights = pinvh(products + np.diag(ridge), check_finite=False), steps.copy()
    left = np.ones(len(steps), dtype=bool)
    deletions = []
    for _ in range(len(steps)):
        diagonal = np.where(left, np.maximum(inverse.diagonal(), np.finfo(float).tiny), 1.0)
        cost = np.where(left, heights**2 / (2 * diagonal), np.inf)
        j = int(np.argmin(cost))
        deletions.append((j, float(cost[j])))
        pivot = inverse[j].copy()
        heights -= heights[j] / diagonal[j] * pivot
        inverse -= np.outer(pivot, pivot) / diagonal[j]
        left[j] = False
    return deletions


def _without(training: Training, deleted: Sequence[tuple[int, int]], should_stop: ShouldStop) -> Training:
    """Return the fit without some columns, all other leaves fitted again."""
    forests = []
    for output, forest in enumerate(training.forests):
        stays = np.ones(len(forest.columns), dtype=bool)
        stays[[position for of, position in deleted if of == output]] = False
        forests.append(
            replace(forest, columns=forest.columns[stays], steps=forest.steps[stays], multiplicity=forest.multiplicity[stays])
        )
    return refit_leaves(training, forests, should_stop)
