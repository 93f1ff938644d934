"""Lower bounds of set cover from prices of the elements, in integers of any size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.proofs.instance import Refused, integers, member

LARGEST_PRICE = 2**256


class SetRows(NamedTuple):
    """A set cover instance with exact costs.

    Attributes
    ----------
    set_ptr : ndarray of int64, shape (n + 1,)
    elements : ndarray of int, shape (k,)
        Those of set j are ``elements[set_ptr[j]:set_ptr[j + 1]]``, none twice.
    num_elements : int
    costs : list of int
        In units of ``2**-exponent`` of the caller's.
    exponent : int
    is_integral : bool
        Whether the caller's costs are integers, so that a bound may be rounded up.
    """

    set_ptr: np.ndarray
    elements: np.ndarray
    num_elements: int
    costs: list[int]
    exponent: int
    is_integral: bool


def set_rows(set_ptr: np.ndarray, elements: np.ndarray, num_elements: int, costs: np.ndarray) -> SetRows:
    """Return the instance with its costs as integers; every float is an integer times a power of two.

    Examples
    --------
    >>> set_rows(np.array([0, 1, 2]), np.array([0, 0]), 1, np.array([0.5, 3.0])).costs
    [1, 6]
    """
    given = np.asarray(costs)
    if given.dtype.kind in "iu" or bool((given == np.floor(given)).all()):
        return SetRows(set_ptr, elements, num_elements, [int(cost) for cost in given.tolist()], 0, True)
    exact = [cost.as_integer_ratio() for cost in given.tolist()]
    exponent = max(denominator.bit_length() - 1 for _, denominator in exact)
    whole = [numerator << (exponent - denominator.bit_length() + 1) for numerator, denominator in exact]
    return SetRows(set_ptr, elements, num_elements, whole, exponent, False)


def lagrangian_bound(rows: SetRows, certificate: dict[str, Any]) -> Fraction:
    """Return what the prices prove, in the caller's unit: sum of y + sum of min(0, cost - y of the set's elements)."""
    prices = integers(member(certificate, "y"), "y", 0, LARGEST_PRICE)
    if len(prices) != rows.num_elements:
        raise Refused(f"{len(prices)} prices for {rows.num_elements} elements")
    scale = _scale(member(certificate, "scale"))
    # With costs in units of 2^-exponent, L x scale x 2^exponent = sum of y 2^exponent + sum of min(0, cost scale - y 2^exponent).
    cost_factor, price_factor = scale.numerator, scale.denominator << rows.exponent
    total = sum(prices) * price_factor
    begins, elements = rows.set_ptr.tolist(), rows.elements.tolist()
    for j, cost in enumerate(rows.costs):
        charged = sum(map(prices.__getitem__, elements[begins[j] : begins[j + 1]]))
        total += min(0, cost * cost_factor - charged * price_factor)
    return Fraction(total, cost_factor << rows.exponent)


def _scale(value: Any) -> Fraction:
    if type(value) not in (int, float) or not 0 < value < math.inf:
        raise Refused("scale must be a positive number")
    return Fraction(value)
