"""What a search found and claims, without a proof that a stranger could check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class SearchClaim(NamedTuple):
    """The end of a search.

    Attributes
    ----------
    value : int
    solution : array of shape (n,)
        The sides of a cut, or the mask of a set of vertices or of a choice of sets.
    bound : int
        No solution is better, says the solver.
    nodes : int
    solver, version : str
    """

    value: int
    solution: np.ndarray
    bound: int
    nodes: int
    solver: str
    version: str

    @property
    def is_optimal(self) -> bool:
        return self.value == self.bound

    def certificate(self, fallback: dict[str, Any]) -> dict[str, Any]:
        """Return the certificate of kind ``search``, with one of another kind that can be checked."""
        return {"kind": "search", "solver": self.solver, "version": self.version, "nodes": self.nodes, "fallback": fallback}
