"""The models that the service keeps: how one is saved, read and changed, and what is shown of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.export.formats import ExportFormat, export
from solvers.gam.export.sql_dialects import DialectName
from solvers.gam.operations import baselines, kept_data
from solvers.gam.operations.baselines import Baselines
from solvers.gam.operations.kept_data import KeptData
from solvers.gam.operations.model_record import GamDetails, ModelRecord, ShownShape, shown_details, shown_fields, shown_shapes
from solvers.gam.plots import ImageFormat, importance_image, shape_image
from solvers.gam.tables.table import LONGEST_NAME
from solvers.operation import Conflict, Context, Files, ForesolveError, InvalidInput, NotThere, UnknownFile
from solvers.resource import VERSION_PREFIX, Download, ResourceKind, ResourceView

Answer = TypeVar("Answer")

DEMO, DEMO_EDITED = "demo-gam", "demo-gam-edited"
MOST_TRIALS = 20

_DRAWING = threading.Lock()  # Matplotlib's settings are the process's


class TrainingDataGone(ForesolveError):
    """The rows that the model was fitted to are not kept with it, or no more; give them as `data`."""

    type = "training-data-gone"
    title = "The training data are gone"
    status = 409


def keep_model(context: Context, record: ModelRecord, data: KeptData | None, compared: Baselines, bands: bytes | None) -> str:
    """Keep a new model with what belongs to it, and return its id."""
    if bands is not None:
        record.fit.bands = bands_part(1)
    model_id = MODELS.save(context.files, record.to_bytes(), name=record.name)
    context.files.add_part(model_id, baselines.PART, compared.to_bytes())
    if bands is not None:
        context.files.add_part(model_id, bands_part(1), bands)
    if data is not None:
        context.files.add_part(model_id, kept_data.PART, data.to_bytes())
    return model_id


def bands_part(version: int) -> str:
    """Return the name of the part that holds the spread of the fit that made a version."""
    return f"gam-bands-{version}"


def read_model(files: Files, model_id: str, pointer: str = "/model") -> ModelRecord:
    """Return a model as it stands.

    Raises
    ------
    UnknownFile
        If the caller has none of that id.
    InvalidInput
        If the file of that id holds no model.
    """
    return _told_at(pointer, lambda: ModelRecord.from_bytes(MODELS.read(files, model_id)))


def read_to_change(context: Context, model_id: str) -> ModelRecord:
    """Return a model as it stands; if an earlier attempt at this very job has changed it, as it was before that."""
    record = read_model(context.files, model_id)
    if context.run_id not in record.runs:
        return record
    return ModelRecord.from_bytes(MODELS.read_version(context.files, model_id, record.runs.index(context.run_id) + 1))


def read_data(files: Files, model_id: str) -> KeptData | None:
    """Return the rows that are kept with a model, None if there are none."""
    try:
        return KeptData.from_bytes(MODELS.read_part(files, model_id, kept_data.PART))
    except UnknownFile:
        return None


def require_data(files: Files, model_id: str) -> KeptData:
    """Return the rows that are kept with a model.

    Raises
    ------
    TrainingDataGone
        If there are none.
    """
    data = read_data(files, model_id)
    if data is None:
        raise TrainingDataGone("the rows that the model was fitted to are not kept with it; give them as `data`", pointer="/data")
    return data


def read_baselines(files: Files, model_id: str) -> Baselines:
    """Return the constant and the linear model of a model's rows."""
    return Baselines.from_bytes(MODELS.read_part(files, model_id, baselines.PART))


def change_model(
    context: Context,
    model_id: str,
    expected: int | None,
    change: Callable[[ModelRecord], tuple[ModelRecord, Answer]],
) -> tuple[ModelRecord, Answer, bool]:
    """Make the next version of a model; of several changes at the same time, one comes after the other.

    Parameters
    ----------
    context : Context
    model_id : str
    expected : int, optional
        The version that may be changed; default: whatever is the newest.
    change : callable
        Returns the changed record and an answer; called again if somebody else was faster.

    Returns
    -------
    record : ModelRecord
    answer
    is_kept : bool
        False for a built-in model, which stays.

    Raises
    ------
    Conflict
        If another version than the expected one is the newest.
    """
    files = context.files
    for _ in range(MOST_TRIALS):
        record = read_model(files, model_id)
        if context.run_id in record.runs:
            before = read_to_change(context, model_id)
            made = ModelRecord.from_bytes(MODELS.read_version(files, model_id, before.version + 1))
            return made, change(before)[1], True
        require_version(record, expected)
        changed, answer = change(record)
        changed = changed.model_copy(update={"runs": [*record.runs, context.run_id]})
        if model_id in MODELS.demos:
            return changed, answer, False
        if MODELS.revise(files, model_id, changed.to_bytes(), changed.version):
            return changed, answer, True
    raise Conflict("others are changing the model; try again")


def require_version(record: ModelRecord, expected: int | None) -> None:
    """Raise `Conflict` if a model is at another version than the expected one."""
    if expected not in (None, record.version):
        raise Conflict(f"the model is at version {record.version}, not {expected}", pointer="/version", version=record.version)


class ShapeQuery(BaseModel):
    """Of what to show the shape function."""

    model_config = ConfigDict(extra="forbid")

    feature: str | None = Field(None, description="Default: all features.", max_length=LONGEST_NAME)
    of_class: str | None = Field(
        None, alias="class", description="With more than two classes: one of them.", max_length=LONGEST_NAME
    )


class PlotQuery(ShapeQuery):
    """What to draw."""

    feature: str | None = Field(None, description="Default: the importances of all features.", max_length=LONGEST_NAME)
    format: ImageFormat = "svg"
    band: float = Field(0.95, gt=0, lt=1, description="Level of the band, where standard errors are known.")


class ExportQuery(BaseModel):
    """The form to take a model home in."""

    model_config = ConfigDict(extra="forbid")

    format: ExportFormat = "json"
    dialect: DialectName = Field("postgresql", description="For SQL.")
    table: str = Field("data", min_length=1, max_length=200, description="For SQL: the table with the rows.")


class Shapes(BaseModel):
    """Shape functions of a model."""

    shape_functions: list[ShownShape]


def _show_shapes(content: bytes, query: ShapeQuery) -> Shapes:
    model = ModelRecord.from_bytes(content).additive_model()
    shapes = shown_shapes(model)
    if query.feature is not None:
        shapes = [shape for shape in shapes if shape.feature == query.feature]
    if query.of_class is not None:
        shapes = [shape for shape in shapes if str(shape.of_class) == query.of_class]
    if not shapes and (query.feature is not None or query.of_class is not None):
        raise NotThere("the model has no such feature or class")
    return Shapes(shape_functions=shapes)


def _draw(content: bytes, query: PlotQuery) -> Download:
    model = ModelRecord.from_bytes(content).additive_model()
    with _DRAWING:
        if query.feature is None:
            image = importance_image(model, image_format=query.format)
        else:
            draw = partial(shape_image, model, query.feature, label=query.of_class, band=query.band, image_format=query.format)
            image = _or_not_there(draw)
    return Download(image, {"svg": "image/svg+xml", "png": "image/png"}[query.format])


def _or_not_there(draw: Callable[[], bytes]) -> bytes:
    try:
        return draw()
    except InvalidInput as fault:
        if fault.pointer in ("/feature", "/class"):
            raise NotThere(fault.detail) from None
        raise


def _export(content: bytes, query: ExportQuery) -> Download:
    record = ModelRecord.from_bytes(content)
    exported = export(record.additive_model(), query.format, dialect=query.dialect, table=query.table)
    return Download(exported.content, exported.media_type, exported.name)


def _brief(content: bytes) -> dict[str, Any]:
    record = ModelRecord.from_bytes(content)
    return {**shown_fields(record).model_dump(mode="json"), "score": record.score.model_dump(mode="json")}


def _demo(demo_id: str) -> bytes:
    from solvers.gam.operations.demo import demo_model

    return demo_model(demo_id).record


def _demo_part(part: str, demo_id: str) -> bytes:
    from solvers.gam.operations.demo import demo_model

    return demo_model(demo_id).parts[part]


def _told_at(pointer: str, read: Callable[[], Answer]) -> Answer:
    try:
        return read()
    except (UnknownFile, InvalidInput) as fault:
        raise type(fault)(fault.detail, pointer=pointer) from None


DEMO_PARTS = (kept_data.PART, baselines.PART, bands_part(1), *(f"{VERSION_PREFIX}{number}" for number in (1, 2, 3)))

MODELS: ResourceKind[GamDetails] = ResourceKind(
    name="model",
    path="gam/models",
    media_type="application/vnd.foresolve.gam+json",
    view=GamDetails,
    show=lambda content: shown_details(ModelRecord.from_bytes(content)),
    summary="An additive model, as `gam/fit` made it and `gam/edit` changed it.",
    demos={demo: partial(_demo, demo) for demo in (DEMO, DEMO_EDITED)},
    demo_parts={part: partial(_demo_part, part) for part in DEMO_PARTS},
    brief=_brief,
    id_name="model_id",
    is_sealed=True,
    retained={kept_data.PART: "gam_data_retention_days"},
    views=(
        ResourceView("shape", "Show shape functions of a model.", ShapeQuery, _show_shapes, result=Shapes),
        ResourceView(
            "plot",
            "Draw a shape function of a model, or the importances.",
            PlotQuery,
            _draw,
            media_types=("image/svg+xml", "image/png"),
        ),
        ResourceView(
            "export",
            "Download a model.",
            ExportQuery,
            _export,
            media_types=(
                "application/json",
                "application/sql",
                "application/octet-stream",
                "application/xml",
                "text/x-python",
                "text/markdown",
                "text/html",
            ),
        ),
    ),
)
