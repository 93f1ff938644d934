"""Graphs with weights of the vertices, drawn at random, and their heaviest independent sets by trying all."""

import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr
from solvers.graphs.formats import read_graph
from tests.solvers.graphs.prediction_vectors import DATA

SMALL_WEIGHTS = st.integers(1, 6)


class WeightedVertices(NamedTuple):
    num_vertices: int
    edges: np.ndarray
    weights: np.ndarray

    @property
    def csr(self):
        return build_csr(self.num_vertices, self.edges, np.ones(len(self.edges), np.int64))


@st.composite
def weighted_vertices(draw, max_vertices=9, weights=SMALL_WEIGHTS):
    """Draw a graph; its edges are in random order and direction, its weights all 1 in half of the cases."""
    n = draw(st.integers(0, max_vertices))
    pairs = list(itertools.permutations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique_by=frozenset)) if pairs else []
    drawn = [1] * n if draw(st.booleans()) else draw(st.lists(weights, min_size=n, max_size=n))
    dtype = np.int64 if all(type(w) is int for w in drawn) else float
    return WeightedVertices(n, np.array(edges, np.int32).reshape(-1, 2), np.array(drawn, dtype))


def heaviest_independent_set(num_vertices, edges, weights):
    """Return the largest weight of an independent set, all being tried."""
    return max(weight for _, weight in independent_sets(num_vertices, edges, weights))


def independent_sets(num_vertices, edges, weights):
    """Yield every independent set as a tuple of 0 and 1, with its weight."""
    pairs = np.asarray(edges).reshape(-1, 2).tolist()
    for members in itertools.product((0, 1), repeat=num_vertices):
        if not any(members[u] and members[v] for u, v in pairs):
            yield members, sum(w for w, member in zip(weights, members, strict=True) if member)


def is_cover(edges, members):
    """Return whether every edge has an end among the members."""
    pairs = np.asarray(edges).reshape(-1, 2)
    return bool((np.asarray(members, bool)[pairs].any(axis=1)).all())


def is_independent(edges, members):
    """Return whether no edge has both ends among the members."""
    return is_cover(edges, ~np.asarray(members, bool))


def random_edges(num_vertices, num_edges, rng):
    """Return distinct edges in random order and direction."""
    pairs = np.stack(np.triu_indices(num_vertices, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:num_edges]].astype(np.int32)
    return np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])


def dimacs_graph(name):
    """Return one of the independent set instances, without weights."""
    graph = read_graph((DATA / "mis" / f"{name}.mis").read_text(), "dimacs")
    return WeightedVertices(graph.num_vertices, np.asarray(graph.edges, np.int32), np.ones(graph.num_vertices, np.int64))


def weighed(graph, seed):
    """Return the graph with random weights from 1 to 99."""
    return graph._replace(weights=np.random.default_rng(seed).integers(1, 100, graph.num_vertices))


def sparse_graph(num_vertices, num_edges, seed):
    """Return a random graph without weights, which may be large."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, num_vertices, (2 * num_edges, 2)), axis=1)
    edges = rng.permutation(np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0))[:num_edges]
    return WeightedVertices(num_vertices, edges.astype(np.int32), np.ones(num_vertices, np.int64))
