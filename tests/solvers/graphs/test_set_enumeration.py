"""Heaviest independent sets of small graphs, against trying all subsets."""

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs.csr import build_csr
from solvers.graphs.set_enumeration import enumerate_independent_sets
from tests.solvers.graphs.weighted_vertices import heaviest_independent_set, is_independent, weighted_vertices


@given(weighted_vertices(max_vertices=11))
def test_the_heaviest_set_is_found(graph):
    found = enumerate_independent_sets(graph.csr, graph.weights)

    assert found.value == heaviest_independent_set(*graph) == graph.weights[found.members].sum()
    assert is_independent(graph.edges, found.members)


def test_twenty_five_vertices_in_a_ring_hold_twelve():
    ring = np.column_stack([np.arange(25), (np.arange(25) + 1) % 25])
    assert enumerate_independent_sets(build_csr(25, ring, np.ones(25, np.int64)), np.ones(25, np.int64)).value == 12


def test_more_vertices_are_refused():
    with pytest.raises(ValueError, match="at most 25"):
        enumerate_independent_sets(build_csr(26, np.zeros((0, 2)), np.zeros(0)), np.ones(26, np.int64))
