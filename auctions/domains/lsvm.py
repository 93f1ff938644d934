"""LSVM, the local synergy value model: licences on a grid, and a synergy for those that lie side by side.

Good row * columns + column is a cell of the grid. A national bidder is interested in all cells, a regional one in those within
distance 2 of its favourite. The cells of interest in a bundle fall into connected components K (by rows and columns): v(x) = sum
over K of factor(|K|) times the values in K, where factor(z) = 1 + a / (100 (1 + exp(b - z))).

`legacy=True` is the model as it was before SATS 0.7.0: components are formed from all licences of the bundle, and |K| counts them
all.

References
----------
T. Scheffel, A. Ziegler and M. Bichler, "On the impact of package selection in combinatorial auctions", Experimental Economics 15
(2012). M. Weiss, B. Lubin and S. Seuken, "SATS: A Universal Spectrum Auction Test Suite", AAMAS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.instance import Instance
from auctions.domains.json_reader import Reader, read_bidders
from auctions.domains.lsvm_allocation import LARGEST_GRID, allocate_by_subsets, economies_by_subsets
from auctions.domains.lsvm_mip import allocate_by_packing
from auctions.domains.lsvm_table import around, factors, neighbours, sums_of_sets, table_of_values, values_of_sets
from auctions.domains.parameters import Interval, check_size, checked_count, checked_interval, checked_number, checked_population
from auctions.domains.ranking import best
from auctions.domains.streams import Generator, SeedConvention, Source, Stream, drawn, open_streams
from auctions.outcome import AllocationResult, SearchLimits
from solvers.operation import TooLarge

# Above this many cells of a bidder no table is made for values alone.
TABLE_FOR_VALUES = 20

# How many sets of a table take the time of one bundle without it.
SETS_PER_BUNDLE = 20

TABLE_FOR_DEMAND = 24

# "auto" takes the dynamic programme up to this many cells of the grid.
PREFERRED_GRID = 20


@dataclass(frozen=True, slots=True)
class LsvmBidder:
    """A bidder of the model.

    Attributes
    ----------
    type : str
        "national" or "regional".
    items : tuple of int
        The cells of interest, ascending.
    values : tuple of float
        What each adds to a component before the factor.
    a, b : float
        Height and place of the factor's rise.
    favorite : int, optional
        The cell in the middle of a regional bidder's interest.
    """

    type: str
    items: tuple[int, ...]
    values: tuple[float, ...]
    a: float
    b: float
    favorite: int | None = None


class Lsvm(Instance):
    """An instance of the local synergy value model; :func:`lsvm` draws one."""

    domain: ClassVar[str] = "LSVM"

    def __init__(self, rows: int, columns: int, bidders: list[LsvmBidder], *, legacy: bool, source: Source) -> None:
        names = [f"row_{row}_column_{column}" for row in range(rows) for column in range(columns)]
        super().__init__(np.ones(rows * columns), names, [bidder.type for bidder in bidders], source)
        self.rows = rows
        self.columns = columns
        self.legacy = legacy
        self.bidders = tuple(bidders)
        self._tables: dict[int, NDArray[np.float64]] = {}

    def goods_of_interest(self, bidder: int) -> list[int]:
        super().goods_of_interest(bidder)
        return list(self.bidders[bidder].items)

    def cells(self, bidder: int) -> list[int]:
        """Return the cells that a bidder may be given, ascending."""
        return list(range(self.n_goods)) if self.legacy else list(self.bidders[bidder].items)

    def worth(self, bidder: int) -> NDArray[np.float64]:
        """Return what each of :meth:`cells` adds to a component before the factor."""
        owner = self.bidders[bidder]
        worth = np.zeros(self.n_goods)
        worth[list(owner.items)] = owner.values
        return worth[self.cells(bidder)]

    def factor(self, bidder: int) -> NDArray[np.float64]:
        """Return the factor of components of 0, 1, .. cells."""
        owner = self.bidders[bidder]
        return factors(owner.a, owner.b, len(self.cells(bidder)))

    def beside(self, bidder: int) -> NDArray[np.int64]:
        """Return the neighbours of each of :meth:`cells`, as places among them."""
        return neighbours(self.cells(bidder), self.rows, self.columns)

    def table(self, bidder: int) -> NDArray[np.float64]:
        """Return the value of every set of :meth:`cells`, indexed by its bit mask.

        Raises
        ------
        TooLarge
            There are more than 2^24 sets.
        """
        if bidder not in self._tables:
            cells = tuple(self.cells(bidder))
            if len(cells) > TABLE_FOR_DEMAND:
                raise TooLarge(f"bidder {bidder} may hold {len(cells)} cells; exact demand takes at most {TABLE_FOR_DEMAND}")
            self._tables[bidder] = table_of_values(cells, self.rows, self.columns, self.worth(bidder), self.factor(bidder))
        return self._tables[bidder]

    @property
    def methods(self) -> tuple[str, ...]:
        if self.n_goods > LARGEST_GRID:
            return ("mip",)
        return ("dp", "mip") if self.n_goods <= PREFERRED_GRID else ("mip", "dp")

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": "sats-instance/1",
            "domain": self.domain,
            "source": self.source.to_dict(),
            "world": {"rows": self.rows, "columns": self.columns, "legacy": self.legacy},
            "bidders": [
                {
                    "id": index,
                    "type": bidder.type,
                    "items": list(bidder.items),
                    "values": list(bidder.values),
                    "a": bidder.a,
                    "b": bidder.b,
                }
                | ({} if bidder.favorite is None else {"favorite": bidder.favorite})
                for index, bidder in enumerate(self.bidders)
            ],
        }

    @classmethod
    def read(cls, document: Reader) -> Lsvm:
        """Read an instance from its JSON."""
        world = document["world"]
        rows, columns = (world[side].integer(least=1, most=10_000) for side in ("rows", "columns"))
        legacy = world.get("legacy")
        readers = read_bidders(document)
        check_size(len(readers), rows * columns, pointer="/world")
        bidders = [_read_bidder(bidder, rows * columns) for bidder in readers]
        source = Source.from_dict(document.value.get("source"))
        return cls(rows, columns, bidders, legacy=legacy is not None and legacy.boolean(), source=source)

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        cells = self.cells(bidder)
        held = bundles[:, cells]
        # Both ways agree to the last bit; a table is worth its time for many bundles, or if it is there.
        if bidder in self._tables or (len(cells) <= TABLE_FOR_VALUES and 1 << len(cells) <= SETS_PER_BUNDLE * len(bundles)):
            return np.asarray(self.table(bidder)[held @ (1 << np.arange(len(cells)))])
        return np.asarray(values_of_sets(held > 0, self.beside(bidder), self.worth(bidder), self.factor(bidder)))

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        cells = self.cells(bidder)
        table = self.table(bidder)
        bits = np.arange(len(cells))

        def bundles_of(sets: NDArray[np.intp]) -> Bundles:
            bundles = np.zeros((len(sets), self.n_goods), dtype=np.int64)
            bundles[:, cells] = sets[:, None] >> bits & 1
            return bundles

        return bundles_of(best(table, table - sums_of_sets(prices[cells]), k, bundles_of))

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        allocate = allocate_by_subsets if method == "dp" else allocate_by_packing
        return allocate(self, bidders, search)

    def _economies(self, method: str, search: SearchLimits) -> list[AllocationResult]:
        return economies_by_subsets(self, search) if method == "dp" else super()._economies(method, search)


def lsvm(
    seed: int,
    n_national: int = 1,
    n_regional: int = 5,
    rows: int = 3,
    columns: int = 6,
    legacy: bool = False,
    rng: Generator = "java",
    seed_convention: SeedConvention = "pysats",
    population_seed: int | None = None,
    *,
    national_values: Interval = (3.0, 9.0),
    regional_values: Interval = (3.0, 20.0),
    national_a: float = 320,
    national_b: float = 10,
    regional_a: float = 160,
    regional_b: float = 4,
    distance: int = 2,
) -> Lsvm:
    """Draw an instance of the local synergy value model.

    Parameters
    ----------
    seed : int
        Signed 64 bits.
    n_national, n_regional : int
        Bidders of each type, in this order of ids.
    rows, columns : int
        Size of the grid.
    legacy : bool
        The model before SATS 0.7.0.
    rng, seed_convention, population_seed
        As for :func:`~auctions.domains.streams.open_streams`.
    national_values, regional_values : pair of float
        Of a cell of interest, uniform.
    national_a, national_b, regional_a, regional_b : float
        The factor of each type; a >= 0.
    distance : int
        How far a regional bidder's interest reaches.

    Examples
    --------
    >>> lsvm(1).goods_of_interest(1)
    [3, 4, 5, 10, 11, 17]
    """
    nationals, regionals = checked_population(n_national=n_national, n_regional=n_regional)
    rows, columns = checked_count("rows", rows, least=1), checked_count("columns", columns, least=1)
    check_size(nationals + regionals, rows * columns)
    reach = checked_count("distance", distance, most=rows + columns)
    intervals = {
        "national": checked_interval("national_values", national_values),
        "regional": checked_interval("regional_values", regional_values),
    }
    shapes = {
        "national": (checked_number("national_a", national_a, least=0.0), checked_number("national_b", national_b)),
        "regional": (checked_number("regional_a", regional_a, least=0.0), checked_number("regional_b", regional_b)),
    }

    streams = open_streams(seed, rng, seed_convention, population_seed)
    world = streams.world().stream()
    world.below(1), world.below(1)
    bidders = []
    for index in range(nationals + regionals):
        kind = "national" if index < nationals else "regional"
        supplier = streams.bidder(index)
        # A national bidder has no use for a favourite, but draws one: without it every later bidder would differ.
        favorite = _draw_cell(supplier.stream(), rows, columns)
        items = list(range(rows * columns)) if kind == "national" else _within(favorite, reach, rows, columns)
        low, high = intervals[kind]
        values = supplier.stream().uniforms([low] * len(items), high)
        order = np.argsort(items)
        bidders.append(
            LsvmBidder(
                type=kind,
                items=tuple(items[place] for place in order),
                values=tuple(values[order].tolist()),
                a=shapes[kind][0],
                b=shapes[kind][1],
                favorite=favorite if kind == "regional" else None,
            )
        )
    return Lsvm(rows, columns, bidders, legacy=bool(legacy), source=drawn(seed, rng, seed_convention, population_seed))


def _draw_cell(stream: Stream, rows: int, columns: int) -> int:
    row = stream.below(rows)
    return row * columns + stream.below(columns)


def _within(favorite: int, distance: int, rows: int, columns: int) -> list[int]:
    """Return the cells within a distance in the order in which they are reached, which is that of the draws."""
    found = [favorite]
    ring = [favorite]
    for _ in range(distance):
        reached = [cell for near in ring for cell in around(near, rows, columns)]
        ring = [cell for cell in dict.fromkeys(reached) if cell not in found]
        found += ring
    return found


def _read_bidder(bidder: Reader, n_cells: int) -> LsvmBidder:
    items = bidder["items"].distinct(least=0, most=n_cells - 1)
    values = bidder["values"].numbers(length=len(items), least=0.0)
    order = np.argsort(items)
    favorite = bidder.get("favorite")
    return LsvmBidder(
        type=bidder["type"].text(),
        items=tuple(items[place] for place in order),
        values=tuple(float(values[place]) for place in order),
        a=bidder["a"].number(least=0.0),
        b=bidder["b"].number(),
        favorite=None if favorite is None else favorite.integer(least=0, most=n_cells - 1),
    )
