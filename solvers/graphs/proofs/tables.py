"""The optimum of a graph, computed again: by tables along an order of elimination, or by trying every cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, integers, member

LARGEST_WIDTH = 20
MOST_LIVE_ENTRIES = 2**27
LARGEST_ENUMERATED = 25
INNER_VERTICES = 16
LARGEST_EXACT_SUM = 2**61

Table = tuple[list[int], np.ndarray]


def elimination_optimum(instance: ProofInstance, certificate: dict[str, Any], stop: Callable[[], bool]) -> int:
    """Return the value of the largest cut, by dynamic programming along the certificate's order.

    Eliminating a vertex leaves a table over its scope, the neighbours that come later, its own or inherited from tables it was
    in: for each way to place them, the most that all that is eliminated into the table can add.
    """
    n = instance.num_vertices
    _, edges = in_order(instance, certificate)
    later: list[dict[int, int]] = [{} for _ in range(n)]
    for first, second, weight in zip(*edges.T.tolist(), instance.weights.tolist(), strict=True):
        later[first][second] = weight
    scopes = scopes_of(neighbours.keys() for neighbours in later)

    inbox: list[list[Table]] = [[] for _ in range(n)]
    optimum = 0
    for vertex, scope in enumerate(scopes):
        if stop():
            raise Refused("time was up before the tables were computed")
        table = _maximised(scope, [later[vertex].get(other, 0) for other in scope], inbox[vertex])
        inbox[vertex] = []
        if scope:
            inbox[scope[0]].append((scope, table))
        else:
            optimum += int(table)
    return optimum


def in_order(instance: ProofInstance, certificate: dict[str, Any]) -> tuple[list[int], np.ndarray]:
    """Return the order of a certificate, and the edges between places in it, the earlier first; refuse what cannot be tabulated."""
    n = instance.num_vertices
    order = integers(member(certificate, "order"), "order", 0, n - 1)
    if len(order) != n or len(set(order)) != n:
        raise Refused(f"order must name each of the {n} vertices once")
    require_countable(instance.weights)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    return order, np.sort(place[instance.edges], axis=1)


def scopes_of(later: Iterable[Set[int]]) -> list[list[int]]:
    """Return the scope of every vertex in increasing order, given the neighbours that come later in the order of elimination.

    Refuses if one is too wide, or the tables too large together.
    """
    neighbours_of = list(later)
    inherited: list[set[int]] = [set() for _ in neighbours_of]
    received = [0] * len(neighbours_of)
    scopes = []
    live = 0
    for vertex, neighbours in enumerate(neighbours_of):
        scope = inherited[vertex] | neighbours
        scope.discard(vertex)
        if len(scope) > LARGEST_WIDTH:
            raise Refused(f"the order is {len(scope)} wide; at most {LARGEST_WIDTH} is checked")
        inherited[vertex] = set()
        live += 2 ** len(scope)
        if live > MOST_LIVE_ENTRIES:
            raise Refused("the order's tables are too large")
        live -= received[vertex]
        if scope:
            inherited[min(scope)] |= scope
            received[min(scope)] += 2 ** len(scope)
        scopes.append(sorted(scope))
    return scopes


def require_countable(weights: np.ndarray) -> None:
    """Refuse weights whose sums may not fit 64 bits."""
    if np.abs(weights.astype(np.float64)).sum() > LARGEST_EXACT_SUM:
        raise Refused("the weights are too large to be added up exactly")


def _maximised(scope: list[int], weights: list[int], tables: list[Table]) -> np.ndarray:
    """Return the table over the scope of a vertex: the better of its two sides, for each way to place the scope."""
    on_zero = np.zeros((), dtype=np.int64)
    for weight in weights:
        on_zero = np.add.outer(on_zero, np.array([0, weight], dtype=np.int64))
    on_one = sum(weights) - on_zero
    for table_scope, table in tables:
        # The vertex comes first in the scopes of the tables that it receives.
        shape = tuple(2 if other in table_scope else 1 for other in scope)
        on_zero += table[0].reshape(shape)
        on_one += table[1].reshape(shape)
    return np.maximum(on_zero, on_one)


def enumerated_optimum(instance: ProofInstance, stop: Callable[[], bool]) -> int:
    """Return the value of the largest cut of a graph of at most 25 vertices, by trying all."""
    n = instance.num_vertices
    if n > LARGEST_ENUMERATED:
        raise Refused(f"{n} vertices are too many to enumerate; at most {LARGEST_ENUMERATED}")
    require_countable(instance.weights)
    adjacency = np.zeros((n, n), dtype=np.int64)
    us, vs = instance.edges.T
    adjacency[us, vs] = adjacency[vs, us] = instance.weights
    inner = min(n, INNER_VERTICES)
    within = np.zeros(1, dtype=np.int64)
    for vertex in range(inner):
        to_ones = _sums(adjacency[vertex, :vertex])
        # Vertex on side 0: cut to the ones among those before it; on side 1: to the zeros.
        within = np.concatenate((within + to_ones, within + adjacency[vertex, :vertex].sum() - to_ones))
    optimum = 0
    # A cut and its complement are worth the same: the last vertex may stay on side 0.
    for outer in range(2 ** max(0, n - inner - 1)):
        if outer % 16 == 0 and stop():
            raise Refused("time was up before all cuts were tried")
        ones = np.array([(outer >> bit) & 1 for bit in range(n - inner)], dtype=np.int64)
        pull = adjacency[:inner, inner:]
        weight_to_ones, weight_to_zeros = pull @ ones, pull @ (1 - ones)
        among = int(ones @ adjacency[inner:, inner:] @ (1 - ones))
        cuts = within + _sums(weight_to_zeros - weight_to_ones)
        optimum = max(optimum, int(cuts.max()) + int(weight_to_ones.sum()) + among)
    return optimum


def _sums(terms: np.ndarray) -> np.ndarray:
    """Return the sums of all subsets of `terms`; bit i of the index says whether term i is in."""
    sums = np.zeros(1, dtype=np.int64)
    for term in terms:
        sums = np.concatenate((sums, sums + term))
    return sums
