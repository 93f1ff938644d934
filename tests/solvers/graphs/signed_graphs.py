"""Graphs with weights of both signs, drawn or read, and their largest cuts by trying all."""

import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr
from tests.solvers.graphs.prediction_vectors import DATA

SMALL_WEIGHTS = st.integers(-5, 5)


class SignedGraph(NamedTuple):
    num_vertices: int
    edges: np.ndarray
    weights: np.ndarray


@st.composite
def signed_graphs(draw, max_vertices=8, max_edges=None, weights=SMALL_WEIGHTS):
    """Draw a graph; its edges are in random order and direction."""
    n = draw(st.integers(0, max_vertices))
    pairs = list(itertools.permutations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique_by=frozenset, max_size=max_edges)) if pairs else []
    drawn = draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))
    dtype = np.int64 if all(type(w) is int for w in drawn) else float
    return SignedGraph(n, np.array(edges, np.int32).reshape(-1, 2), np.array(drawn, dtype))


def random_graph(num_vertices, num_edges, rng, weights=(-3, -2, -1, 1, 2, 3)):
    """Return (edges, weights) with distinct edges, in random order."""
    pairs = np.stack(np.triu_indices(num_vertices, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:num_edges]].astype(np.int32)
    return edges, rng.choice(np.array(weights), len(edges))


def grid(rows, columns):
    """Return the edges of a grid, its vertices numbered row by row."""
    places = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
    right = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
    return np.concatenate([down, right])


def largest_cut(num_vertices, edges, weights):
    """Return the largest value of a cut, all being tried."""
    codes = np.arange(2 ** max(0, num_vertices - 1))[:, None]
    sides = codes >> np.arange(max(1, num_vertices)) & 1
    return (sides[:, edges[:, 0]] != sides[:, edges[:, 1]]).astype(weights.dtype).dot(weights).max()


def value_of(graph, sides):
    """Return the value of a cut, added up edge by edge."""
    edges, weights = graph.edges.tolist(), graph.weights.tolist()
    return sum(weight for (u, v), weight in zip(edges, weights, strict=True) if sides[u] != sides[v])


def gset_graph(name):
    """Return a graph of the Gset."""
    num_vertices, _ = map(int, (DATA / "maxcut" / f"{name}.txt").open().readline().split())
    rows = np.loadtxt(DATA / "maxcut" / f"{name}.txt", skiprows=1, dtype=np.int64)
    return SignedGraph(num_vertices, (rows[:, :2] - 1).astype(np.int32), rows[:, 2])


def gset_csr(name):
    """Return the adjacency of a graph of the Gset, with its edges and weights."""
    graph = gset_graph(name)
    return build_csr(*graph), graph.edges, graph.weights
