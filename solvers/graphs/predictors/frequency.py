"""How often each vertex was on side 1 in the past, for instances that share their vertices.

A vertex that was in c of K past solutions is in the next with probability (c + 1) / (K + 2): Laplace's rule of succession. A cut is
the same with its sides exchanged, so past cuts are first turned to agree with each other as well as they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.arrays import Array, Integer
from solvers.graphs.canonical import Instance
from solvers.graphs.formats.node_link import frozen
from solvers.graphs.graph import label_positions
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import UNTOLD, Problem, Solved, turned_to

MOST_TURNS = 20

Count = Annotated[Integer, Field(ge=0, le=2**53)]


class FrequencyTable(BaseModel):
    """For every vertex how often it was seen, and how often on side 1."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["frequency"] = "frequency"
    ids: list[Any] | None = Field(None, description="Names of the vertices; null if row r is the vertex with the id r.")
    seen: list[Count] = Field(description="Past solutions that say where the vertex is.")
    chosen: list[Count] = Field(description="Those of them with the vertex on side 1, in the cover or in the set.")

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
    def fit(cls, solved: Sequence[Solved], problem: Problem) -> Self:
        """Count past solutions.

        Examples
        --------
        >>> from solvers.graphs.canonical import canonicalise
        >>> from solvers.graphs.graph import Graph
        >>> path = canonicalise(Graph(3, [[0, 1], [1, 2]]))
        >>> past = [Solved(path, np.array([1, 0, 1], np.int8)), Solved(path, np.array([0, 1, 0], np.int8))]
        >>> FrequencyTable.fit(past, "vertex-cover").chosen, FrequencyTable.fit(past, "max-cut").chosen
        ([1, 1, 1], [2, 0, 2])
        """
        ids, rows = _common_rows([one.instance for one in solved])
        length = max((int(row.max(initial=-1)) + 1 for row in rows), default=0)
        truths = [one.truth for one in solved]
        if problem == "max-cut":
            truths = _turned_alike(solved, rows, length)
        seen, chosen = np.zeros(length, np.int64), np.zeros(length, np.int64)
        for row, truth in zip(rows, truths, strict=True):
            seen[row] += truth != UNTOLD
            chosen[row] += truth == 1
        return cls(ids=ids, seen=seen.tolist(), chosen=chosen.tolist())

    def forecast(self, instance: Instance) -> Forecast:
        """Return the probabilities of a graph's vertices; an edge says of its ends what the table does."""
        seen, chosen = np.array([*self.seen, 0], np.float64), np.array([*self.chosen, 0], np.float64)
        rows = self._rows_of(instance)
        probabilities = np.where(seen[rows] > 0, (chosen[rows] + 1) / (seen[rows] + 2), np.nan)
        return Forecast(probabilities, probabilities[instance.edges])

    def _rows_of(self, instance: Instance) -> Array:
        """Return the row of every vertex, the one after the last where it has none."""
        beyond = len(self.seen)
        if self.ids is None and instance.labels is None:
            rows = np.arange(instance.num_vertices) + instance.index_base
            return np.where(rows < beyond, rows, beyond)
        names = range(beyond) if self.ids is None else self.ids
        table = {frozen(name): row for row, name in enumerate(names)}
        ids = instance.vertex_ids(np.arange(instance.num_vertices))
        return np.array([table.get(frozen(name), beyond) for name in ids], dtype=np.int64)


def _common_rows(instances: Sequence[Instance]) -> tuple[list[Any] | None, list[Array]]:
    """Return the names of the rows of a table that has all vertices, None if they are 0, 1, .., and the row of each vertex."""
    if all(instance.labels is None for instance in instances):
        return None, [np.arange(instance.num_vertices) + instance.index_base for instance in instances]
    table: dict[Any, int] = {}
    rows = []
    for instance in instances:
        ids = instance.vertex_ids(np.arange(instance.num_vertices))
        rows.append(np.array([table.setdefault(frozen(name), len(table)) for name in ids], dtype=np.int64))
    return list(table), rows


def _turned_alike(solved: Sequence[Solved], rows: Sequence[Array], length: int) -> list[Array]:
    """Turn each cut to agree with the sum of all, until none turns: the agreement of all pairs grows with every turn."""
    truths = [one.truth for one in solved]
    wanted = np.zeros(length)
    for one, row in zip(solved, rows, strict=True):
        # The first cut leads; each later one is turned to those before it.
        wanted[row] += _signs(turned_to(one.truth, wanted[row], one.instance))
    for _ in range(MOST_TURNS):
        turned = [turned_to(one.truth, wanted[row], one.instance) for one, row in zip(solved, rows, strict=True)]
        if all((new == old).all() for new, old in zip(turned, truths, strict=True)):
            break
        truths = turned
        wanted = np.zeros(length)
        for row, truth in zip(rows, truths, strict=True):
            wanted[row] += _signs(truth)
    return truths


def _signs(truth: Array) -> Array:
    return np.where(truth == UNTOLD, 0, 2 * truth.astype(np.int64) - 1)
