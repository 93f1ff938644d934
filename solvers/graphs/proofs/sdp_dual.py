"""A dual solution of the semidefinite relaxation, proven feasible by a Cholesky factorisation.

With M = Diag(y) - (Diag(D) - A)/4, D_i the sum of row i of A, a cut s in {-1, +1}^n is worth sum y - s'Ms. If M + delta I is
positive semidefinite, no cut is worth more than sum y + n delta. Cholesky factorisation that runs to its end with positive
pivots proves it up to rounding errors of 2-norm at most n (n + 1) 2^-53 times the largest diagonal entry (Higham, "Accuracy and
Stability of Numerical Algorithms", section 10.1), in whatever order the vertices are eliminated.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from solvers.graphs.proofs.instance import ProofInstance, Refused, member

LARGEST_DENSE = 4000
MOST_UPDATES = 100_000_000
UPDATES_BETWEEN_LOOKS = 100_000
FLOOR_TOLERANCE = 1e-9


def sdp_dual_bound(instance: ProofInstance, certificate: dict[str, Any], stop: Callable[[], bool]) -> int:
    """Return sum y + n delta, rounded down, once the matrix is found positive definite."""
    n = instance.num_vertices
    y, delta = _dual_solution(instance, certificate)
    if n == 0:
        return 0
    weights = instance.weights.astype(np.float64)
    diagonal = y - _weight_at_each_vertex(instance, weights) / 4 + delta
    # Four times what the theorem asks for, and what the diagonal may have lost where numbers of opposite signs were added.
    magnitudes = np.abs(y) + _weight_at_each_vertex(instance, np.abs(weights)) / 4 + abs(delta)
    margin = 4 * n * (n + 1) * 2.0**-53 * float(np.abs(diagonal).max()) + (n + 4) * 2.0**-52 * float(magnitudes.max())
    if not _is_definite(diagonal - margin, instance.edges, weights / 4, stop):
        raise Refused("the matrix of the dual solution is not positive semidefinite")
    # One rounding for the whole sum: n delta would bring one of its own, as large as y and delta may be.
    bound = math.nextafter(math.fsum(itertools.chain(y.tolist(), itertools.repeat(delta, n))), math.inf)
    if not math.isfinite(bound):
        raise Refused("the bound is not a finite number")
    return math.floor(bound + FLOOR_TOLERANCE)


def _weight_at_each_vertex(instance: ProofInstance, weights: np.ndarray) -> np.ndarray:
    us, vs = instance.edges.T
    n = instance.num_vertices
    return np.asarray(np.bincount(us, weights, n) + np.bincount(vs, weights, n))


def _dual_solution(instance: ProofInstance, certificate: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Return y and delta in the unit of the instance's weights; a power of two rounds nothing."""
    y, delta = member(certificate, "y"), member(certificate, "delta")
    if not isinstance(y, list) or len(y) != instance.num_vertices:
        raise Refused(f"y must be a list of {instance.num_vertices} numbers")
    if not all(type(number) in (int, float) for number in [*y, delta]):
        raise Refused("y and delta must be numbers")
    try:
        numbers = np.ldexp(np.array([*y, delta], dtype=np.float64), instance.exponent)
    except OverflowError:
        raise Refused("y and delta must be finite numbers") from None
    if not np.isfinite(numbers).all() or np.abs(numbers).max() > 1e150:
        raise Refused("y and delta must be finite numbers of moderate size")
    return numbers[:-1], float(numbers[-1])


def _is_definite(diagonal: np.ndarray, edges: np.ndarray, off_diagonal: np.ndarray, stop: Callable[[], bool]) -> bool:
    n = len(diagonal)
    if n <= LARGEST_DENSE:
        matrix = np.zeros((n, n), order="F")
        lower = np.sort(edges, axis=1)
        matrix[lower[:, 1], lower[:, 0]] = off_diagonal
        np.fill_diagonal(matrix, diagonal)
        return _has_cholesky_factor(matrix)
    rest = _eliminate_sparse(diagonal, edges, off_diagonal, stop)
    return rest is not None and _has_cholesky_factor(rest)


def _has_cholesky_factor(matrix: np.ndarray) -> bool:
    factor, failed_at = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    return failed_at == 0 and bool(np.isfinite(factor.diagonal()).all())


def _eliminate_sparse(
    diagonal: np.ndarray, edges: np.ndarray, off_diagonal: np.ndarray, stop: Callable[[], bool]
) -> np.ndarray | None:
    """Eliminate vertices of least degree until what is left fits a dense matrix; None once a pivot is not positive."""
    n = len(diagonal)
    rows: list[dict[int, float]] = [{} for _ in range(n)]
    for u, v, weight in zip(*edges.T.tolist(), off_diagonal.tolist(), strict=True):
        rows[u][v] = rows[v][u] = weight
    pivots = diagonal.tolist()
    queue = [(len(row), vertex) for vertex, row in enumerate(rows)]
    heapq.heapify(queue)
    remaining = set(range(n))
    updates = next_look = 0
    while len(remaining) > LARGEST_DENSE:
        degree, vertex = heapq.heappop(queue)
        if vertex not in remaining or degree != len(rows[vertex]):
            continue
        updates += 1 + degree**2
        if updates > MOST_UPDATES:
            raise Refused("the matrix fills in too much to be factored")
        if updates >= next_look:
            next_look = updates + UPDATES_BETWEEN_LOOKS
            if stop():
                raise Refused("time was up before the matrix was factored")
        pivot = pivots[vertex]
        if not pivot > 0:
            return None
        remaining.remove(vertex)
        entries = list(rows[vertex].items())
        for place, (u, value) in enumerate(entries):
            row, factor = rows[u], value / pivot
            del row[vertex]
            pivots[u] -= factor * value
            for v, other in entries[:place]:
                row[v] = rows[v][u] = row.get(v, 0.0) - factor * other
        for u, _ in entries:
            heapq.heappush(queue, (len(rows[u]), u))
    return _dense_rest(sorted(remaining), pivots, rows)


def _dense_rest(vertices: list[int], pivots: list[float], rows: list[dict[int, float]]) -> np.ndarray:
    place = {vertex: index for index, vertex in enumerate(vertices)}
    matrix = np.zeros((len(vertices), len(vertices)), order="F")
    for index, vertex in enumerate(vertices):
        matrix[index, index] = pivots[vertex]
        for neighbour, value in rows[vertex].items():
            matrix[index, place[neighbour]] = value
    return matrix
