"""Good bundles at many prices where there are too many bundles to list: change one good at a time while that helps.

A move sets good j to another level; the sums of the first layer change by a multiple of that good's weights, so that a move costs one pass
through the upper layers. The search starts from nothing, from everything and from the best of a pool of bundles known from before; it ends
at a bundle that no change of one good improves, on trained networks almost always the optimum.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.admissible import FREE
from auctions.bundles import Bundles, Limits
from auctions.networks.architecture import Architecture, Vector

LEAST_GAIN = 1e-12
"""Of the network's highest value: what a move must gain, or rounding could keep the search going for ever."""

MOST_SWEEPS = 1000


def ascend(
    architecture: Architecture,
    parameters: Vector,
    prices: NDArray[np.float64],
    pool: Bundles,
    limits: Limits = FREE,
    forbidden: Bundles | None = None,
) -> tuple[Bundles, NDArray[np.float64]]:
    """Return a bundle of high M(x) - p.x for each price vector, and that utility; minus infinity if only forbidden bundles were found.

    Parameters
    ----------
    architecture, parameters
    prices : float64 array of shape (K, m)
        In units of the network.
    pool : int64 array of shape (S, m)
        Admissible bundles to start from; may be empty.
    limits : Limits
    forbidden : int64 array of shape (F, m), optional

    Notes
    -----
    O(c P) a sweep for c levels of all goods and P parameters; a few sweeps per start.

    Examples
    --------
    >>> additive = Architecture((2, 3), (), True)
    >>> ascend(additive, np.array([1.0, 2.0]), np.array([[1.5, 1.0]]), np.zeros((0, 2), dtype=np.int64))[0].tolist()
    [[0, 3]]
    """
    capacities = np.array(architecture.capacities, dtype=np.int64)
    most = limits.quantities(capacities)
    room = int(most.sum()) if limits.max_items is None else int(limits.max_items)
    bundles = np.zeros((len(prices), len(capacities)), dtype=np.int64)
    utilities = np.full(len(prices), -np.inf)
    _ascend_all(
        parameters, architecture.sizes, architecture.skip_connection, capacities, prices, np.ascontiguousarray(pool), most, room,
        bundles[:0] if forbidden is None else forbidden, bundles, utilities,
    )  # fmt: skip
    return bundles, utilities


@njit(cache=True, nogil=True)
def _ascend_all(  # type: ignore[no-untyped-def]
    parameters, sizes, skip, capacities, prices, pool, most, room, forbidden, bundles, utilities
):
    n_first = sizes[1] if len(sizes) > 1 else 0
    sums, moved, scratch = np.empty(n_first), np.empty(n_first), np.empty((2, sizes.max()))
    bundle, pooled = np.empty_like(most), np.empty(len(pool))
    values = np.empty(len(pool))
    for row in range(len(pool)):
        values[row] = _value(parameters, sizes, skip, capacities, pool[row], sums, scratch)
    _fill(most, room, bundle)
    greatest = _value(parameters, sizes, skip, capacities, bundle, sums, scratch)
    for k in range(len(prices)):
        for row in range(len(pool)):
            pooled[row] = values[row] - _cost(pool[row], prices[k])
        for attempt in range(3):
            if attempt == 0:
                bundle[:] = 0
            elif attempt == 1:
                _fill(most, room, bundle)
            elif len(pool) > 0:
                bundle[:] = pool[pooled.argmax()]
            else:
                break
            utility = _ascend_from(
                parameters, sizes, skip, capacities, prices[k], most, room, forbidden, greatest, bundle, sums, moved, scratch
            )
            if utility > utilities[k] + LEAST_GAIN * greatest:
                utilities[k] = utility
                bundles[k] = bundle


@njit(cache=True, nogil=True)
def _fill(most, room, bundle):  # type: ignore[no-untyped-def]
    """Take as much as fits, the first goods first."""
    left = room
    for j in range(len(most)):
        bundle[j] = min(most[j], left)
        left -= bundle[j]


@njit(cache=True, nogil=True)
def _ascend_from(  # type: ignore[no-untyped-def]
    parameters, sizes, skip, capacities, prices, most, room, forbidden, greatest, bundle, sums, moved, scratch
):
    """Improve the bundle in place; return its utility. A forbidden bundle counts as minus infinity: the first step leaves it."""
    value = _value(parameters, sizes, skip, capacities, bundle, sums, scratch)
    utility = -np.inf if _is_among(bundle, forbidden) else value - _cost(bundle, prices)
    held, linear, n_first = bundle.sum(), len(parameters) - sizes[0], len(sums)
    skipped = 0.0
    if skip:
        for j in range(len(bundle)):
            skipped += parameters[linear + j] * bundle[j]
    cost = _cost(bundle, prices)
    for _ in range(MOST_SWEEPS):
        has_improved = False
        for j in range(len(bundle)):
            old = bundle[j]
            best, best_level = utility + LEAST_GAIN * greatest, old
            for level in range(min(most[j], old + room - held) + 1):
                if level == old:
                    continue
                change = level - old
                share = change / capacities[j]
                for h in range(n_first):
                    moved[h] = sums[h] + share * parameters[j * n_first + h]
                candidate = _upper_layers(parameters, sizes, moved, scratch) + skipped - cost - change * prices[j]
                if skip:
                    candidate += change * parameters[linear + j]
                if candidate > best:
                    bundle[j] = level
                    if not _is_among(bundle, forbidden):
                        best, best_level = candidate, level
            bundle[j] = old
            if best_level != old:
                change = best_level - old
                share = change / capacities[j]
                for h in range(n_first):
                    sums[h] += share * parameters[j * n_first + h]
                if skip:
                    skipped += change * parameters[linear + j]
                cost += change * prices[j]
                held += change
                bundle[j] = best_level
                utility = best
                has_improved = True
        if not has_improved:
            break
    if utility == -np.inf:
        return utility
    return _value(parameters, sizes, skip, capacities, bundle, sums, scratch) - _cost(bundle, prices)


@njit(cache=True, nogil=True)
def _cost(bundle, prices):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(bundle)):
        total += bundle[j] * prices[j]
    return total


@njit(cache=True, nogil=True)
def _is_among(bundle, forbidden):  # type: ignore[no-untyped-def]
    for row in range(len(forbidden)):
        same = True
        for j in range(len(bundle)):
            if forbidden[row, j] != bundle[j]:
                same = False
                break
        if same:
            return True
    return False


@njit(cache=True, nogil=True)
def _value(parameters, sizes, skip, capacities, bundle, sums, scratch):  # type: ignore[no-untyped-def]
    """Return M(x), leaving the first layer's sums in `sums`."""
    size = len(sums)
    for h in range(size):
        sums[h] = parameters[sizes[0] * size + h]
    for j in range(len(bundle)):
        if bundle[j] > 0:
            share = bundle[j] / capacities[j]
            for h in range(size):
                sums[h] += share * parameters[j * size + h]
    value = _upper_layers(parameters, sizes, sums, scratch)
    if skip:
        linear = len(parameters) - sizes[0]
        for j in range(len(bundle)):
            value += parameters[linear + j] * bundle[j]
    return value


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"})
def _upper_layers(parameters, sizes, sums, scratch):  # type: ignore[no-untyped-def]
    """Return w_out . z^K, given the sums of the first layer."""
    if len(sizes) == 1:
        return 0.0
    units, above = scratch[0], scratch[1]
    size = sizes[1]
    cutoff = (sizes[0] + 1) * size
    for h in range(size):
        units[h] = min(parameters[cutoff + h], max(0.0, sums[h]))
    place = cutoff + size
    for k in range(2, len(sizes)):
        fan_in, size = sizes[k - 1], sizes[k]
        bias = place + fan_in * size
        for h in range(size):
            above[h] = parameters[bias + h]
        for j in range(fan_in):
            share = units[j]
            if share != 0.0:
                for h in range(size):
                    above[h] += share * parameters[place + j * size + h]
        for h in range(size):
            above[h] = min(parameters[bias + size + h], max(0.0, above[h]))
        units, above = above, units
        place = bias + 2 * size
    value = 0.0
    for h in range(size):
        value += parameters[place + h] * units[h]
    return value
