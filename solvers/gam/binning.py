"""Bins of a table's features, and the bin of every value.

A numeric feature gets a cut between all neighbouring distinct values while there are at most `max_bins` of them, otherwise cuts at
`max_bins` quantiles; a value x goes left of the threshold t when x <= t. A categorical feature gets one bin per level, and its rarest
levels share a last one when there are more than `max_levels`. Bin 0 always holds the missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numba import njit

from solvers.gam.shape_functions import CodedColumn
from solvers.operation import InvalidInput

MAX_LEVELS = 255
# Above this many rows the quantiles are those of a subsample.
QUANTILE_ROWS = 1_000_000
QUANTILE_SAMPLE = 100_000
# `max_bins="auto"`: wide tables with many finely valued features get fewer bins, so that their Gram fits in memory.
FINE_BINS, COARSE_BINS, MOST_FINE_FEATURES = 255, 64, 40


@dataclass(frozen=True, slots=True)
class NumericBins:
    """Bins of a numeric feature: bin 1 + #{t < x} holds x, bin 0 the missing values.

    Attributes
    ----------
    name : str
    thresholds : float64 array of shape (B - 1,)
        Increasing.
    has_missing : bool
        A training row of positive weight lacks the value.
    """

    name: str
    thresholds: np.ndarray
    has_missing: bool

    @property
    def n_codes(self) -> int:
        """Bins, that of the missing values included."""
        return len(self.thresholds) + 2

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value, int64 of shape (N,)."""
        codes: np.ndarray = _bin_of(np.require(values, np.float64, ["C", "W"]), self.thresholds)
        return codes


@dataclass(frozen=True, slots=True)
class LevelBins:
    """Bins of a categorical feature: bin 1 + i holds level i, the bin after the last level those pooled, bin 0 the missing values.

    Attributes
    ----------
    name : str
    levels : tuple of str
        Levels with a bin of their own, sorted.
    pooled : tuple of str
        The rare ones that share a bin, sorted.
    has_missing : bool
        A training row of positive weight lacks the value.
    """

    name: str
    levels: tuple[str, ...]
    pooled: tuple[str, ...]
    has_missing: bool

    @property
    def n_codes(self) -> int:
        """Bins, that of the missing values included."""
        return 1 + len(self.levels) + bool(self.pooled)

    def codes(self, values: CodedColumn) -> np.ndarray:
        """Return the bin of each value, int64 of shape (N,); an unseen level joins the pooled ones or, without any, has code `n_codes`."""
        unseen = 1 + len(self.levels)
        bin_of = {level: 1 + index for index, level in enumerate(self.levels)}
        table: np.ndarray = np.array([*(bin_of.get(level, unseen) for level in values.levels), 0], dtype=np.int64)
        codes: np.ndarray = table[np.maximum(values.codes, -1)]  # the code -1 of a missing value is the last entry
        return codes


FeatureBins = NumericBins | LevelBins


class Codes(Protocol):
    """Bins of rows: what sums over rows are made from.

    Attributes
    ----------
    codes : unsigned int array of shape (D, N)
    n_codes : int64 array of shape (D,)
        Bins of each feature.
    n_rows : int
    """

    @property
    def codes(self) -> np.ndarray: ...
    @property
    def n_codes(self) -> np.ndarray: ...
    @property
    def n_rows(self) -> int: ...


@dataclass(frozen=True, slots=True)
class BinnedTable:
    """A table in bins.

    Attributes
    ----------
    features : tuple of NumericBins or LevelBins, length D
    codes : uint8, uint16 or uint32 array of shape (D, N)
        Bin of every value, one feature after the other.
    """

    features: tuple[FeatureBins, ...]
    codes: np.ndarray

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_codes(self) -> np.ndarray:
        """Bins of each feature, that of the missing values included; int64 of shape (D,)."""
        return np.array([feature.n_codes for feature in self.features], dtype=np.int64)

    def rows(self, index: np.ndarray) -> BinnedTable:
        """Return the rows of an index array or a mask."""
        return BinnedTable(self.features, np.ascontiguousarray(self.codes[:, index]))


def bin_table(
    values: Sequence[np.ndarray | CodedColumn],
    names: Sequence[str],
    *,
    max_bins: int | Literal["auto"] | None = "auto",
    max_levels: int = MAX_LEVELS,
    weights: np.ndarray | None = None,
) -> BinnedTable:
    """Choose the bins of every feature on the training rows and sort the rows into them.

    Parameters
    ----------
    values : sequence of D columns
        A float array (NaN: missing) for a numeric feature, a :class:`CodedColumn` for a categorical one.
    names : sequence of str
    max_bins : int, None or "auto"
        Most bins of a numeric feature; None for a cut between any two values.
    max_levels : int
        Most bins of a categorical feature.
    weights : float array of shape (N,), optional
        Frequency weights; rows of weight 0 have no say.

    Raises
    ------
    InvalidInput
        If a numeric value is infinite.

    Notes
    -----
    O(D N log N), with more than a million rows O(D N log B) and quantiles of a fixed subsample.

    Examples
    --------
    >>> table = bin_table([np.array([3.0, 1.0, np.nan, 1.0])], ["age"])
    >>> table.features[0].thresholds, table.codes
    (array([2.]), array([[2, 1, 0, 1]], dtype=uint8))
    """
    if max_bins == "auto":
        max_bins = automatic_max_bins(values)
    features = tuple(
        level_bins(name, column, max_levels, weights)
        if isinstance(column, CodedColumn)
        else numeric_bins(name, column, max_bins, weights)
        for name, column in zip(names, values, strict=True)
    )
    return BinnedTable(features, encode(features, values))


def encode(features: Sequence[FeatureBins], values: Sequence[np.ndarray | CodedColumn]) -> np.ndarray:
    """Return the bins of rows, training rows or others, shape (D, N), in the smallest type that holds them."""
    n_rows = len(values[0].codes if isinstance(values[0], CodedColumn) else values[0]) if values else 0
    most = max((feature.n_codes - isinstance(feature, NumericBins) for feature in features), default=0)
    codes = np.empty((len(features), n_rows), dtype=np.min_scalar_type(most))
    for row, (feature, column) in enumerate(zip(features, values, strict=True)):
        codes[row] = feature.codes(column)  # type: ignore[arg-type]  # each kind of feature has its kind of column
    return codes


def automatic_max_bins(values: Sequence[np.ndarray | CodedColumn]) -> int:
    """Return 255, or 64 if more than 40 numeric features have more than 64 distinct values."""
    numeric = [column for column in values if not isinstance(column, CodedColumn)]
    if len(numeric) <= MOST_FINE_FEATURES:
        return FINE_BINS
    return COARSE_BINS if sum(map(_is_fine, numeric)) > MOST_FINE_FEATURES else FINE_BINS


def _is_fine(column: np.ndarray) -> bool:
    """Whether a column has more than 64 distinct values; mostly its first rows show it."""
    return any(len(np.unique(rows[~np.isnan(rows)])) > COARSE_BINS for rows in (column[: 16 * COARSE_BINS], column))


def numeric_bins(name: str, column: np.ndarray, max_bins: int | None, weights: np.ndarray | None) -> NumericBins:
    """Choose the thresholds of a numeric feature.

    Examples
    --------
    >>> numeric_bins("x", np.array([0.0, 0.0, 1.0, 2.0, 3.0, 9.0]), 3, None).thresholds
    array([0.5, 2.5])
    """
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise InvalidInput(f"column {name!r} is infinite in row {infinite[0]}", column=name, row=int(infinite[0]))
    counts = np.ones(len(column), dtype=bool) if weights is None else weights > 0
    present = ~np.isnan(column) & counts
    has_missing = bool(np.any(counts & ~present))
    sample = np.flatnonzero(present)
    if len(sample) > QUANTILE_ROWS:
        sample = np.random.default_rng(0).choice(sample, QUANTILE_SAMPLE, replace=False)
    if weights is None or np.all(weights[sample] == 1):
        values = np.sort(column[sample])
        cuts = _quantile_cuts(values, max_bins)
    else:
        sample = sample[np.argsort(column[sample], kind="stable")]
        values = column[sample]
        cuts = _weighted_quantile_cuts(values, weights[sample], max_bins)
    return NumericBins(name, _midpoints(values, cuts), has_missing)


def _quantile_cuts(values: np.ndarray, max_bins: int | None) -> np.ndarray:
    """Return the indices i such that a cut lies between values[i] and values[i + 1], `values` sorted."""
    jumps = np.flatnonzero(values[1:] > values[:-1])
    if max_bins is None or len(jumps) < max_bins:
        return jumps
    elements = (len(values) - 1) * np.arange(1, max_bins, dtype=np.int64) // max_bins
    return _jumps_after(elements, jumps)


def _weighted_quantile_cuts(values: np.ndarray, weights: np.ndarray, max_bins: int | None) -> np.ndarray:
    """Do the same where a value of weight 2 counts as if it stood there twice."""
    jumps = np.flatnonzero(values[1:] > values[:-1])
    if max_bins is None or len(jumps) < max_bins:
        return jumps
    cumulative = np.cumsum(weights)
    ranks = (cumulative[-1] - 1) * np.arange(1, max_bins) / max_bins
    return _jumps_after(np.searchsorted(cumulative, ranks, side="right"), jumps)


def _jumps_after(elements: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Return the first jump at or after each element, without repetition; there is none after the largest value."""
    following = np.unique(np.searchsorted(jumps, elements))
    return jumps[following[following < len(jumps)]]


def _midpoints(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return a threshold between each pair of neighbours: the left one itself where the midpoint rounds to the right one."""
    left, right = values[cuts], values[cuts + 1]
    with np.errstate(over="ignore"):
        width = right - left
    middle = np.where(np.isfinite(width), left + width / 2, left / 2 + right / 2)
    thresholds: np.ndarray = np.where(middle < right, middle, left)
    return thresholds


def level_bins(name: str, column: CodedColumn, max_levels: int, weights: np.ndarray | None) -> LevelBins:
    """Give every level of a categorical feature a bin; the rarest share one when there are more than `max_levels`.

    Examples
    --------
    >>> level_bins("plan", CodedColumn(np.array([0, 1, 2, 1, -1]), ("pro", "basic", "plus")), 2, None)
    LevelBins(name='plan', levels=('basic',), pooled=('plus', 'pro'), has_missing=True)
    """
    mass = np.bincount(np.maximum(column.codes, -1) + 1, weights=weights, minlength=len(column.levels) + 1)
    seen = [level for level, amount in zip(column.levels, mass[1:], strict=True) if amount > 0]
    pooled: list[str] = []
    if len(seen) > max_levels:
        amount_of = dict(zip(column.levels, mass[1:], strict=True))
        by_mass = sorted(seen, key=lambda level: (-amount_of[level], level))
        seen, pooled = by_mass[: max_levels - 1], by_mass[max_levels - 1 :]
    return LevelBins(name, tuple(sorted(seen)), tuple(sorted(pooled)), bool(mass[0] > 0))


@njit(cache=True, nogil=True)
def _bin_of(values, thresholds):  # type: ignore[no-untyped-def]
    """Bin of each value: binary search without unpredictable branches."""
    codes = np.empty(values.size, np.int64)
    for i in range(values.size):
        x = values[i]
        if np.isnan(x):
            codes[i] = 0
            continue
        below, length = 0, thresholds.size
        while length > 0:
            half = (length + 1) >> 1
            below += half if thresholds[below + half - 1] < x else 0
            length -= half
        codes[i] = below + 1
    return codes
