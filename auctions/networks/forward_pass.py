"""Values of bundles under a network, in double precision, one compiled pass over the bundles."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.networks.architecture import Architecture, Vector


def evaluate(architecture: Architecture, parameters: Vector, bundles: Bundles) -> NDArray[np.float64]:
    """Return M(x) of each bundle; O(N P) for N bundles and P parameters.

    Examples
    --------
    >>> evaluate(Architecture((2,), (), True), np.array([1.5]), np.array([[0], [2]])).tolist()
    [0.0, 3.0]
    """
    raw = np.ascontiguousarray(bundles, dtype=np.float64)
    shares = raw / np.asarray(architecture.capacities)
    values = np.empty(len(raw))
    _evaluate_all(parameters, architecture.sizes, architecture.skip_connection, shares, raw, values)
    return values


@njit(cache=True, nogil=True)
def _evaluate_all(parameters, sizes, skip, shares, raw, values):  # type: ignore[no-untyped-def]
    units = np.empty(sizes.sum())
    sums = np.empty_like(units)
    for row in range(len(raw)):
        values[row] = forward(parameters, sizes, skip, shares[row], raw[row], units, sums)


@njit(cache=True, nogil=True)
def forward(parameters, sizes, skip, shares, raw, units, sums):  # type: ignore[no-untyped-def]
    """Return M of one bundle; leave z^k in `units` and y^k in `sums`, one layer after the other, the inputs first.

    A share of a good is x_j / c_j. Inputs that are 0 are passed over, which halves the work of the first layer.
    """
    fan_in = sizes[0]
    for j in range(fan_in):
        units[j] = shares[j]
    before, place = 0, 0
    for k in range(1, len(sizes)):
        size = sizes[k]
        after = before + fan_in
        bias = place + fan_in * size
        for h in range(size):
            sums[after + h] = parameters[bias + h]
        for j in range(fan_in):
            share = units[before + j]
            if share != 0.0:
                row = place + j * size
                for h in range(size):
                    sums[after + h] += share * parameters[row + h]
        cutoff = bias + size
        for h in range(size):
            units[after + h] = min(parameters[cutoff + h], max(0.0, sums[after + h]))
        before, fan_in, place = after, size, cutoff + size
    value = 0.0
    if len(sizes) > 1:
        for h in range(fan_in):
            value += parameters[place + h] * units[before + h]
        place += fan_in
    if skip:
        for j in range(sizes[0]):
            value += parameters[place + j] * raw[j]
    return value
