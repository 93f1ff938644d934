"""The semidefinite relaxation and the bounds proven from it."""

import json
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs import low_rank_sdp
from solvers.graphs.csr import build_csr
from solvers.graphs.low_rank_sdp import LowRankSdp, ritz_values
from tests.solvers.graphs.prediction_vectors import DATA
from tests.solvers.graphs.signed_graphs import gset_csr, largest_cut, random_graph, signed_graphs

SMALL_GRAPHS = {case["id"]: case for case in json.loads((DATA / "small_graphs.json").read_text())}


def solved(n, edges, weights, **options):
    sdp = LowRankSdp(build_csr(n, np.asarray(edges, np.int32).reshape(-1, 2), weights), seed=1, **options)
    while not sdp.advance(100):
        pass
    return sdp


def least_eigenvalue(n, edges, weights, certificate):
    """Return that of M + delta I."""
    adjacency = np.zeros((n, n))
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = weights
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    return np.linalg.eigvalsh(np.diag(certificate["y"]) - laplacian / 4 + certificate["delta"] * np.eye(n))[0]


CLOSED_FORMS = {
    "cycle of 5": (nx.cycle_graph(5), 5 * (1 + math.cos(math.pi / 5)) / 2),
    "cycle of 7": (nx.cycle_graph(7), 7 * (1 + math.cos(math.pi / 7)) / 2),
    "cycle of 101": (nx.cycle_graph(101), 101 * (1 + math.cos(math.pi / 101)) / 2),
    "complete graph of 4": (nx.complete_graph(4), 4.0),
    "complete graph of 9": (nx.complete_graph(9), 9**2 / 4),
    "Petersen graph": (nx.petersen_graph(), 12.5),
    "complete bipartite graph": (nx.complete_bipartite_graph(5, 8), 40.0),
    "tree": (nx.balanced_tree(2, 5), 62.0),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_primal_and_dual_meet_at_the_closed_form(name):
    graph, optimum = CLOSED_FORMS[name]
    edges = np.array(graph.edges)

    sdp = solved(len(graph), edges, np.ones(len(edges)))

    assert sdp.primal == pytest.approx(optimum, rel=1e-5)
    assert optimum - 1e-9 <= sdp.dual_bound(integral=False).value <= optimum * (1 + 1e-4)


@pytest.mark.parametrize("name", SMALL_GRAPHS)
def test_small_graphs_have_the_value_of_an_interior_point_solver(name):
    case = SMALL_GRAPHS[name]

    sdp = solved(case["n"], case["edges"], case["edge_weights"])
    bound = sdp.dual_bound(integral=False).value

    expected = case["bounds"]["maxcut_sdp"]
    assert sdp.primal == pytest.approx(expected, abs=1e-4 * max(1, abs(expected)))
    assert max(expected - 1e-4, case["optimum"]["max_cut"]) <= bound <= expected + 1e-3 * max(1, abs(expected))


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("G1", 12083.198), ("G14", 3191.567), ("G22", 14135.946), ("G43", 7032.222), ("G11", 629.164), ("G50", 5988.172)],
)
def test_gset_graphs_are_bounded_within_a_ten_thousandth_of_the_relaxation(name, optimum):
    csr, _, _ = gset_csr(name)
    sdp = LowRankSdp(csr, seed=1)
    while not sdp.advance(100):
        pass

    assert sdp.primal == pytest.approx(optimum, rel=1e-5)
    assert sdp.primal <= sdp.dual_bound(integral=False).value <= optimum * (1 + 1e-4)


@given(signed_graphs(), st.sampled_from([0, 1, 5, 1000]))
def test_no_cut_is_worth_more_than_the_bound_of_any_state_of_the_solver(graph, sweeps):
    n, edges, weights = graph
    sdp = LowRankSdp(build_csr(n, edges, weights), seed=1)
    sdp.advance(sweeps)

    bound = sdp.dual_bound(integral=False)

    assert bound.value >= max(largest_cut(n, edges, weights), sdp.primal - 1e-9)
    assert n == 0 or least_eigenvalue(n, edges, weights, bound.certificate) >= 0
    assert bound.value == pytest.approx(sum(bound.certificate["y"]) + n * bound.certificate["delta"])


@given(signed_graphs(), st.sampled_from([0, 5, 1000]))
def test_a_bound_rounded_down_holds_for_whole_weights(graph, sweeps):
    n, edges, weights = graph
    sdp = LowRankSdp(build_csr(n, edges, weights), seed=1)
    sdp.advance(sweeps)

    bound = sdp.dual_bound(integral=True).value

    assert bound == int(bound) >= largest_cut(n, edges, weights)
    assert bound <= sdp.dual_bound(integral=False).value + 1e-9


@given(signed_graphs(max_vertices=6, weights=st.floats(-1, 1)), st.sampled_from([-900, -600, 0, 400]))
def test_weights_of_any_magnitude_are_bounded_as_tightly(graph, exponent):
    n, edges, weights = graph
    weights = np.ldexp(weights.astype(float), exponent)
    sdp = solved(n, edges, np.zeros(len(edges)), edge_weights=weights)

    bound = sdp.dual_bound(integral=False).value

    total = np.abs(weights).sum()
    assert largest_cut(n, edges, weights) <= bound <= sdp.primal + 1e-3 * total + 1e-299


def test_weights_whose_magnitudes_sum_to_2_to_the_53_are_bounded():
    edges, _ = random_graph(8, 20, np.random.default_rng(0))
    weights = np.random.default_rng(1).integers(-(2**48), 2**48, len(edges))

    bound = solved(8, edges, weights).dual_bound(integral=True).value

    assert largest_cut(8, edges, weights) <= bound < 1.01 * np.abs(weights).sum()


@given(signed_graphs())
def test_the_eigenvalue_bound_is_the_largest_eigenvalue_of_the_laplacian(graph):
    n, edges, weights = graph
    sdp = LowRankSdp(build_csr(n, edges, weights), seed=1)

    bound = sdp.eigenvalue_bound(integral=False).value

    adjacency = np.zeros((n, n))
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = weights
    expected = n / 4 * np.linalg.eigvalsh(np.diag(adjacency.sum(axis=1)) - adjacency)[-1] if n else 0.0
    assert largest_cut(n, edges, weights) <= bound
    assert expected - 1e-9 <= bound <= expected + 1e-3 * max(1.0, np.abs(weights).sum())


def test_no_sweep_ever_loses_value():
    csr, _, _ = gset_csr("G14")
    sdp = LowRankSdp(csr, seed=1)

    values = [sdp.primal]
    while not sdp.advance(1):
        values.append(sdp.primal)

    assert (np.diff(values) > -1e-8).all()


def test_vectors_keep_unit_length():
    csr, _, _ = gset_csr("G11")
    sdp = LowRankSdp(csr, seed=1)
    sdp.advance(50)

    assert np.linalg.norm(sdp.vectors, axis=1) == pytest.approx(np.ones(800))


def test_sweeps_in_pieces_equal_sweeps_at_once():
    csr, _, _ = gset_csr("G11")
    whole, pieces = LowRankSdp(csr, seed=4), LowRankSdp(csr, seed=4)

    whole.advance(30)
    for _ in range(10):
        pieces.advance(3)

    assert np.array_equal(whole.vectors, pieces.vectors)


def test_a_large_graph_hands_back_before_all_sweeps_are_run(monkeypatch):
    csr, _, _ = gset_csr("G11")
    monkeypatch.setattr(low_rank_sdp, "WORK_PER_CALL", 1)
    sdp = LowRankSdp(csr, seed=4)

    sdp.advance(30)

    assert sdp.sweeps_done == 1


@pytest.mark.parametrize("limit", [{"deadline": 0.0}, {"stop": lambda: True}])
def test_no_proof_is_begun_when_time_is_up(limit):
    csr, _, _ = gset_csr("G11")

    assert LowRankSdp(csr, seed=1).dual_bound(integral=True, **limit) is None


def test_vertices_without_edges_cost_nothing():
    edges, weights = random_graph(8, 20, np.random.default_rng(5))

    alone, among_others = (solved(n, edges, weights).dual_bound(integral=False).value for n in (8, 40))

    assert among_others == pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_graph_without_edges_is_bounded_by_nothing(n):
    assert solved(n, [], []).dual_bound(integral=True).value == 0


def test_ritz_values_lie_inside_the_spectrum_and_reach_its_ends():
    matrix = np.random.default_rng(0).standard_normal((40, 40))
    matrix = matrix + matrix.T + 100 * np.eye(40)
    ends = np.linalg.eigvalsh(matrix)[[0, -1]]

    few = ritz_values(lambda x: matrix @ x, 40, steps=8)
    all_steps = ritz_values(lambda x: matrix @ x, 40, steps=60)

    assert ends[0] < few[0] < few[1] < ends[1]
    assert all_steps == pytest.approx(ends)
