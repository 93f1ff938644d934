"""The adjacency of a graph and the value of a cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr, cut_value


@st.composite
def graphs(draw, max_vertices=8):
    n = draw(st.integers(0, max_vertices))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    weights = draw(st.lists(st.integers(-5, 5), min_size=len(edges), max_size=len(edges)))
    return n, np.array(edges, np.int32).reshape(-1, 2), np.array(weights, np.int64)


@given(graphs())
def test_rows_hold_every_edge_from_both_ends_in_order_of_the_neighbour(graph):
    n, edges, weights = graph

    csr = build_csr(n, edges, weights)

    arcs = sorted(
        [(u, v, w, e) for e, ((u, v), w) in enumerate(zip(edges.tolist(), weights.tolist(), strict=True))]
        + [(v, u, w, e) for e, ((u, v), w) in enumerate(zip(edges.tolist(), weights.tolist(), strict=True))]
    )
    rows = np.repeat(np.arange(n), np.diff(csr.indptr)).tolist()
    assert list(zip(rows, csr.indices.tolist(), csr.weights.tolist(), csr.edge_ids.tolist(), strict=True)) == arcs


@given(graphs(), st.integers(0, 2**8 - 1))
def test_cut_value_counts_the_separated_edges(graph, code):
    n, edges, weights = graph
    sides = np.array([code >> v & 1 for v in range(n)], np.int8)

    expected = sum(w for (u, v), w in zip(edges.tolist(), weights.tolist(), strict=True) if sides[u] != sides[v])

    assert cut_value(edges, weights, sides) == expected
