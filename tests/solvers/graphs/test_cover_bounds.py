"""Lower bounds on covers lie below every cover, and their certificates prove them."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from solvers.graphs.clique_partition import clique_partition
from solvers.graphs.cover_bounds import (
    clique_cover_bound,
    local_ratio_bound,
    matching_cover_bound,
    no_cover_bound,
    on_independent_sets,
    relaxation_bound,
)
from solvers.graphs.csr import build_csr
from solvers.graphs.degeneracy import removal_order, smallest_last_colouring
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.hochbaum import coloured_cover
from solvers.graphs.induced import induced_subgraph
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.graphs.matching import largest_matching, matched_edges, maximal_matching
from solvers.graphs.verify import prove_cover, prove_independent_set
from tests.solvers.graphs.prediction_vectors import DATA
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    dimacs_graph,
    heaviest_independent_set,
    is_cover,
    random_edges,
    weighted_vertices,
)

SMALL = {case["id"]: case for case in json.loads((DATA / "small_graphs.json").read_text())}


def small(name):
    case = SMALL[name]
    return WeightedVertices(case["n"], np.array(case["edges"], np.int32).reshape(-1, 2), np.ones(case["n"], np.int64))


def lightest_cover(graph):
    return graph.weights.sum() - heaviest_independent_set(*graph)


BOUNDS = {
    "trivial": lambda graph: no_cover_bound(),
    "matching": lambda graph: matching_cover_bound(graph.csr, graph.weights),
    "local ratio": lambda graph: local_ratio_bound(local_ratio_cover(graph.csr, graph.weights)),
    "relaxation": lambda graph: relaxation_bound(half_integral_cover(graph.csr, graph.weights)),
    "cliques": lambda graph: clique_cover_bound(graph.csr, graph.weights)[0],
}


@pytest.mark.parametrize("name", BOUNDS)
@given(weighted_vertices())
def test_every_bound_lies_below_the_lightest_cover_and_is_proven(name, graph):
    bound = BOUNDS[name](graph)

    assert bound.value <= lightest_cover(graph)
    assert prove_cover(*graph, bound.certificate) == (bound.value, True, ())


@pytest.mark.parametrize("name", BOUNDS)
@given(weighted_vertices())
def test_every_bound_lies_above_the_heaviest_independent_set_and_is_proven(name, graph):
    bound = on_independent_sets(BOUNDS[name](graph), graph.weights)

    assert bound.value >= heaviest_independent_set(*graph)
    assert prove_independent_set(*graph, bound.certificate) == (bound.value, True, ())


@given(weighted_vertices())
def test_no_bound_by_packing_edges_exceeds_the_relaxation_s(graph):
    relaxation, local, matching = (BOUNDS[name](graph).value for name in ("relaxation", "local ratio", "matching"))

    assert max(local, matching) <= relaxation


@pytest.mark.parametrize("name", SMALL)
def test_the_largest_matching_is_the_reference_program_s(name):
    assert matching_cover_bound(small(name).csr, small(name).weights).value == SMALL[name]["bounds"]["max_matching"]


@pytest.mark.parametrize("seed", range(20))
def test_matchings_of_sparse_graphs_are_as_large_as_networkx_finds(seed):
    edges = random_edges(80, 90 + 2 * seed, np.random.default_rng(seed))
    csr = build_csr(80, edges, np.ones(len(edges)))

    mate = largest_matching(csr)

    assert len(matched_edges(csr, mate)) == len(nx.max_weight_matching(nx.Graph(edges.tolist()), maxcardinality=True))


def test_nested_odd_cycles_are_seen_through():
    # A triangle within a cycle of five within a cycle of seven, with a free vertex at each end.
    edges = [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4), (4, 5), (5, 3), (4, 6), (6, 7), (7, 5), (7, 8), (8, 9), (9, 10), (6, 11)]

    csr = build_csr(12, np.array(edges), np.ones(len(edges)))

    assert (largest_matching(csr) >= 0).sum() == 2 * len(nx.max_weight_matching(nx.Graph(edges), maxcardinality=True))


@given(weighted_vertices())
def test_mates_are_neighbours_and_mutual(graph):
    pairs = {frozenset(pair) for pair in graph.edges.tolist()}
    for mate in (maximal_matching(graph.csr), largest_matching(graph.csr)):
        for vertex in np.flatnonzero(mate >= 0).tolist():
            assert mate[mate[vertex]] == vertex
            assert frozenset((vertex, int(mate[vertex]))) in pairs


def test_a_stopped_matching_is_maximal():
    edges = random_edges(50, 100, np.random.default_rng(0))

    mate = largest_matching(build_csr(50, edges, np.ones(100)), stop=lambda: True)

    assert (mate[edges] >= 0).any(axis=1).all()


@given(weighted_vertices())
def test_local_ratio_covers_for_at_most_twice_what_it_packs(graph):
    cover = local_ratio_cover(graph.csr, graph.weights)

    assert is_cover(graph.edges, cover.members)
    assert graph.weights[cover.members].sum() <= 2 * cover.packing.sum()


@given(weighted_vertices())
def test_local_ratio_within_some_vertices_covers_the_edges_between_them(graph):
    within = np.arange(graph.num_vertices) % 3 > 0

    cover = local_ratio_cover(graph.csr, graph.weights, within)

    assert not cover.members[~within].any()
    assert is_cover(graph.edges[within[graph.edges].all(axis=1)], cover.members)


def test_local_ratio_of_unit_weights_takes_the_ends_of_the_matching_in_order():
    edges = random_edges(40, 80, np.random.default_rng(3))
    csr = build_csr(40, edges, np.ones(80))

    assert np.array_equal(local_ratio_cover(csr, np.ones(40, np.int64)).members, maximal_matching(csr) >= 0)


@given(weighted_vertices())
def test_a_coloured_cover_keeps_its_ratio(graph):
    cover = coloured_cover(graph.csr, graph.weights)

    assert is_cover(graph.edges, cover.members)
    assert graph.weights[cover.members].sum() <= cover.ratio * lightest_cover(graph) + 1e-9


def test_bipartite_graphs_are_covered_at_least_weight():
    edges = np.array([(u, v) for u, v in itertools.product(range(10), range(10, 22)) if (3 * u + v) % 4 == 0])
    graph = WeightedVertices(22, edges, np.random.default_rng(1).integers(1, 30, 22))

    cover = coloured_cover(graph.csr, graph.weights)

    assert cover.ratio == 1.0
    assert graph.weights[cover.members].sum() == cover.relaxation.lower_bound


def test_a_stopped_colouring_is_a_cover_of_no_known_ratio():
    edges = random_edges(50, 200, np.random.default_rng(0))

    cover = coloured_cover(build_csr(50, edges, np.ones(200)), np.ones(50, np.int64), stop=lambda: True)

    assert is_cover(edges, cover.members)
    assert cover.ratio is None


@given(weighted_vertices())
def test_cliques_share_out_the_vertices_and_are_cliques(graph):
    partition = clique_partition(graph.csr, graph.weights)

    assert sorted(itertools.chain.from_iterable(partition.cliques())) == list(range(graph.num_vertices))
    pairs = {frozenset(pair) for pair in graph.edges.tolist()}
    assert all(frozenset(pair) in pairs for clique in partition.cliques() for pair in itertools.combinations(clique, 2))


@given(weighted_vertices(max_vertices=11))
def test_cliques_bound_independent_sets_from_above(graph):
    partition = clique_partition(graph.csr, graph.weights)

    heaviest = sum(max(graph.weights[v] for v in clique) for clique in partition.cliques())
    assert partition.upper_bound == heaviest >= heaviest_independent_set(*graph)


@pytest.mark.parametrize(("name", "bound"), [("gen200_p0.9_44", 44), ("san200_0.9_1", 70), ("rb30-1", 30), ("rb40-2", 40)])
def test_hidden_cliques_are_found_in_a_shuffled_graph(name, bound):
    graph = dimacs_graph(name)
    names = np.random.default_rng(0).permutation(graph.num_vertices)
    csr = build_csr(graph.num_vertices, names[graph.edges], np.ones(len(graph.edges), np.int64))

    assert clique_partition(csr, graph.weights).upper_bound == bound


def test_gathering_again_ends_when_told_to_stop():
    graph = dimacs_graph("C250.9")

    at_once = clique_partition(graph.csr, graph.weights, stop=lambda: True)

    assert clique_partition(graph.csr, graph.weights).upper_bound < at_once.upper_bound


def test_cliques_prove_a_collaboration_graph_s_independent_set_optimal():
    lines = (DATA / "mis" / "CA-GrQc.mis").read_text().splitlines()
    edges = np.array([line.split()[1:] for line in lines if line.startswith("e")], dtype=np.int32) - 1

    assert clique_partition(build_csr(5242, edges, np.ones(len(edges))), np.ones(5242, np.int64)).upper_bound == 2459


@given(weighted_vertices())
def test_a_vertex_that_leaves_has_least_degree_among_what_is_left(graph):
    left = nx.Graph(graph.edges.tolist())
    left.add_nodes_from(range(graph.num_vertices))
    for vertex in removal_order(graph.csr).tolist():
        assert left.degree[vertex] == min(degree for _, degree in left.degree)
        left.remove_node(vertex)
    assert not left


@given(weighted_vertices())
def test_colours_differ_on_every_edge_and_are_no_more_than_the_core_number_and_one(graph):
    colours = smallest_last_colouring(graph.csr)

    assert (colours[graph.edges[:, 0]] != colours[graph.edges[:, 1]]).all()
    cores = nx.core_number(nx.Graph(graph.edges.tolist()))
    assert colours.max(initial=0) <= max(cores.values(), default=0)


@given(weighted_vertices())
def test_an_induced_subgraph_has_the_edges_between_its_vertices(graph):
    members = np.arange(graph.num_vertices) % 3 > 0

    csr, vertices = induced_subgraph(graph.csr, members)

    inner = graph.edges[members[graph.edges].all(axis=1)]
    position = np.cumsum(members) - 1
    expected = np.unique(np.sort(position[inner], axis=1), axis=0)
    rebuilt = build_csr(len(vertices), expected, np.ones(len(expected)))
    assert np.array_equal(vertices, np.flatnonzero(members))
    assert all(np.array_equal(a, b) for a, b in zip(csr, rebuilt, strict=True))
