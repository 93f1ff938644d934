"""The linear relaxation of vertex cover: its optimum, its dual and what it decides."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from solvers.graphs.csr import build_csr
from solvers.graphs.half_integral import SCALE, half_integral_cover
from tests.solvers.graphs.prediction_vectors import DATA
from tests.solvers.graphs.weighted_vertices import WeightedVertices, independent_sets, random_edges, weighted_vertices

SMALL = {case["id"]: case for case in json.loads((DATA / "small_graphs.json").read_text())}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kind", ["vertex_cover_lp", "weighted_vertex_cover_lp"])
def test_the_relaxation_is_the_reference_program_s(name, kind):
    case = SMALL[name]
    weights = case["vertex_weights"] if kind.startswith("weighted") else [1] * case["n"]
    graph = WeightedVertices(case["n"], np.array(case["edges"]).reshape(-1, 2), np.array(weights))

    assert half_integral_cover(graph.csr, graph.weights).doubled_bound / 2 == pytest.approx(case["bounds"][kind])


@given(weighted_vertices())
def test_the_solution_is_feasible_and_worth_what_its_dual_is(graph):
    solution = half_integral_cover(graph.csr, graph.weights)

    assert (solution.doubled[graph.edges].sum(axis=1) >= 2).all()
    assert solution.doubled @ graph.weights == solution.packing.sum() == solution.doubled_bound


@given(weighted_vertices())
def test_the_packing_never_exceeds_a_vertex(graph):
    packing = half_integral_cover(graph.csr, graph.weights).packing

    load = np.bincount(graph.edges.ravel(), np.repeat(packing, 2), graph.num_vertices)
    assert (packing >= 0).all()
    assert (load <= SCALE * graph.weights).all()


@given(weighted_vertices(max_vertices=8))
def test_some_optimal_cover_agrees_with_all_that_is_decided(graph):
    solution = half_integral_cover(graph.csr, graph.weights)

    sets = [(np.array(members, bool), weight) for members, weight in independent_sets(*graph)]
    best = max(weight for _, weight in sets)
    optimal = [members for members, weight in sets if weight == best]
    assert any(members[solution.is_out].all() and not members[solution.is_in].any() for members in optimal)


@given(weighted_vertices(max_vertices=8))
def test_the_kernel_weighs_at_most_twice_its_cover(graph):
    undecided = half_integral_cover(graph.csr, graph.weights).is_undecided

    kernel = int(graph.weights[undecided].sum())
    heaviest = max(w for members, w in independent_sets(*graph) if undecided[np.flatnonzero(members)].all())
    assert kernel <= 2 * (kernel - heaviest)


@given(weighted_vertices())
def test_the_crown_flow_pays_for_every_vertex_that_is_in(graph):
    solution = half_integral_cover(graph.csr, graph.weights)
    receivers, givers, amounts = solution.crown_flow().T

    pairs = {frozenset(pair) for pair in graph.edges.tolist()}
    assert all(frozenset(pair) in pairs for pair in zip(receivers.tolist(), givers.tolist(), strict=True))
    received = np.bincount(receivers, amounts, graph.num_vertices)
    assert np.array_equal(received, np.where(solution.is_in, graph.weights, 0))
    assert solution.is_out[givers].all()
    assert (np.bincount(givers, amounts, graph.num_vertices) <= graph.weights).all()


def test_a_graph_of_hundreds_of_vertices_agrees_with_a_linear_program():
    rng = np.random.default_rng(4)
    edges = random_edges(300, 500, rng)
    weights = rng.integers(1, 1000, 300)
    rows = np.zeros((len(edges), 300))
    rows[np.arange(len(edges)), edges[:, 0]] = rows[np.arange(len(edges)), edges[:, 1]] = -1

    solution = half_integral_cover(build_csr(300, edges, np.ones(len(edges))), weights)

    assert solution.doubled_bound / 2 == pytest.approx(linprog(weights, A_ub=rows, b_ub=-np.ones(len(edges))).fun)


def test_weights_near_two_to_the_sixty_are_exact():
    solution = half_integral_cover(build_csr(3, [[0, 1], [1, 2]], [1, 1]), np.array([2**59 + 1, 2**60 + 1, 2**59 - 1]))

    assert solution.doubled_bound == 2**61
    assert solution.doubled.tolist() == [2, 0, 2]


def test_a_complete_graph_is_undecided():
    edges = np.array(list(itertools.combinations(range(5), 2)))

    solution = half_integral_cover(build_csr(5, edges, np.ones(10)), np.ones(5, np.int64))

    assert solution.is_undecided.all()
    assert solution.lower_bound == 3


def test_a_stopped_solver_still_has_a_bound_and_decides_nothing():
    edges = random_edges(50, 300, np.random.default_rng(0))

    solution = half_integral_cover(build_csr(50, edges, np.ones(300)), np.ones(50, np.int64), stop=lambda: True)

    assert not solution.is_optimal
    assert solution.is_undecided.all()
    assert 0 < solution.lower_bound <= 25
    assert solution.packing.sum() == solution.doubled_bound
