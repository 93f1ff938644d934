"""Checks of the numbers that an instance is drawn from or made of, each error with a pointer to the parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.operation import InvalidInput, TooLarge

Interval = tuple[float, float]

MOST_BIDDERS = 1000

MOST_GOODS = 10_000

# Bidders times goods.
LARGEST = 1_000_000


def checked_count(name: str, value: Any, *, least: int = 0, most: int = 10_000) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> checked_count("size", 0, least=1)
    Traceback (most recent call last):
        ...
    solvers.operation.InvalidInput: size is a whole number from 1 to 10000, not 0
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise InvalidInput(f"{name} is a whole number from {least} to {most}, not {value!r}", pointer=f"/parameters/{name}")
    return int(value)


def checked_number(name: str, value: Any, *, least: float = -np.inf, most: float = np.inf, pointer: str | None = None) -> float:
    """Return a finite number within bounds."""
    place = f"/parameters/{name}" if pointer is None else pointer
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not -1e308 <= value <= 1e308:
        raise InvalidInput(f"{name} is a finite number, not {value!r}", pointer=place)
    if not least <= value <= most:
        bounds = (
            f"at least {least:g}"
            if most == np.inf
            else f"at most {most:g}"
            if least == -np.inf
            else f"from {least:g} to {most:g}"
        )
        raise InvalidInput(f"{name} is {bounds}, not {value!r}", pointer=place)
    return float(value)


def checked_interval(name: str, bounds: Any, *, least: float = 0.0, most: float = np.inf) -> Interval:
    """Return a pair of finite numbers, the lower one first."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise InvalidInput(f"{name} is a pair of numbers, not {bounds!r}", pointer=f"/parameters/{name}")
    low, high = (checked_number(name, bound, least=least, most=most) for bound in bounds)
    if high < low:
        raise InvalidInput(f"the interval {name} ends at {high:g}, before it starts at {low:g}", pointer=f"/parameters/{name}")
    return low, high


def check_size(n_bidders: int, n_goods: int, *, pointer: str = "/parameters") -> None:
    """Refuse an instance that would fill the memory.

    Examples
    --------
    >>> check_size(1000, 98)
    >>> check_size(1, 10**9)
    Traceback (most recent call last):
        ...
    solvers.operation.TooLarge: there are 1 bidders and 1000000000 goods; ...
    """
    if n_goods > MOST_GOODS or n_bidders * n_goods > LARGEST:
        raise TooLarge(
            f"there are {n_bidders} bidders and {n_goods} goods; the most is {MOST_GOODS} goods, and {LARGEST} bidders times goods",
            pointer=pointer,
        )


def checked_population(**counts: Any) -> list[int]:
    """Return the numbers of bidders of each type, together at least one."""
    numbers = [checked_count(name, value, most=MOST_BIDDERS) for name, value in counts.items()]
    if not sum(numbers):
        raise InvalidInput("there is no bidder of any type", pointer=f"/parameters/{next(iter(counts))}")
    return numbers
