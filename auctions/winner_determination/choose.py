"""Winner determination over whatever says what bundles are worth, by the method that suits it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.admissible import count_admissible
from auctions.bundles import Bundles, count_bundles, indices_of, strides, validate_bundles, validate_capacities
from auctions.networks.mvnn import MVNN
from auctions.outcome import AllocationResult, SearchLimits
from auctions.winner_determination.dynamic_program import best_by_dynamic_program, pairs
from auctions.winner_determination.networks_milp import solve_networks
from auctions.winner_determination.table import NOT_THERE, FullTable, ListedTable, Table
from auctions.winner_determination.tables import MOST_BUNDLES, first_of_the_best, solve_tables
from auctions.winner_determination.xor import TieBreak
from solvers.operation import InvalidInput, TooLarge

Method = Literal["auto", "tables", "dynamic_program", "exchange", "milp"]

QUICK_PAIRS = 2_000_000
"""Pairs of room and bundle, of all bidders together, that a dynamic program goes through in a few milliseconds."""

MOST_PAIRS = 5 * 3**18
"""With one unit each of 18 goods, six bidders; the first and the last cost next to nothing."""

DENSE_SHARE = 8
"""A list of at least one in so many of all bundles is kept as a full table."""


class Valued(Protocol):
    """A value table: `values` of `bundles`, or of all bundles in mixed-radix order; minus infinity for what the bidder may not hold."""

    @property
    def bundles(self) -> Bundles:
        """One bundle per row."""

    @property
    def values(self) -> NDArray[Any]:
        """One value per bundle."""


@runtime_checkable
class Predicting(Protocol):
    """A value model that can list what it predicts."""

    def value_table(self) -> Valued:
        """Return the values of all bundles the bidder may hold."""


Values: TypeAlias = Valued | Predicting | Table | ArrayLike | Sequence[tuple[Sequence[int], float]]
"""What says a bidder's values; an array has those of all bundles in mixed-radix order, a list some bundles with theirs."""


def solve_wdp(
    values: Sequence[Values],
    capacities: ArrayLike,
    limits: SearchLimits | None = None,
    *,
    forbidden: Mapping[int, ArrayLike] | Sequence[ArrayLike | None] | None = None,
    exclude: Collection[int] = (),
    method: Method = "auto",
    free_disposal: bool = False,
    tie_break: TieBreak | None = None,
    prices: NDArray[np.float64] | None = None,
    warm_start: ArrayLike | None = None,
) -> AllocationResult:
    """Return an allocation of largest value, or the best found within the limits.

    Parameters
    ----------
    values : sequence of value tables, networks, arrays, or lists of (bundle, value)
        One per bidder. In a list the empty bundle is worth 0 unless it is named, and other bundles that are not named cannot be had.
    capacities : list of int
        The supply of each good.
    limits : SearchLimits, optional
    forbidden : mapping from bidder to bundles, or one entry per bidder, optional
        Bundles that a bidder must not get, the empty one if it is among them.
    exclude : collection of int
        Bidders that get nothing, whatever is forbidden.
    method : {"auto", "tables", "dynamic_program", "exchange", "milp"}
        "auto" takes the dynamic program where it takes milliseconds, tables where there are at most 2^20 bundles, and the exchange
        search, which proves little, for networks over more. "milp", for networks only, proves its answer by branch and bound.
    free_disposal : bool
        Whether a bundle is worth at least what any bundle within it is.
    tie_break : {"lexicographic"}, optional
        Of the best allocations, take the one in which the first bidder has its first bundle in mixed-radix order, nothing being the
        last, then the second, and so on.
    prices, warm_start : optional
        Prices and allocation of a similar problem to start from; they change no optimum.

    Returns
    -------
    AllocationResult
        "infeasible" only where what is forbidden leaves the bidders no bundles that fit together, not even empty ones.

    Raises
    ------
    InvalidInput
        If a table or the supply is not valid.

    Examples
    --------
    >>> solve_wdp([[0.0, 3.0, 2.0, 5.0], [0.0, 4.0, 1.0, 4.5]], [1, 1]).allocation.tolist()
    [[0, 1], [1, 0]]
    >>> solve_wdp([[0.0, 3.0, 2.0, 5.0], [0.0, 4.0, 1.0, 4.5]], [1, 1], forbidden={0: [[0, 1]]}).welfare
    5.0
    """
    started = time.monotonic()
    limits = limits or SearchLimits()
    supply = validate_capacities(capacities)
    if len(values) == 0:
        raise InvalidInput("there must be at least one bidder", pointer="/values")
    unwanted = _forbidden(forbidden, len(values), supply)
    if method in ("exchange", "milp") or (method == "auto" and _are_vast(values, supply)):
        return _by_networks(values, supply, limits, unwanted, exclude, method, warm_start)
    nothing = ListedTable(np.zeros((1, len(supply)), dtype=np.int64), np.zeros(1))
    tables: list[Table] = []
    for bidder, own in enumerate(values):
        if bidder in exclude:
            tables.append(nothing)
            continue
        table = as_table(own, supply, free_disposal=free_disposal, pointer=f"/values/{bidder}")
        tables.append(table.without(unwanted[bidder]) if len(unwanted[bidder]) else table)
    if any(table.n_bundles == 0 for table in tables):
        return _infeasible(len(tables), supply, started)
    if method == "dynamic_program" or (method == "auto" and tie_break is None and len(tables) * pairs(supply) <= QUICK_PAIRS):
        return _by_dynamic_program(tables, supply, started)
    known = None if warm_start is None else validate_bundles(warm_start, supply, pointer="/warm_start")
    result = solve_tables(tables, supply, limits, prices=prices, warm_start=known)
    return result if tie_break is None else first_of_the_best(tables, result, supply)


def as_table(values: Values, capacities: NDArray[np.int64], *, free_disposal: bool = False, pointer: str = "/values") -> Table:
    """Return what winner determination asks of a value table.

    Raises
    ------
    InvalidInput
        If a value is negative or not finite, or if there are not as many as there are bundles.
    """
    if isinstance(values, FullTable | ListedTable):
        return values
    source: Any = values.value_table() if isinstance(values, Predicting) else values
    n_bundles = count_bundles(capacities)
    if not isinstance(source, Sequence | np.ndarray):
        if not hasattr(source, "values"):
            raise InvalidInput("values must be a table or a list", pointer=pointer)
        numbers = np.asarray(source.values, dtype=np.float64)
        if len(numbers) != n_bundles:
            kept = np.isfinite(numbers)
            return _listed(source.bundles[kept], numbers[kept], capacities, free_disposal, pointer)
    elif isinstance(source, np.ndarray) or (len(source) and isinstance(source[0], int | float)):
        numbers = _checked_values(source, pointer)
        if len(numbers) != n_bundles:
            raise InvalidInput(f"there are {len(numbers)} values, but {n_bundles} bundles", pointer=pointer)
    else:
        bundles, numbers = _checked_list(list(source), capacities, pointer)
        return _listed(bundles, numbers, capacities, free_disposal, pointer)
    return FullTable(_monotone(numbers, capacities) if free_disposal else numbers, capacities)


def _listed(
    bundles: Bundles, values: NDArray[np.float64], capacities: NDArray[np.int64], free_disposal: bool, pointer: str
) -> Table:
    n_bundles = count_bundles(capacities)
    if free_disposal and n_bundles > MOST_BUNDLES:
        raise TooLarge(
            f"free disposal makes {n_bundles} bundles of the list, but at most {MOST_BUNDLES} can be kept", pointer=pointer
        )
    if n_bundles > MOST_BUNDLES or (not free_disposal and len(values) * DENSE_SHARE < n_bundles):
        return ListedTable(bundles, values)
    full = np.full(n_bundles, NOT_THERE)
    full[indices_of(bundles, capacities)] = values
    return FullTable(_monotone(full, capacities) if free_disposal else full, capacities)


def _monotone(values: NDArray[np.float64], capacities: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the least monotone values that are at least the given ones."""
    highest = values.copy()
    for step, radix in zip(strides(capacities), capacities + 1, strict=True):
        along = highest.reshape(-1, radix, step)
        np.maximum.accumulate(along, axis=1, out=along)
    return highest


def _checked_values(values: Any, pointer: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput("the values must be numbers", pointer=pointer) from error
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidInput(f"a value is {numbers[place]:g}, but must be finite and not negative", pointer=f"{pointer}/{place}")
    return numbers


def _checked_list(pairs_of: list[Any], capacities: NDArray[np.int64], pointer: str) -> tuple[Bundles, NDArray[np.float64]]:
    try:
        named, numbers = [bundle for bundle, _ in pairs_of], [value for _, value in pairs_of]
    except (TypeError, ValueError) as error:
        raise InvalidInput("each entry needs a bundle and a value", pointer=pointer) from error
    bundles, values = validate_bundles(named, capacities, pointer=pointer, member="/bundle"), _checked_values(numbers, pointer)
    if bundles.any(axis=1).all():
        bundles, values = np.vstack((np.zeros_like(bundles, shape=(1, len(capacities))), bundles)), np.append(0.0, values)
    unique, same = np.unique(bundles, axis=0, return_inverse=True)
    highest = np.full(len(unique), NOT_THERE)
    np.maximum.at(highest, same.ravel(), values)
    return unique, highest


def _forbidden(
    forbidden: Mapping[int, ArrayLike] | Sequence[ArrayLike | None] | None, n_bidders: int, supply: NDArray[np.int64]
) -> list[Bundles]:
    if forbidden is None:
        forbidden = {}
    if not isinstance(forbidden, Mapping) and len(forbidden) != n_bidders:
        raise InvalidInput(f"forbidden bundles are given for {len(forbidden)} of {n_bidders} bidders", pointer="/forbidden")
    named = forbidden if isinstance(forbidden, Mapping) else dict(enumerate(forbidden))
    return [
        validate_bundles([] if named.get(i) is None else named[i], supply, pointer=f"/forbidden/{i}")  # type: ignore[arg-type]
        for i in range(n_bidders)
    ]


def _are_vast(values: Sequence[Values], supply: NDArray[np.int64]) -> bool:
    """Tell whether there are networks over more bundles than can be listed."""
    return count_bundles(supply) > MOST_BUNDLES and any(
        isinstance(own, MVNN) and count_admissible(tuple(supply.tolist()), own.limits) > MOST_BUNDLES for own in values
    )


def _by_networks(
    values: Sequence[Values],
    supply: NDArray[np.int64],
    limits: SearchLimits,
    unwanted: Sequence[Bundles],
    exclude: Collection[int],
    method: Method,
    warm_start: ArrayLike | None,
) -> AllocationResult:
    networks = [own for own in values if isinstance(own, MVNN)]
    if len(networks) < len(values):
        raise InvalidInput("this method needs a network of every bidder", pointer="/values")
    return solve_networks(
        networks,
        supply,
        limits,
        forbidden={bidder: bundles for bidder, bundles in enumerate(unwanted) if len(bundles)},
        exclude=exclude,
        method="milp" if method == "milp" else "exchange",
        warm_start=None if warm_start is None else validate_bundles(warm_start, supply, pointer="/warm_start"),
    )


def _by_dynamic_program(tables: Sequence[Table], supply: NDArray[np.int64], started: float) -> AllocationResult:
    if pairs(supply) * max(1, len(tables) - 2) > MOST_PAIRS:
        raise TooLarge("the dynamic program would take too long for so many bundles", pointer="/capacities")
    allocation = best_by_dynamic_program([table.full(supply) for table in tables], supply)
    if allocation is None:
        return _infeasible(len(tables), supply, started)
    values = np.array([table.value(bundle) for table, bundle in zip(tables, allocation, strict=True)])
    welfare = float(values.sum())
    return AllocationResult(allocation, values, welfare, welfare, "optimal", None, "dynamic program", time.monotonic() - started)


def _infeasible(n_bidders: int, supply: NDArray[np.int64], started: float) -> AllocationResult:
    nothing = np.zeros((n_bidders, len(supply)), dtype=np.int64)
    return AllocationResult(nothing, np.zeros(n_bidders), 0.0, 0.0, "infeasible", None, "none", time.monotonic() - started)
