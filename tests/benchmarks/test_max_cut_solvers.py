"""Every peer is asked about the graph that is meant."""

import itertools

import numpy as np
import pytest

from benchmarks.gset import cut_value
from benchmarks.max_cut_solvers import PREPARED
from solvers.graphs.graph import Graph

MODULES = {"dwave-tabu": "dwave.samplers", "dwave-annealing": "dwave.samplers"}


@pytest.fixture(scope="module")
def a_signed_graph():
    rng = np.random.default_rng(3)
    edges = np.array(list(itertools.combinations(range(8), 2)))[rng.random(28) < 0.7]
    return Graph(8, edges, rng.integers(-3, 4, len(edges)))


@pytest.fixture(scope="module")
def largest_cut(a_signed_graph):
    return max(cut_value(a_signed_graph, np.array(sides, np.int8)) for sides in itertools.product((0, 1), repeat=8))


@pytest.mark.parametrize("solver", [name for name in PREPARED if not name.startswith("networkx")])
def test_a_solver_finds_the_largest_cut_of_a_small_signed_graph(solver, a_signed_graph, largest_cut):
    pytest.importorskip(MODULES.get(solver, "numpy"))

    answer = PREPARED[solver](a_signed_graph)(0, 0.2)

    assert cut_value(a_signed_graph, answer.sides) == largest_cut
    assert answer.claimed == largest_cut


@pytest.mark.parametrize("solver", [name for name in PREPARED if name.startswith("networkx")])
def test_a_cut_of_networkx_is_worth_what_it_claims(solver, a_signed_graph):
    answer = PREPARED[solver](a_signed_graph)(0, 0.05)

    assert cut_value(a_signed_graph, answer.sides) == answer.claimed > 0
