r"""Vertex cover where the advice decides the vertices of high degree: the paper's Learned VC, with weights and without.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025). Vertices with at least Delta votes are
decided: P are those predicted in, Q those predicted out. Taking P and covering the rest would not do, for the wrongly predicted
of a large side may outnumber the cover. So a vertex of P is taken only if it has a use:

- *idle* vertices, the paper's T, have neighbours outside P of less than half their weight together (of unit weight: none). They are
  dropped for those neighbours; what edges they have among themselves are covered by local ratio, for unit weights the ends of a
  maximal matching.
- a vertex of Q forces its neighbours outside P into the cover, unless they outweigh it :math:`\max(\Delta, 2)^2` times: then it is taken
  after all. For unit weights they are always taken.
- before all, with weights, a vertex heavier than all its neighbours together is left out for them.

The edges that are left have both ends undecided; the linear relaxation decides some of those, and a colouring or the greedy rule covers
the rest, whichever weighs less. At last vertices are dropped whose neighbours are all in the cover. Whatever the bits, the result
is a cover. Its size is expected to be at most :math:`2 - \Omega(\log\log(1/\epsilon) / \log(1/\epsilon))` times the least if the bits are
independent, Delta is the paper's, and the last edges are covered as well as is known for bounded degree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.hochbaum import coloured_cover
from solvers.graphs.induced import induced_subgraph
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.graphs.min_degree_greedy import min_degree_greedy


class AdvisedCover(NamedTuple):
    """What the advice decides of a cover, as masks of shape (n,).

    Attributes
    ----------
    is_idle : ndarray of bool
        Vertices predicted in that have no use; the paper's T.
    covers_idle : ndarray of bool
        Those of them that cover the edges between them; the paper's S_T.
    is_forced : ndarray of bool
        Vertices not predicted in that the decisions on others force in; the paper's S_1.
    members : ndarray of bool
        All that is in the cover. The edges that it does not meet have both ends undecided.
    """

    is_idle: np.ndarray
    covers_idle: np.ndarray
    is_forced: np.ndarray
    members: np.ndarray


def learned_cover(
    csr: Csr,
    vertex_weights: np.ndarray,
    is_decided: np.ndarray,
    log_odds: np.ndarray,
    *,
    patience: float | None = None,
    prior: np.ndarray | float = 0.0,
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray:
    """Return a cover that follows the advice on the vertices that it decides.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    is_decided : bool array of shape (n,)
    log_odds : float array of shape (n,)
        Of being in the cover, by the votes; a decided vertex is predicted in if they are positive.
    patience : float, optional
        How many times its weight the neighbours of a vertex predicted out may weigh together before it is taken in their place.
        None: any number of times.
    prior : float array of shape (n,) or float
        What else is known of the log-odds. It decides only which of several superfluous vertices are dropped.
    stop : callable
        Hastens the end once it answers true.

    Returns
    -------
    bool array of shape (n,)

    Notes
    -----
    O(n + m) but for the linear relaxation of what is left.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> star = build_csr(4, [[0, 1], [0, 2], [0, 3]], [1, 1, 1])
    >>> cover = learned_cover(star, np.ones(4, np.int64), np.array([True, False, False, False]), np.array([2.0, 1.0, 1.0, -1.0]))
    >>> cover.tolist()
    [True, False, False, False]
    """
    members = advised_cover(csr, vertex_weights, is_decided, log_odds > 0, patience=patience).members
    rest, vertices = induced_subgraph(csr, ~members)
    members[vertices] = _bounded_degree_cover(rest, vertex_weights[vertices], stop)
    return without_superfluous(csr, vertex_weights, members, log_odds + prior)


def advised_cover(
    csr: Csr, vertex_weights: np.ndarray, is_decided: np.ndarray, is_favoured: np.ndarray, *, patience: float | None = None
) -> AdvisedCover:
    """Return what the advice decides of a cover; parameters as for :func:`learned_cover`, `is_favoured` where it predicts "in"."""
    rows = csr.indptr, csr.indices
    weights = np.require(vertex_weights, np.int64, ["C", "W"])
    is_left_out = weights > _weight_of_neighbours(*rows, weights, np.ones(len(weights), np.bool_))
    is_taken = _has_neighbour(*rows, is_left_out)
    is_open = ~(is_left_out | is_taken)

    is_in = is_decided & is_favoured & is_open
    is_out = is_decided & ~is_favoured & is_open
    outside = is_open & ~is_in
    outside_weight = _weight_of_neighbours(*rows, weights, outside)
    is_idle = is_in & (2 * outside_weight < weights)
    covers_idle = local_ratio_cover(csr, weights, is_idle).members
    is_spared = is_out if patience is None else is_out & (outside_weight <= patience * weights.astype(np.float64))
    is_forced = outside & (_has_neighbour(*rows, is_idle | is_spared) | (is_out & ~is_spared))
    return AdvisedCover(is_idle, covers_idle, is_forced, is_taken | (is_in & ~is_idle) | covers_idle | is_forced)


def without_superfluous(csr: Csr, vertex_weights: np.ndarray, members: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
    """Return a cover less vertices whose neighbours are all in it, until there are none.

    The heaviest go first; of equal weight those that are least likely in, then those of lower degree, then of lower number.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(3, [[0, 1], [1, 2]], [1, 1])
    >>> without_superfluous(path, np.array([1, 1, 1]), np.array([True, True, True]), np.array([0.0, 2.0, 1.0])).tolist()
    [False, True, False]
    """
    reduced = np.array(members, dtype=np.bool_)
    chosen = np.flatnonzero(reduced)
    degrees = np.diff(csr.indptr)
    keys = degrees[chosen], np.asarray(log_odds)[chosen], -np.asarray(vertex_weights)[chosen]
    _drop_superfluous(csr.indptr, csr.indices, reduced, chosen[np.lexsort(keys)])
    return reduced


def _bounded_degree_cover(csr: Csr, vertex_weights: np.ndarray, stop: Callable[[], bool]) -> np.ndarray:
    """Return the better of two covers that follow the linear relaxation; the first has a ratio, the second is mostly smaller."""
    coloured = coloured_cover(csr, vertex_weights, stop=stop)
    is_undecided = coloured.relaxation.is_undecided
    greedy = ~(coloured.relaxation.is_out | min_degree_greedy(csr, vertex_weights, is_undecided, stop=stop))
    return min(coloured.members, greedy, key=lambda members: int(vertex_weights[members].sum()))


@njit(cache=True, nogil=True)
def _weight_of_neighbours(indptr, indices, weights, mask):  # type: ignore[no-untyped-def]
    totals = np.zeros(mask.shape[0], np.int64)
    for v in range(mask.shape[0]):
        for slot in range(indptr[v], indptr[v + 1]):
            if mask[indices[slot]]:
                totals[v] += weights[indices[slot]]
    return totals


@njit(cache=True, nogil=True)
def _has_neighbour(indptr, indices, mask):  # type: ignore[no-untyped-def]
    found = np.zeros(mask.shape[0], np.bool_)
    for v in range(mask.shape[0]):
        if mask[v]:
            for slot in range(indptr[v], indptr[v + 1]):
                found[indices[slot]] = True
    return found


@njit(cache=True, nogil=True)
def _drop_superfluous(indptr, indices, members, order):  # type: ignore[no-untyped-def]
    for v in order:
        is_superfluous = True
        for slot in range(indptr[v], indptr[v + 1]):
            if not members[indices[slot]]:
                is_superfluous = False
                break
        members[v] = not is_superfluous
