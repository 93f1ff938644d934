"""Estimators that choose their stumps and ridge."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.operation import Context, InvalidInput

SMALL: dict[str, Any] = {"n_stumps": (5, 20), "alphas": (1, 30.0)}


@pytest.mark.parametrize(
    "estimator",
    [
        StumpForestRegressorCV(**SMALL),
        StumpForestRegressorCV(loss="poisson", cv=2, **SMALL),
        StumpForestClassifierCV(cv=2, **SMALL),
    ],
    ids=str,
)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator: Any) -> None:
    folds_by_position = {"check_sample_weight_equivalence_on_dense_data": "folds go by row position"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=folds_by_position, on_skip=None)


def rows(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)


def test_the_model_is_the_fit_with_the_chosen_parameters() -> None:
    X, y = rows()
    chosen = StumpForestRegressorCV(**SMALL).fit(X, y)
    plain = StumpForestRegressor(**chosen.best_params_).fit(X, y)
    np.testing.assert_array_equal(chosen.predict(X), plain.predict(X))
    assert chosen.objective_ == plain.objective_
    assert chosen.best_score_ == chosen.cv_results_["mean_test_score"].max()
    at = np.argmin(chosen.cv_results_["rank_test_score"])
    assert chosen.cv_results_["param_n_stumps"][at] == chosen.best_params_["n_stumps"]
    assert chosen.metric_ == "mean_squared_error"


def test_the_classifier_is_the_fit_with_the_chosen_parameters() -> None:
    X, y = rows()
    label = np.where(y > 1, "high", "low")
    chosen = StumpForestClassifierCV(**SMALL).fit(X, label)
    plain = StumpForestClassifier(**chosen.best_params_).fit(X, label)
    np.testing.assert_array_equal(chosen.predict_proba(X), plain.predict_proba(X))
    assert chosen.metric_ == "log_loss"


def test_ridges_of_counts_are_reported_as_they_are_used() -> None:
    X, y = rows()
    counts = np.random.default_rng(0).poisson(20 * np.exp(y / 4))
    chosen = StumpForestRegressorCV(loss="poisson", **SMALL).fit(X, counts)
    assert chosen.best_params_["alpha"] in (pytest.approx(counts.mean()), pytest.approx(30 * counts.mean()))
    plain = StumpForestRegressor(loss="poisson", **chosen.best_params_).fit(X, counts)
    np.testing.assert_array_equal(chosen.predict(X), plain.predict(X))


def test_the_same_rows_and_seed_give_the_same_model_and_another_seed_other_folds() -> None:
    X, y = rows()
    first, again, other = (StumpForestRegressorCV(random_state=seed, **SMALL).fit(X, y) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.best_score_ == again.best_score_ != other.best_score_


def test_rows_of_no_weight_take_no_part_in_the_folds() -> None:
    X, y = rows()
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    weighted = StumpForestRegressorCV(**SMALL).fit(X, y, weights)
    plain = StumpForestRegressorCV(**SMALL).fit(X[weights > 0], y[weights > 0])
    assert weighted.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)


def test_fewer_stumps_are_chosen_within_one_per_cent() -> None:
    X, y = rows()
    grid: dict[str, Any] = {"n_stumps": (5, 20, 80, 320), "alphas": (1, 10, 100)}
    least, small = StumpForestRegressorCV(**grid).fit(X, y), StumpForestRegressorCV(rule="parsimony", **grid).fit(X, y)
    assert small.best_params_["n_stumps"] <= least.best_params_["n_stumps"]
    assert -small.best_score_ <= 1.01 * -least.best_score_


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n_samples=3"):
        StumpForestRegressorCV(cv=5).fit(np.ones((3, 1)), [1, 2, 3])


def test_pickles_and_clones() -> None:
    X, y = rows()
    model = StumpForestRegressorCV(**SMALL).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.best_params_ == model.best_params_
    assert clone(model).get_params() == model.get_params()


class OverAfter:
    """A monitor whose time is over once it was asked so often."""

    def __init__(self, asks: int) -> None:
        self.asks = asks

    def is_over(self, share: float) -> bool:
        self.asks -= 1
        return self.asks < 0

    def report(self, *, fraction: float | None = None) -> None:
        pass


@pytest.mark.parametrize("estimator", [StumpForestRegressorCV, StumpForestClassifierCV])
def test_a_search_that_is_cut_short_gives_the_best_model_so_far(estimator: type) -> None:
    X, y = rows()
    y = y if estimator is StumpForestRegressorCV else np.digitize(y, np.quantile(y, [0.3, 0.7]))
    constant = estimator(n_stumps=(0,), alphas=(1.0,)).fit(X, y).objective_
    tried = []
    for asks in (0, 1, 2, 5, 20, 60, 200):
        model = estimator(**SMALL).fit(X, y, monitor=OverAfter(asks))
        assert model.objective_ <= constant * (1 + 1e-12)
        assert model.objective_history_[-1] == model.objective_
        if model.gap_ is not None:
            assert 0 <= model.lower_bound_ <= model.objective_
        tried.append(len(model.cv_results_["mean_test_score"]))
    assert tried == sorted(tried)
    assert tried[0] == 1


def test_folds_that_were_begun_count_for_nothing() -> None:
    X, y = rows()
    whole = StumpForestRegressorCV(**SMALL).fit(X, y)
    for asks in (5, 30, 60):
        part = StumpForestRegressorCV(**SMALL).fit(X, y, monitor=OverAfter(asks))
        done = len(part.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(part.cv_results_["split0_test_score"], whole.cv_results_["split0_test_score"][:done])


def test_a_fit_of_the_chosen_parameters_that_is_cut_short_falls_back_on_the_first_fold() -> None:
    X, y = rows()

    class OverWhenChosen(OverAfter):
        def __init__(self) -> None:
            self.heard = 0

        def is_over(self, share: float) -> bool:
            return self.heard == 5

        def report(self, *, fraction: float | None = None) -> None:
            self.heard += 1

    model = StumpForestRegressorCV(**SMALL).fit(X, y, monitor=OverWhenChosen())
    assert model.score(X, y) > 0.8


def test_a_monitor_hears_of_the_progress() -> None:
    heard: list[float] = []
    X, y = rows()
    StumpForestRegressorCV(**SMALL).fit(X, y, monitor=Context(on_report=lambda members, _: heard.append(members["fraction"])))
    assert heard == sorted(heard)
    assert len(heard) >= 5
    assert heard[-1] <= 1


def test_pure_noise_is_given_up() -> None:
    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, test = rng.normal(size=(2000, 10)), rng.normal(size=2000), rng.normal(size=(20_000, 10))
        model = StumpForestRegressorCV(n_stumps=(50, 200), alphas=(10, 300, 3000), max_bins=32).fit(X, y)
        errors.append(1 + np.mean(model.predict(test) ** 2))  # against fresh noise of variance 1
    assert max(errors) <= 1.015
