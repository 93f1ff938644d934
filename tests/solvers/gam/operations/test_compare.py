"""Comparisons and certificates, from the rows that are kept or from given ones."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.operations.certificate import GAM_CERTIFICATE
from solvers.gam.operations.compare import GAM_COMPARE, paired_error
from solvers.gam.operations.compress import GAM_COMPRESS
from solvers.gam.operations.edit import GAM_EDIT
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.models import TrainingDataGone, read_model
from solvers.operation import Conflict, InvalidInput
from tests.solvers.gam.operations.running import FEATURES, SMALL, Desk, people, table

ROWS = people()


def predictions(desk: Desk, model: str, rows: list[dict]) -> np.ndarray:
    found: np.ndarray = read_model(desk.files, model).additive_model().predict({n: [row[n] for row in rows] for n in FEATURES})
    return found


@pytest.mark.parametrize("baseline", ["constant", "linear"])
@pytest.mark.parametrize("on", ["train", "holdout"])
def test_scores_are_those_of_the_fit(desk: Desk, spending: str, baseline: str, on: str) -> None:
    result = desk(GAM_COMPARE, {"model": spending, "baseline": baseline, "on": on})
    record = read_model(desk.files, spending)
    assert result.score == pytest.approx(getattr(record.score, on), rel=1e-12)
    assert result.baseline_score == pytest.approx(getattr(record.baselines[baseline], on), rel=1e-12)
    assert result.difference == pytest.approx(result.score - result.baseline_score)
    assert (result.on, result.n_rows, result.metric) == (on, {"train": 300, "holdout": 100}[on], "mean_squared_error")
    assert result.difference < -2 * result.se if baseline == "constant" else result.se > 0


def test_the_error_of_the_difference_is_paired(desk: Desk, spending: str) -> None:
    result = desk(GAM_COMPARE, {"model": spending, "data": table(ROWS[:50], "spent")["data"]})
    target = np.array([row["spent"] for row in ROWS[:50]])
    held = np.random.RandomState(0).permutation(400)[:100]
    constant = np.delete([row["spent"] for row in ROWS], held).mean()
    difference = (predictions(desk, spending, ROWS[:50]) - target) ** 2 - (constant - target) ** 2
    assert result.on == "data"
    assert result.difference == pytest.approx(difference.mean(), rel=1e-9)
    assert result.se == pytest.approx(difference.std(ddof=1) / np.sqrt(50), rel=1e-9)
    assert paired_error(np.array([1.0]), np.ones(1)) is None


def test_features_are_compared_with_a_linear_model_s(desk: Desk) -> None:
    rows = [{"x": number / 100, "bent": float(number % 50), "y": number / 50} for number in range(1000)]
    model = desk(GAM_FIT, {"data": {"rows": rows}, "target": "y", "params": {"n_stumps": 200, "alpha": 0.1}}).model_id
    result = desk(GAM_COMPARE, {"model": model, "baseline": "linear"})
    straight, bent = sorted(result.features, key=lambda feature: -feature.importance)
    assert (straight.feature, bent.feature) == ("x", "bent")
    assert straight.baseline_importance > 0.99
    assert straight.max_abs_difference < 1.0


def test_a_model_and_itself_differ_in_nothing(desk: Desk, spending: str) -> None:
    result = desk(GAM_COMPARE, {"model": spending, "baseline": spending})
    assert (result.difference, result.se) == (0.0, 0.0)
    assert all(feature.max_abs_difference == 0 for feature in result.features)
    assert result.n_steps == result.baseline_steps


def test_models_of_the_same_rows_are_compared_on_them(desk: Desk, spending: str) -> None:
    body = table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.25}, "columns": {"plan": "ignore"}}
    without = desk(GAM_FIT, body).model_id
    result = desk(GAM_COMPARE, {"model": spending, "baseline": without})
    assert result.difference < 0
    plan = next(feature for feature in result.features if feature.feature == "plan")
    assert (plan.importance > 0.1, plan.baseline_importance) == (True, 0.0)


def test_models_of_other_rows_need_data(desk: Desk, spending: str) -> None:
    other = desk(GAM_FIT, table(ROWS[:200], "spent") | {"params": SMALL}).model_id
    with pytest.raises(Conflict, match="give rows as `data`"):
        desk(GAM_COMPARE, {"model": spending, "baseline": other})
    result = desk(GAM_COMPARE, {"model": spending, "baseline": other, "data": table(ROWS[200:], "spent")["data"]})
    error = (predictions(desk, other, ROWS[200:]) - [row["spent"] for row in ROWS[200:]]) ** 2
    assert (result.n_rows, result.baseline_score) == (200, pytest.approx(error.mean(), rel=1e-12))


def test_models_of_another_kind_cannot_be_compared(desk: Desk, spending: str, leaving: str) -> None:
    with pytest.raises(InvalidInput, match="differ in task, loss or classes"):
        desk(GAM_COMPARE, {"model": spending, "baseline": leaving})


@pytest.mark.parametrize("target", ["spent", "left", "grade"])
def test_cross_validation_lies_above_the_training_error(desk: Desk, target: str) -> None:
    model = desk(GAM_FIT, table(ROWS, target) | {"params": SMALL}).model_id
    crossed = desk(GAM_COMPARE, {"model": model, "on": "cv"})
    trained = desk(GAM_COMPARE, {"model": model, "on": "train"})
    assert trained.score < crossed.score < crossed.baseline_score
    assert crossed.baseline_score == pytest.approx(trained.baseline_score, rel=0.05)
    assert desk(GAM_COMPARE, {"model": model, "on": "cv", "baseline": model}).difference == 0


@pytest.mark.parametrize("target", ["spent", "left", "grade", "visits"])
def test_the_linear_baseline_is_cross_validated_by_the_folds_of_the_model(desk: Desk, target: str) -> None:
    params = SMALL | ({"loss": "poisson"} if target == "visits" else {})
    model = desk(GAM_FIT, table(ROWS, target) | {"params": params, "holdout": {"fraction": 0.2}}).model_id
    crossed = desk(GAM_COMPARE, {"model": model, "on": "cv", "baseline": "linear"})
    trained = desk(GAM_COMPARE, {"model": model, "on": "train", "baseline": "linear"})
    assert (crossed.on, crossed.n_rows, crossed.metric) == ("cv", 320, trained.metric)
    assert crossed.score == desk(GAM_COMPARE, {"model": model, "on": "cv"}).score
    assert trained.baseline_score < crossed.baseline_score < 1.2 * trained.baseline_score


def test_the_linear_baseline_of_a_fold_is_least_squares_on_the_others(desk: Desk) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.normal(size=60)
    rows = [{"x": float(a), "y": float(b)} for a, b in zip(x, y, strict=True)]
    model = desk(GAM_FIT, {"data": {"rows": rows}, "target": "y", "params": SMALL}).model_id
    fold, error = np.random.RandomState(0).permutation(60) % 5, np.zeros(60)
    for k in range(5):
        slope, constant = np.polyfit(x[fold != k], y[fold != k], 1)
        error[fold == k] = (y - constant - slope * x)[fold == k] ** 2
    result = desk(GAM_COMPARE, {"model": model, "on": "cv", "baseline": "linear"})
    assert result.baseline_score == pytest.approx(error.mean(), rel=1e-5)  # beside a ridge of 1e-6


def test_without_linear_fits_to_folds_there_is_a_reason(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.gam.operations.held_back.MOST_WORK", 0.0)
    model = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL}).model_id
    with pytest.raises(Conflict, match="was not fitted to folds"):
        desk(GAM_COMPARE, {"model": model, "on": "cv", "baseline": "linear"})


def test_what_cannot_be_compared_is_told(desk: Desk, spending: str, leaving: str) -> None:
    for body, message in (
        ({"model": leaving, "on": "holdout"}, "no rows were held back"),
        ({"model": spending, "on": "train", "data": table(ROWS, "spent")["data"]}, "does not go with `data`"),
    ):
        with pytest.raises(InvalidInput, match=message):
            desk(GAM_COMPARE, body)


@pytest.mark.parametrize("target", ["spent", "left"])
def test_more_work_gives_a_tighter_proof(desk: Desk, target: str) -> None:
    fit = desk(GAM_FIT, table(ROWS, target) | {"params": SMALL | {"certificate_iterations": 0}})
    tighter = desk(GAM_CERTIFICATE, {"model": fit.model_id, "iterations": 200 if target == "spent" else 3})
    assert tighter.objective == pytest.approx(fit.objective, rel=1e-12)
    assert fit.lower_bound < tighter.lower_bound <= tighter.objective
    assert tighter.gap == pytest.approx((tighter.objective - tighter.lower_bound) / tighter.objective)
    assert tighter.one_swap_residual == pytest.approx(fit.one_swap_residual) if target == "spent" else True


@pytest.mark.parametrize(
    "params", [{"categorical_splits": "subset"}, {"l1": 0.5}, {"monotonic_cst": {"age": 1}}, {"engine": "rows"}]
)
def test_the_proof_of_a_kept_model_is_that_of_its_fit(desk: Desk, params: dict) -> None:
    fit = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL | params})
    again = desk(GAM_CERTIFICATE, {"model": fit.model_id})
    assert (again.objective, again.lower_bound) == (fit.objective, fit.lower_bound)
    assert again.one_swap_residual == pytest.approx(fit.one_swap_residual, abs=1e-12)


@pytest.mark.parametrize("target", ["spent", "left", "grade"])
def test_given_the_table_nothing_needs_to_be_kept(desk: Desk, target: str) -> None:
    body = table(ROWS, target) | {"params": SMALL, "holdout": {"fraction": 0.25, "seed": 2}}
    if target == "left":
        body["params"] = SMALL | {"class_weight": "balanced"}
    gone, kept = desk(GAM_FIT, body | {"keep_data": False}).model_id, desk(GAM_FIT, body).model_id
    for operation, more in ((GAM_CERTIFICATE, {}), (GAM_COMPRESS, {"tol": 0.02, "dry_run": True})):
        with pytest.raises(TrainingDataGone) as fault:
            desk(operation, {"model": gone} | more)
        assert (fault.value.status, fault.value.type) == (409, "training-data-gone")
        from_table = desk(operation, {"model": gone, "data": body["data"]} | more)
        assert from_table.objective == pytest.approx(desk(operation, {"model": kept} | more).objective, rel=1e-12)
    with pytest.raises(TrainingDataGone):
        desk(GAM_COMPARE, {"model": gone})


def test_another_table_is_no_proof(desk: Desk, spending: str) -> None:
    with pytest.raises(InvalidInput, match="not the table that the model was fitted to"):
        desk(GAM_CERTIFICATE, {"model": spending, "data": table(ROWS[:-1], "spent")["data"]})


def test_an_edited_model_has_no_proof(desk: Desk, spending: str) -> None:
    desk(GAM_EDIT, {"model": spending, "operations": [{"op": "remove", "feature": "plan"}]})
    with pytest.raises(Conflict, match="it is no minimiser"):
        desk(GAM_CERTIFICATE, {"model": spending})
    with pytest.raises(Conflict, match="no fit to other rows gives it"):
        desk(GAM_COMPARE, {"model": spending, "on": "cv"})


@pytest.mark.parametrize("operation", [GAM_CERTIFICATE, GAM_COMPRESS])
@pytest.mark.parametrize("name", ["plan", "age"])
def test_rows_with_another_feature_are_not_those_of_the_fit(desk: Desk, spending: str, operation: object, name: str) -> None:
    others = [row | {name: ROWS[0][name]} for row in ROWS]
    body = {"model": spending, "data": table(others, "spent")["data"]} | ({"tol": 0.1} if operation is GAM_COMPRESS else {})
    with pytest.raises(InvalidInput, match="not the table that the model was fitted to") as fault:
        desk(operation, body)
    assert fault.value.pointer == "/data"


def test_the_bound_of_a_model_of_one_class_is_its_objective(desk: Desk) -> None:
    model = desk(GAM_FIT, {"data": {"rows": [{"x": number % 7, "y": "yes"} for number in range(60)]}, "target": "y"}).model_id
    found = desk(GAM_CERTIFICATE, {"model": model})
    assert (found.objective, found.lower_bound, found.gap) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("targets", "message"),
    [([1.0], "a single row is not held back"), (["c", *"ab" * 20], "all rows of the class c are in one fold")],
)
def test_what_no_fold_can_learn_is_refused(desk: Desk, targets: list, message: str) -> None:
    rows = [{"x": number % 7, "y": target} for number, target in enumerate(targets)]
    task = {"task": "regression"} if len(targets) == 1 else {}
    model = desk(GAM_FIT, {"data": {"rows": rows}, "target": "y", "params": SMALL} | task).model_id
    with pytest.raises(InvalidInput, match=message) as fault:
        desk(GAM_COMPARE, {"model": model, "baseline": "constant", "on": "cv"})
    assert fault.value.pointer == "/on"
