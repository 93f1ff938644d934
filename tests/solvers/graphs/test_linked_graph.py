"""A graph that changes: what is in it is what was added and not taken out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.linked_graph import ABSENT, add_weight, build_linked_graph, take_out

CHANGES = st.lists(st.tuples(st.sampled_from(["add", "take out"]), st.integers(0, 6), st.integers(0, 6), st.integers(-2, 2)))


def contents(graph):
    """Return the edges as the lists of the vertices have them, from both ends."""
    arcs = {}
    for v in range(len(graph.degree)):
        half = graph.first[v]
        while half != ABSENT:
            arcs[v, int(graph.target[half])] = int(graph.weight[half >> 1])
            half = graph.after[half]
    return arcs


@given(CHANGES)
def test_any_sequence_of_changes_leaves_what_a_dictionary_would_hold(changes):
    graph = build_linked_graph(7, [], [], spare_edges=21)
    expected = {}
    for change, u, v, weight in changes:
        if change == "add" and u != v:
            add_weight(graph, u, v, weight)
            for arc in ((u, v), (v, u)):
                expected[arc] = expected.get(arc, 0) + weight
                if not expected[arc]:
                    del expected[arc]
        elif change == "take out":
            take_out(graph, u, np.empty(7, np.int32), np.empty(7, np.int64))
            expected = {arc: kept for arc, kept in expected.items() if u not in arc}

    assert contents(graph) == expected
    assert graph.degree.tolist() == [sum(arc[0] == v for arc in expected) for v in range(7)]


def test_a_vertex_that_is_taken_out_names_its_neighbours_in_order_with_their_weights():
    graph = build_linked_graph(5, [[2, 4], [2, 0], [1, 3], [3, 2]], [7, 5, 1, -6])
    neighbours, weights = np.empty(3, np.int32), np.empty(3, np.int64)

    count = take_out(graph, 2, neighbours, weights)

    assert (count, neighbours.tolist(), weights.tolist()) == (3, [0, 3, 4], [5, -6, 7])


def test_slots_of_edges_that_left_are_used_again():
    graph = build_linked_graph(4, [[0, 1], [2, 3]], [1, 1])

    for _ in range(100):
        add_weight(graph, 0, 1, -1)
        add_weight(graph, 0, 2, 1)
        add_weight(graph, 0, 2, -1)
        add_weight(graph, 0, 1, 1)

    assert contents(graph) == {(0, 1): 1, (1, 0): 1, (2, 3): 1, (3, 2): 1}
