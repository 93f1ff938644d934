"""Covers and independent sets are found and proven, and the proofs hold up."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import Graph, independent_set, vertex_cover
from tests.solvers.graphs.vertex_problem_cases import (
    LARGEST,
    METHODS,
    SMALL,
    SOLVERS,
    both,
    circulant,
    is_solution,
    mis,
    optimum,
    verified,
    weighted_graph,
)
from tests.solvers.graphs.weighted_vertices import random_edges


@both
@pytest.mark.parametrize("weighted", [False, True])
def test_known_optima_of_small_graphs_are_found_and_proven(problem, weighted):
    quantity = {"vertex-cover": "vertex_cover", "independent-set": "independent_set"}[problem]
    direction = {"vertex-cover": "min", "independent-set": "max"}[problem]
    for case in SMALL:
        weights = case["vertex_weights"] if weighted else None
        result = SOLVERS[problem](Graph(case["n"], np.array(case["edges"]).reshape(-1, 2), vertex_weights=weights))
        expected = case["optimum"][f"{direction}_{'weight_' if weighted else ''}{quantity}"]
        assert (result.value, result.bound, result.optimal) == (expected, expected, True), case["id"]


@both
@pytest.mark.parametrize("method", METHODS)
def test_certificates_of_small_graphs_prove_the_same_bound_again(problem, method):
    for case, weighted in itertools.product(SMALL, [False, True]):
        weights = case["vertex_weights"] if weighted else None
        graph = Graph(case["n"], np.array(case["edges"]).reshape(-1, 2), vertex_weights=weights)
        result = SOLVERS[problem](graph, method=method, max_iterations=200)
        again = verified(graph, problem, result)
        assert (again.feasible, again.value, again.faults) == (True, result.value, []), case["id"]
        assert (again.bound, again.bound_kind, again.bound_proved) == (result.bound, result.bound_kind, True), case["id"]


@both
@pytest.mark.parametrize("name", LARGEST)
def test_certificates_of_large_graphs_prove_the_same_bound_again(problem, name):
    graph = mis(name)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    again = verified(graph, problem, result)
    assert (again.value, again.bound, again.bound_proved) == (result.value, result.bound, True)


@pytest.mark.parametrize("name", LARGEST)
def test_best_known_independent_sets_are_found(name):
    options = {"method": "local_search", "max_iterations": 100_000, "target": LARGEST[name], "time_limit": 100}
    assert independent_set(mis(name), **options).value == LARGEST[name]


@pytest.mark.parametrize("name", LARGEST)
def test_best_known_covers_are_what_the_sets_leave(name):
    graph = mis(name)
    least = graph.num_vertices - LARGEST[name]
    result = vertex_cover(graph, method="local_search", max_iterations=100_000, target=least, time_limit=100)
    assert result.value == least
    assert is_solution(graph, "vertex-cover", result.solution)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("brock200_2", "search"),
        ("p_hat300-3", "search"),
        ("san200_0.9_1", "clique_partition"),
        ("gen200_p0.9_44", "clique_partition"),
    ],
)
def test_dense_graphs_are_proven_by_cliques_or_by_branch_and_bound(name, kind):
    result = independent_set(mis(name), max_iterations=100_000, time_limit=100)
    assert (result.value, result.bound, result.bound_kind) == (LARGEST[name], LARGEST[name], kind)


def test_a_search_is_proven_as_far_as_its_fallback():
    graph = mis("brock200_2")

    again = verified(graph, "independent-set", independent_set(graph, max_iterations=1000, time_limit=100))

    assert (again.bound_proved, again.faults) == (False, [])
    assert 12 < again.bound <= 28


def test_reductions_solve_the_collaboration_graph():
    result = independent_set(mis("CA-GrQc"))
    assert (result.value, result.bound, result.reduction.n, result.winner) == (2459, 2459, 0, "reductions")


def test_planted_set_is_proven_by_the_cliques():
    result = independent_set(mis("rb30-1"), method="local_search", max_iterations=100_000, time_limit=100)
    assert (result.value, result.bound, result.bound_kind) == (30, 30, "clique_partition")


@both
@pytest.mark.parametrize("seed", range(40))
def test_small_weighted_graphs_are_solved_to_proven_optimality(problem, seed):
    graph = weighted_graph(seed)

    result = SOLVERS[problem](graph)

    assert result.value == result.bound == optimum(graph, problem)
    assert is_solution(graph, problem, result.solution)


@both
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_every_method_brackets_the_optimum(problem, method, seed):
    graph = weighted_graph(seed)

    result = SOLVERS[problem](graph, method=method, max_iterations=20)

    above, below = (result.value, result.bound) if problem == "vertex-cover" else (result.bound, result.value)
    assert above >= optimum(graph, problem) >= below


@both
def test_real_weights_are_bracketed_and_recomputed(problem):
    rng = np.random.default_rng(3)
    graph = Graph(10, random_edges(10, 20, rng), vertex_weights=rng.random(10) * 1e-3)

    result = SOLVERS[problem](graph)

    assert result.value == pytest.approx(optimum(graph, problem), rel=1e-12)
    assert result.optimal
    again = verified(graph, problem, result)
    assert again.faults == []
    assert again.bound == pytest.approx(result.bound, rel=1e-12)


@both
def test_real_weights_without_a_reduction_are_proven_again(problem):
    graph = circulant(weights=1 + np.random.default_rng(0).random(61) * 1e-3)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    again = verified(graph, problem, result)
    assert (again.faults, again.bound_proved) == ([], True)
    assert again.bound == pytest.approx(result.bound, rel=1e-12)


def test_components_are_solved_apart_and_added():
    parts = [nx.complete_graph(7), nx.petersen_graph(), nx.cycle_graph(5), nx.path_graph(4), nx.empty_graph(3)]
    graph = nx.disjoint_union_all(parts)
    assert independent_set(graph).value == 1 + 4 + 2 + 2 + 3
    assert vertex_cover(graph).value == 6 + 6 + 3 + 2 + 0


def test_two_components_that_stay_open_are_bounded_as_a_sum():
    ring = circulant().edges
    graph = Graph(122, np.concatenate([ring, ring + 61]))

    result = independent_set(graph, method="greedy", max_iterations=1)

    assert result.bound_kind == "sum"
    assert verified(graph, "independent-set", result).bound == result.bound


def test_cover_and_set_add_up_to_all_vertices():
    graph = circulant()
    assert vertex_cover(graph, max_iterations=100).value + independent_set(graph, max_iterations=100).value == 61


def model_rb(num_variables: int, seed: int) -> Graph:
    """Values of variables, joined where they exclude each other; one value of each is planted as a solution.

    Xu, Boussemart, Hemery and Lecoutre, "Random constraint satisfaction: easy generation of hard (satisfiable) instances", Artificial
    Intelligence 171 (2007), with alpha 0.8, r 0.8 / ln(4/3), p 0.25.
    """
    rng = np.random.default_rng(seed)
    size = round(num_variables**0.8)
    planted = rng.integers(0, size, num_variables)
    edges = [size * i + np.array(list(itertools.combinations(range(size), 2))) for i in range(num_variables)]
    for _ in range(round(0.8 / np.log(4 / 3) * num_variables * np.log(num_variables))):
        i, j = np.sort(rng.choice(num_variables, 2, replace=False))
        excluded = rng.permutation(np.setdiff1d(np.arange(size**2), [size * planted[i] + planted[j]]))[: round(size**2 / 4)]
        edges.append(np.column_stack([size * i + excluded // size, size * j + excluded % size]))
    names = rng.permutation(num_variables * size)
    return Graph(num_variables * size, np.unique(np.sort(names[np.concatenate(edges)], axis=1), axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_planted_solutions_of_constraint_graphs_are_found_and_proven_by_cliques(seed):
    result = independent_set(model_rb(25, seed), max_iterations=1_000_000, time_limit=300)

    assert (result.value, result.bound, result.bound_kind) == (25, 25, "clique_partition")
