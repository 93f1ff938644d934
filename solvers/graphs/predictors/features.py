"""What is measured about a vertex and a neighbour of it, for a model that predicts the vertex's side.

Of an edge uv, the bit about v comes from the degrees of both, and from how v lies in the graph: the mean degree of its neighbours, its core
number, the share of pairs of neighbours that are joined and, where the problem is about covers or independent sets, its value in the
half-integral optimum of vertex cover's linear relaxation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.graphs.arrays import Array
from solvers.graphs.canonical import Instance
from solvers.graphs.csr import build_csr
from solvers.graphs.degeneracy import removal_order
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.predictors.solved_instances import Problem
from solvers.graphs.predictors.triangles import triangles_at

_OF_CUTS = (
    "log_degree",
    "log_neighbour_degree",
    "degree_share",
    "mean_neighbour_degree",
    "core_number",
    "triangle_share",
)

FEATURES: dict[str, tuple[str, ...]] = {
    "max-cut": _OF_CUTS,
    "vertex-cover": (*_OF_CUTS, "relaxation"),
    "independent-set": (*_OF_CUTS, "relaxation"),
}
"""Names of the columns of :meth:`VertexFeatures.about`, by problem."""


class VertexFeatures:
    """Features of one graph, by vertex.

    Parameters
    ----------
    instance : Instance
    problem : {"max-cut", "vertex-cover", "independent-set"}
    stop : callable
        Asked now and then; once true, what is not finished counts as 0, or as 1/2 in the relaxation.

    Notes
    -----
    O(m d) for a graph of degeneracy d, and what the relaxation takes.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> star = VertexFeatures(canonicalise(Graph(3, [[0, 1], [0, 2]])), "vertex-cover")
    >>> star.about(np.array([1]), np.array([0])).round(2).tolist()
    [[0.69, 1.1, 0.33, 2.0, 1.0, 0.0, 0.0]]
    """

    def __init__(self, instance: Instance, problem: Problem, *, stop: Callable[[], bool] = lambda: False) -> None:
        csr = build_csr(instance.num_vertices, instance.edges, np.ones(len(instance.edges), np.int64))
        n = csr.num_vertices
        degrees = np.diff(csr.indptr)
        sources = np.repeat(np.arange(n), degrees)
        divisors = np.maximum(degrees, 1)
        order = removal_order(csr)
        pairs_of_neighbours = np.maximum(degrees * (degrees - 1) // 2, 1)
        columns = [
            np.bincount(sources, degrees[csr.indices], minlength=n) / divisors,
            _core_numbers(order, sources, csr.indices),
            triangles_at(csr, order, stop=stop) / pairs_of_neighbours,
        ]
        if problem != "max-cut":
            columns.append(half_integral_cover(csr, np.ones(n, np.int64), stop=stop).doubled / 2)
        self.degrees = degrees
        self._columns = np.column_stack(columns).astype(np.float64)

    def about(self, vertices: Array, neighbours: Array) -> Array:
        """Return a row of features for each vertex as the end of an edge to the neighbour, float64 of shape (r, features)."""
        own, other = self.degrees[vertices].astype(np.float64), self.degrees[neighbours].astype(np.float64)
        both = np.column_stack((np.log1p(own), np.log1p(other), own / (own + other)))
        return np.hstack((both, self._columns[vertices]))


def _core_numbers(order: Array, sources: Array, heads: Array) -> Array:
    """Return the largest k such that a vertex lies in a subgraph of least degree k, by the order in which least degrees leave."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    left_behind = np.bincount(sources[place[heads] > place[sources]], minlength=len(order))
    cores = np.zeros(len(order), np.int64)
    cores[order] = np.maximum.accumulate(left_behind[order])
    return cores
