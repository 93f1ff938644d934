"""Networks to test with."""

from collections.abc import Sequence

import numpy as np

from auctions.networks.architecture import Architecture, Vector
from auctions.networks.initialisation import Initialisation, initial_parameters

SHAPES = [
    ((1,) * 8, (), True),
    ((1,) * 8, (5,), False),
    ((1,) * 7, (6, 4, 5), True),
    ((2, 3, 1), (7,), True),
    ((6, 14, 9), (8, 6), True),
]


def random_network(
    capacities: Sequence[int], hidden: Sequence[int], skip: bool, seed: int = 0, zeros: float = 0.3
) -> tuple[Architecture, Vector]:
    """A network with some parameters 0, some units out of reach and, where there is one, a skip connection that matters."""
    rng = np.random.default_rng(seed)
    architecture = Architecture(tuple(capacities), tuple(hidden), skip)
    parameters = initial_parameters(architecture, rng, Initialisation(init_bias=0.3))
    parameters[rng.random(len(parameters)) < zeros] = 0.0
    linear = architecture.skip_weight(parameters)
    if linear is not None:
        linear[:] = rng.uniform(0, 0.1, len(capacities))
    return architecture, parameters
