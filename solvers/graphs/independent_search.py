"""What a search for the heaviest independent set found and proved, without a proof that a stranger could check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class IndependentSearch(NamedTuple):
    """The end of a search.

    Attributes
    ----------
    value : int
    members : bool array of shape (n,)
        The set found.
    bound : int
        No independent set weighs more, says the solver.
    nodes : int
    solver, version : str
    """

    value: int
    members: np.ndarray
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
