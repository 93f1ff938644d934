"""Sums over rows that can be added and subtracted: what cross-validation and the bootstrap need of a fold.

The training rows of fold k add up to the total less the moments of fold k, and the error of a model on the held-out rows is a quadratic
form in its steps, so that for squared loss a whole grid of models is fitted and scored without looking at a row again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.gam.binning import BinnedTable
from solvers.gam.candidate_columns import CandidateColumns, bin_sums
from solvers.gam.gram import Gram, Response, column_weights, response_origin, shared_weights
from solvers.gam.interruption import ShouldStop, never


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over rows that can be added and subtracted: the total over all folds less one fold gives the training rows of that fold.

    Attributes
    ----------
    products : float64 array of shape (p, p)
        Weight of the rows that two columns share.
    weights : float64 array of shape (p,)
        Weight of a column's rows.
    responses : float64 array of shape (p,)
        Sum of h (z - origin) over a column's rows.
    total, response, squares : float
        Sum over all rows of h, h (z - origin) and h (z - origin)^2.
    origin : float
        The same for moments that are to be added.
    """

    products: np.ndarray
    weights: np.ndarray
    responses: np.ndarray
    total: float
    response: float
    squares: float
    origin: float

    def __add__(self, other: Moments) -> Moments:
        return self._combined(other, 1.0)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(other, -1.0)

    def _combined(self, other: Moments, sign: float) -> Moments:
        return Moments(
            self.products + other.products if sign > 0 else self.products - other.products,
            self.weights + sign * other.weights,
            self.responses + sign * other.responses,
            self.total + sign * other.total,
            self.response + sign * other.response,
            self.squares + sign * other.squares,
            self.origin,
        )

    def gram(self) -> Gram:
        """Return the centred products."""
        shares = self.weights / self.total
        products = _centred(self.products, self.weights, 1 / self.total)
        return Gram(products, products.diagonal().copy(), shares, self.total)

    def fit_response(self) -> Response:
        """Return the centred response."""
        mean = self.response / self.total
        squares = max(0.0, self.squares - self.response * mean)
        return Response(self.responses - self.weights * mean, self.origin + mean, squares)

    def squared_error(self, intercept: float, active: np.ndarray, steps: np.ndarray) -> float:
        """Return sum of h (z - F)^2 over these rows for F = intercept + sum of steps[a] over the columns active[a] that hold the row."""
        gap = intercept - self.origin
        quadratic = steps @ self.products[np.ix_(active, active)] @ steps
        linear = gap * (steps @ self.weights[active]) - steps @ self.responses[active]
        return float(self.squares - 2 * gap * self.response + gap * gap * self.total + 2 * linear + quadratic)


def fold_moments(
    table: BinnedTable,
    columns: CandidateColumns,
    response: np.ndarray,
    fold: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    n_jobs: int = 1,
    should_stop: ShouldStop = never,
) -> list[Moments]:
    """Sum up the rows of every fold, each row once.

    Parameters
    ----------
    response : float array of shape (N,)
        z.
    fold : int array of shape (N,)
        Fold of each row, 0 .. K - 1; rows of a negative fold are left out.
    weights : float array of shape (N,), optional
    should_stop : callable, optional
        Asked now and then; :class:`~solvers.gam.interruption.Interrupted` if it says yes.

    Returns
    -------
    list of K Moments
        Their sum, less one of them, is what the training rows of that fold add up to.

    Notes
    -----
    O(N D^2 + K p^2), 8 K p^2 bytes.
    """
    origin = response_origin(response, np.ones(len(response)) if weights is None else weights)
    folds = []
    for k in range(int(fold.max(initial=-1)) + 1):
        rows = np.flatnonzero(fold == k)
        part, h = table.rows(rows), None if weights is None else weights[rows]
        shifted = response[rows] - origin
        weighted = shifted if h is None else h * shifted
        column_weight = column_weights(part, columns, h)
        folds.append(
            Moments(
                shared_weights(part, columns, h, column_weight, 0.0, n_jobs, should_stop),
                column_weight,
                columns.sums(bin_sums(part, weighted)),
                float(len(rows) if h is None else h.sum()),
                float(weighted.sum()),
                float(weighted @ shifted),
                origin,
            )
        )
    return folds


@njit(cache=True, nogil=True)
def _centred(products, weights, centring):  # type: ignore[no-untyped-def]
    p = weights.size
    centred = np.empty((p, p))
    for j in range(p):
        share = weights[j] * centring
        for k in range(p):
            centred[j, k] = products[j, k] - share * weights[k]
    return centred
