"""What the networks say that bundles are worth: trained anew from all answers each time a phase needs them.

Bidder i's network M_i works in units of its scale s_i: its predicted value of a bundle is s_i M_i(x). Scales are the domain's table, or
follow the bids (`dynamic`): the largest of them so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits, count_bundles
from auctions.mechanism.bids import inferred_bids
from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.domain_tables import has_dynamic_scales
from auctions.mechanism.economies import Economy
from auctions.mechanism.events import Bundle, Phase
from auctions.mechanism.network_settings import network_settings, upper_bound_settings
from auctions.mechanism.random_streams import stream
from auctions.mechanism.state import AuctionState
from auctions.mechanism.workbench import Workbench
from auctions.networks.hyperparameters import Hyperparameters
from auctions.networks.mvnn import MVNN
from auctions.networks.upper_bound_network import UpperBoundNetwork, UpperBoundOptions
from auctions.networks.value_table import LARGEST_TABLE, ValueTable
from auctions.outcome import AllocationResult, SearchLimits
from auctions.winner_determination.choose import as_table, solve_wdp
from auctions.winner_determination.table import Table

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingJob:
    """All that the training of one bidder's network depends on."""

    capacities: tuple[int, ...]
    limits: Limits
    settings: Hyperparameters | UpperBoundOptions
    acquisition: Literal["mean", "upper_bound"]
    scale: float
    prices: Vector
    chosen: Bundles
    asked: Bundles
    values: Vector
    seed: int
    phase: Phase
    round: int
    bidder: int


class LearnedValues:
    """Predicted values of all bidders.

    Parameters
    ----------
    networks : sequence of MVNN
    capacities : tuple of int
    limits : SearchLimits
        Of each winner determination.
    """

    def __init__(self, networks: Sequence[MVNN], capacities: tuple[int, ...], limits: SearchLimits) -> None:
        self.networks = networks
        self.capacities = capacities
        self.limits = limits
        self.deterministic = True

    @property
    def scales(self) -> list[float]:
        """The unit of each network."""
        return [network.scale_ for network in self.networks]

    @cached_property
    def values(self) -> list[ValueTable | MVNN]:
        """Each bidder's predicted values: a table where it has few enough bundles, else the network."""
        if count_bundles(self.capacities) > LARGEST_TABLE:
            return list(self.networks)
        return [network.value_table(np.float32) for network in self.networks]

    @cached_property
    def _tables(self) -> list[Table | MVNN]:
        """The predicted values as winner determination takes them."""
        supply = np.array(self.capacities)
        return [as_table(own, supply) if isinstance(own, ValueTable) else own for own in self.values]

    def demand(self, prices: Vector) -> tuple[Bundles, Vector]:
        """Return each bidder's bundle of highest predicted utility, and that utility."""
        wanted = [
            values.demand(prices) if isinstance(values, ValueTable) else values.demand(prices, method="coordinate_ascent")
            for values in self.values
        ]
        return np.array([each.bundle for each in wanted]), np.array([each.utility for each in wanted])

    def allocate(self, *, without: Economy = None) -> AllocationResult:
        """Return an allocation of highest predicted welfare, without a bidder if one is named."""
        return self._solve(without, {}, None)

    def restricted_bundle(
        self, bidder: int, forbidden: Sequence[Bundle], near: AllocationResult, *, without: Economy = None
    ) -> Bundle | None:
        """Return a bidder's bundle in the best allocation that gives it none of some bundles; None if it has no other.

        Parameters
        ----------
        bidder : int
        forbidden : sequence of tuple
        near : AllocationResult
            The unrestricted one, to start from.
        without : int, optional
            Who is left out.
        """
        result = self._solve(without, {bidder: list(forbidden)}, near)
        return None if result.status == "infeasible" else tuple(int(quantity) for quantity in result.allocation[bidder])

    def _solve(self, without: Economy, forbidden: dict[int, list[Bundle]], near: AllocationResult | None) -> AllocationResult:
        result = solve_wdp(
            self._tables,
            self.capacities,
            self.limits,
            forbidden=forbidden,
            exclude=() if without is None else (without,),
            prices=None if near is None else near.prices,
        )
        self.deterministic &= result.deterministic
        return result


def learn(state: AuctionState, phase: Phase, number: int, workbench: Workbench) -> LearnedValues:
    """Train the networks of all bidders on all answers so far."""
    parameters = state.config.parameters
    with workbench.timed("training"):
        networks = list(workbench.map(train_network, training_jobs(state, phase, number)))
    return LearnedValues(networks, state.config.capacities, workbench.limits(parameters.node_limit, parameters.time_limit))


def training_jobs(state: AuctionState, phase: Phase, number: int) -> list[TrainingJob]:
    """Return the training of each bidder's network for a round."""
    config = state.config
    n_goods = config.n_goods
    jobs = []
    for index, (bidder, record) in enumerate(zip(config.bidders, state.bidders, strict=True)):
        demand, value = record.demand_answers, record.value_answers
        jobs.append(
            TrainingJob(
                capacities=config.capacities,
                limits=bidder.limits,
                settings=settings_of(config, bidder.type, phase, bool(value)),
                acquisition=config.parameters.acquisition,
                scale=scale_of(state, index),
                prices=np.array([answer.prices for answer in demand], dtype=np.float64).reshape(-1, n_goods),
                chosen=np.array([answer.bundle for answer in demand], dtype=np.int64).reshape(-1, n_goods),
                asked=np.array([answer.bundle for answer in value], dtype=np.int64).reshape(-1, n_goods),
                values=np.array([answer.value for answer in value], dtype=np.float64),
                seed=config.seed,
                phase=phase,
                round=number,
                bidder=index,
            )
        )
    return jobs


def train_network(job: TrainingJob) -> MVNN:
    """Train one network; the same job gives the same network, in whatever process."""
    rng = stream(job.seed, job.phase, job.round, job.bidder)
    if isinstance(job.settings, UpperBoundOptions):
        both = UpperBoundNetwork(job.capacities, job.settings, limits=job.limits, random_state=rng).fit(job.asked, job.values)
        return both.upper_ if job.acquisition == "upper_bound" else both.mean_
    network = MVNN(
        job.capacities,
        job.settings.hidden_layer_sizes,
        job.settings.skip_connection,
        initialisation=job.settings.initialisation,
        limits=job.limits,
        random_state=rng,
    )
    return network.fit((job.prices, job.chosen), (job.asked, job.values), scale=job.scale, options=job.settings.options)


def settings_of(
    config: AuctionConfig, bidder_type: str | None, phase: Phase, has_told_values: bool = True
) -> Hyperparameters | UpperBoundOptions:
    """Return how a bidder's network is trained; BOCA has its own networks for those who have told it any value."""
    if config.mechanism == "boca" and has_told_values:
        return upper_bound_settings(config, bidder_type)
    return network_settings(config, bidder_type, phase)


def scale_of(state: AuctionState, bidder: int) -> float:
    """Return the unit of a bidder's network.

    Where scales follow the bids and there is none but zero, the table's, or else 1.
    """
    config = state.config
    fixed = None if config.scales is None else config.scales[bidder]
    scaling = config.parameters.scaling or ("dynamic" if has_dynamic_scales(config.domain) else "table")
    if scaling == "table" and fixed is not None:
        return fixed
    takes_all = config.parameters.scale_from == "all" or not state.bidders[bidder].demand_answers
    bids = inferred_bids(state.bidders[bidder], value_answers=takes_all)
    return max(bids.values(), default=0.0) or fixed or 1.0
