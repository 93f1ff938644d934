"""The table of odd and bad instances, one test per cell: in a request, and as the library's caller gives the same objects."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import pytest
from pydantic import ValidationError

from solvers.field_faults import from_validation_error
from solvers.graphs import Graph, SetSystem, independent_set, max_cut, set_cover, vertex_cover
from solvers.graphs.batch import SOLVERS
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context, InvalidInput
from tests.solvers.graphs.bad_input_cells import CELLS, PROBLEMS, ROWS, label

LIBRARY = {"max-cut": max_cut, "vertex-cover": vertex_cover, "independent-set": independent_set, "set-cover": set_cover}

ANSWERED = [key for key, cell in CELLS.items() if cell.refused_at is None]
REFUSED = [key for key, cell in CELLS.items() if cell.refused_at is not None]
# A graph is no set system: the library has nothing to be told of these.
OBJECTS = [key for key, cell in CELLS.items() if key[1] != "set-cover" or "sets" in cell.body]


def answered(problem: str, body: dict[str, Any]) -> Any:
    operation = SOLVERS[problem]
    return operation.run(operation.request.model_validate(body | {"options": {"max_iterations": 100}}), Context())


def called(problem: str, body: dict[str, Any]) -> Any:
    """Answer by the library's function, given the objects that the body describes."""
    if problem == "set-cover":
        instance: Any = SetSystem(body["sets"], body.get("costs"), body.get("num_elements"))
    elif "graph" in body:
        instance = nx.node_link_graph(body["graph"]["node_link"], edges="edges")
    else:
        instance = Graph(body["num_vertices"], body.get("edges", []), body.get("edge_weights"), body.get("vertex_weights"))
    return LIBRARY[problem](instance, max_iterations=100)


def pointer_of(problem: str, body: dict[str, Any]) -> str:
    """Return the place of the fault of a body, as a problem document has it."""
    try:
        answered(problem, body)
    except ValidationError as error:
        return str(from_validation_error(error, body)["errors"][0]["pointer"])
    except InvalidInput as fault:
        return str(fault.pointer)
    raise AssertionError("the body was not refused")


def test_the_table_is_complete() -> None:
    assert list(CELLS) == [(row, problem) for row in ROWS for problem in PROBLEMS]


@pytest.mark.parametrize("key", ANSWERED, ids=label)
def test_the_answer_is_the_optimum_of_what_is_meant(key: tuple[str, str]) -> None:
    cell = CELLS[key]

    result = answered(key[1], cell.body)

    assert (result.value, result.bound, result.optimal, result.ratio, result.gap) == (cell.value, cell.value, True, 1, 0)
    assert cell.solution is None or result.solution == cell.solution


@pytest.mark.parametrize("key", ANSWERED, ids=label)
def test_each_repair_is_a_warning_with_a_count_and_the_first_place(key: tuple[str, str]) -> None:
    cell = CELLS[key]

    warnings = answered(key[1], cell.body).warnings

    assert [(entry.code, entry.pointer) for entry in warnings] == [(code, pointer) for code, _, pointer in cell.warnings]
    for entry, (_, count, _) in zip(warnings, cell.warnings, strict=True):
        assert re.search(rf"\b{count}\b", entry.message.split("; first: ")[0]), entry.message


@pytest.mark.parametrize("key", REFUSED, ids=label)
def test_the_fault_is_named_with_its_place(key: tuple[str, str]) -> None:
    assert pointer_of(key[1], CELLS[key].body) == CELLS[key].refused_at


@pytest.mark.parametrize("key", OBJECTS, ids=label)
def test_the_library_says_the_same_of_the_same_objects(key: tuple[str, str]) -> None:
    cell = CELLS[key]
    if cell.refused_at is not None:
        with pytest.raises(InvalidInput) as refused:
            called(key[1], cell.body)
        assert refused.value.pointer == cell.refused_at
        return

    result = called(key[1], cell.body)

    assert (result.value, result.bound, result.optimal) == (cell.value, cell.value, True)
    assert [entry.code for entry in result.warnings] == [code for code, _, _ in cell.warnings]


@pytest.mark.parametrize("key", ANSWERED, ids=label)
def test_the_certificate_proves_the_bound_of_the_instance_as_it_was_given(key: tuple[str, str]) -> None:
    _, problem = key
    result = answered(problem, CELLS[key].body)
    body = CELLS[key].body | {"problem": problem, "solution": result.solution, "certificate": result.certificate}

    again = run_verify(VerifyRequest.model_validate(body), Context())

    assert (again.feasible, again.value, again.bound, again.optimal) == (True, result.value, result.bound, True)
    assert [entry.code for entry in again.warnings] == [entry.code for entry in result.warnings]
