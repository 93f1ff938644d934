r"""First parameters of a monotone value network.

"custom" is the scheme of Weissteiner et al. ("Bayesian Optimization-based Combinatorial Assignment", AAAI 2023), which keeps the mean
and the variance of a unit's sum the same for every fan-in n: each weight comes from Unif(0, b) with probability q, else from
Unif(0, a), so that a sum over n inputs of 1 has mean e = E + bias/2 and variance Var. Non-negative weights drawn any usual way would
saturate every unit of a wide layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from auctions.networks.architecture import Architecture, Vector
from solvers.operation import InvalidInput


@dataclass(frozen=True, slots=True)
class Initialisation:
    r"""How a network starts.

    Attributes
    ----------
    scheme : {"custom", "glorot", "zero"}
        "custom" as above; "glorot" with absolute values of weights that are uniform within :math:`\pm\sqrt{6 / (fan_{in} + fan_{out})}`,
        biases as in "custom"; "zero" with all weights and biases 0.
    init_E, init_Var : float
        Mean and variance of a unit's sum over inputs of 1, before its bias.
    init_b : float
        Least upper end b of the weights' wider interval.
    init_bias : float
        Biases come from Unif(-init_bias, 0).
    init_little_const : float
        How far b stays above the least value that reaches the variance, times the fan-in.
    cutoff_range : tuple of float
        Cut-offs come from a uniform distribution between these.
    """

    scheme: Literal["custom", "glorot", "zero"] = "custom"
    init_E: float = 1.0
    init_Var: float = 0.09
    init_b: float = 0.05
    init_bias: float = 0.05
    init_little_const: float = 0.1
    cutoff_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.scheme not in ("custom", "glorot", "zero"):
            raise InvalidInput(f"{self.scheme!r} is none of custom, glorot, zero", pointer="/scheme")
        for name in ("init_E", "init_Var"):
            if not 0 < getattr(self, name) < np.inf:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be positive", pointer=f"/{name}")
        for name in ("init_b", "init_bias", "init_little_const"):
            if not 0 <= getattr(self, name) < np.inf:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must not be negative", pointer=f"/{name}")
        low, high = self.cutoff_range
        if not 0 <= low <= high < np.inf:
            raise InvalidInput(f"the cut-offs' range {low} to {high} is none", pointer="/cutoff_range")


CUSTOM = Initialisation()


class Mixture(NamedTuple):
    """Weights come from Unif(0, b) with probability `share_of_b`, else from Unif(0, a)."""

    a: float
    b: float
    share_of_b: float


def weight_mixture(fan_in: int, start: Initialisation = CUSTOM) -> Mixture:
    """Return the intervals of the "custom" scheme for a layer with so many inputs.

    Examples
    --------
    >>> weight_mixture(3)
    Mixture(a=0.0, b=0.68..., share_of_b=1.0)
    """
    n, v = fan_in, start.init_Var
    e = start.init_E + start.init_bias / 2
    if n <= e * e / (3 * v):
        return Mixture(0.0, 2 * e / n, 1.0)  # one interval's variance is at least v
    b = max((3 * e * e + 3 * n * v) / (2 * e * n) + start.init_little_const / n, start.init_b)
    numerator = 4 * e * e - 4 * b * e * n + (b * n) ** 2
    denominator = 3 * e * e - 4 * b * e * n + (b * n) ** 2 + 3 * n * v
    share = 1 - numerator / denominator
    return Mixture(denominator * (2 * e - b * n * share) / (n * numerator), b, share)


def initial_parameters(architecture: Architecture, rng: np.random.Generator, start: Initialisation = CUSTOM) -> Vector:
    """Draw the parameters of a new network; a skip connection starts at 0, output weights as if they were a layer's.

    Examples
    --------
    >>> shape = Architecture((1, 1), (3,), True)
    >>> parameters = initial_parameters(shape, np.random.default_rng(0))
    >>> shape.skip_weight(parameters).tolist()
    [0.0, 0.0]
    """
    parameters = np.zeros(architecture.n_parameters)
    for layer in architecture.layers(parameters):
        layer.weight[:] = _draw_weights(layer.weight.shape, rng, start)
        if start.scheme != "zero":
            layer.bias[:] = rng.uniform(-start.init_bias, 0.0, layer.bias.shape)
        layer.cutoff[:] = rng.uniform(*start.cutoff_range, layer.cutoff.shape)
    output = architecture.output_weight(parameters)
    if output.size:
        output[:] = _draw_weights((output.size, 1), rng, start)[:, 0]
    return parameters


def _draw_weights(shape: tuple[int, int], rng: np.random.Generator, start: Initialisation) -> Vector:
    if start.scheme == "zero":
        return np.zeros(shape)
    if start.scheme == "glorot":
        return rng.uniform(0.0, np.sqrt(6.0 / sum(shape)), shape)
    mixture = weight_mixture(shape[0], start)
    return rng.uniform(0.0, 1.0, shape) * np.where(rng.random(shape) < mixture.share_of_b, mixture.b, mixture.a)


def explaining_parameters(bundles: ArrayLike, values: ArrayLike) -> tuple[tuple[int, int], Vector]:
    """Return the network that gives a bundle x the least value of a point that contains x: no monotone value with these points is higher.

    Parameters
    ----------
    bundles : array of shape (N, m)
        Distinct bundles of single units, the empty and the full one among them.
    values : array of shape (N,)
        Of a monotone value function; 0 for the empty bundle.

    Returns
    -------
    hidden_layer_sizes, parameters
        For an :class:`Architecture` with these layers and no skip connection.

    Notes
    -----
    Sort the points by value. A unit of the first layer counts what x has beyond a point, cut off at 1; the k-th unit of the second tells
    whether x is beyond the first k points. If all bundles are points, the network is the value function itself.

    Examples
    --------
    >>> sizes, parameters = explaining_parameters([[0, 0], [1, 0], [1, 1]], [0, 2, 5])
    >>> from auctions.networks.forward_pass import evaluate
    >>> evaluate(Architecture((1, 1), sizes, False), parameters, np.array([[0, 0], [1, 0], [0, 1], [1, 1]])).tolist()
    [0.0, 2.0, 5.0, 5.0]
    """
    points, worth = np.asarray(bundles, dtype=np.float64), np.asarray(values, dtype=np.float64)
    order = np.argsort(worth, kind="stable")
    points, worth = points[order], worth[order]
    if points[0].any() or not points[-1].all():
        raise InvalidInput(
            "the points lack the empty bundle at value 0, or the full one at the highest value", pointer="/bundles"
        )
    size = len(points) - 1
    shape = Architecture((1,) * points.shape[1], (size, size), False)
    parameters = np.zeros(shape.n_parameters)
    first, second = shape.layers(parameters)
    first.weight[:] = 1.0 - points[:-1].T
    second.weight[:] = np.triu(np.ones((size, size)))
    second.bias[:] = -np.arange(size)
    first.cutoff[:] = second.cutoff[:] = 1.0
    shape.output_weight(parameters)[:] = np.diff(worth)
    return (size, size), parameters
