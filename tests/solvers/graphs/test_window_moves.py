"""Window moves never lose, are exact when nothing is fixed, and undo what single flips cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.window_moves import WindowMover
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, gset_graph, largest_cut, random_graph, signed_graphs, value_of

CODES = st.integers(0, 2**10 - 1)


def sides_of(graph, code):
    return np.array([code >> v & 1 for v in range(graph.num_vertices)], np.int8)


@given(signed_graphs(max_vertices=10), CODES, st.integers(0, 4), st.integers(1, 10), st.integers(0, 2**62))
def test_a_move_gains_what_it_says_and_never_loses(graph, code, max_width, window, seed):
    sides = sides_of(graph, code)
    mover = WindowMover(build_csr(*graph), seed=seed, max_width=max_width, window=window)

    moved, gain = mover.move(sides)

    assert gain == value_of(graph, moved) - value_of(graph, sides)
    assert gain >= 0


@given(signed_graphs(max_vertices=10), CODES, st.integers(0, 2**62))
def test_a_move_with_nothing_fixed_finds_the_largest_cut(graph, code, seed):
    mover = WindowMover(build_csr(*graph), seed=seed)

    moved, _ = mover.move(sides_of(graph, code))

    assert value_of(graph, moved) == largest_cut(*graph)


def test_a_scope_of_more_vertices_than_a_word_has_choices_is_placed_right():
    graph = SignedGraph(12, *random_graph(12, 66, np.random.default_rng(3)))

    moved, _ = WindowMover(build_csr(*graph), seed=1, max_width=11).move(np.zeros(12, np.int8))

    assert value_of(graph, moved) == largest_cut(*graph)


def test_a_move_leaves_the_cut_it_was_given_alone():
    graph = SignedGraph(30, *random_graph(30, 60, np.random.default_rng(1)))
    sides = np.zeros(30, np.int8)

    WindowMover(build_csr(*graph), seed=1).move(sides)

    assert not sides.any()


def test_what_lies_outside_the_window_stays():
    edges = grid(40, 40)
    mover = WindowMover(build_csr(1600, edges, np.ones(len(edges))), seed=1, window=100)

    moved, gain = mover.move(np.zeros(1600, np.int8))

    assert 0 < moved.sum() <= 100
    assert gain > 100


def test_moves_of_one_seed_repeat_and_those_of_another_differ():
    graph = gset_graph("G11")
    csr = build_csr(*graph)

    first, again, other = (WindowMover(csr, seed=seed).move(np.zeros(800, np.int8))[0].tolist() for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_equal_cuts_are_chosen_at_random():
    # Either side of a vertex without edges is as good as the other.
    csr = build_csr(64, np.empty((0, 2)), [])

    moved, _ = WindowMover(csr, seed=1).move(np.zeros(64, np.int8))

    assert 8 < moved.sum() < 56


def test_moves_stay_exact_over_thousands_of_vertices_and_a_hundred_moves():
    rng = np.random.default_rng(9)
    edges = grid(70, 70)
    weights = rng.integers(-(10**12), 10**12, len(edges))
    sides = rng.integers(0, 2, 4900).astype(np.int8)
    start = cut_value(edges, weights, sides)
    mover = WindowMover(build_csr(4900, edges, weights), seed=2, max_width=6)

    total = 0
    for _ in range(100):
        sides, gain = mover.move(sides)
        total += gain

    assert cut_value(edges, weights, sides) == start + total


@pytest.mark.parametrize("seed", range(3))
def test_moves_take_g11_from_a_random_cut_to_its_optimum(seed):
    graph = gset_graph("G11")
    sides = np.random.default_rng(seed).integers(0, 2, 800).astype(np.int8)
    value = cut_value(graph.edges, graph.weights, sides)
    mover = WindowMover(build_csr(*graph), seed=seed)

    for _ in range(3000):
        sides, gain = mover.move(sides)
        value += gain
        if value == 564:
            break

    assert cut_value(graph.edges, graph.weights, sides) == 564


def test_a_graph_without_vertices_has_nothing_to_move():
    moved, gain = WindowMover(build_csr(*SignedGraph(0, np.empty((0, 2)), [])), seed=1).move(np.zeros(0, np.int8))

    assert (len(moved), gain) == (0, 0)
