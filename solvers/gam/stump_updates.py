"""Exact moves of single stumps: each goes, the others fixed, to the best column with the best step there.

Let s_j be the product of column j with the residual z - F of the other stumps (the intercept is always at its best). A stump of step
beta on column j changes the objective by -s_j beta + (M_jj + alpha) beta^2 / 2 + l1 |beta| + l0, so that its best step is

    beta_j = sign(s_j) (|s_j| - l1)_+ / (M_jj + alpha)        with the gain        g_j = (|s_j| - l1)_+^2 / (2 (M_jj + alpha))

(where only one sign is allowed, s_j of the other sign counts as 0), and the best column is the one of the largest gain. Ties go to the
lowest column, and a stump stays where it is unless another column is clearly better: otherwise the result would depend on rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.gam.candidate_columns import CONSTANT, CandidateColumns

TIE = 1e-12
CLEARLY_BETTER = 1e-9
UNLIMITED = np.iinfo(np.int64).max


class Rules(NamedTuple):
    """What decides a move, for each of the p columns or for all.

    Attributes
    ----------
    gain_scale, step_scale : float64 array of shape (p,)
        1 / (2 (M_jj + alpha)) and 1 / (M_jj + alpha), 0 for a column that is constant under these curvatures.
    up, down : float64 array of shape (p,)
        1 where positive, or negative, steps are allowed, else 0.
    feature : int64 array of shape (p,)
        That the limits count.
    l1, l0 : float
    negligible : float
        Gain that is not worth a move.
    max_features, max_steps : int
        Most features in use, and most columns in use per feature.
    """

    gain_scale: np.ndarray
    step_scale: np.ndarray
    up: np.ndarray
    down: np.ndarray
    feature: np.ndarray
    l1: float
    l0: float
    negligible: float
    max_features: int
    max_steps: int


class Stumps(NamedTuple):
    """A forest while it is being fitted; the moves change it in place.

    Attributes
    ----------
    columns : int64 array of shape (T,)
        Column of each stump, -1 for an empty one.
    steps : float64 array of shape (T,)
    on_column : int64 array of shape (p,)
        Stumps on each column.
    in_feature : int64 array of shape (D,)
        Columns in use of each feature.
    """

    columns: np.ndarray
    steps: np.ndarray
    on_column: np.ndarray
    in_feature: np.ndarray


def rules(
    columns: CandidateColumns,
    diagonal: np.ndarray,
    total: float,
    *,
    null_objective: float,
    alpha: float,
    l1: float = 0.0,
    l0: float = 0.0,
    max_features: int | None = None,
    max_steps_per_feature: int | None = None,
) -> Rules:
    """Prepare the rules of the moves.

    Parameters
    ----------
    columns : CandidateColumns
    diagonal : float64 array of shape (p,)
        M_jj.
    total : float
        H, the weight of all rows.
    null_objective : float
        That of the empty forest: gains are compared with it, so that the scale of z does not matter.
    """
    curved = diagonal > CONSTANT * total
    step_scale = np.where(curved, 1 / np.where(curved, diagonal + alpha, 1.0), 0.0)
    return Rules(
        step_scale / 2,
        step_scale,
        (columns.sign >= 0).astype(np.float64),
        (columns.sign <= 0).astype(np.float64),
        columns.counts_as[columns.feature],
        float(l1),
        float(l0),
        TIE * null_objective,
        UNLIMITED if max_features is None else int(max_features),
        UNLIMITED if max_steps_per_feature is None else int(max_steps_per_feature),
    )


def stumps_on(stump_columns: np.ndarray, steps: np.ndarray, columns: CandidateColumns) -> Stumps:
    """Return the state of a forest with the given stumps; a column of -1 stands for an empty stump."""
    on_column = np.bincount(stump_columns[stump_columns >= 0], minlength=len(columns))
    in_feature = np.bincount(columns.counts_as[columns.feature[on_column > 0]], minlength=len(columns.start) - 1)
    return Stumps(
        stump_columns.astype(np.int64), steps.astype(np.float64), on_column.astype(np.int64), in_feature.astype(np.int64)
    )


@njit(cache=True, nogil=True)
def sweep(products, rules, correlations, stumps, first, last):  # type: ignore[no-untyped-def]
    """Move the stumps `first`, ..., `last` - 1 once, in their order; O(p) each.

    Parameters
    ----------
    products : float64 array of shape (p, p)
        M.
    rules : Rules
    correlations : float64 array of shape (p,)
        s, the products with the residual of all stumps; kept up to date.
    stumps : Stumps
        Changed in place.

    Returns
    -------
    moved : int
        Stumps that changed their column.
    decrease : float
        By how much the objective fell.
    """
    gains = np.empty(correlations.size)
    moved, decrease = 0, 0.0
    for t in range(first, last):
        old = stumps.columns[t]
        if old >= 0:
            take_out(products[old], correlations, stumps, t, rules.feature)
        new = choose_column(rules, correlations, stumps, old, gains)
        moved += new != old
        decrease += put_in(rules, correlations, stumps, t, old, new)
        if new >= 0:
            add_row(products[new], correlations, -stumps.steps[t])
    return moved, decrease


@njit(cache=True, nogil=True)
def take_out(row, correlations, stumps, t, feature):  # type: ignore[no-untyped-def]
    """Take a stump out of the forest; it keeps its column and step to be compared with."""
    add_row(row, correlations, stumps.steps[t])
    count_out(stumps, stumps.columns[t], feature)


@njit(cache=True, nogil=True)
def count_out(stumps, column, feature):  # type: ignore[no-untyped-def]
    """Count one stump less on a column."""
    stumps.on_column[column] -= 1
    if stumps.on_column[column] == 0:
        stumps.in_feature[feature[column]] -= 1


@njit(cache=True, nogil=True)
def count_in(stumps, column, feature):  # type: ignore[no-untyped-def]
    """Count one stump more on a column."""
    if stumps.on_column[column] == 0:
        stumps.in_feature[feature[column]] += 1
    stumps.on_column[column] += 1


@njit(cache=True, nogil=True)
def put_in(rules, correlations, stumps, t, old, new):  # type: ignore[no-untyped-def]
    """Give a stump that was taken out its new column and step; return by how much the objective fell against the old ones."""
    decrease = -_decrease(rules, correlations, old, stumps.steps[t])
    step = best_step(rules, correlations, new)
    stumps.columns[t] = new
    stumps.steps[t] = step
    if new >= 0:
        count_in(stumps, new, rules.feature)
    return decrease + _decrease(rules, correlations, new, step)


@njit(cache=True, nogil=True)
def choose_column(rules, correlations, stumps, old, gains):  # type: ignore[no-untyped-def]
    """Return the best column for a stump that was taken out of column `old`, -1 if none gains more than l0."""
    top = _all_gains(rules, correlations, gains)
    if rules.max_features < stumps.in_feature.size or rules.max_steps < gains.size:
        top = _close_full_features(rules, stumps, gains)
    best = old
    if old < 0 or top > gains[old] * (1 + CLEARLY_BETTER) + rules.negligible:
        best = _first_at_least(gains, top * (1 - TIE))
    return best if gains[best] > rules.l0 else -1


@njit(cache=True, nogil=True)
def best_step(rules, correlations, column):  # type: ignore[no-untyped-def]
    """Return the best step on a column, 0 for no column."""
    if column < 0:
        return 0.0
    s = correlations[column]
    size = max(max(rules.up[column] * s, -rules.down[column] * s) - rules.l1, 0.0) * rules.step_scale[column]
    return size if s > 0 else -size


@njit(cache=True, nogil=True)
def add_row(row, correlations, factor):  # type: ignore[no-untyped-def]
    """Add a multiple of a row of M to the correlations."""
    for k in range(correlations.size):
        correlations[k] += factor * row[k]


@njit(cache=True, nogil=True)
def _decrease(rules, correlations, column, step):  # type: ignore[no-untyped-def]
    """How much lower the objective is with this stump than without."""
    if column < 0 or rules.step_scale[column] == 0.0:
        return 0.0
    curvature = 1 / rules.step_scale[column]
    return (correlations[column] - 0.5 * curvature * step) * step - rules.l1 * abs(step) - rules.l0 * (step != 0.0)


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _all_gains(rules, correlations, gains):  # type: ignore[no-untyped-def]
    top = 0.0
    l1, up, down, scale = rules.l1, rules.up, rules.down, rules.gain_scale
    for j in range(gains.size):
        s = correlations[j]
        excess = max(max(up[j] * s, -down[j] * s) - l1, 0.0)
        gains[j] = excess * excess * scale[j]
        top = max(top, gains[j])
    return top


@njit(cache=True, nogil=True)
def _close_full_features(rules, stumps, gains):  # type: ignore[no-untyped-def]
    """Forbid columns that would exceed a limit, and return the best gain of the others."""
    n_used = 0
    for d in range(stumps.in_feature.size):
        n_used += stumps.in_feature[d] > 0
    top = 0.0
    for j in range(gains.size):
        steps = stumps.in_feature[rules.feature[j]]
        is_new_feature = steps == 0 and n_used >= rules.max_features
        if stumps.on_column[j] == 0 and (is_new_feature or steps >= rules.max_steps):
            gains[j] = 0.0
        top = max(top, gains[j])
    return top


@njit(cache=True, nogil=True)
def _first_at_least(gains, least):  # type: ignore[no-untyped-def]
    for j in range(gains.size):
        if gains[j] >= least:
            return j
    return 0


@njit(cache=True, nogil=True)
def swap_residual(products, rules, correlations, stumps, first, last, seen):  # type: ignore[no-untyped-def]
    """Return the most that the objective could fall by moving one of some stumps, the forest left as it is; O(p) for each column.

    Parameters
    ----------
    products : float64 array of shape (p, p)
    rules : Rules
    correlations : float64 array of shape (p,)
    stumps : Stumps
    first, last : int
        The first of these stumps and the one after them.
    seen : bool array of shape (p + 1,)
        Columns that need no other look, the last entry for empty stumps; changed in place.
    """
    gains = np.empty(correlations.size)
    without = np.empty(correlations.size)
    residual = 0.0
    for t in range(first, last):
        column = stumps.columns[t]
        if seen[column]:
            continue
        seen[column] = True
        without[:] = correlations
        if column >= 0:
            add_row(products[column], without, stumps.steps[t])
        residual = max(residual, swap_gain(rules, without, stumps, column, gains))
    return residual


@njit(cache=True, nogil=True)
def swap_gain(rules, without, stumps, column, gains):  # type: ignore[no-untyped-def]
    """Return the most that one stump on `column` could gain elsewhere, given the correlations without it."""
    if column >= 0:
        count_out(stumps, column, rules.feature)
    top = max(_all_gains(rules, without, gains), rules.l0)
    if rules.max_features < stumps.in_feature.size or rules.max_steps < gains.size:
        top = max(_close_full_features(rules, stumps, gains), rules.l0)
    if column < 0:
        return top - rules.l0
    count_in(stumps, column, rules.feature)
    return top - gains[column]
