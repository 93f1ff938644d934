"""Averages of forests: against explicit refits, as candidates of the choice, and what is asked for is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.gam.additive_fit import AdditiveFit, fit_additive
from solvers.gam.average_search import averages_at, select_average
from solvers.gam.candidate_columns import row_sums
from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.fold_search import GridPoint
from solvers.gam.losses import SquaredLoss
from solvers.gam.parameters import FitParameters
from solvers.gam.sample import Sample
from solvers.gam.selection import Grid, split_rows
from solvers.gam.shape_functions import CodedColumn
from solvers.gam.training import prepare
from solvers.operation import Context, InvalidInput

SMALL: dict[str, Any] = {"n_stumps": (5, 20), "alphas": (1, 30.0)}
AVERAGES = Grid(threshold_fractions=[0.5, 1.0], smooth_shares=[0.3, 0.0])
BEST = GridPoint(20, 3.0)


def sample(n: int = 300, **changes: Any) -> Sample:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, n))
    x[0, ::9] = np.nan
    x[1] = x[1].round(1)
    columns = [*x, CodedColumn(rng.integers(-1, 4, n), ("a", "b", "c", "d"))]
    y = np.nan_to_num(x[0]) ** 2 + x[1] + (columns[2].codes == 2) + 0.5 * rng.normal(size=n) + 100
    return prepare(columns, ["a", "b", "c"], y, **changes)


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)


def squared_error(fit: AdditiveFit, held: Sample) -> float:
    decision = fit.intercepts[0] + row_sums(held.table, fit.scores[0]) + held.row_offsets()
    return float(np.average((held.target - decision) ** 2, weights=held.weights))


@pytest.mark.parametrize(
    "data", [{}, {"weights": np.arange(300) % 3 + 0.5, "offset": np.arange(300) / 100}], ids=["plain", "weights and offset"]
)
def test_errors_of_averages_are_those_of_explicit_refits(data: dict[str, Any]) -> None:
    part, parameters = sample(**data), FitParameters(n_restarts=1, random_state=4)
    folds = split_rows(3, part.target, SquaredLoss(), 0, None)
    found = select_average(part, SquaredLoss(), parameters, AVERAGES, folds, BEST)
    assert found is not None
    assert {point[2:] for point in found.points} == {(1.0, 0.0), (1.0, 0.3), (0.5, 0.0), (0.5, 0.3)}
    for point, errors in zip(found.points, found.errors, strict=True):
        each = parameters.model_copy(update=point._asdict())
        refits = [(fit_additive(part.rows(fit), SquaredLoss(), each), part.rows(held)) for fit, held in folds]
        np.testing.assert_allclose(errors, [squared_error(*refit) for refit in refits], rtol=1e-9)


def test_a_smooth_share_blends_the_forest_with_one_of_a_base_multiplicity() -> None:
    X, y = rows()
    options: dict[str, Any] = {"n_stumps": 20, "alpha": 3.0, "max_iter": 3}
    sparse, smooth = StumpForestRegressor(**options).fit(X, y), StumpForestRegressor(smoothing=10.0, **options).fit(X, y)
    blend = StumpForestRegressor(smooth_share=0.25, **options).fit(X, y)
    np.testing.assert_allclose(blend.predict(X), 0.75 * sparse.predict(X) + 0.25 * smooth.predict(X), rtol=1e-12, atol=1e-12)
    assert blend.n_steps_ == len({(s["feature"], s["threshold"]) for model in (sparse, smooth) for s in model.stumps_})
    assert (blend.objective_, blend.gap_, blend.gap_reason_) == (None, None, "average")


def test_an_average_of_classifiers_blends_the_decisions() -> None:
    X, y = rows()
    label, options = np.digitize(y, [0.0, 1.5]), {"n_stumps": 10, "alpha": 3.0, "max_iter": 3, "max_bins": 8}
    for target in (label > 0, label):
        models = [StumpForestClassifier(**options, **more) for more in ({}, {"smoothing": 10.0}, {"smooth_share": 0.5})]
        sparse, smooth, blend = (model.fit(X, target).decision_function(X) for model in models)
        np.testing.assert_allclose(blend, (sparse + smooth) / 2, atol=1e-9)


def test_bags_are_blended_one_by_one() -> None:
    X, y = rows()
    model = StumpForestRegressor(n_stumps=20, bagging=3, smooth_share=0.5).fit(X, y)
    band = model.confidence_band(0)
    assert band.kind == "bootstrap"
    assert np.all(band.upper >= band.lower)


def test_the_model_is_the_fit_with_the_chosen_average() -> None:
    X, y = rows()
    chosen = StumpForestRegressorCV(smooth_shares=(0.25, 0.5), **SMALL).fit(X, y)
    assert chosen.best_params_.keys() == {"n_stumps", "alpha", "threshold_fraction", "smooth_share"}
    assert chosen.best_params_["smooth_share"] > 0
    np.testing.assert_array_equal(chosen.predict(X), StumpForestRegressor(**chosen.best_params_).fit(X, y).predict(X))
    assert chosen.confidence_band(0).kind == "jackknife"


def test_every_average_is_listed_once_beside_the_grid() -> None:
    X, y = rows()
    model = StumpForestRegressorCV(threshold_fractions=(1.0, 0.5), smooth_shares=(0.0, 0.5), **SMALL).fit(X, y)
    names = ["param_n_stumps", "param_alpha", "param_threshold_fraction", "param_smooth_share"]
    points = list(zip(*(model.cv_results_[name] for name in names), strict=True))
    assert len(set(points)) == len(points) == 1 + 4 + 3
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize("rule", ["parsimony", "one_se"])
def test_other_rules_keep_a_single_forest_with_its_proof(rule: Any) -> None:
    X, y = rows()
    model = StumpForestRegressorCV(rule=rule, **SMALL).fit(X, y)
    assert model.best_params_.keys() == {"n_stumps", "alpha"}
    assert model.n_steps_ <= 20
    assert model.gap_ is not None


def test_no_average_leaves_the_single_forest() -> None:
    X, y = rows()
    model = StumpForestRegressorCV(threshold_fractions=(1.0,), smooth_shares=(0.0,), **SMALL).fit(X, y)
    assert model.best_params_.keys() == {"n_stumps", "alpha"}
    assert model.gap_ is not None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"threshold_fraction": 0.7}, {(0.7, 0.0), (0.7, 0.3)}),
        ({"smooth_share": 0.1}, {(1.0, 0.1), (0.5, 0.1)}),
        ({"smoothing": 0.5}, {(1.0, 0.0), (0.5, 0.0)}),
        ({"l1": 0.5}, {(1.0, 0.0), (0.5, 0.0)}),
        ({"bagging": 3}, set()),
        ({"l0": 1.0}, set()),
        ({"max_features": 2}, set()),
        ({"max_steps_per_feature": 3}, set()),
        ({"categorical_splits": "subset"}, set()),
    ],
    ids=str,
)
def test_what_is_asked_for_is_kept(given: dict[str, Any], expected: set[tuple[float, float]]) -> None:
    points = averages_at(BEST, AVERAGES, FitParameters(**given), sample())
    assert {point[2:] for point in points} == expected


def test_monotone_features_are_averaged_over_thresholds_alone_and_the_constant_model_not_at_all() -> None:
    monotone = sample(monotonic_cst=np.array([0, 1, 0]))
    assert {point[2:] for point in averages_at(BEST, AVERAGES, FitParameters(), monotone)} == {(1.0, 0.0), (0.5, 0.0)}
    assert averages_at(GridPoint(0, 3.0), AVERAGES, FitParameters(), sample()) == ()


def test_coarse_features_leave_no_thresholds_out() -> None:
    rng = np.random.default_rng(0)
    coarse = prepare([rng.integers(0, 9, 200).astype(float)], ["a"], rng.normal(size=200))
    assert {point[2:] for point in averages_at(BEST, AVERAGES, FitParameters(), coarse)} == {(1.0, 0.0), (1.0, 0.3)}


def test_folds_that_are_not_all_done_choose_no_average() -> None:
    part = sample()
    folds = split_rows(3, part.target, SquaredLoss(), 0, None)
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 1

    assert select_average(part, SquaredLoss(), FitParameters(), AVERAGES, folds, BEST, should_stop=stop) is None
    X, y = rows()
    hurried = StumpForestRegressorCV(**SMALL).fit(X, y, monitor=Context(time_limit=0.0))
    assert hurried.best_params_.keys() == {"n_stumps", "alpha"}


def test_other_losses_have_no_averages_to_choose_from() -> None:
    X, y = rows()
    models = (StumpForestRegressorCV(loss="huber", **SMALL).fit(X, y), StumpForestClassifierCV(**SMALL).fit(X, y > 1))
    assert all(model.best_params_.keys() == {"n_stumps", "alpha"} for model in models)


@pytest.mark.parametrize(
    ("name", "values"), [("threshold_fractions", (0.0,)), ("threshold_fractions", ()), ("smooth_shares", (0.5, 1.0))], ids=str
)
def test_wrong_candidates_are_refused(name: str, values: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match=name):
        StumpForestRegressorCV(**{name: values}).fit(*rows(50))
