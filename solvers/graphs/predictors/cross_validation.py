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
from solvers.graphs.epsilon import EpsilonEstimate, pooled_epsilon, wilson_interval
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import UNTOLD

BINS = 10
LEAST_PROBABILITY = 1e-9
DIGITS = 9


class CalibrationBin(BaseModel):
    """Vertices or sets whose probabilities lie together, and how many of them were on side 1."""

    model_config = ConfigDict(extra="forbid")

    low: float = Field(description="Least probability of the bin.")
    high: float = Field(description="Greatest probability of the bin.")
    count: int = Field(description="Vertices or sets with such a probability.", ge=1)
    predicted: float = Field(description="Mean of their probabilities.")
    observed: float = Field(description="Share of them that was on side 1, or chosen.")
    interval: tuple[float, float] = Field(description="95 % interval of that share, taken as independent.")


class CrossValidation(BaseModel):
    """How the model did on instances that were held back from it."""

    model_config = ConfigDict(extra="forbid")

    folds: int = Field(description="Parts that the instances were dealt into.", ge=2)
    instances: int = Field(description="Instances that were held back and predicted.", ge=1)
    items: int = Field(description="Their vertices, or sets, that were predicted.", ge=0)
    unpredicted: int = Field(description="Those that the model had no probability for.", ge=0)
    accuracy: float | None = Field(description="Share of them on the side that was likelier; null if none was predicted.")
    log_loss: float | None = Field(description="Mean of -ln(probability of the side that was right).")
    epsilon: float | None = Field(
        description="Share of right bits, less 1/2; null if there are none, negative if most are wrong."
    )
    epsilon_interval: tuple[float, float] | None = Field(
        description="95 % interval of epsilon; correlated bits about a vertex or set count for as few as they are worth."
    )
    asymmetry: float | None = Field(description="abs(P(bit 1 | side 1) + P(bit 1 | side 0) - 1).")
    overdispersion: float | None = Field(
        description="Correlation of the bits about one vertex or set, in [0, 1]; null where nothing tells it, as all bits are right."
    )
    calibration: list[CalibrationBin] = Field(description="How often what had such a probability was on side 1.")


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


def assess(held_back: Sequence[HeldBack], folds: int) -> CrossValidation:
    """Compare predictions with what they predict."""
    truths = [_as_predicted(one) for one in held_back]
    probabilities = np.concatenate([one.forecast.items for one in held_back])
    sides = np.concatenate(truths)
    is_predicted = ~np.isnan(probabilities) & (sides != UNTOLD)
    chances, outcomes = probabilities[is_predicted], sides[is_predicted] == 1
    of_truth = np.clip(np.where(outcomes, chances, 1 - chances), LEAST_PROBABILITY, 1)
    bits = _quality_of_bits(held_back, truths)
    return CrossValidation(
        folds=folds,
        instances=len(held_back),
        items=len(chances),
        unpredicted=int((sides != UNTOLD).sum()) - len(chances),
        accuracy=_rounded(((chances > 0.5) == outcomes).mean()) if len(chances) else None,
        log_loss=_rounded(-np.log(of_truth).mean()) if len(chances) else None,
        epsilon=_rounded_if_any(bits.epsilon),
        epsilon_interval=None if bits.interval is None else (_rounded(bits.interval[0]), _rounded(bits.interval[1])),
        asymmetry=_rounded_if_any(bits.asymmetry),
        overdispersion=_rounded_if_any(bits.overdispersion),
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


def _as_predicted(one: HeldBack) -> Array:
    return one.solved.subject.turned(one.solved.truth, np.nan_to_num(one.forecast.items - 0.5))


def _quality_of_bits(held_back: Sequence[HeldBack], truths: Sequence[Array]) -> EpsilonEstimate:
    past = [(one.solved.subject.item_of, one.forecast.bits, truth) for one, truth in zip(held_back, truths, strict=True)]
    return pooled_epsilon(past, "reference")


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)


def _rounded_if_any(value: float | None) -> float | None:
    return None if value is None else _rounded(value)
