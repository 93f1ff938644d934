"""Rows of a CSV file, read in blocks.

The first line names the columns. Fields are divided by commas, or by semicolons or tabs if the first line has no comma; they may be
quoted and then hold line breaks. The text is UTF-8, with or without a byte order mark, or UTF-16 with one.

Arrow parses each block from memory of its own: its streaming reader would call this process's files from threads that may outlive the
interpreter.
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
from solvers.gam.tables.foreign_files import foreign_kind
from solvers.operation import InvalidInput

BLOCK_BYTES = 8 * 2**20
HEADER_BYTES = 2**20
NO_TEXT = "the file is no text; a CSV file is UTF-8, or UTF-16 with a byte order mark"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
        head = stream.read(HEADER_BYTES)
        kind = foreign_kind(head)
        if kind is not None:
            raise InvalidInput(f"the file is no CSV: it is {kind}")
        self._pieces = _utf_8_pieces(head, stream)
        self._head = next(self._pieces)
        text = self._head.decode(errors="replace")
        if not text.strip():
            raise InvalidInput("the file is empty")
        if "\0" in text:
            raise InvalidInput(NO_TEXT)
        header = _first_row(text)
        self._header = header.encode()
        if not self._head.startswith(self._header):
            raise InvalidInput("the names of the columns are not UTF-8")
        self._delimiter = next((mark for mark in ",;\t" if mark in header), ",")
        self.names = next(csv.reader(io.StringIO(header, newline=""), delimiter=self._delimiter))
        if not self.names:
            raise InvalidInput("the first line is blank; it names the columns")

    def blocks(self, wanted: Sequence[str], declared: Collection[str] = ()) -> Iterator[Mapping[str, pa.Array]]:
        """Yield the wanted columns of some rows after the other, as bytes; :class:`InvalidInput` at a row of another length."""
        keys = [str(number) for number in range(len(self.names))]
        key_of = dict(zip(self.names, keys, strict=True))
        chosen = [key_of[name] for name in wanted]
        first_row, first_line = 0, 1 + self._header.count(b"\n")
        for text in _whole_rows(self._body()):
            table = _parsed(text, keys, chosen, self._delimiter, (first_row, first_line))
            if b"\0" in text:
                raise InvalidInput(f"{NO_TEXT}; there is a NUL character in row {first_row} or after it", row=first_row)
            first_row += table.num_rows
            first_line += text.count(b"\n")
            if table.num_rows:
                _require_closed_quotes(text, table)
                yield {name: table[key].combine_chunks() for name, key in zip(wanted, chosen, strict=True)}

    def _body(self) -> Iterator[bytes]:
        yield self._head[len(self._header) :]
        yield from self._pieces


def _utf_8_pieces(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield a file as UTF-8 without a byte order mark; the first piece, its head, holds the header."""
    rest = iter(lambda: stream.read(BLOCK_BYTES), b"")
    if not head.startswith(_UTF_16):
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from rest
        return
    decode = codecs.getincrementaldecoder("utf-16")(errors="replace").decode
    yield decode(head).encode()
    yield from (decode(piece).encode() for piece in rest)


def _first_row(text: str) -> str:
    """Return the lines that the first row takes."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        next(reader)
    except csv.Error as error:
        raise InvalidInput(f"the first line names no columns: {error}; is a quotation mark left open?") from None
    lines = io.StringIO(text, newline="")
    return "".join(next(lines) for _ in range(reader.line_num))


def _whole_rows(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces cut behind line breaks that are in no quotes.

    Raises
    ------
    InvalidInput
        If a row is longer than two blocks.
    """
    rest = b""
    for piece in pieces:
        rest += piece
        end = _end_of_rows(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > 2 * BLOCK_BYTES:
            raise InvalidInput(f"a row is longer than {2 * BLOCK_BYTES} bytes; is a quotation mark left open?")
    if rest:
        yield rest


def _end_of_rows(text: bytes) -> int:
    """Return the position behind the last line break that is in no quotes; 0 if there is none."""
    end = len(text)
    quotes = text.count(b'"')
    while (found := text.rfind(b"\n", 0, end)) >= 0:
        quotes -= text.count(b'"', found, end)
        if quotes % 2 == 0:
            return found + 1
        end = found
    return 0


def _require_closed_quotes(text: bytes, table: pa.Table) -> None:
    """Require that the last field of a file does not take in all lines that follow an open quotation mark."""
    if text.count(b'"') % 2 and any(b"\n" in (column[-1].as_py() or b"") for column in table.columns):
        raise InvalidInput("a quotation mark is left open: the last field takes in all lines that follow it")


def _parsed(text: bytes, keys: list[str], chosen: list[str], delimiter: str, first: tuple[int, int]) -> pa.Table:
    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    memory = pa.BufferOutputStream()
    memory.write(text)
    try:
        return pa.csv.read_csv(
            pa.BufferReader(memory.getvalue()),
            read_options=pa.csv.ReadOptions(column_names=keys, use_threads=False, block_size=len(text) + 1),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse),
            convert_options=pa.csv.ConvertOptions(
                column_types={key: pa.binary() for key in keys},
                include_columns=chosen,
                null_values=list(MISSING_TEXTS),
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        if not text.strip():
            return pa.table({key: pa.array([], pa.binary()) for key in chosen})
        raise _fault(error, ragged, *first) from None


def _fault(error: pa.ArrowInvalid, ragged: list[Any], first_row: int, first_line: int) -> InvalidInput:
    if not ragged:
        return InvalidInput(f"the file is not CSV: {str(error)[:200]}")
    row = ragged[0]
    number, line = first_row + row.number - 1, first_line + row.number - 1
    place = f"row {number} (line {line} if no field holds a line break)"
    return InvalidInput(
        f"{place} has {row.actual_columns} fields, the header {row.expected_columns}: {row.text[:60]!r}", row=number, line=line
    )
