"""What convex relaxations say of a solution before anything is learnt: of each vertex or set, how likely it is to be chosen.

Vertex cover's linear relaxation has a half-integral optimum that some best cover agrees with wherever it is integral (Nemhauser and
Trotter, 1975). Set cover's says what share of each set to take. MaxCut's semidefinite relaxation places every vertex on a sphere; turned
so that the vectors of each component vary most along the first axis, the sign of the first coordinate is a side, and
1 - arccos(coordinate) / pi is the probability that a random hyperplane leaves the vertex on the axis' side (Goemans and Williamson,
1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from solvers.graphs.arrays import Array
from solvers.graphs.canonical import Instance
from solvers.graphs.components import connected_components
from solvers.graphs.csr import build_csr
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.incidence import build_incidence
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.lagrangian_bound import LARGEST_LP, lp_prices
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.set_system import SetSystem

MOST_SWEEPS = 300
"""Of the mixing method; further ones move the bound, and hardly a sign."""

SWEEPS_PER_CALL = 10

POWER_STEPS = 50
"""Towards the leading axis; what is left of the others by then is nearly as good."""

Stop = Callable[[], bool]


def cover_relaxation(instance: Instance, *, stop: Stop = lambda: False) -> Array:
    """Return the half-integral optimum of vertex cover's linear relaxation, float64 of shape (n,); all 1/2 if it was stopped.

    Notes
    -----
    A vertex with a self-loop is in every cover. O(m sqrt(n)) without weights.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> cover_relaxation(canonicalise(Graph(4, [[0, 1], [0, 2], [0, 3]]), "vertex-cover")).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    edges = instance.edges[~np.isin(instance.edges, instance.loops).any(axis=1)]
    csr = build_csr(instance.num_vertices, edges, np.ones(len(edges), np.int64))
    shares: Array = half_integral_cover(csr, to_integers(instance.vertex_weights).weights, stop=stop).doubled / 2
    shares[instance.loops] = 1.0
    return shares


def cut_relaxation(instance: Instance, *, stop: Stop = lambda: False) -> Array:
    """Return how likely a random hyperplane leaves each vertex on the leading axis' side in its component, float64 of shape (n,).

    NaN for vertices without edges, and for all if it was stopped before the first sweep.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> cut_relaxation(canonicalise(Graph(4, [[0, 1], [1, 2]]))).round(3).tolist()
    [0.0, 1.0, 0.0, nan]
    """
    n, edges = instance.num_vertices, instance.edges
    csr = build_csr(n, edges, to_integers(instance.edge_weights).weights)
    relaxation = LowRankSdp(csr, seed=0)
    while not (relaxation.converged or stop()) and relaxation.sweeps_done < MOST_SWEEPS:
        relaxation.advance(SWEEPS_PER_CALL)
    if relaxation.sweeps_done == 0:
        return np.full(n, np.nan)
    magnitudes = np.abs(instance.edge_weights).astype(np.float64)
    pull = np.bincount(edges.ravel(), np.repeat(magnitudes, 2), minlength=n)
    first = _first_coordinates(relaxation.vectors, pull, connected_components(n, edges))
    return np.where(pull > 0, 1 - np.arccos(first.clip(-1, 1)) / math.pi, np.nan)


def _first_coordinates(vectors: Array, pull: Array, components: Array) -> Array:
    """Return the coordinates along each component's leading axis, found by the power method from its vertex of largest `pull`."""
    order = np.lexsort((-pull, components))
    sorted_vectors = vectors[order]
    begins = np.flatnonzero(np.diff(components[order], prepend=-1))
    part = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(order)))
    axes = sorted_vectors[begins]
    for _ in range(POWER_STEPS):
        along = np.einsum("ij,ij->i", sorted_vectors, axes[part])
        axes = np.add.reduceat(along[:, None] * sorted_vectors, begins, axis=0)
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    first = np.empty(len(order))
    first[order] = np.einsum("ij,ij->i", sorted_vectors, axes[part])
    return first


def set_relaxation(system: SetSystem, *, stop: Stop = lambda: False) -> Array:
    """Return how much of each set the linear relaxation takes, float64 of shape (n,); NaN if it is too large or was stopped.

    Parameters
    ----------
    system : SetSystem
        Every element in some set.

    Examples
    --------
    >>> set_relaxation(SetSystem([[0, 1], [1, 2], [0, 2], [3]])).tolist()
    [0.5, 0.5, 0.5, 1.0]
    """
    incidence = build_incidence(system.num_elements, system.set_ptr, system.elements, to_integers(system.costs).weights)
    if len(system.elements) > LARGEST_LP:
        return np.full(system.num_sets, np.nan)
    solved = lp_prices(incidence, stop=stop) if len(system.elements) else None
    if solved is None:
        return np.full(system.num_sets, 0.0 if system.num_elements == 0 else np.nan)
    return solved.shares.clip(0, 1) if solved.is_optimal else np.full(system.num_sets, np.nan)
