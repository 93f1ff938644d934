"""Forests for more than two classes: one for each, improved in turn.

With the others fixed, the multinomial loss is the logistic loss of F_k with offset -log(sum over l != k of e^F_l), so that each turn is an
iteration of the logistic fit. All classes share the products under the sample weights, scaled to each class's mean curvature p (1 - p).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from solvers.gam.forest import ColumnProducts, Forest, ForestOptions, penalty
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.losses import ClassLoss
from solvers.gam.reweighted_fit import MOST_ITERATIONS, Products, ReweightedFit
from solvers.gam.sample import Sample


@dataclass(frozen=True, slots=True)
class ClassForests:
    """A forest for each class.

    Attributes
    ----------
    forests : tuple of K Forest
    objective : float
        Multinomial loss and all penalties.
    history : tuple of float
        Objective of the best constants and after every cycle.
    """

    forests: tuple[Forest, ...]
    objective: float
    history: tuple[float, ...]


def fit_multinomial(
    sample: Sample,
    n_classes: int,
    options: ForestOptions,
    products: Products,
    *,
    max_iterations: int = MOST_ITERATIONS,
    should_stop: ShouldStop = never,
) -> ClassForests:
    """Fit a forest of `options.n_stumps` stumps to each class.

    Parameters
    ----------
    sample : Sample
        Its target is the class of each row, 0 .. K - 1, each at least once.
    n_classes : int
        K.
    options : ForestOptions
    products : callable
        As for :func:`~solvers.gam.reweighted_fit.fit_reweighted`; asked once.
    max_iterations : int
        Cycles over the classes.
    should_stop : callable, optional
        Asked before every cycle and within.

    Notes
    -----
    O(N D^2) once, and O(K N D) for each cycle.
    """
    weights, target = sample.row_weights(), sample.target.astype(np.int64)
    shared: list[ColumnProducts] = []

    def once(curvature: np.ndarray | None) -> ColumnProducts:
        if not shared:
            shared.append(products(curvature))
        return shared[0]

    shares = np.bincount(target, weights=weights, minlength=n_classes) / weights.sum()
    decisions = np.tile(np.log(shares)[:, None], sample.table.n_rows)
    fits = []
    for k in range(n_classes):
        one = Sample(sample.table, sample.columns, (target == k).astype(np.float64), sample.weights)
        fits.append(ReweightedFit(one, ClassLoss(), options, once, _offset(decisions, k), should_stop=should_stop))

    def objective() -> float:
        loss = logsumexp(decisions, axis=0) - decisions[target, np.arange(len(target))]
        return float(weights @ loss + sum(penalty(fit.forest, options) for fit in fits))

    history = [objective()]
    for _ in range(max_iterations):
        if should_stop() or fits[0].is_constant:
            break
        for k, fit in enumerate(fits):
            if k and should_stop():
                break
            fit.move_to(_offset(decisions, k))
            fit.improve()
            decisions[k] = fit.steps + fit.forest.intercept
        history.append(objective())
        if history[-2] - history[-1] <= options.tol * abs(history[0] - history[-1]):
            break
    return ClassForests(tuple(fit.forest for fit in fits), history[-1], tuple(history))


def _offset(decisions: np.ndarray, k: int) -> np.ndarray:
    return np.asarray(-logsumexp(np.delete(decisions, k, axis=0), axis=0))
