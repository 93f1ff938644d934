"""Features of edges' ends, against NetworkX and a linear program."""

import json

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.features import FEATURES
from solvers.graphs.predictors.subjects import subject_of
from tests.solvers.graphs.prediction_vectors import DATA

SMALL = {case["id"]: case for case in json.loads((DATA / "small_graphs.json").read_text())}


def column(graph: networkx.Graph, name: str, problem: str = "independent-set") -> tuple[list, np.ndarray]:
    """Return a feature of the first end of every edge, both ways round, and those ends."""
    nodes = sorted(graph)
    subject = subject_of(canonicalise(Graph(len(nodes), [list(edge) for edge in graph.edges])), problem)
    rows = subject.features.rows(np.arange(len(subject.item_of)))
    both = np.hstack((subject.instance.edges, subject.instance.edges[:, ::-1])).reshape(-1, 2)
    return both.tolist(), rows[:, FEATURES[problem].index(name)]


graphs = st.builds(
    networkx.gnp_random_graph, st.integers(2, 14), st.sampled_from([0.2, 0.5, 0.9]), seed=st.integers(0, 1000)
).filter(lambda graph: graph.number_of_edges() > 0)


@given(graphs)
def test_degrees_are_those_of_the_two_ends(graph):
    both, own = column(graph, "log_degree")
    _, other = column(graph, "log_neighbour_degree")
    _, share = column(graph, "degree_share")
    degree = dict(graph.degree)
    assert own == pytest.approx([np.log(1 + degree[v]) for v, _ in both])
    assert other == pytest.approx([np.log(1 + degree[u]) for _, u in both])
    assert share == pytest.approx([degree[v] / (degree[v] + degree[u]) for v, u in both])


@given(graphs)
def test_mean_neighbour_degree_is_that_of_networkx(graph):
    both, found = column(graph, "mean_neighbour_degree")
    expected = networkx.average_neighbor_degree(graph)
    assert found == pytest.approx([expected[v] for v, _ in both])


@given(graphs)
def test_core_number_is_that_of_networkx(graph):
    both, found = column(graph, "core_number")
    expected = networkx.core_number(graph)
    assert found.tolist() == [expected[v] for v, _ in both]


@given(graphs)
def test_triangle_share_is_the_clustering_of_networkx(graph):
    both, found = column(graph, "triangle_share")
    expected = networkx.clustering(graph)
    assert found == pytest.approx([expected[v] for v, _ in both])


@pytest.mark.parametrize("name", SMALL)
def test_the_relaxation_s_values_add_up_to_its_optimum(name):
    case = SMALL[name]
    graph = networkx.Graph([edge for edge in map(tuple, case["edges"]) if edge[0] != edge[1]])
    graph.add_nodes_from(range(case["n"]))
    both, found = column(graph, "relaxation", "vertex-cover")
    values = {v: value for (v, _), value in zip(both, found.tolist(), strict=True)}
    assert set(values.values()) <= {0, 0.5, 1}
    assert sum(values.values()) == pytest.approx(case["bounds"]["vertex_cover_lp"])


def test_cuts_are_not_told_by_the_relaxation():
    assert "relaxation" not in FEATURES["max-cut"]


def test_a_stopped_measurement_is_finite():
    subject = subject_of(canonicalise(Graph(4, [[0, 1], [1, 2], [2, 0], [2, 3]])), "vertex-cover", stop=lambda: True)
    assert np.isfinite(subject.features.rows(np.arange(8))).all()
