"""The model as one SQL query that scores a table.

The query has one step for the contributions, one for the decisions and one for what follows from them. With more than two classes there
are two more between: the largest decision m, and the total of all exp(F_k - m), so that the query grows with the number of classes and
not with its square. Every step keeps the columns of the table, after its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

from solvers.gam.additive_model import LARGEST_EXPONENT, AdditiveModel
from solvers.gam.export.output_names import free_name, output_names
from solvers.gam.export.sql_dialects import DIALECTS, Dialect, DialectName, number
from solvers.gam.export.writable_names import require_writable
from solvers.gam.shape_functions import Floats, ShapeFunction
from solvers.operation import InvalidInput

UNWRITABLE = re.compile("[\0\ud800-\udfff]")  # halves of a character have no UTF-8


def to_sql(model: AdditiveModel, table: str = "data", dialect: DialectName = "postgresql") -> str:
    """Return a query that scores every row of a table.

    Parameters
    ----------
    model : AdditiveModel
    table : str
        Name of the table; dots part it from its schema.
    dialect : {"sqlite", "postgresql", "duckdb", "bigquery", "tsql"}
        SQLite needs its mathematical functions, which all current builds have.

    Returns
    -------
    str
        A query whose columns are `prediction`, `p_<class>`, `decision`, `f_<feature>` and those of the table, with more than two
        classes also `total_odds` and `largest_decision`. NULL and NaN are missing values. The decision holds the offset; an exposure
        multiplies the prediction alone, and counts as 1 where it is NULL.

    Raises
    ------
    InvalidInput
        If the dialect is unknown, or a name or level cannot be written in SQL.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> print(to_sql(AdditiveModel("regression", "identity", [0.5], [[age]]), "people", "sqlite"))
    WITH contributions AS (
      SELECT
        CAST(CASE
          WHEN t."age" IS NULL THEN 0.0e+00
          WHEN t."age" <= 3.05e+01 THEN -1.0e+00
          ELSE 2.0e+00
        END AS REAL) AS "f_age",
        t.*
      FROM "people" AS t
    ),
    decisions AS (
      SELECT
        CAST(5.0e-01 + c."f_age" AS REAL) AS "decision",
        c.*
      FROM contributions AS c
    )
    SELECT
      d."decision" AS "prediction",
      d.*
    FROM decisions AS d
    """
    if dialect not in DIALECTS:
        raise InvalidInput(f"{dialect!r:.40} is none of {', '.join(DIALECTS)}", pointer="/dialect")
    require_writable(model, UNWRITABLE, "SQL")
    if UNWRITABLE.search(table):
        raise InvalidInput(f"{table!r:.60} holds a character that SQL cannot write", pointer="/table")
    return _Query(model, DIALECTS[dialect]).text(table)


class _Query:
    def __init__(self, model: AdditiveModel, dialect: Dialect) -> None:
        self.model = model
        self.dialect = dialect
        self.names = output_names(model)
        self.decisions = [f"d.{dialect.quoted(name)}" for name in self.names.decisions]
        taken = {name.lower() for name in (*model.feature_names, *self.names.every())}
        self.largest, self.total = (dialect.quoted(free_name(name, taken)) for name in ("largest_decision", "total_odds"))

    def text(self, table: str) -> str:
        shapes = itertools.chain.from_iterable(self.model.shapes)
        contributions = self._named(map(self._contribution, shapes), itertools.chain.from_iterable(self.names.contributions))
        decisions = self._named(map(self._decision, range(self.model.n_outputs)), self.names.decisions)
        outcome = self._named([self._prediction(), *self._probabilities()], [self.names.prediction, *self.names.probabilities])
        return f"WITH contributions AS (\n{_select(contributions, 't', self._table(table), '  ')}\n),\n" + (
            self._odds(decisions, outcome) if self.model.link == "softmax" else self._from_decisions(decisions, outcome)
        )

    def _from_decisions(self, decisions: list[str], outcome: list[str]) -> str:
        return f"decisions AS (\n{_select(decisions, 'c', 'contributions', '  ')}\n)\n{_select(outcome, 'd', 'decisions', '')}\n"

    def _odds(self, decisions: list[str], outcome: list[str]) -> str:
        """Return the steps from the decisions of several classes on; the database is told not to copy one into the next."""
        once = self.dialect.once
        largest = f"{self.dialect.largest(self.decisions)} AS {self.largest}"
        total = f"{self._double(' + '.join(map(self._odds_of, self.decisions)))} AS {self.total}"
        return (
            f"decisions AS {once}(\n{_select(decisions, 'c', 'contributions', '  ')}\n),\n"
            f"leaders AS {once}(\n{_select([largest], 'd', 'decisions', '  ')}\n),\n"
            f"totals AS {once}(\n{_select([total], 'd', 'leaders', '  ')}\n)\n"
            f"{_select(outcome, 'd', 'totals', '')}\n"
        )

    def _odds_of(self, decision: str) -> str:
        return f"EXP({_clipped(f'{decision} - d.{self.largest}')})"

    def _named(self, expressions: Iterable[str], names: Iterable[str]) -> list[str]:
        return [f"{expression} AS {self.dialect.quoted(name)}" for expression, name in zip(expressions, names, strict=True)]

    def _table(self, table: str) -> str:
        parts = table.split(".")
        if not all(parts):
            raise InvalidInput(f"{table!r:.60} names no table", pointer="/table")
        return ".".join(map(self.dialect.quoted, parts))

    def _contribution(self, shape: ShapeFunction) -> str:
        column = f"t.{self.dialect.quoted(shape.name)}"
        if shape.kind == "numeric":
            cases = [(self.dialect.is_missing(column), shape.missing)]
            cases += [(f"{column} <= {number(threshold)}", score) for threshold, score in _pairs(shape.thresholds, shape.scores)]
            otherwise = shape.scores[-1]
        else:
            cases = [(f"{column} IS NULL", shape.missing)]
            cases += [(self.dialect.equals(column, level), score) for level, score in _pairs(shape.levels, shape.scores)]
            otherwise = shape.unseen
        branches = [f"WHEN {test} THEN {number(score)}" for test, score in cases]
        lines = "\n      ".join(["CASE", *branches, f"ELSE {number(otherwise)}"])
        return self._double(f"{lines}\n    END")

    def _decision(self, output: int) -> str:
        terms = [number(self.model.intercepts[output])]
        terms += [f"c.{self.dialect.quoted(names[output])}" for names in self.names.contributions]
        if self.model.offset is not None and self.model.offset.kind == "offset":
            terms.append(self._double(f"c.{self.dialect.quoted(self.model.offset.column)}"))
        return self._double(" + ".join(terms))

    def _prediction(self) -> str:
        if self.model.classes is not None:
            return self._label(self.model.classes)
        if self.model.link == "identity":
            return self.decisions[0]
        mean = f"EXP({_clipped(self.decisions[0])})"
        if self.model.offset is None or self.model.offset.kind == "offset":
            return mean
        exposure = f"d.{self.dialect.quoted(self.model.offset.column)}"
        return f"CASE WHEN {self.dialect.is_missing(exposure)} THEN 1.0e+00 ELSE {self._double(exposure)} END * {mean}"

    def _label(self, classes: tuple[Any, ...]) -> str:
        as_text = len({_literal_kind(label) for label in classes}) > 1
        labels = [self.dialect.label(label, as_text=as_text) for label in classes]
        if self.model.link == "logit":
            (decision,) = self.decisions
            return f"CASE WHEN {decision} > 0 THEN {labels[1]} WHEN {decision} <= 0 THEN {labels[0]} END"
        cases = [
            f"WHEN {decision} >= d.{self.largest} THEN {label}" for decision, label in zip(self.decisions, labels, strict=True)
        ]
        return f"CASE {' '.join(cases)} END"

    def _probabilities(self) -> list[str]:
        if self.model.link == "logit":
            (decision,) = self.decisions
            return [f"1 / (1 + EXP({_clipped(f'{sign}{decision}')}))" for sign in ("", "-")]
        if self.model.link == "softmax":
            return [f"{self._odds_of(decision)} / d.{self.total}" for decision in self.decisions]
        return []

    def _double(self, expression: str) -> str:
        return f"CAST({expression} AS {self.dialect.double})"


def _clipped(decision: str) -> str:
    limit = number(LARGEST_EXPONENT)
    return f"CASE WHEN {decision} > {limit} THEN {limit} WHEN {decision} < -{limit} THEN -{limit} ELSE {decision} END"


def _pairs(keys: Iterable[Any], scores: Floats) -> Iterable[tuple[Any, float]]:
    """Return keys and scores side by side; the score of the last interval has no threshold."""
    return zip(keys, scores, strict=False)


def _literal_kind(label: Any) -> str:
    return "number" if isinstance(label, int | float) and not isinstance(label, bool) else type(label).__name__


def _select(expressions: list[str], alias: str, source: str, margin: str) -> str:
    columns = f",\n{margin}  ".join([*expressions, f"{alias}.*"])
    return f"{margin}SELECT\n{margin}  {columns}\n{margin}FROM {source} AS {alias}"
