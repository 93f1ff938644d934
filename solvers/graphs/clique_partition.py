"""A partition of the vertices into few cliques: no independent set holds more than one vertex of each.

Vertices come in some order, each joining the largest clique that it is completely joined to, or else founding one. Three orders are
tried: ascending degree, by number, and the reverse of the order in which vertices of least degree leave. On collaboration graphs,
which are unions of cliques, the bound is often the optimum itself. On dense graphs large cliques are taken out one by one as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.degeneracy import removal_order
from solvers.graphs.peeled_cliques import peeled_cliques


@dataclass(frozen=True, eq=False)
class CliquePartition:
    """Cliques that share out the vertices.

    Attributes
    ----------
    clique_of : int32 array of shape (n,)
    num_cliques : int
    upper_bound : int
        The sum of the heaviest vertices of the cliques: no independent set weighs more.
    """

    clique_of: np.ndarray
    num_cliques: int
    upper_bound: int

    def cliques(self) -> list[list[int]]:
        """Return the vertices of each clique, in increasing order."""
        order = np.argsort(self.clique_of, kind="stable")
        ends = np.cumsum(np.bincount(self.clique_of, minlength=self.num_cliques))
        return [clique.tolist() for clique in np.split(order, ends[:-1])] if self.num_cliques else []


def clique_partition(csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> CliquePartition:
    """Return the best partition of those that are tried.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
    stop : callable
        Asked between the attempts; once true, those that are left are not tried.

    Notes
    -----
    O(n + m) for each order. See :mod:`solvers.graphs.peeled_cliques` for the large cliques.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> bow_tie = build_csr(5, [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [2, 4]], [1] * 6)
    >>> partition = clique_partition(bow_tie, np.ones(5, np.int64))
    >>> partition.upper_bound, partition.cliques()
    (2, [[0, 1, 2], [3, 4]])
    """
    weights = np.require(vertex_weights, np.int64, ["C", "W"])
    orders: list[Callable[[], np.ndarray]] = [
        lambda: np.argsort(np.diff(csr.indptr), kind="stable").astype(np.int32),
        lambda: np.arange(csr.num_vertices, dtype=np.int32),
        lambda: removal_order(csr)[::-1].copy(),
    ]
    best: CliquePartition | None = None
    for order in orders:
        if best is not None and stop():
            break
        clique_of, num_cliques, bound = _gather(csr.indptr, csr.indices, weights, order())
        if best is None or bound < best.upper_bound:
            best = CliquePartition(clique_of, num_cliques, bound)
    assert best is not None
    peeled = peeled_cliques(csr, weights, stop=stop)
    if peeled is None:
        return best
    heaviest = np.zeros(csr.num_vertices, np.int64)
    np.maximum.at(heaviest, peeled, weights)
    bound = int(heaviest.sum())
    return CliquePartition(peeled, int(peeled.max()) + 1, bound) if bound < best.upper_bound else best


@njit(cache=True, nogil=True)
def _gather(indptr, indices, weights, order):  # type: ignore[no-untyped-def]
    n = order.shape[0]
    clique_of = np.full(n, -1, np.int32)
    size, joined, heaviest = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int64)
    num_cliques = 0
    for v in order:
        chosen = num_cliques
        for slot in range(indptr[v], indptr[v + 1]):
            clique = clique_of[indices[slot]]
            if clique < 0:
                continue
            joined[clique] += 1
            if joined[clique] < size[clique]:
                continue
            if chosen == num_cliques or (size[clique], -clique) > (size[chosen], -chosen):
                chosen = clique
        for slot in range(indptr[v], indptr[v + 1]):
            if clique_of[indices[slot]] >= 0:
                joined[clique_of[indices[slot]]] = 0
        if chosen == num_cliques:
            num_cliques += 1
        clique_of[v] = chosen
        size[chosen] += 1
        heaviest[chosen] = max(heaviest[chosen], weights[v])
    return clique_of, num_cliques, heaviest.sum()
