"""A partition of the vertices into cliques, large ones first.

From every vertex a clique is grown greedily: the next vertex is always one with most neighbours among those that could still join. The
clique whose vertices, but for the heaviest, weigh most is taken out, and so on. Cliques that are much larger than those of chance, as
the values of a variable in a constraint graph, are found one after the other, where gathering vertices in a fixed order mixes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.bit_rows import count_bits, lowest_bit, set_bit, words_of
from solvers.graphs.csr import Csr

LARGEST = 4000

# Words that the first cliques may take to grow: some tenths of a second.
MOST_WORK = 400_000_000

# Words read before a kernel returns, so that Python can look at the clock: some hundredths of a second.
WORK_PER_CALL = 50_000_000


def peeled_cliques(csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> np.ndarray | None:
    """Return the number of every vertex's clique, or None if the graph is too large or told to stop.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
    stop : callable
        Asked now and then.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> bow_tie = build_csr(5, [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [2, 4]], [1] * 6)
    >>> peeled_cliques(bow_tie, np.ones(5, np.int64))
    array([0, 0, 0, 1, 1], dtype=int32)
    """
    n = csr.num_vertices
    # A vertex's clique starts from its neighbours, each compared by all words.
    if n > LARGEST or words_of(n) * len(csr.indices) > MOST_WORK:
        return None
    peeling = _make_peeling(csr)
    weights = np.require(vertex_weights, np.int64, ["C", "W"])
    while not _peel(peeling, weights, WORK_PER_CALL):
        if stop():
            return None
    return peeling.clique_of


class _Peeling(NamedTuple):
    """The vertices that are left, and the clique that grew from each."""

    rows: np.ndarray  # (n, words) bits: the graph
    left: np.ndarray  # (words,) bits
    grown: np.ndarray  # (n, words) bits
    saving: np.ndarray  # (n,) int64: weight of the clique without its heaviest; -1 once the vertex is out
    is_stale: np.ndarray  # (n,) bool: whether the clique has lost vertices
    joinable: np.ndarray  # (words,) bits
    clique_of: np.ndarray  # (n,) int32
    count: np.ndarray  # (1,)


def _make_peeling(csr: Csr) -> _Peeling:
    n = csr.num_vertices
    rows = np.zeros((n, words_of(n)), np.uint64)
    left = np.zeros((1, words_of(n)), np.uint64)
    _fill(csr.indptr, csr.indices, rows, left)
    return _Peeling(
        rows=rows,
        left=left[0],
        grown=np.zeros_like(rows),
        saving=np.full(n, np.iinfo(np.int64).max),
        is_stale=np.ones(n, np.bool_),
        joinable=np.zeros(words_of(n), np.uint64),
        clique_of=np.full(n, -1, np.int32),
        count=np.zeros(1, np.int64),
    )


@njit(cache=True, nogil=True)
def _fill(indptr, indices, rows, left):  # type: ignore[no-untyped-def]
    for v in range(rows.shape[0]):
        set_bit(left, 0, v)
        for slot in range(indptr[v], indptr[v + 1]):
            set_bit(rows, v, indices[slot])


@njit(cache=True, nogil=True)
def _peel(peeling, weights, work_limit):  # type: ignore[no-untyped-def]
    """Take cliques out until all vertices are, which is returned, or the work is spent."""
    n = peeling.saving.shape[0]
    work = 0
    while work < work_limit:
        best = -1
        for v in range(n):
            if peeling.saving[v] >= 0 and (best < 0 or peeling.saving[v] > peeling.saving[best]):
                best = v
        if best < 0:
            return True
        work += n
        if peeling.is_stale[best]:
            work += _grow(peeling, weights, best)
        else:
            work += _take_out(peeling, best)
    return False


@njit(cache=True, nogil=True)
def _grow(peeling, weights, seed):  # type: ignore[no-untyped-def]
    """Grow a clique from a vertex; return the words read."""
    num_words = peeling.joinable.shape[0]
    clique, joinable = peeling.grown[seed], peeling.joinable
    clique[:] = np.uint64(0)
    joinable[:] = peeling.left
    v, total, heaviest, work = seed, np.int64(0), np.int64(0), 0
    while v >= 0:
        clique[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        total += weights[v]
        heaviest = max(heaviest, weights[v])
        for word in range(num_words):
            joinable[word] &= peeling.rows[v, word]
        v, most = -1, -1
        for word in range(num_words):
            waiting = joinable[word]
            while waiting != 0:
                u = (word << 6) + lowest_bit(waiting)
                waiting &= waiting - np.uint64(1)
                common = 0
                for other in range(num_words):
                    common += count_bits(joinable[other] & peeling.rows[u, other])
                work += num_words
                if common > most:
                    v, most = u, common
        work += 2 * num_words
    peeling.saving[seed], peeling.is_stale[seed] = total - heaviest, False
    return work


@njit(cache=True, nogil=True)
def _take_out(peeling, seed):  # type: ignore[no-untyped-def]
    """Take a vertex's clique out; return the words read."""
    n, num_words = peeling.grown.shape
    clique = peeling.grown[seed].copy()
    for word in range(num_words):
        peeling.left[word] &= ~clique[word]
        members = clique[word]
        while members != 0:
            v = (word << 6) + lowest_bit(members)
            members &= members - np.uint64(1)
            peeling.clique_of[v] = peeling.count[0]
            peeling.saving[v] = -1
    peeling.count[0] += 1
    for v in range(n):
        if peeling.saving[v] >= 0 and not peeling.is_stale[v]:
            for word in range(num_words):
                if peeling.grown[v, word] & clique[word]:
                    peeling.is_stale[v] = True
                    break
    return n * num_words
