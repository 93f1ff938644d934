"""The activity rule, and the certificates that contradictions take away."""

import pytest

from auctions.mechanism.answers import RejectedAnswer
from auctions.mechanism.certified import certificates_of
from auctions.mechanism.rules import configure
from auctions.mechanism.session import Session


def a_session(rule: str, n_bidders: int = 2, **parameters) -> Session:
    rules = {"activity_rule": rule, "increment": 0.5} | parameters
    return Session.start(configure("cca", [1, 1], n_bidders=n_bidders, start_prices=[4.0, 4.0], query_budget=9, parameters=rules))


def answer_with(session: Session, *bundles: list[int]) -> None:
    assert session.advance() is not None
    for bidder, bundle in enumerate(bundles):
        session.answer(bidder, bundle)
    session.close_round()


def test_an_answer_that_contradicts_an_earlier_one_is_flagged() -> None:
    session = a_session("warn", n_bidders=3)
    answer_with(session, [1, 1], [1, 1], [1, 1])
    answer_with(session, [0, 0], [1, 1], [1, 1])
    assert session.advance().prices == (6.0, 6.0)
    assert session.answer(0, [1, 0]) == (2,)
    assert session.answer(1, [1, 0]) == ()
    answered = [event for event in session.state.events if event.type == "answered" and event.bidder == 0]
    assert answered[-1].conflicts == (2,)


def test_an_answer_that_contradicts_an_earlier_one_is_refused_where_the_rule_is_enforced() -> None:
    session = a_session("enforce", n_bidders=3)
    answer_with(session, [1, 1], [1, 1], [1, 1])
    answer_with(session, [0, 0], [1, 1], [1, 1])
    session.advance()
    with pytest.raises(RejectedAnswer) as fault:
        session.answer(0, [1, 0])
    assert fault.value.code == "activity_violation"
    assert "round 2" in fault.value.detail
    assert session.state.rounds[-1].answers[0] is None
    session.answer(0, [0, 0])


def test_contradictions_are_shown_and_prove_nothing() -> None:
    session = a_session("off", n_bidders=3)
    answer_with(session, [1, 1], [1, 1], [1, 1])
    answer_with(session, [0, 0], [1, 1], [1, 1])
    answer_with(session, [1, 0], [1, 1], [1, 1])
    certificates = certificates_of(session.state, [[0, 0], [1, 1], [0, 0]])
    assert [conflict["bidder"] for conflict in certificates.conflicts] == [0]
    assert sum(step["length"] for step in certificates.conflicts[0]["cycle"]) < 0
    assert certificates.certified_efficiency is None


def test_an_auction_ends_once_enough_is_certified() -> None:
    parameters = {"stop_on_clear": False, "stop_when_stalled": False, "increment": 0.5}
    certified = []
    for threshold in (None, 0.5):
        config = configure(
            "mlhca",
            [1],
            n_bidders=2,
            start_prices=[4.0],
            parameters=parameters
            | {"n_cca_rounds": 4, "n_ml_demand_queries": 0, "n_value_queries": 3, "stop_at_certified_efficiency": threshold},
        )
        session = Session.start(config)
        limits = (7.0, 20.0)
        while (round_ := session.advance()) is not None:
            for bidder, is_asked in enumerate(round_.asked):
                if is_asked:
                    session.answer(bidder, [int(round_.prices[0] < limits[bidder])] if round_.kind == "dq" else limits[bidder])
            session.close_round()
        certified.append((session.state.ended.reason, len(session.state.rounds)))
    assert certified[0][0] == "finished"
    assert certified[1][0] == "certified"
    assert certified[1][1] < certified[0][1]
