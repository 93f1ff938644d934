"""Upper bounds on the largest cut of a graph, each by itself."""

from __future__ import annotations

import time

import numpy as np

from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.bound_attempts import Method, NotApplicable
from solvers.graphs.csr import build_csr
from solvers.graphs.elimination import elimination_optimum, plan_elimination
from solvers.graphs.enumeration import MAX_VERTICES, enumerate_max_cut
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.odd_cycles import odd_cycle_bound
from solvers.operation import Context

SWEEPS_PER_CALL = 20


def _trivial(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    return trivial_bound(weights)


def _odd_cycles(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    return odd_cycle_bound(build_csr(num_vertices, edges, weights), stop=lambda: context.stop)


def _sdp_dual(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    relaxation = LowRankSdp(build_csr(num_vertices, edges, weights), seed=seed)
    swept_until = time.monotonic() + context.remaining / 2
    while not relaxation.converged and not context.stop and time.monotonic() < swept_until:
        relaxation.advance(SWEEPS_PER_CALL)
    bounds = [relaxation.dual_bound(integral=False, stop=lambda: context.stop)]
    if not (relaxation.converged or context.stop):
        # Of vectors that are far from their best, the bound may be worse than that of a constant y, which needs none.
        bounds.append(relaxation.eigenvalue_bound(integral=False, stop=lambda: context.stop))
    bound = min((bound for bound in bounds if bound is not None), key=lambda bound: bound.value, default=None)
    if bound is None:
        raise NotApplicable("the graph is too large and fills in too much for a proof, or time ran out")
    return bound


def _enumeration(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    if num_vertices > MAX_VERTICES:
        raise NotApplicable(f"{num_vertices} vertices are more than {MAX_VERTICES}")
    found = enumerate_max_cut(num_vertices, edges, weights, stop=lambda: context.stop)
    if found is None:
        raise NotApplicable("time ran out")
    return Bound(found.value, "enumeration", {"kind": "enumeration"})


def _elimination(num_vertices: int, edges: np.ndarray, weights: np.ndarray, seed: int, context: Context) -> Bound:
    if plan_elimination(num_vertices, edges, stop=lambda: context.stop) is None:
        raise NotApplicable("no order of elimination is narrow enough")
    found = elimination_optimum(num_vertices, edges, weights, stop=lambda: context.stop)
    if found is None:
        raise NotApplicable("time or memory ran out")
    return Bound(found.value, "elimination", {"kind": "elimination", "order": found.order})


CUT_METHODS: dict[str, Method] = {
    "trivial": _trivial,
    "odd_cycles": _odd_cycles,
    "enumeration": _enumeration,
    "elimination": _elimination,
    "sdp_dual": _sdp_dual,
}
"""By kind, cheapest first."""
