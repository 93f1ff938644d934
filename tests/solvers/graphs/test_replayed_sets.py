"""Reductions of covers and independent sets replayed: the kernel that a proof is about is the one that the solver left, edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from solvers.graphs.cover_reductions import reduce_cover
from solvers.graphs.proofs.independent_reduced import replay_on_sets
from solvers.graphs.proofs.instance import ProofInstance
from tests.solvers.graphs.weighted_vertices import WeightedVertices, random_edges, weighted_vertices


def assert_replays(graph: WeightedVertices, least_steps: int = 0) -> None:
    """Certificates of the kernel name its edges by their place, so that these must come in the same order."""
    reduction = reduce_cover(*graph)
    steps = reduction.steps()

    kernel, constant = replay_on_sets(ProofInstance(*graph, 0), {"steps": steps}, lambda: False)

    assert len(steps) >= least_steps
    assert constant == reduction.constant
    assert kernel.edges.tolist() == reduction.edges.tolist()
    assert kernel.weights.tolist() == reduction.weights.tolist()


@settings(max_examples=150)
@given(weighted_vertices(max_vertices=12))
def test_a_small_graph_replays_to_its_kernel(graph: WeightedVertices) -> None:
    assert_replays(graph)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighs_the_same", [True, False])
def test_a_graph_of_which_much_folds_and_much_stays_replays_to_its_kernel(seed: int, weighs_the_same: bool) -> None:
    rng = np.random.default_rng(seed)
    core = random_edges(60, 400, rng)
    edges = np.concatenate([core, random_edges(150, 190, rng) + 50])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    weights = np.ones(200, np.int64) if weighs_the_same else rng.integers(1, 9, 200)

    assert_replays(WeightedVertices(200, edges, weights), least_steps=50)
