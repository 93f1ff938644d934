"""What a model says of a new graph: the probability of side 1, of every vertex and of each end of every edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.graphs.arrays import Array


class Forecast(NamedTuple):
    """Probabilities, NaN where the model has none.

    Attributes
    ----------
    vertices : float64 array of shape (n,)
    edge_ends : float64 array of shape (m, 2)
        What each edge says of its first vertex, then of its second.
    """

    vertices: Array
    edge_ends: Array

    @property
    def bits(self) -> Array:
        """The likelier side by each end of each edge, int8 of shape (m, 2), -1 where there is no probability."""
        return np.where(np.isnan(self.edge_ends), -1, self.edge_ends > 0.5).astype(np.int8)
