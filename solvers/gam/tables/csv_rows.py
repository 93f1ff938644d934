"""Rows of a CSV file, read in blocks.

The first line names the columns. Fields are divided by commas, or by semicolons or tabs if the first line has no comma; they may be
quoted and then hold line breaks. The text is UTF-8, with or without a byte order mark, or UTF-16 with one.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv

from solvers.gam.tables.cells import MISSING_TEXTS
from solvers.operation import InvalidInput

BLOCK_BYTES = 8 * 2**20
HEADER_BYTES = 2**20
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class CsvRows:
    r"""Rows of a CSV file.

    Parameters
    ----------
    stream : binary file
        At its start.

    Raises
    ------
    InvalidInput
        If it has no header.

    Examples
    --------
    >>> rows = CsvRows(io.BytesIO(b"age;plan\n30;basic\n"))
    >>> rows.names
    ['age', 'plan']
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._head = stream.read(HEADER_BYTES)
        self._rest = stream
        self._encoding = next((name for mark, name in _MARKS.items() if self._head.startswith(mark)), "utf-8")
        line = self._first_line()
        self._delimiter = next((mark for mark in ",;\t" if mark in line), ",")
        self.names = next(csv.reader(io.StringIO(line, newline=""), delimiter=self._delimiter))

    def _first_line(self) -> str:
        text = self._head.decode(self._encoding, errors="replace")
        if not text.strip():
            raise InvalidInput("the file is empty")
        if "\0" in text:
            raise InvalidInput("the file is no text; a CSV file is UTF-8, or UTF-16 with a byte order mark")
        reader = csv.reader(io.StringIO(text, newline=""))
        lines = io.StringIO(text, newline="")
        next(reader)
        return "".join(next(lines) for _ in range(reader.line_num))

    def blocks(self, wanted: Sequence[str], declared: Collection[str] = ()) -> Iterator[Mapping[str, pa.Array]]:
        """Yield the wanted columns of some rows after the other, as bytes; :class:`InvalidInput` at a row of another length."""
        keys = [str(number) for number in range(len(self.names))]
        chosen = [keys[self.names.index(name)] for name in wanted]
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        source = _Joined(self._head, self._rest)
        batch = None
        try:
            for batch in self._reader(source, keys, chosen, refuse):
                yield dict(zip(wanted, (batch.column(key) for key in chosen), strict=True))
        except pa.ArrowInvalid as error:
            raise _fault(error, ragged) from None
        if batch is not None and source.quotes % 2 and any(b"\n" in (cells[-1].as_py() or b"") for cells in batch.columns):
            raise InvalidInput("a quotation mark is left open: the last field takes in all lines that follow it")

    def _reader(self, source: _Joined, keys: list[str], chosen: list[str], refuse: Any) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            pa.PythonFile(source, mode="r"),
            read_options=pa.csv.ReadOptions(
                column_names=keys,
                skip_rows_after_names=1,
                block_size=BLOCK_BYTES,
                use_threads=False,
                encoding="utf8" if self._encoding != "utf-16" else "utf-16",
            ),
            parse_options=pa.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=refuse),
            convert_options=pa.csv.ConvertOptions(
                column_types={key: pa.binary() for key in keys},
                include_columns=chosen,
                null_values=list(MISSING_TEXTS),
                strings_can_be_null=True,
            ),
        )


def _fault(error: pa.ArrowInvalid, ragged: list[Any]) -> InvalidInput:
    if ragged:
        row = ragged[0]
        at = {} if row.number is None else {"line": row.number, "row": row.number - 2}
        place = "a row" if row.number is None else f"row {row.number - 2} (line {row.number} if no field holds a line break)"
        return InvalidInput(
            f"{place} has {row.actual_columns} fields, the header {row.expected_columns}: {row.text[:60]!r}", **at
        )
    if "straddling" in str(error):
        return InvalidInput(f"a row is longer than {BLOCK_BYTES} bytes; is a quotation mark left open?")
    return InvalidInput(f"the file is not CSV: {str(error)[:200]}")


class _Joined(io.RawIOBase):
    """A stream with what was read of it put back, whose quotation marks are counted."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest
        self.quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        if not piece or size < 0:
            piece += self._rest.read(size)
        self.quotes += piece.count(b'"')
        return piece
