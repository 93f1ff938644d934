"""Apply a model to rows: in the answer, or from an uploaded file to a file, block by block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import expit

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.bands import Spread
from solvers.gam.class_bands import log_odds_band
from solvers.gam.model_document import Label
from solvers.gam.operations.bands_part import spreads_from_bytes
from solvers.gam.operations.edit import ModelId
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.models import DEMO, MODELS, read_model
from solvers.gam.operations.table_fields import JsonTable, TableFields
from solvers.gam.shape_functions import Floats, require_seen_levels
from solvers.gam.tables.table import Table, table_blocks
from solvers.operation import Conflict, Context, InvalidInput, Operation, Resources, TooLarge

MOST_INLINE_ROWS = 100_000

EXAMPLES: dict[str, dict[str, Any]] = {
    "Two customers, and why": {
        "model": DEMO,
        "rows": [{"age": 33, "plan": "pro", "visits": 4}, {"age": 71, "plan": "basic", "visits": None}],
        "contributions": True,
        "interval": 0.9,
    },
    "From the text of a CSV file to a file": {
        "model": DEMO,
        "data": {"format": "csv", "content": "age,plan,visits\n33,pro,4\n71,basic,\n"},
        "output": "file",
    },
}


class PredictOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: float | None = Field(None, gt=0, allow_inf_nan=False, description="Seconds; default: the operation's.")


class PredictRequest(BaseModel):
    """A model, and rows by the names of its columns; other columns are not looked at."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    rows: JsonTable | None = Field(None, description="Objects by column name, or arrays beside `names`.")
    names: list[str] | None = Field(None, description="Names of the columns of rows that are arrays.")
    data: TableFields | None = Field(None, description="In place of `rows`.")
    contributions: bool = Field(False, description="Also what each feature adds to the decision.")
    interval: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Level of an interval for the mean, for the probability of the second class, or with more than two classes for that "
        "of each.",
    )
    output: Literal["inline", "file"] | None = Field(None, description="Default: a file for an uploaded file, else inline.")
    unseen: Literal["score", "error"] | None = Field(
        None,
        description="What to do with a level that the model has not seen: score it as nothing special, or refuse. Default: as the "
        "parameter `unseen` of the fit says.",
    )
    options: PredictOptions = Field(default_factory=PredictOptions)

    @model_validator(mode="after")
    def _one_table(self) -> PredictRequest:
        if (self.rows is None) == (self.data is None):
            raise ValueError("give either rows or data")
        if self.names is not None and self.rows is None:
            raise ValueError("`names` goes with `rows`")
        return self

    @property
    def is_to_file(self) -> bool:
        """Whether predictions go to a file."""
        return (self.output or ("file" if self.data is not None and self.data.file is not None else "inline")) == "file"


class Contributions(BaseModel):
    """What each feature adds to the decision."""

    features: list[str]
    values: list[Any] = Field(description="A list of each row; with more than two classes, of a list of each feature.")


class Interval(BaseModel):
    """Bounds of the mean, of the probability of the second class, or of more than two classes of each."""

    level: float
    kind: str = Field(description="conditional (on the splits), jackknife or bootstrap.")
    lower: list[Any] = Field(description="A number for each row; with more than two classes, a list of one for each.")
    upper: list[Any]


class PredictResult(BaseModel):
    """Predictions in the order of the rows, or the file that has them."""

    predictions: list[Any] | None = Field(description="The mean, or the most probable class.")
    decision: list[Any] | None = Field(description="F, on the link scale; with more than two classes one of each.")
    probabilities: list[list[float]] | None = Field(description="Of each class, in the order of `classes`.")
    classes: list[Label] | None
    contributions: Contributions | None
    intercept: float | list[float]
    interval: Interval | None
    file_id: str | None = Field(
        description="Id of a CSV file: row, prediction, `p_<class>`, `f_<feature>`, lower and upper (of each class)."
    )
    rows: int
    warnings: list[str]


class Predicted(BaseModel):
    """Predictions for some rows."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    decision: Floats
    predictions: np.ndarray
    probabilities: Floats | None
    contributions: Floats | None
    lower: Floats | None
    upper: Floats | None


class Predictor:
    """Applies a model as a request asks, and gathers what is to be said of the rows."""

    def __init__(self, request: PredictRequest, record: ModelRecord, context: Context) -> None:
        self.request = request
        self.model = record.additive_model()
        self.spreads = self._spreads(record, context)
        self._refuses_unseen = (request.unseen or record.params.get("unseen", "score")) == "error"
        self._has_no_offset = False
        self._unfamiliar: dict[str, int] = {}

    def blocks(self, context: Context) -> Iterator[tuple[int, Predicted]]:
        """Yield the number of the first row and predictions, block by block."""
        data = self.request.data or TableFields(rows=self.request.rows, names=self.request.names)
        pointer = "/data" if self.request.data is not None else ""
        features = self.model.feature_names
        with data.opened(context.files, pointer) as rows:
            types = {per_output[0].name: per_output[0].kind for per_output in self.model.shapes}
            wanted = list(features)
            offset = self.model.offset
            if offset is not None and offset.column in rows.names:
                types[offset.column] = "numeric"
                wanted.append(offset.column)
            self._has_no_offset = offset is not None and offset.column not in rows.names
            first = 0
            for table in table_blocks(rows, types, wanted):
                yield first, self._predicted(table, first)
                first += table.n_rows

    def warnings(self) -> list[str]:
        """Return what is to be said of the rows."""
        said = [f"{note}: {count} rows" for note, count in self._unfamiliar.items()]
        if self._has_no_offset and self.model.offset is not None:
            kind = self.model.offset.kind
            rate = "the predictions are rates per unit" if kind == "exposure" else "it is taken as 0"
            said.append(f"the rows have no column {self.model.offset.column!r}: {rate}")
        return said

    def _predicted(self, table: Table, first: int) -> Predicted:
        model, columns = self.model, {name: table.columns[name] for name in self.model.feature_names}
        self._note_unfamiliar(table, first)
        added = None
        if model.offset is not None and not self._has_no_offset:
            added = _offset(table, model, first)
        parts = model.contributions(columns) if self.request.contributions else None
        decision = model.decision(columns, added)
        lower, upper = self._bounds(columns, decision)
        is_class = model.task == "classification"
        return Predicted(
            decision=decision,
            predictions=model.labels(decision) if is_class else model.mean(decision),
            probabilities=model.probabilities(decision) if is_class else None,
            contributions=parts,
            lower=lower,
            upper=upper,
        )

    def _note_unfamiliar(self, table: Table, first: int) -> None:
        for per_output in self.model.shapes:
            shape = per_output[0]
            bins = shape.bins(table.columns[shape.name])
            unseen = bins < 0
            if unseen.any():
                if self._refuses_unseen:
                    require_seen_levels(shape, table.columns[shape.name], first)
                self._count(f"column {shape.name!r}: a level that the model has not seen", int(unseen.sum()))
            if shape.weights is not None and shape.weights[0] == 0 and (bins == 0).any():
                self._count(f"column {shape.name!r}: a missing value, of which training had none", int((bins == 0).sum()))

    def _count(self, note: str, number: int) -> None:
        self._unfamiliar[note] = self._unfamiliar.get(note, 0) + number

    def _bounds(self, columns: dict[str, Any], decision: Floats) -> tuple[Floats | None, Floats | None]:
        if not self.spreads or self.request.interval is None:
            return None, None
        level, values = self.request.interval, list(columns.values())
        if self.model.link == "softmax":
            lower, upper = log_odds_band(self.spreads, values, decision, level)
            return expit(lower), expit(upper)
        below, above = self.spreads[0].decision_band(values, level)
        return self.model.mean(decision - below), self.model.mean(decision + above)

    def _spreads(self, record: ModelRecord, context: Context) -> tuple[Spread, ...]:
        if self.request.interval is None:
            return ()
        if record.is_edited:
            raise Conflict("the model was edited; nothing is known of its spread", pointer="/interval")
        if self.model.link == "softmax" and self.model.n_outputs == 1:
            raise InvalidInput("the model knows one class only, whose probability is 1 and has no interval", pointer="/interval")
        if record.fit.bands is None:
            raise InvalidInput(
                "nothing is known of the spread of this model; `bagging` of 20 gives intervals", pointer="/interval"
            )
        return spreads_from_bytes(MODELS.read_part(context.files, self.request.model, record.fit.bands))


def run_predict(request: PredictRequest, context: Context) -> PredictResult:
    """Carry out a request."""
    predictor = Predictor(request, read_model(context.files, request.model), context)
    return _to_file(predictor, context) if request.is_to_file else _inline(predictor, context)


def _inline(predictor: Predictor, context: Context) -> PredictResult:
    parts, n_rows = [], 0
    for first, predicted in predictor.blocks(context):
        n_rows = first + len(predicted.decision)
        if n_rows > MOST_INLINE_ROWS:
            raise TooLarge(f"more than {MOST_INLINE_ROWS} rows; ask for the output `file`", pointer="/output")
        parts.append(predicted)
    model, request = predictor.model, predictor.request

    def joined(name: str) -> list[Any] | None:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays).tolist()

    contributions = joined("contributions")
    lower = joined("lower")
    return _result(
        predictor,
        rows=n_rows,
        predictions=joined("predictions"),
        decision=joined("decision"),
        probabilities=joined("probabilities"),
        contributions=None if contributions is None else Contributions(features=list(model.feature_names), values=contributions),
        interval=None
        if lower is None or request.interval is None
        else Interval(level=request.interval, kind=predictor.spreads[0].kind, lower=lower, upper=joined("upper") or []),
    )


def _to_file(predictor: Predictor, context: Context) -> PredictResult:
    n_rows = 0
    with context.files.create(name="predictions.csv", media_type="text/csv") as file:
        file.write(_csv([_header(predictor)]))
        for first, predicted in predictor.blocks(context):
            n_rows = first + len(predicted.decision)
            file.write(_csv(_lines(predictor, first, predicted)))
            context.report(rows=n_rows)
            if context.stop:
                raise Conflict(f"time ran out, or the job was cancelled, after {n_rows} rows")
    return _result(predictor, rows=n_rows, file_id=file.file_id)


def _result(predictor: Predictor, *, rows: int, **members: Any) -> PredictResult:
    model = predictor.model
    intercept = model.intercepts.tolist() if model.link == "softmax" else float(model.intercepts[0])
    absent = dict.fromkeys(("predictions", "decision", "probabilities", "contributions", "interval", "file_id"))
    classes = None if model.classes is None else list(model.classes)
    return PredictResult(**absent | members, classes=classes, intercept=intercept, rows=rows, warnings=predictor.warnings())


def _header(predictor: Predictor) -> list[str]:
    model = predictor.model
    names = ["row", "prediction", *(f"p_{label}" for label in model.classes or ())]
    if predictor.request.contributions:
        labels = [f"f_{feature}" for feature in model.feature_names]
        names += labels if model.n_outputs == 1 else [f"{label}_{of}" for label in labels for of in model.classes or ()]
    if predictor.spreads:
        ends = [""] if model.link != "softmax" else [f"_{label}" for label in model.classes or ()]
        names += [f"{bound}{end}" for bound in ("lower", "upper") for end in ends]
    return names


def _lines(predictor: Predictor, first: int, predicted: Predicted) -> Iterator[list[Any]]:
    size = len(predicted.decision)
    columns: list[list[Any]] = [list(range(first, first + size)), predicted.predictions.tolist()]
    for block in (predicted.probabilities, predicted.contributions, predicted.lower, predicted.upper):
        if block is not None:
            columns += block.reshape(size, -1).T.tolist()
    return map(list, zip(*columns, strict=True))


def _csv(lines: Any) -> bytes:
    """Return lines as CSV; a text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_harmless(cell) for cell in line] for line in lines)
    return text.getvalue().encode()


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def _offset(table: Table, model: AdditiveModel, first: int) -> Floats:
    assert model.offset is not None
    try:
        return model.offset.on_link_scale(table.columns[model.offset.column])  # type: ignore[arg-type]  # read as numbers
    except InvalidInput as fault:
        row = first + fault.members["row"]
        reason = fault.detail.partition(": ")[2]
        raise InvalidInput(f"column {model.offset.column!r}, row {row}: {reason}", column=model.offset.column, row=row) from None


GAM_PREDICT: Operation[PredictRequest, PredictResult] = Operation(
    name="gam-predict",
    path="gam/predict",
    request=PredictRequest,
    result=PredictResult,
    run=run_predict,
    summary="Apply a model to rows.",
    description="""
Rows come in the request or as a file; an uploaded file is scored block by block into a CSV file. Infinite numbers are ordinary extreme
values, a missing value has its own score, and a level that the model has not seen scores as the average row unless it is to be refused.
""",
    resources=Resources(time_limit=300.0),
    examples=EXAMPLES,
    volatile=("file_id",),
)
