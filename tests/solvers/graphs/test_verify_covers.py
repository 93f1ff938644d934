"""Certificates of bounds on covers and independent sets are proven again, and whatever is wrong with one is said."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.components import connected_components
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.verify import prove_cover, prove_independent_set
from solvers.operation import InvalidInput
from tests.solvers.graphs.hostile_documents import HOSTILE, at, replaced, spots
from tests.solvers.graphs.weighted_vertices import WeightedVertices, heaviest_independent_set, random_edges, weighted_vertices

TRIANGLE = WeightedVertices(3, np.array([[0, 1], [1, 2], [2, 0]]), np.array([1, 1, 1]))
ENUMERATION = {"kind": "enumeration"}


def reduced(*steps, kernel=ENUMERATION):
    return {"kind": "reduced", "steps": [list(step) for step in steps], "kernel": kernel}


def packed(graph):
    """Return the dual solution of the linear relaxation as a certificate."""
    packing = half_integral_cover(graph.csr, graph.weights).packing
    rows = np.flatnonzero(packing)
    return {"kind": "edge_packing", "edges": rows.tolist(), "y": packing[rows].tolist(), "scale": 2}


def by_components(graph, certificate=ENUMERATION):
    labels = connected_components(graph.num_vertices, graph.edges)
    vertices = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return {"kind": "sum", "parts": [{"vertices": listed, "certificate": certificate} for listed in vertices]}


@given(weighted_vertices())
def test_enumeration_proves_both_optima(graph):
    heaviest = heaviest_independent_set(*graph)

    assert prove_independent_set(*graph, ENUMERATION) == (heaviest, True, ())
    assert prove_cover(*graph, ENUMERATION) == (graph.weights.sum() - heaviest, True, ())


@given(weighted_vertices(), st.randoms(use_true_random=False))
def test_tables_prove_the_optimum_in_any_order(graph, random):
    order = list(range(graph.num_vertices))
    random.shuffle(order)

    assert prove_independent_set(*graph, {"kind": "elimination", "order": order}).bound == heaviest_independent_set(*graph)


def test_enumeration_agrees_with_tables_on_a_graph_of_twenty_vertices():
    rng = np.random.default_rng(2)
    graph = WeightedVertices(20, random_edges(20, 50, rng), rng.integers(1, 9, 20))

    tables = {"kind": "elimination", "order": list(range(20))}
    assert prove_cover(*graph, ENUMERATION).bound == prove_cover(*graph, tables).bound


@given(weighted_vertices())
def test_nothing_is_needed_for_the_trivial_bounds(graph):
    assert prove_cover(*graph, {"kind": "trivial"}) == (0, True, ())
    assert prove_independent_set(*graph, {"kind": "trivial"}) == (graph.weights.sum(), True, ())


@given(weighted_vertices())
def test_a_packing_of_edges_proves_what_is_packed(graph):
    certificate = packed(graph)

    assert prove_cover(*graph, certificate).bound == -(-sum(certificate["y"]) // 2)


@given(weighted_vertices())
def test_a_matching_proves_its_lighter_ends(graph):
    rows, matched = [], set()
    for row, pair in enumerate(graph.edges.tolist()):
        if matched.isdisjoint(pair):
            rows.append(row)
            matched.update(pair)

    proof = prove_cover(*graph, {"kind": "matching", "edges": rows})

    assert proof.bound == graph.weights[graph.edges[rows]].min(axis=1).sum()


@given(weighted_vertices())
def test_components_add_up_to_the_optimum(graph):
    assert prove_independent_set(*graph, by_components(graph)).bound == heaviest_independent_set(*graph)


def test_cliques_prove_the_sum_of_their_heaviest_vertices():
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]])
    certificate = {"kind": "clique_partition", "cliques": [[2, 0, 1], [4, 3]]}

    assert prove_independent_set(5, edges, np.array([3, 5, 4, 1, 2]), certificate).bound == 5 + 2
    assert prove_cover(5, edges, np.array([3, 5, 4, 1, 2]), certificate).bound == 3 + 4 + 1


def test_covers_are_bounded_by_whole_numbers_where_weights_are():
    certificate = {"kind": "edge_packing", "edges": [0, 1, 2], "y": [1, 1, 1], "scale": 2}

    assert prove_cover(*TRIANGLE, certificate).bound == 2
    assert prove_independent_set(*TRIANGLE, certificate).bound == 1


@given(weighted_vertices(max_vertices=7, weights=st.floats(0, 10).map(lambda x: round(x, 3))))
def test_weights_that_are_no_integers_are_bounded_on_the_right_side(graph):
    heaviest = heaviest_independent_set(graph.num_vertices, graph.edges, [Fraction(w) for w in graph.weights.tolist()])
    cover = sum(map(Fraction, graph.weights.tolist())) - heaviest

    assert heaviest <= prove_independent_set(*graph, ENUMERATION).bound <= heaviest + Fraction(1, 10**9)
    assert cover - Fraction(1, 10**9) <= prove_cover(*graph, ENUMERATION).bound <= cover


def test_a_packing_is_in_the_callers_unit():
    certificate = {"kind": "edge_packing", "edges": [0, 1, 2], "y": [1, 1, 1], "scale": 4}

    assert prove_cover(3, TRIANGLE.edges, np.array([0.5, 0.5, 0.75]), certificate).bound == 0.75


def test_a_vertex_with_a_loop_is_in_every_cover():
    edges = np.array([[0, 1], [1, 2]])
    weights = np.array([4, 9, 5])

    assert prove_cover(3, edges, weights, ENUMERATION, loops=np.array([1])).bound == 9
    assert prove_independent_set(3, edges, weights, ENUMERATION, loops=np.array([2, 2])).bound == 9
    assert prove_cover(3, edges, weights, ENUMERATION, loops=np.array([0])).bound == 4 + 5


# Each graph is reduced by one rule: its vertices' weights, its edges, the step, and what is left.
RULES = {
    "weightless": ([0, 1, 1], [(0, 1), (0, 2)], ("weightless", 0), 2),
    "degree_0": ([3, 1], [], ("degree_0", 0), 1),
    "degree_1": ([3, 1, 1], [(0, 1), (1, 2)], ("degree_1", 0, 1), 1),
    "degree_1 of a lighter vertex": ([1, 3, 1], [(0, 1), (1, 2)], ("degree_1", 0, 1), 2),
    "degree_2_triangle": ([2, 2, 1, 5], [(0, 1), (0, 2), (1, 2), (2, 3)], ("degree_2_triangle", 0, 1, 2), 1),
    "degree_2_triangle of a lighter vertex": ([2, 3, 5, 4], [(0, 1), (0, 2), (1, 2), (2, 3)], ("degree_2_triangle", 0, 2, 1), 3),
    "fold": ([1, 1, 1, 1, 1], [(0, 1), (0, 2), (1, 3), (2, 4), (3, 4)], ("fold", 0, 1, 2), 3),
    "fold of unequal weights": ([4, 3, 2, 2, 2], [(0, 1), (0, 2), (1, 3), (2, 4), (2, 3)], ("fold", 0, 1, 2), 3),
    "fold of what is lighter together": ([4, 2, 2, 2, 2], [(0, 1), (0, 2), (1, 3), (2, 4), (2, 3)], ("fold", 0, 1, 2), 2),
    "domination": ([1, 2, 1, 1], [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)], ("domination", 0, 1), 3),
    "unconfined": ([1] * 6, [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (0, 5), (1, 5)], ("unconfined", 0, 3, 4), 5),
    "twin of two": ([1, 2, 4, 5], [(0, 2), (0, 3), (1, 2), (1, 3)], ("twin", 0, 1), 3),
    "twin of a joined three": (
        [2] * 6,
        [(u, v) for u in (0, 1) for v in (2, 3, 4)] + [(2, 3), (4, 5)],
        ("twin", 0, 1, 2, 3, 4),
        1,
    ),
    "twin of a free three": (
        [2] * 7,
        [(u, v) for u in (0, 1) for v in (2, 3, 4)] + [(2, 5), (3, 5), (4, 6), (5, 6)],
        ("twin", 1, 0, 4, 3, 2),
        3,
    ),
    "nt": (
        [3, 2, 2, 1, 4, 4],
        [(0, 1), (0, 2), (0, 4), (3, 4), (4, 5), (2, 0 + 3)],
        ("nt", 0, 1, 2, 0, 2, 1, 3, 2, 1),
        2,
    ),
}


@pytest.mark.parametrize("case", RULES)
def test_a_step_keeps_the_optimum(case):
    weights, edges, step, left = RULES[case]
    graph = WeightedVertices(len(weights), np.array(edges).reshape(-1, 2), np.array(weights))

    assert prove_independent_set(*graph, reduced(step)) == (heaviest_independent_set(*graph), True, ())
    # A kernel of that many vertices takes an order of as many.
    order = {"kind": "elimination", "order": list(range(left))}
    assert prove_independent_set(*graph, reduced(step, kernel=order)).faults == ()


@st.composite
def graphs_with_a_step(draw):
    graph = draw(weighted_vertices(max_vertices=7, weights=st.integers(0, 3)))
    vertex = st.integers(0, max(0, graph.num_vertices - 1))
    rule = draw(
        st.sampled_from(
            ["weightless", "degree_0", "degree_1", "degree_2_triangle", "fold", "domination", "unconfined", "twin", "nt"]
        )
    )
    if rule == "nt":
        triples = draw(st.lists(st.tuples(vertex, vertex, st.integers(0, 3)), min_size=1, max_size=4))
        return graph, [rule, *itertools.chain.from_iterable(triples)]
    first = draw(vertex)
    neighbours = sorted({v for pair in graph.edges.tolist() if first in pair for v in pair} - {first})
    return graph, [rule, first, *draw(st.one_of(st.just(neighbours), st.lists(vertex, min_size=1, max_size=4)))]


@given(graphs_with_a_step())
def test_a_step_that_is_accepted_keeps_the_optimum_whatever_it_names(case):
    graph, step = case

    proof = prove_independent_set(*graph, reduced(step))

    assert proof.faults or proof.bound == heaviest_independent_set(*graph)


@given(weighted_vertices())
def test_the_relaxation_s_decisions_replay_as_a_step(graph):
    flow = half_integral_cover(graph.csr, graph.weights).crown_flow()
    steps = [["nt", *flow.ravel().tolist()]] if len(flow) else []

    assert prove_cover(*graph, reduced(*steps)) == prove_cover(*graph, ENUMERATION)


def test_the_amounts_of_a_flow_may_be_in_any_unit():
    star = WeightedVertices(3, np.array([[0, 1], [0, 2]]), np.array([0.5, 0.25, 0.375]))

    proofs = [prove_cover(*star, reduced(["nt", 0, 1, 2 * k, 0, 2, 2 * k])) for k in (1, 10**20)]

    assert proofs[0] == proofs[1] == (0.5, True, ())


GRAPH = WeightedVertices(7, random_edges(7, 12, np.random.default_rng(5)), np.array([3, 1, 2, 2, 1, 5, 2]))
HEAVIEST = heaviest_independent_set(*GRAPH)
TREE = WeightedVertices(7, np.array([[0, 1], [1, 2], [1, 3], [3, 4], [3, 5], [5, 6]]), np.array([3, 1, 2, 2, 2, 5, 2]))
SOUND = {
    "matching": (TREE, {"kind": "matching", "edges": [0, 3, 5]}),
    "edge_packing": (GRAPH, packed(GRAPH)),
    "clique_partition": (TREE, {"kind": "clique_partition", "cliques": [[0, 1], [2], [3, 4], [6, 5]]}),
    "elimination": (GRAPH, {"kind": "elimination", "order": [3, 1, 0, 2, 5, 4, 6]}),
    "reduced": (
        TREE,
        reduced(
            ["degree_1", 0, 1], ["degree_0", 2], ["domination", 3, 4], ["nt", 6, 5, 2],
            kernel={"kind": "sum", "parts": [{"vertices": [0], "certificate": {"kind": "trivial"}}]},
        ),
    ),
    "sum": (GRAPH, {"kind": "sum", "parts": [{"vertices": [5, 1, 3, 2, 4, 0, 6], "certificate": ENUMERATION}]}),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOUND)
def test_sound_certificates_are_accepted(kind):
    graph, certificate = SOUND[kind]

    assert prove_cover(*graph, certificate).faults == ()


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("hostile", HOSTILE, ids=repr)
def test_no_value_anywhere_in_a_certificate_crashes_the_verifier_or_proves_too_much(kind, hostile):
    graph, certificate = SOUND[kind]
    heaviest = heaviest_independent_set(*graph)
    for path in spots(certificate):
        proof = prove_independent_set(*graph, replaced(certificate, path, hostile))

        assert proof.faults or proof.bound >= heaviest
        assert bool(proof.faults) == (proof.bound is None)


@pytest.mark.parametrize("kind", SOUND)
@given(st.data())
def test_a_spoilt_number_is_refused_or_still_leaves_a_bound(kind, data):
    graph, certificate = SOUND[kind]
    numbers = [path for path in spots(certificate) if type(at(certificate, path)) in (int, float)]
    path = data.draw(st.sampled_from(numbers))

    proof = prove_independent_set(*graph, replaced(certificate, path, data.draw(st.integers(-2, 8))))

    assert proof.faults or proof.bound >= heaviest_independent_set(*graph)


@pytest.mark.parametrize("kind", SOUND)
def test_a_missing_member_is_a_fault(kind):
    graph, certificate = SOUND[kind]
    for name in certificate:
        assert prove_cover(*graph, {k: v for k, v in certificate.items() if k != name}).faults


@pytest.mark.parametrize("kind", ["sdp_dual", "odd_cycles", "lagrangian"])
def test_kinds_of_other_problems_are_faults(kind):
    assert "kind must be one of trivial, matching, " in prove_cover(*TRIANGLE, {"kind": kind, "cycles": [[0, 1, 2]]}).faults[0]


@pytest.mark.parametrize(
    ("certificate", "fault"),
    [
        ({"kind": "matching", "edges": [0, 1]}, "two edges of the matching share a vertex"),
        ({"kind": "matching", "edges": [3]}, "edges must lie between 0 and 2"),
        ({"kind": "edge_packing", "edges": [0, 0], "y": [1, 1], "scale": 2}, "edges names an edge twice"),
        ({"kind": "edge_packing", "edges": [0, 1], "y": [1, 2], "scale": 2}, "vertex 1 bears more than its weight"),
        ({"kind": "edge_packing", "edges": [0], "y": [-1], "scale": 2}, "y must be a list of 1 integers"),
        ({"kind": "edge_packing", "edges": [0], "y": [1], "scale": 0}, "scale must be a positive number"),
        ({"kind": "clique_partition", "cliques": [[0, 1]]}, "vertex 2 is in 0 cliques"),
        ({"kind": "clique_partition", "cliques": [[0, 1], [1, 2]]}, "vertex 1 is in 2 cliques"),
        ({"kind": "elimination", "order": [0, 1, 1]}, "order must name each of the 3 vertices once"),
        (reduced(["degree_1", 0, 1]), "step 0: vertex 0 has other neighbours"),
        (reduced(["fold", 0, 1, 2]), "step 0: vertices 1 and 2 are joined"),
        (reduced(["degree_0", 0]), "step 0: vertex 0 has other neighbours"),
        (reduced(["domination", 0, 1], ["degree_0", 0]), "step 1: it names a vertex that is not there"),
        (reduced(["unconfined", 0]), "step 0: the chain is empty"),
        (reduced(["nt", 0, 1, 1]), "step 0: vertex 1 has a neighbour that receives nothing"),
        (reduced(["nt", 0, 1]), "step 0: nt needs triples"),
        (reduced(["degree_3", 0, 1, 2, 3]), "step 0: there is no rule degree_3 that names 4 vertices"),
    ],
)
def test_a_fault_says_what_is_wrong(certificate, fault):
    assert fault in prove_cover(*TRIANGLE, certificate).faults[0]


def test_what_is_no_clique_is_a_fault():
    proof = prove_cover(3, np.array([[0, 1], [1, 2]]), np.ones(3), {"kind": "clique_partition", "cliques": [[0, 1, 2]]})

    assert proof.faults == ("certificate: clique 0 is not one",)


def test_a_vertex_that_weighs_something_does_not_leave_for_nothing():
    assert "step 0: vertex 0 weighs something" in prove_cover(*TRIANGLE, reduced(["weightless", 0])).faults[0]


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ([[0, 1, 2], [0]], "vertex 0 is in 2 parts"),
        ([[0, 1]], "vertex 2 is in 0 parts"),
        ([[0, 1], [2]], "edge 1 joins two parts"),
        ([[0, 0, 1, 2]], "part 0 names a vertex twice"),
    ],
)
def test_parts_that_do_not_part_the_graph_are_a_fault(parts, fault):
    certificate = {"kind": "sum", "parts": [{"vertices": v, "certificate": {"kind": "trivial"}} for v in parts]}

    assert fault in prove_cover(*TRIANGLE, certificate).faults[0]


def test_a_search_is_not_proven_again_and_its_fallback_is():
    search = {"kind": "search", "solver": "x", "version": "1", "nodes": 5, "fallback": {"kind": "matching", "edges": [0]}}

    assert prove_cover(*TRIANGLE, search) == (1, False, ())


def test_an_order_that_is_too_wide_is_refused():
    complete = np.array(list(itertools.combinations(range(22), 2)))

    proof = prove_cover(22, complete, np.ones(22, np.int64), {"kind": "elimination", "order": list(range(22))})

    assert proof.faults == ("certificate: the order is 21 wide; at most 20 is checked",)


def test_more_vertices_than_can_be_enumerated_are_refused():
    assert prove_cover(26, np.zeros((0, 2), int), np.ones(26, int), ENUMERATION).faults


@pytest.mark.parametrize("kind", ["sum", "search", "reduced"])
def test_certificates_nested_a_thousand_deep_are_refused(kind):
    wrap = {
        "sum": lambda inner: {"kind": "sum", "parts": [{"vertices": [0, 1, 2], "certificate": inner}]},
        "search": lambda inner: {"kind": "search", "fallback": inner},
        "reduced": lambda inner: {"kind": "reduced", "steps": [], "kernel": inner},
    }[kind]
    certificate = {"kind": "trivial"}
    for _ in range(1000):
        certificate = wrap(certificate)

    assert "deep" in prove_cover(*TRIANGLE, certificate).faults[0]


def test_a_proof_that_is_not_done_in_time_is_no_proof(monkeypatch):
    monkeypatch.setattr("solvers.graphs.proofs.independent_reduced.WORK_BETWEEN_LOOKS", 0)
    certificates = [ENUMERATION, {"kind": "elimination", "order": [0, 1, 2]}, reduced(["domination", 0, 1])]

    assert all("time was up" in prove_cover(*TRIANGLE, one, stop=lambda: True).faults[0] for one in certificates)


def test_integers_beyond_what_is_counted_exactly_are_refused():
    with pytest.raises(InvalidInput, match="weights") as caught:
        prove_cover(2, np.array([[0, 1]]), np.array([2**53, 1]), {"kind": "trivial"})

    assert caught.value.pointer == "/vertex_weights"


@pytest.mark.parametrize("weights", [[1e300, 0.5, 2.25], [5e-324, 0.1, 1e-300], [1e308, 1.5e308, 0.5]])
def test_extreme_weights_are_bounded_or_said_to_be_too_large(weights):
    proof = prove_independent_set(3, TRIANGLE.edges, np.array(weights), ENUMERATION)

    assert proof.faults or proof.bound >= max(weights)


def test_a_graph_without_vertices_has_bounds():
    empty = 0, np.zeros((0, 2), int), np.zeros(0, int)

    for certificate in (ENUMERATION, {"kind": "clique_partition", "cliques": []}, {"kind": "sum", "parts": []}, reduced()):
        assert prove_cover(*empty, certificate) == (0, True, ())
