"""The adjacency of a graph and the value of a cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr, cut_value
from tests.solvers.graphs.signed_graphs import signed_graphs


@given(signed_graphs())
def test_rows_hold_every_edge_from_both_ends_in_order_of_the_neighbour(graph):
    n, edges, weights = graph

    csr = build_csr(n, edges, weights)

    listed = [(u, v, w, e) for e, ((u, v), w) in enumerate(zip(edges.tolist(), weights.tolist(), strict=True))]
    rows = np.repeat(np.arange(n), np.diff(csr.indptr)).tolist()
    arcs = list(zip(rows, csr.indices.tolist(), csr.weights.tolist(), csr.edge_ids.tolist(), strict=True))
    assert arcs == sorted(listed + [(v, u, w, e) for u, v, w, e in listed])


@given(signed_graphs(), st.integers(0, 2**8 - 1))
def test_cut_value_counts_the_separated_edges(graph, code):
    n, edges, weights = graph
    sides = np.array([code >> v & 1 for v in range(n)], np.int8)

    expected = sum(w for (u, v), w in zip(edges.tolist(), weights.tolist(), strict=True) if sides[u] != sides[v])

    assert cut_value(edges, weights, sides) == expected


def test_weights_near_the_largest_sum_are_added_exactly():
    weights = np.array([2**52, 2**52 - 1])

    assert cut_value(np.array([[0, 1], [1, 2]]), weights, np.array([0, 1, 0], np.int8)) == 2**53 - 1
