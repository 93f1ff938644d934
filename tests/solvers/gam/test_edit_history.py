from datetime import UTC, datetime

import pytest

from solvers.gam import AdditiveModel
from solvers.gam.edit_history import EditHistory
from solvers.gam.editing import edit
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_model

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def fitted() -> AdditiveModel:
    return a_model(2, "softmax")


def edited(history: EditHistory, factor: float) -> EditHistory:
    operations = [{"op": "rescale", "feature": history.model.feature_names[0], "factor": factor}]
    return history.after_edit(edit(history.model, operations), operations, at=NOON, by="ann", note="halved")


def test_undoing_gives_back_the_model_there_was(fitted):
    once = edited(EditHistory.of(fitted), 0.5)
    twice = edited(once, 3.0)
    back, undone = twice.after_undo()
    assert undone == ["edit-2"]
    assert back.model.to_json() == once.model.to_json()
    back, undone = back.after_undo()
    assert undone == ["edit-1"]
    assert back.model.to_json() == fitted.to_json()
    assert not back.is_edited


def test_undoing_an_edit_undoes_all_later_ones(fitted):
    history = edited(edited(edited(EditHistory.of(fitted), 0.5), 2.0), 3.0)
    back, undone = history.after_undo("edit-2")
    assert undone == ["edit-2", "edit-3"]
    assert back.model.to_json() == edited(EditHistory.of(fitted), 0.5).model.to_json()
    assert [entry.undone for entry in back.entries] == [False, True, True]


def test_versions_only_grow(fitted):
    history = edited(EditHistory.of(fitted), 0.5)
    history, _ = history.after_undo()
    history = edited(history, 2.0)
    assert [entry.version for entry in history.entries] == [2, 4]
    assert history.version == 4
    assert [entry.edit_id for entry in history.entries] == ["edit-1", "edit-2"]


def test_undone_edits_cannot_be_undone_again(fitted):
    history, _ = edited(edited(EditHistory.of(fitted), 0.5), 2.0).after_undo("edit-2")
    with pytest.raises(InvalidInput, match="was undone before"):
        history.after_undo("edit-2")
    with pytest.raises(InvalidInput, match="is not known"):
        history.after_undo("edit-9")
    with pytest.raises(InvalidInput, match="no edit is left"):
        EditHistory.of(fitted).after_undo()


def test_a_history_survives_json(fitted):
    history = edited(EditHistory.of(fitted), 0.5)
    again = EditHistory.model_validate_json(history.model_dump_json())
    assert again.model.to_json() == history.model.to_json()
    assert again.entries == history.entries
    assert again.entries[0].by == "ann"


def test_compression_is_no_edit_of_the_fit(fitted):
    history = EditHistory.of(fitted)
    compressed = history.after_edit(edit(fitted, []), [{"op": "compress", "tol": 0.1}], at=NOON)
    assert not compressed.is_edited
    assert edited(compressed, 0.5).is_edited
