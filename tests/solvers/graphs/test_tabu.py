"""Tabu search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.tabu import SHORTEST_TENURE, Tabu
from tests.solvers.graphs.signed_graphs import gset_csr, largest_cut, random_graph, signed_graphs


def moves_of(run, count):
    """Yield the vertices that each single move changed, with the value after it and the best before it."""
    for _ in range(count):
        before, best = run.sides, run.best_value
        run.advance(1)
        yield np.flatnonzero(run.sides != before), run.value, best


def test_a_moved_vertex_stays_put_for_its_tenure_unless_a_new_best_cut_is_reached():
    csr, _, _ = gset_csr("G11")
    run = Tabu(csr, np.zeros(800, np.int8), seed=1)

    last_moved = {}
    for step, (moved, value, best) in enumerate(moves_of(run, 3000)):
        assert len(moved) == 1
        vertex = int(moved[0])
        assert value > best or step - last_moved.get(vertex, -1000) > SHORTEST_TENURE
        last_moved[vertex] = step


def test_the_first_moves_take_the_steepest_ascent():
    csr, edges, weights = gset_csr("G14")
    run = Tabu(csr, np.zeros(800, np.int8), seed=1)

    for _ in range(20):
        before = run.sides
        gains = [cut_value(edges, weights, np.where(np.arange(800) == v, 1 - before, before)) - run.value for v in range(800)]
        value = run.value
        run.advance(1)
        assert run.value == value + max(gains)


def test_values_after_many_moves_equal_those_counted_from_scratch():
    edges, weights = random_graph(100, 300, np.random.default_rng(2))
    run = Tabu(build_csr(100, edges, weights), np.zeros(100, np.int8), seed=2)

    run.advance(20_000)

    assert run.moves_done == 20_000
    assert run.value == cut_value(edges, weights, run.sides)
    assert run.best_value == cut_value(edges, weights, run.best_sides)


def test_a_run_in_pieces_equals_a_run_at_once():
    csr, _, _ = gset_csr("G11")
    whole, pieces = (Tabu(csr, np.zeros(800, np.int8), seed=3) for _ in range(2))

    whole.advance(1000)
    for _ in range(100):
        pieces.advance(10)

    assert whole.best_sides.tolist() == pieces.best_sides.tolist()


def test_a_long_stagnation_ends_with_a_kick():
    edges, weights = random_graph(30, 60, np.random.default_rng(3))
    run = Tabu(build_csr(30, edges, weights), np.zeros(30, np.int8), seed=3)

    assert max(len(moved) for moved, _, _ in moves_of(run, 3000)) > 1


@given(signed_graphs(), st.integers(0, 3))
def test_the_best_cut_of_a_tiny_graph_is_found_and_never_worse_than_the_start(graph, seed):
    n, edges, weights = graph
    start = np.random.default_rng(seed).integers(0, 2, n).astype(np.int8)
    run = Tabu(build_csr(n, edges, weights), start, seed=seed)

    run.advance(3000)

    assert run.best_value == largest_cut(n, edges, weights)


@pytest.mark.parametrize("seed", range(10))
def test_small_graphs_are_cut_best(seed):
    edges, weights = random_graph(14, 40, np.random.default_rng(seed))
    run = Tabu(build_csr(14, edges, weights), np.zeros(14, np.int8), seed=seed)

    run.advance(20_000)

    assert run.best_value == largest_cut(14, edges, weights)
