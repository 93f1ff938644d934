import numpy as np
import pytest

from auctions.bundles import Limits, all_bundles
from auctions.networks.mvnn import MVNN
from auctions.networks.training import TrainingOptions
from solvers.operation import ForesolveError
from tests.auctions.vectors import cases

SAID = [[1, 0, 0], [0, 1, 1], [1, 1, 1]], [2.0, 3.0, 6.0]
FEW = TrainingOptions(epochs=5)


@pytest.mark.parametrize("case", cases("mvnn.json"))
def test_every_bundle_has_the_value_of_the_vectors(case):
    network = MVNN.from_dict(case["net"])
    np.testing.assert_allclose(network.predict(all_bundles(case["net"]["capacities"])), case["values"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("case", cases("mvnn.json"))
def test_tables_answer_the_demand_queries_of_the_vectors(case, precision):
    table = MVNN.from_dict(case["net"]).value_table(precision)
    for query in case["demand_queries"]:
        answer = table.demand(query["prices"])
        assert answer.utility == pytest.approx(query["utility"], abs=1e-8)
        assert query["bundle"] is None or answer.bundle.tolist() == query["bundle"]


@pytest.mark.parametrize("case", cases("mvnn.json"))
def test_a_document_survives_the_round_trip(case):
    network = MVNN.from_dict(case["net"])
    again = MVNN.from_dict(network.to_dict())
    np.testing.assert_array_equal(again.parameters_, network.parameters_)
    assert again.to_dict() == network.to_dict()


def test_money_scales_with_the_answers():
    small = MVNN([1, 1, 1], (5,), random_state=3).fit(value=SAID, options=FEW)
    large = MVNN([1, 1, 1], (5,), random_state=3).fit(value=(SAID[0], np.array(SAID[1]) * 2.0**50), options=FEW)
    np.testing.assert_array_equal(large.predict(SAID[0]), small.predict(SAID[0]) * 2.0**50)


def test_the_same_seed_trains_the_same_network_to_the_last_bit():
    first, second = (
        MVNN([1, 1, 1], (5,), random_state=np.random.default_rng(7)).fit(demand=([[1.0, 0.5, 2.0]], [[0, 1, 0]]), value=SAID)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.parameters_, second.parameters_)


def test_a_bidder_that_wants_nothing_trains_without_restart():
    network = MVNN([1, 1], random_state=0).fit(value=([[1, 1]], [0.0]), options=FEW)
    assert (network.scale_, network.n_restarts_, network.is_dead_) == (1.0, 0, False)


def test_a_network_that_died_is_begun_anew_and_says_so():
    doomed = TrainingOptions(epochs=1, learning_rate=1e3, weight_decay=1.0)
    network = MVNN([1, 1], (2,), False, random_state=0).fit(value=([[1, 1], [1, 0]], [1e-9, 1e-9]), scale=1.0, options=doomed)
    assert network.is_dead_
    assert network.n_restarts_ == 3
    assert network.demand([1.0, 1.0]).bundle.tolist() == [0, 0]


def test_contradictory_values_are_counted():
    network = MVNN([1, 1], random_state=0).fit(value=([[1, 0], [0, 1], [1, 1]], [3.0, 1.0, 2.0]), options=FEW)
    assert network.monotonicity_violations_ == 1


def test_no_demand_exceeds_what_the_bidder_may_hold():
    network = MVNN([1] * 5, limits=Limits(max_items=2, goods=(True, True, True, True, False)), random_state=0).fit(
        value=([[1] * 5], [5.0]), options=FEW
    )
    answer = network.demand([0.0] * 5)
    assert answer.bundle.sum() <= 2
    assert answer.bundle[4] == 0


@pytest.mark.parametrize(
    ("make", "pointer"),
    [
        (lambda: MVNN([]), "/capacities"),
        (lambda: MVNN([1, 0]), "/capacities/1"),
        (lambda: MVNN([1, 1.5]), "/capacities/1"),
        (lambda: MVNN([1, True]), "/capacities/1"),
        (lambda: MVNN([1001]), "/capacities/0"),
        (lambda: MVNN([1] * 501), "/capacities"),
        (lambda: MVNN([1], [0]), "/hidden_layer_sizes/0"),
        (lambda: MVNN([1], [], False), "/hidden_layer_sizes"),
        (lambda: MVNN([1]).fit(value=([[1]], [np.nan])), "/value/values/0"),
        (lambda: MVNN([1]).fit(value=([[1]], [-1.0])), "/value/values/0"),
        (lambda: MVNN([1]).fit(value=([[1]], [1.0, 2.0])), "/value/values"),
        (lambda: MVNN([1]).fit(value=([["a"]], [1.0])), "/value/bundles"),
        (lambda: MVNN([1]).fit(value=([[2]], [1.0])), "/value/bundles/0/0"),
        (lambda: MVNN([1]).fit(value=([[0.5]], [1.0])), "/value/bundles/0/0"),
        (lambda: MVNN([1, 1]).fit(value=([[1]], [1.0])), "/value/bundles"),
        (lambda: MVNN([1]).fit(demand=([[np.inf]], [[1]])), "/prices/0/0"),
        (lambda: MVNN([1]).fit(demand=([[1.0]], [[1], [0]])), "/demand"),
        (lambda: MVNN([1]).fit(value=([[1]], [1.0]), scale=0.0), "/scale"),
        (lambda: TrainingOptions(epochs=0), "/epochs"),
        (lambda: TrainingOptions(learning_rate=float("nan")), "/learning_rate"),
        (lambda: TrainingOptions(loss="huber"), "/loss"),
        (lambda: TrainingOptions(refresh="never"), "/refresh"),
        (lambda: MVNN.from_dict({"capacities": [1], "skip_weight": [-1.0]}), "/skip_weight/0"),
        (lambda: MVNN.from_dict({"capacities": [1], "skip_weight": [1.0, 2.0]}), "/skip_weight"),
        (lambda: MVNN.from_dict({"capacities": [1], "skip_weight": [1.0], "m": 2}), "/m"),
        (
            lambda: MVNN.from_dict(
                {"capacities": [1], "layers": [{"weight": [[1.0]], "bias": [0.5], "cutoff": [1.0]}], "output_weight": [1.0]}
            ),
            "/layers/0/bias/0",
        ),
    ],
)
def test_bad_input_is_refused_with_its_place(make, pointer):
    with pytest.raises(ForesolveError) as refusal:
        make()
    assert refusal.value.pointer == pointer
