"""Heaviest independent sets of single components: at once where that costs next to nothing, and as the finish of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.set_enumeration import MAX_VERTICES, enumerate_independent_sets


class ExactSet(NamedTuple):
    """An independent set and a bound, in kernel units; unless the search was cut short, they agree.

    Attributes
    ----------
    value : int
    sides : int8 array of shape (n,)
    bound : Bound
    """

    value: int
    sides: np.ndarray
    bound: Bound

    @property
    def is_optimal(self) -> bool:
        return self.value >= self.bound.value


def set_at_once(component: VertexComponent) -> ExactSet | None:
    """Return the heaviest independent set by enumeration if the component is tiny."""
    if component.num_vertices > MAX_VERTICES:
        return None
    found = enumerate_independent_sets(component.csr(), component.weights)
    return ExactSet(found.value, found.members.astype(np.int8), Bound(found.value, "enumeration", {"kind": "enumeration"}))
