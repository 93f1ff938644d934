"""The table of odd and bad instances over HTTP: warnings in the answer, and problem documents that point into the request."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.service.live import live_service
from tests.solvers.graphs.bad_input_cells import CELLS, label

# The first test waits for the kernels of the real catalogue.
pytestmark = pytest.mark.timeout(600)

ANSWERED = [key for key, cell in CELLS.items() if cell.refused_at is None]
REFUSED = [key for key, cell in CELLS.items() if cell.refused_at is not None]

RUDY = b"3 2\n1 2\n2 4\n"


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Calls a service that has the built-in operations."""
    with live_service(tmp_path_factory.mktemp("graphs"), catalogue="app.operations:CATALOGUE") as live, live.client() as client:
        yield client


@pytest.mark.parametrize("key", ANSWERED, ids=label)
def test_the_answer_carries_the_optimum_and_every_repair(graphs: httpx.Client, key: tuple[str, str]) -> None:
    cell = CELLS[key]

    response = graphs.post(f"/v1/graphs/{key[1]}", json=cell.body | {"options": {"max_iterations": 100}})

    assert response.status_code == 200
    answer = response.json()
    assert (answer["value"], answer["bound"], answer["optimal"]) == (cell.value, cell.value, True)
    assert [(entry["code"], entry["pointer"]) for entry in answer["warnings"]] == [
        (code, pointer) for code, _, pointer in cell.warnings
    ]


@pytest.mark.parametrize("key", REFUSED, ids=label)
def test_the_problem_document_points_into_the_request(graphs: httpx.Client, key: tuple[str, str]) -> None:
    response = graphs.post(f"/v1/graphs/{key[1]}", json=CELLS[key].body)

    problem = response.json()
    assert (response.status_code, response.headers["Content-Type"]) == (422, "application/problem+json")
    assert problem["errors"][0]["pointer"] == CELLS[key].refused_at
    assert problem["status"] == 422


@pytest.mark.parametrize("problem", ["max-cut", "vertex-cover", "independent-set", "set-cover"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(graphs: httpx.Client, problem: str, number: str) -> None:
    field = {"max-cut": "edge_weights", "set-cover": "costs"}.get(problem, "vertex_weights")
    instance = '"sets": [[0]]' if problem == "set-cover" else '"edges": [[0, 1]]'

    response = graphs.post(
        f"/v1/graphs/{problem}", content=f'{{{instance}, "{field}": [{number}]}}', headers={"Content-Type": "application/json"}
    )

    assert response.status_code == 422
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("problem", ["max-cut", "vertex-cover", "independent-set"])
def test_a_fault_in_an_uploaded_file_names_the_line(graphs: httpx.Client, problem: str) -> None:
    uploaded = graphs.post("/v1/files", content=RUDY, headers={"Content-Type": "text/plain"})

    response = graphs.post(f"/v1/graphs/{problem}", json={"graph": {"file": uploaded.json()["id"], "format": "rudy"}})

    fault = response.json()
    assert (response.status_code, fault["line"], fault["errors"][0]["pointer"]) == (422, 3, "/graph/file")


def test_a_batch_has_a_problem_in_the_place_of_every_instance_that_is_refused(graphs: httpx.Client) -> None:
    instances = [cell.body for (_, problem), cell in CELLS.items() if problem == "vertex-cover"]
    body = {"problem": "vertex-cover", "instances": instances, "options": {"max_iterations": 100}}

    answer = graphs.post("/v1/graphs/batch", json=body).json()

    expected = [cell for (_, problem), cell in CELLS.items() if problem == "vertex-cover"]
    assert answer["solved"] == sum(cell.refused_at is None for cell in expected)
    for position, (cell, found) in enumerate(zip(expected, answer["results"], strict=True)):
        if cell.refused_at is None:
            assert (found["result"]["value"], found["problem"]) == (cell.value, None)
        else:
            assert found["problem"]["errors"][0]["pointer"] == f"/instances/{position}{cell.refused_at}"


def test_elements_in_no_set_are_listed(graphs: httpx.Client) -> None:
    response = graphs.post("/v1/graphs/set-cover", json={"sets": [["a"]], "labels": ["a", "b", "c"]})

    fault = response.json()
    assert (response.status_code, fault["type"].rsplit("/", 1)[-1], fault["elements"]) == (422, "infeasible", ["b", "c"])


def test_a_text_that_may_be_cut_off_asks_for_its_format(graphs: httpx.Client) -> None:
    response = graphs.post("/v1/graphs/max-cut", json={"graph": {"text": "3 2\n1 2\n"}})

    assert (response.status_code, response.json()["type"].rsplit("/", 1)[-1]) == (422, "ambiguous-format")
