"""Predictors of covers by sets: learnt from past covers, and taken by a solve as they are."""

import json

import numpy as np
import pytest

from solvers.graphs import SetSystem, estimate_epsilon, sample_incidence_predictions, set_cover
from solvers.graphs.predictors.epsilon_of_bits import GRAPHS_PREDICTIONS_ESTIMATE_EPSILON as ESTIMATE
from solvers.graphs.predictors.epsilon_of_bits import from_objects as bits_from_objects
from solvers.graphs.predictors.fit import GRAPHS_PREDICTIONS_FIT as FIT
from solvers.graphs.predictors.predict import GRAPHS_PREDICTIONS_PREDICT as PREDICT
from solvers.graphs.predictors.predict import from_objects as prediction_from_objects
from solvers.graphs.set_cover import SET_COVER
from solvers.operation import Context, ForesolveError, InvalidInput

SQUARE = {"sets": [[0, 1], [1, 2], [2, 3], [3, 0]], "solution": [0, 2]}


def run(operation, body, context=None):
    return operation.run(operation.request.model_validate_json(json.dumps(body)), context or Context())


def fit(instances, context=None, **fields):
    return run(FIT, {"problem": "set-cover", "instances": instances} | fields, context)


def ranges(seed: int, stations: int = 60) -> dict:
    """Stations on a line and ranges of them, with the fewest ranges that cover them, which the greedy rule from the left finds."""
    rng = np.random.default_rng(seed)
    sets = [list(range(first, min(stations, first + 1 + rng.integers(7)))) for first in range(stations)]
    chosen, covered = [], 0
    while covered < stations:
        chosen.append(max(range(covered + 1), key=lambda j: sets[j][-1]))
        covered = sets[chosen[-1]][-1] + 1
    return {"sets": sets, "solution": sorted(chosen)}


def pointer_of(operation, body, context=None) -> str | None:
    with pytest.raises(InvalidInput) as fault:
        run(operation, body, context)
    return fault.value.pointer


def test_frequencies_of_sets_follow_the_rule_of_succession():
    context = Context()
    predictor = fit([SQUARE, SQUARE, SQUARE | {"solution": [1, 3]}], context).predictor
    answer = run(PREDICT, {"sets": [[0], [0, 1], [1], [1], [0]], "predictor": predictor}, context)
    assert answer.predictions.set_probabilities[:4] == pytest.approx([3 / 5, 2 / 5, 3 / 5, 2 / 5])
    assert answer.predictions.set_probabilities[4] is None
    assert (answer.problem, answer.unpredicted) == ("set-cover", 1)
    assert answer.warnings[0].code == "unpredicted-sets"


def test_a_regression_tells_which_ranges_are_chosen():
    found = fit([ranges(seed) for seed in range(20)], model="logistic").cross_validation
    share_of_chosen = np.mean([len(ranges(seed)["solution"]) / 60 for seed in range(20)])
    assert (found.instances, found.items, found.unpredicted) == (20, 1200, 0)
    assert found.accuracy > 1 - share_of_chosen + 0.05
    assert found.epsilon_interval[0] > 0.2
    assert found.overdispersion > 0.5


@pytest.mark.parametrize("model", ["frequency", "logistic", "relaxation"])
def test_a_solve_takes_the_predictions_as_they_are(model):
    context = Context()
    predictor = fit([ranges(seed) for seed in range(6)], context, model=model, folds=3).predictor
    new = ranges(99)
    predicted = run(
        PREDICT, {"sets": new["sets"], "predictor": predictor, "forms": ["incidence_bits", "set_probabilities"]}, context
    )
    assert [len(row) for row in predicted.predictions.incidence_bits] == [len(row) for row in new["sets"]]
    predictions = json.loads(predicted.predictions.model_dump_json())
    answer = run(SET_COVER, {"sets": new["sets"], "predictions": predictions, "options": {"max_iterations": 500}})
    assert answer.value == len(new["solution"])


def test_the_relaxation_needs_no_past():
    answer = run(PREDICT, prediction_from_objects([[0, 1], [1, 2], [0, 2], [3]], problem="set-cover", model="relaxation"))
    assert answer.predictions.set_probabilities == pytest.approx([0.5, 0.5, 0.5, 0.95])
    assert answer.predictions.incidence_bits is None


def test_a_past_cover_that_is_none_is_a_warning():
    fitted = fit([SQUARE, SQUARE | {"solution": [0]}])
    (warning,) = [warning for warning in fitted.warnings if warning.code == "infeasible-solution"]
    assert (warning.pointer, warning.message) == ("/instances/1/solution", "in instance 1: 2 elements are not covered")


@pytest.mark.parametrize(
    ("instance", "pointer"),
    [
        ({"sets": [[0]], "solution": [1]}, "/instances/1/solution/0"),
        ({"sets": [[0]], "solution": ["a"]}, "/instances/1/solution/0"),
        ({"sets": [[1]], "index_base": 1, "solution": [0]}, "/instances/1/solution/0"),
        ({"sets": [[0], 7], "solution": [0]}, "/instances/1/sets/1"),
        ({"sets": [[0]], "costs": [-1], "solution": [0]}, "/instances/1/costs/0"),
        ({"sets": [[0]], "num_elements": 2, "solution": [0]}, "/instances/1/sets"),
        ({"edges": [[0, 1]], "solution": [0]}, "/instances/1"),
        ({"graph": {"file": "file_none"}, "solution": [0]}, "/instances/1/graph/file"),
    ],
)
def test_a_malformed_instance_is_named(instance, pointer):
    with pytest.raises(ForesolveError) as fault:
        fit([SQUARE, instance])
    assert fault.value.pointer == pointer


def test_sets_of_a_graph_problem_are_refused():
    sound = {"edges": [[0, 1]], "solution": [0]}
    body = {"problem": "vertex-cover", "instances": [sound, SQUARE]}
    assert pointer_of(FIT, body) == "/instances/1"


@pytest.mark.parametrize(
    ("predictor", "instance", "form"),
    [
        ("demo-covers", {"sets": [[0]]}, "edge_bits"),
        ("demo-cuts", {"edges": [[0, 1]]}, "set_probabilities"),
    ],
)
def test_a_form_that_the_problem_does_not_have_is_named(predictor, instance, form):
    assert pointer_of(PREDICT, instance | {"predictor": predictor, "forms": [form]}) == "/forms/0"


def test_a_predictor_of_covers_takes_no_graph():
    assert pointer_of(PREDICT, {"predictor": "demo-covers", "edges": [[0, 1]]}) == ""


@pytest.mark.parametrize("method", [None, "moment", "em"])
def test_epsilon_of_incidence_bits_is_that_of_the_library(method):
    rng = np.random.default_rng(0)
    system = SetSystem([rng.choice(40, 12, replace=False) for _ in range(60)], num_elements=40)
    predictions = sample_incidence_predictions(system, np.arange(60) % 3 == 0, 0.25, seed=1)
    body = bits_from_objects(system, predictions, problem="set-cover")
    answer = run(ESTIMATE, body | {"method": method})
    expected = estimate_epsilon(predictions.sets, predictions.bits, method=method)
    assert (answer.epsilon, answer.interval, answer.bits) == (expected.epsilon, expected.interval, 720)
    assert answer.epsilon == pytest.approx(0.25, abs=0.1)


def test_right_incidence_bits_are_counted():
    body = {"problem": "set-cover", "sets": [[0, 1, 2], [2, 3]], "incidence_bits": [[1, 1, 0], [None, 1]], "reference": [0, 1]}
    answer = run(ESTIMATE, body)
    assert (answer.epsilon, answer.bits, answer.method) == (0.25, 4, "reference")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"incidence_bits": [[0, 2], [0]]}, "/incidence_bits/0/1"),
        ({"incidence_bits": [[0, 1]]}, "/incidence_bits"),
        ({"incidence_bits": [[0], [0]]}, "/incidence_bits/0"),
        ({"reference": [2]}, "/reference/0"),
        ({"incidence_bits": None, "edge_bits": [[0, 1]]}, "/edge_bits"),
    ],
)
def test_malformed_bits_and_references_are_named(fields, pointer):
    sound = {"problem": "set-cover", "sets": [[0, 1], [1]], "incidence_bits": [[0, 1], [0]]}
    assert pointer_of(ESTIMATE, sound | fields) == pointer


def test_a_cover_is_found_with_what_the_demo_predicts():
    system = SetSystem(ranges(7)["sets"])
    predicted = run(PREDICT, prediction_from_objects(system, "demo-covers", problem="set-cover"))
    assert set_cover(system, predicted.predictions, max_iterations=500).value == len(ranges(7)["solution"])
