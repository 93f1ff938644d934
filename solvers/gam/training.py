"""From rows to a fitted forest, whatever the loss: the engine's front door.

:func:`prepare` bins a table and lists its columns, :func:`train` fits, and :meth:`Training.certify` proves how far from the best forest
the result can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import logit

from solvers.gam.binning import MAX_LEVELS, bin_table
from solvers.gam.candidate_columns import candidate_columns, row_sums
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions, fit_forest, one_swap_residual
from solvers.gam.gram import Response, respond
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.level_subsets import OrderedViews, steepest_subset, with_views, without_views
from solvers.gam.logistic_bound import certify_logistic
from solvers.gam.losses import LogisticLoss, Loss, SquaredLoss
from solvers.gam.lower_bound import Certificate, certified, certify, dual_bound
from solvers.gam.multinomial_fit import fit_multinomial
from solvers.gam.restarts import Init, best_forest
from solvers.gam.reweighted_fit import Products, StoppableProducts, fit_reweighted
from solvers.gam.row_engine import GRAM_MEMORY_LIMIT, Engine, column_products
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import CodedColumn

ROUNDS_OF_VIEWS = 4


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for a good forest.

    Attributes
    ----------
    init : {"greedy", "relaxation", "best"}
    n_restarts : int
    seed : int
        Of the restarts.
    level_subsets : bool
        Whether categorical features may be split into any two sets of levels, beside one level against the rest.
    """

    init: Init = "greedy"
    n_restarts: int = 0
    seed: int = 0
    level_subsets: bool = False


@dataclass(frozen=True, slots=True)
class Computing:
    """Where the sums over rows are kept and how they are made.

    Attributes
    ----------
    engine : {"auto", "gram", "rows"}
    memory_limit : int
        Bytes of the Gram above which "auto" computes products on demand.
    n_jobs : int
        Threads.
    """

    engine: Engine = "auto"
    memory_limit: int = GRAM_MEMORY_LIMIT
    n_jobs: int = 1


@dataclass(frozen=True, slots=True)
class Training:
    """A fit, with what is needed to prove its quality.

    Attributes
    ----------
    views : OrderedViews
        The rows it was fitted on.
    loss : Loss
    options : ForestOptions
    forests : tuple of Forest
        One, or one for each class.
    objective : float
        J of them all.
    history : tuple of float
        J of the best constants and after every round, iteration or cycle.
    products : callable
        Returns products under given curvatures, or is interrupted.
    sums : tuple of ColumnProducts and Response, optional
        What squared loss was fitted on; None where the rows could not be summed up in time.
    """

    views: OrderedViews
    loss: Loss
    options: ForestOptions
    forests: tuple[Forest, ...]
    objective: float
    history: tuple[float, ...]
    products: StoppableProducts
    sums: tuple[ColumnProducts, Response] | None = None

    @property
    def sample(self) -> Sample:
        """Rows and columns that the forests refer to."""
        return self.views.sample

    def without_sums(self) -> Training:
        """Return the fit without the sums over rows, which take much more memory than the rows' bins."""
        return replace(self, sums=None)

    def with_sums(self) -> Training:
        """Return the fit with these sums, summed up again if they were let go."""
        if self.sums is not None or not isinstance(self.loss, SquaredLoss):
            return self
        return replace(self, sums=_sums(self.sample, self.products))

    def shapes(self) -> tuple[np.ndarray, ...]:
        """Return, for each forest, the score of each bin of each feature; not centred, shape (D, C), codes as in the table's bins."""
        return tuple(self.views.shapes(forest) for forest in self.forests)

    def certify(self, iterations: int | None = None, should_stop: ShouldStop = never) -> Certificate:
        """Bound the objective of the best forest from below: for squared and binary logistic loss."""
        sample, options, forest = self.sample, self.options, self.forests[0]
        if self.sums is not None:
            return certify(
                *self.sums,
                sample.columns,
                options,
                forest,
                n_rows=sample.table.n_rows,
                iterations=iterations,
                steepest=self._steepest_of_heights,
                should_stop=should_stop,
            )
        if isinstance(self.loss, SquaredLoss):
            return self._certify_from_nothing()
        if isinstance(self.loss, LogisticLoss) and len(self.forests) == 1:
            return certify_logistic(
                sample,
                options,
                forest,
                partial(self.products, should_stop=should_stop),
                iterations=iterations,
                steepest=self._steepest_of_pull,
                should_stop=should_stop,
            )
        return Certificate(self.objective, None, None, "loss", 0)

    def _certify_from_nothing(self) -> Certificate:
        """Bound squared loss by the heights 0, which takes no more than the sums of the response."""
        sample, options = self.sample, self.options
        response = _response(sample)
        if response.squares == 0 or options.n_stumps == 0 or len(sample.columns) == 0:
            return certified(self.objective, self.objective, 0)
        if options.alpha == 0:
            return Certificate(self.objective, None, None, "alpha", 0)
        none = np.zeros(len(sample.columns))
        steepest = self._steepest_of_heights(none)
        bound = dual_bound(none, response.correlations, response, sample.columns, options, steepest=steepest)
        return certified(self.objective, bound, 0)

    def _steepest_of_heights(self, heights: np.ndarray) -> float:
        if not self.views.feature:
            return 0.0
        sample = self.sample
        decision = row_sums(sample.table, sample.columns.scores(heights, sample.table.n_codes))
        return steepest_subset(self.views, sample.row_weights() * (sample.target - sample.row_offsets() - decision))

    def _steepest_of_pull(self, pull: np.ndarray) -> float:
        return steepest_subset(self.views, pull) if self.views.feature else 0.0

    def one_swap_residual(self, should_stop: ShouldStop = never) -> float | None:
        """Return the most that moving one stump alone could gain, as a share of the empty forest's J.

        None but for squared loss, or if there was no time to find out.
        """
        if self.sums is None:
            return None
        return one_swap_residual(*self.sums, self.sample.columns, self.options, self.forests[0], should_stop)


def prepare(
    values: Sequence[np.ndarray | CodedColumn],
    names: Sequence[str],
    target: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    max_bins: int | Literal["auto"] | None = "auto",
    max_levels: int = MAX_LEVELS,
    min_samples_leaf: float = 5,
    monotonic_cst: np.ndarray | None = None,
) -> Sample:
    """Bin the rows of positive weight and list the columns that a forest may use.

    Parameters
    ----------
    values, names, max_bins, max_levels
        As for :func:`~solvers.gam.binning.bin_table`.
    target : float64 array of shape (N,)
        Classes as 0 .. K - 1.
    weights, offset : float64 array of shape (N,), optional
    min_samples_leaf, monotonic_cst
        As for :func:`~solvers.gam.candidate_columns.candidate_columns`.
    """
    if weights is not None and not np.all(weights > 0):
        rows = np.flatnonzero(weights > 0)
        values = [_rows_of(column, rows) for column in values]
        target, weights, offset = target[rows], weights[rows], None if offset is None else offset[rows]
    if weights is not None and np.all(weights == 1):
        weights = None
    table = bin_table(values, names, max_bins=max_bins, max_levels=max_levels, weights=weights)
    columns = candidate_columns(table, weights, min_samples_leaf=min_samples_leaf, monotonic_cst=monotonic_cst)
    return Sample(table, columns, target, weights, offset, min_samples_leaf)


def train(
    sample: Sample,
    loss: Loss,
    options: ForestOptions,
    *,
    n_classes: int = 2,
    search: Search | None = None,
    computing: Computing | None = None,
    should_stop: ShouldStop = never,
) -> Training:
    """Fit a forest, or with more than two classes one for each.

    Parameters
    ----------
    sample : Sample
    loss : Loss
        :class:`~solvers.gam.losses.LogisticLoss` for classes.
    options : ForestOptions
    n_classes : int
    search : Search, optional
    computing : Computing, optional
    should_stop : callable, optional
        Asked now and then; the forest so far is returned, and if there is none yet the constant model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(2, 500))
    >>> sample = prepare(list(x), ["a", "b"], np.where(x[0] > 0.4, 2.0, 0.0) + 0.1 * rng.normal(size=500))
    >>> fit = train(sample, SquaredLoss(), ForestOptions(n_stumps=20, alpha=1.0))
    >>> len(fit.forests[0].columns) < 20, fit.certify().lower_bound <= fit.objective
    (True, True)
    """
    fit = _Engine(loss, options, n_classes, search or Search(), computing or Computing(), should_stop)
    views = without_views(sample)
    if not fit.search.level_subsets:
        return fit.fitted(views)
    decision = fit.constants(sample)
    for k in range(len(decision)):
        views = with_views(views, fit.pull(sample, decision[k], k))
    best = fit.fitted(views)
    for _ in range(ROUNDS_OF_VIEWS if len(best.forests) == 1 else 0):
        forest = best.forests[0]
        decision = [forest.intercept + sample.row_offsets() + views.sample.decision(forest)]
        wider = with_views(views, fit.pull(sample, decision[0], 0))
        if wider is views or should_stop():
            break
        further = fit.fitted(wider, best)
        if not further.objective < best.objective:
            break
        views, best = wider, further
    return best


@dataclass(frozen=True, slots=True)
class _Engine:
    """What stays the same from one set of views to the next."""

    loss: Loss
    options: ForestOptions
    n_classes: int
    search: Search
    computing: Computing
    should_stop: ShouldStop

    def fitted(self, views: OrderedViews, start: Training | None = None) -> Training:
        """Fit the rows, from the stumps of another fit if there is one."""
        sample, loss, options, search = views.sample, self.loss, self.options, self.search
        products = products_of(sample, self.computing)
        watched = partial(products, should_stop=self.should_stop)
        if self.n_classes > 2:
            classes = fit_multinomial(sample, self.n_classes, options, watched, should_stop=self.should_stop)
            return Training(views, loss, options, classes.forests, classes.objective, classes.history, products)
        how: dict[str, Any] = {
            "init": search.init,
            "n_restarts": search.n_restarts,
            "rng": np.random.default_rng(search.seed),
            "should_stop": self.should_stop,
        }
        if not isinstance(loss, SquaredLoss):
            forest = fit_reweighted(sample, loss, options, watched, start=None if start is None else start.forests[0], **how)
            return Training(views, loss, options, (forest,), forest.objective, forest.history, products)
        try:
            sums = _sums(sample, watched)
        except Interrupted:
            return self._constant(views, products)
        if start is None:
            forest = best_forest(*sums, sample.columns, options, **how)
            return Training(views, loss, options, (forest,), forest.objective, forest.history, products, sums)
        stumps = start.forests[0].stump_columns()
        forest = fit_forest(*sums, sample.columns, options, start=stumps, should_stop=self.should_stop)
        history = (*start.history, *forest.history[2:])  # the empty forest and the start are in it
        return Training(views, loss, options, (forest,), forest.objective, history, products, sums)

    def _constant(self, views: OrderedViews, products: StoppableProducts) -> Training:
        """Return the best constant under squared loss."""
        response, none = _response(views.sample), np.empty(0, dtype=np.int64)
        history = (response.squares / 2,)
        forest = Forest(none, np.empty(0), none, response.mean, history[0], history, False)
        return Training(views, self.loss, self.options, (forest,), history[0], history, products)

    def constants(self, sample: Sample) -> list[np.ndarray]:
        """Return the decision of the constant model, for each class if there are more than two."""
        weights, offset = sample.row_weights(), sample.row_offsets()
        if self.n_classes <= 2:
            return [offset + self.loss.best_constant(sample.target, weights, offset)]
        shares = np.bincount(sample.target.astype(np.int64), weights=weights, minlength=self.n_classes) / weights.sum()
        return [np.full(len(offset), logit(share)) for share in shares]

    def pull(self, sample: Sample, decision: np.ndarray, k: int) -> np.ndarray:
        """Return minus the weighted gradient at a decision, of class k if there are more than two."""
        target = sample.target if self.n_classes <= 2 else (sample.target == k).astype(np.float64)
        return -sample.row_weights() * self.loss.gradient(target, decision)


def resume(
    views: OrderedViews,
    loss: Loss,
    options: ForestOptions,
    forests: tuple[Forest, ...],
    objective: float,
    history: tuple[float, ...],
    *,
    computing: Computing | None = None,
) -> Training:
    """Return a fit that was made before from its rows, loss, options and forests."""
    products = products_of(views.sample, computing or Computing())
    sums = _sums(views.sample, products) if isinstance(loss, SquaredLoss) else None
    return Training(views, loss, options, forests, objective, history, products, sums)


def products_of(sample: Sample, computing: Computing) -> StoppableProducts:
    """Return what gives the products of a sample's columns under given curvatures."""
    return partial(
        column_products,
        sample.table,
        sample.columns,
        engine=computing.engine,
        memory_limit=computing.memory_limit,
        n_jobs=computing.n_jobs,
    )


def _sums(sample: Sample, products: Products) -> tuple[ColumnProducts, Response]:
    return products(sample.weights), _response(sample)


def _response(sample: Sample) -> Response:
    return respond(sample.table, sample.columns, sample.target - sample.row_offsets(), sample.weights)


def _rows_of(column: np.ndarray | CodedColumn, rows: np.ndarray) -> np.ndarray | CodedColumn:
    return CodedColumn(column.codes[rows], column.levels) if isinstance(column, CodedColumn) else column[rows]
