"""Integer weights for the searches, which count gains exactly in 64 bits.

Integers whose magnitudes sum to at most 2^53 are taken as they are. Other weights are rounded to the finest grid 2^-q on which
the sum still fits, q at most 960; the total rounding error is kept, because a bound on the rounded graph becomes a bound on the
true one by adding it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from solvers.graphs.arrays import lightest
from solvers.operation import InvalidInput

LARGEST_SUM = 2**53

FINEST_EXPONENT = 960
"""Of the grid: the scales of certificates, a few powers of two beyond it, are then floats, and so are multiples of its step."""


class IntegerWeights(NamedTuple):
    """Weights as multiples of a power of two.

    Attributes
    ----------
    weights : int64 array of shape (m,)
    exponent : int
        The true weights are about ``weights * 2.0**-exponent``; 0 if they are integers.
    rounding : float
        At least the sum of ``|true - rounded|``, in the unit of the true weights; 0.0 if nothing was rounded.
    lightest : float
        Least magnitude of a true weight that is not 0; 0.0 if there is none.
    """

    weights: np.ndarray
    exponent: int
    rounding: float
    lightest: float


def to_integers(weights: np.ndarray) -> IntegerWeights:
    """Return `weights` as integers on a common grid.

    Parameters
    ----------
    weights : array of shape (m,)
        Finite; integers or floats.

    Raises
    ------
    InvalidInput
        If a weight is not finite, or all are integers and their magnitudes sum to more than 2^53.

    Examples
    --------
    >>> to_integers(np.array([0.5, -1.25]))
    IntegerWeights(weights=array([ 2, -5]), exponent=2, rounding=0.0, lightest=0.5)
    >>> to_integers([3, 4]).exponent
    0
    """
    given = np.asarray(weights)
    if given.size == 0:
        return IntegerWeights(np.zeros(0, np.int64), 0, 0.0, 0.0)
    if given.dtype.kind not in "iu":
        given = given.astype(np.float64)
        _require_finite(given)
        if not np.array_equal(given, np.rint(given)):
            return _on_finest_grid(given)
    # A float sum errs by far less than the factor 2, so that the exact one below cannot overflow.
    if np.abs(given.astype(np.float64)).sum() > 2 * LARGEST_SUM or np.abs(given.astype(np.int64)).sum() > LARGEST_SUM:
        raise InvalidInput(
            "the magnitudes of the integer weights sum to more than 2^53, beyond which cuts are not counted exactly",
            pointer="/edge_weights",
        )
    return IntegerWeights(given.astype(np.int64), 0, 0.0, lightest(given))


def _require_finite(weights: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        raise InvalidInput(f"weight {bad[0]} is {weights[bad[0]]}; weights are finite", pointer=f"/edge_weights/{bad[0]}")


def _on_finest_grid(weights: np.ndarray) -> IntegerWeights:
    # Halved often enough for the sum to stay below 1, it cannot overflow; `exponent` then makes it reach for 2^53.
    headroom = int(np.frexp(np.abs(weights).max())[1]) + len(weights).bit_length()
    share = math.fsum(np.abs(np.ldexp(weights, -headroom)).tolist())
    exponent = min(FINEST_EXPONENT, 53 - headroom - math.frexp(share)[1] + 1)
    while True:
        integers = np.rint(np.ldexp(weights, exponent))
        # In integers: a float sum of 2^53 + 1 would pass for 2^53, and a bound would be rounded down with it.
        if int(np.abs(integers).astype(np.int64).sum()) <= LARGEST_SUM:
            break
        exponent -= 1

    # Every difference is exact: both terms are multiples of the finer of the grid and the weight's last place.
    error = math.fsum(np.abs(weights - np.ldexp(integers, -exponent)).tolist())
    rounding = math.nextafter(error, math.inf) if error else 0.0

    # Halves and quarters stay small numbers: common factors of two are dropped.
    exact = integers.astype(np.int64)
    bits = int(np.bitwise_or.reduce(exact))
    common = (bits & -bits).bit_length() - 1 if bits else 0
    return IntegerWeights(exact >> common, exponent - common, rounding, lightest(weights))
