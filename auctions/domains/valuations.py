"""Bidders who state their own valuations: XOR bids, additive values with synergies, or tables, each bidder in its own way.

The JSON schema `valuations/1` has the supply and per bidder `kind` ("xor", "additive", "table") with what belongs to it; XOR bids
may also come as CSV with the header `bidder,value,<good>,<good>..`, one bid per row, and a column `type` if there are types.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits, all_bundles, count_bundles
from auctions.domains.additive_valuation import AdditiveValuation
from auctions.domains.bundle_forms import checked_bundle
from auctions.domains.instance import LARGEST_TABLE, Instance
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.json_reader import Reader
from auctions.domains.parameters import check_size
from auctions.domains.streams import Source
from auctions.domains.table_valuation import TableValuation
from auctions.domains.valuations_allocation import LARGEST_PROGRAMME, allocate, economies_by_tables
from auctions.domains.xor_valuation import XorValuation
from auctions.outcome import AllocationResult, SearchLimits
from solvers.operation import InvalidInput, TooLarge

MOST_UNITS = 10_000


class Valuation(Protocol):
    """What a bidder values bundles by."""

    kind: ClassVar[str]

    @property
    def monotone(self) -> bool: ...
    def values(self, bundles: Bundles) -> NDArray[np.float64]: ...
    def best_bundles(self, prices: NDArray[np.float64], limits: Limits, k: int) -> Bundles: ...
    def add_to(self, program: IntegerProgram, limits: Limits) -> tuple[NDArray[np.int64], Bundles]: ...
    def highest(self) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class StatedBidder:
    """A bidder with its name, type, valuation and what it may hold."""

    id: str | int
    type: str
    valuation: Valuation
    limits: Limits = field(default_factory=Limits)


class Valuations(Instance):
    r"""An instance of bidders with valuations of their own.

    Examples
    --------
    >>> instance = Valuations.read_csv("bidder,value,A,B\nann,5,1,0\nbob,7,1,1\nbob,4,0,1\n")
    >>> instance.efficient_allocation().welfare
    9.0
    """

    domain: ClassVar[str] = "valuations"

    def __init__(
        self, capacities: Sequence[int], good_names: Sequence[str], bidders: list[StatedBidder], *, source: Source
    ) -> None:
        super().__init__(capacities, good_names, [bidder.type for bidder in bidders], source)
        self.bidders = tuple(bidders)

    @property
    def monotone(self) -> bool:
        return all(bidder.valuation.monotone for bidder in self.bidders)

    def limits(self, bidder: int) -> Limits:
        super().limits(bidder)
        return self.bidders[bidder].limits

    def goods_of_interest(self, bidder: int) -> list[int]:
        goods = super().goods_of_interest(bidder)
        valuation = self.bidders[bidder].valuation
        if isinstance(valuation, XorValuation):
            return [good for good in goods if (valuation.bundles[:, good] > 0).any()]
        return goods

    @property
    def methods(self) -> tuple[str, ...]:
        ways = []
        if all(isinstance(bidder.valuation, XorValuation) for bidder in self.bidders):
            ways.append("xor")
        if count_bundles(self.capacities) <= LARGEST_PROGRAMME:
            ways.append("dp")
        return (*ways, "mip")

    def to_dict(self) -> dict[str, Any]:
        bidders = []
        for bidder in self.bidders:
            document = {"id": bidder.id, "type": bidder.type} | bidder.valuation.to_dict()
            if bidder.limits != Limits():
                document["limits"] = _limits_to_dict(bidder.limits)
            bidders.append(document)
        return {
            "schema": "valuations/1",
            "source": self.source.to_dict(),
            "capacities": self.capacities.tolist(),
            "good_names": list(self.good_names),
            "bidders": bidders,
        }

    @classmethod
    def read(cls, document: Reader) -> Valuations:
        """Read an instance from its JSON."""
        capacities = np.array([item.integer(least=1, most=MOST_UNITS) for item in document["capacities"].items(least=1)])
        given = document.get("good_names")
        names = [f"good_{good}" for good in range(len(capacities))]
        if given is not None:
            names = [item.text() for item in given.items(length=len(capacities))]
            if len(set(names)) < len(names):
                raise given.fault("has a name twice")
        readers = _distinct_bidders(document)
        check_size(len(readers), len(capacities), pointer="/capacities")
        bidders = []
        for index, bidder in enumerate(readers):
            kind, name = bidder.get("type"), bidder.get("id")
            bidders.append(
                StatedBidder(
                    id=index if name is None else name.value,
                    type="bidder" if kind is None else kind.text(),
                    valuation=_read_valuation(bidder, capacities, names),
                    limits=_read_limits(bidder.get("limits"), len(capacities)),
                )
            )
        return cls(capacities.tolist(), names, bidders, source=Source.from_dict(document.value.get("source")))

    @classmethod
    def read_csv(cls, text: str, capacities: Sequence[int] | None = None) -> Valuations:
        """Read XOR bids from CSV.

        Parameters
        ----------
        text : str
        capacities : sequence of int, optional
            Without them there is as much of a good as the largest bid asks for, at least one unit.

        Raises
        ------
        InvalidInput
            With the number of the line at fault.
        """
        rows = list(csv.reader(io.StringIO(text)))
        if not rows or "bidder" not in rows[0] or "value" not in rows[0]:
            raise InvalidInput("the first line names the columns: bidder, value, and one per good", line=1)
        header = [name.strip() for name in rows[0]]
        if len(set(header)) < len(header):
            raise InvalidInput("a column has the name of another one", line=1)
        goods = [name for name in header if name not in ("bidder", "value", "type")]
        if not goods:
            raise InvalidInput("there is no column of a good", line=1)
        bids: dict[str, list[tuple[list[int], float]]] = {}
        types: dict[str, str] = {}
        for line, row in enumerate(rows[1:], start=2):
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise InvalidInput(f"line {line} has {len(row)} cells, the first one {len(header)}", line=line)
            cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
            name = cells["bidder"]
            bundle = [_whole(cells[good], good, line) for good in goods]
            bids.setdefault(name, []).append((bundle, _amount(cells["value"], line)))
            types.setdefault(name, cells.get("type") or "bidder")
        if not bids:
            raise InvalidInput("there is no bid", line=2)
        largest = np.array([bundle for offered in bids.values() for bundle, _ in offered]).max(axis=0)
        supply = [max(1, int(most)) for most in largest] if capacities is None else list(capacities)
        document = {
            "capacities": supply,
            "good_names": goods,
            "bidders": [
                {
                    "id": name,
                    "type": types[name],
                    "kind": "xor",
                    "bids": [{"bundle": bundle, "value": value} for bundle, value in offered],
                }
                for name, offered in bids.items()
            ],
        }
        return cls.read(Reader(document))

    def tables(self) -> dict[int, NDArray[np.float64]]:
        """Return each bidder's value of every bundle, minus infinity where it may not hold it."""
        return {bidder: self._table(bidder) for bidder in range(self.n_bidders)}

    def _table(self, bidder: int) -> NDArray[np.float64]:
        values = self.value_table(bidder)
        limits = self.limits(bidder)
        return values if limits == Limits() else np.where(limits.admits(all_bundles(self.capacities)), values, -np.inf)

    def _values(self, bidder: int, bundles: Bundles) -> NDArray[np.float64]:
        return self.bidders[bidder].valuation.values(bundles)

    def _best_bundles(self, bidder: int, prices: NDArray[np.float64], k: int) -> Bundles:
        return self.bidders[bidder].valuation.best_bundles(prices, self.limits(bidder), k)

    def _allocate(self, method: str, search: SearchLimits, bidders: list[int]) -> AllocationResult:
        return allocate(self, method, search, bidders)

    def _economies(self, method: str, search: SearchLimits) -> list[AllocationResult]:
        return economies_by_tables(self, search) if method == "dp" else super()._economies(method, search)


def _distinct_bidders(document: Reader) -> list[Reader]:
    """Return the bidders in the order they are listed; unlike those of SATS they may have names for ids."""
    bidders = document["bidders"].items(least=1)
    seen: set[str | int] = set()
    for index, bidder in enumerate(bidders):
        identity = bidder.get("id")
        if identity is not None and (not isinstance(identity.value, (str, int)) or isinstance(identity.value, bool)):
            raise identity.fault("is a text or a whole number")
        name = index if identity is None else identity.value
        if name in seen:
            raise bidder["id"].fault(f"is the id {name!r}, which another bidder has")
        seen.add(name)
    return bidders


def _read_valuation(bidder: Reader, capacities: NDArray[np.int64], names: list[str]) -> Valuation:
    kind = bidder["kind"].text()
    if kind == "xor":
        bundles, bids = _read_bundles(bidder["bids"], "value", capacities, names)
        return XorValuation(bundles, bids)
    if kind == "additive":
        given = bidder.get("synergies")
        synergies, bonuses = _read_bundles(given or Reader([]), "bonus", capacities, names)
        units = [
            _read_units(item, int(capacity))
            for item, capacity in zip(bidder["values"].items(length=len(capacities)), capacities, strict=True)
        ]
        return AdditiveValuation(units, synergies, bonuses, capacities)
    if kind == "table":
        count = count_bundles(capacities)
        if count > LARGEST_TABLE:
            raise TooLarge(f"a table of {count} bundles; the most is {LARGEST_TABLE}", pointer=bidder["values"].pointer)
        table = bidder["values"].numbers(length=count, least=0.0)
        if table[0] != 0.0:
            raise bidder["values"].items()[0].fault(f"is 0, the value of nothing, not {table[0]:g}")
        return TableValuation(table, capacities)
    raise bidder["kind"].fault(f"is 'xor', 'additive' or 'table', not {kind!r}")


def _read_bundles(
    items: Reader, amount: str, capacities: NDArray[np.int64], names: list[str]
) -> tuple[Bundles, NDArray[np.float64]]:
    bundles, amounts = [], []
    for item in items.items():
        bundles.append(checked_bundle(item["bundle"].value, capacities, names, pointer=item["bundle"].pointer))
        amounts.append(item[amount].number(least=0.0))
    return np.array(bundles, dtype=np.int64).reshape(len(bundles), len(capacities)), np.array(amounts, dtype=np.float64)


def _read_units(item: Reader, capacity: int) -> NDArray[np.float64]:
    """Read what the units of a good are worth: one number for each of them, or the number per unit."""
    if isinstance(item.value, list):
        return item.numbers(length=capacity, least=0.0)
    return np.full(capacity, item.number(least=0.0))


def _read_limits(limits: Reader | None, n_goods: int) -> Limits:
    if limits is None:
        return Limits()
    most, goods, caps = limits.get("max_items"), limits.get("goods"), limits.get("caps")
    return Limits(
        max_items=None if most is None else most.integer(least=0),
        goods=None if goods is None else tuple(item.boolean() for item in goods.items(length=n_goods)),
        caps=None if caps is None else tuple(caps.integers(length=n_goods, least=0)),
    )


def _limits_to_dict(limits: Limits) -> dict[str, Any]:
    return {
        "max_items": limits.max_items,
        "goods": None if limits.goods is None else list(limits.goods),
        "caps": None if limits.caps is None else list(limits.caps),
    }


def _whole(cell: str, good: str, line: int) -> int:
    try:
        quantity = int(cell)
    except ValueError:
        raise InvalidInput(f"line {line}: a quantity of {good} is a whole number, not {cell!r}", line=line) from None
    if not 0 <= quantity <= MOST_UNITS:
        raise InvalidInput(f"line {line}: a quantity of {good} is from 0 to {MOST_UNITS}, not {quantity}", line=line)
    return quantity


def _amount(cell: str, line: int) -> float:
    try:
        amount = float(cell)
    except ValueError:
        raise InvalidInput(f"line {line}: a value is a number, not {cell!r}", line=line) from None
    if not 0.0 <= amount < np.inf:
        raise InvalidInput(f"line {line}: a value is a finite number of at least 0, not {cell!r}", line=line)
    return amount
