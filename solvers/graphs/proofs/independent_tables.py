"""The heaviest independent set of a graph, computed again: by tables along an order of elimination, or by trying every set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused
from solvers.graphs.proofs.tables import INNER_VERTICES, LARGEST_ENUMERATED, Table, in_order, require_countable, scopes_of


def eliminated_optimum(instance: ProofInstance, certificate: dict[str, Any], stop: Callable[[], bool]) -> int:
    """Return the weight of the heaviest independent set, by dynamic programming along the certificate's order.

    Eliminating a vertex leaves a table over its scope, the neighbours that come later, its own or inherited from tables it was in:
    for each choice among them, the most that all that is eliminated into the table can add. Choices that hold both ends of an edge
    are allowed until the first of them is eliminated.
    """
    n = instance.num_vertices
    order, edges = in_order(instance, certificate)
    later: list[set[int]] = [set() for _ in range(n)]
    for first, second in edges.tolist():
        later[first].add(second)
    scopes = scopes_of(later)

    inbox: list[list[Table]] = [[] for _ in range(n)]
    optimum = 0
    for vertex, scope in enumerate(scopes):
        if stop():
            raise Refused("time was up before the tables were computed")
        weight = int(instance.weights[order[vertex]])
        table = _maximised(weight, scope, later[vertex], inbox[vertex])
        inbox[vertex] = []
        if scope:
            inbox[scope[0]].append((scope, table))
        else:
            optimum += int(table)
    return optimum


def _maximised(weight: int, scope: list[int], neighbours: set[int], tables: list[Table]) -> np.ndarray:
    """Return the table over the scope of a vertex: with it where no neighbour is chosen, or without it, whichever is more."""
    without = np.zeros((2,) * len(scope), dtype=np.int64)
    chosen = np.full((2,) * len(scope), weight, dtype=np.int64)
    for table_scope, table in tables:
        # The vertex comes first in the scopes of the tables that it receives.
        shape = tuple(2 if other in table_scope else 1 for other in scope)
        without += table[0].reshape(shape)
        chosen += table[1].reshape(shape)
    is_free = tuple(0 if other in neighbours else slice(None) for other in scope)
    without[is_free] = np.maximum(without[is_free], chosen[is_free])
    return without


def tried_optimum(instance: ProofInstance, stop: Callable[[], bool]) -> int:
    """Return the weight of the heaviest independent set of a graph of at most 25 vertices, by trying all."""
    n = instance.num_vertices
    if n > LARGEST_ENUMERATED:
        raise Refused(f"{n} vertices are too many to enumerate; at most {LARGEST_ENUMERATED}")
    require_countable(instance.weights)
    weights = instance.weights.tolist()
    adjacency = [0] * n
    for u, v in instance.edges.tolist():
        adjacency[u] |= 1 << v
        adjacency[v] |= 1 << u

    inner = min(n, INNER_VERTICES)
    everything = (1 << inner) - 1
    # The heaviest independent set within each set of inner vertices, one vertex at a time.
    best = np.zeros(1, dtype=np.int64)
    for vertex in range(inner):
        rest = np.arange(len(best)) & ~(adjacency[vertex] & everything)
        best = np.concatenate((best, np.maximum(best, weights[vertex] + best[rest])))

    optimum = 0
    for code in range(1 << (n - inner)):
        if code % 16 == 0 and stop():
            raise Refused("time was up before all sets were tried")
        chosen = [vertex for vertex in range(inner, n) if code >> (vertex - inner) & 1]
        blocked = 0
        for vertex in chosen:
            blocked |= adjacency[vertex]
        if blocked >> inner & code == 0:
            optimum = max(optimum, int(best[everything & ~blocked]) + sum(weights[vertex] for vertex in chosen))
    return optimum
