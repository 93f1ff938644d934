"""Whole auctions with truthful bidders: what must hold in every one of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from auctions.domains.gsvm import gsvm
from auctions.domains.reading import read_instance
from auctions.domains.srvm import srvm
from auctions.mechanism.bids import inferred_bids
from auctions.mechanism.budget import MECHANISMS
from auctions.mechanism.price_search import relative_distance
from auctions.mechanism.session import Session
from auctions.mechanism.simulation import Simulation, configuration_of, questions_per_bidder, simulate
from auctions.mechanism.state import AuctionState
from auctions.mechanism.truthful_bidders import truthful_answer
from auctions.mechanism.workbench import Workbench
from solvers.operation import InvalidInput

# Networks that are trained for a moment only: what holds for every network is shown with them in little time.
FAST = {
    "hyperparameters": {"demand": {"epochs": 3}, "value": {"epochs": 3}},
    "epoch_factor": 0.002,
    "price_search": {"max_steps": 15},
}


@cache
def a_simulation(
    mechanism: str = "mlhca", query_budget: int | None = 25, preset: str = "default", domain: str = "srvm"
) -> Simulation:
    instance = {"srvm": srvm, "gsvm": gsvm}[domain](3)
    return simulate(instance, mechanism, seed=1, query_budget=query_budget, parameters=FAST | {"preset": preset})


every_simulation = pytest.mark.parametrize(
    ("mechanism", "preset"), [(mechanism, preset) for mechanism in MECHANISMS for preset in ("default", "reference")]
)


@every_simulation
def test_bids_never_exceed_values(mechanism: str, preset: str) -> None:
    instance = srvm(3)
    for bidder, record in enumerate(a_simulation(mechanism, preset=preset).state.bidders):
        for bundle, bid in inferred_bids(record).items():
            assert bid <= instance.value(bidder, list(bundle)) * (1 + 1e-12)


@every_simulation
def test_the_welfare_by_the_bids_never_falls(mechanism: str, preset: str) -> None:
    trace = a_simulation(mechanism, preset=preset).trace
    by_bids = [entry.bids_welfare for entry in trace if not entry.round.cleared]
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(by_bids))


@every_simulation
def test_efficiency_is_a_share(mechanism: str, preset: str) -> None:
    simulation = a_simulation(mechanism, preset=preset)
    assert all(0 <= entry.efficiency <= 1 + 1e-9 for entry in simulation.trace)
    assert 0 <= simulation.efficiency <= 1 + 1e-9


@every_simulation
def test_payments_are_individually_rational(mechanism: str, preset: str) -> None:
    settlement = a_simulation(mechanism, preset=preset).settlement
    assert (settlement.payments >= 0).all()
    assert (settlement.payments <= settlement.outcome.values + 1e-9).all()


@every_simulation
def test_no_question_is_asked_beyond_the_budget(mechanism: str, preset: str) -> None:
    simulation = a_simulation(mechanism, preset=preset)
    assert all(count["demand"] + count["value"] <= 25 for count in questions_per_bidder(simulation.state))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_default_repeats_no_question_and_asks_for_no_empty_bundle(mechanism: str) -> None:
    for count in questions_per_bidder(a_simulation(mechanism).state):
        assert count["repeated"] == count["empty"] == 0


@every_simulation
def test_truthful_answers_contain_no_cycle(mechanism: str, preset: str) -> None:
    certificates = a_simulation(mechanism, preset=preset).certificates
    assert certificates.conflicts == []


@every_simulation
def test_the_certified_efficiency_is_never_above_the_true_one(mechanism: str, preset: str) -> None:
    simulation = a_simulation(mechanism, preset=preset)
    if simulation.certificates.certified_efficiency is not None:
        assert simulation.certificates.certified_efficiency <= simulation.efficiency + 1e-9
    if simulation.certificates.optimum_bound is not None:
        assert simulation.certificates.optimum_bound >= simulation.optimum.welfare * (1 - 1e-9)


def test_efficiency_never_falls_below_that_at_the_bridge() -> None:
    trace = a_simulation(query_budget=15, domain="gsvm").trace
    bridge = next((index for index, entry in enumerate(trace) if entry.round.phase == "bridge"), None)
    assert bridge is not None
    assert all(entry.efficiency >= trace[bridge].efficiency - 1e-9 for entry in trace[bridge:])


def test_ml_prices_keep_the_distance_that_the_rule_asks_for() -> None:
    rounds = [round_ for round_ in a_simulation(query_budget=30).state.rounds if round_.prices is not None and not round_.is_null]
    ml_round = 0
    for index, round_ in enumerate(rounds):
        if round_.phase == "ml_dq":
            ml_round += 1
            nearest = min(relative_distance(np.array(round_.prices), np.array(other.prices)) for other in rounds[:index])
            assert nearest >= 0.05 * 0.95**ml_round


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_seed_gives_the_same_auction(mechanism: str) -> None:
    again = simulate(srvm(3), mechanism, seed=1, query_budget=25, parameters=FAST | {"preset": "default"})
    assert again.deterministic
    assert again.state.to_dict() == a_simulation(mechanism).state.to_dict()
    assert again.settlement.payments.tolist() == a_simulation(mechanism).settlement.payments.tolist()


def test_bidders_that_are_trained_side_by_side_give_the_same_auction() -> None:
    with ThreadPoolExecutor(2) as pool:
        workbench = Workbench(map=pool.map)
        threaded = simulate(
            srvm(3), "mlhca", seed=1, query_budget=25, parameters=FAST | {"preset": "default"}, workbench=workbench
        )
    assert threaded.state.to_dict() == a_simulation().state.to_dict()


def test_an_auction_that_is_restored_after_every_event_goes_on_as_if_it_had_not_stopped() -> None:
    instance = srvm(3)
    state = AuctionState(configuration_of(instance, "mlhca", 1, 25, FAST | {"preset": "default"}))

    def stored(session: Session) -> Session:
        return Session(AuctionState.from_dict(json.loads(json.dumps(session.state.to_dict()))))

    session = Session(state)
    while (round_ := (session := stored(session)).advance()) is not None:
        for bidder, is_asked in enumerate(round_.asked):
            if is_asked:
                session = stored(session)
                session.answer(bidder, truthful_answer(instance, bidder, session.state.rounds[-1]))
        session = stored(session)
        session.close_round()
    assert json.dumps(session.state.to_dict()) == json.dumps(a_simulation().state.to_dict())


def test_without_its_later_phases_mlhca_is_the_clock() -> None:
    counts = {"n_cca_rounds": 8, "n_ml_demand_queries": 0, "bridge_bid": False, "n_value_queries": 0}
    hybrid = simulate(srvm(3), "mlhca", parameters=counts | {"increment": 0.3})
    clock = simulate(srvm(3), "cca", query_budget=8, parameters={"increment": 0.3})
    assert [entry.round.prices for entry in hybrid.trace] == [entry.round.prices for entry in clock.trace]
    assert [entry.round.answers for entry in hybrid.trace] == [entry.round.answers for entry in clock.trace]


def test_without_value_queries_mlhca_is_ml_cca() -> None:
    counts = {"n_cca_rounds": 6, "n_ml_demand_queries": 3}
    shared = FAST | {"increment": 0.3}
    hybrid = simulate(srvm(3), "mlhca", parameters=shared | counts | {"bridge_bid": False, "n_value_queries": 0})
    demand_only = simulate(srvm(3), "ml_cca", parameters=shared | counts)
    assert [entry.round.prices for entry in hybrid.trace] == [entry.round.prices for entry in demand_only.trace]
    assert hybrid.settlement.payments.tolist() == demand_only.settlement.payments.tolist()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("budget", [0, 1, 2, 3])
def test_the_smallest_budgets_are_spent_and_no_more(mechanism: str, budget: int) -> None:
    simulation = simulate(srvm(3), mechanism, query_budget=budget, parameters=FAST)
    assert len(simulation.state.rounds) <= budget
    if budget == 0:
        assert not simulation.settlement.allocation.any()
        assert simulation.efficiency == 0
        assert not simulation.settlement.payments.any()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_bidders_that_value_nothing_are_asked_nothing_twice(mechanism: str) -> None:
    nothing = {"kind": "table", "values": [0, 0, 0, 0]}
    instance = read_instance(
        {"schema": "valuations/1", "capacities": [1, 1], "bidders": [{"id": "a", **nothing}, {"id": "b", **nothing}]}
    )
    simulation = simulate(instance, mechanism, query_budget=9, parameters=FAST)
    assert not any(asked["repeated"] for asked in questions_per_bidder(simulation.state))
    assert simulation.efficiency is None
    assert not simulation.settlement.payments.any()


def test_a_simulation_is_json() -> None:
    document = json.loads(json.dumps(a_simulation().to_dict(), allow_nan=False))
    assert len(document["rounds"]) == len(a_simulation().trace)
    assert document["reports"][-1]["questions"] == 25


def test_reports_name_every_variant_asked_for() -> None:
    variants = ("clock", "raised", "profit_max_5", "profit_max_100")
    simulation = simulate(srvm(3), "cca", query_budget=12, report_at=[5, 12], bid_variants=variants)
    assert [(report.questions, report.variant) for report in simulation.reports] == [
        (questions, variant) for questions in (5, 12) for variant in variants
    ]
    by_variant = {report.variant: report.efficiency for report in simulation.reports if report.questions == 12}
    assert by_variant["profit_max_100"] >= by_variant["profit_max_5"] - 1e-9 >= by_variant["raised"] - 2e-9


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(InvalidInput) as fault:
        simulate(srvm(3), "cca", bid_variants=["sealed"])
    assert fault.value.pointer == "/bid_variants/0"
