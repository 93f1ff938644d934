"""Tables of rows in the databases that run the exported queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import duckdb
import psycopg
import sqlglot
from sqlglot import exp

from solvers.gam.export.sql_dialects import DIALECTS

TABLE = "scored.rows; --"
Columns = dict[str, list[Any]]
Answer = dict[str, list[Any]]

TYPES = {
    "sqlite": ("REAL", "TEXT"),
    "postgresql": ("DOUBLE PRECISION", "TEXT"),
    "duckdb": ("DOUBLE", "VARCHAR"),
}


def is_text(column: list[Any]) -> bool:
    return any(isinstance(value, str) for value in column)


def _creation(columns: Columns, dialect: str, table: str) -> str:
    quoted = DIALECTS[dialect].quoted
    kinds = [f"{quoted(name)} {TYPES[dialect][is_text(column)]}" for name, column in columns.items()]
    return f"CREATE TABLE {table} (row_number INTEGER PRIMARY KEY, {', '.join(kinds)})"


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(range(len(next(iter(columns.values())))), *columns.values(), strict=True))


def _answer(names: list[str], rows: list[tuple[Any, ...]]) -> Answer:
    by_name = dict(zip(names, zip(*rows, strict=True), strict=True))
    order = sorted(range(len(rows)), key=by_name["row_number"].__getitem__)
    return {name: [values[row] for row in order] for name, values in by_name.items()}


def run_in_sqlite(query: str, columns: Columns) -> Answer:
    connection = sqlite3.connect(":memory:")
    connection.execute("ATTACH ':memory:' AS scored")
    connection.execute(_creation(columns, "sqlite", 'scored."rows; --"'))
    marks = ", ".join("?" * (len(columns) + 1))
    connection.executemany(f'INSERT INTO scored."rows; --" VALUES ({marks})', _rows(columns))
    cursor = connection.execute(query)
    answer = _answer([column[0] for column in cursor.description], cursor.fetchall())
    connection.close()
    return answer


def run_in_duckdb(query: str, columns: Columns) -> Answer:
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA scored")
    connection.execute(_creation(columns, "duckdb", 'scored."rows; --"'))
    marks = ", ".join("?" * (len(columns) + 1))
    connection.executemany(f'INSERT INTO scored."rows; --" VALUES ({marks})', _rows(columns))
    result = connection.execute(query)
    answer = _answer([column[0] for column in result.description], result.fetchall())
    connection.close()
    return answer


def run_in_postgresql(url: str) -> Callable[[str, Columns], Answer]:
    def run(query: str, columns: Columns) -> Answer:
        with psycopg.connect(url) as connection:
            connection.execute("DROP SCHEMA IF EXISTS scored CASCADE")
            connection.execute("CREATE SCHEMA scored")
            connection.execute(_creation(columns, "postgresql", 'scored."rows; --"'))
            marks = ", ".join(["%s"] * (len(columns) + 1))
            connection.cursor().executemany(f'INSERT INTO scored."rows; --" VALUES ({marks})', _rows(columns))
            cursor = connection.execute(query.encode())
            return _answer([column.name for column in cursor.description], cursor.fetchall())

    return run


def run_transpiled(dialect: str) -> Callable[[str, Columns], Answer]:
    def run(query: str, columns: Columns) -> Answer:
        tree = sqlglot.parse_one(query, read=dialect)
        for collation in list(tree.find_all(exp.Collate)):
            collation.replace(collation.this)
        return run_in_duckdb(tree.sql("duckdb"), columns)

    return run
