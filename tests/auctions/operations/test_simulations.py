"""Auctions simulated as the service is asked for them: the result, its progress, its end before time, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from auctions.mechanism.state import AuctionState
from auctions.operations.simulations import SIMULATIONS, SimulationResult
from solvers.operation import MemoryFiles
from tests.auctions.operations.running import pointer_of_fault, run

CLOCK: dict[str, Any] = {"domain": "gsvm", "instance_seed": 1, "mechanism": "cca", "preset": "reference", "query_budget": 8}
SMALL: dict[str, Any] = {
    "instance": {"domain": "lsvm", "seed": 1, "parameters": {"rows": 2, "columns": 2, "n_regional": 2}},
    "mechanism": "mlhca",
    "query_budget": 10,
    "parameters": {"start_prices": [2.0] * 4},
}


@pytest.fixture(scope="module")
def hybrid() -> SimulationResult:
    result: SimulationResult = run(SIMULATIONS, SMALL)
    return result


def test_a_clock_auction_is_told_round_by_round():
    reports: list[dict[str, Any]] = []
    result = run(SIMULATIONS, CLOCK, on_report=lambda members, snapshot: reports.append(members))
    rounds = [report["round"] for report in reports if "round" in report]
    assert rounds == [each.round for each in result.rounds] == list(range(1, 9))
    assert reports[0]["estimate"] == result.estimate.seconds
    assert [report["efficiency"] for report in reports if "round" in report] == [each.efficiency for each in result.rounds]
    assert reports[-1]["fraction"] == 1
    assert {(count.demand, count.value) for count in result.questions} == {(8, 0)}


def test_a_hybrid_auction_pays_no_more_than_bids_and_is_no_better_than_the_best(hybrid: SimulationResult):
    assert hybrid.outcome is not None
    assert hybrid.payments is not None
    assert hybrid.efficiency is not None
    assert hybrid.efficiency <= 1 + 1e-9
    assert all(-1e-9 <= pay <= bid + 1e-9 for pay, bid in zip(hybrid.payments, hybrid.outcome.values, strict=True))
    assert hybrid.stopped_by is None
    assert hybrid.deterministic


def test_the_same_seeds_give_the_same_auction(hybrid: SimulationResult):
    again, first = (json.loads(result.model_dump_json()) for result in (run(SIMULATIONS, SMALL), hybrid))
    assert SIMULATIONS.comparable(again) == SIMULATIONS.comparable(first)


def test_the_log_is_a_file_from_which_the_auction_is_restored():
    files = MemoryFiles()
    result = run(SIMULATIONS, CLOCK, files=files)
    state = AuctionState.from_dict(json.loads(files.open(result.files.log).read()))
    assert len(state.rounds) == 8


def test_reports_tell_what_the_auction_would_have_come_to():
    result = run(SIMULATIONS, CLOCK | {"report_at": [4], "bid_variants": ["clock", "raised"]})
    told = {(report.questions, report.variant): report.efficiency for report in result.reports}
    assert told.keys() == {(4, "clock"), (4, "raised"), (8, "clock"), (8, "raised")}
    assert told[4, "clock"] == result.rounds[3].efficiency


def test_an_estimate_alone_runs_nothing():
    result = run(SIMULATIONS, CLOCK | {"estimate_only": True})
    assert result.estimate.low < result.estimate.seconds < result.estimate.high
    assert (result.outcome, result.rounds) == (None, None)


def test_a_cancelled_auction_is_the_auction_so_far():
    seen: list[int] = []
    result = run(
        SIMULATIONS,
        CLOCK,
        on_report=lambda members, snapshot: seen.append(members.get("round", 0)),
        is_cancelled=lambda: max(seen, default=0) >= 3,
    )
    assert (result.stopped_by, len(result.rounds), result.deterministic) == ("cancelled", 3, False)
    assert result.outcome.allocation


def test_time_that_is_up_ends_an_auction_with_what_there_is():
    result = run(SIMULATIONS, CLOCK, time_limit=0)
    assert (result.stopped_by, result.rounds, result.revenue) == ("time_limit", [], 0)


def test_a_job_that_must_be_killed_leaves_the_auction_as_it_stands():
    snapshots: list[SimulationResult] = []

    def keep(members: dict[str, Any], snapshot: Any) -> None:
        if snapshot is not None:
            snapshots.append(snapshot())

    final = run(SIMULATIONS, CLOCK, on_report=keep)
    assert [len(snapshot.rounds or ()) for snapshot in snapshots] == list(range(1, 9))
    assert snapshots[-1].outcome is not None
    assert snapshots[-1].outcome.allocation == final.outcome.allocation


@pytest.mark.parametrize("mechanism", ["cca", "ml_cca", "mlca", "boca", "mlhca"])
def test_no_question_leaves_everybody_with_nothing(mechanism: str):
    result = run(SIMULATIONS, SMALL | {"mechanism": mechanism, "query_budget": 0, "parameters": {}})
    assert (result.efficiency, result.payments, result.rounds) == (0, [0] * 3, [])


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_few_questions_are_asked_and_no_more(budget: int):
    result = run(SIMULATIONS, SMALL | {"query_budget": budget})
    assert len(result.rounds) <= budget


def test_bidders_who_value_nothing_have_no_efficiency():
    worthless = {"schema": "valuations/1", "capacities": [1], "bidders": [{"kind": "table", "values": [0, 0]}] * 2}
    result = run(SIMULATIONS, {"instance": worthless, "mechanism": "cca", "query_budget": 3})
    assert (result.efficiency, result.optimal_welfare, result.payments) == (None, 0, [0, 0])


def test_one_bidder_for_one_item_pays_nothing_by_vcg():
    alone = {"schema": "valuations/1", "capacities": [1], "bidders": [{"kind": "table", "values": [0, 5]}]}
    body = {"instance": alone, "mechanism": "cca", "query_budget": 3, "preset": "reference"}
    result = run(SIMULATIONS, body)
    assert (result.outcome.allocation, result.efficiency, result.payments) == ([[1]], 1, [0])


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"domain": "xsvm"}, "/domain"),
        ({"instance_seed": 2**63}, "/instance_seed"),
        ({"domain": None}, ""),
        ({"instance": {"domain": "gsvm", "seed": 1}}, ""),
        ({"mechanism": "auction"}, "/mechanism"),
        ({"preset": "mine"}, "/preset"),
        ({"seed": -1}, "/seed"),
        ({"query_budget": -1}, "/query_budget"),
        ({"query_budget": 10, "parameters": {"n_cca_rounds": 3}}, "/query_budget"),
        ({"query_budget": None, "parameters": {"n_value_queries": 3}}, "/parameters/n_value_queries"),
        ({"parameters": {"colour": 1}}, "/parameters/colour"),
        ({"parameters": {"increment": -1}}, "/parameters/increment"),
        ({"parameters": {"pricing": "free"}}, "/parameters/pricing"),
        ({"parameters": {"start_prices": [1, -1]}}, "/parameters/start_prices/1"),
        ({"parameters": {"start_prices": [1, 1]}}, "/parameters/start_prices"),
        ({"parameters": {"start_prices": [math.nan] * 18}}, "/parameters/start_prices/0"),
        ({"bid_variants": ["best"]}, "/bid_variants/0"),
        ({"bid_variants": []}, "/bid_variants"),
        ({"report_at": ["20"]}, "/report_at/0"),
        ({"activity_rule": "maybe"}, "/activity_rule"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_place(change: dict[str, Any], pointer: str):
    assert pointer_of_fault(SIMULATIONS, CLOCK | change) == pointer
