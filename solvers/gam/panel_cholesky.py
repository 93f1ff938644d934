"""Linear equations with a positive definite matrix, where a large one can be interrupted.

The factor L of A = L L' is computed panel by panel of columns, as LAPACK does within a call that nobody can stop:

    L_kk = chol(A_kk),   L_ik = A_ik L_kk^-T,   A_ij -= L_ik L_jk'        for all i, j > k.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from solvers.gam.interruption import Interrupted, ShouldStop, never

PANEL = 1024
LARGE = 2 * PANEL
"""Order from which on the solution is asked whether to go on."""


def solve_positive_definite(matrix: np.ndarray, right: np.ndarray, should_stop: ShouldStop = never) -> np.ndarray:
    """Solve A x = b in O(K^3).

    Parameters
    ----------
    matrix : float64 array of shape (K, K)
    right : float64 array of shape (K,)
    should_stop : callable
        Asked about every 10^11 operations.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the matrix is not positive definite.
    Interrupted
        If it was told to stop.

    Examples
    --------
    >>> solve_positive_definite(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 3.0]))
    array([1., 1.])
    """
    if len(matrix) <= LARGE:
        solution: np.ndarray = cho_solve(cho_factor(matrix, lower=True), right)
        return solution
    factor = matrix.copy()
    factor_in_place(factor, should_stop)
    solution = solve_triangular(factor, solve_triangular(factor, right, lower=True), lower=True, trans=1)
    return solution


def factor_in_place(matrix: np.ndarray, should_stop: ShouldStop = never, panel: int = PANEL) -> None:
    """Write the Cholesky factor into the lower triangle; what is above stays.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> factor_in_place(A, panel=1)
    >>> np.tril(A)
    array([[2., 0.],
           [1., 2.]])
    """
    size = len(matrix)
    for first in range(0, size, panel):
        last = min(first + panel, size)
        top = cholesky(matrix[first:last, first:last], lower=True)
        matrix[first:last, first:last] = top
        below = solve_triangular(top, matrix[last:, first:last].T, lower=True).T
        matrix[last:, first:last] = below
        for row in range(last, size, panel):
            if should_stop():
                raise Interrupted
            end = min(row + panel, size)
            matrix[row:end, last:end] -= below[row - last : end - last] @ below[: end - last].T
