"""A bidder's answers as revealed preferences see them, and those that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from auctions.mechanism.events import Bundle, Prices
from auctions.mechanism.state import AuctionState, BidderRecord, Round
from auctions.revealed_preference import CycleEdge, revealed_preference_bounds

TOLERANCE = 1e-6  # of the activity rule, relative to the largest length in the graph: bidders round


def demand_answers_of(bidder: BidderRecord) -> list[tuple[Prices, Bundle]]:
    """Return prices and bundle of every answer to a demand query."""
    return [(answer.prices, answer.bundle) for answer in bidder.demand_answers]


def value_answers_of(bidder: BidderRecord) -> list[tuple[Bundle, float]]:
    """Return bundle and value of every answer to a value query."""
    return [(answer.bundle, answer.value) for answer in bidder.value_answers]


def contradiction(state: AuctionState, bidder: int, tolerance: float = 1e-9) -> tuple[CycleEdge, ...] | None:
    """Return answers of a bidder that no monotone value explains together; None if there are none."""
    record = state.bidders[bidder]
    return revealed_preference_bounds(
        demand_answers_of(record), value_answers_of(record), state.config.capacities, tolerance=tolerance
    ).cycle


def conflicting_rounds(state: AuctionState, round_: Round, bidder: int, answer: Bundle | float) -> tuple[int, ...]:
    """Return the rounds of a bidder's earlier answers that no monotone value explains together with a new one; none if one does."""
    record = state.bidders[bidder]
    demands, values = demand_answers_of(record), value_answers_of(record)
    demand_rounds = [other.round for other in record.demand_answers]
    value_rounds = [other.round for other in record.value_answers]
    if isinstance(answer, tuple):
        assert round_.prices is not None
        demands.append((round_.prices, answer))
        demand_rounds.append(round_.number)
    else:
        assert round_.bundles is not None
        asked_for = round_.bundles[bidder]
        assert asked_for is not None
        values.append((asked_for, answer))
        value_rounds.append(round_.number)
    cycle = revealed_preference_bounds(demands, values, state.config.capacities, tolerance=TOLERANCE).cycle
    involved = rounds_of_cycle(cycle or (), demand_rounds, value_rounds)
    # Answers that have contradicted each other before are no fault of this one.
    return tuple(number for number in involved if number != round_.number) if round_.number in involved else ()


def rounds_of_cycle(cycle: Sequence[CycleEdge], demand_rounds: Sequence[int], value_rounds: Sequence[int]) -> list[int]:
    """Return the rounds whose answers are edges of a cycle, in their order."""
    rounds = {"demand": demand_rounds, "value": value_rounds}
    return sorted({rounds[edge.answer.kind][edge.answer.number] for edge in cycle if edge.answer.number is not None})
