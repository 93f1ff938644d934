"""Bounds on covers and independent sets, each by itself: how much an independent set can weigh at most."""

from __future__ import annotations

import numpy as np

from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.bound_attempts import Method, NotApplicable
from solvers.graphs.cover_bounds import (
    clique_cover_bound,
    local_ratio_bound,
    matching_cover_bound,
    on_independent_sets,
    relaxation_bound,
)
from solvers.graphs.cover_kernel import VertexComponent, unweighted_csr
from solvers.graphs.exact_finish import LARGEST_ENUMERATED
from solvers.graphs.exact_independent_sets import set_at_once
from solvers.graphs.half_integral import half_integral_cover
from solvers.graphs.independent_elimination import eliminate_independent_set
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.operation import Context


def _trivial(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    return trivial_bound(weights)


def _clique_partition(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    bound, _ = clique_cover_bound(unweighted_csr(num_vertices, edges), weights, stop=lambda: context.stop)
    return on_independent_sets(bound, weights)


def _matching(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    bound = matching_cover_bound(unweighted_csr(num_vertices, edges), weights, stop=lambda: context.stop)
    return on_independent_sets(bound, weights)


def _edge_packing(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    """Bound by the linear relaxation, or by local ratio if its solver was stopped before it had more to say."""
    csr = unweighted_csr(num_vertices, edges)
    relaxation = half_integral_cover(csr, weights, stop=lambda: context.stop)
    bounds = [relaxation_bound(relaxation)]
    if not relaxation.is_optimal:
        bounds.append(local_ratio_bound(local_ratio_cover(csr, weights)))
    return on_independent_sets(max(bounds, key=lambda bound: bound.value), weights)


def _enumeration(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    if num_vertices > LARGEST_ENUMERATED:
        raise NotApplicable(f"{num_vertices} vertices are more than {LARGEST_ENUMERATED}")
    found = set_at_once(VertexComponent(np.arange(num_vertices), edges, weights), lambda: context.stop)
    if found is None:
        raise NotApplicable("time ran out")
    return found.bound


def _elimination(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    found = eliminate_independent_set(num_vertices, edges, weights, stop=lambda: context.stop)
    if found is None:
        raise NotApplicable("no order of elimination is narrow enough, or time or memory ran out")
    return Bound(found.value, "elimination", {"kind": "elimination", "order": found.order})


VERTEX_METHODS: dict[str, Method] = {
    "trivial": _trivial,
    "matching": _matching,
    "clique_partition": _clique_partition,
    "edge_packing": _edge_packing,
    "enumeration": _enumeration,
    "elimination": _elimination,
}
"""By kind, cheapest first."""
