"""Logistic regression on features of votes, for instances that share nothing but their kind.

Each vote, of an edge about an end of it or of an element about a set with it, is a row of features
(:mod:`solvers.graphs.predictors.features`), standardised, and its label is the side of that vertex or set in the past solution; the
model's probability, cut at 1/2, is the bit. The bits about one vertex or set share most of their features and are far from independent,
which cross-validation measures and the solver discounts. Its own probability is the mean of those of its votes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.arrays import Array, Number
from solvers.graphs.predictors.features import FEATURES
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import Subject

MOST_ROWS = 200_000
"""Rows to fit seven coefficients on; more would move them by less than the past tells about the future."""

DIGITS = 9
"""Decimals of what is kept: beyond them the optimiser's answer depends on the machine."""


class LogisticModel(BaseModel):
    """Coefficients on standardised features: P(side 1) = 1 / (1 + exp(-intercept - sum of coefficient (x - mean) / scale))."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["logistic"] = "logistic"
    features: list[str] = Field(description="Names of the features, in order.")
    means: list[Number] = Field(description="Their means over the rows of the fit.")
    scales: list[Number] = Field(description="Their standard deviations; 1 for a feature that does not vary.")
    coefficients: list[Number] = Field(description="What one standard deviation adds to the log-odds.")
    intercept: Number = Field(description="Log-odds where every feature is at its mean.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if {len(self.means), len(self.scales), len(self.coefficients)} != {len(self.features)}:
            raise ValueError("features, means, scales and coefficients differ in length")
        if tuple(self.features) not in FEATURES.values():
            raise ValueError("these are not the features that instances are measured by")
        if min(self.scales) <= 0:
            raise ValueError("a scale is not positive")
        return self

    @classmethod
    def fit(cls, solved: Sequence[Solved], seed: int) -> Self:
        """Learn from past solutions of one problem.

        Parameters
        ----------
        solved : sequence of Solved
            At least one.
        seed : int
            Of the choice of rows, where there are more than :data:`MOST_ROWS`.
        """
        names = FEATURES[solved[0].subject.problem]
        rng = np.random.default_rng(seed)
        parts = [_rows(one, max(1, MOST_ROWS // len(solved)), rng) for one in solved]
        rows, sides = np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        means = rows.mean(axis=0) if len(rows) else np.zeros(len(names))
        scales = rows.std(axis=0) if len(rows) else np.ones(len(means))
        scales = np.where(scales > 1e-12 * (1 + np.abs(means)), scales, 1.0)
        coefficients, intercept = _regression((rows - means) / scales, sides)
        return cls(
            features=list(names),
            means=means.round(DIGITS).tolist(),
            scales=np.maximum(scales, 10.0**-DIGITS).round(DIGITS).tolist(),
            coefficients=coefficients.round(DIGITS).tolist(),
            intercept=round(intercept, DIGITS),
        )

    def forecast(self, subject: Subject) -> Forecast:
        """Return the probabilities of vertices or sets, none for those that nothing votes about."""
        votes = self._probabilities(subject.features.rows(np.arange(len(subject.item_of))))
        counts = subject.num_votes
        sums = np.bincount(subject.item_of, votes, minlength=subject.num_items)
        return Forecast(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), votes)

    def _probabilities(self, rows: Array) -> Array:
        standardised = (rows - np.array(self.means)) / np.array(self.scales)
        log_odds = self.intercept + (standardised * np.array(self.coefficients)).sum(axis=1)
        probabilities: Array = 0.5 * (1 + np.tanh(log_odds / 2))
        return probabilities


def _rows(solved: Solved, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    subject = solved.subject
    # Nothing but the graph can say which side of a cut is which: let side 1 be that of the higher degrees.
    degrees = subject.num_votes.astype(np.float64)
    truth = subject.turned(solved.truth, degrees - degrees[degrees > 0].mean() if degrees.any() else degrees)
    votes = np.arange(len(subject.item_of))
    if len(votes) > most:
        votes = np.sort(rng.choice(len(votes), most, replace=False))
    return subject.features.rows(votes), truth[subject.item_of[votes]]


def _regression(standardised: Array, sides: Array) -> tuple[Array, float]:
    ones = int(sides.sum())
    if ones in (0, len(sides)):
        # Without two classes there is nothing to regress on; the rule of succession says how sure to be.
        return np.zeros(standardised.shape[1]), float(np.log((ones + 1) / (len(sides) - ones + 1)))
    # Loading it takes a second, which only those wait for who fit.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=1000, tol=1e-8).fit(standardised, sides)
    return model.coef_[0], float(model.intercept_[0])
