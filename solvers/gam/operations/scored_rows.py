"""Rows with targets that a model can be scored on: those kept with it, or others that a request gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.operations.kept_data import KeptData
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.table_fields import TableFields
from solvers.gam.operations.training_input import Roles, TrainingInput, target_codes, training_input
from solvers.gam.parameters import FitParameters
from solvers.gam.row_errors import RowError, row_error
from solvers.gam.shape_functions import Floats
from solvers.gam.tables.table import ColumnType, read_table
from solvers.operation import Context

Part = Literal["train", "holdout", "data"]


class ScoredRows(Protocol):
    """Rows whose targets are known."""

    @property
    def target(self) -> Floats: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def offset(self) -> Floats | None: ...
    def decision(self, model: AdditiveModel) -> Floats:
        """Return F of each row."""
        ...


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows of a request.

    Attributes
    ----------
    rows : TrainingInput
    target : float64 array of shape (N,)
        Classes as positions.
    weights : float64 array of shape (N,)
    """

    rows: TrainingInput
    target: Floats
    weights: Floats

    @property
    def offset(self) -> Floats | None:
        """Offsets on the link scale."""
        return self.rows.offset

    def decision(self, model: AdditiveModel) -> Floats:
        """Return F of each row."""
        return model.decision(self.rows.features, self.rows.offset)


def error_of_record(record: ModelRecord) -> RowError:
    """Return the measure of error that goes with a model."""
    return row_error(parameters_of(record).make_loss(), len(record.model.classes or (0, 1)))


def parameters_of(record: ModelRecord) -> FitParameters:
    """Return the parameters that a model was fitted with."""
    return FitParameters.checked({name: record.params[name] for name in FitParameters.model_fields if name in record.params})


def mean_error(rows: ScoredRows, decision: Floats, error: RowError) -> float:
    """Return the weighted mean error of decisions."""
    return float(np.average(error.of(rows.target, decision), weights=rows.weights))


def kept_part(kept: KeptData, on: Literal["train", "holdout"] | None) -> tuple[ScoredRows, Part]:
    """Return the rows of one part; by default those held back, if there are any."""
    if on != "train" and kept.holdout is not None:
        return kept.holdout, "holdout"
    return kept.training, "train"


def given_input(data: TableFields, record: ModelRecord, context: Context) -> TrainingInput:
    """Return the rows of a request, read as those were that the model was fitted to.

    Raises
    ------
    InvalidInput
        If a column of the model, its target, weight or offset is absent, or a cell is wrong.
    """
    model = record.additive_model()
    offset = model.offset
    roles = Roles(
        record.data.target,
        record.data.weight,
        offset.column if offset is not None and offset.kind == "offset" else None,
        offset.column if offset is not None and offset.kind == "exposure" else None,
    )
    types: dict[str, ColumnType] = {per_output[0].name: per_output[0].kind for per_output in model.shapes}
    types |= dict.fromkeys(roles.numeric(), "numeric")
    if record.data.target in record.data.columns:
        types[record.data.target] = record.data.columns[record.data.target]
    wanted = [*model.feature_names, *roles.all()]
    with data.opened(context.files, "/data") as rows:
        table = read_table(rows, types, wanted)
        found = training_input(table, roles, record.task, parameters_of(record), declares_loss=True)
        return replace(found, features={name: found.features[name] for name in model.feature_names})


def given_rows(data: TableFields, record: ModelRecord, context: Context) -> GivenRows:
    """Return the rows of a request with their targets as the model has them; faults as :func:`given_input`."""
    rows = given_input(data, record, context)
    classes = record.additive_model().classes
    target = rows.target if classes is None else target_codes(rows.target, classes, record.data.target)
    return GivenRows(rows, target, np.ones(rows.n_rows) if rows.weights is None else rows.weights)
