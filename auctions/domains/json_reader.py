"""Reading a JSON document whose faults are told by their place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.field_faults import json_pointer
from solvers.operation import InvalidInput


class Reader:
    """A value of a JSON document and the pointer to it.

    Parameters
    ----------
    value : JSON value
    pointer : str
        JSON pointer (RFC 6901).

    Examples
    --------
    >>> Reader({"world": {"size": "6"}})["world"]["size"].integer(least=1)
    Traceback (most recent call last):
        ...
    solvers.operation.InvalidInput: /world/size is a whole number, not '6'
    """

    def __init__(self, value: Any, pointer: str = "") -> None:
        self.value = value
        self.pointer = pointer

    def __getitem__(self, key: str) -> Reader:
        self._members()
        if key not in self.value:
            raise InvalidInput(f"{key} is missing", pointer=self.pointer + json_pointer((key,)))
        return Reader(self.value[key], self.pointer + json_pointer((key,)))

    def get(self, key: str) -> Reader | None:
        """Return a member, None if it is not there or null."""
        return None if self._members().get(key) is None else self[key]

    def has(self, key: str) -> bool:
        """Tell whether a member is there, null or not."""
        return key in self._members()

    def entries(self) -> Iterator[tuple[str, Reader]]:
        """Go through the members of an object."""
        for key in self._members():
            yield key, self[key]

    def items(self, *, least: int = 0, length: int | None = None) -> list[Reader]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            raise self.fault(f"is a list, not {_shown(self.value)}")
        if length is not None and len(self.value) != length:
            raise self.fault(f"has {length} items, not {len(self.value)}")
        if len(self.value) < least:
            raise self.fault(f"has at least {least} item{'s' if least > 1 else ''}, not {len(self.value)}")
        return [Reader(item, f"{self.pointer}/{index}") for index, item in enumerate(self.value)]

    def number(self, *, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a finite number within bounds."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if not is_number or not -1e308 <= self.value <= 1e308:
            raise self.fault(f"is a finite number, not {_shown(self.value)}")
        if not least <= self.value <= most:
            raise self.fault(f"is {_bounds(least, most)}, not {self.value!r}")
        return float(self.value)

    def integer(self, *, least: int | None = None, most: int | None = None) -> int:
        """Return a whole number within bounds."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.fault(f"is a whole number, not {_shown(self.value)}")
        low, high = -math.inf if least is None else least, math.inf if most is None else most
        if not low <= self.value <= high:
            raise self.fault(f"is {_bounds(low, high)}, not {self.value}")
        return self.value

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.fault(f"is true or false, not {_shown(self.value)}")
        return self.value

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.fault(f"is a text, not {_shown(self.value)}")
        return self.value

    def numbers(self, *, length: int | None = None, least: float = -math.inf, most: float = math.inf) -> NDArray[np.float64]:
        """Return a list of finite numbers as a vector."""
        return np.array([item.number(least=least, most=most) for item in self.items(length=length)], dtype=np.float64)

    def integers(self, *, length: int | None = None, least: int | None = None, most: int | None = None) -> list[int]:
        """Return a list of whole numbers."""
        return [item.integer(least=least, most=most) for item in self.items(length=length)]

    def distinct(self, *, least: int, most: int) -> list[int]:
        """Return a list of whole numbers that are all different."""
        seen: set[int] = set()
        for item in self.items():
            number = item.integer(least=least, most=most)
            if number in seen:
                raise item.fault(f"repeats {number}")
            seen.add(number)
        return [item.integer() for item in self.items()]

    def fault(self, what: str) -> InvalidInput:
        """Return the error that this value has the named fault."""
        return InvalidInput(f"{self.pointer or 'the document'} {what}", pointer=self.pointer)

    def _members(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.fault(f"is an object, not {_shown(self.value)}")
        return self.value


def read_bidders(document: Reader) -> list[Reader]:
    """Return the bidders of an instance in the order of their ids, which are all different."""
    bidders = document["bidders"].items(least=1)
    ids: set[int] = set()
    for index, bidder in enumerate(bidders):
        identity = bidder.get("id")
        number = index if identity is None else identity.integer(least=0)
        if number in ids:
            raise bidder["id"].fault(f"is the id {number}, which another bidder has")
        ids.add(number)
    return sorted(bidders, key=lambda bidder: bidder.value.get("id") or 0) if all(b.has("id") for b in bidders) else bidders


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _bounds(least: float, most: float) -> str:
    if most == math.inf:
        return f"at least {least:g}"
    return f"at most {most:g}" if least == -math.inf else f"from {least:g} to {most:g}"
