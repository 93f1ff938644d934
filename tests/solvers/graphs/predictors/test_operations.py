"""Fit, predict and estimate as operations: what they answer, what a solve makes of it, and what they refuse."""

import json

import networkx
import numpy as np
import pytest
from pydantic import ValidationError

from solvers.graphs import estimate_epsilon, max_cut, sample_edge_predictions
from solvers.graphs.max_cut import MAX_CUT
from solvers.graphs.predictors.epsilon_of_bits import GRAPHS_PREDICTIONS_ESTIMATE_EPSILON as ESTIMATE
from solvers.graphs.predictors.epsilon_of_bits import from_objects as bits_from_objects
from solvers.graphs.predictors.fit import GRAPHS_PREDICTIONS_FIT as FIT
from solvers.graphs.predictors.predict import GRAPHS_PREDICTIONS_PREDICT as PREDICT
from solvers.graphs.predictors.predict import from_objects as prediction_from_objects
from solvers.graphs.predictors.predictor import PREDICTORS, read_predictor
from solvers.operation import Context, ForesolveError, InvalidInput, TooLarge, UnknownFile
from tests.solvers.graphs.predictors.past_sets import PAST, body

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
PATH_SET = {"edges": [[0, 1], [1, 2]], "solution": [0, 2]}


def run(operation, body, context=None):
    return operation.run(operation.request.model_validate_json(json.dumps(body)), context or Context())


def fit(instances, context=None, problem="independent-set", **fields):
    return run(FIT, {"problem": problem, "instances": instances} | fields, context)


def pointer_of(operation, body, context=None) -> str | None:
    with pytest.raises(InvalidInput) as fault:
        run(operation, body, context)
    return fault.value.pointer


@pytest.mark.parametrize("model", ["frequency", "logistic"])
def test_a_predictor_is_better_than_coins_on_held_back_sets(model):
    found = run(FIT, body(PAST["train"], model=model)).cross_validation
    assert (found.instances, found.folds) == (20, 5)
    assert found.accuracy > 0.7
    assert found.log_loss < 0.6
    assert found.epsilon_interval[0] > 0.1
    assert found.overdispersion > 0.3


def test_the_predictor_gives_the_reference_probabilities():
    context = Context()
    predictor = run(FIT, body(PAST["train"]), context).predictor
    new = {"num_vertices": PAST["n"], "edges": PAST["test"][0]["edges"]}
    answer = run(PREDICT, new | {"predictor": predictor, "forms": ["vertex_probabilities"]}, context)
    assert answer.predictions.vertex_probabilities == pytest.approx(PAST["laplace_frequency"], abs=1e-9)
    assert answer.unpredicted == 0


@pytest.mark.parametrize("model", ["frequency", "logistic"])
def test_a_solve_takes_the_predictions_as_they_are(model):
    context = Context()
    cuts = [{"edges": RING, "solution": [0, 1, 0, 1]}, {"edges": RING, "solution": [1, 0, 1, 0]}] * 3
    predictor = fit(cuts, context, "max-cut", model=model, folds=3).predictor
    predicted = json.loads(run(PREDICT, {"edges": RING, "predictor": predictor}, context).model_dump_json())
    answer = run(MAX_CUT, {"edges": RING, "predictions": predicted["predictions"], "options": {"max_iterations": 50}})
    assert answer.value == 4


def test_bits_come_with_the_accuracy_and_correlation_that_were_found():
    context = Context()
    fitted = run(FIT, body(PAST["train"], model="logistic"), context)
    new = {"num_vertices": PAST["n"], "edges": PAST["test"][0]["edges"], "predictor": fitted.predictor}
    predictions = run(PREDICT, new, context).predictions
    assert len(predictions.edge_bits) == len(PAST["test"][0]["edges"])
    assert predictions.epsilon == fitted.cross_validation.epsilon
    assert predictions.overdispersion == fitted.cross_validation.overdispersion


def test_bits_of_unknown_worth_are_left_out():
    context = Context()
    fitted = fit([PATH_SET], context)
    assert fitted.cross_validation is None
    assert [warning.code for warning in fitted.warnings] == ["not-validated"]
    answer = run(PREDICT, {"edges": [[0, 1]], "predictor": fitted.predictor}, context)
    assert answer.predictions.edge_bits is None
    assert answer.predictions.vertex_probabilities == pytest.approx([2 / 3, 1 / 3])
    assert [warning.code for warning in answer.warnings] == ["weak-bits"]


def test_bits_of_unknown_worth_come_as_one_vote_where_they_are_asked_for():
    context = Context()
    predictor = fit([PATH_SET], context).predictor
    answer = run(PREDICT, {"edges": [[0, 1], [1, 2]], "predictor": predictor, "forms": ["edge_bits"]}, context)
    predictions = answer.predictions
    assert (predictions.edge_bits, predictions.epsilon, predictions.overdispersion) == ([[1, 0], [0, 1]], None, 1.0)
    assert predictions.vertex_probabilities is None


def test_vertices_that_were_never_seen_are_counted():
    context = Context()
    predictor = fit([PATH_SET, PATH_SET], context).predictor
    answer = run(PREDICT, {"edges": [[2, 3]], "predictor": predictor}, context)
    assert answer.unpredicted == 1
    assert answer.predictions.vertex_probabilities[3] is None
    assert answer.predictions.edge_bits == [[1, None]]


def test_out_of_time_the_folds_that_are_left_stay_out():
    fitted = FIT.run(FIT.request.model_validate(body(PAST["train"][:4])), Context(time_limit=0))
    assert fitted.cross_validation is None
    assert [warning.code for warning in fitted.warnings] == ["time-limit"]


def test_names_and_bases_are_those_of_the_caller():
    context = Context()
    named = [{"edges": [["a", "b"], ["b", "c"]], "solution": ["a", "c"]}] * 2
    predictor = fit(named, context).predictor
    answer = run(PREDICT, {"edges": [["c", "b"]], "predictor": predictor}, context)
    assert answer.labels == ["c", "b"]
    assert answer.predictions.vertex_probabilities == pytest.approx([3 / 4, 1 / 4])


def test_covers_are_learnt_as_covers():
    context = Context()
    predictor = fit([{"edges": [[1, 2], [2, 3]], "index_base": 1, "solution": [2]}] * 2, context, "vertex-cover").predictor
    answer = run(PREDICT, {"edges": [[1, 2]], "index_base": 1, "predictor": predictor}, context)
    assert answer.problem == "vertex-cover"
    assert answer.predictions.vertex_probabilities == pytest.approx([1 / 4, 3 / 4])


@pytest.mark.parametrize(
    ("problem", "instance"),
    [
        ("vertex-cover", {"edges": [[0, 1], [1, 2]], "solution": [0]}),
        ("independent-set", {"edges": [[0, 1], [1, 2]], "solution": [0, 1]}),
        ("vertex-cover", {"edges": [[0, 1], [2, 2]], "solution": [0]}),
        ("independent-set", {"edges": [[0, 1], [2, 2]], "solution": [0, 2]}),
    ],
)
def test_a_past_solution_that_is_none_is_a_warning(problem, instance):
    fitted = fit([{"edges": [[0, 1]], "solution": [0]}, instance], problem=problem)
    (warning,) = [warning for warning in fitted.warnings if warning.code == "infeasible-solution"]
    assert warning.pointer == "/instances/1/solution"


def test_repairs_of_many_instances_are_one_warning():
    fitted = fit([{"edges": [[0, 1], [1, 0]], "solution": [0]}] * 3)
    (warning,) = [warning for warning in fitted.warnings if warning.code == "duplicate-edges"]
    assert warning.message.startswith("in 3 instances")
    assert warning.pointer == "/instances/0/edges/1"


@pytest.mark.parametrize(
    ("instance", "problem", "pointer"),
    [
        ({"edges": [[0, 1]], "solution": [5]}, "independent-set", "/instances/1/solution/0"),
        ({"edges": [[0, 1]], "solution": [0, -1]}, "vertex-cover", "/instances/1/solution/1"),
        ({"edges": [["a", "b"]], "solution": ["c"]}, "vertex-cover", "/instances/1/solution/0"),
        ({"edges": [["a", "b"]], "solution": [{}]}, "vertex-cover", "/instances/1/solution/0"),
        ({"edges": [[0, 1]], "solution": [True]}, "vertex-cover", "/instances/1/solution/0"),
        ({"edges": [[0, 1]], "solution": [0]}, "max-cut", "/instances/1/solution"),
        ({"edges": [[0, 1]], "solution": [0, 2]}, "max-cut", "/instances/1/solution/1"),
        ({"edges": [[0, 1]], "solution": [0, "x"]}, "max-cut", "/instances/1/solution/1"),
        ({"edges": [[0, 1], [1]], "solution": [0]}, "independent-set", "/instances/1/edges/1"),
        ({"graph": {"text": "3 2\n1 2\n"}, "solution": [0]}, "independent-set", "/instances/1/graph/text"),
    ],
)
def test_a_malformed_instance_is_named(instance, problem, pointer):
    sound = {"edges": [[0, 1]], "solution": [0, 1] if problem == "max-cut" else [0]}
    found = pointer_of(FIT, {"problem": problem, "instances": [sound, instance]})
    assert found is not None
    assert found.startswith(pointer.removesuffix("/text"))


@pytest.mark.parametrize(
    "fields",
    [
        {"instances": []},
        {"problem": "set-partition"},
        {"model": "oracle"},
        {"folds": 1},
        {"folds": True},
        {"seed": -1},
        {"options": {"time_limit": 0}},
        {"instances": [{"edges": [[0, 1]]}]},
        {"instances": [{"solution": [0]}]},
        {"unknown": 1},
    ],
)
def test_a_fit_that_makes_no_sense_is_refused(fields):
    sound = {"problem": "independent-set", "instances": [PATH_SET]}
    FIT.request.model_validate_json(json.dumps(sound))
    with pytest.raises(ValidationError):
        FIT.request.model_validate_json(json.dumps(sound | fields))


def test_instances_that_are_too_large_together_are_refused():
    with pytest.raises(TooLarge) as fault:
        fit([PATH_SET] * 4, Context(limits={"max_edges": 5}))
    assert fault.value.pointer == "/instances/2"


def test_a_file_that_is_not_there_is_named_within_its_instance():
    with pytest.raises(UnknownFile) as fault:
        fit([{"graph": {"file": "file_none"}, "solution": [0]}])
    assert fault.value.pointer == "/instances/0/graph/file"


def test_a_predictor_that_is_not_there_is_named():
    with pytest.raises(UnknownFile) as fault:
        run(PREDICT, {"edges": RING, "predictor": "demo-none"})
    assert fault.value.pointer == "/predictor"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04cos\nsystem\n.",
        b"{}",
        b"[" * 100_000,
        b'{"version": 2, "problem": "max-cut", "num_instances": 1, "model": {"kind": "frequency", "seen": [], "chosen": []}}',
        b'{"problem": "max-cut", "num_instances": 1, "model": {"kind": "frequency", "seen": [1], "chosen": [2]}}',
        b'{"problem": "max-cut", "num_instances": 1, "model": {"kind": "frequency", "seen": [1,1], "chosen": [1,1], "ids": ["a","a"]}}',
        b'{"problem": "max-cut", "num_instances": 1, "model": {"kind": "pickle"}}',
    ],
)
def test_a_file_that_holds_no_predictor_is_refused(content):
    context = Context()
    file_id = context.files.save(content, name="predictor.json", media_type=PREDICTORS.media_type)
    assert pointer_of(PREDICT, {"edges": RING, "predictor": file_id}, context) == "/predictor"


def test_a_predictor_of_another_problem_is_refused():
    assert pointer_of(PREDICT, {"edges": RING, "predictor": "demo-cuts", "problem": "vertex-cover"}) == "/problem"


def test_predictors_are_kept_as_plain_json():
    context = Context()
    fitted = run(FIT, body(PAST["train"][:4], model="logistic"), context)
    document = json.load(context.files.open(fitted.predictor))
    assert document["model"]["kind"] == "logistic"
    assert read_predictor(json.dumps(document).encode()).summary.cross_validation == fitted.cross_validation


@pytest.mark.parametrize("demo", PREDICTORS.demos)
def test_demos_are_shown_and_good_for_something(demo):
    shown = PREDICTORS.show(PREDICTORS.demos[demo]())
    assert shown.cross_validation.epsilon > 0.1


@pytest.mark.parametrize("method", [None, "moment", "em"])
def test_epsilon_is_that_of_the_library(method):
    graph = networkx.gnp_random_graph(60, 0.3, seed=1)
    edges = np.array(graph.edges)
    predictions = sample_edge_predictions(edges, np.arange(60) % 2, 0.2, seed=3)
    answer = run(ESTIMATE, bits_from_objects(edges, predictions, problem="vertex-cover") | {"method": method})
    expected = estimate_epsilon(edges, predictions.bits, method=method)
    assert (answer.epsilon, answer.interval, answer.asymmetry) == (expected.epsilon, expected.interval, expected.asymmetry)
    assert answer.bits == 2 * len(edges)


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_reference_cut_counts_the_same_however_it_is_turned(is_turned):
    graph = networkx.random_regular_graph(7, 60, seed=2)
    edges, cut = np.array(graph.edges), np.arange(60) % 2
    predictions = sample_edge_predictions(edges, cut, 0.2, seed=3)
    reference = 1 - cut if is_turned else cut
    answer = run(ESTIMATE, bits_from_objects(edges, predictions, problem="max-cut", reference=reference))
    assert answer.method == "reference"
    assert answer.epsilon == estimate_epsilon(edges, predictions.bits, cut).epsilon


def test_bits_that_are_mostly_wrong_come_with_a_warning():
    answer = run(ESTIMATE, {"problem": "vertex-cover", "edges": [[0, 1]], "edge_bits": [[0, 1]], "reference": [0]})
    assert answer.epsilon == -0.5
    assert [warning.code for warning in answer.warnings] == ["mostly-wrong"]


def test_bits_that_are_all_missing_tell_nothing():
    answer = run(ESTIMATE, {"problem": "vertex-cover", "edges": [[0, 1]], "edge_bits": [[None, None]]})
    assert (answer.epsilon, answer.interval, answer.bits) == (None, None, 0)


def test_duplicates_vote_as_in_a_solve():
    listed = {"problem": "vertex-cover", "edges": [[0, 1], [1, 0]], "edge_bits": [[1, 0], [0, 0]], "reference": [0]}
    answer = run(ESTIMATE, listed)
    assert (answer.epsilon, answer.bits) == (0.25, 4)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"edge_bits": [[0, 2]]}, "/edge_bits/0/1"),
        ({"edge_bits": [[0, 1], [0, 1]]}, "/edge_bits"),
        ({"reference": [7]}, "/reference/0"),
        ({"problem": "max-cut", "reference": [0]}, "/reference"),
    ],
)
def test_malformed_bits_and_references_are_named(fields, pointer):
    sound = {"problem": "vertex-cover", "edges": [[0, 1]], "edge_bits": [[0, 1]]}
    assert pointer_of(ESTIMATE, sound | fields) == pointer


@pytest.mark.parametrize(
    "fields", [{"edge_bits": None}, {"edge_bits_flat": [0, 1]}, {"method": "reference"}, {"method": "oracle"}, {"problem": None}]
)
def test_an_estimate_that_makes_no_sense_is_refused(fields):
    sound = {"problem": "vertex-cover", "edges": [[0, 1]], "edge_bits": [[0, 1]]}
    with pytest.raises(ValidationError):
        ESTIMATE.request.model_validate_json(json.dumps(sound | fields))


def test_objects_become_a_body_that_runs():
    graph = networkx.cycle_graph(6)
    answer = run(PREDICT, prediction_from_objects(graph, "demo-cuts", forms=["vertex_probabilities"]))
    assert len(answer.predictions.vertex_probabilities) == 6
    assert max_cut(graph, answer.predictions, max_iterations=20).value == 6


@pytest.mark.parametrize("operation", [FIT, PREDICT, ESTIMATE])
def test_the_empty_graph_is_no_fault(operation):
    empty = {"num_vertices": 0, "edges": []}
    bodies = {
        FIT: {"problem": "vertex-cover", "model": "logistic", "instances": [empty | {"solution": []}] * 2},
        PREDICT: empty | {"predictor": "demo-independent-sets"},
        ESTIMATE: empty | {"problem": "max-cut", "edge_bits": [], "reference": []},
    }
    try:
        run(operation, bodies[operation])
    except ForesolveError as fault:
        pytest.fail(str(fault))
