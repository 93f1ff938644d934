"""Lower bounds on the weight of a vertex cover, each with the certificate that proves it.

What a cover leaves out is an independent set, so that every bound also bounds those from above, by the same certificate:
:func:`on_independent_sets`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.graphs import half_integral
from solvers.graphs.bound import Bound
from solvers.graphs.clique_partition import CliquePartition, clique_partition
from solvers.graphs.csr import Csr
from solvers.graphs.half_integral import HalfIntegral
from solvers.graphs.local_ratio import PackedCover
from solvers.graphs.matching import largest_matching, matched_edges


def on_independent_sets(bound: Bound, vertex_weights: np.ndarray) -> Bound:
    """Return the upper bound on the weight of an independent set that a lower bound on covers amounts to.

    Examples
    --------
    >>> on_independent_sets(Bound(2, "trivial", {"kind": "trivial"}), np.array([1, 4])).value
    3
    """
    return bound._replace(value=int(np.sum(vertex_weights)) - bound.value)


def no_cover_bound() -> Bound:
    """Return the bound 0, which needs no proof."""
    return Bound(0, "trivial", {"kind": "trivial"})


def matching_cover_bound(csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> Bound:
    """Return the lighter ends of the edges of a largest matching, added up.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> matching_cover_bound(build_csr(3, [[0, 1], [1, 2]], [1, 1]), np.array([3, 2, 5]))
    Bound(value=2, kind='matching', certificate={'kind': 'matching', 'edges': [0]})
    """
    mate = largest_matching(csr, stop=stop)
    matched = np.flatnonzero(mate > np.arange(len(mate)))
    weights = np.asarray(vertex_weights)
    value = int(np.minimum(weights[matched], weights[mate[matched]]).sum())
    return Bound(value, "matching", {"kind": "matching", "edges": matched_edges(csr, mate).tolist()})


def local_ratio_bound(cover: PackedCover) -> Bound:
    """Return what local ratio packs on the edges.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> from solvers.graphs.local_ratio import local_ratio_cover
    >>> local_ratio_bound(local_ratio_cover(build_csr(2, [[0, 1]], [1]), np.array([3, 2])))
    Bound(value=2, kind='edge_packing', certificate={'kind': 'edge_packing', 'edges': [0], 'y': [2], 'scale': 1})
    """
    return Bound(int(cover.packing.sum()), "edge_packing", _packing_certificate(cover.packing, 1))


def relaxation_bound(relaxation: HalfIntegral) -> Bound:
    """Return the optimum of the linear relaxation, rounded up, or what its solver had reached when it was stopped.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> from solvers.graphs.half_integral import half_integral_cover
    >>> triangle = build_csr(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1])
    >>> relaxation_bound(half_integral_cover(triangle, np.array([1, 1, 1]))).certificate
    {'kind': 'edge_packing', 'edges': [0, 1, 2], 'y': [1, 1, 1], 'scale': 2}
    """
    return Bound(relaxation.lower_bound, "edge_packing", _packing_certificate(relaxation.packing, half_integral.SCALE))


def clique_cover_bound(
    csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False
) -> tuple[Bound, CliquePartition]:
    """Return what a partition into cliques leaves for covers: all but the heaviest vertex of each.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> triangle = build_csr(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1])
    >>> clique_cover_bound(triangle, np.array([1, 5, 2]))[0]
    Bound(value=3, kind='clique_partition', certificate={'kind': 'clique_partition', 'cliques': [[0, 1, 2]]})
    """
    partition = clique_partition(csr, vertex_weights, stop=stop)
    certificate = {"kind": "clique_partition", "cliques": partition.cliques()}
    return Bound(int(np.sum(vertex_weights)) - partition.upper_bound, "clique_partition", certificate), partition


def _packing_certificate(packing: np.ndarray, scale: int) -> dict[str, Any]:
    rows = np.flatnonzero(packing)
    return {"kind": "edge_packing", "edges": rows.tolist(), "y": packing[rows].tolist(), "scale": scale}
