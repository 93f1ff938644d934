"""Values of very many bundles at once: blocks of bundles go through the layers side by side, in single or double precision.

Units that are 0 for every bundle, or that nothing above them listens to, are left out, and of the rest the zero weights: training drives
a third of them there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles, all_bundles
from auctions.networks.architecture import Architecture, Vector

BLOCK = 256
"""Bundles side by side: 30 units of so many take 30 kB, which the nearest cache holds."""

Precision = type[np.float32] | type[np.float64]
Array = NDArray[Any]


class SparseNetwork(NamedTuple):
    """A network without its idle units and zero weights, a row of weights per unit.

    Attributes
    ----------
    sizes : int64 array
        Inputs, then the units of each layer that are left.
    row_ptr, sources, weights : arrays
        The rows of all layers one after the other; `sources` are places in the layer below.
    biases, cutoffs : arrays
        Of all units.
    output : array
        Weights of the last layer's units.
    skip : array of shape (m,)
        Linear weights of raw quantities; zeros where the network has none.
    """

    sizes: NDArray[np.int64]
    row_ptr: NDArray[np.int64]
    sources: NDArray[np.int64]
    weights: Array
    biases: Array
    cutoffs: Array
    output: Array
    skip: Array


def sparse_network(architecture: Architecture, parameters: Vector, precision: Precision = np.float64) -> SparseNetwork:
    """Return the part of a network that matters."""
    layers = list(architecture.layers(parameters))
    used = _used_units(architecture, parameters)
    rows: list[Vector] = []
    below = np.ones(architecture.n_goods, dtype=bool)
    for layer, kept in zip(layers, used, strict=True):
        rows += list(layer.weight[below][:, kept].T)
        below = kept
    sources = [np.flatnonzero(row) for row in rows]
    skip = architecture.skip_weight(parameters)

    def joined(parts: list[Vector]) -> Array:
        return np.concatenate([*parts, np.zeros(0)]).astype(precision)

    return SparseNetwork(
        sizes=np.array([architecture.n_goods, *(int(kept.sum()) for kept in used)], dtype=np.int64),
        row_ptr=np.concatenate(([0], np.cumsum([len(places) for places in sources]))).astype(np.int64),
        sources=np.concatenate([*sources, np.zeros(0, dtype=np.int64)]).astype(np.int64),
        weights=joined([row[places] for row, places in zip(rows, sources, strict=True)]),
        biases=joined([layer.bias[kept] for layer, kept in zip(layers, used, strict=True)]),
        cutoffs=joined([layer.cutoff[kept] for layer, kept in zip(layers, used, strict=True)]),
        output=architecture.output_weight(parameters)[below if layers else slice(0)].astype(precision),
        skip=(np.zeros(architecture.n_goods) if skip is None else skip).astype(precision),
    )


def _used_units(architecture: Architecture, parameters: Vector) -> list[NDArray[np.bool_]]:
    """Tell of each hidden unit whether the full bundle reaches it and the output listens to it."""
    layers = list(architecture.layers(parameters))
    highest, reached = np.ones(architecture.n_goods), []
    for layer in layers:
        highest = np.minimum(layer.cutoff, np.maximum(0.0, highest @ layer.weight + layer.bias))
        reached.append(highest > 0)
    heard: NDArray[np.bool_] = architecture.output_weight(parameters) > 0
    used: list[NDArray[np.bool_]] = []
    for k in range(len(layers) - 1, -1, -1):
        used.append(reached[k] & heard)
        heard = np.any(layers[k].weight[:, used[-1]] > 0, axis=1)
    return used[::-1]


def value_grid(network: SparseNetwork, capacities: tuple[int, ...]) -> Array:
    """Return the value of every bundle, in mixed-radix order.

    The sums of the first layer are those of a bundle's first goods plus those of the others, from two tables of about the square root
    of the length.
    """
    split = middle(capacities)
    low, high = all_bundles(capacities[:split]), all_bundles(capacities[split:])
    ratio = 1.0 / np.array(capacities)
    precision = network.skip.dtype
    n_first = network.sizes[1] if len(network.sizes) > 1 else 0
    first = np.zeros((n_first, len(capacities)))
    for unit in range(n_first):
        row = slice(network.row_ptr[unit], network.row_ptr[unit + 1])
        first[unit, network.sources[row]] = network.weights[row]
    first *= ratio
    values = np.empty((len(high), len(low)), dtype=precision)
    _fill_grid(
        network,
        (first[:, :split] @ low.T).astype(precision),
        (high @ first[:, split:].T + network.biases[:n_first]).astype(precision),
        (low @ network.skip[:split]).astype(precision),
        (high @ network.skip[split:]).astype(precision),
        values,
    )
    return values.reshape(-1)


def value_list(network: SparseNetwork, capacities: tuple[int, ...], bundles: Bundles) -> Array:
    """Return the value of each of the bundles."""
    values = np.empty(len(bundles), dtype=network.skip.dtype)
    _fill_list(network, np.array(capacities, dtype=network.skip.dtype), bundles, values)
    return values


def middle(capacities: tuple[int, ...]) -> int:
    """Return how many goods make up about the square root of all bundles."""
    logs = np.cumsum(np.log(np.array(capacities) + 1.0))
    return int(np.argmin(np.abs(logs - logs[-1] / 2))) + 1


@njit(cache=True, nogil=True)
def _fill_grid(network, low, high, skip_low, skip_high, values):  # type: ignore[no-untyped-def]
    widest = max(1, network.sizes[1:].max()) if len(network.sizes) > 1 else 1
    units = np.empty((widest, BLOCK), dtype=values.dtype)
    sums = np.empty_like(units)
    for row in range(len(high)):
        for start in range(0, low.shape[1] if len(low) else len(skip_low), BLOCK):
            width = min(BLOCK, len(skip_low) - start)
            for unit in range(len(low)):
                _clip_sum(low[unit, start : start + width], high[row, unit], network.cutoffs[unit], units[unit])
            block = values[row, start : start + width]
            for x in range(width):
                block[x] = skip_low[start + x] + skip_high[row]
            if len(network.sizes) > 1:
                _through_layers(network, 2, units, sums, width, block)


@njit(cache=True, nogil=True)
def _fill_list(network, capacities, bundles, values):  # type: ignore[no-untyped-def]
    units = np.empty((max(1, network.sizes.max()), BLOCK), dtype=values.dtype)
    sums = np.empty_like(units)
    for start in range(0, len(bundles), BLOCK):
        width = min(BLOCK, len(bundles) - start)
        block = values[start : start + width]
        block[:] = 0
        for good in range(len(capacities)):
            slope, capacity = network.skip[good], capacities[good]
            for x in range(width):
                quantity = values.dtype.type(bundles[start + x, good])
                block[x] += slope * quantity
                units[good, x] = quantity / capacity
        if len(network.sizes) > 1:
            _through_layers(network, 1, units, sums, width, block)


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"})
def _clip_sum(sums, constant, cutoff, units):  # type: ignore[no-untyped-def]
    zero = sums.dtype.type(0)
    for x in range(len(sums)):
        units[x] = min(cutoff, max(zero, sums[x] + constant))


@njit(cache=True, nogil=True)
def _through_layers(network, first, units, sums, width, values):  # type: ignore[no-untyped-def]
    """Take a block through the layers from `first` on, and add w_out . z^K to `values`."""
    zero = values.dtype.type(0)
    unit = 0
    for k in range(1, first):
        unit += network.sizes[k]
    for k in range(first, len(network.sizes)):
        for h in range(network.sizes[k]):
            row = sums[h]
            for x in range(width):
                row[x] = zero
            start, end = network.row_ptr[unit], network.row_ptr[unit + 1]
            _add_combination(network.weights[start:end], network.sources[start:end], units, width, row)
            _clip_sum(row[:width], network.biases[unit], network.cutoffs[unit], row)
            unit += 1
        units, sums = sums, units
    _add_combination(network.output, np.arange(len(network.output)), units, width, values)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_combination(weights, sources, units, width, total):  # type: ignore[no-untyped-def]
    """Add the weighted rows of `units`, four at a time so that each sum is loaded and stored a quarter as often."""
    j = 0
    while j + 4 <= len(weights):
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        u0, u1, u2, u3 = units[sources[j]], units[sources[j + 1]], units[sources[j + 2]], units[sources[j + 3]]
        for x in range(width):
            total[x] += w0 * u0[x] + w1 * u1[x] + w2 * u2[x] + w3 * u3[x]
        j += 4
    while j < len(weights):
        w, u = weights[j], units[sources[j]]
        for x in range(width):
            total[x] += w * u[x]
        j += 1
