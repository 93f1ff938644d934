"""The covers and independent sets that advice suggests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import tally
from solvers.graphs.cover_candidates import cover_candidates, independent_set_candidates
from solvers.graphs.csr import build_csr
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions
from tests.solvers.graphs.prediction_vectors import COVER_VECTORS, SET_VECTORS
from tests.solvers.graphs.weighted_vertices import WeightedVertices, is_cover, is_independent, random_edges, weighted_vertices

BOTH = {"covers": (cover_candidates, is_cover), "independent sets": (independent_set_candidates, is_independent)}


def graph_of(seed, num_vertices=60, num_edges=150, is_weighted=False):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, num_vertices) if is_weighted else np.ones(num_vertices, np.int64)
    return WeightedVertices(num_vertices, random_edges(num_vertices, num_edges, rng), weights)


def advice_on(graph, *predictions):
    return tally(predictions, graph.num_vertices, graph.edges, symmetric=False)


def drawn(graph, epsilon=0.2, seed=0):
    reference = np.random.default_rng(seed).integers(0, 2, graph.num_vertices)
    return sample_edge_predictions(graph.edges, reference, epsilon, seed)


def sources(candidates, graph, *predictions, **options):
    return [one.source for one in candidates(advice_on(graph, *predictions), graph.csr, graph.weights, **options)]


@st.composite
def graphs_with_predictions(draw):
    graph = draw(weighted_vertices())
    bit = st.integers(-1, 1)
    rows = draw(st.lists(st.tuples(bit, bit), min_size=len(graph.edges), max_size=len(graph.edges)))
    epsilon = draw(st.sampled_from([None, 0.02, 0.3, 0.5]))
    predictions = [EdgePredictions(np.array(rows).reshape(-1, 2), epsilon=epsilon)]
    if draw(st.booleans()):
        labels = draw(st.lists(bit, min_size=graph.num_vertices, max_size=graph.num_vertices))
        predictions = [*predictions[: draw(st.integers(0, 1))], VertexPredictions(labels=np.array(labels), epsilon=epsilon)]
    return graph, predictions


@pytest.mark.parametrize("kind", BOTH)
@given(graphs_with_predictions(), st.sampled_from(["auto", "paper", 1, 3, 10**6]), st.sampled_from(["auto", "paper"]))
def test_every_candidate_is_feasible_whatever_the_bits(kind, case, threshold, method):
    graph, predictions = case
    candidates, is_feasible = BOTH[kind]

    for one in candidates(advice_on(graph, *predictions), graph.csr, graph.weights, threshold=threshold, method=method):
        assert one.members.shape == (graph.num_vertices,)
        assert is_feasible(graph.edges, one.members)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_all_sources_are_tried_where_the_advice_is_trusted(kind, is_weighted):
    graph = graph_of(1, is_weighted=is_weighted)

    tried = sources(BOTH[kind][0], graph, drawn(graph))

    assert set(tried) == {"majority", "ordered_greedy", "threshold_scan", "confidence_scan"}


@pytest.mark.parametrize(
    ("candidates", "vectors"), [(cover_candidates, COVER_VECTORS), (independent_set_candidates, SET_VECTORS)], ids=BOTH
)
@pytest.mark.parametrize("number", range(5))
def test_perfect_bits_suggest_the_solution_that_they_are_about_throughout(candidates, vectors, number):
    name = [name for name in vectors if name.endswith("eps0.5")][number]
    vector = vectors[name]
    graph = WeightedVertices(vector.num_vertices, vector.edges, np.ones(vector.num_vertices, np.int64))
    advice = advice_on(graph, EdgePredictions(vector.bits, epsilon=0.5))

    suggested = {one.source: one.members.tolist() for one in candidates(advice, graph.csr, graph.weights, threshold=1)}

    reference = list(map(bool, vector.expected["reference"]))
    assert suggested["majority"] == suggested["ordered_greedy"] == suggested["threshold_scan"] == reference


@pytest.mark.parametrize("kind", BOTH)
def test_advice_that_is_not_trusted_is_only_a_starting_point(kind):
    graph = graph_of(2)

    assert sources(BOTH[kind][0], graph, VertexPredictions(labels=np.ones(60))) == ["majority"]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("bits", [None, -1])
def test_no_predictions_suggest_nothing(kind, bits):
    graph = graph_of(3)
    predictions = [] if bits is None else [EdgePredictions(np.full((150, 2), bits), epsilon=0.2)]

    assert sources(BOTH[kind][0], graph, *predictions) == []


@pytest.mark.parametrize("kind", BOTH)
def test_the_paper_s_method_leaves_graphs_of_low_degree_alone(kind):
    graph = graph_of(4)

    assert sources(BOTH[kind][0], graph, drawn(graph, 0.05), method="paper") == []


@pytest.mark.parametrize(("kind", "threshold"), [("covers", 278), ("independent sets", 9)])
def test_the_paper_s_method_decides_vertices_of_its_threshold(kind, threshold):
    edges = np.array([[0, v] for v in range(1, 301)], dtype=np.int32)
    graph = WeightedVertices(301, edges, np.ones(301, np.int64))

    tried = list(BOTH[kind][0](advice_on(graph, drawn(graph, 0.5)), graph.csr, graph.weights, method="paper"))

    assert [(one.source, one.threshold) for one in tried] == [("paper", threshold)]


@pytest.mark.parametrize("kind", BOTH)
def test_a_given_threshold_is_the_only_one(kind):
    graph = graph_of(5)

    candidates = BOTH[kind][0](advice_on(graph, drawn(graph)), graph.csr, graph.weights, threshold=5)

    assert {one.threshold for one in candidates} == {None, 5}


@pytest.mark.parametrize("kind", BOTH)
def test_a_stop_ends_the_candidates(kind):
    graph = graph_of(6)

    assert sources(BOTH[kind][0], graph, drawn(graph), stop=lambda: True) == ["majority", "ordered_greedy"]


def test_labels_alone_are_pooled_over_the_neighbours():
    graph = graph_of(7)
    labels = VertexPredictions(labels=np.arange(60) % 2, epsilon=0.2)

    assert "vote_rounding" in sources(independent_set_candidates, graph, labels)
    assert "vote_rounding" not in sources(independent_set_candidates, graph, labels, drawn(graph))


@pytest.mark.parametrize("kind", BOTH)
def test_the_same_advice_suggests_the_same(kind):
    graph = graph_of(8, is_weighted=True)
    advice = advice_on(graph, drawn(graph))

    first, second = ([one.members.tolist() for one in BOTH[kind][0](advice, graph.csr, graph.weights)] for _ in range(2))

    assert first == second


def test_degrees_make_up_for_weak_votes():
    # A hub belongs to the best cover; bits that are hardly better than coins put it out as often as in.
    rng = np.random.default_rng(1)
    edges = np.array([(v, int(rng.integers(0, max(1, min(v, 50))))) for v in range(1, 2000)], dtype=np.int32)
    graph = WeightedVertices(2000, edges, np.ones(2000, np.int64))
    advice = advice_on(graph, sample_edge_predictions(edges, np.arange(2000) < 50, 0.02, 1))

    suggested = {
        one.source: one.members.sum() for one in cover_candidates(advice, build_csr(2000, edges, np.ones(1999)), graph.weights)
    }

    assert suggested["ordered_greedy"] < suggested["majority"]
