"""The linear baseline of each training row by a fit to the rows of other folds: made with the fit, which alone has the values.

Rows are dealt into folds by their position; comparisons by cross-validation deal them alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from solvers.gam.linear_baseline import MOST_STEPS, Column, LinearBaseline, fit_linear
from solvers.gam.losses import Loss, SquaredLoss
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import CodedColumn, Floats
from solvers.operation import Context

FOLDS = 5
MOST_WORK = 1e10
"""Multiply-adds of a fit up to which the folds are fitted: some seconds. With more, the baseline would outlast the model's fit."""


def dealt_folds(n_rows: int) -> npt.NDArray[np.int64]:
    """Return the fold of each row.

    Examples
    --------
    >>> np.bincount(dealt_folds(12))
    array([3, 3, 2, 2, 2])
    """
    folds: npt.NDArray[np.int64] = np.random.RandomState(0).permutation(n_rows) % FOLDS
    return folds


def class_in_one_fold(target: Floats, fold: npt.NDArray[np.int64], n_classes: int) -> int | None:
    """Return a class whose rows are all in one fold, so that the others teach nothing of it."""
    return next((k for k in range(n_classes) if len(np.unique(fold[target == k])) < 2), None)


def held_back_linear(
    whole: LinearBaseline, columns: Sequence[Column], sample: Sample, loss: Loss, n_classes: int, context: Context
) -> Floats | None:
    """Return the decision of the linear model for each training row by the rows of other folds.

    Parameters
    ----------
    whole : LinearBaseline
        Fitted to all of them.
    columns : sequence of D columns
        The values of the training rows.
    sample : Sample
        The same rows in bins.
    loss : Loss
    n_classes : int
        0 for a regression.

    Returns
    -------
    float64 array of shape (N, K) or None
        None for a single row, for too many, if a class is in one fold only, or if time runs out.
    """
    n_rows, fold = len(sample.target), dealt_folds(len(sample.target))
    steps = 1 if isinstance(loss, SquaredLoss) else MOST_STEPS
    work = n_rows * float(whole.coefficients.shape[1]) ** 2 * len(whole.coefficients) * steps
    if n_rows < 2 or work > MOST_WORK or class_in_one_fold(sample.target, fold, n_classes) is not None:
        return None
    weights = sample.row_weights()
    decision = np.empty((n_rows, n_classes if n_classes > 2 else 1))
    for k in range(min(FOLDS, n_rows)):
        held, others = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        fit = fit_linear(
            _rows(columns, others),
            sample.target[others],
            loss,
            weights[others],
            None if sample.offset is None else sample.offset[others],
            n_classes=max(2, n_classes),
            should_stop=lambda: context.stop,
        )
        if context.stop:
            return None
        decision[held] = fit.decision(_rows(columns, held), None if sample.offset is None else sample.offset[held])
    return decision


def _rows(columns: Sequence[Column], index: npt.NDArray[np.intp]) -> list[Column]:
    return [CodedColumn(one.codes[index], one.levels) if isinstance(one, CodedColumn) else one[index] for one in columns]
