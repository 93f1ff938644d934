"""Graphs with weights of either sign, and their largest cuts by trying every cut."""

import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.solvers.graphs.prediction_vectors import DATA


class SignedGraph(NamedTuple):
    num_vertices: int
    edges: np.ndarray
    weights: np.ndarray


SMALL_WEIGHTS = st.integers(-6, 6)


@st.composite
def signed_graphs(draw, max_vertices=10, max_edges=None, weights=SMALL_WEIGHTS):
    num_vertices = draw(st.integers(0, max_vertices))
    pairs = [pair for u, v in itertools.combinations(range(num_vertices), 2) for pair in ((u, v), (v, u))]
    edges = draw(st.lists(st.sampled_from(pairs), unique_by=frozenset, max_size=max_edges)) if pairs else []
    values = draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))
    return SignedGraph(num_vertices, np.array(edges, np.int32).reshape(-1, 2), np.array(values, np.int64))


def random_graph(rng, num_vertices, num_edges, lightest=-9, heaviest=9):
    """Draw a simple graph with weights other than 0."""
    pairs = np.array(list(itertools.combinations(range(num_vertices), 2)), np.int32)
    edges = pairs[rng.permutation(len(pairs))[:num_edges]]
    weights = rng.integers(lightest, heaviest, len(edges))
    return SignedGraph(num_vertices, edges, np.where(weights >= 0, weights + 1, weights))


def grid(rows, columns):
    """Return the edges of a grid, its vertices numbered row by row."""
    places = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
    right = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
    return np.concatenate([down, right])


def gset_graph(name):
    """Return a graph of the Gset with its weights."""
    text = DATA / "maxcut" / f"{name}.txt"
    num_vertices, _ = map(int, text.open().readline().split())
    rows = np.loadtxt(text, skiprows=1, dtype=np.int64)
    return SignedGraph(num_vertices, (rows[:, :2] - 1).astype(np.int32), rows[:, 2])


def largest_cut(graph):
    """Return the value of the largest cut, in Python's integers."""
    best = 0
    for code in range(1 << max(0, graph.num_vertices - 1)):
        best = max(best, value_of(graph, [code >> v & 1 for v in range(graph.num_vertices)]))
    return best


def value_of(graph, sides):
    edges, weights = graph.edges.tolist(), graph.weights.tolist()
    return sum(weight for (u, v), weight in zip(edges, weights, strict=True) if sides[u] != sides[v])
