"""From scores of bins to shape functions: bins that nothing tells apart are merged, and functions centred.

A fit gives every bin of a table a score. Between most neighbouring bins of a numeric feature no forest has a step; the thresholds that
are left are those of the model. Centring under the weights of the training rows moves the mean of each function into the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.gam.binning import FeatureBins, LevelBins, NumericBins
from solvers.gam.level_subsets import OrderedViews
from solvers.gam.shape_functions import Floats, ShapeFunction


@dataclass(frozen=True, slots=True)
class BinScores:
    """Several centred functions of a feature on the bins that they tell apart.

    Attributes
    ----------
    bins : NumericBins or LevelBins
        Every level has a bin of its own.
    weights : float64 array of shape (B + 1,)
        Of the training rows in each bin, missing first.
    scores : float64 array of shape (R, B + 1)
        Missing values score 0 where no training row was missing.
    means : float64 array of shape (R,)
        What centring took away.
    """

    bins: FeatureBins
    weights: Floats
    scores: Floats
    means: Floats

    def shape(self, row: int, stderr: Floats | None = None) -> ShapeFunction:
        """Return one of the functions as a shape function."""
        is_numeric = isinstance(self.bins, NumericBins)
        return ShapeFunction(
            self.bins.name,
            "numeric" if is_numeric else "categorical",
            self.scores[row, 1:],
            self.bins.thresholds if isinstance(self.bins, NumericBins) else (),  # type: ignore[arg-type]
            () if isinstance(self.bins, NumericBins) else self.bins.levels,
            missing=float(self.scores[row, 0]),
            weights=self.weights,
            stderr=stderr,
        )


def bin_scores(feature: FeatureBins, scores: Floats, weights: Floats) -> BinScores:
    """Merge and centre.

    Parameters
    ----------
    feature : NumericBins or LevelBins
    scores : float64 array of shape (R, C)
        Of each of the feature's bins, missing first.
    weights : float64 array of shape (C,)

    Examples
    --------
    >>> age = NumericBins("age", np.array([1.5, 2.5, 3.5]), has_missing=False)
    >>> merged = bin_scores(age, np.array([[0.0, 4, 4, 4, 12]]), np.array([0.0, 1, 1, 1, 1]))
    >>> merged.bins.thresholds, merged.scores, merged.means
    (array([3.5]), array([[ 0., -2.,  6.]]), array([6.]))
    """
    if isinstance(feature, NumericBins):
        differs = np.flatnonzero((scores[:, 2:] != scores[:, 1:-1]).any(axis=0))
        first = np.concatenate([[0, 1], 2 + differs])
        bins: FeatureBins = NumericBins(feature.name, feature.thresholds[differs], feature.has_missing)
        scores, weights = scores[:, first], np.add.reduceat(weights, first)
    else:
        bins, scores, weights = _split_pool(feature, scores, weights)
    total = weights.sum()
    means = scores @ weights / total if total > 0 else np.zeros(len(scores))
    centred = scores - means[:, None]
    if weights[0] == 0:
        centred[:, 0] = 0.0
    return BinScores(bins, weights, centred, means)


def _split_pool(feature: LevelBins, scores: Floats, weights: Floats) -> tuple[LevelBins, Floats, Floats]:
    """Give every pooled level a bin of its own, with an equal part of the pool's weight."""
    levels = (*feature.levels, *feature.pooled)
    bin_of = np.minimum(np.arange(len(levels) + 1), feature.n_codes - 1)
    share = np.where(np.arange(len(bin_of)) > len(feature.levels), max(1, len(feature.pooled)), 1)
    return LevelBins(feature.name, levels, (), feature.has_missing), scores[:, bin_of], weights[bin_of] / share


def bins_of_column(views: OrderedViews, column: int) -> tuple[int, np.ndarray]:
    """Return the feature of a candidate column, and which of the feature's bins it holds, bool of shape (C,)."""
    columns, table = views.sample.columns, views.sample.table
    d, cut = int(columns.feature[column]), int(columns.cut[column])
    if d >= views.n_features:
        view = d - views.n_features
        return views.feature[view], 1 + views.ranks[view] > cut
    codes = np.arange(table.features[d].n_codes)
    return d, codes == cut if columns.is_level[column] else codes > cut
