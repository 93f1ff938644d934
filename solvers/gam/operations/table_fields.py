"""How a request gives a table: rows in the request itself, the text of a file, or the id of an uploaded one."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import IO, Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from solvers.gam.tables.csv_rows import CsvRows
from solvers.gam.tables.json_rows import JsonRows
from solvers.gam.tables.parquet_rows import ParquetRows
from solvers.gam.tables.table import ColumnType, Rows
from solvers.operation import Files, InvalidInput, UnknownFile

PARQUET_MARK = b"PAR1"

JsonTable = Annotated[
    list[Any],
    WithJsonSchema({"type": "array", "items": {"anyOf": [{"type": "object"}, {"type": "array", "items": {}}]}, "minItems": 1}),
]
ColumnTypes = Annotated[
    dict[str, ColumnType],
    Field(description="Types of columns that are not to be told from their cells: `numeric`, `categorical` or `ignore`."),
]


class TableFields(BaseModel):
    """Rows of named columns: `rows`, the `content` of a file, or an uploaded `file`.

    The first line of a CSV file names its columns; an empty cell is missing. In JSON, null and absent members are missing.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["json", "csv", "parquet"] | None = Field(None, description="Default: told by what is given.")
    rows: JsonTable | None = Field(None, description="Objects by column name, or arrays beside `names`.")
    names: list[str] | None = Field(None, description="Names of the columns of rows that are arrays.")
    content: str | None = Field(None, description="The text of a CSV file, or a Parquet file in base64.")
    file: str | None = Field(
        None,
        description="Id of an uploaded CSV or Parquet file, also called `upload_id`; it is read in blocks.",
        validation_alias=AliasChoices("file", "upload_id"),
    )

    @model_validator(mode="after")
    def _one_source(self) -> TableFields:
        given = [name for name in ("rows", "content", "file") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of rows, content and file, not {' and '.join(given) or 'none of them'}")
        if self.format is not None and (self.format == "json") != (self.rows is not None):
            raise ValueError(
                f"the format {self.format!r} does not go with {given[0]!r}; `rows` are json, a file is csv or parquet"
            )
        if self.names is not None and self.rows is None:
            raise ValueError("`names` goes with `rows`; a file has names of its own")
        return self

    @contextmanager
    def opened(self, files: Files, pointer: str) -> Iterator[Rows]:
        """Open the rows; whatever is wrong with them is told with the pointer of the table in the request."""
        with ExitStack() as stack:
            try:
                yield self._rows() if self.rows is not None else self._file_rows(stack.enter_context(self._stream(files)))
            except InvalidInput as fault:
                raise _within(fault, pointer, self._place()) from None
            except UnknownFile as fault:
                raise UnknownFile(fault.detail, pointer=f"{pointer}/file") from None

    def _rows(self) -> JsonRows:
        return JsonRows(self.rows or [], self.names)

    def _file_rows(self, stream: IO[bytes]) -> Rows:
        is_parquet = self.format == "parquet"
        if self.format is None:
            is_parquet = stream.read(len(PARQUET_MARK)) == PARQUET_MARK
            stream.seek(0)
        return ParquetRows(stream) if is_parquet else CsvRows(stream)

    def _stream(self, files: Files) -> IO[bytes]:
        if self.file is not None:
            return files.open(self.file)
        content = self.content or ""
        if self.format != "parquet":
            return io.BytesIO(content.encode("utf-8", errors="surrogatepass"))
        try:
            return io.BytesIO(base64.b64decode(content, validate=True))
        except (binascii.Error, ValueError):
            raise InvalidInput("the content of a Parquet file is base64 text") from None

    def _place(self) -> str:
        return "/rows" if self.rows is not None else "/content" if self.content is not None else "/file"


def _within(fault: InvalidInput, pointer: str, place: str) -> InvalidInput:
    if fault.pointer is not None and fault.pointer != "/names":
        return fault
    row: Mapping[str, Any] = fault.members
    where = fault.pointer or (f"{place}/{row['row']}" if place == "/rows" and "row" in row else place)
    return InvalidInput(fault.detail, pointer=f"{pointer}{where}", **fault.members)
