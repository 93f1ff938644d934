"""The clock auction against its written traces."""

from typing import Any

import numpy as np
import pytest

from auctions.mechanism.bids import inferred_bids, raised_bids
from auctions.mechanism.rules import configure
from auctions.mechanism.session import Session
from auctions.mechanism.settlement import bid_lists, settle
from auctions.payments.vcg import vcg_payments
from tests.auctions.vectors import cases


class TableBidders:
    """Bidders that answer by a table of all bundles."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.bundles = np.array([entry["bundle"] for entry in case["value_tables"][0]])
        self.tables = [np.array([entry["value"] for entry in table]) for table in case["value_tables"]]
        self.places = {tuple(bundle): place for place, bundle in enumerate(self.bundles.tolist())}

    def demand(self, bidder: int, prices: tuple[float, ...]) -> list[int]:
        return self.bundles[int(np.argmax(self.tables[bidder] - self.bundles @ np.array(prices)))].tolist()

    def value(self, bidder: int, bundle: tuple[int, ...]) -> float:
        return float(self.tables[bidder][self.places[tuple(bundle)]])


def run_clock(case: dict[str, Any]) -> tuple[Session, TableBidders]:
    bidders = TableBidders(case)
    session = Session.start(
        configure(
            "cca",
            case["capacities"],
            n_bidders=len(bidders.tables),
            start_prices=case["start_prices"],
            query_budget=case["n_rounds"],
            parameters={
                "preset": "reference",
                "increment": case["increment"],
                "include_null_price": case["include_null_price"],
            },
        )
    )
    while (round_ := session.advance()) is not None:
        for bidder in range(len(bidders.tables)):
            session.answer(bidder, bidders.demand(bidder, round_.prices))
        session.close_round()
    return session, bidders


@pytest.mark.parametrize("case", cases("cca.json"))
def test_every_round_is_as_written(case: dict[str, Any]) -> None:
    session, _ = run_clock(case)
    assert len(session.state.rounds) == case["n_rounds"]
    for round_, expected in zip(session.state.rounds, case["rounds"], strict=True):
        assert round_.prices == pytest.approx(expected["prices"], abs=1e-8)
        assert [list(answer) for answer in round_.answers] == expected["demands"]
        assert list(round_.over_demand) == expected["over_demand"]
        assert round_.clearing_error == expected["clearing_error"]
    cleared = [round_.number for round_ in session.state.rounds if round_.cleared]
    assert next(iter(cleared), None) == case["first_cleared_round"]


@pytest.mark.parametrize("case", cases("cca.json"))
def test_the_outcome_by_the_bids_is_as_written(case: dict[str, Any]) -> None:
    session, bidders = run_clock(case)
    for record, expected in zip(session.state.bidders, case["inferred_bids"], strict=True):
        written = {tuple(bid["bundle"]): pytest.approx(bid["value"], abs=1e-8) for bid in expected if any(bid["bundle"])}
        assert inferred_bids(record) == written
    settlement = settle(session.state)
    assert settlement.outcome.welfare == pytest.approx(case["inferred_welfare"], abs=1e-8)
    assert settlement.allocation.tolist() == case["allocation"]
    assert settlement.payments == pytest.approx(case["vcg_payments"], abs=1e-6)
    worth = sum(bidders.value(bidder, bundle) for bidder, bundle in enumerate(settlement.allocation.tolist()))
    assert worth == pytest.approx(case["true_welfare_of_allocation"], abs=1e-8)
    assert worth / case["optimal_welfare"] == pytest.approx(case["efficiency"], abs=1e-8)


@pytest.mark.parametrize("case", cases("cca.json"))
def test_the_outcome_by_raised_bids_is_as_written(case: dict[str, Any]) -> None:
    session, bidders = run_clock(case)
    raised = [
        raised_bids(inferred_bids(record), lambda bundle, bidder=bidder: bidders.value(bidder, bundle))
        for bidder, record in enumerate(session.state.bidders)
    ]
    payments = vcg_payments(bid_lists(raised), case["capacities"])
    assert payments.wdp.welfare == pytest.approx(case["raised"]["welfare"], abs=1e-8)
    assert payments.wdp.allocation.tolist() == case["raised"]["allocation"]
    assert payments.payments == pytest.approx(case["raised"]["vcg_payments"], abs=1e-6)


def a_clock(**parameters: Any) -> Session:
    return Session.start(
        configure("cca", [1, 2], n_bidders=2, start_prices=[4.0, 2.0], query_budget=9, parameters={"increment": 0.5} | parameters)
    )


def answer_with(session: Session, *bundles: list[int] | None) -> None:
    assert session.advance() is not None
    for bidder, bundle in enumerate(bundles):
        if bundle is not None:
            session.answer(bidder, bundle)
    session.close_round()


def test_a_clock_that_can_only_repeat_itself_ends() -> None:
    session = a_clock()
    answer_with(session, [1, 2], [1, 2])
    answer_with(session, [1, 0], [0, 1])
    assert session.advance() is None
    assert session.state.ended_phases["cca"] == "stalled"
    assert session.state.ended.reason == "finished"


def test_a_round_with_a_missing_answer_is_repeated_once() -> None:
    session = a_clock()
    answer_with(session, [1, 2], [0, 0])
    answer_with(session, [1, 0], None)
    answer_with(session, [1, 0], None)
    assert session.advance() is None
    assert [round_.prices for round_ in session.state.rounds] == [(0.0, 0.0), (4.0, 2.0), (4.0, 2.0)]


def test_unsold_units_at_price_zero_do_not_keep_a_round_from_clearing() -> None:
    for test, clears in (("unsold_is_free", True), ("exact", False)):
        session = Session.start(
            configure(
                "cca",
                [1, 1],
                n_bidders=1,
                start_prices=[4.0, 0.0],
                query_budget=9,
                parameters={"clearing_test": test, "price_floor": False},
            )
        )
        answer_with(session, [1, 1])
        answer_with(session, [1, 0])
        assert session.state.rounds[-1].cleared == clears


def test_an_over_demanded_good_rises_even_if_it_starts_at_zero() -> None:
    session = Session.start(configure("cca", [1, 1], n_bidders=2, start_prices=[4.0, 0.0], query_budget=9))
    for _ in range(3):
        answer_with(session, [0, 1], [0, 1])
    free, raised = (round_.prices[1] for round_ in session.state.rounds[1:])
    assert 0 < free < raised


def test_the_null_round_need_not_be_asked() -> None:
    session = a_clock(skip_null_round=True)
    assert session.advance().prices == (4.0, 2.0)
    assert [answer.bundle for answer in session.state.bidders[0].demand_answers] == [(1, 2)]
    rounds = 0
    while session.advance() is not None:
        session.answer(0, [1, 2])
        session.answer(1, [1, 2])
        session.close_round()
        rounds += 1
    assert rounds == 9
