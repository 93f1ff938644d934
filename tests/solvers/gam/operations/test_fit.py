"""What a fit answers and keeps."""

from __future__ import annotations

import base64
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.operations.certificate import GAM_CERTIFICATE
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.models import MODELS, read_data, read_model
from solvers.gam.tables.table import NoTimeToRead
from solvers.operation import Context, InvalidInput
from tests.solvers.gam.operations.running import FEATURES, SMALL, Desk, csv_text, people, table

ROWS = people()


def columns(rows: list[dict]) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in FEATURES}


@pytest.mark.parametrize(
    ("target", "params", "task", "loss", "link"),
    [
        ("spent", {}, "regression", "squared_error", "identity"),
        ("spent", {"loss": "huber"}, "regression", "huber", "identity"),
        ("spent", {"loss": "quantile", "quantile": 0.9}, "regression", "quantile", "identity"),
        ("spent", {"loss": "gamma"}, "regression", "gamma", "log"),
        ("visits", {"loss": "poisson"}, "regression", "poisson", "log"),
        ("left", {}, "classification", "log_loss", "logit"),
        ("grade", {}, "classification", "log_loss", "softmax"),
    ],
)
def test_every_kind_of_target_has_its_model(desk: Desk, target: str, params: dict, task: str, loss: str, link: str) -> None:
    result = desk(GAM_FIT, table(ROWS, target) | {"params": SMALL | params, "holdout": {"fraction": 0.25}})
    assert (result.task, result.loss, result.link, result.version) == (task, loss, link, 1)
    assert (result.n_rows, result.n_holdout) == (400, 100)
    assert result.score.train < result.baselines["constant"].train
    assert result.score.holdout < result.baselines["constant"].holdout
    assert result.objective_history == sorted(result.objective_history, reverse=True)
    assert {shape.feature for shape in result.shape_functions} == set(FEATURES)
    assert sum({shape.feature: shape.importance for shape in result.shape_functions}.values()) == pytest.approx(1.0)


def test_the_model_that_is_kept_is_the_one_that_is_shown(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL, "name": "spending"})
    record = read_model(desk.files, result.model_id)
    shown = MODELS.show(MODELS.read(desk.files, result.model_id))
    assert (record.name, record.data.target) == ("spending", "spent")
    assert shown.model_dump() == {name: value for name, value in result.model_dump().items() if name != "model_id"}


def test_scores_are_the_errors_of_its_predictions(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.25, "seed": 3}})
    model: AdditiveModel = read_model(desk.files, result.model_id).additive_model()
    error = (model.predict(columns(ROWS)) - [row["spent"] for row in ROWS]) ** 2
    held = np.random.RandomState(3).permutation(400)[:100]
    assert result.score.holdout == pytest.approx(error[held].mean(), rel=1e-12)
    assert result.score.train == pytest.approx(np.delete(error, held).mean(), rel=1e-12)
    spent = np.array([row["spent"] for row in ROWS])
    constant = np.delete(spent, held).mean()
    assert result.baselines["constant"].holdout == pytest.approx(((spent[held] - constant) ** 2).mean(), rel=1e-12)


def test_the_bound_is_below_the_objective(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL})
    assert 0 < result.lower_bound <= result.objective
    assert result.gap == pytest.approx((result.objective - result.lower_bound) / result.objective)
    assert result.gap_reason is None
    assert 0 <= result.one_swap_residual < 1e-3


def as_parquet(rows: list[dict]) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.mark.parametrize("way", ["rows", "arrays", "csv text", "csv file", "parquet text", "parquet file", "told by content"])
def test_every_way_to_give_a_table_gives_the_same_model(desk: Desk, way: str) -> None:
    rows = [{name: row[name] for name in (*FEATURES, "spent")} for row in ROWS]
    content = {"csv": csv_text(rows).encode(), "parquet": as_parquet(rows)}
    data = {
        "rows": lambda: {"format": "json", "rows": rows},
        "arrays": lambda: {"rows": [list(row.values()) for row in rows], "names": list(rows[0])},
        "csv text": lambda: {"format": "csv", "content": content["csv"].decode()},
        "csv file": lambda: {"format": "csv", "file": desk.upload(content["csv"])},
        "parquet text": lambda: {"format": "parquet", "content": base64.b64encode(content["parquet"]).decode()},
        "parquet file": lambda: {"format": "parquet", "upload_id": desk.upload(content["parquet"])},
        "told by content": lambda: {"file": desk.upload(content["parquet"])},
    }[way]()
    result = desk(GAM_FIT, {"data": data, "target": "spent", "params": SMALL})
    expected = desk(GAM_FIT, {"data": {"rows": rows}, "target": "spent", "params": SMALL})
    volatile = {"model_id", "created", "timings"}
    assert result.model_dump(exclude=volatile) == expected.model_dump(exclude=volatile)


@pytest.mark.parametrize(
    ("values", "classes"),
    [([True, False], [False, True]), ([0, 1], [0, 1]), ([1, 3], [1, 3]), (["b", "a"], ["a", "b"])],
)
def test_a_target_of_two_values_makes_classes_of_its_type(desk: Desk, values: list, classes: list) -> None:
    rows = people(80, label=lambda number: values[number % 2])
    result = desk(GAM_FIT, table(rows, "label") | {"params": SMALL})
    assert (result.task, result.classes) == ("classification", classes)


def test_a_task_that_is_asked_for_overrides_the_target(desk: Desk) -> None:
    rows = people(80, label=lambda number: number % 2, three=lambda number: number % 3)
    assert desk(GAM_FIT, table(rows, "label") | {"task": "regression", "params": SMALL}).loss == "squared_error"
    assert desk(GAM_FIT, table(rows, "three") | {"task": "classification", "params": SMALL}).classes == [0, 1, 2]
    assert desk(GAM_FIT, table(rows, "three") | {"params": SMALL}).task == "regression"


def test_weights_of_two_are_rows_twice(desk: Desk) -> None:
    rows = people(150, twice=lambda number: 1 + number % 2)
    weighted = desk(GAM_FIT, table(rows, "spent", "twice") | {"weight": "twice", "params": SMALL})
    repeated = [row for row in rows for _ in range(row["twice"])]
    plain = desk(GAM_FIT, table(repeated, "spent") | {"params": SMALL})
    assert weighted.objective == pytest.approx(plain.objective, rel=1e-9)
    assert weighted.score.train == pytest.approx(plain.score.train, rel=1e-9)
    assert {shape.feature for shape in weighted.shape_functions} == set(FEATURES)


def test_rows_of_weight_0_are_not_there(desk: Desk) -> None:
    rows = people(150, here=lambda number: float(number % 3 > 0))
    weighted = desk(GAM_FIT, table(rows, "spent", "here") | {"weight": "here", "params": SMALL})
    plain = desk(GAM_FIT, table([row for row in rows if row["here"]], "spent") | {"params": SMALL})
    assert weighted.objective == pytest.approx(plain.objective, rel=1e-9)
    assert weighted.baselines["linear"].train == pytest.approx(plain.baselines["linear"].train, rel=1e-6)


def test_an_exposure_multiplies_the_mean(desk: Desk) -> None:
    rows = people(300, years=lambda number: 1 + number % 4)
    rows = [row | {"visits": row["visits"] * row["years"]} for row in rows]
    result = desk(GAM_FIT, table(rows, "visits", "years") | {"exposure": "years", "params": SMALL | {"loss": "poisson"}})
    assert result.offset == {"column": "years", "kind": "exposure"}
    model = read_model(desk.files, result.model_id).additive_model()
    decision = model.decision(columns(rows), np.log([row["years"] for row in rows]))
    assert np.exp(decision).sum() == pytest.approx(sum(row["visits"] for row in rows), rel=1e-6)


def test_declared_columns_are_of_their_type(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"columns": {"age": "categorical", "income": "ignore"}, "params": SMALL})
    assert {shape.feature: shape.kind for shape in result.shape_functions} == {"age": "categorical", "plan": "categorical"}
    assert "18" in result.shape_functions[0].levels


def test_monotone_features_rise(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL | {"monotonic_cst": {"age": 1}}})
    scores = next(shape.scores for shape in result.shape_functions if shape.feature == "age")
    assert scores == sorted(scores)


def test_rows_are_kept_in_bins_unless_they_are_not_to_be(desk: Desk) -> None:
    body = table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.25}}
    kept = read_data(desk.files, desk(GAM_FIT, body).model_id)
    assert kept is not None
    assert (kept.training.table.n_rows, kept.holdout.table.n_rows) == (300, 100)
    assert read_data(desk.files, desk(GAM_FIT, body | {"keep_data": False}).model_id) is None
    assert read_data(desk.files, desk(GAM_FIT, body, limits={"gam_data_retention_days": 0}).model_id) is None


def test_kept_rows_have_the_decisions_of_the_values(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.25}})
    model, kept = read_model(desk.files, result.model_id).additive_model(), read_data(desk.files, result.model_id)
    held = np.sort(np.random.RandomState(0).permutation(400)[:100])
    whole = model.decision(columns(ROWS))
    np.testing.assert_allclose(kept.holdout.decision(model), whole[held], rtol=1e-12)
    np.testing.assert_allclose(kept.training.decision(model), np.delete(whole, held), rtol=1e-12)


def test_a_fit_without_time_is_the_best_so_far_and_says_so(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL}, time_limit=1e-6)
    assert any("time ran out" in warning for warning in result.warnings)
    assert result.score.train <= result.baselines["constant"].train + 1e-12


def test_a_fit_tells_how_far_it_has_come(desk: Desk) -> None:
    reports: list[dict] = []
    request = GAM_FIT.request.model_validate(table(ROWS, "spent") | {"params": SMALL | {"bagging": 4}})
    GAM_FIT.run(request, Context(files=desk.files, on_report=lambda members, snapshot: reports.append(members)))
    fractions = [report["fraction"] for report in reports if "fraction" in report]
    assert fractions == sorted(fractions)
    assert len(fractions) >= 4
    assert reports[0]["phase"] == "read"


def test_an_average_has_no_objective_but_bands(desk: Desk) -> None:
    result = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL | {"bagging": 4}})
    assert (result.objective, result.gap, result.gap_reason) == (None, None, "average")
    assert all(shape.stderr is not None for shape in result.shape_functions)


def test_splits_into_sets_of_levels_are_kept_too(desk: Desk) -> None:
    rows = people(400, town=lambda number: f"town {number % 12}")
    rows = [row | {"spent": row["spent"] + 2.0 * (int(row["town"][5:]) % 3 == 0)} for row in rows]
    body = table(rows, "spent", "town") | {"params": SMALL | {"categorical_splits": "subset"}}
    result = desk(GAM_FIT, body)
    assert read_model(desk.files, result.model_id).fit.views
    assert result.lower_bound <= result.objective


@pytest.mark.parametrize("target", ["spent", "left", "grade", "visits"])
def test_stumps_and_ridge_are_chosen_by_cross_validation(desk: Desk, target: str) -> None:
    grid = {"n_stumps": [5, 40], "alphas": [1.0, 30.0], "cv": 3}
    params = {"loss": "poisson"} if target == "visits" else {}
    if target == "spent":
        grid |= {"threshold_fractions": [1.0], "smooth_shares": [0.0]}
    result = desk(GAM_FIT, table(ROWS, target) | {"selection": grid, "params": params})
    assert result.params["n_stumps"] in (0, 5, 40)
    assert result.score.train < result.score.cv
    assert result.score.cv_se > 0
    assert result.n_steps <= result.params["n_stumps"] * len(result.classes or [0])
    if target != "grade":
        assert desk(GAM_CERTIFICATE, {"model": result.model_id}).objective == pytest.approx(result.objective, rel=1e-12)


def test_an_average_may_be_chosen_by_cross_validation(desk: Desk) -> None:
    grid = {"n_stumps": [5, 40], "alphas": [1.0, 30.0], "cv": 3, "smooth_shares": [0.25, 0.5]}
    result = desk(GAM_FIT, table(ROWS, "spent") | {"selection": grid})
    assert result.params["smooth_share"] in (0.25, 0.5)
    assert (result.objective, result.gap, result.gap_reason) == (None, None, "average")
    assert result.score.train < result.score.cv


@pytest.mark.parametrize(
    ("target", "values", "pointer"), [("spent", [1.0], "/selection/smooth_shares/0"), ("left", [0.5], "/selection/smooth_shares")]
)
def test_averages_that_cannot_be_are_refused(desk: Desk, target: str, values: list[float], pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        desk(GAM_FIT, table(ROWS, target) | {"selection": {"smooth_shares": values}})
    assert fault.value.pointer == pointer


def test_what_is_chosen_is_not_given_too(desk: Desk) -> None:
    with pytest.raises(InvalidInput, match="`selection` chooses 'alpha'") as fault:
        desk(GAM_FIT, table(ROWS, "spent") | {"selection": {}, "params": {"alpha": 1.0}})
    assert fault.value.pointer == "/params/alpha"


def test_more_folds_than_rows_are_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInput, match="n_samples=4"):
        desk(GAM_FIT, table(ROWS[:4], "spent") | {"selection": {"cv": 5}})


def test_a_fit_that_is_cancelled_before_there_is_a_model_is_the_best_constant_with_its_bound(desk: Desk) -> None:
    for target in ("spent", "left", "grade"):
        result = desk(GAM_FIT, table(ROWS, target) | {"params": SMALL}, is_cancelled=lambda: True)
        assert result.n_steps == 0
        assert any("a constant, for there was none yet" in warning for warning in result.warnings)
        assert result.score.train == pytest.approx(result.baselines["constant"].train, rel=1e-12)
        assert result.lower_bound is None or 0 < result.lower_bound <= result.objective
        assert (result.lower_bound is None) == (target == "grade")


def test_a_table_that_there_was_no_time_to_read_is_a_timeout(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.gam.tables.csv_rows.HEADER_BYTES", 500)
    file_id = desk.upload(csv_text(ROWS).encode())
    body = {"data": {"format": "csv", "file": file_id}, "target": "spent"}
    with pytest.raises(NoTimeToRead, match="rows of the table") as told:
        desk(GAM_FIT, body, is_cancelled=lambda: True)
    assert told.value.problem()["type"] == "timeout"


def test_a_bound_that_was_not_asked_for_can_be_had_while_there_are_rows(desk: Desk) -> None:
    body = table(ROWS, "spent") | {"params": SMALL | {"certificate": False}}
    kept, gone = desk(GAM_FIT, body), desk(GAM_FIT, body | {"keep_data": False})
    assert (kept.gap, kept.gap_reason) == (None, "not asked")
    assert desk(GAM_CERTIFICATE, {"model": kept.model_id}).gap > 0
    assert (gone.gap, gone.lower_bound, gone.gap_reason) == (None, None, "data")
    asked = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL, "keep_data": False})
    assert asked.gap_reason is None
    assert asked.gap > 0
