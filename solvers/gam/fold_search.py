"""A grid of forests, fitted to the training rows of a fold and scored on the rows held out.

Squared loss: all of it from sums over rows (:mod:`~solvers.gam.moments`). Any other loss is replaced by a quadratic at a pilot fit to the
training rows alone, so that one set of inner products serves the grid; then the intercept is fitted to the training rows and the loss
itself scored on the others. (A pilot on all rows would leak the held-out targets through the quadratic's response.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from solvers.gam.averaging import averages_on_sums
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions
from solvers.gam.gram import Response, respond
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.losses import LEAST_PROBABILITY_CURVATURE, Loss, SquaredLoss
from solvers.gam.moments import Moments, fold_moments
from solvers.gam.multinomial_fit import fit_multinomial
from solvers.gam.parameters import FitParameters
from solvers.gam.restarts import best_forest
from solvers.gam.reweighted_fit import Products, fit_reweighted
from solvers.gam.row_errors import row_error
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats
from solvers.gam.training import products_of

PILOT_STUMPS, PILOT_ALPHA, PILOT_ITERATIONS = 200, 100.0, 4
# With more classes one bound on the curvature serves all of them.
MOST_CLASSES_WITH_OWN_PRODUCTS = 10
NEWTON_STEPS = 50
SHORTEST_STRIDE = 2.0**-20
ABSENT_CLASS = -30.0


class GridPoint(NamedTuple):
    """A number of stumps and a ridge, and which average of forests, if any."""

    n_stumps: int
    alpha: float
    threshold_fraction: float = 1.0
    smooth_share: float = 0.0


FoldFits = tuple[tuple[Forest, ...], ...]


class Fold(NamedTuple):
    """Errors on the rows held out.

    Attributes
    ----------
    errors : float64 array of shape (G,)
        Of fewer points, the first ones, if there was no time for all.
    weight : float
        Of these rows.
    fits : tuple of G tuples of Forest, one for each output
    """

    errors: Floats
    weight: float
    fits: FoldFits


class Quadratic(NamedTuple):
    """Least squares in place of a loss: response and curvature of each row."""

    response: Floats
    curvature: Floats | None


@dataclass
class FoldSearch:
    """The fits of a grid to one fold after the other.

    Parameters
    ----------
    sample : Sample
    loss : Loss
    parameters : FitParameters
    points : sequence of G GridPoint
    n_classes : int
    pilot_alpha : float
        Ridge of the pilot fits.
    should_stop : callable, optional
        Asked now and then; what is not finished then does not count.
    """

    sample: Sample
    loss: Loss
    parameters: FitParameters
    points: Sequence[GridPoint]
    n_classes: int = 2
    pilot_alpha: float = PILOT_ALPHA
    should_stop: ShouldStop = never
    _all: Moments | None = field(default=None, init=False)

    @property
    def needs_no_rows(self) -> bool:
        """Whether all of it comes from sums over rows."""
        parameters, p = self.parameters, len(self.sample.columns)
        return isinstance(self.loss, SquaredLoss) and parameters.engine != "rows" and 8 * p * p <= parameters.gram_memory_limit

    def run(self, train: np.ndarray, test: np.ndarray) -> Fold:
        """Fit the rows `train` and score the rows `test`, every point as a single forest.

        Raises
        ------
        Interrupted
            If there was no time for any point.
        """
        if not self.needs_no_rows:
            return self._from_rows(self.sample.rows(train), self.sample.rows(test))
        fitted, held = self._sums(train, test)
        return _scored_by_sums(self._forests(fitted.gram(), fitted.fit_response()), held)

    def run_averages(self, train: np.ndarray, test: np.ndarray) -> Fold:
        """Do the same for points that are averages, all with the same number of stumps and ridge; needs no rows."""
        fitted, held = self._sums(train, test)
        every = [self.parameters.model_copy(update=point._asdict()) for point in self.points]
        columns = self.sample.columns
        averages = averages_on_sums(fitted.gram(), fitted.fit_response(), columns, every, should_stop=self.should_stop)
        return _scored_by_sums(averages, held)

    def constant(self, train: np.ndarray, test: np.ndarray) -> Fold:
        """Score the best constant alone, which takes no products."""
        none = np.empty(0, dtype=np.int64)
        forest = Forest(none, np.empty(0), none, 0.0, 0.0, (), False)
        n_outputs = self.n_classes if self.n_classes > 2 else 1
        return self._scored(self.sample.rows(train), self.sample.rows(test), [[forest]] * n_outputs)

    def _sums(self, train: np.ndarray, test: np.ndarray) -> tuple[Moments, Moments]:
        """Return the sums over the rows to fit and over those held out."""
        held = self._moments(test)
        n_rows = self.sample.table.n_rows
        if not np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n_rows)):
            return self._moments(train), held
        if self._all is None:
            self._all = self._moments(np.arange(n_rows))
        return self._all - held, held

    def _moments(self, rows: np.ndarray) -> Moments:
        """Sum some rows up; a row that occurs twice counts twice."""
        sample = self.sample
        counts = np.bincount(rows, minlength=sample.table.n_rows)
        weights = sample.weights if counts.max(initial=0) <= 1 else counts * sample.row_weights()
        fold = np.where(counts > 0, 0, -1)
        response = sample.target - sample.row_offsets()
        n_jobs = self.parameters.n_jobs or 1
        (moments,) = fold_moments(
            sample.table, sample.columns, response, fold, weights, n_jobs=n_jobs, should_stop=self.should_stop
        )
        return moments

    def _from_rows(self, part: Sample, held: Sample) -> Fold:
        return self._scored(part, held, [self._on_quadratic(part, quadratic) for quadratic in self._quadratics(part)])

    def _scored(self, part: Sample, held: Sample, per_output: Sequence[Sequence[Forest]]) -> Fold:
        error = row_error(self.loss, self.n_classes)
        errors: list[float] = []
        fits: list[tuple[Forest, ...]] = []
        for forests in zip(*per_output, strict=False):  # of some outputs there may be fewer points
            if errors and self.should_stop():
                break
            fitted = self._with_intercepts(part, forests)
            decision = np.array([held.decision(forest) + forest.intercept for forest in fitted])
            F = decision.T if len(fitted) > 1 else decision[0] + held.row_offsets()
            errors.append(float(np.average(error.of(held.target, F), weights=held.weights)))
            fits.append(fitted)
        return Fold(np.array(errors), float(held.row_weights().sum()), tuple(fits))

    def _forests(self, products: ColumnProducts, response: Response) -> list[Forest]:
        """Fit the points, each from scratch and with the same random numbers, as a fit with its parameters alone would."""
        parameters, options = self.parameters, self.parameters.forest_options()
        forests: list[Forest] = []
        for point in self.points:
            forest = best_forest(
                products,
                response,
                self.sample.columns,
                replace(options, n_stumps=point.n_stumps, alpha=point.alpha),
                init=parameters.init,
                n_restarts=parameters.n_restarts,
                rng=np.random.default_rng(parameters.seed()),
                should_stop=self.should_stop,
            )
            if forests and self.should_stop():
                break
            forests.append(forest)
        return forests

    def _on_quadratic(self, part: Sample, quadratic: Quadratic) -> list[Forest]:
        response = respond(part.table, part.columns, quadratic.response, quadratic.curvature)
        products = products_of(part, self.parameters.computing())
        return self._forests(products(quadratic.curvature, should_stop=self.should_stop), response)

    def _quadratics(self, part: Sample) -> Iterator[Quadratic]:
        """Yield the quadratic of each output at a pilot fit."""
        if isinstance(self.loss, SquaredLoss):
            yield Quadratic(part.target - part.row_offsets(), part.weights)
            return
        options = replace(self.parameters.forest_options(), n_stumps=PILOT_STUMPS, alpha=self.pilot_alpha)
        weights = part.row_weights()
        products = partial(products_of(part, self.parameters.computing()), should_stop=self.should_stop)
        if self.n_classes > 2:
            yield from _class_quadratics(part, self.n_classes, options, products, self.should_stop)
            return
        loss = self.loss.scaled_to(part.target - part.row_offsets(), weights)
        pilot = fit_reweighted(part, loss, options, products, max_iterations=PILOT_ITERATIONS, should_stop=self.should_stop)
        steps = part.decision(pilot) + pilot.intercept
        gradient, curvature = loss.linearised(part.target, steps + part.row_offsets())
        yield Quadratic(steps - gradient / curvature, weights * curvature)

    def _with_intercepts(self, part: Sample, forests: tuple[Forest, ...]) -> tuple[Forest, ...]:
        """Return the forests with the intercepts that suit the loss best on the rows they were fitted to."""
        steps = np.array([part.decision(forest) for forest in forests])
        if len(forests) > 1:
            intercepts = class_intercepts(part.target.astype(np.int64), part.row_weights(), steps)
        else:
            intercepts = np.array([self.loss.best_constant(part.target, part.row_weights(), part.row_offsets() + steps[0])])
        return tuple(replace(forest, intercept=float(intercept)) for forest, intercept in zip(forests, intercepts, strict=True))


def _scored_by_sums(forests: Iterable[Forest], held: Moments) -> Fold:
    fits = tuple((forest,) for forest in forests)
    errors = [held.squared_error(forest.intercept, forest.columns, forest.steps) / held.total for (forest,) in fits]
    return Fold(np.array(errors), held.total, fits)


def class_intercepts(target: np.ndarray, weights: Floats, steps: Floats) -> Floats:
    """Return the intercepts that minimise the multinomial loss, for given steps; -30 for a class without rows.

    Parameters
    ----------
    target : int array of shape (N,)
    weights : float array of shape (N,)
    steps : float64 array of shape (K, N)

    Examples
    --------
    >>> np.exp(class_intercepts(np.array([0, 0, 1, 2]), np.ones(4), np.zeros((3, 4))) - np.log(0.25)).round(6)
    array([2., 1., 1.])
    """
    observed = np.bincount(target, weights=weights, minlength=len(steps))
    present = np.flatnonzero(observed)
    observed, with_rows, total = observed[present], steps[present], weights.sum()

    def loss(intercepts: Floats) -> float:
        return float(weights @ logsumexp(with_rows + intercepts[:, None], axis=0) - observed @ intercepts)

    intercepts = np.log(observed / total)
    for _ in range(NEWTON_STEPS):
        p = softmax(with_rows + intercepts[:, None], axis=0)
        gradient = p @ weights - observed
        if np.abs(gradient).max() <= 1e-12 * total:
            break
        step = np.linalg.pinv(np.diag(p @ weights) - (p * weights) @ p.T, rcond=1e-12) @ gradient
        now, slope = loss(intercepts), float(gradient @ step)
        stride = 1.0
        while stride > SHORTEST_STRIDE and loss(intercepts - stride * step) > now - 1e-4 * stride * slope:
            stride /= 2
        intercepts -= stride * step
    every = np.full(len(steps), ABSENT_CLASS)
    every[present] = intercepts - logsumexp(intercepts)
    return every


def _class_quadratics(
    part: Sample, n_classes: int, options: ForestOptions, products: Products, should_stop: ShouldStop
) -> Iterator[Quadratic]:
    """Yield the quadratic of each class, the others as they are at the pilot."""
    present, target = np.unique(part.target.astype(np.int64), return_inverse=True)
    weights = part.row_weights()
    pilot = fit_multinomial(
        replace(part, target=target),
        len(present),
        options,
        products,
        max_iterations=PILOT_ITERATIONS,
        should_stop=should_stop,
    )
    steps = np.array([part.decision(forest) + forest.intercept for forest in pilot.forests])
    p = softmax(steps, axis=0)
    for k in range(n_classes):
        if k not in present:
            yield Quadratic(np.zeros(len(target)), weights)
            continue
        own = int(np.searchsorted(present, k))
        if n_classes > MOST_CLASSES_WITH_OWN_PRODUCTS:
            curvature = np.full(len(target), 0.5)
        else:
            curvature = np.maximum(p[own] * (1 - p[own]), LEAST_PROBABILITY_CURVATURE)
        yield Quadratic(steps[own] - (p[own] - (target == own)) / curvature, weights * curvature)
