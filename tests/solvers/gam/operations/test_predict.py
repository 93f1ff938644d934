"""Predictions: inline, in a file, with contributions and intervals, and for rows unlike those of training."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from solvers.gam.operations import predict
from solvers.gam.operations.edit import GAM_EDIT
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.models import read_model
from solvers.gam.operations.predict import GAM_PREDICT
from solvers.gam.tables import csv_rows
from solvers.operation import Conflict, InvalidInput, TooLarge, UnknownFile
from tests.solvers.gam.operations.running import FEATURES, SMALL, Desk, csv_text, people, table

NEW = [{name: row[name] for name in FEATURES} for row in people(50, seed=9)]


def columns(rows: list[dict]) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in FEATURES}


def test_predictions_are_the_model_s(desk: Desk, spending: str) -> None:
    result = desk(GAM_PREDICT, {"model": spending, "rows": NEW, "contributions": True})
    model = read_model(desk.files, spending).additive_model()
    np.testing.assert_allclose(result.predictions, model.predict(columns(NEW)), rtol=1e-12)
    assert result.contributions.features == list(FEATURES)
    total = np.sum(result.contributions.values, axis=1) + result.intercept
    np.testing.assert_allclose(total, result.decision, rtol=1e-12)
    assert (result.probabilities, result.classes, result.file_id, result.rows, result.warnings) == (None, None, None, 50, [])


def test_probabilities_are_in_the_order_of_the_classes(desk: Desk, leaving: str) -> None:
    result = desk(GAM_PREDICT, {"model": leaving, "rows": NEW})
    assert result.classes == ["no", "yes"]
    np.testing.assert_allclose(np.sum(result.probabilities, axis=1), 1.0)
    np.testing.assert_allclose([row[1] for row in result.probabilities], 1 / (1 + np.exp(-np.array(result.decision))))
    assert result.predictions == ["yes" if row[1] > 0.5 else "no" for row in result.probabilities]


def test_several_classes_have_a_decision_each(desk: Desk) -> None:
    model = desk(GAM_FIT, table(people(), "grade") | {"params": SMALL}).model_id
    result = desk(GAM_PREDICT, {"model": model, "rows": NEW[:3], "contributions": True})
    assert np.shape(result.decision) == (3, 3)
    assert np.shape(result.contributions.values) == (3, 3, 3)
    np.testing.assert_allclose(np.sum(result.contributions.values, axis=1) + result.intercept, result.decision, atol=1e-12)


def test_other_columns_and_another_order_make_no_difference(desk: Desk, spending: str) -> None:
    plain = desk(GAM_PREDICT, {"model": spending, "rows": NEW})
    arrays = [["x", row["income"], row["age"], row["plan"]] for row in NEW]
    other = desk(GAM_PREDICT, {"model": spending, "rows": arrays, "names": ["id", "income", "age", "plan"]})
    assert other.predictions == plain.predictions


def read_csv(desk: Desk, file_id: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(desk.files.open(file_id).read().decode(), newline="")))


def test_an_uploaded_file_is_scored_to_a_file_block_by_block(desk: Desk, leaving: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 300)
    uploaded = desk.upload(csv_text(NEW).encode())
    result = desk(GAM_PREDICT, {"model": leaving, "data": {"file": uploaded}, "contributions": True, "interval": 0.9})
    inline = desk(GAM_PREDICT, {"model": leaving, "rows": NEW, "contributions": True, "interval": 0.9})
    head, *lines = read_csv(desk, result.file_id)
    assert (result.rows, result.predictions) == (50, None)
    assert head == ["row", "prediction", "p_no", "p_yes", "f_age", "f_plan", "f_income", "lower", "upper"]
    assert [line[0] for line in lines] == [str(number) for number in range(50)]
    assert [line[1] for line in lines] == inline.predictions
    expected = np.column_stack([inline.probabilities, inline.contributions.values, inline.interval.lower, inline.interval.upper])
    np.testing.assert_array_equal([list(map(float, line[2:])) for line in lines], expected)


def test_the_output_can_be_chosen(desk: Desk, spending: str) -> None:
    uploaded = desk.upload(csv_text(NEW).encode())
    inline = desk(GAM_PREDICT, {"model": spending, "data": {"file": uploaded}, "output": "inline"})
    to_file = desk(GAM_PREDICT, {"model": spending, "rows": NEW, "output": "file"})
    assert len(inline.predictions) == 50
    assert [float(line[1]) for line in read_csv(desk, to_file.file_id)[1:]] == inline.predictions


def test_too_many_rows_inline_are_refused(desk: Desk, spending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict, "MOST_INLINE_ROWS", 10)
    with pytest.raises(TooLarge, match="ask for the output `file`"):
        desk(GAM_PREDICT, {"model": spending, "rows": NEW})


def test_an_interval_holds_the_mean_and_grows_with_its_level(desk: Desk, spending: str) -> None:
    narrow, wide = (desk(GAM_PREDICT, {"model": spending, "rows": NEW, "interval": level}) for level in (0.5, 0.99))
    for result in (narrow, wide):
        assert all(
            low <= mean <= high
            for low, mean, high in zip(result.interval.lower, result.predictions, result.interval.upper, strict=True)
        )
    assert narrow.interval.kind == "conditional"
    assert all(inner > outer for inner, outer in zip(narrow.interval.lower, wide.interval.lower, strict=True))


@pytest.mark.parametrize("bagging", [0, 10])
def test_each_of_several_classes_has_an_interval(desk: Desk, bagging: int) -> None:
    model = desk(GAM_FIT, table(people(), "grade") | {"params": SMALL | {"bagging": bagging}}).model_id
    narrow, wide = (desk(GAM_PREDICT, {"model": model, "rows": NEW, "interval": level}) for level in (0.5, 0.99))
    assert narrow.interval.kind == ("bootstrap" if bagging else "conditional")
    middle = np.array(narrow.probabilities)
    bounds = [np.zeros_like(middle), wide.interval.lower, narrow.interval.lower]
    bounds += [narrow.interval.upper, wide.interval.upper, np.ones_like(middle)]
    assert np.all(np.diff(bounds, axis=0) > 0)
    assert np.all((wide.interval.lower < middle) & (middle < wide.interval.upper))
    scored = desk(GAM_PREDICT, {"model": model, "rows": NEW, "interval": 0.5, "output": "file"})
    header, first = desk.files.open(scored.file_id).read().decode().splitlines()[:2]
    names = [f"{bound}_{label}" for bound in ("lower", "upper") for label in narrow.classes]
    assert header.split(",")[-6:] == names
    assert [float(cell) for cell in first.split(",")[-6:]] == [*narrow.interval.lower[0], *narrow.interval.upper[0]]


def test_a_single_class_has_no_interval_and_says_why(desk: Desk) -> None:
    rows = [row | {"left": "no"} for row in people(50)]
    model = desk(GAM_FIT, table(rows, "left") | {"params": SMALL}).model_id
    with pytest.raises(InvalidInput, match="one class only"):
        desk(GAM_PREDICT, {"model": model, "rows": NEW, "interval": 0.9})


def test_an_edited_model_has_no_interval(desk: Desk, spending: str) -> None:
    desk(GAM_EDIT, {"model": spending, "operations": [{"op": "remove", "feature": "plan"}]})
    with pytest.raises(Conflict, match="the model was edited"):
        desk(GAM_PREDICT, {"model": spending, "rows": NEW, "interval": 0.9})


def test_infinite_and_missing_numbers_are_scored(desk: Desk, spending: str) -> None:
    text = "age,plan,income\ninf,basic,1\n-inf,basic,1\n,basic,1\n1e300,basic,1\n"
    result = desk(GAM_PREDICT, {"model": spending, "data": {"format": "csv", "content": text}})
    assert result.predictions[0] == result.predictions[3]
    assert all(np.isfinite(result.predictions))
    assert result.warnings == ["column 'age': a missing value, of which training had none: 1 rows"]


def test_an_unseen_level_is_scored_and_told_or_refused(desk: Desk, spending: str) -> None:
    rows = [*NEW[:2], NEW[2] | {"plan": "gold"}]
    result = desk(GAM_PREDICT, {"model": spending, "rows": rows, "contributions": True})
    assert result.contributions.values[2][1] == 0.0
    assert result.warnings == ["column 'plan': a level that the model has not seen: 1 rows"]
    with pytest.raises(InvalidInput, match="column 'plan', row 2: a level that the model has not seen"):
        desk(GAM_PREDICT, {"model": spending, "rows": rows, "unseen": "error"})


def test_without_the_exposure_predictions_are_rates(desk: Desk) -> None:
    rows = people(200, years=lambda number: 1 + number % 4)
    body = table(rows, "visits", "years") | {"exposure": "years", "params": SMALL | {"loss": "poisson"}}
    model = desk(GAM_FIT, body).model_id
    with_years = desk(GAM_PREDICT, {"model": model, "rows": [row | {"years": 3} for row in NEW]})
    without = desk(GAM_PREDICT, {"model": model, "rows": NEW})
    np.testing.assert_allclose(with_years.predictions, 3 * np.array(without.predictions), rtol=1e-12)
    assert without.warnings == ["the rows have no column 'years': the predictions are rates per unit"]
    with pytest.raises(InvalidInput, match=r"column 'years', row 1: the exposure 0\.0 is not positive") as fault:
        desk(GAM_PREDICT, {"model": model, "rows": [NEW[0] | {"years": 1}, NEW[1] | {"years": 0}]})
    assert fault.value.members == {"column": "years", "row": 1}


@pytest.mark.parametrize(
    ("rows", "message", "pointer"),
    [
        ([{"age": 1, "plan": "x"}], "there is no column 'income'", "/rows"),
        ([{"age": "old", "plan": "x", "income": 1}], "column 'age', row 0: 'old' is not a number", "/rows/0"),
        ([[1, 2]], "there is no column 'age'", "/rows"),
        ([], "the table has no rows", "/rows"),
    ],
)
def test_rows_that_do_not_fit_the_model_are_refused(desk: Desk, spending: str, rows: list, message: str, pointer: str) -> None:
    with pytest.raises(InvalidInput, match=message) as fault:
        desk(GAM_PREDICT, {"model": spending, "rows": rows})
    assert fault.value.pointer in (pointer, "/data" + pointer)


def test_a_model_that_is_not_there_is_told_at_its_field(desk: Desk) -> None:
    with pytest.raises(UnknownFile) as fault:
        desk(GAM_PREDICT, {"model": "file_" + "0" * 32, "rows": NEW})
    assert fault.value.pointer == "/model"
    with pytest.raises(InvalidInput, match="the file is no model"):
        desk(GAM_PREDICT, {"model": desk.upload(b"{}"), "rows": NEW})


def test_names_that_a_spreadsheet_would_run_are_quoted(desk: Desk) -> None:
    rows = [{"=cmd()": number % 7, "y": "=1+1" if number % 2 else "b"} for number in range(60)]
    model = desk(GAM_FIT, {"data": {"rows": rows}, "target": "y", "params": SMALL}).model_id
    result = desk(GAM_PREDICT, {"model": model, "rows": rows, "output": "file", "contributions": True})
    cells = {cell for line in read_csv(desk, result.file_id) for cell in line}
    assert not any(cell[:1] in "=+@" for cell in cells if cell)
    assert "'=1+1" in cells


def test_a_fit_can_ask_for_unseen_levels_to_be_refused(desk: Desk) -> None:
    strict = desk(GAM_FIT, table(people(), "spent") | {"params": SMALL | {"unseen": "error"}}).model_id
    rows = [{"age": 30, "plan": "pro", "income": 20.0}, {"age": 30, "plan": "gold", "income": 20.0}]
    with pytest.raises(InvalidInput, match="column 'plan', row 1"):
        desk(GAM_PREDICT, {"model": strict, "rows": rows})
    lenient = desk(GAM_PREDICT, {"model": strict, "rows": rows, "unseen": "score", "contributions": True})
    assert lenient.contributions.values[1][1] == 0
    assert any("not seen" in warning for warning in lenient.warnings)
