"""What is measured about a vertex and a neighbour of it, or a set and an element of it, for a model that predicts their side.

Of an edge uv, the vote about v comes from the degrees of both, and from how v lies in the graph: the mean degree of its neighbours, its
core number, the share of pairs of neighbours that are joined and, where the problem is about covers or independent sets, its value in
the linear relaxation. Of a set j with an element e, the vote about j comes from the size of j, in how many sets e is, what j costs per
element beside the other sets with e, and from how rare the elements of j are, its cost and its value in the linear relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from solvers.graphs.any_instance import AnyProblem
from solvers.graphs.arrays import Array
from solvers.graphs.canonical import Instance
from solvers.graphs.csr import build_csr
from solvers.graphs.degeneracy import removal_order
from solvers.graphs.predictors.triangles import triangles_at
from solvers.graphs.set_system import SetSystem

_OF_CUTS = (
    "log_degree",
    "log_neighbour_degree",
    "degree_share",
    "mean_neighbour_degree",
    "core_number",
    "triangle_share",
)
_OF_SETS = (
    "log_size",
    "log_frequency",
    "price_share",
    "relative_cost",
    "mean_log_frequency",
    "rarity",
    "relaxation",
)

FEATURES: dict[AnyProblem, tuple[str, ...]] = {
    "max-cut": _OF_CUTS,
    "vertex-cover": (*_OF_CUTS, "relaxation"),
    "independent-set": (*_OF_CUTS, "relaxation"),
    "set-cover": _OF_SETS,
}
"""Names of the columns of :meth:`Features.rows`, by problem."""


class Features(Protocol):
    """What is measured about the votes of one instance."""

    def rows(self, votes: Array) -> Array:
        """Return a row of features for each of some votes, float64 of shape (r, features)."""


class VertexFeatures:
    """Features of one graph's votes: vote 2e + i is that of edge e about its end i.

    Parameters
    ----------
    instance : Instance
    relaxation : float array of shape (n,), optional
        The problem's linear relaxation.
    stop : callable
        Asked now and then; once true, triangles that are not found count as none.

    Notes
    -----
    O(m d) for a graph of degeneracy d.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> star = VertexFeatures(canonicalise(Graph(3, [[0, 1], [0, 2]])), np.array([1.0, 0.0, 0.0]))
    >>> star.rows(np.array([1])).round(2).tolist()
    [[0.69, 1.1, 0.33, 2.0, 1.0, 0.0, 0.0]]
    """

    def __init__(self, instance: Instance, relaxation: Array | None = None, *, stop: Callable[[], bool] = lambda: False) -> None:
        csr = build_csr(instance.num_vertices, instance.edges, np.ones(len(instance.edges), np.int64))
        n = csr.num_vertices
        degrees = np.diff(csr.indptr)
        sources = np.repeat(np.arange(n), degrees)
        order = removal_order(csr)
        pairs_of_neighbours = np.maximum(degrees * (degrees - 1) // 2, 1)
        columns = [
            np.bincount(sources, degrees[csr.indices], minlength=n) / np.maximum(degrees, 1),
            _core_numbers(order, sources, csr.indices),
            triangles_at(csr, order, stop=stop) / pairs_of_neighbours,
        ]
        if relaxation is not None:
            columns.append(relaxation)
        self._degrees = degrees.astype(np.float64)
        self._columns = np.column_stack(columns).astype(np.float64)
        self._edges = instance.edges

    def rows(self, votes: Array) -> Array:
        vertices = self._edges[votes // 2, votes % 2]
        own, other = self._degrees[vertices], self._degrees[self._edges[votes // 2, 1 - votes % 2]]
        both = np.column_stack((np.log1p(own), np.log1p(other), own / (own + other)))
        return np.hstack((both, self._columns[vertices]))


class IncidenceFeatures:
    """Features of one set system's votes: that of each element of each set, set by set.

    Parameters
    ----------
    system : SetSystem
    relaxation : float array of shape (n,)
        Set cover's linear relaxation; where it is NaN, 1/2 stands in.

    Notes
    -----
    `price_share` is p / (p + q), where p is what the set costs per element and q the mean of that over the sets with the element: 1/2
    where prices are equal. `relative_cost` is the cost over the mean cost. `rarity` is the mean of 1/frequency over the set's elements:
    1 where no other set covers any of them. None depends on the unit of the costs. O(number of votes).

    Examples
    --------
    >>> two = IncidenceFeatures(SetSystem([[0, 1], [1]], costs=[2, 3]), np.array([1.0, 0.0]))
    >>> two.rows(np.arange(3)).round(2).tolist()
    [[1.1, 0.69, 0.5, 0.8, 0.9, 0.75, 1.0], [1.1, 1.1, 0.33, 0.8, 0.9, 0.75, 1.0], [0.69, 1.1, 0.6, 1.2, 1.1, 0.5, 0.0]]
    """

    def __init__(self, system: SetSystem, relaxation: Array) -> None:
        n, m, elements = system.num_sets, system.num_elements, system.elements
        sizes = np.diff(system.set_ptr)
        sets = np.repeat(np.arange(n), sizes)
        divisors = np.maximum(sizes, 1)
        frequencies = np.bincount(elements, minlength=m)
        costs = system.costs / max(float(system.costs.mean()), np.finfo(np.float64).tiny) if n else np.zeros(0)
        prices = costs / divisors
        self._sets, self._elements = sets, elements
        self._frequencies, self._prices = frequencies, prices
        self._mean_prices = np.bincount(elements, prices[sets], minlength=m) / np.maximum(frequencies, 1)
        self._columns = np.column_stack(
            (
                costs,
                np.bincount(sets, np.log1p(frequencies[elements]), minlength=n) / divisors,
                np.bincount(sets, 1 / frequencies[elements], minlength=n) / divisors,
                np.nan_to_num(relaxation, nan=0.5),
            )
        )
        self._log_sizes = np.log1p(sizes)

    def rows(self, votes: Array) -> Array:
        sets, elements = self._sets[votes], self._elements[votes]
        own, both = self._prices[sets], self._prices[sets] + self._mean_prices[elements]
        shares = np.divide(own, both, out=np.full(len(own), 0.5), where=both > 0)
        pair = np.column_stack((self._log_sizes[sets], np.log1p(self._frequencies[elements]), shares))
        return np.hstack((pair, self._columns[sets]))


def _core_numbers(order: Array, sources: Array, heads: Array) -> Array:
    """Return the largest k such that a vertex lies in a subgraph of least degree k, by the order in which least degrees leave."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    left_behind = np.bincount(sources[place[heads] > place[sources]], minlength=len(order))
    cores = np.zeros(len(order), np.int64)
    cores[order] = np.maximum.accumulate(left_behind[order])
    return cores
