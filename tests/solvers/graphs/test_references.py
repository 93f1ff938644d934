"""The shipped instances: every file is the instance that the table says, every reference is a solution, every bound is reached."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from solvers.graphs.bounds import BoundsRequest, run_bounds
from solvers.graphs.parse import ParseRequest, run_parse
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context
from tests.solvers.graphs.prediction_vectors import DATA

INSTANCES = {row["instance"]: row for row in csv.DictReader((DATA / "instances.csv").open(newline=""))}
REFERENCES = {row["instance"]: row for row in json.loads((DATA / "references.json").read_text())}

CUTS, SETS, COVERS = (
    [name for name, row in INSTANCES.items() if row["problem"].startswith(problem)]
    for problem in ("max_cut", "independent_set", "set_cover")
)


@cache
def text_of(name: str) -> str:
    return (DATA / INSTANCES[name]["file"]).read_text()


def body(name: str, problem: str) -> dict[str, Any]:
    return {"problem": problem, "graph": {"text": text_of(name)}}


def bound(name: str, problem: str, kind: str) -> float:
    result = run_bounds(BoundsRequest.model_validate(body(name, problem) | {"kinds": [kind]}), Context(120, seed=0))
    again = run_verify(VerifyRequest.model_validate(body(name, problem) | {"certificate": result.certificate}), Context(120))
    assert (result.bound_kind, again.bound, again.faults) == (kind, result.bound, [])
    return result.bound


def problem_of(name: str) -> str:
    return "max-cut" if name in CUTS else "set-cover" if name in COVERS else "independent-set"


def test_every_instance_has_a_reference() -> None:
    assert list(REFERENCES) == list(INSTANCES)


@pytest.mark.parametrize("name", INSTANCES)
def test_a_file_is_read_in_its_format_as_the_instance_of_the_table(name: str) -> None:
    problem = problem_of(name)

    parsed = run_parse(ParseRequest.model_validate(body(name, problem)), Context())

    sizes = (parsed.num_sets, parsed.num_elements) if problem == "set-cover" else (parsed.num_vertices, parsed.num_edges)
    assert sizes == (int(INSTANCES[name]["n"]), int(INSTANCES[name]["m"]))
    expected = {"max-cut": "rudy", "independent-set": "dimacs", "set-cover": "steiner" if name.startswith("stn") else "orlib"}
    assert (parsed.format, parsed.index_base, parsed.warnings) == (expected[problem], 1, [])


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_a_solution_of_its_value(name: str) -> None:
    problem, bits = problem_of(name), [int(bit) for bit in REFERENCES[name]["solution"]]
    ids = (np.flatnonzero(bits) + 1).tolist()

    checked = run_verify(
        VerifyRequest.model_validate(body(name, problem) | {"solution": bits if problem == "max-cut" else ids}), Context()
    )

    best = int(INSTANCES[name]["best_known"])
    assert (checked.feasible, checked.value) == (True, REFERENCES[name]["value"])
    assert REFERENCES[name]["best_known"] == best
    # One cut of the collection is known that none of the searches behind the references found.
    assert checked.value == best - (name == "G14")


@pytest.mark.parametrize("name", SETS)
def test_what_a_reference_leaves_out_is_a_cover(name: str) -> None:
    bits = REFERENCES[name]["solution"]
    outside = [position + 1 for position, bit in enumerate(bits) if bit == "0"]

    checked = run_verify(VerifyRequest.model_validate(body(name, "vertex-cover") | {"solution": outside}), Context())

    assert (checked.feasible, checked.value) == (True, len(bits) - REFERENCES[name]["value"])


@pytest.mark.parametrize("name", SETS)
def test_cliques_and_the_relaxation_bound_as_tightly_as_in_the_table(name: str) -> None:
    row = INSTANCES[name]
    [relaxed] = map(float, re.findall(r"n - VC LP = ([\d.]+)", row["bound_kind"]))

    assert int(row["best_known"]) <= bound(name, "independent-set", "clique_partition") <= int(row["upper_bound"])
    assert bound(name, "independent-set", "edge_packing") == int(relaxed)
    assert bound(name, "vertex-cover", "edge_packing") == int(row["n"]) - int(relaxed)


@pytest.mark.parametrize("name", COVERS)
def test_prices_bound_a_cover_as_tightly_as_the_linear_program(name: str) -> None:
    assert int(INSTANCES[name]["lower_bound"]) <= bound(name, "set-cover", "lagrangian") <= int(INSTANCES[name]["best_known"])
