"""Large sparse instances end to end: uploaded as a file, solved with predictions in flat arrays, verified from the certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from benchmarks.large_instances import dimacs, orlib, power_law_graph, rudy, set_choices, uniform_graph
from solvers.graphs.predictions import sample_edge_predictions
from tests.service.live import live_service, until

LARGE = 200_000
LARGEST = pytest.param(1_000_000, marks=pytest.mark.long)
SECONDS = {LARGE: 3.0, 1_000_000: 10.0}
SETS_PER_ELEMENT = 20

# The least setting under which the largest instance must do; the default is twice as much.
MEMORY_MB = 2048


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Calls a service with the operations that are served, and half the memory that a job has by default."""
    folder: Path = tmp_path_factory.mktemp("large")
    settings = {"catalogue": "app.operations:CATALOGUE", "workers": 1, "light_workers": 0, "job_memory_mb": MEMORY_MB}
    with live_service(folder, **settings) as live, live.client() as client:
        yield client


def upload(client: httpx.Client, text: bytes) -> str:
    response = client.post("/v1/files", content=text, headers={"Content-Type": "text/plain"})
    return str(response.raise_for_status().json()["id"])


def answer(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a job, however long the machine takes for it."""
    submitted = client.post(f"/v1/graphs/{path}", json=body, headers={"Prefer": "respond-async"})
    job = submitted.raise_for_status().headers["Location"]
    ended = until(lambda: (found := client.get(job).json())["status"] in ("succeeded", "failed") and found, seconds=240)
    assert ended["status"] == "succeeded", ended["problem"]
    return dict(client.get(f"{job}/result").raise_for_status().json())


def verified(client: httpx.Client, problem: str, graph: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    body = {"problem": problem, "graph": graph, "solution": found["solution"], "certificate": found["certificate"]}
    return answer(client, "verify", body)


@pytest.mark.parametrize("size", [LARGE, LARGEST])
@pytest.mark.parametrize(("problem", "write"), [("max-cut", rudy), ("vertex-cover", dimacs), ("independent-set", dimacs)])
@pytest.mark.parametrize("draw", [uniform_graph, power_law_graph])
def test_a_large_graph_in_a_file_is_solved_with_predictions_and_verified(client, size, problem, write, draw):
    num_vertices = size // 10
    edges = draw(num_vertices, size, seed=1)
    graph = {"file": upload(client, write(num_vertices, edges))}
    reference = np.random.default_rng(2).integers(0, 2, num_vertices)
    bits = sample_edge_predictions(edges, reference, 0.2, seed=3).bits
    predictions = {"edge_bits_flat": bits.ravel().tolist(), "epsilon": 0.2}
    body = {"graph": graph, "predictions": predictions, "options": {"time_limit": SECONDS[size]}}

    found = answer(client, problem, body)

    if problem == "max-cut":
        sides = np.array(found["solution"])
        assert found["value"] == (sides[edges[:, 0]] != sides[edges[:, 1]]).sum()
    else:
        is_in = np.zeros(num_vertices, bool)
        is_in[np.array(found["solution"]) - 1] = True
        in_solution = is_in[edges].sum(axis=1)
        assert (in_solution >= 1).all() if problem == "vertex-cover" else (in_solution <= 1).all()
        assert found["value"] == is_in.sum()
    checked = verified(client, problem, graph, found)
    assert (checked["feasible"], checked["bound_proved"], checked["faults"]) == (True, True, [])
    assert (checked["value"], checked["bound"]) == (found["value"], found["bound"])


@pytest.mark.parametrize("size", [LARGE, LARGEST])
def test_a_large_set_system_in_a_file_is_covered_and_verified(client, size):
    num_sets = size // 50
    choices = set_choices(size // SETS_PER_ELEMENT, num_sets, SETS_PER_ELEMENT, seed=1)
    graph = {"file": upload(client, orlib(num_sets, choices, seed=1)), "format": "orlib"}
    labels = np.random.default_rng(2).integers(0, 2, num_sets)
    predictions = {"set_labels": labels.tolist(), "epsilon": 0.2}

    found = answer(client, "set-cover", {"graph": graph, "predictions": predictions, "options": {"time_limit": SECONDS[size]}})

    chosen = np.zeros(num_sets, bool)
    chosen[np.array(found["solution"]) - 1] = True
    assert chosen[choices].any(axis=1).all()
    checked = verified(client, "set-cover", graph, found)
    assert (checked["feasible"], checked["bound_proved"], checked["faults"]) == (True, True, [])
    assert (checked["value"], checked["bound"]) == (found["value"], found["bound"])


@pytest.mark.parametrize("size", [LARGE, LARGEST])
def test_a_large_graph_comes_back_from_parse_as_the_file_that_was_sent(client, size):
    edges = uniform_graph(size // 10, size, seed=1)
    text = dimacs(size // 10, edges)

    found = answer(client, "parse", {"problem": "vertex-cover", "graph": {"file": upload(client, text)}})

    assert (found["num_vertices"], found["num_edges"], found["edges"], found["format"]) == (size // 10, size, None, "dimacs")
    content = client.get(f"/v1/files/{found['file']}/content").raise_for_status().content
    lines = content.splitlines()
    assert [line for line in lines if line.startswith(b"e ")] == text.splitlines()[1:]
