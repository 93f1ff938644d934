r"""The shape of a monotone value network, and the one vector that holds all its parameters.

A multiset monotone-value network (mMVNN; Weissteiner et al., "Monotone-Value Neural Networks", IJCAI 2022, and Soumalias et al.,
"Machine Learning-Powered Combinatorial Clock Auction", AAAI 2024) maps a bundle x to

.. math:: M(x) = w_{out} \cdot z^K + w_{lin} \cdot x, \quad z^k = \min(t^k, \max(0, W^k z^{k-1} + b^k)), \quad z^0_j = x_j / c_j.

With W, t, w_out, w_lin >= 0 and b <= 0 it is monotone and M(0) = 0. The parameters lie in one vector, layer by layer: W^k transposed
(an input's weights to all units are neighbours, so that a kernel goes along them), b^k, t^k; then w_out, then w_lin if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.operation import InvalidInput

MOST_GOODS, MOST_UNITS, MOST_NEURONS, MOST_LAYERS = 500, 1000, 4096, 8
"""Goods, units of a good, neurons of a layer, hidden layers."""

Vector = NDArray[np.float64]


class Layer(NamedTuple):
    """Views of one hidden layer's parameters.

    Attributes
    ----------
    weight : array of shape (fan_in, n_units)
    bias, cutoff : array of shape (n_units,)
    """

    weight: Vector
    bias: Vector
    cutoff: Vector


@dataclass(frozen=True)
class Architecture:
    """Capacities, hidden layers, and whether goods also act linearly.

    Parameters
    ----------
    capacities : tuple of int
        Units of each good, at least 1.
    hidden_layer_sizes : tuple of int
        May be empty: then the network is additive.
    skip_connection : bool

    Examples
    --------
    >>> Architecture((1, 1, 1), (4,), True).n_parameters
    27
    """

    capacities: tuple[int, ...]
    hidden_layer_sizes: tuple[int, ...]
    skip_connection: bool

    def __post_init__(self) -> None:
        if not 1 <= len(self.capacities) <= MOST_GOODS:
            raise InvalidInput(f"{len(self.capacities)} goods; there may be 1 to {MOST_GOODS}", pointer="/capacities")
        for j, capacity in enumerate(self.capacities):
            if not _is_whole(capacity) or not 1 <= capacity <= MOST_UNITS:
                raise InvalidInput(
                    f"the supply {capacity!r} of good {j} is no integer from 1 to {MOST_UNITS}", pointer=f"/capacities/{j}"
                )
        if len(self.hidden_layer_sizes) > MOST_LAYERS:
            raise InvalidInput(
                f"{len(self.hidden_layer_sizes)} hidden layers; there may be {MOST_LAYERS}", pointer="/hidden_layer_sizes"
            )
        for k, size in enumerate(self.hidden_layer_sizes):
            if not _is_whole(size) or not 1 <= size <= MOST_NEURONS:
                raise InvalidInput(
                    f"the size {size!r} of layer {k} is no integer from 1 to {MOST_NEURONS}", pointer=f"/hidden_layer_sizes/{k}"
                )
        if not self.hidden_layer_sizes and not self.skip_connection:
            raise InvalidInput("without hidden layers there must be a skip connection", pointer="/hidden_layer_sizes")

    @property
    def n_goods(self) -> int:
        return len(self.capacities)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of inputs, then of the units of each hidden layer."""
        return np.array((self.n_goods, *self.hidden_layer_sizes), dtype=np.int64)

    @cached_property
    def n_parameters(self) -> int:
        hidden = sum((int(before) + 2) * int(after) for before, after in zip(self.sizes, self.sizes[1:], strict=False))
        return hidden + self._n_output + self._n_skip

    @property
    def _n_output(self) -> int:
        return self.hidden_layer_sizes[-1] if self.hidden_layer_sizes else 0

    @property
    def _n_skip(self) -> int:
        return self.n_goods if self.skip_connection else 0

    def layers(self, parameters: Vector) -> Iterator[Layer]:
        """Yield views of each hidden layer."""
        start = 0
        for fan_in, units in zip(self.sizes.tolist(), self.hidden_layer_sizes, strict=False):
            bias = start + fan_in * units
            weight = parameters[start:bias].reshape(fan_in, units)
            yield Layer(weight, parameters[bias : bias + units], parameters[bias + units : bias + 2 * units])
            start = bias + 2 * units

    def output_weight(self, parameters: Vector) -> Vector:
        """Return a view of w_out."""
        end = self.n_parameters - self._n_skip
        return parameters[end - self._n_output : end]

    def skip_weight(self, parameters: Vector) -> Vector | None:
        """Return a view of w_lin, or None where the network has none."""
        return parameters[self.n_parameters - self._n_skip :] if self.skip_connection else None

    @cached_property
    def is_bias(self) -> NDArray[np.bool_]:
        """Which parameters are biases: at most 0, where all others are at least 0."""
        marks = np.zeros(self.n_parameters)
        for layer in self.layers(marks):
            layer.bias[:] = 1.0
        return marks.astype(bool)

    def project(self, parameters: Vector) -> None:
        """Clamp every parameter to the half-line that keeps the network monotone, in place.

        Examples
        --------
        >>> parameters = np.array([-1.0, 2.0, -0.5, 3.0])
        >>> Architecture((1,), (1,), False).project(parameters)
        >>> parameters.tolist()
        [0.0, 0.0, 0.0, 3.0]
        """
        np.copyto(parameters, 0.0, where=(parameters > 0.0) == self.is_bias)


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
