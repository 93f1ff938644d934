"""Many instances in one request."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from pydantic import ValidationError

from solvers.graphs import batch
from solvers.graphs.batch import GRAPHS_BATCH, MOST_INSTANCES, SOLVERS, BatchRequest, from_objects, run_batch
from solvers.operation import Context, InvalidInput, Operation

TRIANGLE = {"edges": [[0, 1], [1, 2], [2, 0]]}
OPEN_GRAPH = {"edges": [[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)]}

GOOD = [
    TRIANGLE,
    OPEN_GRAPH,
    {"graph": {"text": "3 2\n1 2 4\n2 3 -1\n"}},
    {"edges": [["a", "b"]], "predictions": {"edge_bits": [[0, 1]], "epsilon": 0.2}},
    {"num_vertices": 0},
]

SETS = [
    {"sets": [[0, 1], [1, 2], [0, 2]], "costs": [3, 1, 2]},
    {"sets": [["x", "y"], ["z"]], "predictions": {"set_labels": [1, None], "epsilon": 0.2}},
    {"graph": {"text": "3 3\n1 1 2\n2 1 3\n2 1 2\n2 2 3\n"}},
]

INSTANCES = {"max-cut": GOOD, "vertex-cover": GOOD, "independent-set": GOOD, "set-cover": SETS}

BAD = [
    ({"edges": [[0, 1], [0, 7]], "num_vertices": 2}, "invalid-input", "/edges/1/1"),
    ({"edges": [[0, 1]], "edge_weights": [1, 2]}, "invalid-input", "/edge_weights"),
    ({"edges": [[0, 1]], "predictions": {"edge_bits": [[0, 2]]}}, "invalid-input", "/predictions/edge_bits/0/1"),
    ({"edges": [[0, 1]], "predictions": {"edge_bits": [[0, 1]], "epsilon": 0}}, "invalid-input", "/predictions/epsilon"),
    ({"edges": [[0, 1]], "colour": 1}, "invalid-input", "/colour"),
    ({"edges": [[0, 1]], "options": {"seed": 1}}, "invalid-input", "/options"),
    ({"edges": [[0, 1]], "problem": "max-cut"}, "invalid-input", "/problem"),
    ({"graph": {"file": "file_0"}}, "unknown-file", "/graph/file"),
    ({}, "invalid-input", ""),
    ("a graph", "invalid-input", ""),
    (None, "invalid-input", ""),
]


def batched(instances, context=None, problem="max-cut", **options):
    return run_batch(BatchRequest(problem=problem, instances=instances, options=options), context or Context(60))


def comparable(document):
    return GRAPHS_BATCH.comparable(json.loads(document.model_dump_json()))


def alone(operation, instance, **options):
    request = operation.request.model_validate({**instance, "options": options})
    return operation.comparable(json.loads(operation.run(request, Context(60)).model_dump_json()))


@pytest.mark.parametrize("options", [{"max_iterations": 200}, {"max_iterations": 50, "seed": 3, "method": "local_search"}])
@pytest.mark.parametrize("problem", list(SOLVERS))
def test_every_answer_is_that_of_the_problems_own_operation(problem, options):
    instances = INSTANCES[problem]
    answers = comparable(batched(instances, problem=problem, **options))["results"]
    assert [answer["result"] for answer in answers] == [alone(SOLVERS[problem], instance, **options) for instance in instances]


@pytest.mark.parametrize("problem", list(SOLVERS))
def test_the_same_seed_gives_the_same_answers(problem):
    first, second = (batched(INSTANCES[problem], problem=problem, max_iterations=100) for _ in range(2))
    assert comparable(first) == comparable(second)


@pytest.mark.parametrize(
    ("problem", "bad", "kind", "pointer"),
    [
        ("vertex-cover", {"edges": [[0, 1]], "vertex_weights": [1, -1]}, "invalid-input", "/vertex_weights/1"),
        ("independent-set", {"edges": [[0, 1]], "vertex_weights": [1]}, "invalid-input", "/vertex_weights"),
        ("set-cover", {"sets": [[0]], "costs": [-1]}, "invalid-input", "/costs/0"),
        ("set-cover", {"num_elements": 2, "sets": [[0]]}, "infeasible", "/sets"),
    ],
)
def test_bad_instance_of_each_problem_is_a_problem_in_its_place(problem, bad, kind, pointer):
    good = INSTANCES[problem][0]
    answers = batched([good, bad, good], problem=problem, max_iterations=10).results
    assert [answer.result is None for answer in answers] == [False, True, False]
    assert (answers[1].problem["type"], answers[1].problem["errors"][0]["pointer"]) == (kind, f"/instances/1{pointer}")


@pytest.mark.parametrize(("bad", "kind", "pointer"), BAD)
def test_bad_instance_is_a_problem_in_its_place_and_the_others_are_answered(bad, kind, pointer):
    result = batched([TRIANGLE, bad, TRIANGLE], max_iterations=10)
    first, second, third = result.results
    assert second.result is None
    assert second.problem["type"] == kind
    assert second.problem["errors"][0]["pointer"] == f"/instances/1{pointer}"
    assert [first.result.value, third.result.value] == [2, 2]
    assert (first.problem, result.solved, result.stopped_by) == (None, 2, "completed")


def test_every_instance_has_the_limits_of_the_service():
    small, large = {"edges": [[0, 1]]}, {"edges": [[0, 1], [1, 2], [2, 3]]}
    answers = batched([small, large, small], Context(60, limits={"max_edges": 2}), max_iterations=10).results
    assert [answer.problem and answer.problem["type"] for answer in answers] == [None, "too-large", None]


def test_failure_that_nobody_foresaw_costs_the_others_nothing(monkeypatch):
    own = SOLVERS["max-cut"]

    def fails_on_odd(request, context):
        if len(request.edges) % 2:
            raise KeyError("hunter2")
        return own.run(request, context)

    monkeypatch.setitem(SOLVERS, "max-cut", Operation("max-cut", "", own.request, own.result, fails_on_odd, ""))
    first, second = batched([TRIANGLE, {"edges": [[0, 1], [1, 2]]}], max_iterations=10).results
    assert (first.result, first.problem["type"]) == (None, "internal-error")
    assert "hunter2" not in json.dumps(first.problem)
    assert second.result.value == 2


def with_recorded_limits(monkeypatch, seconds_used=0.0):
    """Replace the solver by one that notes its time limits and pretends to use some of the time."""
    own, clock, limits = SOLVERS["max-cut"], [1000.0], []
    monkeypatch.setattr(batch.time, "monotonic", lambda: clock[0])

    def record(request, context):
        assert request.options.time_limit == context.time_limit
        limits.append(context.time_limit)
        answer = own.run(own.request.model_validate({**TRIANGLE, "options": {"max_iterations": 1}}), Context())
        clock[0] += seconds_used
        return answer

    monkeypatch.setitem(SOLVERS, "max-cut", Operation("max-cut", "", own.request, own.result, record, ""))
    return limits


def test_time_is_shared_out_equally_and_what_is_left_goes_to_later_instances(monkeypatch):
    limits = with_recorded_limits(monkeypatch, seconds_used=1.0)
    batched([TRIANGLE] * 4, Context(), time_limit=20)
    assert limits == pytest.approx([5, 19 / 3, 9, 17])


def test_with_iterations_every_instance_may_use_all_that_is_left(monkeypatch):
    limits = with_recorded_limits(monkeypatch, seconds_used=1.0)
    batched([TRIANGLE] * 3, Context(), time_limit=20, max_iterations=5)
    assert limits == pytest.approx([20, 19, 18])


def test_instance_that_the_time_does_not_reach_is_a_problem(monkeypatch):
    with_recorded_limits(monkeypatch, seconds_used=7.0)
    result = batched([TRIANGLE] * 4, Context(), time_limit=10)
    assert [answer.problem and answer.problem["type"] for answer in result.results] == [None, None, "not-begun", "not-begun"]
    assert (result.solved, result.stopped_by) == (2, "time_limit")


def test_tiny_time_limit_still_has_a_place_for_every_instance():
    result = batched([OPEN_GRAPH] * 20, time_limit=1e-6)
    assert len(result.results) == 20
    assert all((answer.result is None) != (answer.problem is None) for answer in result.results)


def test_deadline_of_the_job_covers_the_batch():
    result = batched([TRIANGLE], Context(0.0), time_limit=60)
    assert result.results[0].problem["type"] == "not-begun"


def test_cancelled_batch_keeps_the_answers_that_it_has():
    cancelled = []
    context = Context(60, on_report=lambda members, snapshot: cancelled.append(members), is_cancelled=lambda: bool(cancelled))
    result = batched([TRIANGLE, OPEN_GRAPH, TRIANGLE], context)
    assert result.results[0].result is not None
    assert result.results[2].problem["type"] == "not-begun"
    assert result.stopped_by == "cancelled"


def test_reports_count_up_and_their_snapshots_hold_the_answers_so_far():
    reports = []
    context = Context(60, on_report=lambda members, snapshot: reports.append((members, snapshot())))
    batched([TRIANGLE, OPEN_GRAPH, {}], context, max_iterations=20)
    fractions = [members["fraction"] for members, _ in reports]
    last = reports[-1][1]
    assert fractions == sorted(fractions)
    assert [answer.result is not None for answer in last.results] == [True, True, False]
    assert [len(snapshot.results) for _, snapshot in reports] == [3] * len(reports)


def test_batch_of_none_has_no_answers():
    result = batched([])
    assert (result.results, result.solved, result.stopped_by) == ([], 0, "completed")


@pytest.mark.parametrize(
    "fields",
    [
        {"instances": [TRIANGLE]},
        {"problem": "colouring", "instances": [TRIANGLE]},
        {"problem": "max-cut"},
        {"problem": "max-cut", "instances": TRIANGLE},
        {"problem": "max-cut", "instances": [TRIANGLE] * (MOST_INSTANCES + 1)},
        {"problem": "max-cut", "instances": [TRIANGLE], "options": {"time_limit": 0}},
        {"problem": "max-cut", "instances": [TRIANGLE], "options": {"max_iterations": 0}},
        {"problem": "max-cut", "instances": [TRIANGLE], "seed": 1},
    ],
)
def test_bad_request_is_refused_as_a_whole(fields):
    with pytest.raises(ValidationError):
        BatchRequest(**fields)


def test_graphs_and_predictions_in_memory_become_a_request():
    body = from_objects([nx.path_graph(3), np.array([[0, 1]])], [{"vertex_labels": [0, 1, 0]}, None], max_iterations=np.int64(10))
    answers = run_batch(BatchRequest.model_validate(json.loads(json.dumps(body))), Context(60)).results
    assert [answer.result.value for answer in answers] == [2, 1]
    assert answers[0].result.prediction_agreement == 1


@pytest.mark.parametrize(("arguments", "options"), [(([[[0, 1]]], [None, None]), {}), (([[[0, 1]]],), {"problem": "colouring"})])
def test_objects_that_do_not_fit_together_are_refused(arguments, options):
    with pytest.raises(InvalidInput):
        from_objects(*arguments, **options)


@pytest.mark.parametrize(
    ("problem", "instance", "value"),
    [
        ("vertex-cover", {"edges": [[0, 1], [0, 2]], "vertex_weights": [5, 1, 1]}, 2),
        ("independent-set", {"edges": [[0, 1], [0, 2]]}, 2),
        ("set-cover", {"sets": [[0, 1], [1, 2], [0, 2]]}, 2),
    ],
)
def test_every_problem_s_own_operation_answers(problem, instance, value):
    body = {"problem": problem, "instances": [instance, {"edges": 5}], "options": {"max_iterations": 100}}

    answers = run_batch(BatchRequest.model_validate(body), Context(60)).results

    assert (answers[0].result.value, answers[1].result) == (value, None)
