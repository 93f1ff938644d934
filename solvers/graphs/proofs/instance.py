"""The graph that a proof is about, in integers, so that sums and comparisons are exact."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from solvers.operation import InvalidInput

LARGEST_SUM = 2**53
FINEST_EXPONENT = 960


class Refused(Exception):
    """A certificate does not prove what it should; says why."""


class ProofInstance(NamedTuple):
    """A graph whose weights are multiples of a power of two.

    Attributes
    ----------
    num_vertices : int
    edges : ndarray of int64, shape (m, 2)
    weights : ndarray of int64
        Of the edges, or of the vertices, as the problem has it.
    exponent : int
        The caller's weights are ``weights * 2**-exponent``.
    """

    num_vertices: int
    edges: np.ndarray
    weights: np.ndarray
    exponent: int

    def coarsened(self, exponent: int) -> ProofInstance:
        """Return the instance in the coarsest unit that its weights allow, no coarser than `exponent`."""
        instance = self
        while instance.exponent > exponent and not (instance.weights & 1).any():
            instance = instance._replace(weights=instance.weights >> 1, exponent=instance.exponent - 1)
        return instance


class GridInstance(NamedTuple):
    """The caller's graph on its grid.

    Attributes
    ----------
    instance : ProofInstance
    is_integral : bool
        Whether the caller's weights are integers, so that a bound may be rounded down.
    rounding : float
        At least the sum of the weights' rounding errors, in the caller's unit.
    """

    instance: ProofInstance
    is_integral: bool
    rounding: float


def on_grid(num_vertices: int, edges: np.ndarray, weights: np.ndarray, field: str = "edge_weights") -> GridInstance:
    """Put a graph on the finest grid 2^-q, q at most 960, on which its weights sum to at most 2^53; integers are taken as they are.

    Raises
    ------
    InvalidInput
        If the weights are integers whose magnitudes sum to more than 2^53.

    Examples
    --------
    >>> grid = on_grid(3, np.array([[0, 1], [1, 2]]), np.array([0.5, -1.25]))
    >>> grid.instance.weights.tolist(), grid.instance.exponent, grid.rounding
    ([2, -5], 2, 0.0)
    """
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    given = np.asarray(weights)
    is_integral = given.dtype.kind in "iu" or bool((given == np.floor(given)).all())
    if is_integral:
        if sum(map(abs, map(int, given.tolist()))) > LARGEST_SUM:
            raise InvalidInput("the magnitudes of the integer weights sum to more than 2^53", pointer=f"/{field}")
        return GridInstance(ProofInstance(num_vertices, ends, given.astype(np.int64), 0), True, 0.0)

    largest = math.frexp(float(np.abs(given).max()))[1]
    exponent = min(FINEST_EXPONENT, 54 - largest)
    while _sum_exceeds(LARGEST_SUM, np.abs(np.rint(np.ldexp(given, exponent)))):
        exponent -= 1
    rounded = np.rint(np.ldexp(given, exponent))
    error = math.fsum(np.abs(given - np.ldexp(rounded, -exponent)).tolist())
    instance = ProofInstance(num_vertices, ends, rounded.astype(np.int64), exponent)
    while instance.weights.any() and not (instance.weights & 1).any():
        instance = instance._replace(weights=instance.weights >> 1, exponent=instance.exponent - 1)
    return GridInstance(instance, False, math.nextafter(error, math.inf) if error else 0.0)


def _sum_exceeds(limit: int, magnitudes: np.ndarray) -> bool:
    # The last word is the integers': a float sum of 2^53 + 1 would pass for 2^53. Up to twice the limit they do not overflow.
    return bool(magnitudes.sum() > 2 * limit) or int(magnitudes.astype(np.int64).sum()) > limit


def integers(values: Any, what: str, least: int, most: int) -> list[int]:
    """Return a list of integers in a range, or refuse."""
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise Refused(f"{what} must be a list of integers")
    if values and not least <= min(values) <= max(values) <= most:
        raise Refused(f"{what} must lie between {least} and {most}")
    return values


def member(certificate: dict[str, Any], name: str) -> Any:
    """Return a member of a certificate, or refuse."""
    if name not in certificate:
        raise Refused(f"{name} is missing")
    return certificate[name]
