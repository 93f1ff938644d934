"""Elimination finds largest cuts of narrow graphs and declines others before it has spent anything."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import cut_value
from solvers.graphs.elimination import elimination_optimum, plan_elimination
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, gset_graph, largest_cut, random_graph, signed_graphs, value_of


def toroidal_grid(rows, columns):
    places = np.arange(rows * columns).reshape(rows, columns)
    return np.concatenate([np.stack([places.ravel(), np.roll(places, -1, axis).ravel()], axis=1) for axis in (0, 1)])


@given(signed_graphs(max_vertices=10))
def test_the_optimum_is_the_largest_cut_and_the_sides_reach_it(graph):
    optimum = elimination_optimum(*graph)

    assert optimum.value == largest_cut(*graph) == value_of(graph, optimum.sides)


@given(signed_graphs(max_vertices=10))
def test_scopes_are_the_later_neighbours_when_all_before_are_eliminated(graph):
    plan = plan_elimination(graph.num_vertices, graph.edges)

    order = plan.order.tolist()
    neighbours = {v: set() for v in order}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    for place, v in enumerate(order):
        scope = plan.scopes[plan.scope_start[place] : plan.scope_start[place + 1]].tolist()
        assert scope == sorted((order.index(u) for u in neighbours[v]), reverse=True)
        for u in neighbours[v]:
            neighbours[u] |= neighbours[v]
            neighbours[u] -= {u, v}
    assert sorted(order) == list(range(graph.num_vertices))
    assert plan.width == np.diff(plan.scope_start).max(initial=0)


@given(signed_graphs(max_vertices=9), st.integers(0, 8))
def test_a_graph_is_declined_only_if_both_orders_are_too_wide(graph, max_width):
    unlimited = plan_elimination(graph.num_vertices, graph.edges)

    limited = plan_elimination(graph.num_vertices, graph.edges, max_width=max_width)

    assert limited is None or limited.width <= max_width
    assert limited is not None or unlimited.width > max_width


def test_the_order_that_suits_a_toroidal_grid_is_found():
    graph = gset_graph("G11")

    assert plan_elimination(graph.num_vertices, graph.edges).width == 16


def test_tables_take_no_more_memory_than_was_planned():
    graph = gset_graph("G11")
    plan = plan_elimination(graph.num_vertices, graph.edges)
    elimination_optimum(*graph)

    tracemalloc.start()
    elimination_optimum(*graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # The adjacency, the plan and Python's objects are not counted in it.
    assert peak < plan.peak_bytes + 2**20


def test_toroidal_grids_are_solved_as_by_enumeration_of_their_rows():
    # Every third row of spins of a torus of three columns has one of eight states: a transfer matrix is another way to the optimum.
    rng = np.random.default_rng(4)
    rows = 40
    edges = toroidal_grid(rows, 3)
    weights = rng.choice([-1, 1], len(edges))
    down, right = weights[: 3 * rows].reshape(rows, 3), weights[3 * rows :].reshape(rows, 3)
    states = np.array([[code >> column & 1 for column in range(3)] for code in range(8)])
    within = np.array([((states != np.roll(states, -1, 1)) * right[row]).sum(axis=1) for row in range(rows)])
    between = np.array([((states[:, None] != states[None]) * down[row]).sum(axis=2) for row in range(rows)])
    best = np.where(np.eye(8), 0, -(10**6))
    for row in range(rows):
        best = (best[:, :, None] + within[row][None, :, None] + between[row][None]).max(axis=1)

    assert elimination_optimum(3 * rows, edges, weights).value == np.diag(best).max()


def test_a_wide_table_is_filled_right():
    graph = SignedGraph(16, *random_graph(16, 90, np.random.default_rng(5)))

    assert plan_elimination(16, graph.edges).width > 7
    assert elimination_optimum(*graph).value == largest_cut(*graph)


def test_a_graph_of_large_width_is_declined():
    graph = SignedGraph(60, *random_graph(60, 600, np.random.default_rng(6)))

    assert elimination_optimum(*graph) is None


def test_a_graph_with_more_edges_than_any_narrow_graph_has_is_declined():
    graph = SignedGraph(30, *random_graph(30, 300, np.random.default_rng(6)))

    assert plan_elimination(30, graph.edges, max_width=9) is None


@pytest.mark.parametrize("limit", [{"max_bytes": 100}, {"max_table_entries": 100}])
def test_tables_beyond_a_limit_are_never_made(limit):
    edges = grid(20, 4)

    assert elimination_optimum(80, edges, np.ones(len(edges)), **limit) is None


def test_tables_end_when_told_to_stop():
    asked = []

    def stop():
        asked.append(True)
        return len(asked) > 20

    assert elimination_optimum(80, grid(20, 4), np.ones(len(grid(20, 4))), stop=stop) is None
    assert len(asked) == 21


def test_weights_near_the_limit_are_added_exactly():
    weights = np.array([2**51 + 1, 2**51 + 3, 2**51 + 5, -(2**50) - 1])
    graph = SignedGraph(4, np.array([[0, 1], [1, 2], [2, 0], [2, 3]]), weights)

    assert elimination_optimum(*graph).value == 2**52 + 8


def test_g11_has_a_largest_cut_of_564():
    graph = gset_graph("G11")

    optimum = elimination_optimum(*graph)

    assert optimum.value == 564 == cut_value(graph.edges, graph.weights, optimum.sides)
    assert sorted(optimum.order) == list(range(800))
