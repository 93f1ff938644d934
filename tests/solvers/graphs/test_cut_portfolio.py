"""What a MaxCut run does with its time."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.graphs import Graph, max_cut
from solvers.graphs.csr import build_csr
from solvers.graphs.definiteness import Definiteness
from solvers.graphs.odd_cycles import odd_cycle_bound
from tests.solvers.graphs.signed_graphs import random_graph


def test_odd_cycles_take_the_time_of_a_proof_that_the_relaxation_cannot_have(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, weights = random_graph(200, 2000, np.random.default_rng(0))
    monkeypatch.setattr(Definiteness, "possible", property(lambda self: False))

    result = max_cut(Graph(200, edges, edge_weights=weights), method="sdp", time_limit=30)

    assert result.bound_kind == "odd_cycles"
    assert result.bound == odd_cycle_bound(build_csr(200, edges, weights)).value
