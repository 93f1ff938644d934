"""From steps to shape functions: the bins that the steps in use tell apart, and what each step adds to each of them.

The score of a bin is linear in the heights b of the steps, f_d = V_d b, with the columns of V_d centred under the weights of the training
rows. Shape functions, their averages, their standard errors and the intercept of the centred model all follow from V_d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.gam.binning import FeatureBins, LevelBins, NumericBins
from solvers.gam.candidate_columns import bin_sums
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats, ShapeFunction


@dataclass(frozen=True, slots=True)
class FeatureBasis:
    """The steps of a feature.

    Attributes
    ----------
    bins : NumericBins or LevelBins
        Those that the steps tell apart; every level has its own.
    weights : float64 array of shape (B + 1,)
        Of the training rows in each bin, missing first.
    columns : int64 array of shape (k,)
        The feature's columns in use.
    scores : float64 array of shape (B + 1, k)
        V_d: what a step of height 1 adds to each bin, centred. Missing values score 0 where no training row was missing.
    means : float64 array of shape (k,)
        What centring moves into the intercept.
    """

    bins: FeatureBins
    weights: Floats
    columns: np.ndarray
    scores: Floats
    means: Floats

    def shape(self, heights: Floats, stderr: Floats | None = None) -> ShapeFunction:
        """Return the shape function of some heights, float64 of shape (k,)."""
        scores = self.scores @ heights
        is_numeric = isinstance(self.bins, NumericBins)
        return ShapeFunction(
            self.bins.name,
            "numeric" if is_numeric else "categorical",
            scores[1:],
            self.bins.thresholds if isinstance(self.bins, NumericBins) else (),  # type: ignore[arg-type]
            () if isinstance(self.bins, NumericBins) else self.bins.levels,
            missing=float(scores[0]),
            weights=self.weights,
            stderr=stderr,
        )


def shape_bases(sample: Sample, active: np.ndarray) -> tuple[FeatureBasis, ...]:
    """Return the bases of all features for the columns in use.

    Parameters
    ----------
    sample : Sample
    active : int array of shape (K,)
        Increasing.

    Notes
    -----
    O(N D).

    Examples
    --------
    >>> from solvers.gam.training import prepare
    >>> sample = prepare([np.array([1.0, 2.0, 3.0, 4.0])], ["age"], np.zeros(4), min_samples_leaf=1)
    >>> shape_bases(sample, np.array([0, 2]))[0].shape(np.array([4.0, 8.0])).scores
    array([-5., -1.,  7.])
    """
    weights = bin_sums(sample.table, sample.row_weights())
    bounds = np.searchsorted(active, sample.columns.start)
    return tuple(
        _basis(feature, sample, active[bounds[d] : bounds[d + 1]], weights[d, : feature.n_codes])
        for d, feature in enumerate(sample.table.features)
    )


def shares(bases: Sequence[FeatureBasis]) -> Floats:
    """Return what centring moves into the intercept for a step of height 1 on each column in use, shape (K,)."""
    return np.concatenate([basis.means for basis in bases]) if bases else np.empty(0)


def _basis(feature: FeatureBins, sample: Sample, columns: np.ndarray, weights: Floats) -> FeatureBasis:
    cuts = sample.columns.cut[columns]
    if isinstance(feature, NumericBins):
        bins, weights, raw = _threshold_steps(feature, cuts, weights)
    else:
        bins, weights, raw = _level_steps(feature, cuts, weights)
    total = weights.sum()
    means = weights @ raw / total if total > 0 else np.zeros(len(columns))
    scores = raw - means
    if weights[0] == 0:
        scores[0] = 0.0
    return FeatureBasis(bins, weights, columns, scores, means)


def _threshold_steps(feature: NumericBins, cuts: np.ndarray, weights: Floats) -> tuple[FeatureBins, Floats, Floats]:
    inner = cuts[cuts > 0]
    of_bin = np.where(np.arange(len(weights)) == 0, 0, 1 + np.searchsorted(inner, np.arange(len(weights)), side="left"))
    merged = np.bincount(of_bin, weights=weights, minlength=len(inner) + 2).astype(np.float64)
    # Bin 1 + i lies above the first i inner thresholds, and above "not missing" if that is in use.
    first_bin_above = np.where(cuts > 0, 1 + np.arange(len(cuts)) - np.count_nonzero(cuts == 0) + 1, 1)
    raw = (np.arange(len(merged))[:, None] >= first_bin_above).astype(np.float64)
    return NumericBins(feature.name, feature.thresholds[inner - 1], feature.has_missing), merged, raw


def _level_steps(feature: LevelBins, cuts: np.ndarray, weights: Floats) -> tuple[FeatureBins, Floats, Floats]:
    """Give every pooled level a bin of its own, with an equal part of the pool's weight."""
    levels = [*feature.levels, *feature.pooled]
    bin_of = np.minimum(np.arange(len(levels) + 1), len(weights) - 1)
    split = np.where(np.arange(len(bin_of)) > len(feature.levels), max(1, len(feature.pooled)), 1)
    raw = (bin_of[:, None] == cuts).astype(np.float64)
    return LevelBins(feature.name, tuple(levels), (), feature.has_missing), weights[bin_of] / split, raw
