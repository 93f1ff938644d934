"""The bound from edge-disjoint odd cycles."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from solvers.graphs import odd_cycles
from solvers.graphs.csr import build_csr
from solvers.graphs.odd_cycles import odd_cycle_bound
from tests.solvers.graphs.signed_graphs import gset_csr, largest_cut, random_graph, signed_graphs


def edges_of(bound):
    """Yield, for each cycle of the certificate, its edges with the lesser end first."""
    for cycle in bound.certificate["cycles"]:
        yield [(min(u, v), max(u, v)) for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)]


def weights_by_edge(edges, weights):
    return {(min(u, v), max(u, v)): w for (u, v), w in zip(edges.tolist(), weights.tolist(), strict=True)}


@given(signed_graphs())
def test_no_cut_is_worth_more_than_the_bound(graph):
    n, edges, weights = graph

    assert odd_cycle_bound(build_csr(n, edges, weights)).value >= largest_cut(n, edges, weights)


@given(signed_graphs(max_vertices=12))
def test_the_certificate_proves_the_bound_and_leaves_nothing_odd(graph):
    n, edges, weights = graph
    weight = weights_by_edge(edges, weights)

    bound = odd_cycle_bound(build_csr(n, edges, weights))

    cycles = list(edges_of(bound))
    used = [edge for cycle in cycles for edge in cycle]
    assert all(len(cycle) % 2 == 1 for cycle in cycles)
    assert len(used) == len(set(used))
    assert all(weight[edge] > 0 for edge in used)
    assert bound.value == sum(w for w in weight.values() if w > 0) - sum(min(map(weight.get, cycle)) for cycle in cycles)
    rest = nx.Graph([edge for edge, w in weight.items() if w > 0 and edge not in set(used)])
    assert nx.is_bipartite(rest)


@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_of_a_larger_graph_leaves_nothing_odd(seed):
    edges, weights = random_graph(150, 600, np.random.default_rng(seed))
    bound = odd_cycle_bound(build_csr(150, edges, weights))

    used = [edge for cycle in edges_of(bound) for edge in cycle]
    rest = {edge for edge, w in weights_by_edge(edges, weights).items() if w > 0} - set(used)
    assert len(used) == len(set(used))
    assert nx.is_bipartite(nx.Graph(list(rest)))


def test_triangles_that_share_no_edge_are_all_found():
    triangles = [[3 * k, 3 * k + 1] for k in range(50)] + [[3 * k + 1, 3 * k + 2] for k in range(50)]
    edges = np.array(triangles + [[3 * k, 3 * k + 2] for k in range(50)])

    assert odd_cycle_bound(build_csr(150, edges, np.ones(150))).value == 100


def test_the_bound_of_a_long_odd_cycle_is_one_less_than_its_edges():
    n = 9999
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)

    assert odd_cycle_bound(build_csr(n, ring, np.ones(n))).value == n - 1


def test_the_bound_of_the_grid_g50_is_its_best_known_cut():
    csr, _, _ = gset_csr("G50")

    assert odd_cycle_bound(csr).value == 5880


def test_a_stopped_packing_bounds_all_the_same(monkeypatch):
    csr, _, weights = gset_csr("G1")
    monkeypatch.setattr(odd_cycles, "WORK_PER_CALL", 10)
    calls = iter([False] * 20)

    bound = odd_cycle_bound(csr, stop=lambda: next(calls, True))

    cycles = list(edges_of(bound))
    assert 0 < len(cycles) < 5000
    assert bound.value == weights.sum() - len(cycles)


def test_a_packing_that_goes_on_after_a_stop_is_as_good_as_one_that_was_not_stopped(monkeypatch):
    csr, _, _ = gset_csr("G14")
    whole = odd_cycle_bound(csr).value
    monkeypatch.setattr(odd_cycles, "WORK_PER_CALL", 100)
    packing = odd_cycles.OddCyclePacking(csr)
    values = []

    while not packing.is_complete:
        one_call = iter([False])
        packing.advance(lambda calls=one_call: next(calls, True))
        values.append(packing.bound().value)

    assert len(values) > 100
    assert values == sorted(values, reverse=True)
    assert values[-1] == whole


def test_levels_start_again_before_they_run_out(monkeypatch):
    csr, _, _ = gset_csr("G14")
    whole = odd_cycle_bound(csr)
    monkeypatch.setattr(odd_cycles, "WORK_PER_CALL", 100)
    monkeypatch.setattr(odd_cycles, "HIGHEST_LEVEL", 50)

    assert odd_cycle_bound(csr) == whole


def test_no_triangle_is_left_once_longer_cycles_come():
    edges, weights = random_graph(300, 3000, np.random.default_rng(0))

    lengths = [len(cycle) for cycle in odd_cycle_bound(build_csr(300, edges, np.abs(weights))).certificate["cycles"]]

    triangles = lengths.count(3)
    assert 0 < triangles < len(lengths)
    assert lengths[:triangles] == [3] * triangles
