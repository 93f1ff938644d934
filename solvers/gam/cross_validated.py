"""Stump-forest GAMs that choose their number of stumps and their ridge by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from solvers.gam.additive_fit import AdditiveFit, fit_additive, single_fit
from solvers.gam.average_search import select_average
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.feature_columns import CategoricalFeatures
from solvers.gam.fold_search import GridPoint
from solvers.gam.forest import Forest
from solvers.gam.interruption import ShouldStop
from solvers.gam.losses import Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.refit import refit_leaves
from solvers.gam.restarts import Init
from solvers.gam.row_engine import GRAM_MEMORY_LIMIT, Engine
from solvers.gam.sample import Sample
from solvers.gam.selection import (
    ALPHAS,
    N_STUMPS,
    SMOOTH_SHARES,
    THRESHOLD_FRACTIONS,
    Choice,
    Folds,
    Grid,
    Rule,
    Selection,
    select,
    split_rows,
)
from solvers.gam.stump_forest import FITTING_SHARE, Monitor, StumpForest
from solvers.gam.training import Training

# Of a fit's progress, what the search takes: for a forest, then for an average.
SEARCH_SHARE, AVERAGE_SHARE = 0.6, 0.3
# Of the time, when the search ends if it must: half as long again is left for the fit itself.
SELECTION_SHARE = 0.5


class _ChosenBySearch(StumpForest):
    """What both estimators do with a grid.

    Attributes
    ----------
    best_params_ : dict
        `n_stumps` and `alpha` of the model; 0 stumps is the constant model. Where averages were tried, `threshold_fraction` and
        `smooth_share` too.
    best_score_ : float
        Minus its held-out error, the weighted mean over the folds.
    best_score_stderr_ : float
        Standard error of that: the folds' standard deviation over the root of their number.
    cv_results_ : dict of arrays
        One entry for each point of the grid, named as scikit-learn names them; scores are minus the errors.
    metric_ : str
        What the error is.
    """

    n_stumps: Any
    alphas: Any
    cv: Any
    rule: Rule

    def checked_parameters(self) -> FitParameters:
        """Return the parameters but those that are searched for."""
        names = FitParameters.model_fields.keys() - {"n_stumps", "alpha"}
        return FitParameters.checked({name: getattr(self, name) for name in names if hasattr(self, name)})

    def _grid(self) -> Grid:
        return Grid.checked(self.n_stumps, self.alphas, self.rule)

    def _fit_sample(self, sample: Sample, loss: Loss, n_classes: int, monitor: Monitor, kept: np.ndarray | None) -> AdditiveFit:
        grid, parameters = self._grid(), self.checked_parameters()
        folds = split_rows(self.cv, sample.target, loss, parameters.seed(), kept)

        def should_stop() -> bool:
            return monitor.is_over(SELECTION_SHARE)

        selection = select(
            sample,
            loss,
            parameters,
            grid,
            folds,
            n_classes=n_classes,
            should_stop=should_stop,
            report=lambda fraction: monitor.report(fraction=SEARCH_SHARE * fraction),
        )
        choice, averages = selection.choose(grid.rule), None
        first = selection.first_fit(choice.point)
        self.best_params_ = {"n_stumps": choice.point.n_stumps, "alpha": choice.point.alpha}
        if grid.rule == "min" and len(selection.forests) == len(folds):
            averages = select_average(
                sample,
                loss,
                parameters,
                grid,
                folds,
                choice.point,
                should_stop=should_stop,
                report=lambda fraction: monitor.report(fraction=SEARCH_SHARE + AVERAGE_SHARE * fraction),
            )
        if averages is not None:
            choice = averages.choose(grid.rule)
            self.best_params_ = choice.point._asdict()
        self._show(selection, averages, choice)
        chosen = parameters.model_copy(update=self.best_params_)
        if should_stop() and averages is None:  # one plain fit is all that may follow
            chosen = chosen.model_copy(update={"bagging": 0, "threshold_fraction": 1.0, "smooth_share": 0.0})
        fit = fit_additive(sample, loss, chosen, n_classes=n_classes, should_stop=lambda: monitor.is_over(FITTING_SHARE))
        if monitor.is_over(FITTING_SHARE) and fit.training is not None:
            return _better(fit, fit.training, first, lambda: monitor.is_over(FITTING_SHARE))
        if chosen.bagging or not _are_a_partition(folds, sample.table.n_rows) or len(selection.forests) < len(folds):
            return fit
        return replace(fit, spreads=(averages or selection).jackknife(sample, choice.point))

    def _show(self, selection: Selection, averages: Selection | None, choice: Choice) -> None:
        points, errors, means = list(selection.points), selection.errors, selection.means
        if averages is not None:
            new = [number for number, point in enumerate(averages.points) if point not in points]
            points += [averages.points[number] for number in new]
            errors, means = np.vstack([errors, averages.errors[new]]), np.append(means, averages.means[new])
        scores = -errors
        self.metric_ = selection.metric
        self.best_score_, self.best_score_stderr_ = -choice.error, choice.stderr
        self.cv_results_ = {
            **{f"param_{name}": np.array([getattr(point, name) for point in points]) for name in GridPoint._fields},
            **{f"split{number}_test_score": scores[:, number] for number in range(scores.shape[1])},
            "mean_test_score": -means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": rankdata(means, method="min").astype(np.int64),
        }


def _better(fit: AdditiveFit, cut_short: Training, forests: Sequence[Forest], should_stop: ShouldStop) -> AdditiveFit:
    """Return a fit that was cut short, or if it is better the forests of a fold with their leaves fitted to all rows."""
    other = refit_leaves(cut_short, forests, should_stop)
    if not other.objective < cut_short.objective:
        return fit
    return single_fit(replace(other, history=(*cut_short.history, other.objective)), fit.sample, should_stop)


def _are_a_partition(folds: Folds, n_rows: int) -> bool:
    """Whether every row is held out once, as the jackknife needs."""
    return np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n_rows))


class StumpForestRegressorCV(_ChosenBySearch, StumpForestRegressor):
    """Additive regression model that chooses its number of stumps and its ridge by cross-validation.

    Parameters
    ----------
    n_stumps, alphas : sequence
        Candidates; the constant model is always another. For Poisson and quantile loss ridges are in units of the mean curvature at
        the constant model; `best_params_` holds the ridge itself.
    cv : int, splitter or iterable of pairs of positions
        Folds: that many random ones, by row position and `random_state`, or others.
    rule : {"min", "parsimony", "one_se"}
        The least error; or the fewest stumps, then the largest ridge, within 1 % or one standard error of it.
    threshold_fractions, smooth_shares : sequence
        By rule "min" and with squared loss, averages of forests with the best number of stumps and ridge are candidates too, with each
        pair of a `threshold_fraction` and a `smooth_share`. They are often better and have many more steps, no objective and no lower
        bound; ``(1.0,)`` and ``(0.0,)`` leave the single forest. A fraction or a share that is given itself is kept. There are no
        averages beside `bagging`, `l0`, `max_features`, `max_steps_per_feature` and level subsets, nor smooth ones beside `smoothing`,
        `l1` and `monotonic_cst`, or for more than 2500 columns.

    All others as for :class:`~solvers.gam.estimators.StumpForestRegressor`.

    Attributes
    ----------
    best_params_, best_score_, best_score_stderr_, cv_results_, metric_
        The choice. All others as for :class:`~solvers.gam.estimators.StumpForestRegressor`; bands come from the fits to the folds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=300)
    >>> model = StumpForestRegressorCV(n_stumps=(1, 50), alphas=(1, 10)).fit({"x": x}, np.sin(6 * x) + 0.1 * rng.normal(size=300))
    >>> model.best_params_
    {'n_stumps': 50, 'alpha': 1.0, 'threshold_fraction': 0.5, 'smooth_share': 0.0}
    """

    def __init__(
        self,
        n_stumps: Sequence[int] = N_STUMPS,
        *,
        alphas: Sequence[float] = ALPHAS,
        cv: Any = 5,
        rule: Rule = "min",
        threshold_fractions: Sequence[float] = THRESHOLD_FRACTIONS,
        smooth_shares: Sequence[float] = SMOOTH_SHARES,
        l1: float = 0.0,
        l0: float = 0.0,
        loss: Literal["squared_error", "poisson", "gamma", "huber", "quantile"] = "squared_error",
        quantile: float = 0.5,
        huber_delta: float = 1.0,
        max_bins: int | Literal["auto"] | None = "auto",
        min_samples_leaf: float = 5,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: Literal["one_vs_rest", "subset"] = "one_vs_rest",
        monotonic_cst: Any = None,
        max_features: int | None = None,
        max_steps_per_feature: int | None = None,
        smoothing: float = 0.0,
        init: Init = "greedy",
        n_restarts: int = 0,
        max_iter: int = 30,
        sweeps_per_iter: int = 3,
        tol: float = 1e-6,
        certificate: bool = True,
        certificate_iterations: int | None = None,
        engine: Engine = "auto",
        bagging: int = 0,
        threshold_fraction: float = 1.0,
        smooth_share: float = 0.0,
        gram_memory_limit: int = GRAM_MEMORY_LIMIT,
        unseen: Literal["score", "error"] = "score",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
    ) -> None:
        self._store(locals())

    def _grid(self) -> Grid:
        averages = {"threshold_fractions": self.threshold_fractions, "smooth_shares": self.smooth_shares}
        return Grid.checked(self.n_stumps, self.alphas, self.rule, **averages)


class StumpForestClassifierCV(_ChosenBySearch, StumpForestClassifier):
    """Additive classifier that chooses its number of stumps and its ridge by cross-validation.

    Parameters
    ----------
    n_stumps, alphas : sequence
        Candidates; the constant model is always another.
    cv : int, splitter or iterable of pairs of positions
        Folds: that many random ones, by row position and `random_state`, or others.
    rule : {"min", "parsimony", "one_se"}
        The least error; or the fewest stumps, then the largest ridge, within 1 % or one standard error of it.

    All others as for :class:`~solvers.gam.estimators.StumpForestClassifier`.

    Attributes
    ----------
    best_params_, best_score_, best_score_stderr_, cv_results_, metric_
        The choice. All others as for :class:`~solvers.gam.estimators.StumpForestClassifier`; bands come from the fits to the folds.

    Examples
    --------
    >>> x = np.random.default_rng(0).uniform(size=300)
    >>> model = StumpForestClassifierCV(n_stumps=(1, 50), alphas=(0.1, 10)).fit({"x": x}, x > 0.5)
    >>> model.best_params_, model.metric_
    ({'n_stumps': 50, 'alpha': 0.1}, 'log_loss')
    """

    def __init__(
        self,
        n_stumps: Sequence[int] = N_STUMPS,
        *,
        alphas: Sequence[float] = ALPHAS,
        cv: Any = 5,
        rule: Rule = "min",
        l1: float = 0.0,
        l0: float = 0.0,
        loss: Literal["log_loss"] = "log_loss",
        class_weight: Any = None,
        max_bins: int | Literal["auto"] | None = "auto",
        min_samples_leaf: float = 5,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: Literal["one_vs_rest", "subset"] = "one_vs_rest",
        monotonic_cst: Any = None,
        max_features: int | None = None,
        max_steps_per_feature: int | None = None,
        smoothing: float = 0.0,
        init: Init = "greedy",
        n_restarts: int = 0,
        max_iter: int = 30,
        sweeps_per_iter: int = 3,
        tol: float = 1e-6,
        certificate: bool = True,
        certificate_iterations: int | None = None,
        engine: Engine = "auto",
        bagging: int = 0,
        threshold_fraction: float = 1.0,
        smooth_share: float = 0.0,
        gram_memory_limit: int = GRAM_MEMORY_LIMIT,
        unseen: Literal["score", "error"] = "score",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
    ) -> None:
        self._store(locals())
