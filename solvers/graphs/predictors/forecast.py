"""What a model says of a new instance: the probability of side 1, of every vertex or set and by every vote."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.graphs.arrays import Array


class Forecast(NamedTuple):
    """Probabilities, NaN where the model has none.

    Attributes
    ----------
    items : float64 array of shape (n,)
        Of the vertices or sets.
    votes : float64 array of shape (k,)
        What each end of an edge, or each element of a set, says of the vertex or set.
    """

    items: Array
    votes: Array

    @property
    def bits(self) -> Array:
        """The likelier side by each vote, int8 of shape (k,), -1 where there is no probability."""
        return np.where(np.isnan(self.votes), -1, self.votes > 0.5).astype(np.int8)
