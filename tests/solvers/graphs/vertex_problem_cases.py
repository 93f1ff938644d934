"""Graphs, answers and their checks for tests of vertex cover and independent set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from solvers.graphs import EdgePredictions, Graph, independent_set, sample_edge_predictions, vertex_cover
from solvers.graphs.formats import read_graph
from solvers.graphs.independent_set import INDEPENDENT_SET, IndependentSetRequest
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.graphs.vertex_cover import VERTEX_COVER, VertexCoverRequest
from solvers.operation import Context
from tests.solvers.graphs.weighted_vertices import heaviest_independent_set, is_cover, is_independent, random_edges

DATA = Path(__file__).parents[2] / "data" / "graphs"
SMALL = json.loads((DATA / "small_graphs.json").read_text())
METHODS = ["auto", "paper", "greedy", "local_search", "exact"]
SOLVERS = {"vertex-cover": vertex_cover, "independent-set": independent_set}
REQUESTS = {"vertex-cover": VertexCoverRequest, "independent-set": IndependentSetRequest}
OPERATIONS = {"vertex-cover": VERTEX_COVER, "independent-set": INDEPENDENT_SET}
LARGEST = {
    "C250.9": 44,
    "brock200_2": 12,
    "p_hat300-3": 36,
    "san200_0.9_1": 70,
    "gen200_p0.9_44": 44,
    "sanr200_0.9": 42,
    "rb30-1": 30,
    "CA-GrQc": 2459,
}

both = pytest.mark.parametrize("problem", SOLVERS)


def mis(name: str) -> Graph:
    return read_graph((DATA / "mis" / f"{name}.mis").read_text())


def circulant(num_vertices: int = 61, weights: np.ndarray | None = None) -> Graph:
    """A graph that no reduction makes smaller."""
    ring = np.arange(num_vertices)
    edges = np.concatenate([np.column_stack([ring, (ring + step) % num_vertices]) for step in (1, 3, 8, 12)])
    return Graph(num_vertices, edges, vertex_weights=weights)


def weighted_graph(seed: int, num_vertices: int = 10) -> Graph:
    rng = np.random.default_rng(seed)
    edges = random_edges(num_vertices, int(rng.integers(5, 30)), rng)
    return Graph(num_vertices, edges, vertex_weights=rng.integers(0, 9, num_vertices))


def optimum(graph: Graph, problem: str) -> float:
    weights = np.ones(graph.num_vertices, np.int64) if graph.vertex_weights is None else graph.vertex_weights
    heaviest = heaviest_independent_set(graph.num_vertices, graph.edges, weights)
    return heaviest if problem == "independent-set" else weights.sum() - heaviest


def is_solution(graph: Graph, problem: str, solution: list[int]) -> bool:
    members = np.zeros(graph.num_vertices, bool)
    members[np.array(solution, np.int64) - graph.index_base] = True
    return (is_cover if problem == "vertex-cover" else is_independent)(graph.edges, members)


def verified(graph: Graph, problem: str, result):
    """What verification says of an answer."""
    body = {
        "problem": problem,
        "num_vertices": graph.num_vertices,
        "edges": (graph.edges + graph.index_base).tolist(),
        "index_base": graph.index_base,
        "vertex_weights": None if graph.vertex_weights is None else graph.vertex_weights.tolist(),
        "solution": result.solution,
        "certificate": result.certificate,
    }
    return run_verify(VerifyRequest.model_validate(body), Context())


def reference_bits(graph: Graph, problem: str, epsilon: float, seed: int = 0) -> EdgePredictions:
    solution = SOLVERS[problem](graph, max_iterations=5000, method="local_search").solution
    labels = np.zeros(graph.num_vertices, np.int8)
    labels[np.array(solution) - graph.index_base] = 1
    return sample_edge_predictions(graph.edges, labels, epsilon, seed)
