"""A linear model of the raw columns, to compare an additive model with: what steps are worth beyond straight lines.

F(x) = b + sum over features of b_d x_d, numbers standardised and 0 where missing (with a column of its own that says so), levels as 0/1
columns, the rarest ones together. Newton's method on the loss, or on a quadratic majorant of it, with a ridge so small that it only
tells apart what the rows do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp

from solvers.gam.losses import ClassLoss, Loss
from solvers.gam.shape_functions import CodedColumn, Floats

MOST_LEVELS = 30
MOST_COLUMNS = 1000
MOST_FEATURES = 2000
"""A step factors a matrix of up to twice as many columns: with more features it would outlast the fit."""
ROWS_AT_ONCE = 16384
RIDGE = 1e-6
MOST_STEPS, MOST_CYCLES = 25, 10
TOL = 1e-6
SHRINKING = 0.5 ** np.arange(11)

Column = Floats | CodedColumn


@dataclass(frozen=True, eq=False)
class LinearBaseline:
    """A fitted linear model.

    Attributes
    ----------
    design : Design
    coefficients : float64 array of shape (K, p)
        Of standardised columns.
    intercepts : float64 array of shape (K,)
    """

    design: Design
    coefficients: Floats
    intercepts: Floats

    def decision(self, columns: Sequence[Column], offset: Floats | None = None) -> Floats:
        """Return F of each row, shape (N, K)."""
        total = self.design.times(columns, self.coefficients.T) + self.intercepts
        return total if offset is None else total + offset[:, None]

    def contributions(self, columns: Sequence[Column], feature: int) -> Floats:
        """Return what a feature adds to F of each row, shape (N, K)."""
        mine = self.design.columns_of(feature)
        return self.design.of_feature(feature).times([columns[feature]], self.coefficients[:, mine].T)


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of the linear model.

    Attributes
    ----------
    levels : tuple of dict or None
        Of a categorical feature the 0/1 column of each level that has one; None of a numeric feature.
    start : int64 array of shape (D + 1,)
    mean, scale : float64 array of shape (p,)
    """

    levels: tuple[dict[str, int] | None, ...]
    start: np.ndarray
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], weights: Floats) -> Design:
        """Return the design for some training columns."""
        most = max(1, min(MOST_LEVELS, MOST_COLUMNS // max(1, len(columns))))
        levels = tuple(_common_levels(column, weights, most) if isinstance(column, CodedColumn) else None for column in columns)
        start = np.concatenate([[0], np.cumsum([2 if named is None else len(named) for named in levels])]).astype(np.int64)
        mean, variance = np.zeros(start[-1]), np.zeros(start[-1])
        # A column too large to be squared counts as constant.
        with np.errstate(over="ignore", invalid="ignore"):
            for column, named, first, last in zip(columns, levels, start, start[1:], strict=False):
                mean[first:last], variance[first:last] = _moments(column, named, weights)
            is_constant = ~(variance > 1e-12 * mean**2) | np.isinf(variance)
        mean[~np.isfinite(variance)] = 0.0
        return cls(levels, start, mean, np.where(is_constant, np.inf, np.sqrt(np.where(is_constant, 1.0, variance))))

    def columns_of(self, feature: int) -> slice:
        """Return the columns of a feature."""
        return slice(int(self.start[feature]), int(self.start[feature + 1]))

    def of_feature(self, feature: int) -> Design:
        """Return the design of a feature alone."""
        mine = self.columns_of(feature)
        start = np.array([0, mine.stop - mine.start], dtype=np.int64)
        return Design((self.levels[feature],), start, self.mean[mine], self.scale[mine])

    def times(self, columns: Sequence[Column], coefficients: Floats) -> Floats:
        """Return the standardised columns times coefficients of shape (p, K)."""
        n_rows = len(columns[0].codes if isinstance(columns[0], CodedColumn) else columns[0])
        product = np.empty((n_rows, coefficients.shape[1]))
        for rows, block in self.blocks(columns):
            product[rows] = block @ coefficients
        return product

    def blocks(self, columns: Sequence[Column]) -> Iterator[tuple[slice, Floats]]:
        """Yield the standardised columns of some rows after the other."""
        n_rows = len(columns[0].codes if isinstance(columns[0], CodedColumn) else columns[0])
        for first in range(0, n_rows, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, n_rows))
            block = np.zeros((rows.stop - first, int(self.start[-1])))
            for column, named, place in zip(columns, self.levels, self.start, strict=False):
                if isinstance(column, CodedColumn):
                    assert named is not None
                    of_code = np.array([*(named.get(level, -1) for level in column.levels), -1])
                    chosen = of_code[np.maximum(column.codes[rows], -1)]
                    present = np.flatnonzero(chosen >= 0)
                    block[present, place + chosen[present]] = 1.0
                else:
                    missing = np.isnan(column[rows])
                    block[:, place] = np.where(missing, self.mean[place], column[rows])
                    block[:, place + 1] = missing
            yield rows, (block - self.mean) / self.scale


def fit_linear(
    columns: Sequence[Column],
    target: Floats,
    loss: Loss,
    weights: Floats,
    offset: Floats | None = None,
    *,
    n_classes: int = 2,
    should_stop: Callable[[], bool] = lambda: False,
) -> LinearBaseline:
    """Fit the baseline.

    Parameters
    ----------
    columns : sequence of D float64 arrays or CodedColumn
        At least one; infinite values are not allowed.
    target : float64 array of shape (N,)
        Classes as 0 .. K - 1.
    loss : Loss
    weights : float64 array of shape (N,)
        Positive.
    offset : float64 array of shape (N,), optional
    n_classes : int
    should_stop : callable, optional
        Asked between steps.

    Notes
    -----
    A step takes O(N p^2) time and O(p^2) memory beside one number per row and output. With several classes they take turns.

    Examples
    --------
    >>> from solvers.gam.losses import SquaredLoss
    >>> x = np.array([0.0, 1.0, 2.0, np.nan])
    >>> fit = fit_linear([x], np.array([1.0, 3.0, 5.0, 9.0]), SquaredLoss(), np.ones(4))
    >>> fit.decision([np.array([4.0])]).round(3)
    array([[9.]])
    """
    design = Design.of(columns, weights)
    n_outputs = n_classes if n_classes > 2 else 1
    decisions = np.zeros((len(target), n_outputs)) if offset is None else np.tile(offset[:, None], (1, n_outputs))
    model = LinearBaseline(design, np.zeros((n_outputs, int(design.start[-1]))), np.zeros(n_outputs))
    if n_outputs == 1:
        fitted = loss.scaled_to(target, weights)
        _descend(model, 0, columns, target, fitted, weights, decisions[:, 0], MOST_STEPS, should_stop)
        return model
    for _ in range(MOST_CYCLES):
        for k in range(n_outputs):
            others = logsumexp(np.delete(decisions, k, axis=1), axis=1)
            relative = decisions[:, k] - others
            _descend(model, k, columns, (target == k).astype(np.float64), ClassLoss(), weights, relative, 1, should_stop)
            decisions[:, k] = relative + others
        if should_stop():
            break
    return model


def _descend(
    model: LinearBaseline,
    output: int,
    columns: Sequence[Column],
    target: Floats,
    loss: Loss,
    weights: Floats,
    decision: Floats,
    steps: int,
    should_stop: Callable[[], bool],
) -> None:
    """Lower the loss of one output; its coefficients and `decision` change in place."""
    shift = loss.best_constant(target, weights, decision)
    decision += shift
    model.intercepts[output] += shift
    value = first = float(weights @ loss.value(target, decision))
    for step in range(steps):
        if should_stop():
            return
        gradient, curvature = loss.majorant(target, decision, step)
        change, shift = _newton(model.design, columns, weights * gradient, weights * curvature, model.coefficients[output])
        moved = model.design.times(columns, change[:, None])[:, 0] + shift
        for length in SHRINKING:
            lower = float(weights @ loss.value(target, decision + length * moved))
            if lower < value:
                break
        else:
            return
        decision += length * moved
        model.coefficients[output] += length * change
        model.intercepts[output] += length * shift
        gained, value = value - lower, lower
        if gained <= TOL * (first - value):
            return


def _newton(design: Design, columns: Sequence[Column], gradient: Floats, curvature: Floats, now: Floats) -> tuple[Floats, float]:
    """Return the step of coefficients and intercept that minimises the quadratic with a ridge."""
    size = int(design.start[-1])
    products, slopes, lean = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for rows, block in design.blocks(columns):
        weighted = block * curvature[rows, None]
        products += block.T @ weighted
        slopes += gradient[rows] @ block
        lean += weighted.sum(axis=0)
    total = float(curvature.sum())
    ridge = RIDGE * total
    centred = products - np.outer(lean, lean) / total + ridge * np.eye(size)
    change: Floats = -cho_solve(cho_factor(centred), slopes - lean * gradient.sum() / total + ridge * now)
    return change, float(-(gradient.sum() + lean @ change) / total)


def _moments(column: Column, named: dict[str, int] | None, weights: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a feature's columns; a missing number counts as the mean of the others."""
    total = weights.sum()
    if isinstance(column, CodedColumn):
        mass = np.bincount(np.maximum(column.codes, -1) + 1, weights=weights, minlength=len(column.levels) + 1)[1:]
        mass_of = dict(zip(column.levels, mass, strict=True))
        shares = np.array([mass_of[level] for level in named or {}]) / total
        return shares, shares * (1 - shares)
    missing = np.isnan(column)
    present = weights * ~missing
    if not present.any():
        return np.array([0.0, 1.0]), np.zeros(2)
    filled = np.where(missing, 0.0, column)
    mean = present @ filled / present.sum()
    share = 1 - present.sum() / total
    return np.array([mean, share]), np.array([present @ (filled - mean) ** 2 / total, share * (1 - share)])


def _common_levels(column: CodedColumn, weights: Floats, most: int) -> dict[str, int]:
    """Give the levels of most weight a column each; the other ones, and missing, are what these are compared with."""
    mass = np.bincount(np.maximum(column.codes, -1) + 1, weights=weights, minlength=len(column.levels) + 1)[1:]
    heaviest = sorted(range(len(mass)), key=lambda code: (-mass[code], column.levels[code]))[:most]
    return {column.levels[code]: number for number, code in enumerate(sorted(code for code in heaviest if mass[code] > 0))}
