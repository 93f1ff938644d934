"""The bundle of highest utility where there are too many to list: coordinate ascent finds it, branch and bound proves it."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from auctions.admissible import FREE, count_admissible, first_bundles
from auctions.bundles import Bundles, Limits
from auctions.domains.integer_program import IntegerProgram
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.coordinate_ascent import ascend
from auctions.networks.demand import Demand, no_demand
from auctions.networks.forward_pass import evaluate
from auctions.networks.network_program import add_network, forbid, point_of
from auctions.outcome import SearchLimits

DEFAULT_NODES = 20_000

OVERTIME = 5.0
"""Seconds after its time limit when a search that does not keep to it is interrupted."""

DEFAULT_SEARCH = SearchLimits()


def climbed_demand(
    architecture: Architecture,
    parameters: Vector,
    scale: float,
    prices: NDArray[np.float64],
    forbidden: Bundles,
    limits: Limits = FREE,
) -> Demand:
    """Return a bundle of high scale * M(x) - p.x by coordinate ascent; nothing is proven but that no bundle is worth more than all."""
    unwanted = np.unique(forbidden[limits.admits(forbidden)], axis=0)
    if len(unwanted) == count_admissible(architecture.capacities, limits):
        return no_demand(architecture.n_goods)
    # Of one more bundle than are forbidden, one is not: so there is always an answer.
    pool = first_bundles(architecture.capacities, limits, len(unwanted) + 1)
    allowed = pool[~(pool[:, None, :] == unwanted[None, :, :]).all(axis=2).any(axis=1)]
    bundle = ascend(architecture, parameters, prices[None, :] / scale, allowed, limits, unwanted)[0][0]
    ceiling = evaluate(architecture, parameters, np.stack([bundle, limits.quantities(architecture.capacities)]))
    value, highest = (scale * ceiling).tolist()
    utility = value - float(bundle @ prices)
    return Demand(bundle, value, utility, max(utility, highest), "feasible")


def proven_demand(
    architecture: Architecture,
    parameters: Vector,
    scale: float,
    prices: NDArray[np.float64],
    forbidden: Bundles,
    limits: Limits = FREE,
    search: SearchLimits = DEFAULT_SEARCH,
) -> Demand:
    """Return the bundle of highest scale * M(x) - p.x with what branch and bound proves of it.

    Examples
    --------
    >>> additive = Architecture((2, 3), (), True)
    >>> answer = proven_demand(additive, np.array([1.0, 2.0]), 10.0, np.array([15.0, 5.0]), np.array([[0, 3]]))
    >>> answer.bundle.tolist(), answer.utility, answer.status
    ([1, 3], 40.0, 'optimal')
    """
    near = climbed_demand(architecture, parameters, scale, prices, forbidden, limits)
    if near.status == "infeasible":
        return near
    own_prices = prices / scale
    most = limits.quantities(architecture.capacities)
    skip = architecture.skip_weight(parameters)
    gains = -own_prices if skip is None else skip - own_prices

    program = IntegerProgram()
    quantities = np.concatenate(
        [program.add_columns([gain], integer=True, upper=float(top)) for gain, top in zip(gains, most, strict=True)]
    )
    columns = add_network(program, architecture, parameters, quantities, most)
    if limits.max_items is not None:
        program.add_row(quantities, 1.0, upper=float(limits.max_items))
    unwanted = np.unique(forbidden[limits.admits(forbidden)], axis=0)
    start = None if len(unwanted) else point_of(program, architecture, parameters, quantities, columns, near.bundle)
    for bundle in unwanted:
        forbid(program, quantities, bundle, most)

    deadline = time.monotonic() + search.time_limit + OVERTIME
    solution = program.maximise(
        SearchLimits(
            gap=search.gap,
            node_limit=DEFAULT_NODES if search.node_limit is None else search.node_limit,
            time_limit=search.time_limit,
            cancelled=lambda: search.cancelled() or time.monotonic() > deadline,
        ),
        start,
    )
    best = near
    if solution.columns is not None:
        bundle = np.rint(solution.columns[quantities]).astype(np.int64)
        value = scale * float(evaluate(architecture, parameters, bundle[None, :])[0])
        utility = value - float(bundle @ prices)
        if utility > near.utility:
            best = Demand(bundle, value, utility, near.bound, "feasible")
    bound = max(best.utility, min(near.bound, scale * solution.bound))
    stopped_by = "time_limit" if solution.stopped_by == "cancelled" and not search.cancelled() else solution.stopped_by
    proven = Demand(best.bundle, best.value, best.utility, bound, "optimal", stopped_by)
    return proven if proven.gap <= search.gap else Demand(best.bundle, best.value, best.utility, bound, "feasible", stopped_by)
