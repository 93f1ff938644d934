"""All connected graphs of up to six vertices, under every method: bounds bracket the optimum, names and units change nothing."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import Graph, SetSystem, independent_set, max_cut, set_cover, vertex_cover
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context

METHODS = ("auto", "exact", "paper", "greedy", "local_search")
SOLVERS = {"max-cut": max_cut, "vertex-cover": vertex_cover, "independent-set": independent_set, "set-cover": set_cover}
MAXIMA = ("max-cut", "independent-set")

ATLAS = [graph for graph in nx.graph_atlas_g() if 1 <= len(graph) <= 6 and nx.is_connected(graph)]

every = pytest.mark.parametrize("problem", SOLVERS)


class Case(NamedTuple):
    """A graph with a weight for every edge and every vertex; as a set system its edges are elements, its stars the sets."""

    num_vertices: int
    edges: np.ndarray
    edge_weights: np.ndarray
    vertex_weights: np.ndarray

    def body(self, problem: str) -> dict[str, Any]:
        """Return the fields of a request."""
        if problem == "set-cover":
            stars = [np.flatnonzero((self.edges == vertex).any(axis=1)).tolist() for vertex in range(self.num_vertices)]
            return {"sets": stars, "costs": self.vertex_weights.tolist(), "num_elements": len(self.edges)}
        return {
            "num_vertices": self.num_vertices,
            "edges": self.edges.tolist(),
            "edge_weights": self.edge_weights.tolist(),
            "vertex_weights": self.vertex_weights.tolist(),
        }

    def solved(self, problem: str, **options: Any) -> Any:
        """Return the answer of the library's function."""
        body = self.body(problem)
        instance = SetSystem(**body) if problem == "set-cover" else Graph(**body)
        return SOLVERS[problem](instance, max_iterations=50, **options)

    def optimum(self, problem: str) -> float:
        """Return the best value, all choices of vertices being tried."""
        choices = np.arange(2**self.num_vertices)[:, None] >> np.arange(self.num_vertices) & 1
        ends = choices[:, self.edges]
        if problem == "max-cut":
            return float(((ends[:, :, 0] != ends[:, :, 1]) @ self.edge_weights).max(initial=0))
        weights = choices @ self.vertex_weights
        if problem == "independent-set":
            return float(weights[~ends.all(axis=2).any(axis=1)].max())
        return float(weights[ends.any(axis=2).all(axis=1)].min())

    def renamed(self, order: np.ndarray) -> Case:
        """Return the same graph with vertex v named order[v], its edges the other way round and in another order."""
        weights = np.empty_like(self.vertex_weights)
        weights[order] = self.vertex_weights
        return Case(self.num_vertices, order[self.edges][::-1, ::-1], self.edge_weights[::-1], weights)

    def scaled(self, factor: int) -> Case:
        """Return the same graph with weights so many times as large."""
        return self._replace(edge_weights=factor * self.edge_weights, vertex_weights=factor * self.vertex_weights)


@cache
def cases(weighted: bool) -> list[Case]:
    rng = np.random.default_rng(7)
    found = []
    for graph in ATLAS:
        edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
        edge_weights, vertex_weights = np.ones(len(edges), np.int64), np.ones(len(graph), np.int64)
        if weighted:
            edge_weights, vertex_weights = rng.integers(-3, 7, len(edges)), rng.integers(0, 9, len(graph))
        found.append(Case(len(graph), edges, edge_weights, vertex_weights))
    return found


def test_the_graphs_are_all_there_are() -> None:
    assert len(ATLAS) == 1 + 1 + 2 + 6 + 21 + 112


@pytest.mark.parametrize(
    ("problem", "method"), [*((problem, method) for problem in SOLVERS for method in METHODS), ("max-cut", "sdp")]
)
@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_value_and_bound_bracket_the_optimum_and_are_proven(problem: str, method: str, weighted: bool) -> None:
    for case in cases(weighted):
        optimum = case.optimum(problem)

        result = case.solved(problem, method=method)

        low, high = (result.value, result.bound) if problem in MAXIMA else (result.bound, result.value)
        assert low <= optimum <= high, case
        proof = {"problem": problem, "solution": result.solution, "certificate": result.certificate}
        again = run_verify(VerifyRequest.model_validate(case.body(problem) | proof), Context())
        assert (again.feasible, again.value, again.bound, again.faults) == (True, result.value, result.bound, []), case
        if method in ("auto", "exact"):
            assert (result.value, result.bound, result.optimal) == (optimum, optimum, True), case


@every
@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_other_names_of_the_vertices_change_no_optimum_and_no_bound(problem: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    for case in cases(weighted):
        renamed = case.renamed(rng.permutation(case.num_vertices))

        result, again = case.solved(problem), renamed.solved(problem)

        assert (again.value, again.bound) == (result.value, result.bound), case


@every
@pytest.mark.parametrize("factor", [3, 10**12])
def test_values_and_bounds_scale_with_the_weights(problem: str, factor: int) -> None:
    for case in cases(weighted=True):
        result, scaled = case.solved(problem), case.scaled(factor).solved(problem)

        assert (scaled.value, scaled.bound) == (factor * result.value, factor * result.bound), case


@pytest.mark.parametrize("weighted", [False, True], ids=["unit", "weighted"])
def test_a_cover_and_an_independent_set_weigh_all_vertices_and_stars_cover_as_vertices_do(weighted: bool) -> None:
    for case in cases(weighted):
        cover = case.solved("vertex-cover").value

        assert cover + case.solved("independent-set").value == case.vertex_weights.sum(), case
        assert case.solved("set-cover").value == cover, case
