"""Which methods an operation offers: its schema lists no other, and others are refused where the request is read."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from solvers.field_faults import from_validation_error
from solvers.graphs.batch import GRAPHS_BATCH, SOLVERS

BODIES = {
    "max-cut": {"edges": [[0, 1]]},
    "vertex-cover": {"edges": [[0, 1]]},
    "independent-set": {"edges": [[0, 1]]},
    "set-cover": {"sets": [[0, 1]]},
}
WITHOUT_RELAXATION = sorted(set(BODIES) - {"max-cut"})
SDP = {"options": {"method": "sdp"}}


def methods_of(problem: str) -> set[str]:
    definitions = SOLVERS[problem].request.model_json_schema()["$defs"]
    (options,) = (definition for name, definition in definitions.items() if name.endswith("Options"))
    return set(options["properties"]["method"]["enum"])


def faults_of(request: type, body: dict) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        request.model_validate(body)
    return [fault["pointer"] for fault in from_validation_error(refused.value, body)["errors"]]


def test_cuts_alone_have_the_semidefinite_relaxation():
    others = {"auto", "paper", "greedy", "local_search", "exact"}
    assert {problem: methods_of(problem) - others for problem in BODIES} == {
        problem: {"sdp"} if problem == "max-cut" else set() for problem in BODIES
    }


@pytest.mark.parametrize("problem", WITHOUT_RELAXATION)
def test_the_method_for_cuts_is_refused(problem):
    assert faults_of(SOLVERS[problem].request, BODIES[problem] | SDP) == ["/options/method"]


@pytest.mark.parametrize("problem", WITHOUT_RELAXATION)
def test_the_method_for_cuts_is_refused_of_a_batch_of_other_problems(problem):
    batch = {"problem": problem, "instances": [BODIES[problem]]} | SDP
    assert faults_of(GRAPHS_BATCH.request, batch) == ["/options/method"]


def test_a_batch_of_cuts_takes_it():
    request = GRAPHS_BATCH.request.model_validate({"problem": "max-cut", "instances": [BODIES["max-cut"]]} | SDP)
    assert request.options.method == "sdp"
