"""The operation that checks solutions and certificates."""

import itertools

import numpy as np
import pytest
from pydantic import ValidationError

from solvers.graphs.certificate import store_large
from solvers.graphs.reductions import reduce_max_cut
from solvers.graphs.verification import GRAPHS_VERIFY, VerifyRequest, run_verify
from solvers.operation import Context, InvalidInput, UnknownFile

SQUARE = {"problem": "max-cut", "num_vertices": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]], "edge_weights": [1, 2, 3, 4]}


def _verified(context=None, **fields):
    return run_verify(VerifyRequest.model_validate(SQUARE | fields), context or Context())


@pytest.mark.parametrize("title", GRAPHS_VERIFY.examples)
def test_every_example_runs(title):
    result = GRAPHS_VERIFY.run(GRAPHS_VERIFY.request.model_validate(GRAPHS_VERIFY.examples[title]), Context())

    assert GRAPHS_VERIFY.result.model_validate_json(result.model_dump_json()) == result


def test_a_cut_that_meets_its_bound_is_optimal():
    result = _verified(solution=[0, 1, 0, 1], certificate={"kind": "trivial"})

    assert (result.feasible, result.value, result.bound, result.bound_kind) == (True, 10, 10, "trivial")
    assert (result.bound_proved, result.ratio, result.gap, result.optimal) == (True, 1.0, 0.0, True)


def test_a_worse_cut_has_a_gap():
    result = _verified(solution=[0, 0, 1, 1], certificate={"kind": "trivial"})

    assert (result.value, result.ratio, result.gap, result.optimal) == (6, 0.6, 0.4, False)


def test_a_solution_without_a_certificate_has_a_value_alone():
    result = _verified(solution=[0, 1, 0, 1])

    assert (result.value, result.bound, result.ratio, result.gap, result.optimal) == (10, None, None, None, False)


def test_a_certificate_without_a_solution_has_a_bound_alone():
    result = _verified(certificate={"kind": "trivial"})

    assert (result.feasible, result.value, result.bound, result.bound_proved) == (None, None, 10, True)


def test_a_solution_may_be_a_text():
    assert _verified(solution="0\n1\r\n0\n1\n\n").value == 10


def test_a_solution_may_be_a_file():
    context = Context()
    file = context.files.save(b"0\n1\n0\n1\n", name="sides.txt", media_type="text/plain")

    assert _verified(context, solution={"file": file}).value == 10


def test_a_certificate_may_be_a_file():
    context = Context()
    file = context.files.save(b'{"kind": "elimination", "order": [0, 1, 2, 3]}', name="c.json", media_type="application/json")

    result = _verified(context, certificate={"kind": "elimination", "file": file})

    assert (result.bound, result.bound_kind) == (10, "elimination")


def test_a_large_certificate_is_verified_from_its_file():
    n = 6000
    edges = np.column_stack((np.arange(n), (np.arange(n) + 1) % n))
    context = Context()
    reduction = reduce_max_cut(n, edges, np.ones(n, dtype=np.int64))
    stored = store_large({"kind": "reduced", "steps": reduction.steps(), "kernel": {"kind": "trivial"}}, context)

    body = {"problem": "max-cut", "edges_flat": edges.ravel().tolist(), "certificate": stored}

    assert stored.keys() == {"kind", "file"}
    assert run_verify(VerifyRequest.model_validate(body), context).bound == n


@pytest.mark.parametrize(
    ("solution", "violation"),
    [
        ([0, 1, 0], "3 sides for 4 vertices"),
        ([0, 1, 0, 1, 1], "5 sides for 4 vertices"),
        ([0, 1, 2, 1], "vertex 2 is on side 2; sides are 0 and 1"),
        ([0, 1, 0, True], "vertex 3 is on side True; sides are 0 and 1"),
        ([0, 1, None, 1], "vertex 2 is on side None; sides are 0 and 1"),
        ([0, 1, 0.0, 1], "vertex 2 is on side 0.0; sides are 0 and 1"),
        ([2**63, 1, 0, 1], "vertex 0 is on side 9223372036854775808; sides are 0 and 1"),
        ("0\n1\nx\n1\n", "vertex 2 is on side 'x'; sides are 0 and 1"),
    ],
)
def test_a_solution_that_is_no_cut_says_why(solution, violation):
    result = _verified(solution=solution, certificate={"kind": "trivial"})

    assert (result.feasible, result.violations, result.value, result.optimal) == (False, [violation], None, False)


def test_only_the_first_ten_violations_are_listed():
    assert len(_verified(num_vertices=50, solution=[7] * 49).violations) == 10


def test_violations_name_vertices_as_the_caller_does():
    body = {"problem": "max-cut", "edges": [["ann", "bob"]], "solution": [0, 5]}

    assert run_verify(VerifyRequest.model_validate(body), Context()).violations == [
        "vertex 'bob' is on side 5; sides are 0 and 1"
    ]


def test_a_refused_certificate_leaves_no_bound():
    result = _verified(solution=[0, 1, 0, 1], certificate={"kind": "enumeration", "file": "file_none"})

    assert (result.bound, result.bound_kind, result.bound_proved, len(result.faults)) == (None, None, False, 1)
    assert result.value == 10


def test_a_search_is_not_proven():
    search = {"kind": "search", "solver": "s", "version": "1", "nodes": 1, "fallback": {"kind": "enumeration"}}

    result = _verified(solution=[0, 1, 0, 1], certificate=search)

    assert (result.bound, result.bound_kind, result.bound_proved) == (10, "search", False)


def test_values_of_weights_that_are_no_integers_are_optimal_up_to_rounding():
    weights = [0.1, 0.2, 0.3, 0.7]

    result = _verified(edge_weights=weights, solution=[0, 1, 0, 1], certificate={"kind": "enumeration"})

    assert result.value == pytest.approx(1.3, abs=1e-15)
    assert result.optimal


def test_repairs_of_the_graph_are_warnings():
    result = _verified(edges=[[0, 1], [1, 0], [2, 2], [3, 0]], solution=[0, 1, 1, 1])

    assert result.value == 1 + 2 + 4
    assert {warning.code for warning in result.warnings} == {"duplicate-edges", "self-loops"}


def test_the_empty_graph_is_verified():
    body = {"problem": "max-cut", "num_vertices": 0, "solution": [], "certificate": {"kind": "trivial"}}

    result = run_verify(VerifyRequest.model_validate(body), Context())

    assert (result.value, result.bound, result.ratio, result.gap, result.optimal) == (0, 0, 1.0, 0.0, True)


def test_a_solution_file_that_does_not_exist_is_unknown():
    with pytest.raises(UnknownFile) as refusal:
        _verified(solution={"file": "file_none"})

    assert refusal.value.pointer == "/solution/file"


def test_a_solution_file_that_is_no_text_is_refused():
    context = Context()
    file = context.files.save(b"\xff\xfe\x00", name="x", media_type="text/plain")

    with pytest.raises(InvalidInput):
        _verified(context, solution={"file": file})


@pytest.mark.parametrize(
    "fields",
    [
        {"problem": "tsp"},
        {"solution": 5},
        {"solution": {"files": "x"}},
        {"certificate": [1]},
        {"certificate": "trivial"},
        {"more": 1},
    ],
)
def test_a_request_of_another_shape_is_refused(fields):
    with pytest.raises(ValidationError):
        VerifyRequest.model_validate(SQUARE | fields)


def test_a_proof_ends_when_the_time_is_up():
    complete = list(itertools.combinations(range(20), 2))
    body = {"problem": "max-cut", "edges": complete, "certificate": {"kind": "elimination", "order": list(range(20))}}

    result = run_verify(VerifyRequest.model_validate(body), Context(time_limit=0))

    assert result.faults == ["certificate: time was up before the tables were computed"]
