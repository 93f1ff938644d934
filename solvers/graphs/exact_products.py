"""Ratios compared by cross products that never overflow or round.

Whether a / b < c / d is whether a d < c b. Costs go up to 2^53 and scores to 2^31 and beyond, so that products may need 128 bits;
floating point would break ties differently from machine to machine.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def compare_products(a, b, c, d):  # type: ignore[no-untyped-def]
    """Return -1, 0 or 1 as a b is less than, equal to or greater than c d; all int64 and not negative.

    Examples
    --------
    >>> compare_products(2**60, 2**60, 2**61, 2**59), compare_products(2**62, 3, 2**62, 2), compare_products(1, 2, 3, 4)
    (0, 1, -1)
    """
    if (a | b | c | d) >> 31 == 0:
        left, right = a * b, c * d
        return -1 if left < right else (1 if left > right else 0)
    return _compare_wide(a, b, c, d)


@njit(cache=True, nogil=True)
def _compare_wide(a, b, c, d):  # type: ignore[no-untyped-def]
    left_high, left_low = _wide_product(np.uint64(a), np.uint64(b))
    right_high, right_low = _wide_product(np.uint64(c), np.uint64(d))
    if left_high != right_high:
        return -1 if left_high < right_high else 1
    if left_low != right_low:
        return -1 if left_low < right_low else 1
    return 0


@njit(cache=True, nogil=True)
def _wide_product(a, b):  # type: ignore[no-untyped-def]
    """Return the high and the low 64 bits of a product, by long multiplication of halves."""
    a_high, a_low = a >> _HALF, a & _LOW
    b_high, b_low = b >> _HALF, b & _LOW
    low = a_low * b_low
    cross = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (cross & _LOW)
    high = a_high * b_high + (cross >> _HALF) + (other >> _HALF)
    return high, (other << _HALF) | (low & _LOW)
