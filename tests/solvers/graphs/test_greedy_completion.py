"""Completing a cut that is decided in part."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.greedy_completion import complete_greedily


def completed_plainly(num_vertices, edges, weights, sides):
    """Decide the vertex that is the most ahead, again and again, counting everything anew each time."""
    sides = list(sides)
    while -1 in sides:
        leads = []
        for vertex in range(num_vertices):
            lead = 0
            for (u, v), weight in zip(edges, weights, strict=True):
                if vertex in (u, v) and sides[u + v - vertex] >= 0:
                    lead += weight if sides[u + v - vertex] == 0 else -weight
            leads.append(lead)
        chosen = max((v for v in range(num_vertices) if sides[v] < 0), key=lambda v: (abs(leads[v]), -v))
        sides[chosen] = int(leads[chosen] > 0)
    return sides


@st.composite
def partial_cuts(draw, least_weight=-9):
    num_vertices = draw(st.integers(1, 9))
    pairs = [(u, v) for u in range(num_vertices) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    weights = draw(st.lists(st.integers(least_weight, 9), min_size=len(edges), max_size=len(edges)))
    sides = draw(st.lists(st.integers(-1, 1), min_size=num_vertices, max_size=num_vertices))
    return num_vertices, edges, weights, sides


def _completed(num_vertices, edges, weights, sides):
    return complete_greedily(build_csr(num_vertices, edges, weights), np.array(sides, dtype=np.int8))


@given(partial_cuts())
def test_vertices_are_decided_in_the_order_of_their_leads(case):
    assert _completed(*case).tolist() == completed_plainly(*case)


@given(partial_cuts())
def test_decided_vertices_stay_where_they_are(case):
    given_sides = np.array(case[3])

    completed = _completed(*case)

    assert np.array_equal(completed[given_sides >= 0], given_sides[given_sides >= 0])


@given(partial_cuts(least_weight=0))
def test_half_the_weight_at_undecided_vertices_is_cut(case):
    _, edges, weights, sides = case
    completed = _completed(*case)
    undecided = [i for i, (u, v) in enumerate(edges) if -1 in (sides[u], sides[v])]

    chosen = np.array(edges, dtype=np.int64).reshape(-1, 2)[undecided], np.array(weights, dtype=np.int64)[undecided]

    assert 2 * cut_value(*chosen, completed) >= chosen[1].sum()


def test_a_stop_leaves_a_cut_of_all_vertices():
    path = build_csr(3, [[0, 1], [1, 2]], [1, 1])

    assert set(complete_greedily(path, np.full(3, -1, dtype=np.int8), stop=lambda: True).tolist()) <= {0, 1}
