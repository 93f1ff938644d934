"""Certificates are proven again, and whatever is wrong with one is said."""

import ast
import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.components import biconnected_blocks, connected_components
from solvers.graphs.csr import build_csr
from solvers.graphs.elimination import elimination_optimum
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.reductions import reduce_max_cut
from solvers.graphs.verify import prove
from solvers.operation import InvalidInput
from tests.solvers.graphs.hostile_documents import HOSTILE, at, replaced, spots
from tests.solvers.graphs.prediction_vectors import weighted_gset

TRIANGLE = np.array([[0, 1], [1, 2], [2, 0]])
FIVE_CYCLE = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])


def optimum(num_vertices, edges, weights):
    """Try every cut."""
    best = 0
    for sides in itertools.product((0, 1), repeat=max(0, num_vertices - 1)):
        sides = (*sides, 0)
        best = max(best, sum(w for (u, v), w in zip(edges, weights, strict=True) if sides[u] != sides[v]))
    return best


SMALL_INTEGERS = st.integers(-6, 6)


@st.composite
def graphs(draw, most_vertices=8, weights=SMALL_INTEGERS):
    num_vertices = draw(st.integers(0, most_vertices))
    pairs = list(itertools.combinations(range(num_vertices), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    values = draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))
    return num_vertices, np.array(edges, dtype=np.int64).reshape(-1, 2), np.array(values, dtype=np.asarray(values or [0]).dtype)


def dual_certificate(num_vertices, edges, weights):
    """Raise a constant dual solution by the least eigenvalue, with some room."""
    matrix = np.zeros((num_vertices, num_vertices))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = weights
    laplacian = (np.diag(matrix.sum(axis=1)) - matrix) / 4
    largest = np.linalg.eigvalsh(laplacian)[-1] if num_vertices else 0.0
    return {"kind": "sdp_dual", "y": [float(largest)] * num_vertices, "delta": 1e-6}


def reduced_certificate(graph, kernel_certificate):
    reduction = reduce_max_cut(*graph)
    kernel = len(reduction.kernel_vertices), reduction.edges, reduction.weights / reduction.scale
    return {"kind": "reduced", "steps": reduction.steps(), "kernel": kernel_certificate(*kernel)}


def exact_certificate(num_vertices, *_):
    return {"kind": "enumeration"}


def by_parts(graph, labels_of_edges, certificate):
    """Return a sum over the parts that edges fall into, vertices without edges by themselves."""
    num_vertices, edges, weights = graph
    parts = []
    for label in sorted(set(labels_of_edges.tolist())):
        rows = np.flatnonzero(labels_of_edges == label)
        vertices = np.unique(edges[rows])
        local = np.searchsorted(vertices, edges[rows])
        parts.append({"vertices": vertices.tolist(), "certificate": certificate(len(vertices), local, weights[rows])})
    lone = sorted(set(range(num_vertices)) - set(edges.ravel().tolist()))
    parts += [{"vertices": [vertex], "certificate": {"kind": "trivial"}} for vertex in lone]
    return {"kind": "sum", "parts": parts}


@given(graphs())
def test_the_trivial_bound_is_the_sum_of_the_positive_weights(graph):
    assert prove(*graph, {"kind": "trivial"}) == (int(graph[2][graph[2] > 0].sum()), True, ())


@given(graphs())
def test_enumeration_proves_the_optimum(graph):
    assert prove(*graph, {"kind": "enumeration"}).bound == optimum(*graph)


def test_enumeration_agrees_with_tables_on_a_graph_of_twenty_vertices():
    rng = np.random.default_rng(2)
    edges = np.array(list(itertools.combinations(range(20), 2)))[rng.choice(190, 60, replace=False)]
    graph = 20, edges, rng.integers(-9, 10, 60)

    assert prove(*graph, {"kind": "enumeration"}).bound == prove(*graph, {"kind": "elimination", "order": list(range(20))}).bound


@given(graphs(), st.randoms(use_true_random=False))
def test_tables_prove_the_optimum_in_any_order(graph, random):
    order = list(range(graph[0]))
    random.shuffle(order)

    assert prove(*graph, {"kind": "elimination", "order": order}) == (optimum(*graph), True, ())


@given(graphs())
def test_a_dual_solution_proves_a_bound(graph):
    proof = prove(*graph, dual_certificate(*graph))

    assert proof.is_proved
    assert proof.bound >= optimum(*graph)


@given(graphs())
def test_reductions_and_the_kernel_s_optimum_prove_the_optimum(graph):
    assert prove(*graph, reduced_certificate(graph, exact_certificate)) == (optimum(*graph), True, ())


@given(graphs(most_vertices=7, weights=st.floats(-10, 10).map(lambda x: round(x, 3))))
def test_weights_that_are_no_integers_are_bounded_from_above(graph):
    proof = prove(*graph, {"kind": "enumeration"})

    best = optimum(*graph)
    assert best - 1e-12 <= proof.bound <= best + 1e-9


@given(graphs())
def test_blocks_add_up_to_the_optimum(graph):
    certificate = by_parts(graph, biconnected_blocks(graph[0], graph[1]), exact_certificate)

    assert prove(*graph, certificate) == (optimum(*graph), True, ())


@given(graphs())
def test_components_add_up_to_the_optimum(graph):
    labels = connected_components(graph[0], graph[1])[graph[1][:, 0]]

    assert prove(*graph, by_parts(graph, labels, exact_certificate)).bound == optimum(*graph)


def test_odd_cycles_lose_their_least_weight_each():
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]])
    certificate = {"kind": "odd_cycles", "cycles": [[0, 1, 2], [2, 3, 4]]}

    assert prove(5, edges, np.array([5, 3, 4, 2, 9, 7]), certificate).bound == 30 - 3 - 2


def test_bounds_are_rounded_down_to_what_a_cut_can_be_worth():
    # The relaxation's optimum of a cycle of five is 4.52; its largest cut has 4 edges.
    y = (5 * (1 + math.cos(math.pi / 5)) / 2 + 1e-6) / 5

    assert prove(5, FIVE_CYCLE, np.ones(5, dtype=np.int64), {"kind": "sdp_dual", "y": [y] * 5, "delta": 0.0}).bound == 4


def test_dual_solutions_are_in_the_callers_unit():
    y = (5 * (1 + math.cos(math.pi / 5)) / 2 + 1e-6) / 5

    proof = prove(5, FIVE_CYCLE, np.full(5, 0.5), {"kind": "sdp_dual", "y": [y / 2] * 5, "delta": 0.0})

    assert proof.bound == 2.0


def test_numbers_that_cancel_prove_nothing_false():
    # y + delta = 4 at every vertex, below which 2^55 has no neighbours: rounded apart, 9 delta and the sum of y came to 8 in all.
    edges = np.array(list(itertools.combinations(range(9), 2)))
    y = 2.0**55 - 56

    proof = prove(9, edges, np.ones(36, dtype=np.int64), {"kind": "sdp_dual", "y": [y] * 9, "delta": -(y - 4)})

    assert proof.bound is None or proof.bound >= 20


def test_a_dual_solution_of_a_large_sparse_graph_is_factored():
    n = 6000
    rng = np.random.default_rng(1)
    ring = np.column_stack((np.arange(n), (np.arange(n) + 1) % n))
    chords = np.column_stack((np.arange(0, n, 3), rng.permutation(np.arange(1, n, 3))))
    edges = np.concatenate((ring, chords[np.abs(chords[:, 0] - chords[:, 1]) > 1]))
    weights = np.ones(len(edges), dtype=np.int64)
    degrees = np.bincount(edges.ravel(), minlength=n)

    good, bad = (prove(n, edges, weights, {"kind": "sdp_dual", "y": (degrees * f).tolist(), "delta": 0.0}) for f in (0.5, 0.3))

    assert good.bound == math.floor(degrees.sum() / 2 + 1e-9)
    assert bad.faults == ("certificate: the matrix of the dual solution is not positive semidefinite",)


def test_a_graph_that_fills_in_is_refused_rather_than_factored(monkeypatch):
    monkeypatch.setattr("solvers.graphs.proofs.sdp_dual.MOST_UPDATES", 1000)
    rng = np.random.default_rng(1)
    edges = np.unique(np.sort(rng.integers(0, 5000, (40_000, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]

    proof = prove(5000, edges, np.ones(len(edges), dtype=np.int64), {"kind": "sdp_dual", "y": [50.0] * 5000, "delta": 0.0})

    assert proof.faults == ("certificate: the matrix fills in too much to be factored",)


def test_a_search_is_not_proven_again_and_its_fallback_is():
    certificate = {"kind": "search", "solver": "x", "version": "1", "nodes": 5, "fallback": {"kind": "trivial"}}

    assert prove(3, TRIANGLE, np.array([1, 1, 1]), certificate) == (3, False, ())


def test_a_search_inside_a_sum_leaves_the_sum_unproven():
    search = {"kind": "search", "fallback": {"kind": "enumeration"}}
    certificate = {"kind": "sum", "parts": [{"vertices": [2, 1, 0], "certificate": search}]}

    assert prove(3, TRIANGLE, np.array([1, 1, 1]), certificate) == (2, False, ())


def test_integers_beyond_what_is_counted_exactly_are_refused():
    with pytest.raises(InvalidInput):
        prove(2, np.array([[0, 1]]), np.array([2**53 + 1]), {"kind": "trivial"})


@pytest.mark.parametrize("weights", [[1e300, -0.5, 2.25], [5e-324, 0.1, 1e-300], [1e308, 1.5e308, 0.5]])
def test_extreme_weights_are_bounded_or_said_to_be_too_large(weights):
    proof = prove(3, TRIANGLE, np.array(weights), {"kind": "enumeration"})

    assert proof.faults or proof.bound >= max(weights)


GRAPH = 6, np.array(list(itertools.combinations(range(6), 2))), np.array([3, -1, 2, 2, 1, 5, -2, 1, 1, 4, 2, -3, 1, 2, 6])
OPTIMUM = optimum(*GRAPH)

SOUND = {
    "sdp_dual": dual_certificate(*GRAPH),
    "odd_cycles": {"kind": "odd_cycles", "cycles": [[0, 1, 5], [2, 3, 4]]},
    "elimination": {"kind": "elimination", "order": [3, 1, 0, 2, 5, 4]},
    "reduced": {
        "kind": "reduced",
        "steps": [["degree_3", 4, 0, 1, 3], ["degree_3", 3, 0, 1, 2], ["degree_2", 2, 0, 1], ["degree_1", 1, 0]],
        "kernel": {"kind": "sum", "parts": [{"vertices": [0], "certificate": {"kind": "trivial"}}]},
    },
    "sum": {"kind": "sum", "parts": [{"vertices": [5, 1, 3, 2, 4, 0], "certificate": {"kind": "enumeration"}}]},
}
SPARSE = 5, np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 4], [1, 4], [3, 4]]), np.array([4, -2, 1, 3, 2, 5, 2])


def _graph_of(kind):
    return SPARSE if kind == "reduced" else GRAPH


@pytest.mark.parametrize("kind", SOUND)
def test_sound_certificates_are_accepted(kind):
    assert prove(*_graph_of(kind), SOUND[kind]).faults == ()


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("hostile", HOSTILE, ids=repr)
def test_no_value_anywhere_in_a_certificate_crashes_the_verifier_or_proves_too_much(kind, hostile):
    graph = _graph_of(kind)
    for path in spots(SOUND[kind]):
        proof = prove(*graph, replaced(SOUND[kind], path, hostile))

        assert proof.faults or proof.bound >= optimum(*graph)
        assert bool(proof.faults) == (proof.bound is None)


@pytest.mark.parametrize("kind", SOUND)
@given(st.data())
def test_a_spoilt_number_is_refused_or_still_leaves_a_bound(kind, data):
    graph, certificate = _graph_of(kind), SOUND[kind]
    numbers = [path for path in spots(certificate) if type(at(certificate, path)) in (int, float)]
    path = data.draw(st.sampled_from(numbers))
    spoilt = data.draw(st.integers(-2, 8) if isinstance(at(certificate, path), int) else st.floats())

    proof = prove(*graph, replaced(certificate, path, spoilt))

    assert proof.faults or proof.bound >= optimum(*graph)


@pytest.mark.parametrize("kind", SOUND)
def test_a_missing_member_is_a_fault(kind):
    for name in SOUND[kind]:
        assert prove(*_graph_of(kind), {k: v for k, v in SOUND[kind].items() if k != name}).faults


@pytest.mark.parametrize("certificate", [None, 3, "trivial", [], {}, {"kind": None}, {"kind": "proof"}, {"kind": ["sum"]}])
def test_what_is_no_certificate_is_a_fault(certificate):
    assert prove(*GRAPH, certificate).faults


@pytest.mark.parametrize(
    ("certificate", "fault"),
    [
        ({"kind": "odd_cycles", "cycles": [[0, 1, 2, 3]]}, "cycle 0 has 4 edges"),
        ({"kind": "odd_cycles", "cycles": [[0, 1, 5], [5, 0, 1]]}, "an edge is used twice"),
        ({"kind": "odd_cycles", "cycles": [[0, 2, 1]]}, "cycle 0: there is no edge of positive weight from vertex 0 to 2"),
        ({"kind": "odd_cycles", "cycles": [[0, 1, 6]]}, "cycle 0 must lie between 0 and 5"),
        ({"kind": "elimination", "order": [0, 1, 2, 3, 4, 4]}, "order must name each of the 6 vertices once"),
        ({"kind": "sum", "parts": [{"vertices": [0, 1, 2], "certificate": {"kind": "trivial"}}]}, "vertex 3 is in no part"),
        ({"kind": "reduced", "steps": [["degree_2", 0, 1, 2]], "kernel": {}}, "step 0: vertex 0 has other neighbours"),
        ({"kind": "reduced", "steps": [["degree_9", 0]], "kernel": {}}, "step 0 names none of the rules"),
    ],
)
def test_a_fault_says_what_is_wrong(certificate, fault):
    assert fault in prove(*GRAPH, certificate).faults[0]


def test_a_fault_says_where_it_is():
    inner = {"kind": "reduced", "steps": [], "kernel": {"kind": "elimination", "order": []}}
    certificate = {"kind": "sum", "parts": [{"vertices": list(range(6)), "certificate": inner}]}

    assert prove(*GRAPH, certificate).faults[0].startswith("certificate/parts/0/certificate/kernel: order")


def test_an_edge_in_two_parts_is_a_fault():
    trivial = {"kind": "trivial"}
    certificate = {"kind": "sum", "parts": [{"vertices": v, "certificate": trivial} for v in ([0, 1, 2], [0, 1])]}

    assert "edge 0 lies in 2 parts" in prove(3, TRIANGLE, np.array([1, 1, 1]), certificate).faults[0]


def test_an_edge_between_parts_is_a_fault():
    trivial = {"kind": "trivial"}
    certificate = {"kind": "sum", "parts": [{"vertices": v, "certificate": trivial} for v in ([0, 1], [2])]}

    assert "lies in 0 parts" in prove(3, TRIANGLE, np.array([1, 1, 1]), certificate).faults[0]


def test_an_order_that_is_too_wide_is_refused():
    complete = np.array(list(itertools.combinations(range(22), 2)))

    proof = prove(22, complete, np.ones(len(complete), dtype=np.int64), {"kind": "elimination", "order": list(range(22))})

    assert proof.faults == ("certificate: the order is 21 wide; at most 20 is checked",)


def test_more_vertices_than_can_be_enumerated_are_refused():
    assert prove(26, np.zeros((0, 2)), np.zeros(0), {"kind": "enumeration"}).faults


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

    assert "deep" in prove(3, TRIANGLE, np.array([1, 1, 1]), certificate).faults[0]


@pytest.mark.parametrize("kind", ["elimination", "reduced"])
def test_a_proof_that_is_not_done_in_time_is_no_proof(kind):
    assert "time was up" in prove(*_graph_of(kind), SOUND[kind], stop=lambda: True).faults[0]


def test_a_factorisation_is_interrupted_whatever_the_number_of_vertices(monkeypatch):
    monkeypatch.setattr("solvers.graphs.proofs.sdp_dual.LARGEST_DENSE", 10)
    cycle = np.column_stack((np.arange(60), (np.arange(60) + 1) % 60))

    proof = prove(60, cycle, np.ones(60, dtype=np.int64), {"kind": "sdp_dual", "y": [2.0] * 60, "delta": 0.0}, stop=lambda: True)

    assert proof.faults == ("certificate: time was up before the matrix was factored",)


def test_files_that_name_one_another_many_times_are_not_followed_without_end():
    # Each of ten levels names the next one a hundred times: 10^20 certificates.
    def load(certificate):
        if "file" not in certificate:
            return certificate
        level = certificate["file"]
        inner = {"kind": "sum", "file": level + 1} if level < 10 else {"kind": "trivial"}
        return {"kind": "sum", "parts": [{"vertices": [], "certificate": inner}] * 100}

    looks = iter(range(1000))
    proof = prove(
        0, np.zeros((0, 2), int), np.zeros(0, int), {"kind": "sum", "file": 0}, load=load, stop=lambda: next(looks) == 500
    )

    assert "time was up" in proof.faults[0]


def _imports(module):
    source = Path(importlib.util.find_spec(module).origin).read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _reached(start):
    """Return the modules of this family that one leads to; the package itself only gathers its public names."""
    waiting, reached = [start], {"solvers.graphs"}
    while waiting:
        for name in _imports(waiting.pop()):
            for module in {name, name.rpartition(".")[0]} - reached:
                if module.startswith("solvers.") and _is_module(module):
                    reached.add(module)
                    waiting.append(module)
    return reached


def test_the_verifier_imports_nothing_but_proofs():
    reached = _reached("solvers.graphs.verify")

    beside = {module for module in reached if not module.startswith("solvers.graphs.proofs")}
    assert beside == {"solvers.operation", "solvers.resource", "solvers.graphs"}


def test_the_operation_that_verifies_imports_no_solver():
    solving = ["advice", "annealing", "bound", "elimination", "enumeration", "low_rank_sdp", "odd_cycles", "reductions"]

    assert _reached("solvers.graphs.verification").isdisjoint({f"solvers.graphs.{module}" for module in [*solving, "csr"]})


@pytest.mark.parametrize("name", ["G11", "G14"])
def test_the_relaxation_s_bound_is_proven_again(name):
    num_vertices, edges, weights = weighted_gset(name)
    relaxation = LowRankSdp(build_csr(num_vertices, edges, weights), seed=1)
    while not relaxation.advance(100):
        pass
    bound = relaxation.dual_bound(integral=True)

    assert prove(num_vertices, edges, weights, bound.certificate) == (int(bound.value), True, ())


def test_the_elimination_order_of_a_toroidal_grid_is_proven_again():
    graph = weighted_gset("G11")

    assert prove(*graph, {"kind": "elimination", "order": elimination_optimum(*graph).order}) == (564, True, ())
