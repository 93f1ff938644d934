"""Tables, branch and bound and coordinate ascent on the same questions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctions.bundles import Limits
from auctions.networks.coordinate_ascent import ascend
from auctions.networks.demand_program import climbed_demand, proven_demand
from auctions.networks.forward_pass import evaluate
from auctions.networks.mvnn import MVNN
from auctions.networks.oracles import chooser, demand_at
from auctions.networks.training import TrainingOptions
from auctions.networks.value_table import network_table
from auctions.outcome import SearchLimits
from benchmarks.auctions.published_program import published_demand
from solvers.operation import InvalidInput
from tests.auctions.networks.networks import SHAPES, random_network
from tests.auctions.vectors import cases

NOTHING = Limits()


@st.composite
def questions(draw):
    capacities, hidden, skip = draw(
        st.sampled_from([((1,) * 6, (6, 4), True), ((2, 3, 1), (7,), True), ((1, 2, 2), (4, 5, 3), False)])
    )
    architecture, parameters = random_network(capacities, hidden, skip, seed=draw(st.integers(0, 10_000)))
    highest = float(evaluate(architecture, parameters, np.array([capacities]))[0])
    share = st.floats(0, 2.0) if highest > 0 else st.just(1.0)
    prices = np.array([draw(share) * max(highest, 0.1) / sum(capacities) for _ in capacities])
    limits = Limits(max_items=draw(st.none() | st.integers(0, 5)), caps=draw(st.none() | st.just((1,) * len(capacities))))
    table = network_table(architecture, parameters, 1.0, limits)
    rows = draw(st.lists(st.integers(0, len(table) - 1), max_size=4))
    return architecture, parameters, prices, table.bundles_of(np.array(rows, dtype=np.int64)), limits, table


@given(questions())
@settings(max_examples=60, deadline=None)
def test_branch_and_bound_proves_what_a_table_finds(question):
    architecture, parameters, prices, forbidden, limits, table = question
    expected = table.restrict(forbidden).demand(prices)
    answer = proven_demand(architecture, parameters, 7.0, 7.0 * prices, forbidden, limits)
    assert answer.status == expected.status
    if answer.status == "optimal":
        assert answer.utility == pytest.approx(7 * expected.utility, abs=1e-5)
        assert answer.bound >= 7 * expected.utility - 1e-5
        assert limits.admits(answer.bundle)
        assert answer.bundle.tolist() not in forbidden.tolist()


@given(questions())
@settings(max_examples=60, deadline=None)
def test_coordinate_ascent_finds_an_admissible_bundle_never_above_the_optimum(question):
    architecture, parameters, prices, forbidden, limits, table = question
    expected = table.restrict(forbidden).demand(prices)
    answer = climbed_demand(architecture, parameters, 1.0, prices, forbidden, limits)
    if expected.status == "infeasible":
        assert answer.status == "infeasible"
        return
    assert limits.admits(answer.bundle)
    assert answer.bundle.tolist() not in forbidden.tolist()
    assert answer.utility <= expected.utility + 1e-12
    assert answer.bound >= expected.utility - 1e-12
    assert answer.value == evaluate(architecture, parameters, answer.bundle[None, :])[0]


@pytest.mark.parametrize("case", cases("mvnn.json"))
def test_branch_and_bound_answers_the_demand_queries_of_the_vectors(case):
    network = MVNN.from_dict(case["net"])
    for query in case["demand_queries"]:
        answer = network.demand(query["prices"], method="milp")
        assert answer.utility == pytest.approx(query["utility"], abs=1e-6)
        assert query["bundle"] is None or answer.bundle.tolist() == query["bundle"]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_published_program_has_the_same_optimum(shape):
    architecture, parameters = random_network(*shape, seed=2)
    rng = np.random.default_rng(1)
    highest = float(evaluate(architecture, parameters, np.array([architecture.capacities]))[0])
    for _ in range(3):
        prices = rng.uniform(0, 2 * highest / sum(architecture.capacities), architecture.n_goods)
        theirs, _ = published_demand(architecture, parameters, prices)
        ours = demand_at(architecture, parameters, 1.0, prices, theirs[None, :][:0], NOTHING, "milp")
        worth = evaluate(architecture, parameters, theirs[None, :])[0] - theirs @ prices
        assert ours.utility == pytest.approx(worth, abs=1e-6)


def test_ascent_ends_where_no_change_of_one_good_helps():
    architecture, parameters = random_network((1, 2, 3) * 4, (10, 8), True, seed=5, zeros=0.1)
    highest = float(evaluate(architecture, parameters, np.array([architecture.capacities]))[0])
    prices = np.random.default_rng(0).uniform(0, 2 * highest / 24, (30, 12))
    bundles, utilities = ascend(architecture, parameters, prices, np.zeros((0, 12), dtype=np.int64))
    for bundle, utility, row in zip(bundles, utilities, prices, strict=True):
        for good, capacity in enumerate(architecture.capacities):
            for level in range(capacity + 1):
                other = bundle.copy()
                other[good] = level
                assert evaluate(architecture, parameters, other[None, :])[0] - other @ row <= utility + 1e-10 * highest


def test_ascent_is_never_below_the_bundles_it_starts_from():
    architecture, parameters = random_network((1, 2, 3) * 4, (10, 8), True, seed=6)
    rng = np.random.default_rng(0)
    pool = rng.integers(0, np.array(architecture.capacities) + 1, (20, 12))
    prices = rng.uniform(0, 0.1, (10, 12))
    _, utilities = ascend(architecture, parameters, prices, pool)
    known = evaluate(architecture, parameters, pool)[None, :] - prices @ pool.T
    assert (utilities >= known.max(axis=1) - 1e-9).all()


def test_training_on_more_bundles_than_a_table_holds_explains_the_answers():
    capacities = (3,) * 12  # 4^12 bundles
    teacher = MVNN.from_dict({"capacities": list(capacities), "skip_weight": list(np.linspace(1, 2, 12))})
    prices = np.random.default_rng(0).uniform(0.5, 2.5, (8, 12))
    chosen = np.stack([teacher.demand(row, method="coordinate_ascent").bundle for row in prices])
    network = MVNN(capacities, (10,), random_state=1).fit(demand=(prices, chosen), options=TrainingOptions(epochs=60))
    assert network.loss_curve_.demand[-1] < network.loss_curve_.demand[0] / 3


@pytest.mark.parametrize("method", ["table", "coordinate_ascent", "milp"])
def test_every_method_trains(method):
    architecture, parameters = random_network((1,) * 4, (3,), True)
    choose = chooser(architecture, NOTHING, method, np.array([[1, 0, 0, 1]]))
    assert choose(parameters, np.full((2, 4), 0.01)).shape == (2, 4)


def test_a_search_that_is_stopped_says_so_and_keeps_its_bound():
    architecture, parameters = random_network((1, 2, 3) * 10, (20, 20), True, seed=1, zeros=0.0)
    highest = float(evaluate(architecture, parameters, np.array([architecture.capacities]))[0])
    prices = np.random.default_rng(3).uniform(0, 2 * highest / 60, 30)
    none = np.zeros((0, 30), dtype=np.int64)
    proven = proven_demand(architecture, parameters, 1.0, prices, none)
    stopped = proven_demand(architecture, parameters, 1.0, prices, none, search=SearchLimits(node_limit=1))
    assert proven.status == "optimal"
    assert stopped.bound >= proven.utility - 1e-6
    assert stopped.utility <= proven.bound + 1e-9
    cancelled = proven_demand(architecture, parameters, 1.0, prices, none, search=SearchLimits(cancelled=lambda: True))
    assert cancelled.stopped_by == "cancelled" or cancelled.status == "optimal"


def test_an_unknown_method_is_refused():
    with pytest.raises(InvalidInput) as refusal:
        MVNN.from_dict({"capacities": [1], "skip_weight": [1.0]}).demand([1.0], method="guess")
    assert refusal.value.pointer == "/method"
