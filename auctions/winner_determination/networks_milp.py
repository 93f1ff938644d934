"""Winner determination over networks: exchange search finds an allocation, HiGHS proves it on a model of all networks."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.integer_program import IntegerProgram
from auctions.networks.mvnn import MVNN
from auctions.networks.network_program import add_network, forbid
from auctions.outcome import AllocationResult, SearchLimits, Status, StoppedBy, relative_gap
from auctions.winner_determination.exchange import ExchangeSearch

DEFAULT_NODES = 20_000


def solve_networks(
    networks: Sequence[MVNN],
    capacities: NDArray[np.int64],
    limits: SearchLimits,
    *,
    forbidden: Mapping[int, Bundles],
    exclude: Collection[int] = (),
    method: Literal["exchange", "milp"] = "exchange",
    warm_start: Bundles | None = None,
) -> AllocationResult:
    """Return an allocation of high predicted value.

    Parameters
    ----------
    networks : sequence of MVNN
    capacities : int array of shape (n_goods,)
    limits : SearchLimits
        `iteration_limit` counts the starts of the exchange search (default 30), `node_limit` the nodes of HiGHS (default 20,000).
    forbidden : mapping from bidder to bundles
    exclude : collection of int
        Bidders that get nothing.
    method : {"exchange", "milp"}
        The first proves no more than the linear relaxation does; the second goes on by branch and bound.
    warm_start : int array of shape (n_bidders, n_goods), optional
    """
    started = time.monotonic()
    deadline = started + limits.time_limit
    active = [bidder for bidder in range(len(networks)) if bidder not in exclude]
    if not active:
        return _result(_valued(networks, None, active, len(capacities)), 0.0, "optimal", None, method, started)
    allocation, stopped_by = ExchangeSearch(networks, capacities, forbidden, exclude).best(limits, deadline, warm_start)
    found = _valued(networks, allocation, active, len(capacities))
    program, quantities = _program(networks, capacities, forbidden, active)
    scale = max(networks[bidder].scale_ for bidder in active)
    bound = program.relaxed_bound() * scale
    if method == "milp" and stopped_by is None:
        solution = program.maximise(
            replace(
                limits,
                node_limit=DEFAULT_NODES if limits.node_limit is None else limits.node_limit,
                time_limit=max(0.0, deadline - time.monotonic()),
            )
        )
        stopped_by, bound = solution.stopped_by, min(bound, solution.bound * scale)
        if solution.columns is not None:
            proven = np.zeros((len(networks), len(capacities)), dtype=np.int64)
            proven[active] = np.rint(solution.columns[quantities]).astype(np.int64)
            found = max(found, _valued(networks, proven, active, len(capacities)), key=lambda pair: float(pair[1].sum()))
            allocation = proven
        elif solution.bound == -np.inf and allocation is None:
            return _result(found, 0.0, "infeasible", stopped_by, method, started)
    bound = max(bound, float(found[1].sum()))
    is_proven = allocation is not None and relative_gap(bound, float(found[1].sum())) <= limits.gap
    return _result(found, bound, "optimal" if is_proven else "feasible", stopped_by, method, started)


def _valued(
    networks: Sequence[MVNN], allocation: Bundles | None, active: Sequence[int], n_goods: int
) -> tuple[Bundles, NDArray[np.float64]]:
    bundles = np.zeros((len(networks), n_goods), dtype=np.int64) if allocation is None else allocation
    values = np.zeros(len(networks))
    for bidder in active:
        values[bidder] = networks[bidder].predict(bundles[bidder][None])[0]
    return bundles, values


def _program(
    networks: Sequence[MVNN], capacities: NDArray[np.int64], forbidden: Mapping[int, Bundles], active: Sequence[int]
) -> tuple[IntegerProgram, NDArray[np.int64]]:
    """Return the model, in units of the largest scale, and the columns of each active bidder's bundle."""
    program = IntegerProgram()
    scale = max(networks[bidder].scale_ for bidder in active)
    quantities = np.zeros((len(active), len(capacities)), dtype=np.int64)
    for place, bidder in enumerate(active):
        network = networks[bidder]
        factor = network.scale_ / scale
        most = network.limits.quantities(network.architecture.capacities)
        skip = network.architecture.skip_weight(network.parameters_)
        gains = np.zeros(len(capacities)) if skip is None else factor * np.asarray(skip)
        for good, (gain, top) in enumerate(zip(gains.tolist(), most.tolist(), strict=True)):
            quantities[place, good] = program.add_columns([gain], integer=True, upper=float(top))[0]
        add_network(program, network.architecture, network.parameters_, quantities[place], most, factor)
        if network.limits.max_items is not None:
            program.add_row(quantities[place], 1.0, upper=float(network.limits.max_items))
        for bundle in forbidden.get(bidder, ()):
            forbid(program, quantities[place], bundle, most)
    for good, supply in enumerate(capacities.tolist()):
        program.add_row(quantities[:, good], 1.0, upper=float(supply))
    return program, quantities


def _result(
    found: tuple[Bundles, NDArray[np.float64]],
    bound: float,
    status: Status,
    stopped_by: StoppedBy | None,
    method: str,
    started: float,
) -> AllocationResult:
    allocation, values = found
    return AllocationResult(
        allocation, values, float(values.sum()), bound, status, stopped_by, method, time.monotonic() - started
    )
