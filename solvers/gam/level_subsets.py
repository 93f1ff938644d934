"""Splits of a categorical feature into two sets of levels, beside those of one level against the rest.

Of all sets of levels, the one whose indicator has the largest product with a residual r takes the levels in the order of their mean
residual up to some point (Fisher, "On Grouping for Maximum Homogeneity", JASA 1958). So a view of the feature with its levels in that
order is added to the table, as if it were numeric: its thresholds are the sets. A fit on the table with views is followed by views for
its residual, and another fit from where it stands, as long as a new set would help; the objective never rises.

Any set S of levels has |U_S'r| <= the sum of the positive level sums of the centred r, which replaces the maximum over columns in the
lower bound, so that it holds for every possible set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.gam.binning import BinnedTable, LevelBins, NumericBins
from solvers.gam.candidate_columns import CandidateColumns, bin_sums, candidate_columns
from solvers.gam.forest import Forest
from solvers.gam.sample import Sample


@dataclass(frozen=True, slots=True)
class OrderedViews:
    """Rows with views of their categorical features.

    Attributes
    ----------
    sample : Sample
        The features of the table, then the views; columns of the former come first and keep their numbers as views are added.
    feature : tuple of int
        Feature that each view is of.
    ranks : tuple of int64 arrays
        Place of each bin of the feature in the view's order.
    n_features : int
        Features that are no views.
    """

    sample: Sample
    feature: tuple[int, ...]
    ranks: tuple[np.ndarray, ...]
    n_features: int

    def shapes(self, forest: Forest) -> np.ndarray:
        """Return the score of each bin of each feature, views folded in, shape (D, C)."""
        columns, table = self.sample.columns, self.sample.table
        every = columns.scores(forest.heights(len(columns)), table.n_codes)
        shapes = every[: self.n_features].copy()
        for view, (d, ranks) in enumerate(zip(self.feature, self.ranks, strict=True)):
            shapes[d, : len(ranks)] += every[self.n_features + view, 1 + ranks]
        return shapes


def without_views(sample: Sample) -> OrderedViews:
    """Return the rows as they are."""
    return OrderedViews(sample, (), (), len(sample.table.features))


def with_views(views: OrderedViews, residual: np.ndarray) -> OrderedViews:
    """Add a view in the order of the mean residual of each categorical feature of three bins or more, unless there is one already.

    Parameters
    ----------
    views : OrderedViews
    residual : float64 array of shape (N,)
        Weighted: minus the gradient of the loss.

    Returns
    -------
    OrderedViews
        `views` itself if there is nothing new.

    Notes
    -----
    O(N D).
    """
    sample = views.sample
    table, weights = sample.table, sample.row_weights()
    sums, mass = bin_sums(table, residual - weights * residual.sum() / weights.sum()), bin_sums(table, weights)
    new: list[tuple[int, np.ndarray]] = []
    for d, bins in enumerate(table.features[: views.n_features]):
        if not isinstance(bins, LevelBins) or bins.n_codes < 3:
            continue
        own, weight = sums[d, : bins.n_codes], mass[d, : bins.n_codes]
        mean = np.divide(own, weight, out=np.full(bins.n_codes, np.inf), where=weight > 0)
        rank = np.argsort(np.argsort(mean, kind="stable"), kind="stable")
        if not any(of == d and np.array_equal(rank, known) for of, known in zip(views.feature, views.ranks, strict=True)):
            new.append((d, rank))
    return add_views(views, new)


def add_views(views: OrderedViews, new: Sequence[tuple[int, np.ndarray]]) -> OrderedViews:
    """Add views that are given by their feature and the place of each of its bins; `views` itself if there are none."""
    if not new:
        return views
    sample = views.sample
    table = sample.table
    n_old = len(table.features)
    features, codes = list(table.features), [table.codes]
    for d, rank in new:
        bins = table.features[d]
        features.append(NumericBins(bins.name, np.arange(bins.n_codes - 1, dtype=np.float64), has_missing=False))
        codes.append((1 + rank)[table.codes[d]][None, :].astype(np.min_scalar_type(bins.n_codes)))
    wide = BinnedTable(tuple(features), np.concatenate(codes))
    added = candidate_columns(
        BinnedTable(wide.features[n_old:], wide.codes[n_old:]), sample.weights, min_samples_leaf=sample.min_samples_leaf
    )
    columns = _appended(sample.columns, added, np.array([d for d, _ in new]))
    feature, ranks = ((*old, *more) for old, more in zip((views.feature, views.ranks), zip(*new, strict=True), strict=True))
    return OrderedViews(replace(sample, table=wide, columns=columns), feature, ranks, views.n_features)


def _appended(columns: CandidateColumns, added: CandidateColumns, feature: np.ndarray) -> CandidateColumns:
    n_features = len(columns.start) - 1
    return CandidateColumns(
        np.concatenate([columns.feature, n_features + added.feature]),
        np.concatenate([columns.cut, added.cut]),
        np.concatenate([columns.is_level, added.is_level]),
        np.concatenate([columns.sign, added.sign]),
        np.concatenate([columns.start, columns.start[-1] + added.start[1:]]),
        np.concatenate([columns.counts_as, feature]),
    )


def steepest_subset(views: OrderedViews, residual: np.ndarray) -> float:
    """Return the largest |U_S'r| over all sets S of levels of a categorical feature.

    Parameters
    ----------
    views : OrderedViews
    residual : float64 array of shape (N,)
        Weighted.
    """
    table, weights = views.sample.table, views.sample.row_weights()
    sums = bin_sums(table, residual - weights * residual.sum() / weights.sum())
    is_level = [isinstance(bins, LevelBins) for bins in table.features[: views.n_features]]
    positive: np.ndarray = np.maximum(sums[: views.n_features][is_level], 0).sum(axis=1)
    return float(positive.max(initial=0.0))
