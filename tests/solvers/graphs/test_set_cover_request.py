"""Requests about set systems are read whole, or refused with the place of the fault."""

import numpy as np
import pytest
import scipy.sparse
from pydantic import ValidationError

from solvers.graphs.incidence_predictions import IncidencePredictions
from solvers.graphs.predictions import VertexPredictions
from solvers.graphs.set_cover import EXAMPLES, SET_COVER, run_set_cover
from solvers.graphs.set_cover_request import SetCoverRequest, from_objects
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context, InvalidInput, TooLarge, UnknownFile

TEXT = "3 2\n5 7\n1 1\n2 1 2\n1 2\n"


def read(body, **context):
    request = SetCoverRequest.model_validate(body)
    system = request.read_system(Context(**context))
    return system, request.read_predictions(system)


@pytest.mark.parametrize("title", EXAMPLES)
def test_every_example_runs_and_is_solved(title):
    result = run_set_cover(SetCoverRequest.model_validate(EXAMPLES[title]), Context())

    assert result.bound <= result.value
    assert result.deterministic


def test_a_file_is_read_in_the_format_of_its_content():
    context = Context()
    body = {"graph": {"file": context.files.save(TEXT.encode(), name="tiny", media_type="text/plain")}}

    system = SetCoverRequest.model_validate(body).read_system(context)

    assert system.costs.tolist() == [5, 7]


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UnknownFile) as raised:
        read({"graph": {"file": "none"}})

    assert raised.value.pointer == "/graph/file"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"num_elements": 3},
        {"sets": [[0]], "graph": {"text": TEXT}},
        {"graph": {}},
        {"graph": {"text": TEXT, "file": "x"}},
        {"graph": {"text": TEXT, "format": "rudy"}},
        {"sets": [[0]], "index_base": 2},
        {"sets": [[0]], "num_elements": -1},
        {"sets": [[0]], "surplus": 1},
        {"sets": [[0]], "predictions": {}},
        {"sets": [[0]], "predictions": {"edge_bits": [[0, 1]]}},
        {"sets": [[0]], "predictions": {"incidence_bits": [[1]], "epsilon": 0}},
        {"sets": [[0]], "predictions": {"incidence_bits": [[1]], "epsilon": 0.6}},
        {"sets": [[0]], "predictions": {"incidence_bits": [[1]], "overdispersion": 2}},
        {"sets": [[0]], "options": {"time_limit": 0}},
        {"sets": [[0]], "options": {"max_iterations": 0}},
        {"sets": [[0]], "options": {"threshold": 0}},
    ],
)
def test_a_body_that_makes_no_sense_is_refused(body):
    with pytest.raises(ValidationError):
        SetCoverRequest.model_validate(body)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"sets": [[0], 7]}, "/sets/1"),
        ({"sets": [[0], [None]]}, "/sets/1/0"),
        ({"sets": [[0]], "costs": [-2]}, "/costs/0"),
        ({"sets": [[0]], "costs": ["1"]}, "/costs/0"),
        ({"graph": {"text": "1 1\n1\n1 2\n", "format": "orlib"}}, "/graph/text"),
        ({"sets": [[0, 1]], "predictions": {"incidence_bits": [[1]]}}, "/predictions/incidence_bits/0"),
        ({"sets": [[0, 1]], "predictions": {"incidence_bits": [[1, 2]]}}, "/predictions/incidence_bits/0/1"),
        ({"sets": [[0, 1]], "predictions": [{"set_labels": [1]}, {"set_labels": [1, 0]}]}, "/predictions/1/set_labels"),
        ({"sets": [[0, 1]], "predictions": {"set_labels": [3]}}, "/predictions/set_labels/0"),
        ({"sets": [[0, 1]], "predictions": {"set_probabilities": [1.5]}}, "/predictions/set_probabilities/0"),
        ({"sets": [[0], [0]], "predictions": {"set_labels": [1, 0], "epsilon": [0.1, "x"]}}, "/predictions/epsilon/1"),
        ({"sets": [[0], [0]], "predictions": {"set_labels": [1, 0], "epsilon": [0.1]}}, "/predictions/epsilon"),
        ({"sets": [[0]], "predictions": {"incidence_bits": [[1]], "epsilon": [0.1]}}, "/predictions/epsilon"),
    ],
)
def test_a_malformed_element_is_named_with_its_place(body, pointer):
    with pytest.raises(InvalidInput) as raised:
        read(body)

    assert raised.value.pointer == pointer


@pytest.mark.parametrize(
    ("body", "limits"),
    [
        ({"sets": [[0], [1], [2]]}, {"max_vertices": 2}),
        ({"sets": [[0]], "num_elements": 10**12}, {"max_vertices": 10**6}),
        ({"sets": [[5]]}, {"max_vertices": 5}),
        ({"sets": [[0, 1], [2]]}, {"max_edges": 2}),
        ({"graph": {"text": TEXT}}, {"max_edges": 3}),
    ],
)
def test_an_instance_above_the_services_limits_is_too_large(body, limits):
    with pytest.raises(TooLarge):
        read(body, limits=limits)


def test_all_forms_of_prediction_are_read():
    system, predictions = read(
        {
            "sets": [[0, 1], [1]],
            "predictions": {
                "incidence_bits": [[1, None], [0]],
                "set_labels": [1, None],
                "set_probabilities": [0.5, None],
                "epsilon": 0.2,
            },
        }
    )

    bits, about_sets = predictions
    assert (bits.bits.tolist(), bits.epsilon) == ([1, -1, 0], 0.2)
    assert (about_sets.labels.tolist(), about_sets.epsilon) == ([1, -1], 0.2)
    assert np.isnan(about_sets.probabilities[1])
    assert system.num_sets == 2


def test_a_body_made_of_objects_asks_the_same_as_the_objects():
    matrix = scipy.sparse.csr_array([[1, 0, 1], [0, 1, 1]])
    predictions = [IncidencePredictions([[1], [0], [1, None]], 0.3), VertexPredictions(labels=[1, -1, 0], epsilon=0.1)]

    body = from_objects(matrix, predictions, seed=np.int64(4))

    system, read_back = read(body)
    assert np.split(system.elements, system.set_ptr[1:-1])[2].tolist() == [0, 1]
    assert read_back[0].bits.tolist() == [1, 0, 1, -1]
    assert read_back[1].labels.tolist() == [1, -1, 0]
    assert body["options"] == {"seed": 4}


def test_names_and_bases_survive_the_body():
    named = read(from_objects(SetSystem([["b"], ["a", "b"]], labels=["a", "b"])))[0]
    based = read(from_objects(SetSystem([[1], [2, 1]], index_base=1)))[0]

    assert (named.labels, named.elements.tolist()) == (["a", "b"], [1, 0, 1])
    assert (based.index_base, based.elements.tolist()) == (1, [0, 0, 1])


def test_what_is_no_prediction_of_a_cover_is_refused():
    with pytest.raises(InvalidInput, match="is no prediction of a cover"):
        SetCoverRequest.of([[0]], 7)


def test_the_operation_is_complete():
    assert SET_COVER.path == "graphs/set-cover"
    assert SET_COVER.from_file("file_1") == {"graph": {"file": "file_1"}}
