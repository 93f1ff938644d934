"""Take a model home: as JSON, SQL, ONNX, PMML, Python or a scorecard."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.export.formats import ExportFormat, export
from solvers.gam.export.sql_dialects import DialectName
from solvers.gam.operations.edit import ModelId
from solvers.gam.operations.models import DEMO, read_model
from solvers.operation import Context, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {
    "A query for SQLite": {"model": DEMO, "format": "sql", "dialect": "sqlite", "table": "customers"},
    "A table to read": {"model": DEMO, "format": "scorecard"},
}


class ExportRequest(BaseModel):
    """A model and the form to take it home in."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    format: ExportFormat = "json"
    dialect: DialectName = Field("postgresql", description="For SQL.")
    table: str = Field("data", min_length=1, max_length=200, description="For SQL: the table with the rows.")


class ExportResult(BaseModel):
    """The model as a file."""

    media_type: str
    text: str | None = Field(description="The content; null for ONNX, which is no text.")
    file_id: str = Field(description="Id of the file, for `/v1/files`.")


def run_export(request: ExportRequest, context: Context) -> ExportResult:
    """Carry out a request."""
    model = read_model(context.files, request.model).additive_model()
    exported = export(model, request.format, dialect=request.dialect, table=request.table)
    file_id = context.files.save(exported.content, name=exported.name, media_type=exported.media_type)
    return ExportResult(media_type=exported.media_type, text=exported.text, file_id=file_id)


GAM_EXPORT: Operation[ExportRequest, ExportResult] = Operation(
    name="gam-export",
    path="gam/export",
    request=ExportRequest,
    result=ExportResult,
    run=run_export,
    summary="Export a model as JSON, SQL, ONNX, PMML, Python or a scorecard.",
    description="SQL in the dialects of SQLite, PostgreSQL, DuckDB, BigQuery and T-SQL. `/v1/gam/models/{id}/export` downloads the same.",
    resources=Resources(time_limit=60.0, light=True),
    examples=EXAMPLES,
    volatile=("file_id",),
)
