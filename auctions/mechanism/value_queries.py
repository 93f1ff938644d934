"""Phase 4: the networks choose bundles whose values are asked.

Bundles are chosen in groups of 1 + q: the networks are trained once, and for each of a bidder's economies its question is its bundle in an
allocation of highest predicted welfare among those that give it a bundle it has not been asked about:
argmax { sum_l s_l M_l(x_l) : x in allocations, x_i not in F_i }. Every bidder has its own restricted problem; the bundles asked about need
not form an allocation. Where the unrestricted optimum already gives a new bundle it is taken (q -> `marginal_economies_per_round`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.economies import Economy, balanced_economies, random_economies
from auctions.mechanism.events import Bundle, Event, Phase, PhaseEnded, Planned
from auctions.mechanism.learned_values import LearnedValues, learn
from auctions.mechanism.random_streams import stream
from auctions.mechanism.state import AuctionState
from auctions.mechanism.value_rounds import closed_bundles, next_planned_round
from auctions.mechanism.workbench import Workbench
from auctions.outcome import AllocationResult


@dataclass(frozen=True, slots=True)
class ValueQueries:
    """The phase of value queries that the networks choose."""

    name: Phase = "ml_vq"

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event:
        """Open the next round of the group, choose another group, or end the phase."""
        n_left = state.config.counts.n_value_queries - len(state.rounds_of(self.name))
        if n_left <= 0:
            return PhaseEnded(self.name, "all rounds asked")
        round_ = next_planned_round(state, self.name)
        if round_ is not None:
            return round_
        plan = self._choose_group(state, workbench, n_left)
        return PhaseEnded(self.name, "exhausted") if plan is None else plan

    def _choose_group(self, state: AuctionState, workbench: Workbench, n_left: int) -> Planned | None:
        number = len(state.rounds) + 1
        learned = learn(state, self.name, number, workbench)
        economies = self._economies(state, stream(state.config.seed, self.name, number))
        with workbench.timed("wdp"):
            chosen = choose_bundles(state, learned, [own[:n_left] for own in economies])
        workbench.deterministic &= learned.deterministic
        rounds = max(map(len, chosen))
        bundles = tuple(tuple(own[r] if r < len(own) else None for own in chosen) for r in range(rounds))
        bundles = tuple(asked for asked in bundles if any(bundle is not None for bundle in asked))
        if not bundles:
            return None
        return Planned(self.name, bundles, {"economies": economies})

    def _economies(self, state: AuctionState, rng: np.random.Generator) -> list[list[Economy]]:
        parameters, n_bidders = state.config.parameters, state.config.n_bidders
        if parameters.marginal_economies == "random" and state.config.mechanism == "mlhca":
            return random_economies(n_bidders, parameters.marginal_economies_per_round, rng)
        history = [plan.notes["economies"] for plan in state.plans if plan.phase == self.name]
        return balanced_economies(n_bidders, parameters.marginal_economies_per_round, history, rng)


def choose_bundles(state: AuctionState, learned: LearnedValues, economies: list[list[Economy]]) -> list[list[Bundle | None]]:
    """Return per bidder the bundle to ask about in each of its economies; None where it has none left."""
    unrestricted = {
        economy: learned.allocate(without=economy) for economy in dict.fromkeys(economy for own in economies for economy in own)
    }
    return [
        _bundles_of(bidder, own, state, learned, unrestricted) if state.bidders[bidder].active else []
        for bidder, own in enumerate(economies)
    ]


def _bundles_of(
    bidder: int,
    economies: list[Economy],
    state: AuctionState,
    learned: LearnedValues,
    unrestricted: dict[Economy, AllocationResult],
) -> list[Bundle | None]:
    nothing = _nothing(state.config)
    closed = closed_bundles(state, bidder)
    if state.config.parameters.skip_empty_queries and nothing not in closed:
        closed.append(nothing)
    chosen: list[Bundle | None] = []
    for economy in economies:
        bundle: Bundle | None
        if economy == bidder:
            bundle = None if state.config.parameters.skip_empty_queries else nothing
        else:
            best = unrestricted[economy]
            bundle = tuple(int(quantity) for quantity in best.allocation[bidder])
            if bundle in closed:
                bundle = learned.restricted_bundle(bidder, closed, best, without=economy)
        if bundle is not None and bundle not in closed:
            closed.append(bundle)
        chosen.append(bundle)
    return chosen


def _nothing(config: AuctionConfig) -> Bundle:
    return (0,) * config.n_goods
