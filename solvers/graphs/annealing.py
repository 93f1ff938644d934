r"""Simulated annealing for MaxCut, and the 1-flip descent that ends it.

With sides :math:`s_i = \pm 1` and the field :math:`h_i = \sum_j A_{ij} s_j`, a move of vertex i to the other side gains
:math:`s_i h_i`, the weight to its own side less the weight to the other. A sweep offers every vertex, in order, a move that is
accepted with probability :math:`\min(1, e^{s_i h_i / T})`, or 1/2 if it changes nothing; T falls linearly from `hot` to `cold`
(Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated Annealing", Science 1983). The field is kept rather than the gain,
because a flip then changes its neighbours' entries without looking at their sides.

Gains are int64 and exact. On unit weights `hot` 2 to 3 and `cold` 0.2 suit; temperatures are counted in units of the mean
magnitude of a weight, so that the same figures serve other weights. A few thousand sweeps reach good cuts of sparse random
graphs; grids with weights of both signs keep defects that only moves of many vertices at once remove.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

# Vertices and edges touched before a kernel returns, so that Python can look at the clock: some hundredths of a second.
WORK_PER_CALL = 10_000_000

# Moves that lose more than 12 T are refused unseen: e^-12 is 6e-6.
NEGLIGIBLE = 12.0


class Annealer:
    """One run of simulated annealing that can be advanced piece by piece.

    Parameters
    ----------
    csr : Csr
    sides : int8 array of shape (n,)
        Where the run starts; not modified.
    sweeps : int
        Length of the schedule, at least 1.
    hot, cold : float
        First and last temperature, in units of the mean ``|weight|``.
    seed : int

    Attributes
    ----------
    value, sides
        The present cut.
    best_value, best_sides
        The best cut at the end of any sweep; once `done`, after a 1-flip descent from there.
    done : bool

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> square = build_csr(4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1, 1, 1, 1])
    >>> run = Annealer(square, np.zeros(4, np.int8), sweeps=50, hot=3.0, cold=0.2, seed=1)
    >>> run.advance(100), run.done, run.best_value
    (50, True, 4)
    """

    def __init__(self, csr: Csr, sides: np.ndarray, *, sweeps: int, hot: float, cold: float, seed: int) -> None:
        self.sweeps = max(1, int(sweeps))
        self.sweeps_done = 0
        self.done = False
        self._csr = csr
        scale = float(np.abs(csr.weights).mean()) if csr.weights.size else 1.0
        self._hot = float(hot) * (scale or 1.0)
        self._cold = float(cold) * (scale or 1.0)
        self._spins = spins_of(sides)
        self._fields = fields_of(csr.indptr, csr.indices, csr.weights, self._spins)
        self._best_spins = self._spins.copy()
        value = value_of(csr.indptr, csr.indices, csr.weights, self._spins)
        self._values = np.array([value, value], np.int64)
        self._rng = seeded_state(seed)

    @property
    def value(self) -> int:
        return int(self._values[0])

    @property
    def sides(self) -> np.ndarray:
        return sides_of(self._spins)

    @property
    def best_value(self) -> int:
        return int(self._values[1])

    @property
    def best_sides(self) -> np.ndarray:
        return sides_of(self._best_spins)

    def advance(self, sweeps: int) -> int:
        """Run up to `sweeps` further sweeps, on large graphs fewer, so that the caller can look at the clock; return how many."""
        if self.done:
            return 0
        last = min(self.sweeps, self.sweeps_done + int(sweeps))
        csr = self._csr
        reached: int = _anneal(
            csr.indptr, csr.indices, csr.weights, self._spins, self._fields, self._best_spins, self._values, self._rng,
            self.sweeps_done, last, self.sweeps, self._hot, self._cold, WORK_PER_CALL,
        )  # fmt: skip
        run, self.sweeps_done = reached - self.sweeps_done, reached
        if self.sweeps_done == self.sweeps:
            sides, gain = descend(csr, self.best_sides)
            self._best_spins = spins_of(sides)
            self._values[1] += gain
            self.done = True
        return run


def descend(csr: Csr, sides: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> tuple[np.ndarray, int]:
    """Move single vertices to the other side as long as that gains.

    Parameters
    ----------
    csr : Csr
    sides : int8 array of shape (n,)
        Not modified.
    stop : callable
        Asked now and then; once true, the cut reached so far is returned.

    Returns
    -------
    sides : int8 array of shape (n,)
        A cut that no single move improves, unless stopped.
    gain : int
        Its value less that of the given one; never negative.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> descend(build_csr(2, [[0, 1]], [3]), np.zeros(2, np.int8))
    (array([1, 0], dtype=int8), 3)
    """
    spins = spins_of(sides)
    fields = fields_of(csr.indptr, csr.indices, csr.weights, spins)
    total = 0
    while True:
        gain, local = _descend(csr.indptr, csr.indices, csr.weights, spins, fields, WORK_PER_CALL)
        total += gain
        if local or stop():
            return sides_of(spins), total


def spins_of(sides: np.ndarray) -> np.ndarray:
    """Return sides 0/1 as spins -1/+1."""
    return (2 * np.asarray(sides, dtype=np.int8) - 1).astype(np.int8)


def sides_of(spins: np.ndarray) -> np.ndarray:
    """Return spins -1/+1 as sides 0/1."""
    return (spins > 0).astype(np.int8)


def seeded_state(seed: int) -> np.ndarray:
    """Return the state of a xorshift generator: one uint64, not 0."""
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return np.where(state == 0, np.uint64(1), state)


@njit(cache=True, nogil=True)
def fields_of(indptr, indices, weights, spins):  # type: ignore[no-untyped-def]
    """Return the field of every vertex."""
    fields = np.zeros(len(spins), np.int64)
    for v in range(len(spins)):
        for slot in range(indptr[v], indptr[v + 1]):
            fields[v] += weights[slot] * spins[indices[slot]]
    return fields


@njit(cache=True, nogil=True)
def value_of(indptr, indices, weights, spins):  # type: ignore[no-untyped-def]
    """Return the value of the cut."""
    value = 0
    for v in range(len(spins)):
        for slot in range(indptr[v], indptr[v + 1]):
            if indices[slot] < v and spins[v] != spins[indices[slot]]:
                value += weights[slot]
    return value


@njit(cache=True, nogil=True)
def _anneal(  # type: ignore[no-untyped-def]
    indptr, indices, weights, spins, fields, best_spins, values, rng, first, last, sweeps, hot, cold, work_limit
):
    n = len(spins)
    x = rng[0]
    value, best = values[0], values[1]
    work = 0
    sweep = first
    while sweep < last and work < work_limit:
        temperature = hot + (cold - hot) * sweep / max(1, sweeps - 1)
        cutoff = -NEGLIGIBLE * temperature
        for v in range(n):
            gain = spins[v] * fields[v]
            if gain <= cutoff:
                continue
            if gain <= 0:
                x ^= x << np.uint64(13)
                x ^= x >> np.uint64(7)
                x ^= x << np.uint64(17)
                uniform = np.int64(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                if uniform >= (0.5 if gain == 0 else np.exp(gain / temperature)):
                    continue
            value += gain
            change = -2 * np.int64(spins[v])
            spins[v] = -spins[v]
            for slot in range(indptr[v], indptr[v + 1]):
                fields[indices[slot]] += change * weights[slot]
            work += indptr[v + 1] - indptr[v]
        work += n
        sweep += 1
        if value > best:
            best = value
            best_spins[:] = spins
    rng[0] = x
    values[0], values[1] = value, best
    return sweep


@njit(cache=True, nogil=True)
def _descend(indptr, indices, weights, spins, fields, work_limit):  # type: ignore[no-untyped-def]
    n = len(spins)
    total = 0
    work = 0
    improved = True
    while improved and work < work_limit:
        improved = False
        for v in range(n):
            gain = spins[v] * fields[v]
            if gain > 0:
                improved = True
                total += gain
                change = -2 * np.int64(spins[v])
                spins[v] = -spins[v]
                for slot in range(indptr[v], indptr[v + 1]):
                    fields[indices[slot]] += change * weights[slot]
                work += indptr[v + 1] - indptr[v]
        work += n
    return total, not improved
