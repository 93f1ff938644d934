"""The edits of a fitted model, in order, each with the model it led to; undoing one leaves it in the list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.edit_operations import EditOperation
from solvers.gam.editing import Edit, ScoreChange
from solvers.gam.model_document import ModelDocument
from solvers.operation import InvalidInput

COMPRESS = "compress"


class HistoryEntry(BaseModel):
    """One edit."""

    edit_id: str
    version: int = Field(description="Of the model it led to.", ge=2)
    at: datetime
    by: str | None = None
    note: str | None = None
    operations: list[dict[str, Any]]
    diff: list[ScoreChange] = []
    score_before: float | None = None
    score_after: float | None = None
    undone: bool = False


class _Record(BaseModel):
    entry: HistoryEntry
    model: ModelDocument


class EditHistory(BaseModel):
    """A fitted model and what was done to it since.

    Examples
    --------
    >>> from datetime import UTC
    >>> from solvers.gam.editing import edit
    >>> fitted = AdditiveModel.from_json('{"task": "regression", "link": "identity", "intercept": 1, "features": [{"name": "x", '
    ...                                  '"type": "numeric", "scores": [0.5]}]}')
    >>> halve = [{"op": "rescale", "feature": "x", "factor": 0.5, "recenter": False}]
    >>> history = EditHistory.of(fitted)
    >>> history = history.after_edit(edit(fitted, halve), halve, at=datetime(2030, 1, 1, tzinfo=UTC))
    >>> history.version, history.is_edited, history.model.shape("x").scores
    (2, True, array([0.25]))
    >>> history, undone = history.after_undo()
    >>> history.version, undone, history.model.shape("x").scores
    (3, ['edit-1'], array([0.5]))
    """

    fitted: ModelDocument
    version: int = Field(1, ge=1, description="Grows with every edit and every undoing.")
    records: list[_Record] = []

    @classmethod
    def of(cls, fitted: AdditiveModel) -> EditHistory:
        """Return the history of a model that nobody has edited."""
        return cls(fitted=fitted.document())

    @property
    def entries(self) -> list[HistoryEntry]:
        """Edits, oldest first."""
        return [record.entry for record in self.records]

    @property
    def model(self) -> AdditiveModel:
        """The model as it stands."""
        kept = [record.model for record in self.records if not record.entry.undone]
        return AdditiveModel.from_document(kept[-1] if kept else self.fitted)

    @property
    def is_edited(self) -> bool:
        """Whether the model is no longer one that was fitted."""
        return is_edited(self.entries)

    def after_edit(
        self,
        done: Edit,
        operations: Sequence[EditOperation | dict[str, Any]],
        *,
        at: datetime,
        by: str | None = None,
        note: str | None = None,
        score_before: float | None = None,
        score_after: float | None = None,
    ) -> EditHistory:
        """Return the history with one more edit, the last of :attr:`entries`."""
        entry = new_entry(
            self.entries,
            self.version + 1,
            done,
            operations,
            at=at,
            by=by,
            note=note,
            score_before=score_before,
            score_after=score_after,
        )
        record = _Record(entry=entry, model=done.model.document())
        return self.model_copy(update={"version": entry.version, "records": [*self.records, record]})

    def after_undo(self, edit_id: str | None = None) -> tuple[EditHistory, list[str]]:
        """Return the history without an edit and all later ones, and the ids of those undone, oldest first.

        Parameters
        ----------
        edit_id : str, optional
            Default: the last edit that stands.

        Raises
        ------
        InvalidInput
            If no edit stands, there is none of that id, or it was undone before.
        """
        entries, undone = undo_entries(self.entries, edit_id)
        records = [record.model_copy(update={"entry": entry}) for record, entry in zip(self.records, entries, strict=True)]
        return self.model_copy(update={"version": self.version + 1, "records": records}), undone


def is_edited(entries: Sequence[HistoryEntry]) -> bool:
    """Return whether an edit stands; compression refits a model and is none."""
    return any(not entry.undone and any(one.get("op") != COMPRESS for one in entry.operations) for entry in entries)


def new_entry(
    entries: Sequence[HistoryEntry],
    version: int,
    done: Edit,
    operations: Sequence[EditOperation | dict[str, Any]],
    *,
    at: datetime,
    by: str | None = None,
    note: str | None = None,
    score_before: float | None = None,
    score_after: float | None = None,
) -> HistoryEntry:
    """Return the entry of an edit that follows some others and leads to a version."""
    return HistoryEntry(
        edit_id=f"edit-{len(entries) + 1}",
        version=version,
        at=at,
        by=by,
        note=note,
        operations=[_written(operation) for operation in operations],
        diff=list(done.diff),
        score_before=score_before,
        score_after=score_after,
    )


def undo_entries(entries: Sequence[HistoryEntry], edit_id: str | None = None) -> tuple[list[HistoryEntry], list[str]]:
    """Return the entries with an edit and all later ones marked as undone, and their ids; faults as :meth:`EditHistory.after_undo`."""
    standing = [entry.edit_id for entry in entries if not entry.undone]
    if not standing:
        raise InvalidInput("no edit is left to undo", pointer="/edit_id")
    if edit_id is not None and edit_id not in standing:
        known = any(entry.edit_id == edit_id for entry in entries)
        raise InvalidInput(f"edit {edit_id!r:.60} " + ("was undone before" if known else "is not known"), pointer="/edit_id")
    undone = standing[-1:] if edit_id is None else standing[standing.index(edit_id) :]
    marked = [entry.model_copy(update={"undone": True}) if entry.edit_id in undone else entry for entry in entries]
    return marked, undone


def _written(operation: EditOperation | dict[str, Any]) -> dict[str, Any]:
    if isinstance(operation, BaseModel):
        return operation.model_dump(mode="json", exclude_none=True)
    return dict(operation)
