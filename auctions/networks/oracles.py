"""Which search finds the bundle of highest utility: a table of all bundles where they are few enough."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.demand import Demand
from auctions.networks.training import Chooser
from auctions.networks.value_table import network_table
from auctions.outcome import SearchLimits

Method = Literal["auto", "table"]

DEFAULT_SEARCH = SearchLimits()


def chooser(architecture: Architecture, limits: Limits, method: Method = "auto") -> Chooser:
    """Return the search that training asks for a network's own choices at many price vectors."""

    def from_table(parameters: Vector, prices: NDArray[np.float64]) -> Bundles:
        return network_table(architecture, parameters, 1.0, limits, np.float32).demands(prices)[0]

    return from_table


def exact_demand(
    architecture: Architecture,
    parameters: Vector,
    scale: float,
    prices: NDArray[np.float64],
    forbidden: Bundles,
    limits: Limits,
    method: Method = "auto",
    search: SearchLimits = DEFAULT_SEARCH,
) -> Demand:
    """Return the bundle of highest scale * M(x) - p.x."""
    return network_table(architecture, parameters, scale, limits, np.float32).restrict(forbidden).demand(prices)
