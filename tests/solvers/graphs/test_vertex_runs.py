"""Runs for covers and independent sets end when they should and can be repeated."""

from __future__ import annotations

import pytest

from solvers.graphs import Graph
from solvers.operation import Context
from tests.solvers.graphs.vertex_problem_cases import (
    OPERATIONS,
    REQUESTS,
    SOLVERS,
    both,
    circulant,
    is_solution,
    mis,
    reference_bits,
    verified,
)


@both
@pytest.mark.parametrize("with_advice", [False, True])
@pytest.mark.parametrize("method", ["auto", "local_search"])
def test_same_seed_gives_the_same_answer(problem, with_advice, method):
    graph = circulant()
    bits = reference_bits(graph, problem, 0.1) if with_advice else None

    runs = [SOLVERS[problem](graph, bits, max_iterations=200, seed=11, method=method) for _ in range(2)]

    first, second = (OPERATIONS[problem].comparable(run.model_dump(mode="json")) for run in runs)
    assert first == second
    assert first["deterministic"]


@both
def test_an_example_takes_every_part_of_the_search_to_its_last_iteration(problem):
    request = REQUESTS[problem](**OPERATIONS[problem].examples["Noisy predictions about every edge's ends"])

    result = OPERATIONS[problem].run(request, Context(60, seed=0))

    assert (result.stopped_by, result.deterministic, result.epsilon_used) == ("max_iterations", True, 0.25)
    assert result.reduction.n == 31


@both
def test_target_ends_the_run(problem):
    target = 40 if problem == "independent-set" else 210
    result = SOLVERS[problem](mis("C250.9"), target=target, time_limit=30)
    assert result.stopped_by == "target"
    assert result.value <= target if problem == "vertex-cover" else result.value >= target


@both
def test_tiny_time_limit_still_gives_an_answer_and_a_bound(problem):
    graph = mis("brock200_2")

    result = SOLVERS[problem](graph, time_limit=1e-6)

    assert (result.stopped_by, result.deterministic) == ("time_limit", False)
    assert is_solution(graph, problem, result.solution)
    assert verified(graph, problem, result).bound == result.bound


@both
def test_cancelled_run_returns_its_best_so_far(problem):
    reports: list[dict] = []
    context = Context(60, on_report=lambda members, snapshot: reports.append(members), is_cancelled=lambda: len(reports) > 2)

    result = OPERATIONS[problem].run(REQUESTS[problem].of(mis("C250.9"), options={"time_limit": 60}), context)

    assert result.stopped_by == "cancelled"
    last = reports[-1]["value"]
    assert result.value <= last if problem == "vertex-cover" else result.value >= last


@both
def test_a_run_with_no_time_to_reduce_the_graph_still_gives_an_answer(problem):
    body = {"num_vertices": 9, "edges": [[0, 1], [1, 2], [2, 0], [4, 5], [5, 6], [6, 4]]}

    result = OPERATIONS[problem].run(REQUESTS[problem].model_validate(body), Context(is_cancelled=lambda: True))

    assert (result.stopped_by, result.bound_kind) == ("cancelled", "trivial")
    assert is_solution(Graph(9, body["edges"]), problem, result.solution)


@both
def test_reports_go_one_way_and_snapshots_are_answers(problem):
    seen = []
    context = Context(on_report=lambda members, snapshot: seen.append((members, snapshot())), time_limit=60)
    request = REQUESTS[problem].of(mis("brock200_2"), options={"max_iterations": 200, "method": "local_search"})

    result = OPERATIONS[problem].run(request, context)

    values = [members["value"] for members, _ in seen]
    assert values == sorted(values, reverse=problem == "vertex-cover")
    assert all(snapshot.value == members["value"] for members, snapshot in seen)
    assert values[-1] == result.value


@both
def test_history_is_in_the_sense_of_the_problem(problem):
    history = SOLVERS[problem](mis("brock200_2"), max_iterations=500, method="local_search").history
    falls = problem == "vertex-cover"
    assert [row.value for row in history] == sorted((row.value for row in history), reverse=falls)
    assert [row.bound for row in history] == sorted((row.bound for row in history), reverse=not falls)
    assert all(row.bound <= row.value if falls else row.value <= row.bound for row in history)
