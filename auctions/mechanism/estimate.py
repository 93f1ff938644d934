"""How long an auction will take, told before it runs.

One training, one pass over the predicted values and one predicted winner determination are timed on the auction at hand, for about two
seconds at most, and multiplied by how often each will be needed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Phase
from auctions.mechanism.initial_values import random_bundles
from auctions.mechanism.learned_values import LearnedValues, TrainingJob, settings_of, train_network
from auctions.mechanism.ml_demand import STEPS
from auctions.mechanism.random_streams import stream
from auctions.mechanism.workbench import PARTS, Part, Workbench
from auctions.networks.hyperparameters import Hyperparameters
from auctions.networks.upper_bound_network import UpperBoundOptions

PROBE_SECONDS = 2.0
PROBE_ANSWERS = 10
PROBE_EPOCHS = 5  # of BOCA's networks
SECONDS_PER_BID_WDP = 0.02
FACTOR = 2.0  # between the estimate and its ends


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds that an auction is expected to take.

    Attributes
    ----------
    parts : dict
        For training, search and winner determination.
    """

    parts: dict[Part, float]

    @property
    def seconds(self) -> float:
        """The sum of the parts."""
        return sum(self.parts.values())

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate({part: self.parts[part] + other.parts[part] for part in PARTS})

    def to_dict(self) -> dict[str, float | dict[Part, float]]:
        """Return the estimate as JSON values, with half and double of it as its ends."""
        return {"seconds": self.seconds, "low": self.seconds / FACTOR, "high": self.seconds * FACTOR, "parts": self.parts}


def estimate(config: AuctionConfig) -> Estimate:
    """Estimate how long a simulation of an auction takes on this machine, in one process.

    Parameters
    ----------
    config : AuctionConfig

    Examples
    --------
    >>> from auctions.mechanism.rules import configure
    >>> clock = configure("cca", [1] * 5, n_bidders=3, start_prices=[1.0] * 5, query_budget=50)
    >>> estimate(clock).parts
    {'training': 0.0, 'search': 0.0, 'wdp': 1.0}
    """
    counts = config.counts
    parts: dict[Part, float] = {"training": 0.0, "search": 0.0, "wdp": SECONDS_PER_BID_WDP * counts.total}
    deadline = time.perf_counter() + PROBE_SECONDS
    n_before = counts.n_cca_rounds + counts.n_initial_value_queries
    if counts.n_ml_demand_queries:
        answers = [n_before + round_ for round_ in range(counts.n_ml_demand_queries)]
        training, learned = _timed_training(config, "ml_dq", deadline)
        parts["training"] += training * sum(answers)
        steps = config.parameters.price_search.max_steps or STEPS[config.mechanism]
        parts["search"] += _timed_demand(config, learned) * steps * counts.n_ml_demand_queries
    if counts.n_value_queries:
        n_marginal = min(config.parameters.marginal_economies_per_round, config.n_bidders - 1)
        groups = range(0, counts.n_value_queries, 1 + n_marginal)
        first = n_before + counts.n_ml_demand_queries + int(counts.bridge_bid)
        training, learned = _timed_training(config, "ml_vq", deadline)
        parts["training"] += training * sum(first + asked for asked in groups)
        parts["wdp"] += _timed_allocation(learned) * len(groups) * (1 + n_marginal) * (1 + config.n_bidders)
    return Estimate(parts)


def _timed_training(config: AuctionConfig, phase: Phase, deadline: float) -> tuple[float, LearnedValues]:
    """Return the seconds per answer that the training of all bidders takes, and the networks it made."""
    seconds, networks = 0.0, []
    known: dict[str | None, float] = {}
    for index, bidder in enumerate(config.bidders):
        job = _probe(config, phase, index)
        networks.append(train_network(job))  # which also compiles, or loads what is compiled
        if bidder.type not in known and (time.perf_counter() < deadline or not known):
            started = time.perf_counter()
            train_network(job)
            known[bidder.type] = (time.perf_counter() - started) / _epochs(job.settings)
        per_epoch = known.get(bidder.type, max(known.values()))
        seconds += per_epoch * _epochs(settings_of(config, bidder.type, phase)) / PROBE_ANSWERS
    return seconds, LearnedValues(networks, config.capacities, Workbench().limits(None, PROBE_SECONDS))


def _probe(config: AuctionConfig, phase: Phase, bidder: int) -> TrainingJob:
    """Return a training on made-up answers, as long as one period between two refreshes."""
    settings = settings_of(config, config.bidders[bidder].type, phase)
    if isinstance(settings, UpperBoundOptions):
        settings = replace(settings, epoch_factor=settings.epoch_factor * PROBE_EPOCHS / settings.n_epochs)
    else:
        epochs = min(settings.options.epochs, settings.options.cached_solution_frequency)
        settings = replace(settings, options=replace(settings.options, epochs=epochs))
    rng = stream(config.seed, phase, 0, bidder)
    bundles = np.array(
        random_bundles(config.capacities, config.bidders[bidder].limits, PROBE_ANSWERS, rng), dtype=np.int64
    ).reshape(-1, config.n_goods)
    values = bundles.sum(axis=1) / sum(config.capacities)
    asks_values = phase == "ml_vq"
    half = len(bundles) // 2 if asks_values and config.counts.n_cca_rounds else 0 if asks_values else len(bundles)
    return TrainingJob(
        capacities=config.capacities,
        limits=config.bidders[bidder].limits,
        settings=settings,
        acquisition=config.parameters.acquisition,
        scale=1.0,
        prices=rng.uniform(size=(half, config.n_goods)) / sum(config.capacities),
        chosen=bundles[:half],
        asked=bundles[half:],
        values=values[half:],
        seed=config.seed,
        phase=phase,
        round=0,
        bidder=bidder,
    )


def _epochs(settings: Hyperparameters | UpperBoundOptions) -> int:
    return settings.n_epochs if isinstance(settings, UpperBoundOptions) else settings.options.epochs


def _timed_demand(config: AuctionConfig, learned: LearnedValues) -> float:
    prices = np.full(config.n_goods, 0.5 / sum(config.capacities))
    learned.demand(prices)
    started = time.perf_counter()
    learned.demand(prices)
    return time.perf_counter() - started


def _timed_allocation(learned: LearnedValues) -> float:
    started = time.perf_counter()
    learned.allocate()
    return time.perf_counter() - started
