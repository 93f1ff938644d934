"""Bad rows, bad parameters and degenerate tables: what an estimator says, or that it copes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.operation import InvalidInput

X = np.arange(40.0).reshape(20, 2)
Y = np.sin(X[:, 0])


def with_value(values: np.ndarray, row: int, value: float) -> np.ndarray:
    changed = np.array(values, dtype=float)
    changed[row] = value
    return changed


@pytest.mark.parametrize(
    ("fit", "column", "row"),
    [
        (lambda m, v: m.fit(X, with_value(Y, 7, v)), "y", 7),
        (lambda m, v: m.fit(X, Y, with_value(np.ones(20), 3, v)), "sample_weight", 3),
        (lambda m, v: m.fit(X, Y, offset=with_value(Y, 5, v)), "offset", 5),
    ],
    ids=["y", "weight", "offset"],
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_row(fit: Any, column: str, row: int, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"row {row}") as fault:
        fit(StumpForestRegressor(), value)
    assert (fault.value.members["column"], fault.value.members["row"]) == (column, row)


def test_an_infinite_feature_is_refused_in_training_only() -> None:
    changed = X.copy()
    changed[4, 1] = np.inf
    with pytest.raises(InvalidInput, match="column 'x1' is infinite in row 4"):
        StumpForestRegressor().fit(changed, Y)
    assert np.isfinite(StumpForestRegressor().fit(X, Y).predict(changed)).all()


@pytest.mark.parametrize(
    ("weights", "reason"), [(-np.ones(20), "row 0"), (np.zeros(20), "every weight is zero"), (np.ones(3), "3 rows, the table 20")]
)
def test_impossible_weights_are_refused(weights: np.ndarray, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        StumpForestRegressor().fit(X, Y, weights)


@pytest.mark.parametrize(("loss", "bad"), [("poisson", -1.0), ("gamma", 0.0)])
def test_targets_that_a_loss_does_not_take_are_refused_with_their_row(loss: Any, bad: float) -> None:
    with pytest.raises(InvalidInput, match="y, row 6"):
        StumpForestRegressor(loss=loss).fit(X, with_value(np.ones(20), 6, bad))


@pytest.mark.parametrize("y", [["a"] * 20, [1.0, "b"] * 10, np.ones(19), np.ones((20, 2)), [1j] * 20])
def test_a_target_that_is_no_column_of_numbers_is_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"y'?, row|y has|shape|Complex"):
        StumpForestRegressor().fit(X, y)


def test_exposures_go_with_a_log_link_and_are_positive() -> None:
    counts = np.ones(20)
    with pytest.raises(InvalidInput, match="log link"):
        StumpForestRegressor().fit(X, Y, exposure=counts)
    with pytest.raises(InvalidInput, match="row 2"):
        StumpForestRegressor(loss="poisson").fit(X, counts, exposure=with_value(counts, 2, 0.0))
    with pytest.raises(InvalidInput, match="both"):
        StumpForestRegressor(loss="poisson").fit(X, counts, exposure=counts, offset=counts)
    with pytest.raises(InvalidInput, match="more than two"):
        StumpForestClassifier().fit(X, np.arange(20) % 3, offset=counts)


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": -1},
        {"alpha": np.nan},
        {"alpha": "big"},
        {"n_stumps": -1},
        {"n_stumps": 2.5},
        {"n_stumps": True},
        {"max_bins": 1},
        {"max_bins": "all"},
        {"loss": "absolute"},
        {"quantile": 1.0},
        {"huber_delta": 0},
        {"min_samples_leaf": -1},
        {"init": "random"},
        {"engine": "row"},
        {"threshold_fraction": 0},
        {"random_state": -1},
        {"random_state": "x"},
        {"n_jobs": 0},
        {"bagging": -1},
        {"monotonic_cst": [1]},
        {"monotonic_cst": [2, 0]},
        {"monotonic_cst": {"z": 1}},
        {"categorical_features": ["z"]},
    ],
    ids=str,
)
def test_a_bad_parameter_is_refused_by_name(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as fault:
        StumpForestRegressor(**parameters).fit(X, Y)
    assert fault.value.pointer == f"/{next(iter(parameters))}"


def test_a_categorical_feature_cannot_be_monotone() -> None:
    with pytest.raises(InvalidInput, match="'plan' cannot be monotone"):
        StumpForestRegressor(monotonic_cst={"plan": 1}).fit({"plan": ["a", "b"] * 10}, Y)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "huber", "quantile"])
@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.filterwarnings("ignore:column")
def test_equal_targets_give_a_constant_without_steps(loss: Any, n: int) -> None:
    model = StumpForestRegressor(loss=loss, min_samples_leaf=0).fit(X[:n], np.full(n, 3.0))
    assert model.n_steps_ == 0
    np.testing.assert_allclose(model.predict(X), 3.0)
    if loss == "squared_error":
        assert (model.objective_, model.gap_) == (0.0, 0.0)


def test_columns_without_values_have_no_effect_and_are_named() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "empty": np.nan, "same": 1.0, "level": "a"})
    with pytest.warns(UserWarning, match="has no effect"):
        model = StumpForestRegressor(alpha=1.0).fit(frame, Y)
    assert [message.split("'")[1] for message in model.warnings_] == ["empty", "same", "level"]
    np.testing.assert_array_equal(model.contributions(frame)[:, 1:], 0)


def test_weights_that_sum_to_one_give_a_constant_and_say_why() -> None:
    with pytest.warns(UserWarning, match="weights count as rows"):
        model = StumpForestRegressor().fit(X, Y, np.full(20, 1 / 20))
    np.testing.assert_allclose(model.predict(X), Y.mean())


def test_a_single_class_is_certain() -> None:
    with pytest.warns(UserWarning, match="all rows are of class yes"):
        model = StumpForestClassifier().fit(X, ["yes"] * 20)
    assert model.predict(X).tolist() == ["yes"] * 20
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    assert (model.objective_, model.gap_) == (0.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.0, 1e-6])
@pytest.mark.filterwarnings("ignore:the classes can be told apart")
def test_separable_classes_stay_finite(alpha: float, n_classes: int) -> None:
    label = np.arange(20) * n_classes // 20
    model = StumpForestClassifier(alpha=alpha).fit(X, label)
    assert np.abs(model.decision_function(X)).max() <= 30
    assert model.score(X, label) == 1.0
    assert [message.split(";")[0] for message in model.warnings_] == (
        ["the classes can be told apart without a fault"] if alpha == 0 else []
    )
    if alpha == 0:
        assert model.lower_bound_ is None


def test_counts_that_are_all_zero_have_the_least_rate() -> None:
    with pytest.warns(UserWarning, match="all targets are 0"):
        model = StumpForestRegressor(loss="poisson").fit(X, np.zeros(20))
    np.testing.assert_allclose(model.predict(X), 1e-10)


def test_rare_levels_share_a_score() -> None:
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.repeat(np.arange(260), 8), rng.integers(0, 5, 200)])
    levels = np.array([f"level{code:03}" for code in codes], dtype=object)
    y = (codes > 100) + 0.1 * rng.normal(size=len(codes))
    shape = StumpForestRegressor(alpha=1.0).fit({"level": levels}, y).shape_function("level")
    assert len(shape.levels) == 260
    assert shape.weights.sum() == pytest.approx(len(codes))


def test_more_stumps_than_columns_are_allowed() -> None:
    model = StumpForestRegressor(n_stumps=500, alpha=1.0).fit(X, Y)
    assert model.n_steps_ <= 2 * 11


def test_other_columns_than_in_training_are_refused() -> None:
    model = StumpForestRegressor().fit({"a": X[:, 0], "b": X[:, 1]}, Y)
    with pytest.raises(InvalidInput, match="column 'b' is absent"):
        model.predict({"a": [1.0]})
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame({"b": [1.0], "a": [2.0]}))
    with pytest.raises(ValueError, match="3 features"):
        StumpForestRegressor().fit(X, Y).predict(np.ones((1, 3)))
