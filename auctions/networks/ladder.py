"""Generic goods unit by unit: u_{j,l} = [x_j >= l], so that a network of single units can value them.

BOCA works on licences. On the ladder of a bundle the l-th unit of a good comes before the next, and a network of licences becomes one
of quantities by one more layer: u_{j,l} = min(1, max(0, x_j - (l - 1))) is a unit like any other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auctions.networks.architecture import Architecture, Vector


def ladder(quantities: NDArray[np.float64] | NDArray[np.int64], capacities: tuple[int, ...]) -> NDArray[np.float64]:
    """Return u_{j,l} for l = 1..c_j, good by good; between two whole quantities one rung is partly taken.

    Examples
    --------
    >>> ladder(np.array([[1, 2]]), (1, 3)).tolist()
    [[1.0, 1.0, 1.0, 0.0]]
    >>> ladder(np.array([[0.0, 1.25]]), (1, 3)).tolist()
    [[0.0, 1.0, 0.25, 0.0]]
    """
    good, rung = _rungs(capacities)
    return np.clip(np.asarray(quantities, dtype=np.float64)[:, good] - rung, 0.0, 1.0)


def network_of_quantities(licences: Architecture, parameters: Vector, capacities: tuple[int, ...]) -> tuple[Architecture, Vector]:
    """Return the network of quantities with the same values as a network of the ladder's licences.

    A skip connection would not be linear in the quantities: the rungs pass through all layers as units of their own instead.

    Examples
    --------
    >>> shape, same = network_of_quantities(Architecture((1, 1), (), True), np.array([3.0, 1.0]), (2,))
    >>> from auctions.networks.forward_pass import evaluate
    >>> evaluate(shape, same, np.array([[0], [1], [2]])).tolist()
    [0.0, 3.0, 4.0]
    """
    if max(capacities) == 1:
        return licences, parameters
    good, rung = _rungs(capacities)
    n_rungs = len(good)
    passed = n_rungs if licences.skip_connection else 0
    sizes = (n_rungs, *(size + passed for size in licences.hidden_layer_sizes))
    shape = Architecture(capacities, sizes, False)
    same = np.zeros(shape.n_parameters)
    rungs, *layers = shape.layers(same)
    rungs.weight[good, np.arange(n_rungs)] = np.asarray(capacities)[good]
    rungs.bias[:], rungs.cutoff[:] = -rung, 1.0
    n_before = 0
    for k, (layer, known) in enumerate(zip(layers, licences.layers(parameters), strict=True)):
        size = len(known.bias)
        start = 0 if k == 0 else n_before
        layer.weight[: known.weight.shape[0], :size] = known.weight
        layer.bias[:size], layer.cutoff[:size] = known.bias, known.cutoff
        layer.weight[np.arange(start, start + passed), np.arange(size, size + passed)] = 1.0
        layer.cutoff[size:] = 1.0
        n_before = size
    output, skip = shape.output_weight(same), licences.skip_weight(parameters)
    output[:n_before] = licences.output_weight(parameters)
    if skip is not None:
        output[n_before:] = skip
    return shape, same


def _rungs(capacities: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the good of each rung, and how many rungs of that good are below it."""
    counts = np.asarray(capacities, dtype=np.int64)
    good = np.repeat(np.arange(len(counts)), counts)
    return good, np.arange(len(good)) - np.repeat(np.cumsum(counts) - counts, counts)
