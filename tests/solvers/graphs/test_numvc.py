"""Edge weights lead to small covers, and their bookkeeping agrees with a count from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs import numvc
from solvers.graphs.numvc import NuMVC
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    dimacs_graph,
    heaviest_independent_set,
    is_cover,
    sparse_graph,
    weighted_vertices,
)

UNIT_GRAPHS = weighted_vertices(weights=st.just(1))


def search(graph, seed=0, members=None):
    return NuMVC(graph.csr, np.zeros(graph.num_vertices, bool) if members is None else members, seed=seed)


def advanced(run, steps):
    while steps > 0:
        steps -= run.advance(steps)
    return run


@settings(max_examples=60)
@given(UNIT_GRAPHS, st.integers(0, 100))
def test_small_graphs_are_solved(graph, seed):
    run = advanced(search(graph, seed), 400)

    assert graph.num_vertices - run.best_value == heaviest_independent_set(*graph)


@given(weighted_vertices(max_vertices=12, weights=st.just(1)), st.integers(0, 60))
def test_the_best_cover_covers_and_has_the_size_that_is_said(graph, steps):
    run = search(graph)

    run.advance(steps)

    assert is_cover(graph.edges, run.best_members)
    assert run.best_members.sum() == run.best_value


@pytest.mark.parametrize(("num_vertices", "num_edges", "steps"), [(60, 300, 10_000), (12_000, 30_000, 30_000)])
def test_scores_and_uncovered_edges_equal_a_count_from_scratch_after_many_steps(num_vertices, num_edges, steps):
    run = advanced(search(sparse_graph(num_vertices, num_edges, seed=1)), steps)

    state = run._state
    inside = state.is_in[state.ends]
    covered_by = inside.sum(axis=1)
    scores = np.zeros(num_vertices, np.int64)
    np.add.at(scores, state.ends[covered_by == 0].ravel(), np.repeat(state.weight[covered_by == 0], 2))
    alone = covered_by == 1
    np.subtract.at(scores, state.ends[alone][inside[alone]], state.weight[alone])
    assert state.score.tolist() == scores.tolist()
    assert sorted(state.uncovered[: state.numbers[numvc._UNCOVERED]]) == np.flatnonzero(covered_by == 0).tolist()
    assert sorted(state.members[: state.numbers[numvc._SIZE]]) == np.flatnonzero(state.is_in).tolist()
    assert state.weight.sum() == state.numbers[numvc._TOTAL_WEIGHT]


def test_weights_are_forgotten_before_they_grow_large():
    graph = sparse_graph(60, 300, seed=1)

    run = advanced(search(graph), 30_000)

    assert 300 < run._state.weight.sum() <= numvc.FORGETTING_MEAN * 60 * 300


# Sizes of the largest independent sets, and steps enough for every seed.
TARGETS = {
    "C250.9": (44, 100_000),
    "brock200_2": (12, 3_000_000),
    "p_hat300-3": (36, 50_000),
    "san200_0.9_1": (70, 50_000),
    "gen200_p0.9_44": (44, 50_000),
    "sanr200_0.9": (42, 100_000),
    "rb30-1": (30, 800_000),
    "CA-GrQc": (2459, 50_000),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_complement_of_the_best_known_set_is_found_from_every_seed(name):
    graph = dimacs_graph(name)
    target, steps = TARGETS[name]

    values = []
    for seed in range(3):
        run = search(graph, seed)
        spent = 0
        while spent < steps and run.best_value > graph.num_vertices - target:
            spent += run.advance(1000)
        values.append(graph.num_vertices - run.best_value)

    assert set(values) == {target}


@pytest.mark.long
def test_a_planted_set_of_forty_is_found_from_every_seed():
    graph = dimacs_graph("rb40-2")

    for seed in range(4):
        run = search(graph, seed)
        spent = 0
        while spent < 12_000_000 and run.best_value > 720:
            spent += run.advance(10_000)
        assert run.best_value == 720


def test_large_graphs_are_searched_by_random_comparisons():
    graph = sparse_graph(20_000, 60_000, seed=2)
    run = search(graph)
    start = run.best_value

    advanced(run, 20_000)

    assert run.best_value < start
    assert is_cover(graph.edges, run.best_members)


def test_the_start_is_never_lost():
    graph = dimacs_graph("C250.9")
    good = advanced(search(graph), 50_000)

    run = search(graph, seed=5, members=good.best_members)

    assert run.best_value == good.best_value
    assert advanced(run, 100).best_value <= good.best_value


def test_the_same_seed_gives_the_same_run_however_it_is_divided():
    graph = dimacs_graph("rb30-1")

    whole, pieces = search(graph, seed=3), search(graph, seed=3)
    advanced(whole, 3000)
    for _ in range(30):
        advanced(pieces, 100)

    assert whole.best_members.tolist() == pieces.best_members.tolist()


@pytest.mark.parametrize("num_vertices", [0, 1, 3])
def test_without_edges_the_cover_is_empty(num_vertices):
    graph = WeightedVertices(num_vertices, np.zeros((0, 2), np.int32), np.ones(num_vertices, np.int64))

    assert advanced(search(graph, members=np.ones(num_vertices, bool)), 10).best_value == 0
