r"""Independent sets where the advice decides the vertices of high degree: the paper's Learned MIS, and two simpler rules.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025). Of the vertices with at least Delta votes,
those predicted in, the paper's P, lose the ends of a maximal matching among them (of a cover by local ratio, with weights), which
leaves an independent set S_high; the vertices with fewer votes give S_low by the greedy rule. Each is extended greedily, and the better
one returned: :math:`O(\log(1/\epsilon) / \epsilon^2)` times smaller than the best at most, in expectation, at
:math:`\Delta = 3 \ln(1/\epsilon) / \epsilon^2` and independent bits, while without advice no power of n below 1 is in reach.

Taking vertices in the order of their log-odds loses one vertex per contradiction where the matching loses two; no ratio is known
for it. Where there is but one label per vertex, votes cannot be pooled at the vertex but at its neighbours: the number of those
that belong to the set is estimated from their labels, and a vertex with too many is left out (after Braverman, Dharangutte, Shah and
Wang, "Learning-Augmented Maximum Independent Set", APPROX 2024).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.graphs.min_degree_greedy import extended_greedily, min_degree_greedy


def learned_independent_set(
    csr: Csr,
    vertex_weights: np.ndarray,
    is_decided: np.ndarray,
    is_favoured: np.ndarray,
    *,
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray:
    """Return the better of what the decided and what the undecided vertices lead to.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    is_decided, is_favoured : bool arrays of shape (n,)
        Vertices that the advice decides, and those that it predicts in.
    stop : callable
        Hastens the end once it answers true.

    Returns
    -------
    bool array of shape (n,)

    Notes
    -----
    O(m log n).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> inner = np.array([False, True, True, False])
    >>> learned_independent_set(path, np.array([1, 1, 1, 1]), inner, np.array([True, False, True, False])).tolist()
    [True, False, True, False]
    """
    trusted = trusted_set(csr, vertex_weights, is_decided & is_favoured)
    undecided = min_degree_greedy(csr, vertex_weights, ~is_decided, stop=stop)
    sets = [extended_greedily(csr, vertex_weights, members, stop=stop) for members in (trusted, undecided)]
    return max(sets, key=lambda members: int(vertex_weights[members].sum()))


def trusted_set(csr: Csr, vertex_weights: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the vertices predicted in, less a cover of the edges between them by local ratio; the paper's S_high.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> trusted_set(path, np.ones(4, np.int64), np.array([True, True, False, True])).tolist()
    [False, False, False, True]
    """
    members: np.ndarray = predicted & ~local_ratio_cover(csr, vertex_weights, predicted).members
    return members


def ordered_set(csr: Csr, priority: np.ndarray) -> np.ndarray:
    """Return the independent set that takes vertices in falling order of `priority`, ties by number, if no neighbour is in.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> ordered_set(build_csr(3, [[0, 1], [1, 2]], [1, 1]), np.array([0.5, 0.7, 0.1])).tolist()
    [False, True, False]
    """
    members = np.zeros(csr.num_vertices, np.bool_)
    _take_in_order(csr.indptr, csr.indices, np.argsort(-np.asarray(priority), kind="stable"), members)
    return members


def set_by_labels(
    csr: Csr, vertex_weights: np.ndarray, log_odds: np.ndarray, epsilon: float, *, stop: Callable[[], bool] = lambda: False
) -> np.ndarray:
    r"""Return the greedy set among vertices that seem to have few neighbours in the set that the labels are about.

    Parameters
    ----------
    csr, vertex_weights, stop
        As for :func:`learned_independent_set`.
    log_odds : float array of shape (n,)
        Of each vertex by its label alone; 0 where there is none.
    epsilon : float
        A label is right with probability 1/2 + epsilon.

    Notes
    -----
    A label that is right with probability :math:`1/2 + \epsilon_u`, turned into :math:`(1 \pm 1/(2 \epsilon_u))/2`, is right on average;
    the sum Z_v over the neighbours of a member is 0 on average, and within :math:`2 \sqrt{d_v \ln n} / \epsilon` of it at all members
    with high probability.
    """
    strength = np.tanh(log_odds / 2)
    estimates = np.divide(1, strength, out=np.full(len(strength), -1.0), where=strength != 0) / 2 + 0.5
    degrees = np.diff(csr.indptr)
    neighbours_in = _sums_over_neighbours(csr.indptr, csr.indices, estimates)
    largest = 2 * np.sqrt(degrees * np.log(max(2, csr.num_vertices))) / epsilon
    members = min_degree_greedy(csr, vertex_weights, neighbours_in <= largest, stop=stop)
    return extended_greedily(csr, vertex_weights, members, stop=stop)


@njit(cache=True, nogil=True)
def _take_in_order(indptr, indices, order, members):  # type: ignore[no-untyped-def]
    for v in order:
        is_free = True
        for slot in range(indptr[v], indptr[v + 1]):
            if members[indices[slot]]:
                is_free = False
                break
        members[v] = is_free


@njit(cache=True, nogil=True)
def _sums_over_neighbours(indptr, indices, values):  # type: ignore[no-untyped-def]
    sums = np.zeros(indptr.shape[0] - 1)
    for v in range(sums.shape[0]):
        for slot in range(indptr[v], indptr[v + 1]):
            sums[v] += values[indices[slot]]
    return sums
