"""How good a model's predictions are on instances that it has not seen.

The instances are dealt into folds; each fold is predicted by a model of the others. A cut and its mirror image are one cut, component by
component, so a past cut is turned to the prediction before the two are compared, as a solve would: for max-cut the figures are those of
the better reading, and never much below chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs.arrays import Array
from solvers.graphs.epsilon import estimate_epsilon, wilson_interval
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import UNTOLD, Problem, Solved, turned_to

BINS = 10
LEAST_PROBABILITY = 1e-9
DIGITS = 9


class CalibrationBin(BaseModel):
    """Vertices whose probabilities lie together, and how many of them were on side 1."""

    model_config = ConfigDict(extra="forbid")

    low: float = Field(description="Least probability of the bin.")
    high: float = Field(description="Greatest probability of the bin.")
    count: int = Field(description="Vertices with such a probability.", ge=1)
    predicted: float = Field(description="Mean of their probabilities.")
    observed: float = Field(description="Share of them that was on side 1, in the cover or in the set.")
    interval: tuple[float, float] = Field(description="95 % interval of that share, the vertices taken as independent.")


class CrossValidation(BaseModel):
    """How the model did on instances that were held back from it."""

    model_config = ConfigDict(extra="forbid")

    folds: int = Field(description="Parts that the instances were dealt into.", ge=2)
    instances: int = Field(description="Instances that were held back and predicted.", ge=1)
    vertices: int = Field(description="Their vertices that were predicted.", ge=0)
    unpredicted: int = Field(description="Their vertices that the model had no probability for.", ge=0)
    accuracy: float | None = Field(description="Share of vertices on the side that was likelier; null if none was predicted.")
    log_loss: float | None = Field(description="Mean of -ln(probability of the side that was right).")
    epsilon: float | None = Field(description="Share of right edge bits, less 1/2; null if there are none.")
    epsilon_interval: tuple[float, float] | None = Field(
        description="95 % interval of epsilon; correlated bits about a vertex count for as few as they are worth."
    )
    asymmetry: float | None = Field(description="abs(P(bit 1 | side 1) + P(bit 1 | side 0) - 1).")
    overdispersion: float | None = Field(
        description="Correlation of the bits about one vertex, in [0, 1]; null if there is nothing to tell it from, as all bits are right."
    )
    calibration: list[CalibrationBin] = Field(description="How often vertices of such a probability were on side 1.")


class HeldBack(NamedTuple):
    """An instance that a model has not seen, and what the model says of it."""

    solved: Solved
    forecast: Forecast


def deal(count: int, folds: int, seed: int) -> list[Array]:
    """Deal instances into folds, as even as can be.

    Examples
    --------
    >>> folds = deal(5, 2, seed=0)
    >>> [len(fold) for fold in folds], sorted(np.concatenate(folds).tolist())
    ([3, 2], [0, 1, 2, 3, 4])
    """
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(order[fold::folds]) for fold in range(folds)]


def cross_validate(
    count: int, folds: int, seed: int, predict: Callable[[Array, Array], list[HeldBack]], stop: Callable[[], bool]
) -> list[HeldBack]:
    """Have every instance predicted by a model of the folds that it is not in.

    Parameters
    ----------
    count : int
        Number of instances.
    folds : int
    seed : int
    predict : callable
        ``predict(learnt_from, held_back)`` of indices of instances.
    stop : callable
        Asked between folds; once true, the folds that are left are not predicted.
    """
    found: list[HeldBack] = []
    for fold in deal(count, folds, seed):
        if stop():
            break
        found += predict(np.setdiff1d(np.arange(count), fold), fold)
    return found


def assess(held_back: Sequence[HeldBack], folds: int, problem: Problem) -> CrossValidation:
    """Compare predictions with what they predict."""
    truths = [_as_predicted(one, problem) for one in held_back]
    probabilities = np.concatenate([one.forecast.vertices for one in held_back])
    sides = np.concatenate(truths)
    is_predicted = ~np.isnan(probabilities) & (sides != UNTOLD)
    chances, outcomes = probabilities[is_predicted], sides[is_predicted] == 1
    of_truth = np.clip(np.where(outcomes, chances, 1 - chances), LEAST_PROBABILITY, 1)
    epsilon, interval, asymmetry, overdispersion = _quality_of_bits(held_back, truths)
    return CrossValidation(
        folds=folds,
        instances=len(held_back),
        vertices=len(chances),
        unpredicted=int((sides != UNTOLD).sum()) - len(chances),
        accuracy=_rounded(((chances > 0.5) == outcomes).mean()) if len(chances) else None,
        log_loss=_rounded(-np.log(of_truth).mean()) if len(chances) else None,
        epsilon=epsilon,
        epsilon_interval=interval,
        asymmetry=asymmetry,
        overdispersion=overdispersion,
        calibration=calibration_table(chances, outcomes),
    )


def calibration_table(probabilities: Array, outcomes: Array) -> list[CalibrationBin]:
    """Return how often what was given such a probability came true, for bins of equal width that hold something.

    Examples
    --------
    >>> [(row.count, row.observed) for row in calibration_table(np.array([0.12, 0.19, 1.0]), np.array([False, True, True]))]
    [(2, 0.5), (1, 1.0)]
    """
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    table = []
    for index in np.unique(bins).tolist():
        inside = bins == index
        count, observed = int(inside.sum()), float(outcomes[inside].mean())
        low, high = wilson_interval(observed, count)
        table.append(
            CalibrationBin(
                low=index / BINS,
                high=(index + 1) / BINS,
                count=count,
                predicted=_rounded(probabilities[inside].mean()),
                observed=_rounded(observed),
                interval=(_rounded(low), _rounded(high)),
            )
        )
    return table


def _as_predicted(one: HeldBack, problem: Problem) -> Array:
    if problem != "max-cut":
        return one.solved.truth
    return turned_to(one.solved.truth, np.nan_to_num(one.forecast.vertices - 0.5), one.solved.instance)


def _quality_of_bits(
    held_back: Sequence[HeldBack], truths: Sequence[Array]
) -> tuple[float | None, tuple[float, float] | None, float | None, float | None]:
    firsts = np.cumsum([0, *(len(truth) for truth in truths)])
    edges = np.concatenate([one.solved.instance.edges + first for one, first in zip(held_back, firsts[:-1], strict=True)])
    bits = np.concatenate([one.forecast.bits for one in held_back])
    estimate = estimate_epsilon(edges, bits, np.concatenate(truths), method="reference")
    if estimate.epsilon is None:
        return None, None, None, None
    # Of k bits with correlation rho, what counts is k / (1 + (k - 1) rho).
    votes = np.bincount(edges[bits >= 0])
    total = votes.sum()
    excess = (np.square(votes).sum() / total - 1) * (estimate.overdispersion or 0.0)
    low, high = wilson_interval(0.5 + estimate.epsilon, total / (1 + excess))
    return (
        _rounded(estimate.epsilon),
        (_rounded(low - 0.5), _rounded(high - 0.5)),
        None if estimate.asymmetry is None else _rounded(estimate.asymmetry),
        None if estimate.overdispersion is None else _rounded(estimate.overdispersion),
    )


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
