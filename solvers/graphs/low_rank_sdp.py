r"""The semidefinite relaxation of MaxCut, solved at low rank, and an upper bound proven from any state of the solver.

Primal: :math:`\max \tfrac12 \sum_{u<v} A_{uv} (1 - v_u \cdot v_v)` over unit vectors of dimension k, about :math:`\sqrt{2n}`, for
which local optima are global (Burer and Monteiro, Mathematical Programming 2003; Boumal, Voroninski and Bandeira, NeurIPS 2016).
The mixing method (Wang, Chang and Kolter, arXiv 1706.00476) sets one vector after another to its best place, :math:`-g/|g|` with
:math:`g = \sum_j A_{ij} v_j`. Here each step goes `OVERSHOOT` times as far again beyond that place: still never downhill, since
the mirror image of the old vector would be worth the same, and several times faster near the optimum.

Dual: with :math:`y_i = (D_i + |g_i|)/4`, :math:`D_i = \sum_j A_{ij}` and :math:`M = \mathrm{Diag}(y) - (\mathrm{Diag}(D) - A)/4`,
no cut is worth more than :math:`\sum y + n\delta` whenever :math:`M + \delta I` is positive semidefinite (Goemans and Williamson,
JACM 1995; Delorme and Poljak, Mathematical Programming 1993). That holds for *every* y: unconverged vectors cost tightness, not
validity.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numba import njit
from scipy.linalg import eigvalsh_tridiagonal

from solvers.graphs.bound import Bound
from solvers.graphs.csr import Csr
from solvers.graphs.definiteness import Definiteness

OVERSHOOT = 0.85

# Above this size a full rank would cost more time than it gains; the bound is valid at any rank.
LARGEST_FULL_RANK = 50_000
REDUCED_RANK = 16

# A sweep that gains less than this share of the total weight counts as converged.
TOLERANCE = 1e-9
MOST_SWEEPS = 4000

# Multiplications before a kernel returns, so that Python can look at the clock: about a tenth of a second.
WORK_PER_CALL = 100_000_000

# What it takes, at most, to find out how the matrix fills in.
SECONDS_PER_ENTRY = 1.5e-6

UNIT_ROUNDOFF = 2.2e-16

# Makes a matrix of zeros definite, and its bound no larger to speak of.
SMALLEST_SHIFT = 1e-300


class LowRankSdp:
    """The mixing method on one graph, advanced sweep by sweep.

    Parameters
    ----------
    csr : Csr
    seed : int
        Of the Gaussian starting vectors.
    edge_weights : float array of shape (m,), optional
        Weights to use in place of the integers of `csr`: the bound then speaks of them.
    rank : int, optional
        Dimension of the vectors; default ``min(n, ceil(sqrt(2n)) + 1)``, or 16 above 50,000 vertices.

    Attributes
    ----------
    vectors : float64 array of shape (n, rank)
        Unit rows.
    converged : bool
    sweeps_done : int

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> pentagon = LowRankSdp(build_csr(5, [[i, (i + 1) % 5] for i in range(5)], [1] * 5), seed=1)
    >>> pentagon.advance(1000)
    True
    >>> round(pentagon.primal, 4), pentagon.dual_bound(integral=True).value
    (4.5225, 4.0)
    """

    def __init__(self, csr: Csr, *, seed: int, edge_weights: np.ndarray | None = None, rank: int | None = None) -> None:
        n = csr.num_vertices
        if rank is None:
            rank = REDUCED_RANK if n > LARGEST_FULL_RANK else min(n, math.ceil(math.sqrt(2 * n)) + 1)
        self._indptr, self._indices = csr.indptr, csr.indices
        chosen = csr.weights if edge_weights is None else np.asarray(edge_weights)[csr.edge_ids]
        # The largest weight is brought to about 1 by a power of two, which rounds nothing and keeps squares within range.
        self._exponent = int(np.frexp(np.abs(chosen).max(initial=0.0))[1])
        self._weights = np.ldexp(chosen.astype(np.float64), -self._exponent)
        self._total = float(np.abs(self._weights).sum()) / 2
        # A vertex that its neighbours pull nowhere stays where it is.
        self._least_norm = 1e-12 * float(np.abs(self._weights).max(initial=0.0))
        vectors = np.random.default_rng(seed).standard_normal((n, max(1, rank)))
        self.vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self.converged = self._total == 0.0
        self.sweeps_done = 0
        self._definiteness: Definiteness | None = None

    def advance(self, sweeps: int) -> bool:
        """Run up to `sweeps` further sweeps, on large graphs fewer, so that time can be checked; return `converged`."""
        if not self.converged:
            allowed = min(int(sweeps), MOST_SWEEPS - self.sweeps_done)
            run, gain = _mix(
                self._indptr, self._indices, self._weights, self.vectors, allowed,
                self._least_norm, TOLERANCE * self._total, WORK_PER_CALL,
            )  # fmt: skip
            self.sweeps_done += run
            self.converged = self.sweeps_done >= MOST_SWEEPS or (run > 0 and gain < TOLERANCE * self._total)
        return self.converged

    @property
    def primal(self) -> float:
        """Value of the present vectors: no bound, but at the optimum of the relaxation equal to the best one."""
        aligned = _alignment(self._indptr, self._indices, self._weights, self.vectors)
        return math.ldexp(float(self._weights.sum()) / 2 - float(aligned), self._exponent - 1)

    def dual_bound(
        self, *, integral: bool, deadline: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> Bound | None:
        """Prove an upper bound on every cut from the vectors as they are.

        Parameters
        ----------
        integral : bool
            Whether all weights are integers, so that the bound may be rounded down.
        deadline : float, optional
            On the clock of `time.monotonic`; no factorisation is begun that would end after it.
        stop : callable
            Asked before every factorisation; once true, no further one is begun.

        Returns
        -------
        Bound or None
            None if the graph is too large or fills in too much for a proof, or time did not suffice. The certificate holds `y`
            and `delta`: M + delta I, less the allowance for rounding errors, has a Cholesky factorisation.
        """
        norms = _norms(self._indptr, self._indices, self._weights, self.vectors)
        degrees = _row_sums(self._indptr, self._weights)
        return self._prove(lambda: (degrees + norms) / 4, degrees, integral, deadline, stop)

    def eigenvalue_bound(
        self, *, integral: bool, deadline: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> Bound | None:
        """Prove n/4 times the largest eigenvalue of the Laplacian: the bound of a constant y, which needs no vectors."""
        degrees = _row_sums(self._indptr, self._weights)
        magnitudes = _row_sums(self._indptr, np.abs(self._weights))

        def constant() -> np.ndarray:
            # Gershgorin's circles hold the spectrum of M from here on; Lanczos steps tell how far y may come down from there.
            y = np.full(len(degrees), ((degrees + magnitudes) / 4).max())
            least, _ = ritz_values(lambda x: self._proof().multiply(y - degrees / 4, x), len(y), steps=60)
            return y - max(0.0, least)

        return self._prove(constant, degrees, integral, deadline, stop)

    def _prove(
        self,
        dual: Callable[[], np.ndarray],
        degrees: np.ndarray,
        integral: bool,
        deadline: float | None,
        stop: Callable[[], bool],
    ) -> Bound | None:
        n = len(degrees)
        if n == 0:
            return Bound(0.0, "sdp_dual", {"kind": "sdp_dual", "y": [], "delta": 0.0})
        if self._total == 0.0:
            return _bound_in_unit(0, dual(), SMALLEST_SHIFT, integral)

        def in_time(seconds: float) -> bool:
            return not stop() and (deadline is None or time.monotonic() + seconds <= deadline)

        if not in_time(SECONDS_PER_ENTRY * len(self._indices)):
            return None
        proof = self._proof()
        if not proof.possible:
            return None
        y = dual()
        diagonal = y - degrees / 4
        delta = least_shift(proof, diagonal, lambda: in_time(proof.seconds), scale=float(diagonal.mean()))
        if delta is None:
            return None
        # Once for the rounding errors of this proof, once more so that another factorisation of the same matrix succeeds as well.
        delta += 2 * rounding_margin(diagonal + delta)
        return _bound_in_unit(self._exponent, y, delta, integral)

    def _proof(self) -> Definiteness:
        if self._definiteness is None:
            self._definiteness = Definiteness(self._indptr, self._indices, self._weights / 4)
        return self._definiteness


def _bound_in_unit(exponent: int, y: np.ndarray, delta: float, integral: bool) -> Bound:
    """Return the bound of y and delta counted in units of ``2.0**exponent``."""
    dual = np.ldexp(y, exponent).tolist()
    # Rounded up, delta makes good what y loses where numbers of this unit are subnormal.
    shift = math.nextafter(math.ldexp(delta, exponent), math.inf)
    value = math.nextafter(math.fsum([*dual, math.nextafter(len(dual) * shift, math.inf)]), math.inf)
    if integral:
        value = float(math.floor(value + 1e-9))
    return Bound(value, "sdp_dual", {"kind": "sdp_dual", "y": dual, "delta": shift})


def rounding_margin(diagonal: np.ndarray) -> float:
    """Return how far the eigenvalues of a matrix may lie below what its computed factorisation says: ``4 n^2 u max M_ii``."""
    return 4 * len(diagonal) ** 2 * UNIT_ROUNDOFF * max(0.0, float(diagonal.max(initial=0.0)))


def least_shift(proof: Definiteness, diagonal: np.ndarray, in_time: Callable[[], bool], *, scale: float) -> float | None:
    """Return a proven delta >= 0 for which M + delta I is positive definite, close to the least one.

    Lanczos steps only guess; the factorisation decides. The guess gets 1e-5 of `scale` on top, because at the optimum the
    eigenvalue 0 is so manifold that the least one is not resolved, and is doubled until a proof succeeds. Lanczos steps on the
    inverse, where the least eigenvalue stands out, then tell how much of the shift is slack, and one more proof takes most of it
    away.
    """
    n = len(diagonal)
    least, _ = ritz_values(lambda x: proof.multiply(diagonal, x), n, steps=24)
    delta = max(0.0, -1.02 * least) + (1e-5 * scale if scale > 0 else 1e-8)
    while True:
        if not (in_time() and math.isfinite(delta)):
            return None
        solve = proof.prove(diagonal + delta)
        if solve is not None:
            break
        delta *= 2.0

    _, largest = ritz_values(solve, n, steps=12)
    tighter = max(0.0, delta - 0.98 / largest) if largest > 0 else delta
    worthwhile = delta - tighter > 1e-6 * scale
    if worthwhile and in_time() and proof.prove(diagonal + tighter) is not None:
        return tighter
    return delta


def ritz_values(operator: Callable[[np.ndarray], np.ndarray], n: int, *, steps: int) -> tuple[float, float]:
    """Return the least and the largest Ritz value after some Lanczos steps; both lie inside the spectrum of the operator."""
    steps = min(n, steps)
    basis = np.empty((steps, n))
    diagonal, beside = np.empty(steps), np.empty(steps)
    vector = np.random.default_rng(0).standard_normal(n)
    for k in range(steps):
        norm = float(np.linalg.norm(vector))
        if k and norm <= 1e-12 * np.abs(diagonal[:k]).max():
            steps = k
            break
        beside[k] = norm
        basis[k] = vector / norm
        vector = operator(basis[k])
        diagonal[k] = vector @ basis[k]
        # Against all former vectors, or found eigenvalues come back by rounding; and twice, or the errors grow from step to step.
        for _ in range(2):
            vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
    values = eigvalsh_tridiagonal(diagonal[:steps], beside[1:steps])
    return float(values[0]), float(values[-1])


@njit(cache=True, nogil=True)
def _mix(indptr, indices, weights, vectors, sweeps, least_norm, least_gain, work_limit):  # type: ignore[no-untyped-def]
    n, rank = vectors.shape
    pull = np.empty(rank)
    work_per_sweep = (len(indices) + n) * rank
    gain = 0.0
    done = 0
    while done < sweeps:
        gain = 0.0
        for v in range(n):
            for c in range(rank):
                pull[c] = 0.0
            for slot in range(indptr[v], indptr[v + 1]):
                weight = weights[slot]
                u = indices[slot]
                for c in range(rank):
                    pull[c] += weight * vectors[u, c]
            norm = 0.0
            along = 0.0
            for c in range(rank):
                norm += pull[c] * pull[c]
                along += pull[c] * vectors[v, c]
            norm = np.sqrt(norm)
            if norm <= least_norm:
                continue
            # A step beyond the best place -pull/|pull|, short of the mirror image of the old vector.
            length = 0.0
            for c in range(rank):
                x = -(1.0 + OVERSHOOT) / norm * pull[c] - OVERSHOOT * vectors[v, c]
                length += x * x
            length = np.sqrt(length)
            after = 0.0
            for c in range(rank):
                x = (-(1.0 + OVERSHOOT) / norm * pull[c] - OVERSHOOT * vectors[v, c]) / length
                after += pull[c] * x
                vectors[v, c] = x
            gain += 0.5 * (along - after)
        done += 1
        if gain < least_gain or done * work_per_sweep > work_limit:
            break
    return done, gain


@njit(cache=True, nogil=True)
def _alignment(indptr, indices, weights, vectors):  # type: ignore[no-untyped-def]
    """Return the sum over the edges of weight times scalar product."""
    total = 0.0
    for v in range(vectors.shape[0]):
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if u < v:
                product = 0.0
                for c in range(vectors.shape[1]):
                    product += vectors[u, c] * vectors[v, c]
                total += weights[slot] * product
    return total


@njit(cache=True, nogil=True)
def _norms(indptr, indices, weights, vectors):  # type: ignore[no-untyped-def]
    """Return |g_i| of every vertex."""
    n, rank = vectors.shape
    norms = np.empty(n)
    pull = np.empty(rank)
    for v in range(n):
        pull[:] = 0.0
        for slot in range(indptr[v], indptr[v + 1]):
            for c in range(rank):
                pull[c] += weights[slot] * vectors[indices[slot], c]
        norms[v] = np.sqrt((pull * pull).sum())
    return norms


@njit(cache=True, nogil=True)
def _row_sums(indptr, weights):  # type: ignore[no-untyped-def]
    sums = np.zeros(len(indptr) - 1)
    for v in range(len(sums)):
        for slot in range(indptr[v], indptr[v + 1]):
            sums[v] += weights[slot]
    return sums
