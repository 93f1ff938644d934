"""Enumeration looks at every cut."""

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs import enumeration
from solvers.graphs.elimination import elimination_optimum
from solvers.graphs.enumeration import enumerate_max_cut
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, largest_cut, random_graph, signed_graphs, value_of


@pytest.mark.parametrize("cuts_per_call", [1, 5, 1 << 22])
@given(graph=signed_graphs(max_vertices=8))
def test_the_optimum_is_the_largest_cut_in_portions_of_any_size(cuts_per_call, graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "CUTS_PER_CALL", cuts_per_call)
        optimum = enumerate_max_cut(*graph)

    assert optimum.value == largest_cut(*graph) == value_of(graph, optimum.sides)


def test_graphs_of_25_vertices_are_enumerated():
    edges = grid(5, 5)
    weights = np.random.default_rng(1).integers(-9, 10, len(edges))

    assert enumerate_max_cut(25, edges, weights).value == elimination_optimum(25, edges, weights).value


def test_larger_graphs_are_refused():
    with pytest.raises(ValueError, match="26 vertices"):
        enumerate_max_cut(26, [[0, 1]], [1])


def test_enumeration_ends_when_told_to_stop():
    graph = SignedGraph(25, *random_graph(25, 100, np.random.default_rng(2)))
    asked = []

    assert enumerate_max_cut(*graph, stop=lambda: bool(asked.append(True)) or len(asked) > 1) is None
    assert len(asked) == 2


def test_weights_near_the_limit_are_added_exactly():
    assert enumerate_max_cut(3, [[0, 1], [1, 2], [2, 0]], [2**51 + 1, 2**51 + 3, 2**51 + 5]).value == 2**52 + 8
