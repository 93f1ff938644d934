"""Edits, undoing and history: versions, scores before and after, and changes at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from solvers.gam.operations.compress import GAM_COMPRESS
from solvers.gam.operations.edit import BUILT_IN, GAM_EDIT, GAM_HISTORY, GAM_UNDO, NO_ROWS
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.models import DEMO, DEMO_EDITED, read_model
from solvers.gam.operations.predict import GAM_PREDICT
from solvers.operation import Conflict, InvalidInput
from tests.solvers.gam.operations.running import FEATURES, SMALL, Desk, people, table

REMOVE_PLAN = {"op": "remove", "feature": "plan"}
HALVE_AGE = {"op": "rescale", "feature": "age", "factor": 0.5}
NEW = [{name: row[name] for name in FEATURES} for row in people(20, seed=9)]


def edit(desk: Desk, model: str, *operations: dict[str, Any], **members: Any) -> Any:
    context = {name: members.pop(name) for name in ("run_id", "owner") if name in members}
    return desk(GAM_EDIT, {"model": model, "operations": list(operations)} | members, **context)


def predictions(desk: Desk, model: str) -> list[float]:
    found: list[float] = desk(GAM_PREDICT, {"model": model, "rows": NEW}).predictions
    return found


def test_an_edit_makes_a_version_and_tells_what_it_costs(desk: Desk, spending: str) -> None:
    before = read_model(desk.files, spending)
    result = edit(desk, spending, REMOVE_PLAN, note="not allowed", owner="ann")
    record = read_model(desk.files, spending)
    assert (result.version, record.version, result.edit_id, result.scored_on) == (2, 2, "edit-1", "holdout")
    assert {row.feature for row in result.diff} == {"plan"}
    assert all(row.after == 0 for row in result.diff)
    assert result.score_before == pytest.approx(before.score.holdout, rel=1e-12)
    assert result.score_after > result.score_before
    (entry,) = desk(GAM_HISTORY, {"model": spending}).edits
    assert (entry.by, entry.note, entry.undone, entry.operations[0]["op"]) == ("ann", "not allowed", False, "remove")


def test_an_edited_model_minimises_nothing_until_it_is_undone(desk: Desk, spending: str) -> None:
    fitted, before = read_model(desk.files, spending), predictions(desk, spending)
    edit(desk, spending, REMOVE_PLAN)
    assert predictions(desk, spending) != before
    undone = desk(GAM_UNDO, {"model": spending})
    assert (undone.undone, undone.version, undone.objective) == (["edit-1"], 3, fitted.fit.objective)
    assert undone.score == pytest.approx(fitted.score.holdout, rel=1e-12)
    assert predictions(desk, spending) == before


def test_gaps_are_null_with_the_reason_edited(desk: Desk, spending: str) -> None:
    edit(desk, spending, HALVE_AGE)
    edit(desk, spending, REMOVE_PLAN)
    shown = desk(GAM_UNDO, {"model": spending})
    assert (shown.objective, shown.lower_bound, shown.gap, shown.gap_reason) == (None, None, None, "edited")


def test_undoing_an_edit_undoes_all_later_ones(desk: Desk, spending: str) -> None:
    states = [predictions(desk, spending)]
    for operation in (HALVE_AGE, REMOVE_PLAN, {"op": "clamp", "feature": "income", "min": 0}):
        edit(desk, spending, operation)
        states.append(predictions(desk, spending))
    assert desk(GAM_UNDO, {"model": spending, "edit_id": "edit-2"}).undone == ["edit-2", "edit-3"]
    assert predictions(desk, spending) == states[1]
    edit(desk, spending, {"op": "remove", "feature": "income"})
    assert desk(GAM_UNDO, {"model": spending, "edit_id": "edit-1"}).undone == ["edit-1", "edit-4"]
    assert predictions(desk, spending) == states[0]
    history = desk(GAM_HISTORY, {"model": spending})
    assert [entry.undone for entry in history.edits] == [True] * 4
    assert history.version == 7
    with pytest.raises(InvalidInput, match="no edit is left to undo"):
        desk(GAM_UNDO, {"model": spending})


@pytest.mark.parametrize(("edit_id", "message"), [("edit-9", "is not known"), ("edit-1", "was undone before")])
def test_what_cannot_be_undone_is_told(desk: Desk, spending: str, edit_id: str, message: str) -> None:
    edit(desk, spending, HALVE_AGE)
    desk(GAM_UNDO, {"model": spending})
    edit(desk, spending, REMOVE_PLAN)
    with pytest.raises(InvalidInput, match=message):
        desk(GAM_UNDO, {"model": spending, "edit_id": edit_id})


def test_a_dry_run_changes_nothing_and_tells_the_same(desk: Desk, spending: str) -> None:
    dry = edit(desk, spending, HALVE_AGE, dry_run=True)
    assert (dry.edit_id, dry.version, read_model(desk.files, spending).version) == (None, None, 1)
    wet = edit(desk, spending, HALVE_AGE)
    assert (dry.diff, dry.score_before, dry.score_after) == (wet.diff, wet.score_before, wet.score_after)


def test_edits_are_scored_on_given_rows(desk: Desk, spending: str) -> None:
    rows = people(60, seed=4)
    result = edit(desk, spending, REMOVE_PLAN, data=table(rows, "spent")["data"])
    model = read_model(desk.files, spending).additive_model()
    mean = model.predict({name: [row[name] for row in rows] for name in FEATURES})
    assert result.scored_on == "data"
    assert result.score_after == pytest.approx(np.mean((mean - [row["spent"] for row in rows]) ** 2), rel=1e-12)


def test_without_rows_an_edit_still_works(desk: Desk) -> None:
    model = desk(GAM_FIT, table(people(), "spent") | {"params": SMALL, "keep_data": False}).model_id
    result = edit(desk, model, REMOVE_PLAN)
    assert (result.score_before, result.score_after, result.version, result.warnings) == (None, None, 2, [NO_ROWS])
    assert desk(GAM_UNDO, {"model": model}).score is None


def test_an_edit_of_a_version_that_is_no_more_is_a_conflict(desk: Desk, spending: str) -> None:
    edit(desk, spending, HALVE_AGE, version=1)
    with pytest.raises(Conflict, match="the model is at version 2, not 1") as fault:
        edit(desk, spending, REMOVE_PLAN, version=1)
    assert (fault.value.status, fault.value.members) == (409, {"version": 2})
    assert read_model(desk.files, spending).version == 2


def test_of_edits_at_the_same_time_none_is_lost(desk: Desk, spending: str) -> None:
    before = read_model(desk.files, spending).additive_model().shape("age").scores
    operation = {"op": "rescale", "feature": "age", "factor": 2.0, "recenter": False}
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda number: edit(desk, spending, operation), range(6)))
    assert sorted(result.version for result in results) == [2, 3, 4, 5, 6, 7]
    assert len({result.edit_id for result in results}) == 6
    np.testing.assert_allclose(read_model(desk.files, spending).additive_model().shape("age").scores, 64 * before, rtol=1e-12)


def test_a_job_that_is_tried_again_edits_once(desk: Desk, spending: str) -> None:
    first = edit(desk, spending, HALVE_AGE, run_id="job")
    edit(desk, spending, REMOVE_PLAN)
    again = edit(desk, spending, HALVE_AGE, run_id="job")
    assert (again.version, again.edit_id, again.diff) == (first.version, first.edit_id, first.diff)
    assert read_model(desk.files, spending).version == 3
    undone = [desk(GAM_UNDO, {"model": spending}, run_id="undo").undone for _ in range(2)]
    assert undone == [["edit-2"], ["edit-2"]]
    assert read_model(desk.files, spending).version == 4


@pytest.mark.parametrize("model", [DEMO, DEMO_EDITED])
def test_a_built_in_model_stays(desk: Desk, model: str) -> None:
    before = read_model(desk.files, model)
    result = edit(desk, model, HALVE_AGE)
    assert (result.edit_id, result.version, result.warnings) == (None, None, [BUILT_IN])
    assert read_model(desk.files, model) == before


def test_the_built_in_edits_can_be_undone_for_show(desk: Desk) -> None:
    result = desk(GAM_UNDO, {"model": DEMO_EDITED, "edit_id": "edit-1"})
    fitted = read_model(desk.files, DEMO)
    assert (result.undone, result.warnings) == (["edit-1", "edit-2"], [BUILT_IN])
    assert result.objective == fitted.fit.objective
    assert result.score == pytest.approx(fitted.score.holdout, rel=1e-12)


@pytest.mark.parametrize(
    ("operation", "pointer"),
    [
        ({"op": "remove", "feature": "none"}, "/operations/0/feature"),
        ({"op": "set", "feature": "plan", "level": "gold", "value": 1}, "/operations/0/level"),
        ({"op": "monotonise", "feature": "plan", "direction": "increasing"}, "/operations/0/feature"),
        ({"op": "remove", "feature": "age", "class": "x"}, "/operations/0/class"),
    ],
)
def test_an_edit_that_makes_no_sense_is_told_at_its_field(desk: Desk, spending: str, operation: dict, pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        edit(desk, spending, operation)
    assert fault.value.pointer == pointer
    assert read_model(desk.files, spending).version == 1


def test_compression_is_an_edit_that_keeps_the_proof(desk: Desk, spending: str) -> None:
    before = read_model(desk.files, spending)
    dry = desk(GAM_COMPRESS, {"model": spending, "tol": 0.5, "dry_run": True})
    result = desk(GAM_COMPRESS, {"model": spending, "tol": 0.5}, run_id="job")
    after = read_model(desk.files, spending)
    assert (result.version, result.edit_id, dry.version) == (2, "edit-1", None)
    assert (dry.n_steps_after, dry.objective) == (result.n_steps_after, result.objective)
    assert result.n_steps_after < result.n_steps_before == before.fit.n_steps
    assert result.loss_before <= result.loss_after
    assert before.fit.lower_bound <= after.fit.lower_bound <= result.objective == after.fit.objective
    assert not after.is_edited
    assert desk(GAM_COMPRESS, {"model": spending, "tol": 0.5}, run_id="job").version == 2
    assert desk(GAM_PREDICT, {"model": spending, "rows": NEW, "interval": 0.9}).interval is not None
    desk(GAM_UNDO, {"model": spending})
    assert read_model(desk.files, spending).fit == before.fit


def test_an_edited_model_cannot_be_compressed(desk: Desk, spending: str) -> None:
    edit(desk, spending, HALVE_AGE)
    with pytest.raises(Conflict, match="Undo the edits first"):
        desk(GAM_COMPRESS, {"model": spending, "tol": 0.01})


def test_a_compression_that_removes_nothing_makes_no_version(desk: Desk, spending: str) -> None:
    result = desk(GAM_COMPRESS, {"model": spending, "tol": 0.0})
    assert (result.version, result.edit_id, result.n_steps_after) == (None, None, result.n_steps_before)
    assert any("stays as it is" in warning for warning in result.warnings)
    assert read_model(desk.files, spending).version == 1
    assert read_model(desk.files, spending).entries == []


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_version_that_is_not_the_newest_is_a_conflict(desk: Desk, spending: str, dry_run: bool) -> None:
    edit(desk, spending, HALVE_AGE)
    desk(GAM_UNDO, {"model": spending})
    stale = {"model": spending, "dry_run": dry_run, "version": 2}
    for operation, more in ((GAM_COMPRESS, {"tol": 0.5}), (GAM_EDIT, {"operations": [HALVE_AGE]})):
        newest = read_model(desk.files, spending).version
        with pytest.raises(Conflict, match=f"at version {newest}, not 2"):
            desk(operation, stale | more)
        desk(operation, stale | more | {"version": newest})
