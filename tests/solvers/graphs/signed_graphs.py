"""Random graphs with weights of both signs, and their largest cuts by trying all."""

import numpy as np
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr
from tests.solvers.graphs.prediction_vectors import DATA

SMALL_WEIGHTS = st.integers(-5, 5)


@st.composite
def signed_graphs(draw, max_vertices=8, weights=SMALL_WEIGHTS):
    """Draw (number of vertices, edges, weights)."""
    n = draw(st.integers(0, max_vertices))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    drawn = draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))
    return n, np.array(edges, np.int32).reshape(-1, 2), np.array(drawn, np.int64 if all(type(w) is int for w in drawn) else float)


def random_graph(num_vertices, num_edges, rng, weights=(-3, -2, -1, 1, 2, 3)):
    """Return (edges, weights) with distinct edges, in random order."""
    pairs = np.stack(np.triu_indices(num_vertices, 1), axis=1)
    edges = pairs[rng.permutation(len(pairs))[:num_edges]].astype(np.int32)
    return edges, rng.choice(np.array(weights), len(edges))


def largest_cut(num_vertices, edges, weights):
    """Return the largest value of a cut, all being tried."""
    codes = np.arange(2 ** max(0, num_vertices - 1))[:, None]
    sides = codes >> np.arange(max(1, num_vertices)) & 1
    return (sides[:, edges[:, 0]] != sides[:, edges[:, 1]]).astype(weights.dtype).dot(weights).max()


def gset_csr(name):
    """Return the adjacency of a graph of the Gset, with its edges and weights."""
    num_vertices, _ = map(int, (DATA / "maxcut" / f"{name}.txt").open().readline().split())
    rows = np.loadtxt(DATA / "maxcut" / f"{name}.txt", skiprows=1, dtype=np.int64)
    edges = (rows[:, :2] - 1).astype(np.int32)
    return build_csr(num_vertices, edges, rows[:, 2]), edges, rows[:, 2]
