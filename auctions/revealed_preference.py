"""What a bidder's answers say of its values: whether any value explains them, and between which bounds the value of a bundle lies.

Bundles that were named, and the empty one, are the nodes of a graph; an edge from a to b of length l says v(b) <= v(a) + l. A demand x at
prices p gives edges from x to every y of length p.(y - x), for y was not preferred. A value v of y gives an edge from the empty bundle to
y of length v, and one back of length -v. Free disposal gives an edge of length 0 from a bundle to every part of it. Shortest paths are then
the tightest bounds that follow from the answers: v(y) is at most the distance from the empty bundle to y, and at least minus the distance
back. A cycle of negative length means that no monotone value explains the answers; its edges say which of them contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles, validate_bundles, validate_capacities
from solvers.operation import InvalidInput

DemandAnswers = Sequence[tuple[ArrayLike, ArrayLike]]
"""Prices of a unit of each good, and the bundle chosen at them."""

ValueAnswers = Sequence[tuple[ArrayLike, float]]
"""A bundle and its value."""


ROUNDING = 1e-13
"""Relative to the largest length: the least by which edges are made longer."""


class Answer(NamedTuple):
    """Where an edge comes from.

    Attributes
    ----------
    kind : {"demand", "value", "free_disposal"}
    number : int, optional
        Among the answers of its kind.
    """

    kind: Literal["demand", "value", "free_disposal"]
    number: int | None


class CycleEdge(NamedTuple):
    """A step of a contradiction: v(target) <= v(source) + length, by an answer."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    length: float
    answer: Answer


@dataclass(frozen=True, slots=True)
class RpReport:
    """What some answers say.

    Attributes
    ----------
    consistent : bool
        Whether a monotone value explains all answers.
    cycle : tuple of CycleEdge, optional
        Otherwise, answers that contradict each other: the lengths add up to less than 0.
    lower, upper : float arrays, optional
        Of the bundles asked about, if the answers are consistent; infinite where nothing limits a value.
    """

    consistent: bool
    cycle: tuple[CycleEdge, ...] | None
    lower: NDArray[np.float64] | None
    upper: NDArray[np.float64] | None


def revealed_preference_bounds(
    demand_answers: DemandAnswers,
    value_answers: ValueAnswers,
    capacities: ArrayLike,
    bundles: ArrayLike = (),
    *,
    tolerance: float = 1e-9,
) -> RpReport:
    """Return whether some answers of one bidder are consistent, and bounds of its values.

    Parameters
    ----------
    demand_answers : sequence of (prices, bundle)
    value_answers : sequence of (bundle, value)
    capacities : sequence of int
    bundles : array of shape (n, n_goods)
        Asked about.
    tolerance : float
        Relative to the largest length of an edge, at least 1: a cycle that is negative by more is always flagged, one that is negative by
        less than its share for each of its edges never.

    Returns
    -------
    RpReport

    Raises
    ------
    InvalidInput
        If a bundle, a price or a value is not valid.

    Notes
    -----
    O(N^3) for N different bundles in the answers, O(N) for each that is asked about: such a bundle is never on the way to another.

    Examples
    --------
    >>> report = revealed_preference_bounds([([2.0, 3.0], [1, 0])], [([1, 1], 6.0)], [1, 1], [[1, 0], [0, 1]])
    >>> report.lower.tolist(), report.upper.tolist()
    ([3.0, 0.0], [6.0, 6.0])
    """
    supply = validate_capacities(capacities)
    graph = _Graph.of(demand_answers, value_answers, supply)
    asked = validate_bundles(bundles, supply)
    scale = max(1.0, float(np.abs(graph.lengths[np.isfinite(graph.lengths)]).max(initial=0.0)))
    # Each edge a little longer: else cycles of length 0, of which truthful answers are full, would be walked again and again for the sake
    # of their rounding errors.
    distances = graph.lengths + max(tolerance / len(graph.nodes), ROUNDING) * scale
    following = np.where(np.isfinite(distances), np.arange(len(distances)), -1)
    start = _shortest_paths(distances, following)
    if start >= 0:
        return RpReport(False, graph.cycle(following, start), None, None)
    from_nothing, to_nothing = _lengths_of_ways(graph.lengths, following)
    return RpReport(True, None, graph.lower(asked, to_nothing), graph.upper(asked, from_nothing))


@dataclass(frozen=True, slots=True)
class _Graph:
    """Nodes, the empty bundle first, and the shortest edge between any two with where it comes from."""

    nodes: Bundles
    demanded: Bundles
    prices: NDArray[np.float64]
    lengths: NDArray[np.float64]
    sources: NDArray[np.int64]
    n_answers: int

    @classmethod
    def of(cls, demand_answers: DemandAnswers, value_answers: ValueAnswers, supply: NDArray[np.int64]) -> _Graph:
        n_goods = len(supply)
        demanded = validate_bundles([bundle for _, bundle in demand_answers], supply, pointer="/demand", member="/bundle")
        prices = _checked_prices([prices for prices, _ in demand_answers], n_goods)
        valued = validate_bundles([bundle for bundle, _ in value_answers], supply, pointer="/value", member="/bundle")
        values = _checked_values([value for _, value in value_answers])
        nodes = np.unique(
            np.vstack((np.zeros((1, n_goods), dtype=np.int64), demanded, valued)), axis=0
        )  # the empty one is the first
        place = {tuple(node): k for k, node in enumerate(nodes.tolist())}
        n_answers = len(prices) + len(values)

        within = (nodes[None, :, :] <= nodes[:, None, :]).all(axis=2)
        lengths = np.where(within, 0.0, np.inf)
        sources = np.full(lengths.shape, n_answers)
        charged = prices @ nodes.T
        for answer, bundle in enumerate(demanded.tolist()):
            origin = place[tuple(bundle)]
            row = charged[answer] - charged[answer, origin]
            is_shorter = row < lengths[origin]
            lengths[origin, is_shorter], sources[origin, is_shorter] = row[is_shorter], answer
        for answer, (bundle, value) in enumerate(zip(valued.tolist(), values.tolist(), strict=True), start=len(prices)):
            node = place[tuple(bundle)]
            for origin, target, length in ((0, node, value), (node, 0, -value)):
                if length < lengths[origin, target]:
                    lengths[origin, target], sources[origin, target] = length, answer
        return cls(nodes, demanded, prices, lengths, sources, n_answers)

    def upper(self, asked: Bundles, from_nothing: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distance from the empty bundle to each that is asked about."""
        place = {tuple(node): k for k, node in enumerate(self.nodes.tolist())}
        reached = from_nothing[[place[tuple(bundle)] for bundle in self.demanded.tolist()]] - (self.prices * self.demanded).sum(
            axis=1
        )
        bounds: NDArray[np.float64] = (asked @ self.prices.T + reached).min(axis=1, initial=np.inf)
        for node, distance in zip(self.nodes, from_nothing, strict=True):
            bounds = np.where((asked <= node).all(axis=1), np.minimum(bounds, distance), bounds)
        return bounds

    def lower(self, asked: Bundles, to_nothing: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the distance from each bundle that is asked about to the empty one."""
        bounds: NDArray[np.float64] = np.zeros(len(asked))
        for node, distance in zip(self.nodes, to_nothing, strict=True):
            bounds = np.where((asked >= node).all(axis=1), np.maximum(bounds, 0.0 - distance), bounds)
        return bounds

    def cycle(self, following: NDArray[np.int64], start: int) -> tuple[CycleEdge, ...]:
        """Return the edges on the way from a node back to itself."""
        edges, here = [], start
        while True:
            there = int(following[here, start])
            edges.append(self._edge(here, there))
            here = there
            if here == start:
                return tuple(edges)

    def _edge(self, origin: int, target: int) -> CycleEdge:
        answer = int(self.sources[origin, target])
        if answer < len(self.prices):
            came_from = Answer("demand", answer)
        elif answer < self.n_answers:
            came_from = Answer("value", answer - len(self.prices))
        else:
            came_from = Answer("free_disposal", None)
        length = float(self.lengths[origin, target])
        return CycleEdge(tuple(self.nodes[origin].tolist()), tuple(self.nodes[target].tolist()), length, came_from)


def _checked_prices(rows: Sequence[ArrayLike], n_goods: int) -> NDArray[np.float64]:
    prices = np.zeros((len(rows), n_goods))
    for answer, row in enumerate(rows):
        pointer = f"/demand/{answer}/prices"
        try:
            numbers = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput("prices must be numbers", pointer=pointer) from error
        if numbers.shape != (n_goods,):
            raise InvalidInput(f"there must be one price for each of {n_goods} goods", pointer=pointer)
        wrong = ~(np.isfinite(numbers) & (numbers >= 0))
        if wrong.any():
            good = int(np.argmax(wrong))
            raise InvalidInput(
                f"the price of good {good} is {numbers[good]:g}, but must be finite and not negative", pointer=f"{pointer}/{good}"
            )
        prices[answer] = numbers
    return prices


def _checked_values(values: Sequence[float]) -> NDArray[np.float64]:
    for answer, value in enumerate(values):
        if not isinstance(value, int | float | np.number) or not (np.isfinite(value) and value >= 0):
            raise InvalidInput(f"the value {value!r} is not a finite number of at least 0", pointer=f"/value/{answer}/value")
    return np.array(values, dtype=np.float64)


@njit(cache=True, nogil=True)
def _shortest_paths(distances, following):  # type: ignore[no-untyped-def]
    """Fill in all distances, and the first step of each way; return a node on a negative cycle, or -1 (Floyd and Warshall)."""
    n = len(distances)
    for k in range(n):
        if distances[k, k] < 0:
            return k
        for i in range(n):
            if distances[i, k] == np.inf:
                continue
            for j in range(n):
                through = distances[i, k] + distances[k, j]
                if through >= distances[i, j]:
                    continue
                distances[i, j] = through
                following[i, j] = following[i, k]
                if i == j and through < 0:
                    return i
    return -1


@njit(cache=True, nogil=True)
def _lengths_of_ways(lengths, following):  # type: ignore[no-untyped-def]
    """Return how long the ways found from node 0 to all, and back, are by the lengths themselves."""
    n = len(lengths)
    there, back = np.full(n, np.inf), np.full(n, np.inf)
    for node in range(n):
        for origin, target, found in ((0, node, there), (node, 0, back)):
            if following[origin, target] < 0:
                continue
            here, total = origin, 0.0
            while True:
                step = following[here, target]
                total += lengths[here, step]
                here = step
                if here == target:
                    break
            found[node] = total
    return there, back
