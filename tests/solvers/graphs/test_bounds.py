"""Bounds on the largest cut, asked for alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.graphs.bounds import BoundsRequest, run_bounds
from solvers.graphs.verify import prove
from solvers.operation import Context


def bounds(**fields):
    return run_bounds(BoundsRequest(**fields), Context(60, seed=0))


def optimum(num_vertices, edges, weights):
    sides = np.array(list(itertools.product([0, 1], repeat=num_vertices)))
    return ((sides[:, edges[:, 0]] != sides[:, edges[:, 1]]) * weights).sum(axis=1).max()


@pytest.mark.parametrize("seed", range(25))
def test_every_kind_lies_above_the_optimum_and_is_proven_by_its_certificate(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(8), 2)))
    edges = pairs[rng.random(len(pairs)) < 0.5]
    weights = rng.integers(-4, 5, len(edges)) if seed % 2 else rng.normal(size=len(edges))
    largest = optimum(8, edges, weights)

    for kind in [None, "trivial", "odd_cycles", "sdp_dual", "enumeration", "elimination", "reduced"]:
        result = bounds(num_vertices=8, edges=edges.tolist(), edge_weights=weights.tolist(), kinds=kind and [kind])
        proof = prove(8, edges, weights, result.certificate)
        assert result.bound >= largest
        assert proof.faults == ()
        assert proof.bound == pytest.approx(result.bound, rel=1e-9)


def test_least_of_all_kinds_is_returned():
    result = bounds(num_vertices=5, edges=list(itertools.combinations(range(5), 2)))
    assert result.bound == min(outcome.bound for outcome in result.kinds) == 6


def test_kind_that_does_not_apply_says_why():
    result = bounds(num_vertices=26, edges=[[0, 1]], kinds=["enumeration"])
    assert (result.kinds[0].bound, result.kinds[0].reason) == (None, "26 vertices are more than 25")
    assert result.bound == 1


def test_relaxation_of_the_pentagon_is_known():
    result = bounds(edges=[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], edge_weights=[1e6] * 5, kinds=["sdp_dual"])
    assert result.bound == pytest.approx(5 * (1 + np.cos(np.pi / 5)) / 2 * 1e6, rel=1e-5)


def test_graph_without_vertices_has_bound_0():
    assert bounds(num_vertices=0, edges=[]).bound == 0


def test_no_kind_is_begun_once_the_time_is_up():
    request = BoundsRequest.model_validate({"edges": [[0, 1], [1, 2], [2, 0]], "kinds": ["trivial", "odd_cycles", "reduced"]})

    result = run_bounds(request, Context(time_limit=0))

    assert (result.bound, result.bound_kind, result.stopped_by) == (3, "trivial", "time_limit")
    assert [outcome.reason for outcome in result.kinds] == [None, "time ran out", "time ran out"]
