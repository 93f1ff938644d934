"""Phase 1: the clock rounds of a combinatorial clock auction.

Everybody is asked at zero prices first. Then prices begin at the start prices, and after every round those of over-demanded goods rise by
a fixed share: p_j <- p_j (1 + increment) where over-demand o_j > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Asked, Bundle, Event, Phase, PhaseEnded, Prices
from auctions.mechanism.state import AuctionState, Round
from auctions.mechanism.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock phase."""

    name: Phase = "cca"

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event:
        """Open the next round, or end the phase."""
        rounds = state.rounds_of(self.name)
        if questions_asked(rounds) >= state.config.counts.n_cca_rounds:
            return PhaseEnded(self.name, "all rounds asked")
        prices = next_prices(state.config, rounds)
        if state.config.parameters.stop_when_stalled and is_stalled(rounds, prices):
            return PhaseEnded(self.name, "stalled")
        return Asked(self.name, "dq", prices, None, who_is_asked(state, prices))


def next_prices(config: AuctionConfig, rounds: list[Round]) -> Prices:
    """Return the prices of the next clock round."""
    assert config.start_prices is not None
    if not rounds and config.parameters.include_null_price:
        return (0.0,) * config.n_goods
    if not rounds or (rounds[-1].number == 1 and rounds[-1].is_null and config.parameters.include_null_price):
        return config.start_prices
    return raised_prices(rounds[-1], config.increment)


def raised_prices(round_: Round, increment: float) -> Prices:
    """Return a round's prices, those of over-demanded goods raised."""
    assert round_.prices is not None
    assert round_.over_demand is not None
    return tuple(
        price * (1 + increment) if excess > 0 else price for price, excess in zip(round_.prices, round_.over_demand, strict=True)
    )


def is_stalled(rounds: list[Round], prices: Prices) -> bool:
    """Tell whether another round would only repeat what is known.

    If everybody has answered at the same prices already, it would. If somebody has not, the round is asked a second time, but no third.
    """
    priced = [round_ for round_ in rounds if not round_.is_null]
    if not priced or priced[-1].prices != prices:
        return False
    return priced[-1].is_fully_answered or (len(priced) > 1 and priced[-2].prices == prices)


def unused_questions(state: AuctionState) -> int:
    """Return how many questions a clock that ended early has left over."""
    if "cca" not in state.ended_phases:
        return 0
    return state.config.counts.n_cca_rounds - questions_asked(state.rounds_of("cca"))


def questions_asked(rounds: list[Round]) -> int:
    """Count the rounds in which somebody was asked."""
    return sum(any(round_.asked) for round_ in rounds)


def who_is_asked(state: AuctionState, prices: Prices) -> tuple[bool, ...]:
    """Return which bidders have a demand query to answer."""
    return tuple(
        bidder.active and implied_answer(state.config, index, prices) is None for index, bidder in enumerate(state.bidders)
    )


def implied_answer(config: AuctionConfig, bidder: int, prices: Prices) -> Bundle | None:
    """Return the answer that need not be asked for: with `skip_null_round`, everything at zero prices."""
    limits = config.bidders[bidder].limits
    is_unlimited = limits.max_items is None and tuple(limits.quantities(config.capacities).tolist()) == config.capacities
    if config.parameters.skip_null_round and not any(prices) and is_unlimited:
        return config.capacities
    return None
