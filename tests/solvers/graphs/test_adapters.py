"""Objects turned into request bodies, and answers into texts."""

import networkx
import numpy as np
import orjson
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.adapters import from_objects
from solvers.graphs.graph import Graph
from solvers.graphs.predictions import EdgePredictions, VertexPredictions
from solvers.graphs.request import GraphRequest
from solvers.operation import Context, InvalidInput


def posted(body: dict) -> GraphRequest:
    """The request as it arrives: through JSON."""
    return GraphRequest.model_validate(orjson.loads(orjson.dumps(body)))


GRAPHS = {
    "networkx": networkx.petersen_graph(),
    "named": networkx.Graph([("a", "b"), ("b", (1, 2.5))]),
    "doubled": networkx.MultiDiGraph([(0, 1), (1, 0), (1, 1)]),
    "sparse": scipy.sparse.csr_array(np.array([[0, 2.5], [2.5, 0]])),
    "array": np.array([[0, 1, 3], [1, 2, -1]]),
    "one-based": Graph(4, [[1, 2], [4, 2]], [1, 2], vertex_weights=[1, 2, 3, 4], index_base=1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_posted_object_is_the_same_instance_as_in_a_library_call(name: str) -> None:
    sent = posted(from_objects(GRAPHS[name])).read_instance(Context())
    held = GraphRequest.of(GRAPHS[name]).read_instance(Context())

    assert (sent.num_vertices, sent.labels, sent.index_base) == (held.num_vertices, held.labels, held.index_base)
    np.testing.assert_array_equal(sent.edges, held.edges)
    np.testing.assert_array_equal(sent.edge_weights, held.edge_weights)
    assert sent.edge_weights.dtype == held.edge_weights.dtype


@given(st.lists(st.tuples(st.sampled_from([0, 1, -1]), st.sampled_from([0, 1, -1])), min_size=15, max_size=15))
def test_posted_bits_are_those_of_the_object(bits: list[tuple[int, int]]) -> None:
    prediction = EdgePredictions(bits, epsilon=0.25, overdispersion=0.5)

    request = posted(from_objects(networkx.petersen_graph(), prediction))
    [found] = request.read_predictions(request.read_instance(Context()))

    assert found.bits.tolist() == [list(row) for row in bits]
    assert (found.epsilon, found.overdispersion) == (0.25, 0.5)


def test_posted_vertex_predictions_are_those_of_the_objects() -> None:
    several = [
        VertexPredictions(labels=[0, 1, -1], epsilon=[0.1, 0.2, 0.3]),
        VertexPredictions(probabilities=[0.5, np.nan, 1.0]),
        {"vertex_labels": [1, 1, None]},
    ]

    request = posted(from_objects([[0, 1], [1, 2]], several))
    labels, probabilities, fields = request.read_predictions(request.read_instance(Context()))

    assert (labels.labels.tolist(), labels.epsilon.tolist()) == ([0, 1, -1], [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(probabilities.probabilities, [0.5, np.nan, 1.0])
    assert fields.labels.tolist() == [1, 1, -1]


def test_options_of_numpy_are_posted_as_numbers() -> None:
    request = posted(from_objects([[0, 1]], time_limit=np.float64(3), seed=np.int64(4), threshold=2))

    assert (request.options.time_limit, request.options.seed, request.options.threshold) == (3.0, 4, 2)


def test_a_name_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidInput, match="JSON cannot hold") as caught:
        from_objects(networkx.Graph([("a", frozenset({1}))]))

    assert caught.value.pointer == "/labels/1"


@pytest.mark.parametrize("prediction", ["all ones", EdgePredictions([[0, 1]], endpoints=[[0, 1]])])
def test_a_prediction_without_a_place_in_a_request_is_refused(prediction: object) -> None:
    with pytest.raises(InvalidInput):
        from_objects([[0, 1]], prediction)
