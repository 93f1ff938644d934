"""Bad tables and degenerate ones: what is refused says the column and the row, what is taken says what became of it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from solvers.gam.operations.edit import GAM_EDIT
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.predict import GAM_PREDICT
from solvers.operation import ForesolveError, InvalidInput, TooLarge, UnknownFile
from tests.solvers.gam.operations.running import SMALL, Desk

GOOD = [{"x": float(number), "plan": "ab"[number % 2], "w": 1.0, "y": float(number % 5)} for number in range(40)]


def with_cells(name: str, cells: dict[int, Any]) -> list[dict[str, Any]]:
    return [row | {name: cells[number]} if number in cells else row for number, row in enumerate(GOOD)]


def every(name: str, value: Any) -> list[dict[str, Any]]:
    return [row | {name: value} for row in GOOD]


def csv_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [",".join(rows[0]), *(",".join(str(cell) for cell in row.values()) for row in rows)]
    return {"data": {"format": "csv", "content": "\n".join(lines)}}


def rows_of(rows: list[Any]) -> dict[str, Any]:
    return {"data": {"rows": rows}}


POISSON, GAMMA = {"params": {"loss": "poisson"}}, {"params": {"loss": "gamma"}}


@pytest.mark.parametrize(
    ("body", "message", "column", "row", "pointer"),
    [
        (rows_of([]), "the table has no rows", None, None, "/data/rows"),
        (rows_of([{"y": 1.0}, {"y": 2.0}]), "no features", None, None, "/data"),
        (rows_of(GOOD) | {"target": "z"}, "there is no column 'z'; the columns are 'x', 'plan', 'w', 'y'", "z", None, None),
        (rows_of(GOOD) | {"weight": "z"}, "there is no column 'z'", "z", None, None),
        (rows_of(GOOD) | {"columns": {"z": "numeric"}}, "there is no column 'z'", "z", None, None),
        (rows_of(GOOD) | {"weight": "y"}, "column 'y' has two roles", None, None, None),
        (rows_of(GOOD) | {"columns": {"y": "ignore"}}, "column 'y' is needed", "y", None, "/columns"),
        (rows_of(with_cells("y", {3: None})), "column 'y', row 3: the target is missing", "y", 3, "/data/rows/3"),
        (rows_of(with_cells("y", {3: "no"})), "column 'y': row 0 holds a number, row 3 a text", "y", 3, "/data/rows/3"),
        (csv_of(with_cells("y", {3: "inf"})), "column 'y', row 3: inf; a finite number", "y", 3, "/data/content"),
        (
            rows_of(every("y", "text")) | {"task": "regression"},
            "column 'y', row 0: 'text' is not a number",
            "y",
            0,
            "/data/rows/0",
        ),
        (
            rows_of(with_cells("y", {4: 1.5})) | {"task": "classification"},
            "column 'y', row 4: 1.5 is no class",
            "y",
            4,
            "/data/rows/4",
        ),
        (
            rows_of(with_cells("y", {4: 1e308})) | {"task": "classification"},
            "column 'y', row 4: 1e+308 is no class",
            "y",
            4,
            "/data/rows/4",
        ),
        (
            csv_of(with_cells("y", {4: "inf"})) | {"task": "classification"},
            "column 'y', row 4: inf is no class",
            "y",
            4,
            "/data/content",
        ),
        (csv_of(with_cells("x", {5: "inf"})), "column 'x', row 5: the value is infinite", "x", 5, "/data/content"),
        (csv_of(with_cells("x", {5: "-1e999"})), "column 'x', row 5: the value is infinite", "x", 5, "/data/content"),
        (rows_of(with_cells("x", {5: "five"})), "column 'x': row 0 holds a number, row 5 a text", "x", 5, "/data/rows/5"),
        (csv_of(with_cells("x", {5: "five"})), "column 'x': row 0 holds a number, row 5 a text", "x", 5, "/data/content"),
        (csv_of(with_cells("x", {5: "9" * 400})), "column 'x', row 5: the integer 9999", "x", 5, "/data/content"),
        (csv_of(with_cells("x", {5: "9" * 5000})), "column 'x', row 5: the integer 9999", "x", 5, "/data/content"),
        (csv_of(every("x", "2024-02-01")), "column 'x', row 0: holds dates or times", "x", 0, "/data/content"),
        (rows_of(with_cells("x", {5: [1]})), "column 'x', row 5: a cell is a number", "x", 5, "/data/rows/5"),
        (rows_of(with_cells("x", {5: 2**53 + 1})), "column 'x', row 5: the integer", "x", 5, "/data/rows/5"),
        (rows_of(with_cells("y", {3: 1e200})), "column 'y', row 3: 1e+200; a target is at most", "y", 3, "/data/rows/3"),
        (rows_of(with_cells("w", {6: -1.0})) | {"weight": "w"}, "column 'w', row 6: -1.0", "w", 6, "/data/rows/6"),
        (rows_of(with_cells("w", {6: None})) | {"weight": "w"}, "column 'w', row 6: nan", "w", 6, "/data/rows/6"),
        (csv_of(with_cells("w", {6: "inf"})) | {"weight": "w"}, "column 'w', row 6: inf", "w", 6, "/data/content"),
        (
            rows_of(with_cells("w", {6: 1e308})) | {"weight": "w"},
            "column 'w', row 6: 1e+308; a weight is 0",
            "w",
            6,
            "/data/rows/6",
        ),
        (rows_of(with_cells("w", {6: 1e-320})) | {"weight": "w"}, "column 'w', row 6: 1e-320; a weight", "w", 6, "/data/rows/6"),
        (rows_of(every("w", 0.0)) | {"weight": "w"}, "every weight is zero", "w", None, "/data/rows"),
        (rows_of(every("w", "heavy")) | {"weight": "w"}, "column 'w', row 0: 'heavy' is not a number", "w", 0, "/data/rows/0"),
        (rows_of(with_cells("w", {6: None})) | {"offset": "w"}, "column 'w', row 6: the offset nan", "w", 6, "/data/rows/6"),
        (
            rows_of(with_cells("w", {6: 0.0})) | {"exposure": "w"} | POISSON,
            "column 'w', row 6: the exposure 0.0 is not positive",
            "w",
            6,
            "/data/rows/6",
        ),
        (rows_of(GOOD) | {"exposure": "w"}, "an exposure goes with a log link", "w", None, "/exposure"),
        (
            rows_of([row | {"v": 1.0} for row in GOOD]) | {"exposure": "w", "offset": "v"} | POISSON,
            "both an offset and an exposure",
            "v",
            None,
            "/exposure",
        ),
        (rows_of(with_cells("y", {7: -1.0})) | POISSON, "column 'y', row 7: -1.0; a Poisson model", "y", 7, "/data/rows/7"),
        (rows_of(with_cells("y", {7: 0.0, 0: 1.0, 5: 1.0})) | GAMMA, "column 'y', row 7: 0.0; a gamma", "y", 7, "/data/rows/7"),
        (rows_of([*GOOD[:3], [1, 2]]), "row 3 is not an object", None, 3, "/data/rows/3"),
        (rows_of([[1, 2], [1]]), "row 1 has 1 cells, the first one 2", None, 1, "/data/rows/1"),
        (rows_of(GOOD) | {"params": {"monotonic_cst": {"plan": 1}}}, "cannot be monotone", None, None, "/params/monotonic_cst"),
        (rows_of(GOOD) | {"params": {"monotonic_cst": {"z": 1}}}, "there is no feature 'z'", None, None, "/params/monotonic_cst"),
        (rows_of(GOOD) | {"params": {"loss": "log_loss"}, "task": "regression"}, "is not one of", None, None, "/params/loss"),
        (rows_of(GOOD) | {"params": {"class_weight": "balanced"}}, "no classes to weigh", None, None, "/params/class_weight"),
        (
            rows_of(with_cells("y", {2: 9.0})) | {"task": "classification", "holdout": {"fraction": 0.5}},
            "column 'y', row 2: all rows of the class 9 are held back",
            "y",
            2,
            "/holdout",
        ),
        (rows_of(GOOD) | {"selection": {"cv": 41}}, "cv=41 folds need", None, None, "/selection/cv"),
        (rows_of(GOOD) | {"selection": {"alphas": [1, -1]}}, "greater than or equal to 0", None, None, "/selection/alphas/1"),
        (rows_of(GOOD) | {"holdout": {"fraction": 0.001}}, "is 0 rows", None, None, "/holdout/fraction"),
        ({"data": {"format": "parquet", "content": "?"}}, "base64", None, None, "/data/content"),
        ({"data": {"format": "parquet", "content": "UEFSMQ=="}}, "the file is not Parquet", None, None, "/data/content"),
        ({"data": {"file": "file_none"}}, "there is no file", None, None, None),
    ],
)
def test_what_is_refused_is_told_with_its_place(
    body: dict, message: str, column: str | None, row: int | None, pointer: str | None
) -> None:
    with pytest.raises(ForesolveError) as caught:
        Desk()(GAM_FIT, {"target": "y"} | body)
    fault = caught.value
    assert message in str(fault)
    assert (fault.members.get("column"), fault.members.get("row")) == (column, row)
    if pointer is not None:
        assert fault.pointer == pointer


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"data": {}}, "give one of rows, content and file"),
        ({"data": {"rows": GOOD, "file": "file_1"}}, "give one of rows, content and file, not rows and file"),
        ({"data": {"format": "csv", "rows": GOOD}}, "the format 'csv' does not go with 'rows'"),
        ({"data": {"content": "x", "names": ["x"]}}, "`names` goes with `rows`"),
        ({"data": {"rows": GOOD}, "params": {"alpha": -1}}, "greater than or equal to 0"),
        ({"data": {"rows": GOOD}, "params": {"n_stumps": 1.5}}, "valid integer"),
        ({"data": {"rows": GOOD}, "params": {"gamma": 1}}, "Extra inputs"),
        ({"data": {"rows": GOOD}, "columns": {"x": "date"}}, "'numeric', 'categorical' or 'ignore'"),
        ({"data": {"rows": GOOD}, "holdout": {"fraction": 1}}, "less than 1"),
        ({"data": {"rows": GOOD}, "name": "two\nlines"}, "a name is one line"),
    ],
)
def test_a_request_that_is_none_is_refused(body: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        GAM_FIT.request.model_validate({"target": "y"} | body)


def fit(rows: list[dict[str, Any]], **members: Any) -> Any:
    return Desk()(GAM_FIT, rows_of(rows) | {"target": "y", "params": SMALL} | members)


@pytest.mark.parametrize(
    ("name", "value", "note"),
    [
        ("x", None, "column 'x' has no effect"),
        ("x", 7.0, "column 'x' has no effect"),
        ("plan", "only", "column 'plan' has no effect"),
    ],
)
def test_a_feature_that_says_nothing_scores_0_and_is_told(name: str, value: Any, note: str) -> None:
    result = fit(every(name, value))
    shape = next(shape for shape in result.shape_functions if shape.feature == name)
    assert set(shape.scores) <= {0.0}
    assert any(note in warning for warning in result.warnings)


@pytest.mark.parametrize("rows", [GOOD[:1], every("y", 3.0)])
def test_one_row_or_one_value_makes_a_constant_without_a_gap(rows: list) -> None:
    result = fit(rows, task="regression")
    assert (result.n_steps, result.gap) == (0, 0.0)
    assert result.objective == pytest.approx(0.0, abs=1e-18)
    assert result.intercept == rows[0]["y"]


def test_a_column_too_large_to_be_squared_is_split_all_the_same() -> None:
    result = fit(
        [row | {"x": 1e308 * (-1) ** number, "y": float(number % 2)} for number, row in enumerate(GOOD)], task="regression"
    )
    assert result.score.train == pytest.approx(0.0, abs=0.01)
    assert result.baselines["linear"].train == pytest.approx(0.0, abs=1e-6)  # by `plan`, which says the same


def test_a_table_too_wide_for_the_linear_model_has_none() -> None:
    names = [f"c{number}" for number in range(2001)]
    rows = [dict.fromkeys(names, float(number)) | {"y": float(number)} for number in range(4)]
    assert set(fit(rows, task="regression", params={"n_stumps": 1, "max_bins": 2}).baselines) == {"constant"}


def test_a_file_without_rows_is_refused_by_predict() -> None:
    desk = Desk()
    model = desk(GAM_FIT, rows_of(GOOD) | {"target": "y", "params": SMALL}).model_id
    with pytest.raises(InvalidInput, match="the table has no rows"):
        desk(GAM_PREDICT, {"model": model, "data": {"content": "x,plan,w\n"}})


def test_one_class_is_predicted_with_certainty() -> None:
    desk = Desk()
    result = desk(GAM_FIT, rows_of(every("y", "yes")) | {"target": "y"})
    predicted = desk(GAM_PREDICT, {"model": result.model_id, "rows": GOOD[:2]})
    assert (predicted.predictions, predicted.probabilities) == (["yes", "yes"], [[1.0], [1.0]])
    assert any("class" in warning for warning in result.warnings)


def test_classes_that_are_separable_leave_finite_scores() -> None:
    rows = [row | {"y": "high" if row["x"] > 20 else "low"} for row in GOOD]
    for alpha in (1.0, 0.0):
        result = fit(rows, params={"alpha": alpha, "n_stumps": 5})
        assert all(abs(score) < 1e3 for shape in result.shape_functions for score in shape.scores)
    assert (result.lower_bound, result.gap_reason) == (None, "alpha")


def test_leaves_that_nothing_fills_make_a_constant_and_a_warning() -> None:
    result = fit(GOOD, params={"min_samples_leaf": 21})
    assert result.n_steps == 0
    assert any("weights count as rows" in warning for warning in result.warnings)


def test_all_zero_counts_are_taken_as_next_to_nothing() -> None:
    result = fit(every("y", 0.0), params={"loss": "poisson"})
    assert result.intercept < -20
    assert any("1e-10" in warning for warning in result.warnings)


def test_more_stumps_than_columns_share_them() -> None:
    result = fit(GOOD, params={"n_stumps": 1000, "alpha": 1.0})
    assert result.n_steps < 60


def test_a_level_for_every_row_is_pooled() -> None:
    rows = [{"name": f"row {number}", "x": float(number % 9), "y": float(number % 3)} for number in range(600)]
    result = fit(rows, params={"n_stumps": 50, "alpha": 1.0, "min_samples_leaf": 1})
    levels = next(shape for shape in result.shape_functions if shape.feature == "name")
    assert len(levels.levels) == 600
    assert len(set(levels.scores[254:])) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (every("\ud800", 1.0), "the name of column 4 holds half a character"),
        (with_cells("plan", {3: "a\udfff"}), "column 'plan', row 3: the text holds half a character"),
        (every("n" * 1001, 1.0), "is longer than 1000 characters"),
    ],
)
def test_texts_that_nothing_can_hold_are_refused(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fit(rows)


def test_a_table_of_too_many_columns_is_refused_with_the_setting() -> None:
    desk, body = Desk(limits={"max_columns": 3}), rows_of(GOOD) | {"target": "y", "params": SMALL}
    with pytest.raises(TooLarge, match=r"4 columns .* at most 3 \(setting FORESOLVE_MAX_COLUMNS\)"):
        desk(GAM_FIT, body)
    assert desk(GAM_FIT, body | {"columns": {"plan": "ignore"}}).n_rows == 40


def test_a_table_in_an_unknown_file_is_told_where_it_is_named() -> None:
    with pytest.raises(UnknownFile) as unknown:
        Desk()(GAM_FIT, {"data": {"file": "file_0"}, "target": "y"})
    assert unknown.value.pointer == "/data/file"


def test_names_may_be_anything() -> None:
    names = ["with space", "a/b", "'; DROP TABLE x", "=1+1", "ünïcode", "名前", "x" * 500]
    desk = Desk()
    rows = [dict.fromkeys(names, float(number)) | {"y": number % 4} for number in range(40)]
    result = desk(GAM_FIT, rows_of(rows) | {"target": "y", "params": SMALL})
    assert [shape.feature for shape in result.shape_functions] == names
    assert desk(GAM_PREDICT, {"model": result.model_id, "rows": rows[:1]}).rows == 1
    edited = desk(GAM_EDIT, {"model": result.model_id, "operations": [{"op": "remove", "feature": "a/b"}]})
    assert edited.version == 2


def test_a_fault_in_given_rows_is_told_where_it_is() -> None:
    desk = Desk()
    model = desk(GAM_FIT, rows_of(GOOD) | {"target": "y", "params": SMALL}).model_id
    body = {"model": model, "operations": [{"op": "remove", "feature": "x"}], "data": {"rows": with_cells("y", {2: None})}}
    with pytest.raises(InvalidInput, match="column 'y', row 2: the target is missing") as fault:
        desk(GAM_EDIT, body)
    assert fault.value.pointer == "/data/rows/2"
