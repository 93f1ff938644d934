"""The estimators: scikit-learn's contract, fitted attributes, methods."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.operation import InvalidInput

# Draws go by row position.
BY_POSITION = {"check_sample_weight_equivalence_on_dense_data": "bags draw weights by row position"}


@pytest.mark.parametrize(
    ("estimator", "may_fail"),
    [
        (StumpForestRegressor(), {}),
        (StumpForestRegressor(loss="poisson"), {}),
        (StumpForestRegressor(loss="gamma", alpha=1.0), {}),
        (StumpForestRegressor(loss="huber"), {}),
        (StumpForestRegressor(loss="quantile"), {}),
        (StumpForestRegressor(init="best", n_restarts=2, smoothing=0.1), {}),
        (StumpForestRegressor(n_stumps=20, bagging=3), BY_POSITION),
        (StumpForestRegressor(threshold_fraction=0.7), {}),
        (StumpForestClassifier(), {}),
        (StumpForestClassifier(n_stumps=20, class_weight="balanced", engine="rows"), {}),
        (StumpForestClassifier(n_stumps=20, bagging=3), BY_POSITION),
    ],
    ids=str,
)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator: Any, may_fail: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=may_fail, on_skip=None)


def friedman(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def mixed_frame(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "plan": rng.choice(["basic", "plus", "pro"], n),
            "region": pd.Categorical(rng.choice(["n", "s"], n)),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "plan"] = None
    y = frame["age"].fillna(30).to_numpy() / 10 + 2.0 * (frame["plan"] == "pro") + 0.1 * rng.normal(size=n)
    return frame, np.asarray(y)


def test_contributions_and_intercept_are_the_decision() -> None:
    frame, y = mixed_frame()
    model = StumpForestRegressor(alpha=1.0).fit(frame, y)
    total = model.intercept_ + model.contributions(frame).sum(axis=1)
    np.testing.assert_allclose(total, model.predict(frame), rtol=1e-12)


def test_shape_functions_are_centred_and_the_intercept_is_the_mean() -> None:
    frame, y = mixed_frame()
    model = StumpForestRegressor(alpha=1.0).fit(frame, y)
    np.testing.assert_allclose(model.contributions(frame).mean(axis=0), 0, atol=1e-12)
    assert model.intercept_ == pytest.approx(y.mean())


def test_objective_is_that_of_the_predictions_and_the_stumps() -> None:
    frame, y = mixed_frame()
    model = StumpForestRegressor(alpha=2.0).fit(frame, y)
    stumps = model.stumps_
    penalty = np.sum(stumps["step"] ** 2 / stumps["multiplicity"])
    assert model.objective_ == pytest.approx(np.sum((y - model.predict(frame)) ** 2) / 2 + penalty, rel=1e-10)
    assert model.lower_bound_ <= model.objective_
    assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / model.objective_)
    assert np.all(np.diff(model.objective_history_) <= 1e-9 * model.objective_history_[0])
    assert len(stumps) == model.n_steps_
    assert stumps["multiplicity"].sum() <= 200


def test_logistic_objective_is_that_of_the_probabilities_and_the_stumps() -> None:
    X, y = friedman()
    model = StumpForestClassifier(alpha=2.0).fit(X, np.where(y > 1, "high", "low"))
    p = model.predict_proba(X)[np.arange(len(y)), np.where(y > 1, 0, 1)]
    stumps = model.stumps_
    assert model.objective_ == pytest.approx(-np.log(p).sum() + np.sum(stumps["step"] ** 2 / stumps["multiplicity"]), rel=1e-9)
    assert model.lower_bound_ <= model.objective_


def test_scores_of_several_classes_sum_to_zero_and_their_probabilities_to_one() -> None:
    X, y = friedman()
    label = np.digitize(y, [0.0, 1.0]) * 10
    model = StumpForestClassifier(alpha=2.0).fit(X, label)
    assert model.classes_.tolist() == [0, 10, 20]
    np.testing.assert_allclose(model.contributions(X).sum(axis=2), 0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    p = model.predict_proba(X)[np.arange(len(y)), label // 10]
    penalty = np.sum(model.stumps_["step"] ** 2 / model.stumps_["multiplicity"])
    assert model.objective_ == pytest.approx(-np.log(p).sum() + penalty, rel=1e-8)
    assert model.gap_reason_ == "loss"


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_exposure_is_the_offset_of_its_logarithm_and_multiplies_the_mean(loss: Any) -> None:
    rng = np.random.default_rng(2)
    X, exposure = rng.normal(size=(300, 2)).round(1), rng.uniform(0.5, 4, 300)
    y = rng.poisson(exposure * np.exp(X[:, 0])) + (0.5 if loss == "gamma" else 0.0)
    by_exposure = StumpForestRegressor(loss=loss).fit(X, y, exposure=exposure)
    by_offset = StumpForestRegressor(loss=loss).fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(by_exposure.predict(X), by_offset.predict(X))
    np.testing.assert_allclose(by_exposure.predict(X, exposure=exposure), exposure * by_exposure.predict(X))
    assert by_exposure.model_.offset.kind == "exposure"
    if loss == "poisson":
        assert by_exposure.predict(X, exposure=exposure).sum() == pytest.approx(y.sum(), rel=1e-6)


def test_an_offset_is_taken_out_of_squared_loss() -> None:
    X, y = friedman()
    offset = 3.0 * X[:, 2]
    model = StumpForestRegressor().fit(X, y + offset, offset=offset)
    np.testing.assert_allclose(model.predict(X, offset=offset) - offset, StumpForestRegressor().fit(X, y).predict(X), rtol=1e-9)


def test_an_offset_goes_with_two_classes() -> None:
    X, y = friedman()
    offset = 2.0 * X[:, 1]
    model = StumpForestClassifier().fit(X, y > 1, offset=offset)
    assert model.decision_function(X, offset=offset) == pytest.approx(model.decision_function(X) + offset)


def test_balanced_classes_weigh_the_same() -> None:
    X, y = friedman()
    rare = y > 2.5
    model = StumpForestClassifier(class_weight="balanced").fit(X, rare)
    weighted = StumpForestClassifier().fit(X, rare, np.where(rare, 0.5 / rare.mean(), 0.5 / (~rare).mean()))
    np.testing.assert_allclose(model.decision_function(X), weighted.decision_function(X), atol=1e-9)


def test_a_monotone_feature_only_rises() -> None:
    X, y = friedman()
    model = StumpForestRegressor(alpha=1.0, monotonic_cst={"x1": 1}).fit(X, y)
    grid = np.zeros((101, 4))
    grid[:, 1] = np.concatenate([[-1e300], np.linspace(-3, 3, 99), [1e300]])
    assert np.all(np.diff(model.predict(grid)) >= 0)
    assert np.ptp(model.predict(grid)) > 0


def test_limits_on_features_and_steps_hold() -> None:
    X, y = friedman()
    model = StumpForestRegressor(alpha=1.0, max_features=1, max_steps_per_feature=3).fit(X, y)
    assert len(np.unique(model.stumps_["feature"])) == 1
    assert model.n_steps_ == 3


def test_a_step_for_a_set_of_levels_is_one_step() -> None:
    rng = np.random.default_rng(4)
    level = rng.choice(list("abcdef"), 600)
    y = np.isin(level, list("ace")) + 0.01 * rng.normal(size=600)
    model = StumpForestRegressor(n_stumps=1, alpha=1e-6, categorical_splits="subset").fit({"level": level}, y)
    assert model.n_steps_ == 1
    assert set(model.stumps_["level"][0]) in ({"a", "c", "e"}, {"b", "d", "f"})
    assert model.score({"level": level}, y) > 0.99
    one_by_one = StumpForestRegressor(n_stumps=1, alpha=1e-6).fit({"level": level}, y)
    assert model.objective_ < one_by_one.objective_
    assert model.lower_bound_ <= model.objective_


def test_missing_values_and_unseen_levels_are_predicted() -> None:
    frame, y = mixed_frame()
    model = StumpForestRegressor(alpha=1.0).fit(frame, y)
    rows = pd.DataFrame({"age": [np.nan, np.inf, -np.inf], "plan": ["unseen", None, ""], "region": ["n", "s", "x"]})
    shapes = model.model_
    expected = model.intercept_ + np.array([shapes.shape("age").missing, *shapes.shape("age").scores[[-1, 0]]])
    expected += [0.0, shapes.shape("plan").missing, 0.0]
    expected += [*shapes.shape("region").scores, 0.0]
    np.testing.assert_allclose(model.predict(rows), expected)


def test_all_kinds_of_tables_give_the_same_model() -> None:
    frame, y = mixed_frame()
    plain = frame.astype(object).where(frame.notna(), None)
    models = [
        StumpForestRegressor().fit(table, y).to_json()
        for table in (frame, pl.from_pandas(frame), {name: plain[name].tolist() for name in plain})
    ]
    assert models[0] == models[1] == models[2]


def test_a_pickle_predicts_the_same_and_holds_no_rows() -> None:
    X, y = friedman(5000)
    model = StumpForestRegressor(n_stumps=10).fit(X, y)
    pickled = pickle.dumps(model)
    assert len(pickled) < X.nbytes / 8
    again = pickle.loads(pickled)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.confidence_band(0).upper, model.confidence_band(0).upper)
    with pytest.raises(InvalidInput, match="training rows"):
        again.compress(0.1)


def test_json_gives_back_an_estimator_that_predicts_the_same() -> None:
    frame, y = mixed_frame()
    model = StumpForestRegressor().fit(frame, y)
    np.testing.assert_array_equal(StumpForestRegressor.from_json(model.to_json()).predict(frame), model.predict(frame))
    classifier = StumpForestClassifier().fit(frame, np.digitize(y, [3.0, 5.0]))
    again = StumpForestClassifier.from_json(classifier.to_json())
    np.testing.assert_array_equal(again.predict(frame), classifier.predict(frame))
    with pytest.raises(InvalidInput, match="holds a classification"):
        StumpForestRegressor.from_json(classifier.to_json())


def test_constructor_arguments_are_stored_as_they_are() -> None:
    signs = [1, 0, 0, 0]
    model = StumpForestRegressor(monotonic_cst=signs, alpha=np.float64(2))
    model.fit(*friedman())
    assert model.get_params()["monotonic_cst"] is signs
    assert clone(model).get_params() == model.get_params()


def test_fits_in_pipelines_and_searches() -> None:
    X, y = friedman()
    pipeline = make_pipeline(FunctionTransformer(), StumpForestRegressor(alpha=3.0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8


def test_an_edit_changes_predictions_voids_the_proof_and_can_be_undone() -> None:
    X, y = friedman()
    model = StumpForestRegressor().fit(X, y)
    before, proof = model.predict(X), (model.objective_, model.gap_)
    entry = model.edit([{"op": "remove", "feature": "x1"}], note="no longer allowed")
    assert entry.score_before == pytest.approx(np.mean((y - before) ** 2))
    assert entry.score_after == pytest.approx(np.mean((y - model.predict(X)) ** 2))
    assert (model.objective_, model.gap_, model.gap_reason_) == (None, None, "edited")
    with pytest.raises(InvalidInput, match="edited"):
        model.confidence_band("x1")
    assert model.undo() == [entry.edit_id]
    np.testing.assert_allclose(model.predict(X), before, rtol=1e-14)
    assert (model.objective_, model.gap_) == proof


def test_methods_ask_for_a_fit_first() -> None:
    for use in (lambda m: m.intercept_, lambda m: m.to_json(), lambda m: m.objective_, lambda m: m.confidence_band(0)):
        with pytest.raises(NotFittedError):
            use(StumpForestRegressor())


def test_plots_and_exports_are_those_of_the_model() -> None:
    X, y = friedman()
    model = StumpForestRegressor(n_stumps=5).fit(X, y)
    ax = Figure().subplots()
    assert model.plot_shape(1, ax) is ax
    assert model.plot_shape("x1", ax, band=None) is ax
    assert model.plot_importance(ax) is ax
    assert "CASE" in model.to_sql("rows")
    assert "<PMML" in model.to_pmml()
    assert "def predict" in model.to_python()
    assert len(model.to_onnx()) > 100


@pytest.mark.parametrize("estimator", [StumpForestRegressor, StumpForestClassifier])
def test_a_level_that_training_did_not_have_is_scored_or_refused(estimator: type) -> None:
    X = {"x": np.arange(60.0), "plan": np.array(["basic", "pro", None] * 20, dtype=object)}
    y = np.arange(60) % 3 == 0
    new = {"x": [1.0, 2.0, 3.0], "plan": ["pro", None, "gold"]}
    scored, refused = (estimator(alpha=1.0, unseen=unseen).fit(X, y) for unseen in ("score", "error"))
    assert scored.contributions(new)[2, 1] == 0
    np.testing.assert_array_equal(refused.predict(X), scored.predict(X))
    for ask in (refused.predict, refused.contributions, refused.decision_errors):
        with pytest.raises(InvalidInput, match="column 'plan', row 2: a level") as told:
            ask(new)
        assert told.value.members == {"column": "plan", "row": 2}
    seen = {name: values[:2] for name, values in new.items()}
    np.testing.assert_array_equal(refused.predict(seen), scored.predict(seen))
    assert refused.to_json() == scored.to_json()
    with pytest.raises(InvalidInput, match="unseen"):
        estimator(unseen="drop").fit(X, y)
