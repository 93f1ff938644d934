"""An auction while it runs: state in, answers in, next questions out.

Simulated auctions and live ones go through the same three steps, over and over: :meth:`Session.advance` computes until a round is open,
:meth:`Session.answer` takes an answer, :meth:`Session.close_round` ends the round. Each leaves its events in the log, so that a session may
be stored and restored after any of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from auctions.mechanism.answer_graph import conflicting_rounds
from auctions.mechanism.answers import QueryClosed, RejectedAnswer, UnknownQuery, check_bundle, check_value
from auctions.mechanism.certified import certificates_of
from auctions.mechanism.clock import implied_answer
from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Answered, Asked, Bundle, Closed, Ended, Event, Reactivated, Rejected
from auctions.mechanism.mechanisms import phases_of
from auctions.mechanism.settlement import Settlement, settle
from auctions.mechanism.state import AuctionState, Round
from auctions.mechanism.workbench import Workbench
from solvers.operation import Conflict


class Session:
    """An auction and the means to carry it on.

    Parameters
    ----------
    state : AuctionState
        As far as it has come; a new auction if it has no events.
    workbench : Workbench, optional

    Examples
    --------
    >>> from auctions.mechanism.rules import configure
    >>> config = configure("cca", [1], n_bidders=2, start_prices=[5.0], query_budget=3, parameters={"increment": 0.5})
    >>> session = Session(AuctionState(config))
    >>> while (round_ := session.advance()) is not None:
    ...     for bidder, limit in enumerate([6.0, 9.0]):
    ...         _ = session.answer(bidder, [int(round_.prices[0] < limit)])
    ...     _ = session.close_round()
    >>> [round_.prices for round_ in session.state.rounds], session.state.ended.reason
    ([(0.0,), (5.0,), (7.5,)], 'cleared')
    """

    def __init__(self, state: AuctionState, workbench: Workbench | None = None) -> None:
        self.state = state
        self.workbench = Workbench() if workbench is None else workbench

    @classmethod
    def start(cls, config: AuctionConfig, workbench: Workbench | None = None) -> Session:
        """Return a session of a new auction."""
        return cls(AuctionState(config), workbench)

    def steps(self) -> Generator[Round, Sequence[Any], Settlement]:
        """Yield every round, receive what each bidder answers (None for nothing), and return the outcome.

        Examples
        --------
        >>> from auctions.mechanism.rules import configure
        >>> steps = Session.start(configure("cca", [1], n_bidders=1, start_prices=[5.0], query_budget=1)).steps()
        >>> next(steps).prices
        (0.0,)
        >>> try:
        ...     steps.send([[1]])
        ... except StopIteration as end:
        ...     end.value.payments.tolist()
        [0.0]
        """
        while (round_ := self.advance()) is not None:
            answers = yield round_
            for bidder, answer in enumerate(answers):
                if answer is not None:
                    self.answer(bidder, answer)
            self.close_round()
        return settle(self.state, self.workbench)

    def advance(self) -> Round | None:
        """Compute until a round is open, and return it; None once the auction has ended."""
        while self.state.open_round is None and self.state.ended is None:
            event = self._next_event()
            self.state.apply(event)
            if isinstance(event, Asked):
                self._give_implied_answers(event)
        return self.state.open_round

    def answer(self, bidder: int, answer: Any) -> tuple[int, ...]:
        """Take a bidder's answer to the open round; a second one replaces the first.

        Parameters
        ----------
        bidder : int
        answer : sequence of int, or float
            The bundle it demands, or the value of the bundle it was asked for.

        Returns
        -------
        tuple of int
            Rounds of its earlier answers that contradict this one, if the activity rule is "warn".

        Raises
        ------
        QueryClosed, UnknownQuery
            If no round is open, or it has no question for this bidder.
        RejectedAnswer
            If the answer does not fit. The attempt is logged; nothing else changes.
        """
        round_ = self.state.open_round
        if round_ is None:
            raise QueryClosed("no round is open")
        if not 0 <= bidder < len(round_.asked) or not round_.asked[bidder]:
            raise UnknownQuery(f"there is no question for bidder {bidder} in round {round_.number}")
        try:
            accepted, conflicts = self._check(round_, bidder, answer)
        except RejectedAnswer as fault:
            self.state.apply(Rejected(bidder, _as_logged(answer), fault.code))
            raise
        self.state.apply(Answered(bidder, accepted, conflicts))
        return conflicts

    def close_round(self) -> Round:
        """Close the open round, whether everybody has answered or not, and return it.

        Raises
        ------
        QueryClosed
            If no round is open.
        """
        round_ = self.state.open_round
        if round_ is None:
            raise QueryClosed("no round is open")
        self.state.apply(Closed())
        return round_

    def reactivate(self, bidder: int) -> None:
        """Take a bidder back that had missed too many answers; it is asked again from the next round on.

        Raises
        ------
        Conflict
            If the bidder is active.
        """
        if self.state.bidders[bidder].active:
            raise Conflict(f"bidder {bidder} is active")
        self.state.apply(Reactivated(bidder))

    def _next_event(self) -> Event:
        state, parameters = self.state, self.state.config.parameters
        if state.has_cleared:
            return Ended("cleared")
        if parameters.stop_at_certified_efficiency is not None and state.rounds:
            with self.workbench.timed("wdp"):
                certificates = certificates_of(state, settle(state, self.workbench).allocation)
            certified = certificates.certified_efficiency
            if certified is not None and certified >= parameters.stop_at_certified_efficiency:
                return Ended("certified")
        if any(bidder.active for bidder in state.bidders):
            for phase in phases_of(state.config.mechanism):
                if phase.name not in state.ended_phases:
                    return phase.next_event(state, self.workbench)
        return Ended("finished")

    def _give_implied_answers(self, event: Asked) -> None:
        if event.prices is None:
            return
        for bidder in range(self.state.config.n_bidders):
            implied = implied_answer(self.state.config, bidder, event.prices)
            if implied is not None and self.state.bidders[bidder].active:
                self.state.apply(Answered(bidder, implied))
        if not any(event.asked):
            self.state.apply(Closed())

    def _check(self, round_: Round, bidder: int, answer: Any) -> tuple[Bundle | float, tuple[int, ...]]:
        config = self.state.config
        accepted = check_bundle(answer, config, bidder) if round_.kind == "dq" else check_value(answer, config)
        if config.parameters.activity_rule == "off":
            return accepted, ()
        conflicts = conflicting_rounds(self.state, round_, bidder, accepted)
        if conflicts and config.parameters.activity_rule == "enforce":
            earlier = ", ".join(map(str, conflicts))
            raise RejectedAnswer("activity_violation", f"no monotone value explains this answer together with round {earlier}")
        return accepted, conflicts


def _as_logged(answer: Any) -> Any:
    """Return a refused answer so that the log stays JSON of reasonable size."""
    text = repr(answer)
    is_plain = isinstance(answer, int | float | str | list | tuple | None.__class__)
    return answer if is_plain and len(text) <= 1000 and "nan" not in text and "inf" not in text else text[:1000]
