"""The scripted sessions, on the state machine itself."""

import json
import math
from typing import Any

import pytest

from auctions.bundles import Limits
from auctions.mechanism.answers import QueryClosed, RejectedAnswer, UnknownQuery
from auctions.mechanism.bids import inferred_bids
from auctions.mechanism.config import BidderConfig
from auctions.mechanism.rules import configure
from auctions.mechanism.session import Session
from auctions.mechanism.settlement import bid_lists, bids_of, settle
from auctions.mechanism.state import AuctionState
from auctions.payments.vcg import vcg_payments
from solvers.operation import Conflict
from tests.auctions.vectors import cases


class RestoredSession:
    """A session that is written to JSON and read back after every event."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.session, name)
        if not callable(attribute):
            return attribute

        def call(*args: Any) -> Any:
            try:
                return attribute(*args)
            finally:
                document = json.loads(json.dumps(self.session.state.to_dict()))
                restored = AuctionState.from_dict(document)
                assert restored.to_dict() == self.session.state.to_dict() or json.dumps(restored.to_dict()) == json.dumps(
                    document
                )
                self.session = Session(restored)

        return call


def scripted(case: dict[str, Any]) -> RestoredSession:
    config = case["config"]
    rules = ["include_null_price", "increment", "missing_demand_policy", "max_consecutive_missed"]
    rules += ["stop_on_clear", "stop_when_stalled", "activity_rule"]
    n_bidders = len(case["rounds"][0]["answers"])
    return RestoredSession(
        Session.start(
            configure(
                config["mechanism"],
                config["capacities"],
                n_bidders=n_bidders,
                start_prices=config["start_prices"],
                query_budget=config["max_rounds"],
                parameters={name: config[name] for name in rules},
            )
        )
    )


@pytest.mark.parametrize("case", cases("session_script.json"))
def test_a_scripted_session_runs_as_written(case: dict[str, Any]) -> None:
    session = scripted(case)
    for expected in case["rounds"]:
        round_ = session.advance()
        assert round_.number == expected["round"]
        assert round_.prices == pytest.approx(expected["prices"], abs=1e-8)
        for attempt in expected["rejected_attempts"]:
            with pytest.raises(RejectedAnswer) as rejection:
                session.answer(attempt["bidder"], attempt["bundle"])
            assert rejection.value.code == attempt["expected_error"]
        for bidder, answer in enumerate(expected["answers"]):
            if answer is not None:
                session.answer(bidder, answer)
        session.close_round()
        round_ = session.state.rounds[-1]
        assert list(round_.over_demand) == expected["counted_over_demand"]
        assert [bidder.active for bidder in session.state.bidders] == expected["active_after"]
        assert round_.cleared == expected["cleared"]
    assert session.advance() is None
    assert session.state.ended.reason == case["end"]
    for bidder, expected_bids in zip(session.state.bidders, case["bids"], strict=True):
        bids = inferred_bids(bidder)
        assert bids == {tuple(bid["bundle"]): pytest.approx(bid["value"], abs=1e-8) for bid in expected_bids}
    by_bids = vcg_payments(bid_lists(bids_of(session.state)), case["config"]["capacities"])
    assert by_bids.wdp.welfare == pytest.approx(case["bids_welfare"], abs=1e-8)
    assert by_bids.wdp.allocation.tolist() == case["bids_allocation"]
    assert by_bids.payments == pytest.approx(case["bids_vcg_payments"], abs=1e-6)
    settlement = settle(session.state)
    assert settlement.allocation.tolist() == case["final_allocation"]
    assert settlement.payments == pytest.approx(case["final_payments"], abs=1e-6)
    assert (settlement.clearing_prices is not None) == (case["end"] == "cleared")


def a_session(n_bidders: int = 2, **parameters: Any) -> Session:
    rules = {"increment": 0.5, "stop_when_stalled": False} | parameters
    return Session.start(configure("cca", [2, 1], n_bidders=n_bidders, start_prices=[4.0, 2.0], query_budget=9, parameters=rules))


def answer_with(session: Session, *bundles: list[int] | None) -> None:
    assert session.advance() is not None
    for bidder, bundle in enumerate(bundles):
        if bundle is not None:
            session.answer(bidder, bundle)
    session.close_round()


def test_a_later_answer_replaces_an_earlier_one() -> None:
    session = a_session()
    session.advance()
    session.answer(0, [2, 1])
    session.answer(0, [1, 1])
    session.close_round()
    assert [answer.bundle for answer in session.state.bidders[0].demand_answers] == [(1, 1)]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ([1], "wrong_length"),
        ("21", "wrong_length"),
        (None, "wrong_length"),
        ({"A": 1}, "wrong_length"),
        ([1, 0.5], "not_integer"),
        ([1, True], "not_integer"),
        ([1, "1"], "not_integer"),
        ([math.nan, 1], "not_integer"),
        ([math.inf, 1], "not_integer"),
        ([-1, 1], "negative_quantity"),
        ([3, 1], "exceeds_supply"),
        ([10**400, 1], "not_integer"),
    ],
)
def test_a_bundle_that_is_none_is_refused_and_changes_nothing_but_the_log(answer: Any, code: str) -> None:
    session = a_session()
    session.advance()
    before = session.state.to_dict()
    with pytest.raises(RejectedAnswer) as fault:
        session.answer(0, answer)
    assert fault.value.problem()["code"] == code
    after = session.state.to_dict()
    json.dumps(after, allow_nan=False)
    assert after["events"].pop()["code"] == code
    assert after == before


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("5", "not_finite"),
        (None, "not_finite"),
        (math.nan, "not_finite"),
        (math.inf, "not_finite"),
        (10**400, "not_finite"),
        (True, "not_finite"),
        (-1, "negative_value"),
        (1.005, "currency_precision"),
    ],
)
def test_a_value_that_is_none_is_refused(answer: Any, code: str) -> None:
    config = configure("mlca", [2, 1], n_bidders=1, query_budget=3, parameters={"currency_decimals": 2})
    session = Session.start(config)
    session.advance()
    with pytest.raises(RejectedAnswer) as fault:
        session.answer(0, answer)
    assert fault.value.code == code


def test_a_bundle_beyond_the_bidders_limits_is_refused() -> None:
    bidders = [BidderConfig("a", limits=Limits(max_items=1))]
    session = Session.start(configure("cca", [2, 1], bidders=bidders, start_prices=[1.0, 1.0], query_budget=3))
    session.advance()
    with pytest.raises(RejectedAnswer) as fault:
        session.answer(0, [1, 1])
    assert fault.value.code == "exceeds_bidder_limit"


def test_who_has_no_question_is_told_so() -> None:
    session = a_session()
    with pytest.raises(QueryClosed):
        session.answer(0, [1, 1])
    with pytest.raises(QueryClosed):
        session.close_round()
    session.advance()
    for stranger in (-1, 2):
        with pytest.raises(UnknownQuery):
            session.answer(stranger, [1, 1])


def test_a_bidder_that_keeps_missing_is_asked_no_more_until_it_is_taken_back() -> None:
    session = a_session(max_consecutive_missed=2)
    answer_with(session, [2, 1], [2, 1])
    answer_with(session, [2, 1], None)
    answer_with(session, [2, 1], None)
    assert session.state.rounds[-1].over_demand == (0, 0)
    assert session.advance().asked == (True, False)
    with pytest.raises(UnknownQuery):
        session.answer(1, [1, 1])
    session.reactivate(1)
    with pytest.raises(Conflict):
        session.reactivate(1)
    session.answer(0, [2, 1])
    session.close_round()
    assert session.advance().asked == (True, True)


@pytest.mark.parametrize(("policy", "recorded"), [("skip", 1), ("zero", 2), ("repeat_last", 2)])
def test_a_missed_demand_query_is_recorded_as_the_policy_says(policy: str, recorded: int) -> None:
    session = a_session(missing_demand_policy=policy)
    answer_with(session, [2, 1], [2, 1])
    answer_with(session, [0, 1], None)
    answers = session.state.bidders[1].demand_answers
    assert len(answers) == recorded
    assert answers[-1].bundle == ((0, 0) if policy == "zero" else (2, 1))
    assert session.state.rounds[-1].over_demand == ((-2, 0) if policy == "zero" else (0, 1))
    assert not session.state.rounds[-1].cleared


def test_an_auction_that_everybody_has_left_ends() -> None:
    session = a_session(max_consecutive_missed=1)
    answer_with(session, None, None)
    assert session.advance() is None
    settlement = settle(session.state)
    assert settlement.outcome.welfare == 0
    assert not settlement.payments.any()
