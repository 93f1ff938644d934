"""Losses l(y, F) of a target and a decision: value, gradient, curvature of a quadratic majorant, and the best constant.

    squared      (y - F)^2 / 2                     logistic   log(1 + e^F) - y F,  y in {0, 1}
    poisson      e^F - y F,  y >= 0                gamma      F + y e^-F,  y > 0
    huber        squared up to |y - F| = delta, linear beyond
    quantile     q (y - F)_+ + (1 - q) (F - y)_+

Multinomial loss is fitted class by class: with the other classes fixed it is the logistic loss of F_k - log(sum over l != k of e^F_l).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.special import entr, expit

from solvers.gam.shape_functions import Floats

Link = Literal["identity", "logit", "log"]

# Beyond this |F| the curvature of exponential losses is taken at it.
LARGEST_EXPONENT = 30.0
SMALLEST_RATE = 1e-10
LEAST_PROBABILITY_CURVATURE = 1e-4
LEAST_RATE = 1e-6
NEWTON_STEPS = 100


class Loss(ABC):
    """What a fit asks of a loss; all arrays have shape (N,).

    Attributes
    ----------
    link : {"identity", "logit", "log"}
        The prediction is the inverse link of F.
    is_evenly_curved : bool
        Whether the products under the sample weights, times the mean curvature, serve every iteration.
    is_reweighted_always : bool
        Whether curvatures change too much between iterations for the inner products to be kept.
    """

    link: ClassVar[Link]
    is_evenly_curved: ClassVar[bool] = False
    is_reweighted_always: ClassVar[bool] = False

    @abstractmethod
    def value(self, y: Floats, F: Floats) -> Floats:
        """Return l(y, F)."""

    @abstractmethod
    def gradient(self, y: Floats, F: Floats) -> Floats:
        """Return the derivative by F."""

    @abstractmethod
    def hessian(self, y: Floats, F: Floats) -> Floats:
        """Return the second derivative by F."""

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        """Return gradient and curvature of the quadratic that an iteration fits in place of the loss."""
        return self.gradient(y, F), self.hessian(y, F)

    def linearised(self, y: Floats, F: Floats) -> tuple[Floats, Floats]:
        """Return gradient and curvature of a quadratic that stands for the loss near F, a majorant or not."""
        return self.majorant(y, F, 0)

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        """Return the b that minimises the weighted sum of l(y, decision + b)."""
        return _newton(self, y, weights, decision)

    def scaled_to(self, y: Floats, weights: Floats) -> Loss:
        """Return the loss with whatever depends on the spread of the targets set."""
        return self


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """(y - F)^2 / 2.

    Examples
    --------
    >>> SquaredLoss().value(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    link = "identity"
    is_evenly_curved = True

    def value(self, y: Floats, F: Floats) -> Floats:
        return (y - F) ** 2 / 2

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return F - y

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return np.ones_like(F)

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        return float(np.average(y - decision, weights=weights))


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """log(1 + e^F) - y F for y in {0, 1}; no digits are lost where the probability is close to y.

    Examples
    --------
    >>> LogisticLoss().gradient(np.array([1.0]), np.array([40.0]))
    array([-4.24835426e-18])
    """

    link = "logit"

    def value(self, y: Floats, F: Floats) -> Floats:
        return (1 - y) * np.logaddexp(0, F) + y * np.logaddexp(0, -F)

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return (1 - y) * expit(F) - y * expit(-F)

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return expit(F) * expit(-F)

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        return self.gradient(y, F), np.maximum(self.hessian(y, F), LEAST_PROBABILITY_CURVATURE)

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        if np.all(y[weights > 0] == 1) or not np.any(y[weights > 0]):
            return float(LARGEST_EXPONENT if np.any(y) else -LARGEST_EXPONENT)
        return _newton(self, y, weights, decision)


@dataclass(frozen=True)
class ClassLoss(LogisticLoss):
    """Logistic loss of one class against the others, for which all classes share one set of products."""

    is_evenly_curved = True


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """e^F - y F for counts or rates y >= 0.

    Examples
    --------
    >>> PoissonLoss().best_constant(np.array([1.0, 1.0]), np.ones(2), np.zeros(2))
    0.0
    """

    link = "log"

    def value(self, y: Floats, F: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(F) - y * F

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return np.exp(F) - y

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return np.exp(F)

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        rate = np.exp(np.clip(F, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        return rate - y, np.maximum(rate, LEAST_RATE)

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        largest = decision.max(initial=-np.inf)
        observed = float(weights @ y)
        scale = float(weights @ np.exp(decision - largest))
        return float(np.log(max(observed / scale, SMALLEST_RATE)) - largest)


@dataclass(frozen=True)
class GammaLoss(Loss):
    """F + y e^-F for y > 0.

    Examples
    --------
    >>> GammaLoss().best_constant(np.array([1.0, 1.0]), np.ones(2), np.zeros(2))
    0.0
    """

    link = "log"

    def value(self, y: Floats, F: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return F + y * np.exp(-F)

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return 1 - y * np.exp(-F)

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return y * np.exp(-F)

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        ratio = y * np.exp(-np.clip(F, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        return 1 - ratio, np.maximum(ratio, LEAST_RATE)

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        least = decision.min(initial=np.inf)
        mean = float(weights @ (y * np.exp(least - decision))) / float(weights.sum())
        return float(np.log(mean) - least)


@dataclass(frozen=True)
class HuberLoss(Loss):
    """Squared loss up to a residual of `delta`, delta |y - F| - delta^2 / 2 beyond.

    Examples
    --------
    >>> HuberLoss(delta=1.0).value(np.array([0.0, 0.0]), np.array([1.0, 3.0]))
    array([0.5, 2.5])
    """

    delta: float = 1.0
    link = "identity"
    is_evenly_curved = True

    def value(self, y: Floats, F: Floats) -> Floats:
        near = np.minimum(np.abs(y - F), self.delta)
        return near * (np.abs(y - F) - near / 2)

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return np.clip(F - y, -self.delta, self.delta)

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return (np.abs(y - F) <= self.delta).astype(np.float64)

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        return self.gradient(y, F), np.ones_like(F)

    def linearised(self, y: Floats, F: Floats) -> tuple[Floats, Floats]:
        error = np.maximum(np.abs(y - F), self.delta)
        return self.gradient(y, F), self.delta / error


@dataclass(frozen=True)
class QuantileLoss(Loss):
    """q (y - F)_+ + (1 - q) (F - y)_+, whose minimiser is the q-quantile.

    |e| is majorised by e^2 / (2 m) + m / 2 with m = max(|e|, floor); the floor falls from 1e-3 of the targets' interquartile range to
    1e-6 of it, by half every fifth iteration.

    Examples
    --------
    >>> QuantileLoss(0.9).best_constant(np.arange(10.0), np.ones(10), np.zeros(10))
    8.0
    """

    quantile: float = 0.5
    spread: float = 1.0
    link = "identity"
    is_reweighted_always = True

    def value(self, y: Floats, F: Floats) -> Floats:
        return np.maximum(self.quantile * (y - F), (self.quantile - 1) * (y - F))

    def gradient(self, y: Floats, F: Floats) -> Floats:
        return np.where(y < F, 1 - self.quantile, -self.quantile)

    def hessian(self, y: Floats, F: Floats) -> Floats:
        return np.zeros_like(F)

    def majorant(self, y: Floats, F: Floats, iteration: int) -> tuple[Floats, Floats]:
        return self._majorant(y, F, self.spread * max(1e-3 / 2 ** (iteration // 5), 1e-6))

    def linearised(self, y: Floats, F: Floats) -> tuple[Floats, Floats]:
        return self._majorant(y, F, 1e-2 * self.spread)

    def _majorant(self, y: Floats, F: Floats, floor: float) -> tuple[Floats, Floats]:
        error = y - F
        curvature = 1 / (2 * np.maximum(np.abs(error), floor))
        return -(error * curvature + self.quantile - 0.5), curvature

    def best_constant(self, y: Floats, weights: Floats, decision: Floats) -> float:
        return weighted_quantile(y - decision, weights, self.quantile)

    def scaled_to(self, y: Floats, weights: Floats) -> Loss:
        spread = weighted_quantile(y, weights, 0.75) - weighted_quantile(y, weights, 0.25)
        if spread == 0:
            mean = np.average(y, weights=weights)
            spread = float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))
        return replace(self, spread=spread or 1.0)


def weighted_quantile(values: Floats, weights: Floats, q: float) -> float:
    """Return the least value below or at which at least the share q of the weight lies.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    kept = np.flatnonzero(weights > 0)
    order = kept[np.argsort(values[kept], kind="stable")]
    cumulative = np.cumsum(weights[order])
    at = np.searchsorted(cumulative, q * cumulative[-1] * (1 - 1e-15), side="left")
    return float(values[order[min(int(at), len(order) - 1)]])


def class_entropy(p: Floats) -> Floats:
    """Return -p ln p - (1 - p) ln(1 - p), 0 at the ends.

    Examples
    --------
    >>> class_entropy(np.array([0.0, 0.5]))
    array([0.        , 0.69314718])
    """
    return np.asarray(entr(p) + entr(1 - p), dtype=np.float64)


def _newton(loss: Loss, y: Floats, weights: Floats, decision: Floats) -> float:
    """Find the root of the increasing derivative by Newton steps inside a shrinking bracket."""

    def slope(b: float) -> float:
        return float(weights @ loss.gradient(y, decision + b))

    low, high, width = 0.0, 0.0, 1.0
    while slope(low) > 0:
        low, width = low - width, 2 * width
    width = 1.0
    while slope(high) < 0:
        high, width = high + width, 2 * width
    b, tolerance = (low + high) / 2, 1e-15 * float(weights @ np.abs(loss.gradient(y, decision + low)))
    for _ in range(NEWTON_STEPS):
        at = slope(b)
        if abs(at) <= tolerance or high - low <= 1e-15 * abs(b):
            break
        low, high = (low, b) if at > 0 else (b, high)
        curvature = float(weights @ loss.hessian(y, decision + b))
        newton = b - at / curvature if curvature > 0 else np.inf
        b = newton if low < newton < high else (low + high) / 2
    return b
