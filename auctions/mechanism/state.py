"""Where an auction stands: a fold over its log.

Nothing is kept that the log does not say, so an auction is stored as its configuration and its events, and is restored by folding them
again. What is next to ask is computed by the phases (:mod:`auctions.mechanism.phases`) from this state alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import (
    Answered,
    Asked,
    Bundle,
    Closed,
    Ended,
    Event,
    Kind,
    Phase,
    PhaseEnded,
    Planned,
    Prices,
    Reactivated,
    Rejected,
    event_from_dict,
    event_to_dict,
)


@dataclass(frozen=True, slots=True)
class DemandAnswer:
    """The bundle a bidder wants at prices per unit."""

    round: int
    prices: Prices
    bundle: Bundle


@dataclass(frozen=True, slots=True)
class ValueAnswer:
    """What a bundle is worth to a bidder."""

    round: int
    bundle: Bundle
    value: float


@dataclass(slots=True)
class BidderRecord:
    """What a bidder has said, and whether it still takes part.

    Attributes
    ----------
    demand_answers, value_answers : list
    active : bool
        An inactive bidder is asked nothing more; its bids stay.
    consecutive_missed : int
    last_demand : tuple of int, optional
        Its latest answer to a demand query.
    missed_bundles : list of tuple
        Bundles whose value it was asked for in vain.
    """

    demand_answers: list[DemandAnswer] = field(default_factory=list)
    value_answers: list[ValueAnswer] = field(default_factory=list)
    active: bool = True
    consecutive_missed: int = 0
    last_demand: Bundle | None = None
    missed_bundles: list[Bundle] = field(default_factory=list)

    def record_demand(self, round_number: int, prices: Prices, bundle: Bundle) -> None:
        """Keep an answer to a demand query."""
        self.demand_answers.append(DemandAnswer(round_number, prices, bundle))
        self.last_demand = bundle

    def record_value(self, round_number: int, bundle: Bundle, value: float) -> None:
        """Keep an answer to a value query."""
        self.value_answers.append(ValueAnswer(round_number, bundle, value))


@dataclass(slots=True)
class Round:
    """A round of questions, one per bidder at most.

    Attributes
    ----------
    number : int
        From 1.
    phase, kind, prices, bundles, asked, notes
        See :class:`~auctions.mechanism.events.Asked`.
    active : tuple of bool
        Who took part when it opened.
    answers : list
        Per bidder its answer or None.
    is_open : bool
    counted : tuple of tuple, optional
        Of a closed demand round, the bundle that counts for each bidder: a missing answer is replaced by the last one.
    over_demand : tuple of int, optional
        Units wanted beyond the supply, per good.
    cleared : bool
        Whether the answers are an allocation that its prices support.
    """

    number: int
    phase: Phase
    kind: Kind
    prices: Prices | None
    bundles: tuple[Bundle | None, ...] | None
    asked: tuple[bool, ...]
    notes: dict[str, Any]
    active: tuple[bool, ...]
    answers: list[Bundle | float | None]
    is_open: bool = True
    counted: tuple[Bundle, ...] | None = None
    over_demand: tuple[int, ...] | None = None
    cleared: bool = False

    @property
    def is_null(self) -> bool:
        """Whether all prices are zero."""
        return self.prices is not None and not any(self.prices)

    @property
    def clearing_error(self) -> int | None:
        """The sum of squares of the over-demand."""
        return None if self.over_demand is None else sum(excess * excess for excess in self.over_demand)

    @property
    def is_fully_answered(self) -> bool:
        """Whether everybody who took part has answered."""
        return all(answer is not None for answer, active in zip(self.answers, self.active, strict=True) if active)


class AuctionState:
    """An auction as far as its log goes.

    Parameters
    ----------
    config : AuctionConfig
    events : iterable of Event

    Attributes
    ----------
    events : list of Event
    rounds : list of Round
    bidders : list of BidderRecord
    ended_phases : dict
        Reason per phase that has ended.
    planned : list
        Bundles that are yet to be asked for, per round and bidder.
    plans : list of Planned
        All plans so far.
    ended : Ended, optional
    """

    def __init__(self, config: AuctionConfig, events: Iterable[Event] = ()) -> None:
        self.config = config
        self.events: list[Event] = []
        self.rounds: list[Round] = []
        self.bidders = [BidderRecord() for _ in config.bidders]
        self.ended_phases: dict[Phase, str] = {}
        self.planned: list[tuple[Bundle | None, ...]] = []
        self.plans: list[Planned] = []
        self.ended: Ended | None = None
        for event in events:
            self.apply(event)

    @property
    def open_round(self) -> Round | None:
        """The round that takes answers now."""
        return self.rounds[-1] if self.rounds and self.rounds[-1].is_open else None

    @property
    def has_cleared(self) -> bool:
        """Whether the last round cleared and the auction ends with it."""
        if not self.rounds or not self.rounds[-1].cleared:
            return False
        return self.config.parameters.stop_on_clear or self.rounds[-1].phase == "ml_dq"

    def rounds_of(self, phase: Phase) -> list[Round]:
        """Return the rounds of a phase so far."""
        return [round_ for round_ in self.rounds if round_.phase == phase]

    def apply(self, event: Event) -> None:
        """Append an event to the log, with its effect."""
        match event:
            case Planned():
                self.plans.append(event)
                self.planned = list(event.bundles)
            case Asked():
                self._open(event)
            case Answered():
                self.rounds[-1].answers[event.bidder] = event.answer
            case Closed():
                self._close(self.rounds[-1])
            case Reactivated():
                self.bidders[event.bidder].active = True
                self.bidders[event.bidder].consecutive_missed = 0
            case PhaseEnded():
                self.ended_phases[event.phase] = event.reason
            case Ended():
                self.ended = event
            case Rejected():
                pass
        self.events.append(event)

    def to_dict(self) -> dict[str, Any]:
        """Return configuration and log as JSON values."""
        return {"config": self.config.to_dict(), "events": [event_to_dict(event) for event in self.events]}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> AuctionState:
        """Return the auction that :meth:`to_dict` wrote."""
        return cls(AuctionConfig.from_dict(document["config"]), map(event_from_dict, document["events"]))

    def _open(self, event: Asked) -> None:
        if event.bundles in self.planned:
            self.planned = self.planned[self.planned.index(event.bundles) + 1 :]
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                phase=event.phase,
                kind=event.kind,
                prices=event.prices,
                bundles=event.bundles,
                asked=event.asked,
                notes=event.notes,
                active=tuple(bidder.active for bidder in self.bidders),
                answers=[None] * len(self.bidders),
            )
        )

    def _close(self, round_: Round) -> None:
        round_.is_open = False
        for index in range(len(self.bidders)):
            self._take_answer(round_, index)
        if round_.kind == "dq":
            self._count_demand(round_)

    def _take_answer(self, round_: Round, index: int) -> None:
        bidder, answer = self.bidders[index], round_.answers[index]
        if answer is None and round_.asked[index]:
            bidder.consecutive_missed += 1
            if bidder.consecutive_missed >= self.config.parameters.max_consecutive_missed:
                bidder.active = False
            if round_.bundles is not None and (bundle := round_.bundles[index]) is not None:
                bidder.missed_bundles.append(bundle)
        elif round_.asked[index]:
            bidder.consecutive_missed = 0
        if round_.prices is not None:
            demand = self._stand_in(bidder) if answer is None and round_.asked[index] else answer
            if isinstance(demand, tuple):
                bidder.record_demand(round_.number, round_.prices, demand)
        elif isinstance(answer, float) and round_.bundles is not None and (asked_for := round_.bundles[index]) is not None:
            bidder.record_value(round_.number, asked_for, answer)

    def _stand_in(self, bidder: BidderRecord) -> Bundle | None:
        """Return what is recorded for a bidder that has missed a demand query."""
        policy = self.config.parameters.missing_demand_policy
        if policy == "zero":
            return (0,) * self.config.n_goods
        return bidder.last_demand if policy == "repeat_last" else None

    def _count_demand(self, round_: Round) -> None:
        nothing = (0,) * self.config.n_goods
        round_.counted = tuple(
            bidder.last_demand if bidder.active and bidder.last_demand is not None else nothing for bidder in self.bidders
        )
        demand = [sum(units) for units in zip(*round_.counted, strict=True)]
        round_.over_demand = tuple(units - supply for units, supply in zip(demand, self.config.capacities, strict=True))
        round_.cleared = not round_.is_null and round_.is_fully_answered and self._clears(round_)

    def _clears(self, round_: Round) -> bool:
        assert round_.over_demand is not None
        if not any(round_.over_demand):
            return True
        if self.config.parameters.clearing_test == "exact" or max(round_.over_demand) > 0:
            return False
        assert round_.prices is not None
        return all(price == 0 for price, excess in zip(round_.prices, round_.over_demand, strict=True) if excess < 0)
