"""Checking covers, independent sets and set covers, whoever made them."""

import pytest

from solvers.graphs.verification import VerifyRequest, from_objects, run_verify
from solvers.operation import Context, InvalidInput

PATH = {"num_vertices": 4, "edges": [[0, 1], [1, 2], [2, 3]], "vertex_weights": [1, 2, 3, 4]}
NAMED = {"edges": [["c", "a"], ["c", "b"], ["b", "d"]]}
SETS = {"problem": "set-cover", "sets": [[0, 1], [1, 2], [0, 2]], "costs": [2, 3, 4]}


def verified(context=None, **fields):
    return run_verify(VerifyRequest.model_validate(fields), context or Context())


def test_a_cover_that_meets_its_bound_is_optimal():
    packing = {"kind": "edge_packing", "edges": [0, 2], "y": [1, 3], "scale": 1}

    result = verified(problem="vertex-cover", **PATH, solution=[0, 2], certificate=packing)

    assert (result.feasible, result.value, result.bound, result.optimal) == (True, 4, 4, True)


def test_a_set_that_meets_its_bound_is_optimal():
    cliques = {"kind": "clique_partition", "cliques": [[0, 1], [2, 3]]}

    result = verified(problem="independent-set", **PATH, solution=[1, 3], certificate=cliques)

    assert (result.feasible, result.value, result.bound, result.optimal) == (True, 6, 6, True)


@pytest.mark.parametrize(
    ("problem", "solution", "violation"),
    [
        ("vertex-cover", [0, 3], "edge 1 to 2 is not covered"),
        ("independent-set", [0, 1], "edge 0 to 1 joins two members"),
        ("independent-set", [0, 9], "there is no vertex 9"),
        ("independent-set", [0, True], "there is no vertex True"),
        ("independent-set", [0, [1]], "there is no vertex [1]"),
        ("vertex-cover", [1, 2, 1], "vertex 1 is named twice"),
    ],
)
def test_a_solution_that_is_none_says_why(problem, solution, violation):
    result = verified(problem=problem, **PATH, solution=solution)

    assert (result.feasible, result.violations, result.value) == (False, [violation], None)


@pytest.mark.parametrize(
    ("problem", "solution", "violation"),
    [
        ("vertex-cover", [1], "the self-loop at 0 is not covered"),
        ("independent-set", [0], "the self-loop at 0 joins two members"),
    ],
)
def test_a_self_loop_decides_its_vertex(problem, solution, violation):
    assert verified(problem=problem, edges=[[0, 0], [0, 1]], solution=solution).violations == [violation]


def test_only_the_first_ten_violations_are_listed():
    edges = [[2 * k, 2 * k + 1] for k in range(30)]
    assert len(verified(problem="vertex-cover", edges=edges, solution=[]).violations) == 10
    assert len(verified(problem="vertex-cover", edges=edges, solution=list(range(100, 130))).violations) == 10


@pytest.mark.parametrize("solution", [["c", "b"], "c\nb\n", "s vc 4 2\n1\n3\n", "c by hand\ns vc 4 2\n1\nc why not\n3\n"])
def test_a_cover_is_named_by_ids_or_in_pace_s_format(solution):
    result = verified(problem="vertex-cover", **NAMED, solution=solution)
    assert (result.feasible, result.value) == (True, 2)


def test_integer_ids_of_a_text_count_from_where_the_request_s_do():
    assert verified(problem="independent-set", edges=[[1, 2], [2, 3]], index_base=1, solution="1\n3\n").value == 2


def test_a_position_that_no_vertex_has_is_a_violation():
    assert verified(problem="vertex-cover", **NAMED, solution="s vc 4 1\n7\n").violations == ["there is no vertex '7'"]


def test_a_solution_may_be_a_file():
    context = Context()
    file = context.files.save(b"s vc 4 2\n1\n3\n", name="cover.txt", media_type="text/plain")
    assert verified(context, problem="vertex-cover", **NAMED, solution={"file": file}).feasible


def test_weights_of_edges_are_ignored():
    result = verified(problem="vertex-cover", edges=[[0, 1], [1, 2]], edge_weights=[5, 5], solution=[1])
    assert result.value == 1


def test_a_negative_weight_is_refused():
    with pytest.raises(InvalidInput):
        verified(problem="vertex-cover", edges=[[0, 1]], vertex_weights=[1, -1], solution=[0])


def test_a_refused_certificate_leaves_no_bound():
    result = verified(problem="independent-set", **PATH, certificate={"kind": "odd_cycles", "cycles": []})
    assert (result.bound, result.bound_proved, len(result.faults)) == (None, False, 1)


def test_a_cover_by_sets_that_meets_its_bound_is_optimal():
    prices = {"kind": "lagrangian", "y": [1, 1, 2], "scale": 1}

    result = verified(**SETS, solution=[0, 1], certificate=prices)

    assert (result.feasible, result.value, result.bound, result.gap) == (True, 5, 4, 0.25)


@pytest.mark.parametrize(
    ("solution", "violation"),
    [([0], "element 2 is in no chosen set"), ("0\n", "element 2 is in no chosen set"), ("0\nx\n", "there is no set 'x'")],
)
def test_sets_that_are_no_cover_say_why(solution, violation):
    assert violation in verified(**SETS, solution=solution).violations


def test_sets_are_named_by_a_text():
    assert verified(**SETS, solution="0\n1\n").value == 5


@pytest.mark.parametrize(
    ("problem", "instance", "solution"),
    [("vertex-cover", [[0, 1]], [0]), ("independent-set", [[0, 1]], [1]), ("set-cover", [[0, 1]], [0])],
)
def test_a_body_is_made_of_what_is_in_memory(problem, instance, solution):
    assert verified(**from_objects(instance, solution=solution, problem=problem)).value == 1
