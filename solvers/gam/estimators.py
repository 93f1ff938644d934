"""Stump-forest GAMs as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags

from solvers.gam.additive_fit import one_class_fit
from solvers.gam.additive_model import AdditiveModel
from solvers.gam.bands import one_output
from solvers.gam.feature_columns import CategoricalFeatures, n_rows
from solvers.gam.restarts import Init
from solvers.gam.row_engine import GRAM_MEMORY_LIMIT, Engine
from solvers.gam.shape_functions import Floats
from solvers.gam.stump_forest import Monitor, StumpForest, Unwatched, rows_of_weight
from solvers.gam.targets import class_target, class_weights, regression_target, row_offsets, row_weights
from solvers.gam.training import Training
from solvers.operation import InvalidInput


class StumpForestRegressor(RegressorMixin, StumpForest):  # type: ignore[misc]  # scikit-learn has no types
    """Additive regression model of decision stumps.

    F(x) = intercept + sum over features of f_d(x_d), each f_d a step function; the prediction is F or, for Poisson and gamma loss, exp(F).

    Parameters
    ----------
    n_stumps : int
        T: the most steps that the model may have.
    alpha : float
        Ridge on every stump's step, in units of sample weight: a step that separates n rows from the rest shrinks by about
        n / (n + alpha).
    l1, l0 : float
        Price of the absolute size of steps and of every stump.
    loss : {"squared_error", "poisson", "gamma", "huber", "quantile"}
    quantile, huber_delta : float
        For the losses of that name.
    max_bins : int, "auto" or None
        Most bins of a numeric feature; None for a cut between any two values; "auto" for 255, or 64 for wide tables.
    min_samples_leaf : float
        Least sample weight on either side of a step.
    categorical_features : "from_dtype", or names, positions or a mask
        By default the columns that hold texts or categories.
    categorical_splits : {"one_vs_rest", "subset"}
        Whether a step of a categorical feature is for one level or for any set of levels.
    monotonic_cst : array_like of {-1, 0, 1}, or mapping of names to these, optional
        Direction of numeric features; missing values are exempt.
    max_features, max_steps_per_feature : int, optional
        Most features in use, and most steps of one.
    smoothing : float
        Base multiplicity of every step: smoother curves with many steps.
    init : {"greedy", "relaxation", "best"}
    n_restarts : int
        Starts of the search for a low objective, which is not always a better model.
    max_iter, sweeps_per_iter : int
    tol : float
        Limits of the search.
    certificate : bool
        Whether to bound the objective of the best forest from below.
    certificate_iterations : int, optional
        Work spent on that.
    engine : {"auto", "gram", "rows"}
    gram_memory_limit : int
        Where the inner products of steps are kept.
    unseen : {"score", "error"}
        What becomes of a level that training did not have: it scores 0, as the average row does, or it is refused. Exports score it.
    bagging : int
        Average of this many fits to rows with random weights, whose spread gives the bands; 0 for one fit.
    threshold_fraction : float
        Below 1: average of 12 fits that may each use this share of the thresholds of finely valued features; smoother curves.
    smooth_share : float
        Above 0: average, with this share, of that and a smooth forest, with a base multiplicity of 10 for every step.
    random_state : int, RandomState or None
        None is 0, so that equal rows give equal models.
    n_jobs : int
        Threads that sum the rows up.

    Attributes
    ----------
    intercept_, shape_functions_, stumps_, n_steps_, feature_importances_, bin_edges_
        The model; see :class:`~solvers.gam.fitted_gam.FittedGam`.
    objective_, objective_history_, lower_bound_, gap_, gap_reason_, n_iter_
        The fit and the proof of its quality.
    n_features_in_, feature_names_in_, warnings_

    References
    ----------
    M. Gabidolla and M. Á. Carreira-Perpiñán, "Generalized additive models via direct optimization of regularized decision stump
    forests", ICML 2025.

    Examples
    --------
    >>> x = np.linspace(0, 1, 200)
    >>> model = StumpForestRegressor(n_stumps=1, alpha=1.0).fit({"x": x}, np.where(x > 0.5, 4.0, 2.0))
    >>> model.predict({"x": [0.2, 0.8]}).round(2), model.n_steps_
    (array([2.02, 3.98]), 1)
    """

    def __init__(
        self,
        n_stumps: int = 200,
        *,
        alpha: float = 30.0,
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma")
        return tags

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        offset: npt.ArrayLike | None = None,
        exposure: npt.ArrayLike | None = None,
        monitor: Monitor | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array_like of shape (N, D), data frame, or mapping of names to columns
            NaN and None are missing values.
        y : array_like of shape (N,)
        sample_weight : array_like of shape (N,), optional
            Frequency weights: 2 equals the row twice, 0 none.
        offset : array_like of shape (N,), optional
            Added to F.
        exposure : array_like of shape (N,), optional
            Positive, with Poisson or gamma loss: the offset log(exposure).
        monitor : Monitor, optional
            Told how far the fit has come, and asked whether to end.

        Raises
        ------
        InvalidInput
            A ValueError that names the column and the row, or the parameter.
        """
        self.warnings_ = ()
        monitor = monitor or Unwatched()
        parameters = self.checked_parameters()
        loss = parameters.make_loss()
        columns, reader = self._read_training(X, parameters.categorical_features)
        size = n_rows(columns)
        target = regression_target(y, loss, size)
        added, kind = row_offsets(offset, exposure, loss.link, size)
        weights = row_weights(sample_weight, size)
        sample = self._prepare(columns, reader, target, weights, added)
        if parameters.loss == "poisson" and not sample.target.any():
            self._warn(["all targets are 0; the rate is taken as 1e-10"])
        fit = self._fit_sample(sample, loss, 1, monitor, rows_of_weight(weights))
        return self._finish(reader, fit.model(offset=kind), fit, monitor)

    def predict(self, X: Any, *, offset: npt.ArrayLike | None = None, exposure: npt.ArrayLike | None = None) -> Floats:
        """Return the predicted mean (or quantile) of each row, without offset and exposure that of a unit."""
        return self.model_.mean(self._decision(X, offset, exposure))

    def score(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        offset: npt.ArrayLike | None = None,
        exposure: npt.ArrayLike | None = None,
    ) -> float:
        """Return R^2."""
        return float(r2_score(y, self.predict(X, offset=offset, exposure=exposure), sample_weight=sample_weight))

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any]) -> Self:
        """Return an estimator that predicts as the model of a document does."""
        model = AdditiveModel.from_json(document)
        if model.task != "regression":
            raise InvalidInput("the document holds a classification", pointer="/task")
        return cls()._restore(model)


class StumpForestClassifier(ClassifierMixin, StumpForest):  # type: ignore[misc]  # scikit-learn has no types
    """Additive classifier of decision stumps, for two classes (logistic loss) or more (multinomial, one forest for each).

    Parameters
    ----------
    class_weight : mapping of labels to float, "balanced" or None
        Factors of the sample weights.

    All others as for :class:`StumpForestRegressor`.

    Attributes
    ----------
    classes_ : array of shape (K,)

    All others as for :class:`StumpForestRegressor`.

    Examples
    --------
    >>> x = np.linspace(0, 1, 200)
    >>> model = StumpForestClassifier(n_stumps=10, alpha=1.0).fit({"x": x}, np.where(x > 0.5, "high", "low"))
    >>> model.predict({"x": [0.2, 0.8]})
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        n_stumps: int = 200,
        *,
        alpha: float = 30.0,
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

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        offset: npt.ArrayLike | None = None,
        monitor: Monitor | None = None,
    ) -> Self:
        """Fit the model; parameters and faults as :meth:`StumpForestRegressor.fit`, `y` labels."""
        self.warnings_ = ()
        monitor = monitor or Unwatched()
        parameters = self.checked_parameters()
        if parameters.loss != "log_loss":
            raise InvalidInput(f"loss: {parameters.loss!r} is no loss for classes", pointer="/loss")
        columns, reader = self._read_training(X, parameters.categorical_features)
        size = n_rows(columns)
        labels = class_target(y, size)
        weights = class_weights(self.class_weight, labels, row_weights(sample_weight, size))
        counted = slice(None) if weights is None else weights > 0
        self.classes_ = np.unique(labels[counted])
        n_classes = len(self.classes_)
        codes = np.searchsorted(self.classes_, labels).astype(np.float64)
        added, kind = row_offsets(offset, None, "softmax" if n_classes > 2 else "logit", size)
        sample = self._prepare(columns, reader, codes, weights, added)
        if n_classes == 1:
            self._warn([f"all rows are of class {self.classes_[0]}; so is every prediction"])
            fit = one_class_fit(sample)
        else:
            fit = self._fit_sample(sample, parameters.make_loss(), n_classes, monitor, rows_of_weight(weights))
            if fit.training is not None and fit.training.options.alpha == 0 and _are_separated(fit.training):
                self._warn(["the classes can be told apart without a fault; with alpha=0 their decisions have no optimum"])
        return self._finish(reader, fit.model(classes=tuple(self.classes_), offset=kind), fit, monitor)

    def decision_function(self, X: Any, *, offset: npt.ArrayLike | None = None) -> Floats:
        """Return F of each row, shape (N,), with more than two classes (N, K)."""
        return self._decision(X, offset, None)

    def predict_proba(self, X: Any, *, offset: npt.ArrayLike | None = None) -> Floats:
        """Return the probability of each class, shape (N, K)."""
        return self.model_.probabilities(self.decision_function(X, offset=offset))

    def predict(self, X: Any, *, offset: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the most probable class of each row."""
        most_probable = self.predict_proba(X, offset=offset).argmax(axis=1)
        chosen: npt.NDArray[Any] = self.classes_[most_probable]
        return chosen

    def score(
        self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None, *, offset: npt.ArrayLike | None = None
    ) -> float:
        """Return the accuracy."""
        return float(accuracy_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any]) -> Self:
        """Return an estimator that predicts as the model of a document does."""
        model = AdditiveModel.from_json(document)
        if model.classes is None:
            raise InvalidInput("the document holds a regression", pointer="/task")
        estimator = cls()._restore(model)
        estimator.classes_ = np.array(model.classes)
        return estimator


def _are_separated(training: Training) -> bool:
    """Whether every row is on the right side."""
    outputs = (one_output(training, output) for output in range(len(training.forests)))
    return all(bool(np.all((decision > 0) == (target == 1))) for _, target, decision in outputs)
