"""The solution as a file: the syntax of each problem, ids as the caller has them, and its way back through verification."""

from __future__ import annotations

from typing import Any

import pytest

from solvers.graphs.batch import SOLVERS
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context, InvalidInput

OPTIONS = {"max_iterations": 100, "solution_file": True}

# Vertex b is joined to a and c, which is joined to d.
NAMED = {"labels": ["a", "b", "c", "d"], "edges": [["b", "a"], ["b", "c"], ["c", "d"]], "vertex_weights": [9, 1, 1, 9]}
FROM_1 = {"num_vertices": 4, "index_base": 1, "edges": [[2, 1], [2, 3], [3, 4]], "vertex_weights": [9, 1, 1, 9]}
SPARSE = {"graph": {"text": "20 10\n20 30\n", "format": "edge_list"}}
PAIRS = {
    "graph": {
        "node_link": {
            "nodes": [{"id": [0, "x"], "weight": 9}, {"id": [0, "y"]}, {"id": 2.5}, {"id": 7, "weight": 9}],
            "edges": [
                {"source": [0, "y"], "target": [0, "x"]},
                {"source": [0, "y"], "target": 2.5},
                {"source": 2.5, "target": 7},
            ],
        }
    }
}
NOTHING = {"num_vertices": 0}

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("max-cut", NAMED, "0\n1\n0\n1\n"),
    ("max-cut", FROM_1, "0\n1\n0\n1\n"),
    ("max-cut", PAIRS, "0\n1\n0\n1\n"),
    ("max-cut", NOTHING, ""),
    ("vertex-cover", NAMED, "s vc 4 2\n2\n3\n"),
    ("vertex-cover", FROM_1, "s vc 4 2\n2\n3\n"),
    ("vertex-cover", SPARSE, "s vc 3 1\n1\n"),
    ("vertex-cover", PAIRS, "s vc 4 2\n2\n3\n"),
    ("vertex-cover", NOTHING, "s vc 0 0\n"),
    ("independent-set", NAMED, "a\nd\n"),
    ("independent-set", FROM_1, "1\n4\n"),
    ("independent-set", SPARSE, "10\n30\n"),
    ("independent-set", PAIRS, '[0, "x"]\n7\n'),
    ("independent-set", NOTHING, ""),
    ("set-cover", {"sets": [["x", "y"], ["y"], ["z"]]}, "0\n2\n"),
    ("set-cover", {"sets": [[1, 2], [2], [3]], "index_base": 1}, "1\n3\n"),
    ("set-cover", {"graph": {"text": "3 3\n1 1 1\n1 1\n2 1 2\n1 3\n", "format": "orlib"}}, "1\n3\n"),
    ("set-cover", {"sets": []}, ""),
]


def solved(problem: str, body: dict[str, Any], context: Context, **options: Any) -> Any:
    operation = SOLVERS[problem]
    return operation.run(operation.request.model_validate(body | {"options": OPTIONS | options}), context)


@pytest.mark.parametrize(("problem", "body", "text"), CASES)
def test_a_solution_is_written_in_the_syntax_of_its_problem(problem: str, body: dict[str, Any], text: str) -> None:
    context = Context()
    result = solved(problem, body, context)

    assert context.files.open(result.solution_file).read().decode() == text


@pytest.mark.parametrize(("problem", "body", "text"), CASES)
def test_a_written_solution_is_verified_as_the_answer_it_came_with(problem: str, body: dict[str, Any], text: str) -> None:
    context = Context()
    result = solved(problem, body, context)

    for solution in ({"file": result.solution_file}, result.solution, text):
        again = run_verify(VerifyRequest.model_validate(body | {"problem": problem, "solution": solution}), context)
        assert (again.feasible, again.value, again.violations) == (True, result.value, [])


@pytest.mark.parametrize(("problem", "body"), [(problem, body) for problem, body, _ in CASES])
def test_no_file_is_written_unless_it_is_asked_for(problem: str, body: dict[str, Any]) -> None:
    assert solved(problem, body, Context(), solution_file=False).solution_file is None


def test_an_independent_set_has_no_header_even_if_a_name_looks_like_one() -> None:
    body = {"labels": ["s vc 1 1", "b", "c"], "edges": [["b", "c"]]}
    context = Context()
    result = solved("independent-set", body, context)

    again = run_verify(
        VerifyRequest.model_validate(body | {"problem": "independent-set", "solution": {"file": result.solution_file}}), context
    )

    assert (again.feasible, again.value) == (True, 2)


@pytest.mark.parametrize("header", ["s vc 5 2", "s vc 4 3", "s vc 4", "s vc four 2", "s vc 4 2 0"])
def test_a_cover_whose_header_does_not_go_with_its_list_is_refused(header: str) -> None:
    body = {"problem": "vertex-cover", "edges": [[0, 1], [1, 2], [2, 3]], "solution": f"{header}\n2\n3\n"}

    with pytest.raises(InvalidInput, match="the graph has 4 vertices and 2 are listed") as refused:
        run_verify(VerifyRequest.model_validate(body), Context())

    assert refused.value.pointer == "/solution"
