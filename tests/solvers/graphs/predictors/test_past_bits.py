"""Epsilon from several past instances: what the draws had, with an interval that covers it, and a warning below 0."""

import json
import math

import networkx
import numpy as np
import pytest
from pydantic import ValidationError

from solvers.graphs import SetSystem, estimate_epsilon, pooled_epsilon, sample_edge_predictions, sample_incidence_predictions
from solvers.graphs.predictors.epsilon_of_bits import GRAPHS_PREDICTIONS_ESTIMATE_EPSILON as ESTIMATE
from solvers.graphs.predictors.epsilon_of_bits import from_objects
from solvers.graphs.predictors.fit import GRAPHS_PREDICTIONS_FIT as FIT
from solvers.graphs.predictors.predict import GRAPHS_PREDICTIONS_PREDICT as PREDICT
from solvers.operation import Context, InvalidInput, TooLarge

DAYS = 12
RIGHT = {"edges": [[0, 1]], "edge_bits": [[1, 0]], "reference": [0]}


def run(body, context=None):
    return ESTIMATE.run(ESTIMATE.request.model_validate_json(json.dumps(body)), context or Context())


def pointer_of(body, context=None) -> str | None:
    with pytest.raises(InvalidInput) as fault:
        run(body, context)
    return fault.value.pointer


def edge_days(epsilon: float, seed: int, days: int = DAYS) -> list[tuple]:
    """Bits about a random independent set of another graph every day."""
    past = []
    for day in range(days):
        graph = networkx.random_regular_graph(6, 50, seed=100 * seed + day)
        edges = np.array(graph.edges)
        chosen = np.zeros(50, int)
        chosen[networkx.maximal_independent_set(graph, seed=day)] = 1
        past.append((edges, sample_edge_predictions(edges, chosen, epsilon, seed=[seed, day]).bits, chosen))
    return past


def incidence_days(epsilon: float, seed: int) -> list[tuple]:
    past = []
    for day in range(DAYS):
        rng = np.random.default_rng([seed, day])
        system = SetSystem([rng.choice(30, 10, replace=False) for _ in range(30)], num_elements=30)
        chosen = rng.integers(0, 2, 30)
        bits = sample_incidence_predictions(system, chosen, epsilon, seed=rng)
        past.append((bits.sets, bits.bits, chosen))
    return past


@pytest.mark.parametrize("draw", [edge_days, incidence_days])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.45])
@pytest.mark.parametrize("method", ["reference", "moment", "em"])
def test_days_together_tell_the_epsilon_that_the_bits_were_drawn_with(draw, epsilon, method):
    past = draw(epsilon, seed=1)
    # By the 3600 bits against the solutions, by more than 7000 pairs of them without: within 6 standard deviations.
    if method == "reference":
        slack = 6 * math.sqrt((0.25 - epsilon**2) / 3600)
    else:
        slack = 6 * 0.5 / math.sqrt(7000) / max(4 * epsilon, math.sqrt(0.5 / math.sqrt(7000)))
    found = pooled_epsilon(past if method == "reference" else [(*one[:2], None) for one in past], method)
    assert found.epsilon == pytest.approx(epsilon, abs=slack)


def test_the_interval_covers_the_truth_nearly_always():
    draws = 100
    intervals = [pooled_epsilon(edge_days(0.1, seed, days=2)).interval for seed in range(draws)]
    covered = sum(low <= 0.1 <= high for low, high in intervals)
    # 95 of 100 are expected; 6 standard deviations are 13.
    assert covered >= 82


def test_more_days_tell_more():
    days = edge_days(0.1, seed=2)
    few, many = (pooled_epsilon(days[:count]).interval for count in (2, DAYS))
    assert many[1] - many[0] == pytest.approx((few[1] - few[0]) * math.sqrt(2 / DAYS), rel=0.15)


def test_copies_of_one_opinion_a_day_are_seen_and_widen_the_interval():
    rng = np.random.default_rng(3)
    past = []
    for edges, _, chosen in edge_days(0.2, seed=3):
        opinion = np.where(rng.random(50) < 0.7, chosen, 1 - chosen)
        past.append((edges, opinion[edges], chosen))
    found = pooled_epsilon(past)
    assert found.overdispersion > 0.9
    # As wide as that of 600 opinions, not of 3600 bits.
    assert found.interval[1] - found.interval[0] == pytest.approx(2 * 1.96 * math.sqrt(0.21 / 600), rel=0.15)


def test_one_day_alone_is_the_estimate_of_that_day():
    edges, bits, chosen = edge_days(0.2, seed=4)[0]
    assert pooled_epsilon([(edges, bits, chosen)]) == estimate_epsilon(edges, bits, chosen)
    assert pooled_epsilon([(edges, bits, None)]) == estimate_epsilon(edges, bits)


def test_nothing_tells_nothing():
    assert pooled_epsilon([]).epsilon is None
    assert pooled_epsilon([([], [], [])]).epsilon is None


@pytest.mark.parametrize(
    "past", [[([[0, 1]], [[0, 1], [1, 0]], None)], [([[0, 1]], [[0, 1]], [0])], [([[0, 1]], [[0, 2]], None)]]
)
def test_what_does_not_fit_together_is_refused(past):
    with pytest.raises(InvalidInput):
        pooled_epsilon(past)


@pytest.mark.parametrize("method", [None, "moment", "em", "reference"])
def test_the_operation_pools_as_the_library_does(method):
    past = edge_days(0.2, seed=5)
    instances = [
        {"num_vertices": 50, "edges": e.tolist(), "edge_bits": b.tolist(), "reference": np.flatnonzero(r).tolist()}
        for e, b, r in past
    ]
    answer = run({"problem": "independent-set", "instances": instances, "method": method})
    expected = pooled_epsilon(past, method)
    assert (answer.epsilon, answer.interval, answer.overdispersion) == (
        expected.epsilon,
        expected.interval,
        expected.overdispersion,
    )
    assert answer.by_instance == [estimate_epsilon(*one, method=answer.method).epsilon for one in past]
    assert answer.bits == 300 * DAYS


def test_reference_cuts_count_the_same_however_they_are_turned():
    edges = np.array(networkx.random_regular_graph(7, 60, seed=2).edges)
    cut = np.arange(60) % 2
    bits = [sample_edge_predictions(edges, cut, 0.3, seed=seed) for seed in range(3)]
    turned, straight = (
        [from_objects(edges, one, problem="max-cut", reference=(cut + number * day) % 2) for day, one in enumerate(bits)]
        for number in (1, 0)
    )
    for bodies in (turned, straight):
        for body in bodies:
            del body["problem"]
    assert run({"problem": "max-cut", "instances": turned}) == run({"problem": "max-cut", "instances": straight})


def test_without_every_reference_the_bits_are_told_by_each_other():
    answer = run({"problem": "vertex-cover", "instances": [RIGHT, {"edges": [[0, 1]], "edge_bits": [[1, 0]]}]})
    assert answer.method == "moment"


def test_bits_that_were_mostly_wrong_are_said_to_predict_turned_over_and_stay_as_they_are():
    wrong = RIGHT | {"edge_bits": [[0, 1]]}
    answer = run({"problem": "vertex-cover", "instances": [wrong, wrong, RIGHT]})
    assert answer.epsilon == pytest.approx(2 / 6 - 0.5)
    assert answer.by_instance == [-0.5, -0.5, 0.5]
    (warning,) = answer.warnings
    assert warning.code == "mostly-wrong"
    assert "turned over" in warning.message


def test_a_predictor_that_was_mostly_wrong_says_so_and_keeps_its_bits():
    context = Context()
    # Each solution is the complement of the one before, so that a frequency of the others is always wrong.
    instances = [{"edges": [[0, 1], [1, 2], [2, 3]], "solution": solution} for solution in ([0, 2], [1, 3], [0, 2], [1, 3])]
    body = {"problem": "independent-set", "instances": instances, "folds": 4}
    fitted = FIT.run(FIT.request.model_validate(body), context)
    assert fitted.cross_validation.epsilon < 0
    assert [warning.code for warning in fitted.warnings] == ["mostly-wrong"]
    asked = {"predictor": fitted.predictor, "edges": [[0, 1]]}
    answer = PREDICT.run(PREDICT.request.model_validate(asked), context)
    assert answer.predictions.edge_bits is None
    assert [warning.code for warning in answer.warnings] == ["mostly-wrong"]
    with_bits = PREDICT.run(PREDICT.request.model_validate(asked | {"forms": ["edge_bits"]}), context)
    assert (with_bits.predictions.edge_bits, with_bits.predictions.epsilon) == ([[0, 0]], None)


def test_repairs_of_many_instances_are_one_warning():
    twice = {"edges": [[0, 1], [1, 0]], "edge_bits": [[1, 0]]}
    (warning,) = run({"problem": "vertex-cover", "instances": [twice, twice]}).warnings
    assert (warning.code, warning.pointer) == ("duplicate-edges", "/instances/0/edges/1")


@pytest.mark.parametrize(
    ("instance", "pointer"),
    [
        (RIGHT | {"edge_bits": [[0, 2]]}, "/instances/1/edge_bits/0/1"),
        (RIGHT | {"reference": [5]}, "/instances/1/reference/0"),
        ({"sets": [[0]], "incidence_bits": [[0]]}, "/instances/1"),
        ({"edges": [[0, 1]], "incidence_bits": [[0], [1]]}, "/instances/1/incidence_bits"),
    ],
)
def test_a_malformed_instance_is_named(instance, pointer):
    assert pointer_of({"problem": "vertex-cover", "instances": [RIGHT, instance]}) == pointer


def test_instances_that_are_too_large_together_are_refused():
    with pytest.raises(TooLarge) as fault:
        run({"problem": "vertex-cover", "instances": [RIGHT] * 4}, Context(limits={"max_edges": 2}))
    assert fault.value.pointer == "/instances/2"


@pytest.mark.parametrize(
    "fields",
    [
        {"instances": []},
        {"edges": [[0, 1]]},
        {"edge_bits": [[0, 1]]},
        {"instances": [{"edges": [[0, 1]]}]},
        {"instances": [RIGHT | {"edge_bits_flat": [0, 1]}]},
        {"instances": [{"edges": [[0, 1]], "edge_bits": [[0, 1]]}], "method": "reference"},
        {"instances": [RIGHT | {"method": "em"}]},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(fields):
    sound = {"problem": "vertex-cover", "instances": [RIGHT]}
    ESTIMATE.request.model_validate(sound)
    with pytest.raises(ValidationError):
        ESTIMATE.request.model_validate(sound | fields)
