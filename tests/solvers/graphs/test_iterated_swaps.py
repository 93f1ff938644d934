"""Iterated swaps find large independent sets, and their bookkeeping agrees with a count from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs import iterated_swaps
from solvers.graphs.cover_reductions import reduce_cover
from solvers.graphs.iterated_swaps import IteratedSwaps
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    dimacs_graph,
    heaviest_independent_set,
    is_independent,
    sparse_graph,
    weighed,
    weighted_vertices,
)


def search(graph, seed=0, members=None):
    start = np.zeros(graph.num_vertices, bool) if members is None else members
    return IteratedSwaps(graph.csr, start, weights=graph.weights, seed=seed)


def best_of(run, iterations):
    while iterations > 0:
        iterations -= run.advance(iterations)
    return run.best_value


@settings(max_examples=60)
@given(weighted_vertices(), st.integers(0, 100))
def test_small_graphs_are_solved(graph, seed):
    run = search(graph, seed)

    assert best_of(run, 200) == heaviest_independent_set(*graph)


@given(weighted_vertices(max_vertices=12), st.integers(1, 50))
def test_the_sets_are_independent_and_weigh_what_is_said(graph, iterations):
    run = search(graph)

    run.advance(iterations)

    for members, value in ((run.members, run.value), (run.best_members, run.best_value)):
        assert is_independent(graph.edges, members)
        assert graph.weights[members].sum() == value


@pytest.mark.parametrize("is_weighted", [False, True])
def test_ties_and_pressure_equal_a_count_from_scratch_after_many_iterations(is_weighted):
    graph = sparse_graph(300, 1500, seed=1)
    graph = weighed(graph, seed=2) if is_weighted else graph
    run = search(graph)
    best_of(run, 10_000)

    inside = run.members
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    ends = ends[inside[ends[:, 1]]]
    state = run._state
    assert (state.ties >> 32).tolist() == np.bincount(ends[:, 0], minlength=300).tolist()
    if is_weighted:
        assert state.pressure.tolist() == np.bincount(ends[:, 0], graph.weights[ends[:, 1]], minlength=300).tolist()
    loose = (state.ties >> 32) == 1
    partners = ends[loose[ends[:, 0]], 1]
    assert state.num_loose[inside].tolist() == np.bincount(partners, minlength=300)[inside].tolist()


# Targets and iterations enough for every seed.
TARGETS = {
    "C250.9": (44, 20_000),
    "brock200_2": (12, 60_000),
    "p_hat300-3": (36, 10_000),
    "san200_0.9_1": (70, 10_000),
    "gen200_p0.9_44": (44, 40_000),
    "sanr200_0.9": (42, 30_000),
    "rb30-1": (30, 150_000),
    "CA-GrQc": (2459, 20_000),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_best_known_set_is_found_from_every_seed(name):
    graph = dimacs_graph(name)
    target, iterations = TARGETS[name]

    values = []
    for seed in range(20 if name == "C250.9" else 4):
        run = search(graph, seed)
        spent = 0
        while spent < iterations and run.best_value < target:
            spent += run.advance(1000)
        values.append(run.best_value)

    assert set(values) == {target}


def test_a_weighted_collaboration_graph_is_nearly_solved():
    graph = weighed(dimacs_graph("CA-GrQc"), seed=1)
    optimum = reduce_cover(*graph).constant

    run = search(graph)

    assert 0.999 * optimum <= best_of(run, 50_000) <= optimum


def test_the_start_is_improved_and_never_lost():
    graph = dimacs_graph("C250.9")
    best = search(graph)
    best_of(best, 20_000)

    run = search(graph, seed=7, members=best.best_members)

    assert run.best_value == run.value == best.best_value
    assert best_of(run, 100) >= best.best_value


def test_the_same_seed_gives_the_same_run_however_it_is_divided():
    graph = dimacs_graph("rb30-1")

    whole, pieces = search(graph, seed=3), search(graph, seed=3)
    best_of(whole, 3000)
    for _ in range(30):
        best_of(pieces, 100)

    assert whole.best_value == pieces.best_value
    assert whole.members.tolist() == pieces.members.tolist()


def test_a_start_that_takes_more_work_than_one_call_is_improved_over_several(monkeypatch):
    graph = sparse_graph(2000, 8000, seed=1)
    whole, pieces = search(graph), search(graph)
    whole.advance(1)
    monkeypatch.setattr(iterated_swaps, "WORK_PER_CALL", 1000)

    assert pieces.advance(1) == 0
    while not pieces.advance(1):
        pass

    assert pieces.best_value == whole.best_value


def test_an_iteration_that_outgrows_the_journal_is_kept_whole(monkeypatch):
    monkeypatch.setattr(iterated_swaps, "JOURNAL_PER_VERTEX", 0)
    monkeypatch.setattr(iterated_swaps, "JOURNAL_SIZE", 3)
    graph = dimacs_graph("C250.9")

    run = search(graph)
    best_of(run, 5000)

    assert is_independent(graph.edges, run.members)
    assert run.members.sum() == run.value


def test_large_weights_are_added_exactly():
    graph = WeightedVertices(3, np.array([[0, 1], [1, 2]], np.int32), np.array([2**52, 2**53 - 3, 2**52 - 2]))

    run = search(graph)

    assert best_of(run, 20) == 2**53 - 2


@pytest.mark.parametrize("num_vertices", [0, 1, 3])
def test_without_edges_all_vertices_are_taken(num_vertices):
    run = search(WeightedVertices(num_vertices, np.zeros((0, 2), np.int32), np.ones(num_vertices, np.int64)))

    assert best_of(run, 5) == num_vertices
