r"""What a network that bounds the values from above is trained for (Weissteiner et al., BOCA, AAAI 2023; NOMU's losses made one-sided).

Beside the mean network M with loss A on the answers, the upper network UB has

* B: fit the answers, a little more gladly from below: smooth L1 with beta 1/8, :math:`10^{-3}` mean relu(UB - y), and half a smooth L1
  of relu(UB - y) with beta 1/128;
* C at artificial points: stay below E, the highest monotone value that the answers allow (C1), and above M (C2, both within C3), and rise:
  C4 = mean(1 + ELU(-c (0.01 + min(UB, E) - M))) falls with UB.

In C only UB moves. Symbols: beta -> `mean_loss_smooth_l1_beta`, c -> `c_exp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auctions.networks.architecture import Vector

FIT_BETA, ABOVE_SHARE, ABOVE_WEIGHT, ABOVE_BETA = 1 / 8, 1e-3, 0.5, 1 / 128
BEYOND_WEIGHT, RANGE_BETA, LEAST_WIDTH = 0.25, 1 / 64, 0.01


class Weights(NamedTuple):
    """Weights of the parts of the loss.

    Attributes
    ----------
    mean_beta : float
        beta of A.
    pi_sqr, pi_exp : float
        Of B, and of C for a single answer.
    pi_above_mean, c_exp : float
    """

    mean_beta: float
    pi_sqr: float
    pi_exp: float
    pi_above_mean: float
    c_exp: float


class Part(NamedTuple):
    """A part of the loss and its derivative by the network's values."""

    loss: float
    slopes: Vector


def mean_fit(mean: Vector, targets: Vector, weights: Weights) -> Part:
    """Return A and dA/dM."""
    loss, slope = smooth_l1(mean - targets, weights.mean_beta)
    return Part(float(loss.mean()), slope / len(mean))


def upper_fit(upper: Vector, targets: Vector, weights: Weights) -> Part:
    """Return pi_sqr * B and its derivative by UB."""
    errors = upper - targets
    above = np.maximum(errors, 0.0)
    fit, fit_slope = smooth_l1(errors, FIT_BETA)
    beyond, beyond_slope = smooth_l1(above, ABOVE_BETA)
    loss = fit + ABOVE_SHARE * above + ABOVE_WEIGHT * beyond
    slope = fit_slope + (errors > 0) * (ABOVE_SHARE + ABOVE_WEIGHT * beyond_slope)
    return Part(weights.pi_sqr * float(loss.mean()), weights.pi_sqr * slope / len(upper))


def upper_spread(upper: Vector, mean: Vector, highest: Vector, weights: Weights, n_answers: int) -> Part:
    """Return pi_exp * (C3 + C4) / n_answers at artificial points, and its derivative by UB."""
    outside = BEYOND_WEIGHT * np.maximum(upper - highest, 0.0) + weights.pi_above_mean * np.maximum(mean - upper, 0.0)
    kept, kept_slope = smooth_l1(outside, RANGE_BETA)
    outside_slope = BEYOND_WEIGHT * (upper > highest) - weights.pi_above_mean * (mean > upper)
    drop = -weights.c_exp * (LEAST_WIDTH + np.minimum(upper, highest) - mean)
    rise, rise_slope = 1.0 + np.where(drop > 0, drop, np.expm1(np.minimum(drop, 0.0))), np.exp(np.minimum(drop, 0.0))
    factor = weights.pi_exp / n_answers
    loss = weights.c_exp * kept + rise
    slope = weights.c_exp * kept_slope * outside_slope - weights.c_exp * rise_slope * (upper < highest)
    return Part(factor * float(loss.mean()), factor * slope / len(upper))


def smooth_l1(errors: Vector, beta: float) -> tuple[Vector, Vector]:
    """Return the smooth absolute errors, quadratic below beta, and their derivatives.

    Examples
    --------
    >>> [part.tolist() for part in smooth_l1(np.array([0.5, -2.0]), 1.0)]
    [[0.125, 1.5], [0.5, -1.0]]
    """
    sizes = np.abs(errors)
    return (
        np.where(sizes < beta, 0.5 * errors * errors / beta, sizes - 0.5 * beta),
        np.clip(errors / beta, -1.0, 1.0),
    )


def highest_values(points: Vector, bundles: Vector, values: Vector) -> Vector:
    """Return E: the value of the explicit network of :func:`auctions.networks.initialisation.explaining_parameters` at each point.

    Parameters
    ----------
    points : array of shape (N, u)
        Within the unit cube.
    bundles : array of shape (K, u)
        Sorted by value, the empty one first, the full one last.
    values : array of shape (K,)
    """
    beyond = np.minimum(1.0, points @ (1.0 - bundles[:-1]).T)
    np.cumsum(beyond, axis=1, out=beyond)
    beyond -= np.arange(len(bundles) - 1)
    np.clip(beyond, 0.0, 1.0, out=beyond)
    return np.asarray(beyond @ np.diff(values))
