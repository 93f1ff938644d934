"""Relaxations as advice, against linear programs by SciPy and cuts that are known."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers.graphs import independent_set, max_cut, set_cover, vertex_cover
from solvers.graphs.canonical import canonicalise
from solvers.graphs.formats import read_graph
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.relaxations import cover_relaxation, cut_relaxation, set_relaxation
from solvers.graphs.predictors.relaxed import LEAST_DOUBT, RelaxationModel
from solvers.graphs.predictors.subjects import subject_of
from solvers.graphs.set_system import SetSystem
from tests.solvers.graphs.prediction_vectors import DATA

SOLVERS = {"max-cut": max_cut, "vertex-cover": vertex_cover, "independent-set": independent_set}


@st.composite
def weighted_graphs(draw) -> Graph:
    graph = networkx.gnp_random_graph(draw(st.integers(2, 10)), draw(st.sampled_from([0.2, 0.5])), seed=draw(st.integers(0, 999)))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(graph), max_size=len(graph)))
    return Graph(len(graph), [list(edge) for edge in graph.edges], vertex_weights=weights)


@given(weighted_graphs())
def test_the_cover_relaxation_is_an_optimum_of_the_linear_program(graph):
    instance = canonicalise(graph, "vertex-cover")
    found = cover_relaxation(instance)
    rows = np.zeros((len(instance.edges), len(found)))
    np.put_along_axis(rows, instance.edges.astype(np.int64), 1.0, axis=1)
    assert set(found.tolist()) <= {0, 0.5, 1}
    assert (rows @ found >= 1).all()
    if len(rows):
        optimum = linprog(instance.vertex_weights, A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(0, 1)).fun
        assert instance.vertex_weights @ found == pytest.approx(optimum, abs=1e-9)


def test_a_vertex_with_a_loop_is_in_the_cover_and_leaves_its_neighbours_free():
    instance = canonicalise(Graph(3, [[0, 0], [0, 1], [1, 2], [0, 2]]), "vertex-cover")
    assert cover_relaxation(instance).tolist() == [1, 0.5, 0.5]


def test_an_independent_set_is_told_by_what_the_cover_leaves():
    star = canonicalise(Graph.from_objects(networkx.star_graph(4)))
    assert subject_of(star, "independent-set").relaxation.tolist() == [0, 1, 1, 1, 1]


@given(st.integers(2, 30), st.integers(0, 999))
def test_a_bipartite_graph_is_told_its_two_sides(n, seed):
    tree = networkx.random_labeled_tree(n, seed=seed)
    colours = networkx.bipartite.color(tree)
    found = cut_relaxation(canonicalise(Graph(n, [list(edge) for edge in tree.edges]))) > 0.5
    assert all(found[u] != found[v] for u, v in tree.edges)
    assert len({bool(found[v]) ^ bool(colours[v]) for v in tree}) == 1


def test_the_components_of_a_cut_are_told_one_by_one_and_lone_vertices_not_at_all():
    found = cut_relaxation(canonicalise(Graph(7, [[0, 1], [1, 2], [3, 4], [4, 5]], edge_weights=[1, 1, 100, 100])))
    assert found[:6] == pytest.approx([0, 1, 0, 0, 1, 0], abs=1e-3)
    assert np.isnan(found[6])


@pytest.mark.parametrize(("name", "random_hyperplane"), [("G1", 11344), ("G43", 6445)])
def test_the_first_coordinate_cuts_more_than_the_best_of_fifty_random_hyperplanes(name, random_hyperplane):
    instance = canonicalise(read_graph((DATA / "maxcut" / f"{name}.txt").read_bytes(), None))
    sides = cut_relaxation(instance) > 0.5
    cut = instance.edge_weights[sides[instance.edges[:, 0]] != sides[instance.edges[:, 1]]].sum()
    assert cut >= random_hyperplane


@st.composite
def systems(draw) -> SetSystem:
    m = draw(st.integers(1, 8))
    sets = draw(st.lists(st.lists(st.integers(0, m - 1), max_size=m, unique=True), min_size=1, max_size=8))
    costs = draw(st.lists(st.integers(0, 9), min_size=len(sets) + 1, max_size=len(sets) + 1))
    return SetSystem([*sets, list(range(m))], costs)


@given(systems())
def test_the_set_relaxation_is_an_optimum_of_the_linear_program(system):
    found = set_relaxation(system)
    rows = np.zeros((system.num_elements, system.num_sets))
    rows[system.elements, np.repeat(np.arange(system.num_sets), np.diff(system.set_ptr))] = 1
    optimum = linprog(system.costs, A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(0, None)).fun
    assert (rows @ found >= 1 - 1e-6).all()
    assert system.costs @ found == pytest.approx(optimum, abs=1e-6)


def test_what_was_stopped_tells_nothing():
    ring = canonicalise(Graph(3, [[0, 1], [1, 2], [2, 0]]))
    assert np.isnan(cut_relaxation(ring, stop=lambda: True)).all()
    assert cover_relaxation(ring, stop=lambda: True).tolist() == [0.5] * 3


@pytest.mark.parametrize("problem", SOLVERS)
def test_a_solve_is_as_good_with_it_as_without(problem):
    graph = networkx.gnp_random_graph(40, 0.15, seed=3)
    subject = subject_of(canonicalise(Graph.from_objects(graph)), problem)
    probabilities = RelaxationModel().forecast(subject).items
    advice = {"vertex_probabilities": [None if p != p else p for p in probabilities.tolist()]}
    found = SOLVERS[problem](graph, advice, method="local_search", max_iterations=300)
    without = found.value_without_predictions
    assert found.value <= without if problem == "vertex-cover" else found.value >= without


def test_a_cover_by_sets_follows_its_relaxation():
    # The relaxation is integral here, and greedy falls for the set of three.
    system = SetSystem([[0, 1, 2], [0, 1, 3], [2, 4, 5], [3, 4], [5]], costs=[2, 3, 3, 2, 2])
    probabilities = RelaxationModel().forecast(subject_of(system, "set-cover")).items
    assert probabilities.round(2).tolist() == [LEAST_DOUBT, 1 - LEAST_DOUBT, 1 - LEAST_DOUBT, LEAST_DOUBT, LEAST_DOUBT]
    assert set_cover(system, {"set_probabilities": probabilities.tolist()}, method="greedy", max_iterations=1).value <= 7
