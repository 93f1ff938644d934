"""The generator of `java.util.Random`, bit for bit: what makes an instance the same as the Java programme's of that seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
STATE = 2**48 - 1


class JavaRandom:
    """A linear congruential generator with 48 bits of state.

    Parameters
    ----------
    seed : int
        Any integer; its low 48 bits count.

    Examples
    --------
    >>> JavaRandom(42).next_int()
    -1170105035
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) & STATE

    def next_int(self) -> int:
        """Return a signed integer of 32 bits."""
        return signed(self._bits(32), 32)

    def next_long(self) -> int:
        """Return a signed integer of 64 bits."""
        return signed((self.next_int() << 32) + self.next_int(), 64)

    def next_double(self) -> float:
        """Return a number in [0, 1) with 53 bits."""
        high = self._bits(26) << 27
        return float(high + self._bits(27)) * 2.0**-53

    def next_below(self, bound: int) -> int:
        """Return an integer in [0, `bound`); it takes a draw even where 1 leaves no choice."""
        if bound & (bound - 1) == 0:
            return (bound * self._bits(31)) >> 31
        while True:
            drawn = self._bits(31)
            remainder = drawn % bound
            if drawn - remainder + bound - 1 < 2**31:
                return remainder

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in the order of `Collections.shuffle`."""
        order = list(items)
        for last in range(len(order), 1, -1):
            other = self.next_below(last)
            order[last - 1], order[other] = order[other], order[last - 1]
        return order

    def _bits(self, count: int) -> int:
        self._state = (self._state * MULTIPLIER + INCREMENT) & STATE
        return self._state >> (48 - count)


def signed(value: int, bits: int) -> int:
    """Return the low `bits` of an integer as a signed one.

    Examples
    --------
    >>> signed(2**63, 64) == -(2**63)
    True
    """
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half
