"""A partition of the vertices into few cliques: no independent set holds more than one vertex of each.

Vertices come in some order, each joining the largest clique that it is completely joined to, or else founding one. Three orders are
tried: ascending degree, by number, and the reverse of the order in which vertices of least degree leave. Then the vertices are
gathered again and again, clique by clique of the partition before, the largest first, the last first, or in random order: cliques
that were founded late get a chance to be filled early. On collaboration graphs, which are unions of cliques, and on constraint graphs,
where the values of a variable are one, the bound is often the optimum itself.

References
----------
J. C. Culberson, F. Luo, "Exploring the k-colorable landscape with iterated greedy", DIMACS Series 26 (1996); here on the complement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.degeneracy import removal_order

# How often the vertices are gathered again: so often for each, but no more than so often, and for at most so many vertices and
# entries of the adjacency, some tenths of a second.
ROUNDS_PER_VERTEX, MOST_ROUNDS, MOST_WORK = 5, 1000, 20_000_000


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
    """Return the best partition that is found.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
    stop : callable
        Asked before every attempt but the first.

    Notes
    -----
    O(n + m) for each order.

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
    best = _gathered(csr, weights, orders[0]())
    for order in orders[1:]:
        if stop():
            return best
        best = _better(best, _gathered(csr, weights, order()))
    latest = best
    rng = np.random.default_rng(0)
    for number in range(
        min(MOST_ROUNDS, ROUNDS_PER_VERTEX * csr.num_vertices, MOST_WORK // (csr.num_vertices + len(csr.indices) + 1))
    ):
        if stop():
            break
        ranks = _ranks(latest, number, rng)
        shuffled = np.lexsort((rng.random(csr.num_vertices), ranks[latest.clique_of]))
        latest = _gathered(csr, weights, shuffled.astype(np.int32))
        best = _better(best, latest)
    return best


def _gathered(csr: Csr, weights: np.ndarray, order: np.ndarray) -> CliquePartition:
    return CliquePartition(*_gather(csr.indptr, csr.indices, weights, order))


def _better(best: CliquePartition, other: CliquePartition) -> CliquePartition:
    return other if other.upper_bound < best.upper_bound else best


def _ranks(partition: CliquePartition, number: int, rng: np.random.Generator) -> np.ndarray:
    """Return the place of every clique: in turn the largest first, the last first, and as chance has it."""
    match number % 3:
        case 0:
            sizes = np.bincount(partition.clique_of, minlength=partition.num_cliques)
            ranks = np.empty(partition.num_cliques, np.int64)
            ranks[np.argsort(-sizes, kind="stable")] = np.arange(partition.num_cliques)
            return ranks
        case 1:
            return np.arange(partition.num_cliques)[::-1]
        case _:
            return rng.permutation(partition.num_cliques)


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
