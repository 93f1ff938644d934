"""Tabu search for MaxCut: the best single move that is not forbidden, be it uphill or downhill.

A moved vertex stays put for 20 (n/4 on small graphs) plus a random number, up to n/20, of moves, unless moving it gives a new
best cut (Glover, "Tabu Search", ORSA Journal on Computing 1989; Kochenberger, Hao, Lue, Wang and Glover, Journal of Heuristics
2013, for MaxCut). When the best cut has not improved for 20 n moves, max(5, n/20) random vertices are moved at once. On sparse
graphs annealing is stronger for the same time; this search leads to other cuts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.graphs.annealing import WORK_PER_CALL, fields_of, seeded_state, sides_of, spins_of, value_of
from solvers.graphs.csr import Csr

SHORTEST_TENURE = 20
STAGNATION = 20
LEAST_KICK = 5


class Tabu:
    """One run of tabu search that can be advanced piece by piece; it has no end of its own.

    Parameters
    ----------
    csr : Csr
    sides : int8 array of shape (n,)
        Where the run starts; not modified.
    seed : int

    Attributes
    ----------
    value, sides
        The present cut.
    best_value, best_sides
        The best cut so far.
    moves_done : int

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> run = Tabu(build_csr(3, [[0, 1], [1, 2], [2, 0]], [1, 2, 3]), np.zeros(3, np.int8), seed=1)
    >>> run.advance(100), run.best_value
    (100, 5)
    """

    def __init__(self, csr: Csr, sides: np.ndarray, *, seed: int) -> None:
        n = csr.num_vertices
        self._csr = csr
        self._spins = spins_of(sides)
        self._fields = fields_of(csr.indptr, csr.indices, csr.weights, self._spins)
        self._best_spins = self._spins.copy()
        value = value_of(csr.indptr, csr.indices, csr.weights, self._spins)
        # Value, best value, moves done, moves done at the last improvement or kick.
        self._counts = np.array([value, value, 0, 0], np.int64)
        self._free_from = np.zeros(n, np.int64)
        self._rng = seeded_state(seed)

    @property
    def value(self) -> int:
        return int(self._counts[0])

    @property
    def sides(self) -> np.ndarray:
        return sides_of(self._spins)

    @property
    def best_value(self) -> int:
        return int(self._counts[1])

    @property
    def best_sides(self) -> np.ndarray:
        return sides_of(self._best_spins)

    @property
    def moves_done(self) -> int:
        return int(self._counts[2])

    def advance(self, moves: int) -> int:
        """Make up to `moves` further moves, on large graphs fewer, so that the caller can look at the clock; return how many."""
        csr = self._csr
        if csr.num_vertices == 0:
            return 0
        before = self.moves_done
        allowed = max(1, min(int(moves), WORK_PER_CALL // csr.num_vertices))
        _search(
            csr.indptr, csr.indices, csr.weights, self._spins, self._fields, self._best_spins,
            self._counts, self._free_from, self._rng, allowed,
        )  # fmt: skip
        return self.moves_done - before


@njit(cache=True, nogil=True)
def _search(  # type: ignore[no-untyped-def]
    indptr, indices, weights, spins, fields, best_spins, counts, free_from, rng, moves
):
    n = len(spins)
    for _ in range(moves):
        now = counts[2]
        if now - counts[3] > STAGNATION * n:
            for _ in range(min(n, max(LEAST_KICK, n // 20))):
                _flip(_below(rng, n), indptr, indices, weights, spins, fields, counts)
            counts[3] = now
        chosen = -1
        ties = 0
        best_gain = np.int64(0)
        needed = counts[1] - counts[0]
        for v in range(n):
            gain = spins[v] * fields[v]
            if chosen >= 0 and gain < best_gain:
                continue
            if free_from[v] > now and gain <= needed:
                continue
            if chosen < 0 or gain > best_gain:
                chosen, best_gain, ties = v, gain, 1
            else:
                ties += 1
                if _below(rng, ties) == 0:
                    chosen = v
        counts[2] += 1
        if chosen < 0:
            continue
        _flip(chosen, indptr, indices, weights, spins, fields, counts)
        free_from[chosen] = now + 1 + min(SHORTEST_TENURE, n // 4) + _below(rng, n // 20 + 1)
        if counts[0] > counts[1]:
            counts[1] = counts[0]
            counts[3] = counts[2]
            best_spins[:] = spins


@njit(cache=True, nogil=True)
def _flip(v, indptr, indices, weights, spins, fields, counts):  # type: ignore[no-untyped-def]
    counts[0] += spins[v] * fields[v]
    change = -2 * np.int64(spins[v])
    spins[v] = -spins[v]
    for slot in range(indptr[v], indptr[v + 1]):
        fields[indices[slot]] += change * weights[slot]


@njit(cache=True, nogil=True)
def _below(rng, limit):  # type: ignore[no-untyped-def]
    """Return a random integer from 0 to limit - 1."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return np.int64(x >> np.uint64(33)) % limit
