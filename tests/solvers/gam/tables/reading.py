"""Short ways to read a table in a test."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from solvers.gam.shape_functions import CodedColumn
from solvers.gam.tables import Table, read_table
from solvers.gam.tables.csv_rows import CsvRows
from solvers.gam.tables.parquet_rows import ParquetRows


def csv_table(text: str | bytes, **options: Any) -> Table:
    content = text.encode() if isinstance(text, str) else text
    return read_table(CsvRows(io.BytesIO(content)), **options)


def parquet_table(columns: dict[str, pa.Array], *, row_group_size: int | None = None, **options: Any) -> Table:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), file, row_group_size=row_group_size)
    file.seek(0)
    return read_table(ParquetRows(file), **options)


def cells(table: Table, name: str) -> list[Any]:
    """Return a column as Python values; NaN and missing texts as None."""
    column = table.columns[name]
    if isinstance(column, CodedColumn):
        return [None if code < 0 else column.levels[code] for code in column.codes]
    return [None if value != value else value for value in column.tolist()]
