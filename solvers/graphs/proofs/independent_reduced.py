"""Reductions of independent set replayed: vertices leave or merge, and the heaviest independent set changes by a known constant.

Each step is ``[rule, v, ...]`` with the vertices that the rule speaks of; w is the weight of a vertex at that time, N(v) its
neighbours, N[v] those and itself.

- ``weightless``: w(v) = 0, so that v leaves.
- ``degree_0``, ``degree_1``, ``degree_2_triangle``: N(v) is what is named, all joined to each other. A heaviest set holds one of N[v],
  so that w(v) is gained, v leaves, and each neighbour is worth w(v) less; one that is then worth nothing leaves.
- ``fold``: N(v) = {a, b}, not joined, neither heavier than v. A heaviest set holds v or both, so that w(v) is gained and v stays
  for "both", worth w(a) + w(b) - w(v) and joined to what either was; if that is nothing, all three leave.
- ``domination`` and ``unconfined``: v and a chain of vertices u. Suppose that every heaviest set holds S, at first {v}. Each u is
  joined to S and weighs no less than N(u) & S, in whose place it could come unless a neighbour of it outside N[S] is taken. If the
  last u has no such neighbour, that is a contradiction, and v leaves; each u before has one, which therefore belongs to S.
- ``twin`` with two vertices: N(u) = N(v), not joined; v stays for both. With three more: these are N(u) = N(v), and all five weigh
  the same. If two of the three are joined, u and v are taken; else v stays for the three, and 2 w(v) is gained.
- ``nt`` with triples v, u, amount: the u have no neighbours but the v. Up to one common factor, each v receives its weight
  from the u that it is joined to, and no u gives more than its weight; so the u, exchanged for whatever is held of the v, lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, member

WORK_BETWEEN_LOOKS = 100_000

NAMED_BY_RULE = {
    "weightless": (1,),
    "degree_0": (1,),
    "degree_1": (2,),
    "degree_2_triangle": (3,),
    "fold": (3,),
    "domination": (2,),
    "twin": (2, 5),
}


def replay_on_sets(
    instance: ProofInstance, certificate: dict[str, Any], stop: Callable[[], bool]
) -> tuple[ProofInstance, Fraction]:
    """Return the kernel that the certificate's steps lead to, and the constant, each step's premise having been tested.

    Vertices of the kernel are numbered in the order of their original numbers, its edges sorted by their ends, the lesser first.
    """
    steps = member(certificate, "steps")
    if not isinstance(steps, list):
        raise Refused("steps must be a list")
    graph = _Graph(instance, stop)
    for number, step in enumerate(steps):
        try:
            graph.apply(step)
        except _Unfounded as fault:
            raise Refused(f"step {number}: {fault}") from None
    return graph.kernel(instance.exponent), Fraction(graph.constant)


class _Unfounded(Exception):
    """The premise of a step does not hold; says what is wrong."""


class _Neighbours:
    """Who is joined to whom; an edge goes when an end leaves, and not before.

    Most vertices of a large graph are of no concern to any step: a row is read from the edges when it is first asked for.
    """

    def __init__(self, num_vertices: int, edges: np.ndarray) -> None:
        self._edges = edges
        rows = np.concatenate([edges[:, 0], edges[:, 1]])
        order = np.argsort(rows, kind="stable")
        self._columns = np.concatenate([edges[:, 1], edges[:, 0]])[order]
        self._starts = np.searchsorted(rows[order], np.arange(num_vertices + 1)).tolist()
        self._rows: dict[int, set[int]] = {}
        self._new_edges: list[tuple[int, int]] = []
        self._has_left: set[int] = set()

    def __getitem__(self, vertex: int) -> set[int]:
        row = self._rows.get(vertex)
        if row is None:
            row = set(self._columns[self._starts[vertex] : self._starts[vertex + 1]].tolist()) - self._has_left
            self._rows[vertex] = row
        return row

    def holds(self, vertex: int) -> bool:
        """Return whether there is such a vertex and it has not left."""
        return 0 <= vertex < len(self._starts) - 1 and vertex not in self._has_left

    def leave(self, vertex: int) -> int:
        """Take out a vertex that is there; return how many neighbours it had."""
        row = self[vertex]
        for neighbour in self._rows.keys() & row:
            self._rows[neighbour].discard(vertex)
        del self._rows[vertex]
        self._has_left.add(vertex)
        return len(row)

    def join(self, vertex: int, others: set[int]) -> None:
        """Join a vertex that has no neighbours to others."""
        for other in others:
            self[other].add(vertex)
            self._new_edges.append((vertex, other))
        self._rows[vertex] = others

    def what_is_left(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices in order, and the edges between their positions, sorted by their ends, the lesser first."""
        is_left = np.ones(len(self._starts) - 1, np.bool_)
        is_left[list(self._has_left)] = False
        vertices, position = np.flatnonzero(is_left), np.cumsum(is_left) - 1
        ends = np.concatenate([self._edges, np.array(self._new_edges, np.int64).reshape(-1, 2)])
        ends = np.sort(position[ends[is_left[ends].all(axis=1)]], axis=1)
        keys = np.sort(ends[:, 0] * len(vertices) + ends[:, 1])
        return vertices, np.column_stack(np.divmod(keys, max(1, len(vertices))))


class _Graph:
    """A graph that vertices leave, with what those are worth."""

    def __init__(self, instance: ProofInstance, stop: Callable[[], bool]) -> None:
        self.constant = 0
        self._neighbours = _Neighbours(instance.num_vertices, instance.edges)
        self._weights: list[int] = instance.weights.tolist()
        self._stop = stop
        self._work = 0

    def apply(self, step: Any) -> None:
        if not isinstance(step, list) or not step or not isinstance(step[0], str):
            raise _Unfounded("it must be a list that begins with a rule")
        rule, *numbers = step
        if not all(type(number) is int for number in numbers):
            raise _Unfounded("what follows the rule must be integers")
        if rule == "nt":
            self._exchange(numbers)
            return
        if rule != "unconfined" and len(numbers) not in NAMED_BY_RULE.get(rule, ()):
            raise _Unfounded(f"there is no rule {rule[:40]} that names {len(numbers)} vertices")
        if not numbers or (rule != "unconfined" and len(set(numbers)) < len(numbers)):
            raise _Unfounded("it names a vertex twice, or none")
        self._require_left(numbers)
        vertex, others = numbers[0], numbers[1:]
        match rule:
            case "weightless":
                if self._weights[vertex]:
                    raise _Unfounded(f"vertex {vertex} weighs something")
                self._leave(vertex)
            case "fold":
                self._fold(vertex, others)
            case "domination" | "unconfined":
                self._leave_unconfined(vertex, others)
            case "twin":
                self._join_twins(vertex, others[0], others[1:])
            case _:
                self._take_simplicial(vertex, others)

    def kernel(self, exponent: int) -> ProofInstance:
        vertices, edges = self._neighbours.what_is_left()
        return ProofInstance(len(vertices), edges, np.array(self._weights, dtype=np.int64)[vertices], exponent)

    def _take_simplicial(self, vertex: int, others: list[int]) -> None:
        self._require_neighbours(vertex, others)
        if len(others) == 2 and others[0] not in self._neighbours[others[1]]:
            raise _Unfounded(f"vertices {others[0]} and {others[1]} are not joined")
        weight = self._weights[vertex]
        self.constant += weight
        self._leave(vertex)
        for other in others:
            self._weights[other] -= weight
            if self._weights[other] <= 0:
                self._leave(other)

    def _fold(self, vertex: int, others: list[int]) -> None:
        self._require_neighbours(vertex, others)
        if others[0] in self._neighbours[others[1]]:
            raise _Unfounded(f"vertices {others[0]} and {others[1]} are joined")
        weight = self._weights[vertex]
        weights = [self._weights[other] for other in others]
        if max(weights) > weight:
            raise _Unfounded(f"vertex {vertex} weighs less than a neighbour")
        self.constant += weight
        if sum(weights) > weight:
            self._merge(vertex, others, sum(weights) - weight)
        else:
            for one in (vertex, *others):
                self._leave(one)

    def _leave_unconfined(self, vertex: int, chain: list[int]) -> None:
        if not chain:
            raise _Unfounded("the chain is empty")
        held = {vertex}
        closed = {vertex} | self._neighbours[vertex]
        for place, other in enumerate(chain):
            row = self._neighbours[other]
            self._spend(len(row))
            inner = row & held
            if other in held or not inner:
                raise _Unfounded(f"vertex {other} is not a neighbour of those that would be held")
            if self._weights[other] < sum(self._weights[one] for one in inner):
                raise _Unfounded(f"vertex {other} weighs less than what it would replace")
            outside = row - closed
            if len(outside) != (place < len(chain) - 1):
                raise _Unfounded(f"vertex {other} has {len(outside)} neighbours apart from those that would be held")
            for one in outside:
                held.add(one)
                closed.add(one)
                closed |= self._neighbours[one]
                self._spend(len(self._neighbours[one]))
        self._leave(vertex)

    def _join_twins(self, vertex: int, twin: int, three: list[int]) -> None:
        if self._neighbours[vertex] != self._neighbours[twin]:
            raise _Unfounded(f"vertices {vertex} and {twin} have different neighbours")
        self._spend(len(self._neighbours[vertex]))
        if not three:
            self._weights[vertex] += self._weights[twin]
            self._leave(twin)
            return
        self._require_neighbours(vertex, three)
        weight = self._weights[vertex]
        if any(self._weights[one] != weight for one in (twin, *three)):
            raise _Unfounded("the five do not weigh the same")
        self.constant += 2 * weight
        self._leave(twin)
        if any(self._neighbours[one] & set(three) for one in three):
            for one in (vertex, *three):
                self._leave(one)
        else:
            self._merge(vertex, three, weight)

    def _exchange(self, numbers: list[int]) -> None:
        if len(numbers) % 3:
            raise _Unfounded("nt needs triples of two vertices and an amount")
        given: dict[int, int] = {}
        received: dict[int, int] = {}
        for receiver, giver, amount in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            self._require_left([receiver, giver])
            if receiver not in self._neighbours[giver] or amount < 0:
                raise _Unfounded(f"vertex {receiver} cannot receive {str(amount)[:20]} from {giver}")
            given[giver] = given.get(giver, 0) + amount
            received[receiver] = received.get(receiver, 0) + amount
        for giver in given:
            self._spend(len(self._neighbours[giver]))
            if not self._neighbours[giver] <= received.keys():
                raise _Unfounded(f"vertex {giver} has a neighbour that receives nothing")
        if given.keys() & received.keys():
            raise _Unfounded("a vertex gives and receives")
        self._require_paid(given, received)
        for giver in given:
            self.constant += self._weights[giver]
            self._leave(giver)
        for receiver in received:
            self._leave(receiver)

    def _require_paid(self, given: dict[int, int], received: dict[int, int]) -> None:
        """Require that amounts are `amount` to `unit` of weight throughout, as the first vertex with weight to receive has it."""
        first = next((receiver for receiver in received if self._weights[receiver]), None)
        amount, unit = (1, 1) if first is None else (received[first], self._weights[first])
        if amount == 0:
            raise _Unfounded(f"vertex {first} receives nothing")
        for receiver, total in received.items():
            if total * unit != self._weights[receiver] * amount:
                raise _Unfounded(f"vertex {receiver} does not receive its weight")
        for giver, total in given.items():
            if total * unit > self._weights[giver] * amount:
                raise _Unfounded(f"vertex {giver} gives more than its weight")

    def _merge(self, vertex: int, others: list[int], weight: int) -> None:
        """Let `vertex` stay for its neighbours `others`, which are not joined to each other."""
        joined: set[int] = set()
        for other in others:
            joined |= self._neighbours[other]
            self._leave(other)
        joined.discard(vertex)
        self._spend(len(joined))
        self._neighbours.join(vertex, joined)
        self._weights[vertex] = weight

    def _leave(self, vertex: int) -> None:
        self._spend(self._neighbours.leave(vertex))

    def _require_left(self, vertices: list[int]) -> None:
        if not all(map(self._neighbours.holds, vertices)):
            raise _Unfounded("it names a vertex that is not there")

    def _require_neighbours(self, vertex: int, others: list[int]) -> None:
        if self._neighbours[vertex] != set(others):
            raise _Unfounded(f"vertex {vertex} has other neighbours than those named")

    def _spend(self, work: int) -> None:
        self._work += work + 1
        if self._work > WORK_BETWEEN_LOOKS:
            self._work = 0
            if self._stop():
                raise Refused("time was up before the steps were replayed")
