"""Phase 2: demand queries at the prices at which the networks predict that the market clears."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auctions.mechanism.clock import questions_asked, unused_questions, who_is_asked
from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Asked, Event, Phase, PhaseEnded
from auctions.mechanism.learned_values import LearnedValues, learn
from auctions.mechanism.price_search import (
    SMALLEST_SHARE,
    PriceSearchResult,
    Vector,
    distant_prices,
    search_prices,
)
from auctions.mechanism.random_streams import stream
from auctions.mechanism.state import AuctionState
from auctions.mechanism.workbench import Workbench

STEPS = {"ml_cca": 300, "mlhca": 150}


@dataclass(frozen=True, slots=True)
class MlDemandQueries:
    """The phase of ML-powered demand queries."""

    name: Phase = "ml_dq"

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event:
        """Train the networks and ask everybody at the prices they choose, or end the phase."""
        n_asked = questions_asked(state.rounds_of(self.name))
        if n_asked >= state.config.counts.n_ml_demand_queries + unused_questions(state):
            return PhaseEnded(self.name, "all rounds asked")
        number = len(state.rounds) + 1
        learned = learn(state, self.name, number, workbench)
        with workbench.timed("search"):
            rng = stream(state.config.seed, self.name, number)
            found = clearing_prices(state.config, learned, last_clock_prices(state), rng)
            prices = _away_from_earlier(state, found.best.prices, n_asked + 1, rng)
            predicted, _ = learned.demand(prices)
        workbench.deterministic &= learned.deterministic
        asked_prices = tuple(prices.tolist())
        excess = predicted.sum(axis=0) - np.array(state.config.capacities)
        notes = {
            "clearing_potential": found.best.potential,
            "predicted_over_demand": excess.tolist(),
            "predicted_clearing_error": int(excess @ excess),
            "search": {"reason": found.reason, "steps": found.n_steps},
        }
        return Asked(self.name, "dq", asked_prices, None, who_is_asked(state, asked_prices), notes)


def clearing_prices(
    config: AuctionConfig, learned: LearnedValues, last_prices: Vector, rng: np.random.Generator
) -> PriceSearchResult:
    """Search from the last clock prices, moved at random, for prices that clear the predicted market."""
    search = config.parameters.price_search
    capacities = np.array(config.capacities)
    floor = SMALLEST_SHARE * max(learned.scales) / float(capacities.sum()) if config.parameters.price_floor else 0.0
    return search_prices(
        learned.demand,
        capacities,
        last_prices * rng.uniform(*search.start_noise, size=len(capacities)),
        parameters=search,
        max_steps=search.max_steps or STEPS[config.mechanism],
        floor=floor,
    )


def last_clock_prices(state: AuctionState) -> Vector:
    """Return the prices of the last clock round; the start prices if only zero prices were asked."""
    priced = [round_.prices for round_ in state.rounds_of("cca") if not round_.is_null]
    return np.array(priced[-1] if priced else state.config.start_prices, dtype=np.float64)


def _away_from_earlier(state: AuctionState, prices: Vector, ml_round: int, rng: np.random.Generator) -> Vector:
    search = state.config.parameters.price_search
    earlier = [np.array(round_.prices) for round_ in state.rounds if round_.prices is not None and not round_.is_null]
    return distant_prices(
        prices,
        earlier,
        search.distance * search.distance_decay**ml_round,
        rng,
        growth=search.perturbation_growth,
        skip_zero_prices=state.config.parameters.price_floor,
    )
