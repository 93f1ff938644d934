"""How often each vertex or set was on side 1 in the past, for instances that share them.

What was in c of K past solutions is in the next with probability (c + 1) / (K + 2): Laplace's rule of succession. A cut is
the same with its sides exchanged, so past cuts are first turned to agree with each other as well as they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.arrays import Array, Integer
from solvers.graphs.formats.node_link import frozen
from solvers.graphs.graph import label_positions
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import UNTOLD, Subject

MOST_TURNS = 20

Count = Annotated[Integer, Field(ge=0, le=2**53)]


class FrequencyTable(BaseModel):
    """For every vertex or set how often it was seen, and how often on side 1."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["frequency"] = "frequency"
    ids: list[Any] | None = Field(None, description="Names of the vertices; null if row r is the vertex or set with the id r.")
    seen: list[Count] = Field(description="Past solutions that say where it is.")
    chosen: list[Count] = Field(description="Those of them with it on side 1, or chosen.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(self.seen) != len(self.chosen) or (self.ids is not None and len(self.ids) != len(self.seen)):
            raise ValueError("ids, seen and chosen differ in length")
        if any(chosen > seen for seen, chosen in zip(self.seen, self.chosen, strict=True)):
            raise ValueError("a vertex was chosen more often than seen")
        if self.ids is not None:
            label_positions([frozen(label) for label in self.ids])
        return self

    @classmethod
    def fit(cls, solved: Sequence[Solved]) -> Self:
        """Count past solutions.

        Examples
        --------
        >>> from solvers.graphs.canonical import canonicalise
        >>> from solvers.graphs.graph import Graph
        >>> from solvers.graphs.predictors.subjects import subject_of
        >>> path = canonicalise(Graph(3, [[0, 1], [1, 2]]))
        >>> truths = np.array([[1, 0, 1], [0, 1, 0]], np.int8)
        >>> as_cover, as_cut = subject_of(path, "vertex-cover"), subject_of(path, "max-cut")
        >>> FrequencyTable.fit([Solved(as_cover, truth) for truth in truths]).chosen
        [1, 1, 1]
        >>> FrequencyTable.fit([Solved(as_cut, truth) for truth in truths]).chosen
        [2, 0, 2]
        """
        ids, rows = _common_rows([one.subject for one in solved])
        length = max((int(row.max(initial=-1)) + 1 for row in rows), default=0)
        truths = _turned_alike(solved, rows, length)
        seen, chosen = np.zeros(length, np.int64), np.zeros(length, np.int64)
        for row, truth in zip(rows, truths, strict=True):
            seen[row] += truth != UNTOLD
            chosen[row] += truth == 1
        return cls(ids=ids, seen=seen.tolist(), chosen=chosen.tolist())

    def forecast(self, subject: Subject) -> Forecast:
        """Return the probabilities of vertices or sets; a vote says what the table does."""
        seen, chosen = np.array([*self.seen, 0], np.float64), np.array([*self.chosen, 0], np.float64)
        rows = self._rows_of(subject)
        probabilities = np.where(seen[rows] > 0, (chosen[rows] + 1) / (seen[rows] + 2), np.nan)
        return Forecast(probabilities, probabilities[subject.item_of])

    def _rows_of(self, subject: Subject) -> Array:
        """Return the row of every vertex or set, the one after the last where it has none."""
        beyond = len(self.seen)
        if self.ids is None and subject.names is None:
            rows = _numbers(subject)
            return np.where(rows < beyond, rows, beyond)
        names = range(beyond) if self.ids is None else self.ids
        table = {frozen(name): row for row, name in enumerate(names)}
        return np.array([table.get(frozen(name), beyond) for name in subject.ids], dtype=np.int64)


def _common_rows(subjects: Sequence[Subject]) -> tuple[list[Any] | None, list[Array]]:
    """Return the names of the rows of a table that has all vertices or sets, None if they are 0, 1, .., and the row of each."""
    if all(subject.names is None for subject in subjects):
        return None, [_numbers(subject) for subject in subjects]
    table: dict[Any, int] = {}
    rows = []
    for subject in subjects:
        rows.append(np.array([table.setdefault(frozen(name), len(table)) for name in subject.ids], dtype=np.int64))
    return list(table), rows


def _numbers(subject: Subject) -> Array:
    return np.arange(subject.num_items) + subject.instance.index_base


def _turned_alike(solved: Sequence[Solved], rows: Sequence[Array], length: int) -> list[Array]:
    """Turn each cut to agree with the sum of all, until none turns: the agreement of all pairs grows with every turn."""
    truths = [one.truth for one in solved]
    wanted = np.zeros(length)
    for one, row in zip(solved, rows, strict=True):
        # The first cut leads; each later one is turned to those before it.
        wanted[row] += _signs(one.subject.turned(one.truth, wanted[row]))
    for _ in range(MOST_TURNS):
        turned = [one.subject.turned(one.truth, wanted[row]) for one, row in zip(solved, rows, strict=True)]
        if all((new == old).all() for new, old in zip(turned, truths, strict=True)):
            break
        truths = turned
        wanted = np.zeros(length)
        for row, truth in zip(rows, truths, strict=True):
            wanted[row] += _signs(truth)
    return truths


def _signs(truth: Array) -> Array:
    return np.where(truth == UNTOLD, 0, 2 * truth.astype(np.int64) - 1)
