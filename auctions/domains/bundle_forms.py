"""The forms in which bundles, prices and bidders are given, and what is wrong with those that are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles
from solvers.field_faults import json_pointer
from solvers.operation import InvalidInput


def checked_bundle(bundle: Any, capacities: NDArray[np.int64], good_names: Sequence[str], *, pointer: str) -> Bundles:
    """Return a bundle as a vector of quantities.

    Parameters
    ----------
    bundle : array of shape (m,), dict of good name to quantity, or str of digits, one per good
    capacities : array of shape (m,)
    good_names : sequence of str
    pointer : str
        JSON pointer to it, for errors.

    Raises
    ------
    InvalidInput
        It is too long or too short, has a quantity that is no whole number from 0 to the capacity, or names an unknown good.

    Examples
    --------
    >>> checked_bundle({"B": 2}, np.array([1, 3]), ["A", "B"], pointer="/bundle").tolist()
    [0, 2]
    """
    places: Sequence[int | str] = range(len(capacities))
    if isinstance(bundle, Mapping):
        bundle, places = _from_names(bundle, good_names, pointer), good_names
    elif isinstance(bundle, str):
        if not (bundle.isascii() and bundle.isdigit()):
            raise InvalidInput("a bundle given as a text consists of digits, one per good", pointer=pointer)
        bundle = [int(digit) for digit in bundle]
    elif not isinstance(bundle, (Sequence, np.ndarray)):
        raise InvalidInput(f"a bundle is a list of quantities, not {type(bundle).__name__}", pointer=pointer)
    if len(bundle) != len(capacities):
        raise InvalidInput(f"a bundle has {len(capacities)} quantities, not {len(bundle)}", pointer=pointer)
    for good, quantity in enumerate(bundle.tolist() if isinstance(bundle, np.ndarray) else bundle):
        fault = fault_of_quantity(quantity, int(capacities[good]))
        if fault:
            raise InvalidInput(f"{good_names[good]}: {fault}", pointer=pointer + json_pointer((places[good],)))
    return np.array([int(quantity) for quantity in bundle], dtype=np.int64)


def checked_bundles(
    bundles: ArrayLike | Sequence[Any], capacities: NDArray[np.int64], good_names: Sequence[str], *, pointer: str
) -> Bundles:
    """Return bundles as rows of quantities; of an empty list, no rows.

    Whole arrays are checked at once, which is what makes millions of them fast.
    """
    m = len(capacities)
    if isinstance(bundles, np.ndarray) and bundles.ndim == 2 and bundles.shape[1] == m and bundles.dtype.kind in "iu":
        if not len(bundles) or (bundles.min() >= 0 and (bundles.max(axis=0) <= capacities).all()):
            return bundles.astype(np.int64, copy=False)
    elif not isinstance(bundles, (Sequence, np.ndarray)) or isinstance(bundles, str):
        raise InvalidInput("bundles are a list of bundles", pointer=pointer)
    rows = [checked_bundle(bundle, capacities, good_names, pointer=f"{pointer}/{i}") for i, bundle in enumerate(bundles)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), m)


def checked_prices(
    prices: ArrayLike, n_goods: int, *, nonnegative: bool = False, pointer: str = "/prices"
) -> NDArray[np.float64]:
    """Return prices as a vector of finite numbers."""
    try:
        costs = np.array(prices, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("prices are a list of numbers", pointer=pointer) from None
    if costs.shape != (n_goods,):
        raise InvalidInput(f"prices are {n_goods} numbers, one per good; these have the shape {costs.shape}", pointer=pointer)
    wrong = ~np.isfinite(costs) | ((costs < 0) & nonnegative)
    if wrong.any():
        good = int(np.argmax(wrong))
        raise InvalidInput(
            f"a price is a finite number{' of at least 0' if nonnegative else ''}, not {costs[good]}", pointer=f"{pointer}/{good}"
        )
    return costs


def checked_index(index: Any, count: int, *, pointer: str = "/bidder", thing: str = "bidder") -> int:
    """Return the index of a bidder or another thing, if there is one."""
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < count:
        raise InvalidInput(f"there is no {thing} {index!r}; they are numbered 0 to {count - 1}", pointer=pointer)
    return int(index)


def fault_of_quantity(quantity: Any, capacity: int) -> str | None:
    """Return what is wrong with a quantity of a good, None if nothing is."""
    is_whole = isinstance(quantity, (int, np.integer)) and not isinstance(quantity, bool)
    if not is_whole and not (isinstance(quantity, (float, np.floating)) and float(quantity).is_integer()):
        return f"a quantity is a whole number, not {quantity!r}"
    if quantity < 0:
        return f"a quantity is at least 0, not {quantity!r}"
    if quantity > capacity:
        return f"there are {capacity}, not {quantity!r}"
    return None


def _from_names(bundle: Mapping[Any, Any], good_names: Sequence[str], pointer: str) -> list[Any]:
    quantities: list[Any] = [0] * len(good_names)
    places = {name: good for good, name in enumerate(good_names)}
    for name, quantity in bundle.items():
        if name not in places:
            raise InvalidInput(f"there is no good {name!r}", pointer=pointer + json_pointer((str(name),)))
        quantities[places[name]] = quantity
    return quantities
