"""Proofs that a sparse symmetric matrix is positive definite, by a factorisation whose pivots are all positive.

An eigenvalue found by iteration errs on the unsafe side; a Cholesky factorisation that runs to its end proves that the matrix,
moved by no more than the rounding errors, is definite (Higham, "Accuracy and Stability of Numerical Algorithms", section 10.1).
Matrices that fill in little are factored sparsely in an order of least degree (Amestoy, Davis and Duff, "An Approximate Minimum
Degree Ordering Algorithm", SIAM J. Matrix Anal. Appl. 1996), others densely up to `LARGEST_DENSE` rows; beyond both there is no
proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import lapack
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

LARGEST_DENSE = 4000

# Multiplications of a sparse factorisation, and entries of its factor: a second or so, and a quarter of a gigabyte.
LARGEST_SPARSE_WORK = 5_000_000_000
LARGEST_FILL = 10_000_000

# Multiplications per second, on the slow side: what is told to a caller who must meet a deadline.
DENSE_SPEED = 1.5e10
SPARSE_SPEED = 4.0e9

Solve = Callable[[np.ndarray], np.ndarray]


class SparseOrder(NamedTuple):
    """An order of elimination, with the entries of the factor and the multiplications it leads to."""

    order: np.ndarray
    fill: int
    work: int


class Definiteness:
    """Proves matrices with the same off-diagonal part definite, for one diagonal after another.

    Parameters
    ----------
    indptr, indices : int arrays
        Rows of the off-diagonal part, symmetric, sorted.
    values : float64 array
        Its entries.

    Attributes
    ----------
    possible : bool
        Whether the matrix is small enough, or fills in little enough, for a proof.
    seconds : float
        About how long one proof takes.

    Examples
    --------
    >>> pair = Definiteness(np.array([0, 1, 2]), np.array([1, 0]), np.array([2.0, 2.0]))
    >>> pair.prove(np.array([3.0, 1.0])) is None, pair.prove(np.array([3.0, 2.0])) is None
    (True, False)
    """

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> None:
        n = len(indptr) - 1
        self._matrix = csr_array((values, indices, indptr), shape=(n, n))
        self._rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr))
        self._columns = indices.astype(np.int64)
        self._values = values
        self._n = n
        self._dense_seconds = n**3 / 3 / DENSE_SPEED

    @cached_property
    def _sparse(self) -> SparseOrder | None:
        # With the dense way open, the sparse one is worth looking for only as far as it would be the faster.
        limit = math.inf if self._n > LARGEST_DENSE else self._dense_seconds * SPARSE_SPEED
        return sparse_order(
            self._matrix.indptr,
            self._matrix.indices,
            work_limit=int(min(LARGEST_SPARSE_WORK, limit)),
            fill_limit=LARGEST_FILL,
        )

    @property
    def possible(self) -> bool:
        return self._sparse is not None or self._n <= LARGEST_DENSE

    @property
    def seconds(self) -> float:
        return self._dense_seconds if self._sparse is None else self._sparse.work / SPARSE_SPEED

    def prove(self, diagonal: np.ndarray) -> Solve | None:
        """Return a solver for the matrix with that diagonal if it is found positive definite, else None."""
        if self._sparse is not None:
            return self._prove_sparse(diagonal, self._sparse.order)
        return self._prove_dense(diagonal)

    def multiply(self, diagonal: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Return the matrix with that diagonal times a vector."""
        return np.asarray(diagonal * vector + self._matrix @ vector)

    def _prove_dense(self, diagonal: np.ndarray) -> Solve | None:
        matrix = np.zeros((self._n, self._n), order="F")
        lower = self._rows >= self._columns
        matrix[self._rows[lower], self._columns[lower]] = self._values[lower]
        np.fill_diagonal(matrix, diagonal)
        factor, failed_at = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed_at or not np.isfinite(factor.diagonal()).all():
            return None
        return lambda right: lapack.dpotrs(factor, right, lower=1)[0]

    def _prove_sparse(self, diagonal: np.ndarray, order: np.ndarray) -> Solve | None:
        n = self._n
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        rows = np.concatenate([place[self._rows], place])
        columns = np.concatenate([place[self._columns], place])
        matrix = csc_array((np.concatenate([self._values, diagonal]), (rows, columns)), shape=(n, n))
        try:
            factors = splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False})
        except RuntimeError:  # a pivot is exactly 0
            return None
        pivots = factors.U.diagonal()
        if not (np.array_equal(factors.perm_r, factors.perm_c) and np.isfinite(pivots).all() and (pivots > 0).all()):
            return None

        def solve(right: np.ndarray) -> np.ndarray:
            return factors.solve(right[order])[place]

        return solve


def sparse_order(indptr: np.ndarray, indices: np.ndarray, *, work_limit: int, fill_limit: int) -> SparseOrder | None:
    """Return an order of about least degree, or None if the factor passes a limit.

    Parameters
    ----------
    indptr, indices : int arrays
        Rows of a symmetric pattern without diagonal.
    work_limit : int
        Bound on the sum of the squared column counts of the factor.
    fill_limit : int
        Bound on its off-diagonal entries.

    Examples
    --------
    >>> star = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0])
    >>> sparse_order(*star, work_limit=100, fill_limit=100).fill
    3
    """
    order, fill, work = _least_degree(
        indptr.astype(np.int64), indices.astype(np.int32), np.int64(work_limit), np.int64(fill_limit)
    )
    return None if len(order) < len(indptr) - 1 else SparseOrder(order, int(fill), int(work))


@njit(cache=True, nogil=True)
def _least_degree(indptr, indices, work_limit, fill_limit):  # type: ignore[no-untyped-def]
    """Eliminate by least approximate degree on a quotient graph.

    The row of a vertex holds first its neighbours that are still there and not yet met through an eliminated vertex, then its
    elements: eliminated vertices, each standing for the clique of the neighbours it had. Rows never grow, since a vertex that
    gets a new element loses a neighbour or an older element that the new one covers. Cliques go to one pool, whose size is thus
    the fill.
    """
    n = len(indptr) - 1
    rows = indices.copy()
    start = indptr[:-1]
    num_neighbours = indptr[1:] - indptr[:-1]
    num_elements = np.zeros(n, np.int64)
    eliminated = np.zeros(n, np.bool_)
    absorbed = np.zeros(n, np.bool_)
    clique_start = np.zeros(n, np.int64)
    clique_size = np.zeros(n, np.int64)
    pool = np.empty(min(fill_limit, 4 * len(indices) + 1024), np.int32)
    mark = np.full(n, -1, np.int64)
    outside = np.zeros(n, np.int64)
    outside_of = np.full(n, -1, np.int64)

    degree = num_neighbours.copy()
    head = np.full(n + 1, -1, np.int64)
    following = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    for v in range(n - 1, -1, -1):
        _push(v, degree[v], head, following, before)

    order = np.empty(n, np.int64)
    fill = 0
    work = 0
    least = 0
    for step in range(n):
        while head[least] < 0:
            least += 1
        p = head[least]
        _drop(p, degree[p], head, following, before)
        order[step] = p
        eliminated[p] = True

        bound = num_neighbours[p]
        for slot in range(start[p] + num_neighbours[p], start[p] + num_neighbours[p] + num_elements[p]):
            bound += clique_size[rows[slot]]
        if fill + bound > len(pool):
            larger = np.empty(max(2 * len(pool), fill + bound), np.int32)
            larger[:fill] = pool[:fill]
            pool = larger
        size = _gather(
            p, rows, start, num_neighbours, num_elements, eliminated, absorbed, clique_start, clique_size, pool, fill, mark
        )
        clique_start[p], clique_size[p] = fill, size
        work += size * size
        # What is left has about this degree or more, and all of its edges will be in the factor. They cost the least multiplications
        # if they are spread evenly, or as much as the clique itself: to wait for that would only tell the same later.
        left = n - step - 1
        to_come = left * size // 2
        if work + max(size * size * size // 3, left * size * size // 4) > work_limit or fill + size + to_come > fill_limit:
            return order[:step], fill, work

        clique = pool[fill : fill + size]
        _count_outside(p, clique, rows, start, num_neighbours, num_elements, absorbed, clique_size, outside, outside_of)
        for v in clique:
            _drop(v, degree[v], head, following, before)
            reach = _update_row(v, p, rows, start, num_neighbours, num_elements, eliminated, absorbed, outside, mark)
            degree[v] = min(n - step - 2, degree[v] + size - 1, reach + size - 1)
            _push(v, degree[v], head, following, before)
            least = min(least, degree[v])
        fill += size
    return order, fill, work


@njit(cache=True, nogil=True)
def _gather(  # type: ignore[no-untyped-def]
    p, rows, start, num_neighbours, num_elements, eliminated, absorbed, clique_start, clique_size, pool, fill, mark
):
    """Write the clique of p to the pool and mark its vertices; return its size.

    It holds the neighbours of p and those met through its elements, which the clique covers from now on.
    """
    size = 0
    first_element = start[p] + num_neighbours[p]
    for slot in range(start[p], first_element):
        v = rows[slot]
        if not eliminated[v] and mark[v] != p:
            mark[v] = p
            pool[fill + size] = v
            size += 1
    for slot in range(first_element, first_element + num_elements[p]):
        e = rows[slot]
        if absorbed[e]:
            continue
        absorbed[e] = True
        for k in range(clique_start[e], clique_start[e] + clique_size[e]):
            v = pool[k]
            if not eliminated[v] and mark[v] != p:
                mark[v] = p
                pool[fill + size] = v
                size += 1
    return size


@njit(cache=True, nogil=True)
def _count_outside(p, clique, rows, start, num_neighbours, num_elements, absorbed, clique_size, outside, outside_of):  # type: ignore[no-untyped-def]
    """Count, for every element that meets the clique of p, its vertices that lie outside."""
    for v in clique:
        for slot in range(start[v] + num_neighbours[v], start[v] + num_neighbours[v] + num_elements[v]):
            e = rows[slot]
            if not absorbed[e]:
                if outside_of[e] != p:
                    outside_of[e] = p
                    outside[e] = clique_size[e]
                outside[e] -= 1


@njit(cache=True, nogil=True)
def _update_row(v, p, rows, start, num_neighbours, num_elements, eliminated, absorbed, outside, mark):  # type: ignore[no-untyped-def]
    """Add the element p to the row of v and drop what it covers; return about how many vertices outside its clique v meets."""
    first = start[v]
    write = first
    first_element = first + num_neighbours[v]
    for slot in range(first, first_element):
        u = rows[slot]
        if not eliminated[u] and mark[u] != p:
            rows[write] = u
            write += 1
    num_neighbours[v] = reach = write - first
    for slot in range(first_element, first_element + num_elements[v]):
        e = rows[slot]
        if not absorbed[e] and outside[e] > 0:
            rows[write] = e
            write += 1
            reach += outside[e]
    rows[write] = p
    num_elements[v] = write + 1 - first - num_neighbours[v]
    return reach


@njit(cache=True, nogil=True)
def _push(v, degree, head, following, before):  # type: ignore[no-untyped-def]
    following[v] = head[degree]
    before[v] = -1
    if head[degree] >= 0:
        before[head[degree]] = v
    head[degree] = v


@njit(cache=True, nogil=True)
def _drop(v, degree, head, following, before):  # type: ignore[no-untyped-def]
    if before[v] >= 0:
        following[before[v]] = following[v]
    else:
        head[degree] = following[v]
    if following[v] >= 0:
        before[following[v]] = before[v]
