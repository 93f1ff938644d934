"""The best solution so far, kept for each component apart: what one candidate does well and another badly is put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.graphs.kernel import SearchSpace


class Incumbent:
    """The best solution of a search space that was offered.

    Parameters
    ----------
    space : SearchSpace
    source : str
        The stage that settled the other components.

    Attributes
    ----------
    sides : int8 array of shape (n,)
        At first all 0: of a cut the sides, of an independent set 1 for its members.
    value : int
        In kernel units, on the open components alone.
    source : str
        The stage that first produced this value.
    """

    def __init__(self, space: SearchSpace[Any], source: str) -> None:
        self._space = space
        self.sides = np.zeros(space.num_vertices, np.int8)
        self._part_values = np.zeros(len(space.open), np.int64)
        self.value = 0
        self.source = source

    def offer(self, sides: np.ndarray, source: str) -> bool:
        """Take over whatever components of `sides` are better; return whether any was."""
        values = self._space.part_values(sides)
        better = np.flatnonzero(values > self._part_values)
        if better.size == 0:
            return False
        for part in better.tolist():
            piece = self._space.slices[part]
            self.sides[piece] = sides[piece]
        self._part_values[better] = values[better]
        self.value = int(self._part_values.sum())
        self.source = source
        return True

    def part(self, index: int) -> tuple[int, np.ndarray]:
        """Return the value and sides of an open component, by its place in `space.open`."""
        return int(self._part_values[index]), self.sides[self._space.slices[index]]
