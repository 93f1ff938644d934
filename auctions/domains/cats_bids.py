"""The map of CATS regions and the bids that grow on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.json_reader import Reader
from auctions.domains.lsvm_table import around
from solvers.operation import InvalidInput

POWER = 1.2

MOST_DIAGONALS = 4

MOST_DRAWS = 10_000

Bid = tuple[tuple[int, ...], float]


@dataclass(frozen=True)
class Map:
    """Goods on a map: which are neighbours, and what each is worth to everybody."""

    rows: int
    columns: int
    edges: tuple[tuple[int, int], ...]
    common: NDArray[np.float64]
    quadratic: bool

    @classmethod
    def draw(
        cls,
        rows: int,
        columns: int,
        common: tuple[float, float],
        remove_edge: float,
        add_diagonal: float,
        quadratic: bool,
        generator: np.random.Generator,
    ) -> Map:
        """Draw a map: a grid in which inner goods may lose an edge and get diagonals (north-west, north-east, south-east, south-west)."""
        edges = {(good, other) for good in range(rows * columns) for other in around(good, rows, columns) if good < other}
        for row in range(1, rows - 1):
            for column in range(1, columns - 1):
                good = row * columns + column
                if generator.random() < remove_edge:
                    incident = sorted(edge for edge in edges if good in edge)
                    if incident:
                        edges.remove(incident[int(generator.integers(len(incident)))])
                diagonals = [(-1, -1), (-1, 1), (1, 1), (1, -1)][:MOST_DIAGONALS]
                for by_row, by_column in diagonals:
                    if generator.random() > add_diagonal:
                        break
                    other = (row + by_row) * columns + column + by_column
                    edges.add((min(good, other), max(good, other)))
        values = generator.uniform(common[0], common[1], rows * columns)
        return cls(rows, columns, tuple(sorted(edges)), values, quadratic)

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """The neighbours of each good, ascending."""
        lists: list[list[int]] = [[] for _ in range(self.rows * self.columns)]
        for one, other in self.edges:
            lists[one].append(other)
            lists[other].append(one)
        return [sorted(near) for near in lists]

    def values(self, private: NDArray[np.float64], bundles: Bundles) -> NDArray[np.float64]:
        """Return what each bundle is worth by the formula; it may be negative."""
        added = (bundles * (self.common + private)).sum(axis=1)
        if self.quadratic:
            return np.asarray(added + (bundles * self.common**2).sum(axis=1))
        return np.asarray(added + bundles.sum(axis=1) ** POWER)

    def value_of(self, private: NDArray[np.float64], goods: list[int]) -> float:
        """Return what some goods are worth together by the formula."""
        bundle = np.zeros((1, len(self.common)), dtype=np.int64)
        bundle[0, goods] = 1
        return float(self.values(private, bundle)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON."""
        return {
            "rows": self.rows,
            "columns": self.columns,
            "edges": [list(edge) for edge in self.edges],
            "common": self.common.tolist(),
            "quadratic": self.quadratic,
        }

    @classmethod
    def read(cls, world: Reader) -> Map:
        """Read a map from its JSON."""
        rows, columns = (world[side].integer(least=1, most=1000) for side in ("rows", "columns"))
        edges = []
        for edge in world["edges"].items():
            one, other = edge.integers(length=2, least=0, most=rows * columns - 1)
            if one == other:
                raise edge.fault("joins a good to itself")
            edges.append((min(one, other), max(one, other)))
        quadratic = world.get("quadratic")
        common = world["common"].numbers(length=rows * columns, least=0.0)
        return cls(rows, columns, tuple(edges), common, quadratic is not None and quadratic.boolean())


def grow_bids(
    world: Map,
    private: NDArray[np.float64],
    add_good: float,
    jump: float,
    budget: float,
    resale: float,
    substitutes: int,
    generator: np.random.Generator,
) -> list[Bid]:
    """Return a bidder's XOR bids: the first one and its best substitutes.

    Raises
    ------
    InvalidInput
        No bid of value 0 or more was found in `MOST_DRAWS` draws.
    """
    weights = private - private.min()
    for _ in range(MOST_DRAWS):
        first = [_pick(list(range(len(weights))), weights, generator)]
        while len(first) < len(weights) and generator.random() <= add_good:
            first.append(_next_good(world, first, weights, jump, generator))
        value = world.value_of(private, first)
        if value >= 0:
            break
    else:
        raise InvalidInput(f"no bid of a bidder is worth 0 or more in {MOST_DRAWS} draws", pointer="/parameters")

    bids: list[Bid] = [(tuple(sorted(first)), value)]
    found: dict[tuple[int, ...], float] = {}
    least = resale * float(world.common[first].sum())
    for good in first if len(first) > 1 else []:
        grown = [good]
        while len(grown) < len(first):
            grown.append(_next_good(world, grown, weights, jump, generator))
        worth = world.value_of(private, grown)
        items = tuple(sorted(grown))
        if 0 <= worth <= budget * value and world.common[grown].sum() >= least and items != bids[0][0]:
            found[items] = worth
    return bids + sorted(found.items(), key=lambda bid: (-bid[1], bid[0]))[:substitutes]


def _next_good(world: Map, goods: list[int], weights: NDArray[np.float64], jump: float, generator: np.random.Generator) -> int:
    near = sorted({other for good in goods for other in world.neighbours[good]} - set(goods))
    if not near or generator.random() <= jump:
        others = sorted(set(range(len(weights))) - set(goods))
        return others[int(generator.integers(len(others)))]
    return _pick(near, weights, generator)


def _pick(goods: list[int], weights: NDArray[np.float64], generator: np.random.Generator) -> int:
    """Return one of some goods, each with a chance in proportion to its weight."""
    sums = np.cumsum(weights[goods])
    if sums[-1] <= 0.0:
        return goods[int(generator.integers(len(goods)))]
    return goods[min(int(np.searchsorted(sums, generator.random() * sums[-1], side="right")), len(goods) - 1)]
