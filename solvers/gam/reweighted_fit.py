"""Forests for any loss: a sequence of weighted least-squares problems, each with a quadratic in place of the loss.

At the present decision F with gradient g and curvature h the quadratic is that of a response z = F - g / h under weights h. Its inner
products M need a pass over all pairs of features, its correlations s = -U'g only one over the features; so M is computed for the first
iteration and again for a few later ones, and kept between. A step that does not lower the objective is tried again with a doubled
curvature, then with new products, then its splits are taken without its leaves, and last the splits stay as they are: damped Newton steps
on the leaves always lower the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from solvers.gam.candidate_columns import bin_sums
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions, fit_forest, penalty
from solvers.gam.gram import Response
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.losses import Loss
from solvers.gam.restarts import Init, best_forest
from solvers.gam.sample import Sample

MOST_ITERATIONS = 25
NEW_PRODUCTS_AT = (0, 3, 8)
MOST_TRIALS = 5
ROUNDS = 3

Products = Callable[[np.ndarray | None], ColumnProducts]
"""From curvatures, None for 1, to the products of the columns."""


class StoppableProducts(Protocol):
    """The same, and they can be interrupted while the rows are summed up."""

    def __call__(self, curvature: np.ndarray | None, /, *, should_stop: ShouldStop = ...) -> ColumnProducts: ...


def fit_reweighted(
    sample: Sample,
    loss: Loss,
    options: ForestOptions,
    products: Products,
    *,
    init: Init = "greedy",
    n_restarts: int = 0,
    rng: np.random.Generator | None = None,
    start: Forest | None = None,
    max_iterations: int = MOST_ITERATIONS,
    should_stop: ShouldStop = never,
) -> Forest:
    """Fit a forest to a loss.

    Parameters
    ----------
    sample : Sample
    loss : Loss
    options : ForestOptions
        `tol` is the share of what was gained so far that an iteration must add for another to follow.
    products : callable
        Returns the products of the columns under the curvatures h, or under h = 1 given None.
    init, n_restarts, rng
        As for :func:`~solvers.gam.restarts.best_forest`, for the first iteration.
    start : Forest, optional
        Where to go on from, instead.
    max_iterations : int
    should_stop : callable, optional
        Asked before every iteration and within.

    Returns
    -------
    Forest
        Its objective is the sum of the losses plus the penalties; `history` starts with that of the best constant.

    Notes
    -----
    O(N D) an iteration, of which a few (for quantile loss all, for Huber loss one) O(N D^2).
    """
    fit = ReweightedFit(sample, loss, options, products, sample.row_offsets(), start, should_stop)
    for iteration in range(max_iterations):
        if should_stop() or fit.is_done:
            break
        if iteration == 0 and start is None:
            fit.improve(
                lambda *problem: best_forest(*problem, init=init, n_restarts=n_restarts, rng=rng, should_stop=should_stop)
            )
        else:
            fit.improve()
    return fit.forest


class ReweightedFit:
    """A forest between two iterations.

    Attributes
    ----------
    forest : Forest
    steps : float64 array of shape (N,)
        Its decision without intercept and offset.
    is_constant : bool
        Whether there is nothing but the intercept to fit.
    is_done : bool
        Whether another iteration would be of no use.
    """

    def __init__(
        self,
        sample: Sample,
        loss: Loss,
        options: ForestOptions,
        products: Products,
        offset: np.ndarray,
        start: Forest | None = None,
        should_stop: ShouldStop = never,
    ) -> None:
        self.sample, self.options, self.offset, self._should_stop = sample, options, offset, should_stop
        self._weights = sample.row_weights()
        self.loss = loss.scaled_to(sample.target - offset, self._weights)
        self._build = products
        self._products: ColumnProducts | None = None
        self._is_fresh = False
        self._iteration = 0
        self.steps = np.zeros(sample.table.n_rows)
        none = np.empty(0, dtype=np.int64)
        empty = self._scored(Forest(none, np.empty(0), none, 0.0, 0.0, (), False), self.steps)
        self.forest = replace(empty, history=(empty.objective,))
        if start is not None:
            self.forest, self.steps = start, sample.decision(start)
        self.is_constant = options.n_stumps == 0 or len(sample.columns) == 0
        self.is_done = self.is_constant

    @property
    def decision(self) -> np.ndarray:
        """Decision of every row, float64 of shape (N,)."""
        return self.offset + self.steps + self.forest.intercept

    def move_to(self, offset: np.ndarray) -> None:
        """Fit the intercept to another offset, from which the next iteration goes on."""
        self.offset = offset
        self.forest = self._scored(self.forest, self.steps)
        self.is_done = self.is_constant

    def improve(self, fit: Callable[..., Forest] = fit_forest) -> None:
        """Fit the present quadratic; with `fit` in place of moving on from the present stumps.

        If it is interrupted, the forest stays as it is.
        """
        try:
            self._improve(fit)
        except Interrupted:
            self.is_done = True

    def _improve(self, fit: Callable[..., Forest]) -> None:
        gradient, curvature = self.loss.majorant(self.sample.target, self.decision, self._iteration)
        gradient, curvature = self._weights * gradient, self._weights * curvature
        if self._products is None or self._iteration in NEW_PRODUCTS_AT or self.loss.is_reweighted_always:
            self._renew(curvature)
        found, rejected = self._lower(gradient, curvature, fit)
        if found is None and not self._is_fresh:
            self._renew(curvature)
            found, rejected = self._lower(gradient, curvature, fit)
        if found is None:
            found = self._on_splits_of(rejected)
        if found is None:
            self._fit_leaves()
            self.is_done = True
            return
        before, (self.forest, self.steps) = self.forest, found
        self._iteration += 1
        gained, in_all = before.objective - self.forest.objective, self.forest.history[0] - self.forest.objective
        if gained <= self.options.tol * abs(in_all):
            self.is_done = self._is_fresh
            self._products = None if not self._is_fresh else self._products
        self._is_fresh = self.loss.is_evenly_curved

    def _renew(self, curvature: np.ndarray) -> None:
        if not self.loss.is_evenly_curved:
            self._products = self._build(curvature)
        elif self._products is None:
            self._products = self._build(self.sample.weights)
        self._is_fresh = True

    def _lower(
        self, gradient: np.ndarray, curvature: np.ndarray, fit: Callable[..., Forest]
    ) -> tuple[tuple[Forest, np.ndarray] | None, Forest]:
        """Fit the quadratic with curvature doubled until the objective falls; if it never does, return the last forest alone."""
        products, columns, forest = self._products, self.sample.columns, self.forest
        assert products is not None
        slopes = columns.sums(bin_sums(self.sample.table, gradient)) - products.shares * gradient.sum()
        curved = products.combine(forest.columns, forest.steps)
        along = float(curved[forest.columns] @ forest.steps)
        metric = self._weights if self.loss.is_evenly_curved else curvature
        residual = float(np.sum(gradient**2 / metric) - gradient.sum() ** 2 / metric.sum())
        scale = float(curvature.sum() / metric.sum())
        for _ in range(MOST_TRIALS):
            falling = -slopes / scale
            squares = max(0.0, residual / scale**2 + 2 * float(falling[forest.columns] @ forest.steps) + along)
            response = Response(falling + curved, 0.0, squares)
            how = {"start": forest.stump_columns(), "should_stop": self._should_stop} if fit is fit_forest else {}
            candidate = fit(products, response, columns, self._scaled_options(scale), **how)
            steps = self.sample.decision(candidate)
            candidate = self._scored(candidate, steps)
            if candidate.objective < forest.objective:
                return (replace(candidate, history=(*forest.history, candidate.objective)), steps), candidate
            if self._should_stop():
                raise Interrupted
            scale *= 2
        return None, candidate

    def _on_splits_of(self, rejected: Forest) -> tuple[Forest, np.ndarray] | None:
        """Fit the leaves for splits whose own leaves went too far, from the present heights on; None if the objective does not fall."""
        heights = self.forest.heights(len(self.sample.columns))[rejected.columns]
        start = replace(rejected, steps=heights)
        start = self._scored(start, self.sample.decision(start))
        fitted = self._best_leaves(start)
        if not fitted.objective < self.forest.objective:
            return None
        used = fitted.steps != 0
        kept = replace(
            fitted,
            columns=fitted.columns[used],
            steps=fitted.steps[used],
            multiplicity=fitted.multiplicity[used],
            history=(*self.forest.history, fitted.objective),
        )
        return kept, self.sample.decision(kept)

    def _scaled_options(self, scale: float) -> ForestOptions:
        """Return the options for a quadratic that was divided by `scale`."""
        options = self.options
        return replace(
            options,
            alpha=options.alpha / scale,
            l1=options.l1 / scale,
            l0=options.l0 / scale,
            max_iter=min(ROUNDS, options.max_iter),
        )

    def _scored(self, forest: Forest, steps: np.ndarray) -> Forest:
        """Return the forest with the best intercept and the objective under the loss."""
        decision = self.offset + steps
        intercept = self.loss.best_constant(self.sample.target, self._weights, decision)
        value = float(self._weights @ self.loss.value(self.sample.target, decision + intercept))
        return replace(forest, intercept=intercept, objective=value + penalty(forest, self.options))

    def _fit_leaves(self) -> None:
        self.forest = self._best_leaves(self.forest)
        self.steps = self.sample.decision(self.forest)

    def _best_leaves(self, forest: Forest) -> Forest:
        return fit_leaves(
            self.sample,
            self.loss,
            self.options,
            forest,
            self.offset,
            iteration=self._iteration,
            should_stop=self._should_stop,
        )
