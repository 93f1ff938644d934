"""How far shape functions and decisions may be off: standard errors of three kinds.

    conditional   for the splits as they are: Cov(b) = phi A^-1 M A^-1 with A = M + diag(alpha / m), M weighted by the curvature of the
                  loss, phi the dispersion; it says nothing of the search for splits
    jackknife     from fits that each left out one fold: (K - 1) / K times the sum of their squared deviations from their mean
    bootstrap     the standard deviation of fits to rows with random Poisson(1) weights

All are sums of squared deviations over draws, so that bands of single shapes and of whole decisions come from one table: the deviation of
each draw in each bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh, pinvh

from solvers.gam.binning import NumericBins
from solvers.gam.coarse_table import coarsen
from solvers.gam.feature_columns import Column, n_rows
from solvers.gam.gram import build_gram
from solvers.gam.losses import Loss
from solvers.gam.sample import Sample
from solvers.gam.shape_basis import FeatureBasis, shape_bases, shares
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training

ROWS_AT_ONCE = 4096

SpreadKind = Literal["conditional", "jackknife", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Deviations of one output's shape functions.

    Attributes
    ----------
    kind : {"conditional", "jackknife", "bootstrap"}
    bases : tuple of D FeatureBasis
        The bins.
    deviations : tuple of D float64 arrays of shape (B + 1, R)
        Of each draw in each bin, missing first.
    intercept : float64 array of shape (R,)
        Of the intercept beside the centred shape functions.
    """

    kind: SpreadKind
    bases: tuple[FeatureBasis, ...]
    deviations: tuple[Floats, ...]
    intercept: Floats

    def errors(self, feature: int) -> Floats:
        """Return the standard error in each of the feature's bins, missing first."""
        errors: Floats = np.sqrt(np.sum(self.deviations[feature] ** 2, axis=1))
        return errors

    def errors_on(self, feature: int, basis: FeatureBasis) -> Floats:
        """Return the standard error in each bin of a basis of the feature that is no finer: the root of the weighted mean square."""
        mine = self.bases[feature]
        square = self.errors(feature) ** 2
        if not isinstance(mine.bins, NumericBins) or not isinstance(basis.bins, NumericBins):
            return self.errors(feature)
        upper_ends = np.append(mine.bins.thresholds, np.inf)
        of_bin = np.concatenate([[0], 1 + np.searchsorted(basis.bins.thresholds, upper_ends, side="left")])
        size = len(basis.weights)
        total = np.bincount(of_bin, weights=mine.weights * square, minlength=size)
        mass = np.bincount(of_bin, weights=mine.weights, minlength=size)
        plain = np.bincount(of_bin, weights=square, minlength=size) / np.bincount(of_bin, minlength=size)
        return np.sqrt(np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), plain))

    def decision_errors(self, columns: Sequence[Column]) -> Floats:
        """Return the standard error of the decision of each row, float64 of shape (N,)."""
        codes = [basis.bins.codes(column) for basis, column in zip(self.bases, columns, strict=True)]  # type: ignore[arg-type]
        # A level that no training row had scores 0 whatever the draw.
        tables = [np.vstack([table, np.zeros_like(self.intercept)]) for table in self.deviations]
        errors = np.empty(n_rows(columns))
        for first in range(0, len(errors), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            total = np.tile(self.intercept, (len(errors[part]), 1))
            for table, code in zip(tables, codes, strict=True):
                total += table[code[part]]
            errors[part] = np.sqrt(np.sum(total**2, axis=1))
        return errors


def spread_of(kind: SpreadKind, sample: Sample, active: np.ndarray, heights: Floats, intercept: Floats) -> Spread:
    """Return the spread that draws show.

    Parameters
    ----------
    sample : Sample
        The training rows, under whose weights shapes are centred.
    active : int array of shape (K,)
        Columns that any draw uses, increasing.
    heights : float64 array of shape (K, R)
        Deviation of each draw's heights.
    intercept : float64 array of shape (R,)
        Deviation of each draw's intercept beside the uncentred steps.
    """
    bases = shape_bases(sample, active)
    bounds = np.searchsorted(active, sample.columns.start)
    deviations = tuple(basis.scores @ heights[bounds[d] : bounds[d + 1]] for d, basis in enumerate(bases))
    return Spread(kind, bases, deviations, intercept + shares(bases) @ heights)


def resampled_spread(kind: SpreadKind, sample: Sample, heights: Floats, intercepts: Floats) -> Spread | None:
    """Return the spread of refits, None for fewer than two.

    Parameters
    ----------
    kind : {"jackknife", "bootstrap"}
    heights : float64 array of shape (R, p)
    intercepts : float64 array of shape (R,)
        Beside the uncentred steps.
    """
    draws = len(heights)
    if draws < 2:
        return None
    scale = np.sqrt((draws - 1) / draws) if kind == "jackknife" else np.sqrt(1 / (draws - 1))
    active = np.flatnonzero(heights.any(axis=0))
    used = heights[:, active]
    return spread_of(kind, sample, active, scale * (used - used.mean(axis=0)).T, scale * (intercepts - intercepts.mean()))


def conditional_spread(training: Training, output: int = 0) -> Spread | None:
    """Return the spread of a fit for its splits as they are.

    Parameters
    ----------
    training : Training
    output : int
        The class, of several; they are taken as independent.

    Returns
    -------
    Spread or None
        None where the loss has no curvature (quantiles), or there are no more rows than degrees of freedom.

    Notes
    -----
    The dispersion phi = sum of w g^2 / sum of h * W / (W - df), g the gradient and h the curvature of the loss: for squared loss the
    residual variance, for others that of quasi-likelihood. O(K^3), and but for squared loss O(N D'^2) for the D' features in use.
    """
    sample, forest, options = training.sample, training.forests[output], training.options
    weights = sample.row_weights()
    loss, target, decision = one_output(training, output)
    gradient, hessian = loss.gradient(target, decision), loss.hessian(target, decision)
    total, rows = float(weights @ hessian), float(weights.sum())
    if total <= 0:
        return None
    products, omega = products_in_use(training, output, weights * hessian)
    inverse = pinvh(products + np.diag(options.alpha / (options.smoothing + forest.multiplicity)), check_finite=False)
    degrees = 1 + float(np.sum(inverse * products))
    if rows <= degrees:
        return None
    dispersion = float(weights @ gradient**2) / total * rows / (rows - degrees)
    values, vectors = eigh(products, check_finite=False)
    heights = np.sqrt(dispersion) * inverse @ (vectors * np.sqrt(np.maximum(values, 0)))
    # One more draw moves the intercept alone, which is independent of the centred heights.
    intercept = np.append(-omega @ heights, np.sqrt(dispersion / total))
    active = np.unique(np.concatenate([every.columns for every in training.forests]))
    deviations = np.zeros((len(active), len(intercept)))
    deviations[np.searchsorted(active, forest.columns), :-1] = heights
    return spread_of("conditional", sample, active, deviations, intercept)


def one_output(training: Training, output: int) -> tuple[Loss, Floats, Floats]:
    """Return loss, target and decision of each row for one output; of a class, those of the class against the others."""
    sample = training.sample
    decision = sample.row_offsets() + sample.decision(training.forests[output]) + training.forests[output].intercept
    if len(training.forests) == 1:
        return training.loss.scaled_to(sample.target, sample.row_weights()), sample.target, decision
    others = [sample.decision(forest) + forest.intercept for number, forest in enumerate(training.forests) if number != output]
    return training.loss, (sample.target == output).astype(np.float64), decision - np.logaddexp.reduce(others, axis=0)


def products_in_use(training: Training, output: int, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the products M of the output's columns under the curvature of each row, and the columns' shares."""
    active = training.forests[output].columns
    if training.sums is not None:
        gram = training.sums[0]
        return gram.block(active), gram.shares[active]
    if len(active) == 0:
        return np.empty((0, 0)), np.empty(0)
    small = build_gram(*coarsen(training.sample.table, training.sample.columns, active), curvature)
    return small.products, small.shares
