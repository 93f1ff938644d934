"""From rows to a fitted forest, whatever the loss: the engine's front door.

:func:`prepare` bins a table and lists its columns, :func:`train` fits, and :meth:`Training.certify` proves how far from the best forest
the result can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from solvers.gam.binning import MAX_LEVELS, bin_table
from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions, one_swap_residual
from solvers.gam.gram import Response, respond
from solvers.gam.logistic_bound import certify_logistic
from solvers.gam.losses import LogisticLoss, Loss, SquaredLoss
from solvers.gam.lower_bound import Certificate, certify
from solvers.gam.multinomial_fit import fit_multinomial
from solvers.gam.restarts import Init, best_forest
from solvers.gam.reweighted_fit import Products, fit_reweighted
from solvers.gam.row_engine import GRAM_MEMORY_LIMIT, Engine, column_products
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import CodedColumn


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for a good forest.

    Attributes
    ----------
    init : {"greedy", "relaxation", "best"}
    n_restarts : int
    seed : int
        Of the restarts.
    """

    init: Init = "greedy"
    n_restarts: int = 0
    seed: int = 0


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
    sample : Sample
    loss : Loss
    options : ForestOptions
    forests : tuple of Forest
        One, or one for each class.
    objective : float
        J of them all.
    history : tuple of float
        J of the best constants and after every round, iteration or cycle.
    products : callable
        Returns products under given curvatures.
    sums : tuple of ColumnProducts and Response, optional
        What squared loss was fitted on.
    """

    sample: Sample
    loss: Loss
    options: ForestOptions
    forests: tuple[Forest, ...]
    objective: float
    history: tuple[float, ...]
    products: Products
    sums: tuple[ColumnProducts, Response] | None = None

    def certify(self, iterations: int | None = None) -> Certificate:
        """Bound the objective of the best forest from below: for squared and binary logistic loss."""
        sample, options = self.sample, self.options
        if self.sums is not None:
            n_rows = sample.table.n_rows
            return certify(*self.sums, sample.columns, options, self.forests[0], n_rows=n_rows, iterations=iterations)
        if isinstance(self.loss, LogisticLoss) and len(self.forests) == 1:
            return certify_logistic(sample, options, self.forests[0], self.products, iterations=iterations)
        return Certificate(self.objective, None, None, "loss", 0)

    def one_swap_residual(self) -> float | None:
        """Return the most that moving one stump alone could gain, as a share of the empty forest's J; None but for squared loss."""
        if self.sums is None:
            return None
        return one_swap_residual(*self.sums, self.sample.columns, self.options, self.forests[0])


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
    return Sample(table, columns, target, weights, offset)


def train(
    sample: Sample,
    loss: Loss,
    options: ForestOptions,
    *,
    n_classes: int = 2,
    search: Search | None = None,
    computing: Computing | None = None,
    should_stop: Callable[[], bool] = lambda: False,
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
        Asked between rounds; the forest so far is returned.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(2, 500))
    >>> sample = prepare(list(x), ["a", "b"], np.where(x[0] > 0.4, 2.0, 0.0) + 0.1 * rng.normal(size=500))
    >>> fit = train(sample, SquaredLoss(), ForestOptions(n_stumps=20, alpha=1.0))
    >>> len(fit.forests[0].columns) < 20, fit.certify().lower_bound <= fit.objective
    (True, True)
    """
    search, products = search or Search(), _products(sample, computing or Computing())
    if n_classes > 2:
        classes = fit_multinomial(sample, n_classes, options, products, should_stop=should_stop)
        return Training(sample, loss, options, classes.forests, classes.objective, classes.history, products)
    sums, rng = None, np.random.default_rng(search.seed)
    if isinstance(loss, SquaredLoss):
        sums = _sums(sample, products)
        forest = best_forest(
            *sums, sample.columns, options, init=search.init, n_restarts=search.n_restarts, rng=rng, should_stop=should_stop
        )
    else:
        forest = fit_reweighted(
            sample, loss, options, products, init=search.init, n_restarts=search.n_restarts, rng=rng, should_stop=should_stop
        )
    return Training(sample, loss, options, (forest,), forest.objective, forest.history, products, sums)


def resume(
    sample: Sample,
    loss: Loss,
    options: ForestOptions,
    forests: tuple[Forest, ...],
    objective: float,
    history: tuple[float, ...],
    *,
    computing: Computing | None = None,
) -> Training:
    """Return a fit that was made before from its rows, loss, options and forests."""
    products = _products(sample, computing or Computing())
    sums = _sums(sample, products) if isinstance(loss, SquaredLoss) else None
    return Training(sample, loss, options, forests, objective, history, products, sums)


def _products(sample: Sample, computing: Computing) -> Products:
    return partial(
        column_products,
        sample.table,
        sample.columns,
        engine=computing.engine,
        memory_limit=computing.memory_limit,
        n_jobs=computing.n_jobs,
    )


def _sums(sample: Sample, products: Products) -> tuple[ColumnProducts, Response]:
    response = respond(sample.table, sample.columns, sample.target - sample.row_offsets(), sample.weights)
    return products(sample.weights), response


def _rows_of(column: np.ndarray | CodedColumn, rows: np.ndarray) -> np.ndarray | CodedColumn:
    return CodedColumn(column.codes[rows], column.levels) if isinstance(column, CodedColumn) else column[rows]
