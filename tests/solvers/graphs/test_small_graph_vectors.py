"""The quantities of the small graphs that an independent reference program computed, reached from the public side."""

from __future__ import annotations

import json
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import Graph, independent_set, max_cut, vertex_cover
from solvers.graphs.bounds import BoundsRequest, run_bounds
from solvers.graphs.min_degree_greedy import caro_wei
from solvers.operation import Context
from tests.solvers.graphs.prediction_vectors import DATA
from tests.solvers.graphs.weighted_vertices import WeightedVertices

SMALL: dict[str, dict[str, Any]] = {case["id"]: case for case in json.loads((DATA / "small_graphs.json").read_text())}

small = pytest.mark.parametrize("name", SMALL)


def graph_of(name: str, *, weighted: bool = False) -> Graph:
    case = SMALL[name]
    edges = np.array(case["edges"], dtype=np.int64).reshape(-1, 2)
    return Graph(case["n"], edges, case["edge_weights"], case["vertex_weights"] if weighted else None)


@small
def test_the_largest_cut_is_found_and_proven(name: str) -> None:
    result = max_cut(graph_of(name), max_iterations=50)
    assert (result.value, result.bound, result.optimal) == (*[SMALL[name]["optimum"]["max_cut"]] * 2, True)


@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case["optimum"]["num_max_cuts"] == 1])
def test_the_only_largest_cut_is_found_from_any_seed(name: str) -> None:
    first, *others = (max_cut(graph_of(name), max_iterations=50, seed=seed, method="local_search").solution for seed in range(3))
    assert others == [first, first]


@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case["optimum"]["num_max_independent_sets"] == 1])
def test_the_only_largest_independent_set_and_its_complement_are_found(name: str) -> None:
    members = independent_set(graph_of(name), max_iterations=50).solution
    cover = vertex_cover(graph_of(name), max_iterations=50).solution
    assert sorted([*members, *cover]) == list(range(SMALL[name]["n"]))


@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case["bounds"]["bipartite"]])
def test_all_that_is_positive_is_cut_of_a_bipartite_graph_and_koenig_s_cover_is_a_matching(name: str) -> None:
    graph = graph_of(name)
    if min(SMALL[name]["edge_weights"], default=0) >= 0:
        assert max_cut(graph).value == sum(SMALL[name]["edge_weights"])
    assert vertex_cover(graph).value == SMALL[name]["bounds"]["max_matching"]


@small
def test_every_independent_set_holds_what_caro_and_wei_promise(name: str) -> None:
    case, graph = SMALL[name], graph_of(name)
    unit = WeightedVertices(graph.num_vertices, graph.edges, np.ones(graph.num_vertices, np.int64))

    assert caro_wei(unit.csr, unit.weights) == pytest.approx(case["bounds"]["caro_wei"], abs=1e-9)
    assert independent_set(graph, method="greedy", max_iterations=1).value >= case["bounds"]["caro_wei"] - 1e-9


@small
@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_packings_of_edges_bound_a_cover_by_the_relaxation_rounded_up(name: str, weighted: bool) -> None:
    graph, case = graph_of(name, weighted=weighted), SMALL[name]
    relaxed = case["bounds"]["weighted_vertex_cover_lp" if weighted else "vertex_cover_lp"]
    weights = None if graph.vertex_weights is None else graph.vertex_weights.tolist()
    body = {"num_vertices": graph.num_vertices, "edges": graph.edges.tolist(), "vertex_weights": weights}

    found = run_bounds(BoundsRequest(problem="vertex-cover", kinds=["edge_packing"], **body), Context(seed=0))

    assert found.bound == np.ceil(relaxed - 1e-9)


@small
@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_edges_covered_by_stars_have_the_relaxation_of_the_vertex_cover(name: str, weighted: bool) -> None:
    case, graph = SMALL[name], graph_of(name)
    stars = [np.flatnonzero((graph.edges == vertex).any(axis=1)).tolist() for vertex in range(graph.num_vertices)]
    # The relaxation is half a whole number: at twice the costs it is whole, and no bound need be rounded up.
    costs = [2 * weight for weight in case["vertex_weights"]] if weighted else [2] * graph.num_vertices
    body = {"sets": stars, "costs": costs, "num_elements": len(graph.edges), "kinds": ["lagrangian"]}

    found = run_bounds(BoundsRequest(problem="set-cover", **body), Context(seed=0))

    assert found.bound == 2 * case["bounds"]["weighted_vertex_cover_lp" if weighted else "vertex_cover_lp"]


@small
def test_matchings_are_as_large_as_they_can_be(name: str) -> None:
    graph = graph_of(name)
    body = {"num_vertices": graph.num_vertices, "edges": graph.edges.tolist()}

    found = run_bounds(BoundsRequest(problem="vertex-cover", kinds=["matching"], **body), Context(seed=0))

    assert found.bound == SMALL[name]["bounds"]["max_matching"]


@small
def test_the_relaxation_s_bound_is_proven_to_1e_4_and_rounded_down(name: str) -> None:
    graph, relaxed = graph_of(name), SMALL[name]["bounds"]["maxcut_sdp"]
    body = {"num_vertices": graph.num_vertices, "edges": graph.edges.tolist(), "edge_weights": SMALL[name]["edge_weights"]}

    found = run_bounds(BoundsRequest(problem="max-cut", kinds=["sdp_dual"], **body), Context(seed=0))

    assert SMALL[name]["optimum"]["max_cut"] <= found.bound <= np.floor(relaxed + 1e-3 * max(1, abs(relaxed)))


@pytest.mark.parametrize(
    ("graph", "cut", "independent", "relaxed_cut"),
    [
        (nx.cycle_graph(5), 4, 2, 5 * (1 + math.cos(math.pi / 5)) / 2),
        (nx.cycle_graph(7), 6, 3, 7 * (1 + math.cos(math.pi / 7)) / 2),
        (nx.complete_graph(6), 9, 1, 6**2 / 4),
        (nx.complete_graph(7), 12, 1, 7**2 / 4),
        (nx.petersen_graph(), 12, 4, 12.5),
        (nx.star_graph(9), 9, 9, 9),
        (nx.hypercube_graph(3), 12, 4, 12),
    ],
    ids=["C5", "C7", "K6", "K7", "petersen", "star", "cube"],
)
def test_graphs_whose_values_are_known_in_closed_form(graph: nx.Graph, cut: int, independent: int, relaxed_cut: float) -> None:
    listed = Graph.from_objects(graph)
    # Bounds of weights that are no integers are not rounded down.
    body = {"edges": listed.edges.tolist(), "edge_weights": [1.5] * len(listed.edges), "kinds": ["sdp_dual"]}

    relaxed = run_bounds(BoundsRequest(problem="max-cut", **body), Context(seed=0)).bound

    assert (max_cut(graph).value, independent_set(graph).value) == (cut, independent)
    assert vertex_cover(graph).value == len(graph) - independent
    assert 1.5 * relaxed_cut * (1 - 1e-9) <= relaxed <= 1.5 * relaxed_cut * (1 + 1e-4)
