"""Every form that a model can be taken home in."""

from __future__ import annotations

from typing import Literal, NamedTuple

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.export.onnx_model import to_onnx
from solvers.gam.export.pmml import to_pmml
from solvers.gam.export.python_source import to_python
from solvers.gam.export.scorecard import to_scorecard
from solvers.gam.export.sql import to_sql
from solvers.gam.export.sql_dialects import DialectName
from solvers.operation import InvalidInput

ExportFormat = Literal["json", "sql", "onnx", "pmml", "python", "scorecard", "scorecard-html"]


class Exported(NamedTuple):
    """A model as a file.

    Attributes
    ----------
    name : str
    media_type : str
    content : bytes
        UTF-8, but for ONNX.
    """

    name: str
    media_type: str
    content: bytes

    @property
    def text(self) -> str | None:
        """The content as text; None for ONNX."""
        return None if self.media_type == "application/octet-stream" else self.content.decode()


def export(model: AdditiveModel, form: ExportFormat, *, dialect: DialectName = "postgresql", table: str = "data") -> Exported:
    """Return a model in one of the forms.

    Parameters
    ----------
    model : AdditiveModel
    form : {"json", "sql", "onnx", "pmml", "python", "scorecard", "scorecard-html"}
    dialect, table : str
        For SQL; see :func:`solvers.gam.export.sql.to_sql`.

    Raises
    ------
    InvalidInput
        If there is no such form or dialect, or the form cannot hold a name of the model.

    Examples
    --------
    >>> export(AdditiveModel("regression", "identity", [0.5], []), "json").name
    'model.json'
    """
    match form:
        case "json":
            return Exported("model.json", "application/json", model.to_json().encode())
        case "sql":
            return Exported(f"model.{dialect}.sql", "application/sql", to_sql(model, table, dialect).encode())
        case "onnx":
            return Exported("model.onnx", "application/octet-stream", to_onnx(model))
        case "pmml":
            return Exported("model.pmml", "application/xml", to_pmml(model).encode())
        case "python":
            return Exported("model.py", "text/x-python", to_python(model).encode())
        case "scorecard":
            return Exported("scorecard.md", "text/markdown", to_scorecard(model).encode())
        case "scorecard-html":
            return Exported("scorecard.html", "text/html", to_scorecard(model, "html").encode())
    raise InvalidInput(f"there is no form {form!r:.40}", pointer="/format")
