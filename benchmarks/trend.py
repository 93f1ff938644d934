"""Whether a measure gets better from level to level, or worse by more than noise: confidence bands and two tests."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

CONFIDENCE = 0.95

Sample = npt.ArrayLike


class Band(NamedTuple):
    """A mean, and the interval that holds the true one with 95 % confidence if the sample is normal (Student)."""

    mean: float
    low: float
    high: float


def band(sample: Sample) -> Band:
    """Return the mean of a sample with its confidence interval; a sample of one has no width.

    Examples
    --------
    >>> tuple(round(end, 2) for end in band([1, 2, 3, 4]))
    (2.5, 0.45, 4.55)
    """
    values = np.asarray(sample, dtype=float)
    half = _half_width(values, (1 + CONFIDENCE) / 2)
    return Band(float(values.mean()), float(values.mean() - half), float(values.mean() + half))


def falls(gains: Sample) -> list[tuple[int, int]]:
    """Return the pairs of levels of which the later is worse than the earlier by more than noise.

    Parameters
    ----------
    gains : array_like of shape (subjects, levels)
        Larger is better. A row holds the same subject at all levels.

    Notes
    -----
    Paired one-sided Student tests of all pairs, at 5 % together (Bonferroni).

    Examples
    --------
    >>> falls([[1, 5, 2], [1, 6, 3], [2, 6, 2], [1, 5, 2]])
    [(1, 2)]
    """
    values = np.asarray(gains, dtype=float)
    pairs = list(combinations(range(values.shape[1]), 2))
    quantile = 1 - (1 - CONFIDENCE) / max(1, len(pairs))
    differences = {(i, j): values[:, j] - values[:, i] for i, j in pairs}
    return [pair for pair, changes in differences.items() if changes.mean() + _half_width(changes, quantile) < 0]


def rise(gains: Sample) -> float:
    """Return the p-value of Page's test that the levels are in rising order, against none of them differing.

    Parameters
    ----------
    gains : array_like of shape (subjects, levels)
        As for :func:`falls`; at least two subjects and three levels.

    Examples
    --------
    >>> rise([[1, 2, 3, 4]] * 5) < 0.001 < rise([[4, 3, 2, 1]] * 5)
    True
    """
    return float(stats.page_trend_test(np.asarray(gains, dtype=float)).pvalue)


def _half_width(values: npt.NDArray[np.float64], quantile: float) -> float:
    if len(values) < 2:
        return 0.0
    return float(stats.t.ppf(quantile, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
