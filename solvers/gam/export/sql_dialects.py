"""How five databases write names, texts and numbers, and how they compare them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

MOST_ARGUMENTS = 100  # SQLite's functions take 127 unless it was built otherwise

DialectName = Literal["sqlite", "postgresql", "duckdb", "bigquery", "tsql"]


@dataclass(frozen=True)
class Dialect:
    """What the query must write differently.

    Attributes
    ----------
    name : str
    double : str
        Type of 64-bit floating-point numbers.
    quoted : callable
        From the name of a table or column to the name as written.
    text : callable
        From a text to its literal.
    is_missing : callable
        From a numeric column, as written, to the test for NULL, and for NaN where the database has it.
    equals : callable
        From a categorical column, as written, and a level to a test that tells case and blanks apart.
    largest : callable
        From some expressions, as written, to that of the largest.
    once : str
        Before the body of a common table expression: that it be computed once and not wherever it is used.
    true, false : str
    """

    name: DialectName
    double: str
    quoted: Callable[[str], str]
    text: Callable[[str], str]
    is_missing: Callable[[str], str]
    equals: Callable[[str, str], str]
    largest: Callable[[list[str]], str]
    once: str = ""
    true: str = "TRUE"
    false: str = "FALSE"

    def label(self, label: Any, *, as_text: bool) -> str:
        """Return a class as a literal."""
        if as_text or isinstance(label, str):
            return self.text(str(label))
        if isinstance(label, bool):
            return self.true if label else self.false
        return str(label) if isinstance(label, int) else number(label)


def number(value: float) -> str:
    """Return a literal of the shortest digits that read back as the same double.

    The exponent makes it a floating-point number everywhere: DuckDB and BigQuery would take 25.5 for a decimal.

    Examples
    --------
    >>> number(25.5), number(-0.0), number(1e300), number(0.1 + 0.2)
    ('2.55e+01', '-0.0e+00', '1.0e+300', '3.0000000000000004e-01')
    """
    return np.format_float_scientific(value, trim="0")


def _between(opening: str, closing: str) -> Callable[[str], str]:
    return lambda name: opening + name.replace(closing, closing * 2) + closing


_double_quoted = _between('"', '"')
_plain_text = _between("'", "'")

# Line breaks in texts are written as escapes or function calls, so that no editor and no rule for backslashes changes them.
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_E_ESCAPES = str.maketrans(_ESCAPES)
_BIGQUERY_ESCAPES = str.maketrans(_ESCAPES | {"'": "\\'", "`": "\\`"})


def _e_text(text: str) -> str:
    escaped = text.translate(_E_ESCAPES)
    return _plain_text(text) if escaped == text else "E" + _plain_text(escaped)


def _bigquery_text(text: str) -> str:
    return f"'{text.translate(_BIGQUERY_ESCAPES)}'"


def _bigquery_name(name: str) -> str:
    return f"`{name.translate(_BIGQUERY_ESCAPES)}`"


def _sqlite_text(text: str) -> str:
    pieces = _cut_at_line_breaks(text, _plain_text)
    return pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"


def _tsql_text(text: str) -> str:
    pieces = _cut_at_line_breaks(text, lambda piece: "N" + _plain_text(piece))
    return pieces[0] if len(pieces) == 1 else f"CONCAT({', '.join(pieces)})"


def _cut_at_line_breaks(text: str, literal: Callable[[str], str]) -> list[str]:
    pieces = [piece for piece in re.split("([\r\n])", text) if piece] or [""]
    return [f"CHAR({ord(piece)})" if piece in "\r\n" and piece else literal(piece) for piece in pieces]


def _tsql_equals(column: str, level: str) -> str:
    # A plain `=` ignores trailing blanks, always, and case, by default.
    return f"CONCAT({column}, N'|') = {_tsql_text(level + '|')} COLLATE Latin1_General_BIN2"


def _greatest(function: str) -> Callable[[list[str]], str]:
    def largest(expressions: list[str]) -> str:
        if len(expressions) <= MOST_ARGUMENTS:
            return f"{function}({', '.join(expressions)})"
        return largest([largest(expressions[:MOST_ARGUMENTS]), *expressions[MOST_ARGUMENTS:]])

    return largest


def _largest_value(expressions: list[str]) -> str:
    # GREATEST is there from SQL Server 2022 on.
    return f"(SELECT MAX(v.decision) FROM (VALUES {', '.join(f'({one})' for one in expressions)}) AS v(decision))"


def _is_null(column: str) -> str:
    return f"{column} IS NULL"


SQLITE = Dialect(
    "sqlite",
    "REAL",
    _double_quoted,
    _sqlite_text,
    _is_null,
    lambda column, level: f"CAST({column} AS TEXT) COLLATE BINARY = {_sqlite_text(level)}",
    _greatest("MAX"),
    "MATERIALIZED ",
)
POSTGRESQL = Dialect(
    "postgresql",
    "DOUBLE PRECISION",
    _double_quoted,
    _e_text,
    lambda column: f"{column} IS NULL OR CAST({column} AS DOUBLE PRECISION) = 'NaN'",
    lambda column, level: f'CAST({column} AS TEXT) COLLATE "C" = {_e_text(level)}',
    _greatest("GREATEST"),
    "MATERIALIZED ",
)
DUCKDB = Dialect(
    "duckdb",
    "DOUBLE",
    _double_quoted,
    _e_text,
    lambda column: f"{column} IS NULL OR ISNAN(CAST({column} AS DOUBLE))",
    lambda column, level: f'CAST({column} AS VARCHAR) COLLATE "binary" = {_e_text(level)}',
    _greatest("GREATEST"),
)
BIGQUERY = Dialect(
    "bigquery",
    "FLOAT64",
    _bigquery_name,
    _bigquery_text,
    lambda column: f"{column} IS NULL OR IS_NAN(CAST({column} AS FLOAT64))",
    lambda column, level: f"COLLATE(CAST({column} AS STRING), '') = {_bigquery_text(level)}",
    _greatest("GREATEST"),
)
TSQL = Dialect(
    "tsql",
    "DOUBLE PRECISION",
    _between("[", "]"),
    _tsql_text,
    _is_null,
    _tsql_equals,
    _largest_value,
    true="CAST(1 AS BIT)",
    false="CAST(0 AS BIT)",
)

DIALECTS: dict[DialectName, Dialect] = {dialect.name: dialect for dialect in (SQLITE, POSTGRESQL, DUCKDB, BIGQUERY, TSQL)}
