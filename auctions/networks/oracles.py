"""Which search finds the bundle of highest utility: a table of few bundles; coordinate ascent and branch and bound of many."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auctions.admissible import count_admissible
from auctions.bundles import Bundles, Limits
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.coordinate_ascent import ascend
from auctions.networks.demand import Demand
from auctions.networks.demand_program import DEFAULT_SEARCH, climbed_demand, proven_demand
from auctions.networks.training import Chooser
from auctions.networks.value_table import LARGEST_TABLE, network_table
from auctions.outcome import SearchLimits
from solvers.operation import InvalidInput

Method = Literal["auto", "table", "coordinate_ascent", "milp"]

METHODS: tuple[Method, ...] = ("auto", "table", "coordinate_ascent", "milp")


def is_listable(architecture: Architecture, limits: Limits) -> bool:
    """Tell whether all admissible bundles fit in a table."""
    return count_admissible(architecture.capacities, limits) <= LARGEST_TABLE


def chooser(architecture: Architecture, limits: Limits, method: Method = "auto", known: Bundles | None = None) -> Chooser:
    """Return the search that training asks for a network's own choices at many price vectors.

    Parameters
    ----------
    architecture : Architecture
    limits : Limits
    method : {"auto", "table", "coordinate_ascent", "milp"}
        "auto" for a table of at most 2^20 bundles, else coordinate ascent.
    known : int64 array of shape (S, m), optional
        Bundles that coordinate ascent may start from. It also remembers its last answers, so that one chooser belongs to one training.
    """
    if _checked(method) == "auto":
        method = "table" if is_listable(architecture, limits) else "coordinate_ascent"
    pool = (
        np.zeros((0, architecture.n_goods), dtype=np.int64) if known is None else np.unique(known[limits.admits(known)], axis=0)
    )
    last = pool[:0]

    def from_table(parameters: Vector, prices: NDArray[np.float64]) -> Bundles:
        return network_table(architecture, parameters, 1.0, limits, np.float32).demands(prices)[0]

    def by_ascent(parameters: Vector, prices: NDArray[np.float64]) -> Bundles:
        nonlocal last
        last = ascend(architecture, parameters, prices, np.concatenate((pool, last)), limits)[0]
        return last

    def by_proof(parameters: Vector, prices: NDArray[np.float64]) -> Bundles:
        return np.stack([proven_demand(architecture, parameters, 1.0, row, pool[:0], limits).bundle for row in prices])

    return {"table": from_table, "coordinate_ascent": by_ascent, "milp": by_proof}[method]


def demand_at(
    architecture: Architecture,
    parameters: Vector,
    scale: float,
    prices: NDArray[np.float64],
    forbidden: Bundles,
    limits: Limits,
    method: Method = "auto",
    search: SearchLimits = DEFAULT_SEARCH,
) -> Demand:
    """Return the bundle of highest scale * M(x) - p.x by the method, "auto" for a table of at most 2^20 bundles, else branch and bound."""
    if _checked(method) == "auto":
        method = "table" if is_listable(architecture, limits) else "milp"
    if method == "table":
        return network_table(architecture, parameters, scale, limits, np.float32).restrict(forbidden).demand(prices)
    if method == "coordinate_ascent":
        return climbed_demand(architecture, parameters, scale, prices, forbidden, limits)
    return proven_demand(architecture, parameters, scale, prices, forbidden, limits, search)


def _checked(method: Method) -> Method:
    if method not in METHODS:
        raise InvalidInput(f"{method!r} is none of {', '.join(METHODS)}", pointer="/method")
    return method
