"""Change the shape functions of a model, undo it, and tell what was done."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.edit_history import HistoryEntry, new_entry, undo_entries
from solvers.gam.edit_operations import EditOperation
from solvers.gam.editing import Edit, ScoreChange, edit
from solvers.gam.operations.model_record import GamFields, ModelRecord, ShownShape, shown_fields, shown_shapes
from solvers.gam.operations.models import DEMO, DEMO_EDITED, MODELS, change_model, read_data, read_model, require_version
from solvers.gam.operations.scored_rows import ScoredRows, error_of_record, given_rows, kept_part, mean_error
from solvers.gam.operations.table_fields import TableFields
from solvers.operation import Context, Operation, Resources

BUILT_IN = "a built-in model stays as it is: nothing was kept"
NO_ROWS = "the rows that the model was fitted to are not kept with it: the scores are not known"

EXAMPLES: dict[str, dict[str, Any]] = {
    "Let a curve rise, and see what it costs": {
        "model": DEMO,
        "dry_run": True,
        "operations": [{"op": "monotonise", "feature": "age", "direction": "increasing"}],
    },
    "Take a level's effect back and halve another feature": {
        "model": DEMO,
        "note": "agreed with the actuaries",
        "operations": [
            {"op": "set", "feature": "plan", "level": "plus", "value": 0.0},
            {"op": "rescale", "feature": "visits", "factor": 0.5},
        ],
    },
}
UNDO_EXAMPLES: dict[str, dict[str, Any]] = {"Undo the last edit": {"model": DEMO_EDITED}}
HISTORY_EXAMPLES: dict[str, dict[str, Any]] = {"What was done": {"model": DEMO_EDITED}}

ModelId = Field(description="Id of a model, as `gam/fit` returns it, or of a built-in one.", max_length=200)
Expected = Field(None, ge=1, description="The version that may be changed; if another one is the newest, the answer is a 409.")


class EditRequest(BaseModel):
    """A model and what to do to its shape functions, one operation after the other."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    operations: list[EditOperation] = Field(min_length=1, max_length=1000)
    dry_run: bool = Field(False, description="Only tell what would change.")
    note: str | None = Field(None, max_length=10_000, description="Kept with the edit.")
    data: TableFields | None = Field(None, description="Rows with targets to score on; default: those kept with the model.")
    version: int | None = Expected


class EditResult(BaseModel):
    """What changed."""

    diff: list[ScoreChange] = Field(description="Every bin whose score changed, before functions are centred again.")
    score_before: float | None = Field(description="Weighted mean error before; null without rows.")
    score_after: float | None
    scored_on: str | None = Field(description="The rows behind the scores: holdout, train or data.")
    edit_id: str | None = Field(description="Name it to `gam/undo`; null if nothing was kept.")
    version: int | None = Field(description="Of the changed model; null if nothing was kept.")
    warnings: list[str]


class UndoRequest(BaseModel):
    """A model and which edit to undo."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    edit_id: str | None = Field(None, max_length=100, description="That edit and all later ones; default: the last one.")
    version: int | None = Expected


class UndoResult(GamFields):
    """What was undone, and the model as it is now."""

    model_id: str
    undone: list[str] = Field(description="Ids of the edits, oldest first.")
    score: float | None = Field(description="Weighted mean error on the rows kept with the model; null without.")
    shape_functions: list[ShownShape]
    warnings: list[str] = Field(description="Of the undoing, then of the fit.")


class HistoryRequest(BaseModel):
    """A model."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId


class HistoryResult(BaseModel):
    """The edits of a model, oldest first."""

    version: int
    edits: list[HistoryEntry]


def run_edit(request: EditRequest, context: Context) -> EditResult:
    """Carry out a request."""
    record = read_model(context.files, request.model)
    rows, scored_on = _rows(request, record, context)

    def change(record: ModelRecord) -> tuple[ModelRecord, Edit, HistoryEntry]:
        before = record.additive_model()
        done = edit(before, request.operations)
        error = error_of_record(record)
        scores = [None if rows is None else mean_error(rows, rows.decision(model), error) for model in (before, done.model)]
        entry = new_entry(
            record.entries,
            record.version + 1,
            done,
            request.operations,
            at=datetime.now(UTC),
            by=context.owner,
            note=request.note,
            score_before=scores[0],
            score_after=scores[1],
        )
        return record.model_copy(update={"model": done.model.document(), "entries": [*record.entries, entry]}), done, entry

    is_kept = False
    if request.dry_run:
        require_version(record, request.version)
        _, done, entry = change(record)
    else:
        changed, done, is_kept = change_model(context, request.model, request.version, lambda one: change(one)[:2])
        entry = changed.entries[-1]
    warnings = [*done.warnings, *([] if rows is not None else [NO_ROWS])]
    if not is_kept and not request.dry_run:
        warnings.append(BUILT_IN)
    return EditResult(
        diff=entry.diff,
        score_before=entry.score_before,
        score_after=entry.score_after,
        scored_on=scored_on,
        edit_id=entry.edit_id if is_kept else None,
        version=entry.version if is_kept else None,
        warnings=warnings,
    )


def run_undo(request: UndoRequest, context: Context) -> UndoResult:
    """Carry out a request."""

    def change(record: ModelRecord) -> tuple[ModelRecord, list[str]]:
        entries, undone = undo_entries(record.entries, request.edit_id)
        standing = [entry.version for entry in entries if not entry.undone]
        earlier = ModelRecord.from_bytes(MODELS.read_version(context.files, request.model, standing[-1] if standing else 1))
        return record.model_copy(update={"model": earlier.model, "fit": earlier.fit, "entries": entries}), undone

    changed, undone, is_kept = change_model(context, request.model, request.version, change)
    data = read_data(context.files, request.model)
    score = None
    if data is not None:
        rows, _ = kept_part(data, None)
        score = mean_error(rows, rows.decision(changed.additive_model()), error_of_record(changed))
    warnings = [*([] if data is not None else [NO_ROWS]), *([] if is_kept else [BUILT_IN])]
    return UndoResult(
        **dict(shown_fields(changed)) | {"warnings": [*warnings, *changed.warnings]},
        model_id=request.model,
        undone=undone,
        score=score,
        shape_functions=shown_shapes(changed.additive_model()),
    )


def run_history(request: HistoryRequest, context: Context) -> HistoryResult:
    """Carry out a request."""
    record = read_model(context.files, request.model)
    return HistoryResult(version=record.version, edits=record.entries)


def _rows(request: EditRequest, record: ModelRecord, context: Context) -> tuple[ScoredRows | None, str | None]:
    if request.data is not None:
        return given_rows(request.data, record, context), "data"
    data = read_data(context.files, request.model)
    return (None, None) if data is None else kept_part(data, None)


GAM_EDIT: Operation[EditRequest, EditResult] = Operation(
    name="gam-edit",
    path="gam/edit",
    request=EditRequest,
    result=EditResult,
    run=run_edit,
    summary="Edit the shape functions of a model.",
    description="""
Each edit makes a new version of the model, tells every score that changed and the error before and after, and can be undone. Of edits at
the same time, one is applied to the result of the other; `version` refuses an edit of a model that has changed meanwhile. An edited model
minimises no objective any more: `objective`, `lower_bound` and `gap` are null until the edits are undone.
""",
    resources=Resources(time_limit=60.0, light=True),
    examples=EXAMPLES,
    volatile=("edit_id", "version"),
)

GAM_UNDO: Operation[UndoRequest, UndoResult] = Operation(
    name="gam-undo",
    path="gam/undo",
    request=UndoRequest,
    result=UndoResult,
    run=run_undo,
    summary="Undo edits of a model.",
    resources=Resources(time_limit=60.0, light=True),
    examples=UNDO_EXAMPLES,
)

GAM_HISTORY: Operation[HistoryRequest, HistoryResult] = Operation(
    name="gam-history",
    path="gam/history",
    request=HistoryRequest,
    result=HistoryResult,
    run=run_history,
    summary="Tell what was done to a model.",
    resources=Resources(time_limit=10.0, light=True),
    examples=HISTORY_EXAMPLES,
)
