"""Values of a batch of points and their gradients by matrix products, with dropout; for trainings on large batches of points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.networks.architecture import Architecture, Vector

Matrix = NDArray[np.float64]


class Passed(NamedTuple):
    """What a forward pass leaves behind for the backward pass.

    Attributes
    ----------
    values : array of shape (N,)
    units : list of array
        Inputs, then z^k of each layer, dropout applied.
    slopes : list of array
        dphi/dy of each layer, where a unit is neither off nor saturated, times the dropout.
    saturated : list of array
        dphi/dt of each layer, times the dropout.
    """

    values: Vector
    units: list[Matrix]
    slopes: list[Matrix]
    saturated: list[Matrix]

    def first(self, n: int) -> Passed:
        """Return the pass of the first n points alone."""
        return Passed(self.values[:n], *([part[:n] for part in parts] for parts in self[1:]))


def pass_forward(
    architecture: Architecture, parameters: Vector, points: Matrix, dropout: float, rng: np.random.Generator | None
) -> Passed:
    """Return M of each point; hidden units are left out with the probability `dropout`, the others raised in proportion.

    Parameters
    ----------
    architecture : Architecture
        Of single units: a point is its own share.
    parameters, points
    dropout : float
        Below 1.
    rng : numpy.random.Generator, optional
        Needed for dropout.
    """
    units, slopes, saturated = [points], list[Matrix](), list[Matrix]()
    for layer in architecture.layers(parameters):
        sums = units[-1] @ layer.weight
        draws = rng.random(sums.shape, dtype=np.float32) if dropout > 0.0 and rng is not None else np.ones(sums.shape, np.float32)
        parts = np.empty((3, *sums.shape))
        _activate(sums, layer.bias, layer.cutoff, draws, dropout, parts)
        for kept, part in zip((units, slopes, saturated), parts, strict=True):
            kept.append(part)
    values = units[-1] @ architecture.output_weight(parameters) if architecture.hidden_layer_sizes else np.zeros(len(points))
    skip = architecture.skip_weight(parameters)
    if skip is not None:
        values = values + points @ skip
    return Passed(values, units, slopes, saturated)


def gradient_of(architecture: Architecture, parameters: Vector, passed: Passed, factors: Vector) -> Vector:
    """Return the gradient of the sum of factor * M over the points."""
    gradient = np.empty_like(parameters)
    skip = architecture.skip_weight(gradient)
    if skip is not None:
        skip[:] = factors @ passed.units[0]
    if not architecture.hidden_layer_sizes:
        return gradient
    architecture.output_weight(gradient)[:] = factors @ passed.units[-1]
    pulls = factors[:, None] * architecture.output_weight(parameters)
    layers = list(zip(architecture.layers(parameters), architecture.layers(gradient), strict=True))
    for k in range(len(layers) - 1, -1, -1):
        layer, slope = layers[k]
        np.einsum("nh,nh->h", pulls, passed.saturated[k], out=slope.cutoff)
        pulls = pulls * passed.slopes[k]
        np.sum(pulls, axis=0, out=slope.bias)
        np.matmul(passed.units[k].T, pulls, out=slope.weight)
        if k > 0:
            pulls = pulls @ layer.weight.T
    return gradient


@njit(cache=True, nogil=True)
def _activate(sums, bias, cutoff, draws, dropout, parts):  # type: ignore[no-untyped-def]
    """Fill z, dphi/dy and dphi/dt, in one pass over the sums."""
    units, slopes, saturated = parts[0], parts[1], parts[2]
    raised = 1.0 / (1.0 - dropout)
    for n in range(sums.shape[0]):
        for h in range(sums.shape[1]):
            kept = raised if draws[n, h] >= dropout else 0.0
            total = sums[n, h] + bias[h]
            reached = max(0.0, total)
            is_saturated = reached >= cutoff[h]
            units[n, h] = kept * min(reached, cutoff[h])
            slopes[n, h] = 0.0 if is_saturated or total <= 0.0 else kept
            saturated[n, h] = kept if is_saturated else 0.0
