"""Tables along an order of elimination give the heaviest independent set."""

import numpy as np
import pytest
from hypothesis import given, settings

from solvers.graphs.independent_elimination import eliminate_independent_set
from solvers.graphs.verify import prove_independent_set
from tests.solvers.graphs.signed_graphs import grid
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    heaviest_independent_set,
    is_independent,
    sparse_graph,
    weighed,
    weighted_vertices,
)


@settings(max_examples=100)
@given(weighted_vertices(max_vertices=11))
def test_the_heaviest_set_is_found(graph):
    optimum = eliminate_independent_set(*graph)

    assert optimum.value == heaviest_independent_set(*graph) == graph.weights[optimum.members].sum()
    assert is_independent(graph.edges, optimum.members)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_proves_the_optimum(seed):
    graph = weighed(WeightedVertices(96, grid(8, 12), np.ones(96, np.int64)), seed)

    optimum = eliminate_independent_set(*graph)
    proof = prove_independent_set(*graph, {"kind": "elimination", "order": optimum.order})

    assert proof.bound == optimum.value == graph.weights[optimum.members].sum()


def test_wide_graphs_and_large_tables_are_declined():
    graph = WeightedVertices(96, grid(8, 12), np.ones(96, np.int64))

    assert eliminate_independent_set(*graph, max_width=5) is None
    assert eliminate_independent_set(*graph, max_table_entries=1000) is None
    assert eliminate_independent_set(*graph, max_bytes=1000) is None
    assert eliminate_independent_set(*sparse_graph(300, 6000, seed=1)) is None


def test_an_elimination_that_is_stopped_is_none():
    graph = WeightedVertices(96, grid(8, 12), np.ones(96, np.int64))

    assert eliminate_independent_set(*graph, stop=lambda: True) is None


def test_large_weights_are_added_exactly():
    optimum = eliminate_independent_set(3, [[0, 1], [1, 2]], [2**58 + 1, 2**59 + 1, 2**58 + 3])

    assert optimum.value == 2**59 + 4
