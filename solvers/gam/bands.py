"""How far shape functions and decisions may be off: standard errors of three kinds.

    conditional   for the splits as they are: Cov(b) = phi A^-1 M A^-1 with A = M + diag(alpha / m), M weighted by the curvature of the
                  loss, phi the dispersion; it says nothing of the search for splits
    jackknife     from fits that each left out one fold: (K - 1) / K times the sum of their squared deviations from their mean
    bootstrap     the standard deviation of fits to rows with random Poisson(1) weights

All are sums of squared deviations over draws, so that bands of single shapes and of whole decisions come from one table: the deviation of
each draw in each bin. Draws of the bootstrap are fits, whose quantiles give a band that need not be symmetric; of the others only the
squares mean anything, and the band is the normal one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh, pinvh
from scipy.stats import norm

from solvers.gam.bin_scores import BinScores, bin_scores, bins_of_column
from solvers.gam.binning import FeatureBins, NumericBins
from solvers.gam.coarse_table import coarsen
from solvers.gam.feature_columns import Column, n_rows
from solvers.gam.gram import build_gram
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.losses import Loss
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training

ROWS_AT_ONCE = 4096
# Share of the rows below which the degrees of freedom that are left are rounding.
NO_FREEDOM = 1e-9
MOST_STEPS_UNASKED = 500
"""Steps up to which the decompositions of their products are a matter of a fraction of a second."""

SpreadKind = Literal["conditional", "jackknife", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Deviations of one output's shape functions.

    Attributes
    ----------
    kind : {"conditional", "jackknife", "bootstrap"}
    features : tuple of D BinScores
        Of each draw (R of them) in each bin.
    intercept : float64 array of shape (R,)
        Of the intercept beside the centred shape functions.
    """

    kind: SpreadKind
    features: tuple[BinScores, ...]
    intercept: Floats

    def errors(self, feature: int) -> Floats:
        """Return the standard error in each of the feature's bins, missing first."""
        errors: Floats = np.sqrt(np.sum(self.features[feature].scores ** 2, axis=0))
        return errors

    def band(self, feature: int, level: float) -> tuple[Floats, Floats]:
        """Return by how much the band is below and above the score in each of the feature's bins, missing first."""
        return self._band(self.features[feature].scores, level)

    def decision_band(self, columns: Sequence[Column], level: float) -> tuple[Floats, Floats]:
        """Return by how much the band is below and above the decision of each row."""
        below, above = np.empty(n_rows(columns)), np.empty(n_rows(columns))
        for part, draws in self.decision_deviations(columns):
            below[part], above[part] = self._band(draws.T, level)
        return below, above

    def _band(self, draws: Floats, level: float) -> tuple[Floats, Floats]:
        if self.kind != "bootstrap":
            reach = float(norm.ppf(0.5 + level / 2)) * np.sqrt(np.sum(draws**2, axis=0))
            return reach, reach
        lowest, highest = np.quantile(draws * np.sqrt(len(draws) - 1), [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return -lowest, highest

    def errors_on(self, feature: int, bins: FeatureBins) -> Floats:
        """Return the standard error in other bins of the feature: the root of the weighted mean square over what they overlap."""
        mine, errors = self.features[feature], self.errors(feature)
        if not isinstance(mine.bins, NumericBins) or not isinstance(bins, NumericBins):
            return errors
        ends = np.union1d(np.append(mine.bins.thresholds, np.inf), bins.thresholds)
        from_bin = 1 + np.searchsorted(mine.bins.thresholds, ends, side="left")
        to_bin = 1 + np.searchsorted(bins.thresholds, ends, side="left")
        # A part of a bin is taken to hold its weight; bins without rows count all the same.
        weight = mine.weights[from_bin] + np.finfo(float).tiny
        mean = np.bincount(to_bin, weights=weight * errors[from_bin] ** 2)[1:] / np.bincount(to_bin, weights=weight)[1:]
        return np.append(errors[0], np.sqrt(mean))

    def decision_errors(self, columns: Sequence[Column]) -> Floats:
        """Return the standard error of the decision of each row, float64 of shape (N,)."""
        errors = np.empty(n_rows(columns))
        for part, deviations in self.decision_deviations(columns):
            errors[part] = np.sqrt(np.sum(deviations**2, axis=1))
        return errors

    def decision_deviations(self, columns: Sequence[Column], rows_at_once: int = ROWS_AT_ONCE) -> Iterator[tuple[slice, Floats]]:
        """Yield the deviation of the decision of some rows in each draw, shape (rows, R), and which rows those are."""
        codes = [of.bins.codes(column) for of, column in zip(self.features, columns, strict=True)]  # type: ignore[arg-type]
        # A level that no training row had scores 0 whatever the draw.
        tables = [np.vstack([of.scores.T, np.zeros_like(self.intercept)]) for of in self.features]
        size = n_rows(columns)
        for first in range(0, size, rows_at_once):
            part = slice(first, min(first + rows_at_once, size))
            total = np.tile(self.intercept, (part.stop - first, 1))
            for table, code in zip(tables, codes, strict=True):
                total += table[code[part]]
            yield part, total


def spread_of(
    kind: SpreadKind, features: Sequence[FeatureBins], weights: Floats, deviations: Sequence[Floats], intercept: Floats
) -> Spread:
    """Return the spread that draws show.

    Parameters
    ----------
    features : sequence of D NumericBins or LevelBins
    weights : float64 array of shape (D, C)
        Of the training rows in each bin.
    deviations : sequence of D float64 arrays of shape (R, C_d)
        Of each draw's scores.
    intercept : float64 array of shape (R,)
        Deviation of each draw's intercept beside the scores.
    """
    merged = tuple(bin_scores(feature, deviations[d], weights[d, : feature.n_codes]) for d, feature in enumerate(features))
    return Spread(kind, merged, intercept + sum((of.means for of in merged), np.zeros(len(intercept))))


def resampled_spread(
    kind: SpreadKind, features: Sequence[FeatureBins], weights: Floats, scores: Floats, intercepts: Floats
) -> Spread | None:
    """Return the spread of refits, None for fewer than two.

    Parameters
    ----------
    kind : {"jackknife", "bootstrap"}
    features, weights
        As for :func:`spread_of`.
    scores : float64 array of shape (R, D, C)
    intercepts : float64 array of shape (R,)
        Beside the scores.
    """
    draws = len(scores)
    if draws < 2:
        return None
    scale = np.sqrt((draws - 1) / draws) if kind == "jackknife" else np.sqrt(1 / (draws - 1))
    deviations = [scale * _from_mean(scores[:, d, : feature.n_codes]) for d, feature in enumerate(features)]
    return spread_of(kind, features, weights, deviations, scale * _from_mean(intercepts))


def _from_mean(draws: Floats) -> Floats:
    """Return deviations from the first draw less their mean: where draws agree these are equal to the last digit."""
    from_first = draws - draws[0]
    return np.asarray(from_first - from_first.mean(axis=0))


def conditional_spread(training: Training, weights: Floats, output: int = 0, *, should_stop: ShouldStop = never) -> Spread | None:
    """Return the spread of a fit for its splits as they are.

    Parameters
    ----------
    training : Training
    weights : float64 array of shape (D, C)
        Of the training rows in each bin.
    output : int
        The class, of several; they are taken as independent.
    should_stop : callable, optional
        Asked before what takes long.

    Returns
    -------
    Spread or None
        None where the loss has no curvature (quantiles), there are no more rows than degrees of freedom, or there was no time.

    Notes
    -----
    The dispersion phi = sum of w g^2 / sum of h * W / (W - df), g the gradient and h the curvature of the loss: for squared loss the
    residual variance, for others that of quasi-likelihood. O(K^3), and but for squared loss O(N D'^2) for the D' features in use.
    """
    sample, forest, options = training.sample, training.forests[output], training.options
    row_weights = sample.row_weights()
    loss, target, decision = one_output(training, output)
    gradient, hessian = loss.gradient(target, decision), loss.hessian(target, decision)
    total, rows = float(row_weights @ hessian), float(row_weights.sum())
    if total <= 0:
        return None
    if len(forest.columns) > MOST_STEPS_UNASKED and should_stop():
        return None
    try:
        products, omega = products_in_use(training, output, row_weights * hessian, should_stop)
    except Interrupted:
        return None
    inverse = pinvh(products + np.diag(options.alpha / (options.smoothing + forest.multiplicity)), check_finite=False)
    degrees = 1 + float(np.sum(inverse * products))
    if rows - degrees <= NO_FREEDOM * rows:
        return None
    dispersion = float(row_weights @ gradient**2) / total * rows / (rows - degrees)
    values, vectors = eigh(products, check_finite=False)
    heights = np.sqrt(dispersion) * inverse @ (vectors * np.sqrt(np.maximum(values, 0)))
    # One more draw moves the intercept alone, which is independent of the centred heights.
    intercept = np.append(-omega @ heights, np.sqrt(dispersion / total))
    features = sample.table.features[: training.views.n_features]
    deviations = [np.zeros((len(intercept), feature.n_codes)) for feature in features]
    for column, height in zip(forest.columns, heights, strict=True):
        d, holds = bins_of_column(training.views, int(column))
        deviations[d][:-1, holds] += height[:, None]
    return spread_of("conditional", features, weights, deviations, intercept)


def one_output(training: Training, output: int) -> tuple[Loss, Floats, Floats]:
    """Return loss, target and decision of each row for one output; of a class, those of the class against the others."""
    sample = training.sample
    decision = sample.row_offsets() + sample.decision(training.forests[output]) + training.forests[output].intercept
    if len(training.forests) == 1:
        return training.loss.scaled_to(sample.target - sample.row_offsets(), sample.row_weights()), sample.target, decision
    others = [sample.decision(forest) + forest.intercept for number, forest in enumerate(training.forests) if number != output]
    return training.loss, (sample.target == output).astype(np.float64), decision - np.logaddexp.reduce(others, axis=0)


def products_in_use(training: Training, output: int, curvature: Floats, should_stop: ShouldStop = never) -> tuple[Floats, Floats]:
    """Return the products M of the output's columns under the curvature of each row, and the columns' shares."""
    active = training.forests[output].columns
    if training.sums is not None:
        gram = training.sums[0]
        return gram.block(active, should_stop), gram.shares[active]
    if len(active) == 0:
        return np.empty((0, 0)), np.empty(0)
    coarse = coarsen(training.sample.table, training.sample.columns, active)
    small = build_gram(*coarse, curvature, should_stop=should_stop)
    return small.products, small.shares
