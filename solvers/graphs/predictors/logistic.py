"""Logistic regression on features of edges' ends, for instances that share nothing but their kind.

Each end v of each edge is a row of features (:mod:`solvers.graphs.predictors.features`), standardised, and its label is v's side in the
past solution; the model's probability, cut at 1/2, is the bit of that edge about v. The bits about one vertex share most of their
features and are far from independent, which cross-validation measures and the solver discounts. The probability of a vertex is the mean
of those of its edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.arrays import Array, Number
from solvers.graphs.predictors.features import FEATURES, VertexFeatures
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.solved_instances import UNTOLD, Problem, Solved, turned_to

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
            raise ValueError("these are not the features that graphs are measured by")
        if min(self.scales) <= 0:
            raise ValueError("a scale is not positive")
        return self

    @classmethod
    def fit(cls, solved: Sequence[Solved], measured: Sequence[VertexFeatures], problem: Problem, seed: int) -> Self:
        """Learn from past solutions.

        Parameters
        ----------
        solved : sequence of Solved
        measured : sequence of VertexFeatures
            Of the same graphs.
        problem : {"max-cut", "vertex-cover", "independent-set"}
        seed : int
            Of the choice of rows, where there are more than :data:`MOST_ROWS`.
        """
        rng = np.random.default_rng(seed)
        parts = [_rows(*pair, problem, MOST_ROWS // len(solved), rng) for pair in zip(solved, measured, strict=True)]
        rows, sides = np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        means = rows.mean(axis=0) if len(rows) else np.zeros(len(FEATURES[problem]))
        scales = rows.std(axis=0) if len(rows) else np.ones(len(means))
        scales = np.where(scales > 1e-12 * (1 + np.abs(means)), scales, 1.0)
        coefficients, intercept = _regression((rows - means) / scales, sides)
        return cls(
            features=list(FEATURES[problem]),
            means=means.round(DIGITS).tolist(),
            scales=np.maximum(scales, 10.0**-DIGITS).round(DIGITS).tolist(),
            coefficients=coefficients.round(DIGITS).tolist(),
            intercept=round(intercept, DIGITS),
        )

    def forecast(self, measured: VertexFeatures, edges: Array) -> Forecast:
        """Return the probabilities of a graph's vertices, none for those without edges."""
        ends = np.column_stack([self._probabilities(measured, edges[:, end], edges[:, 1 - end]) for end in (0, 1)])
        degrees = measured.degrees
        sums = np.bincount(edges.ravel(), ends.ravel(), minlength=len(degrees))
        return Forecast(np.where(degrees > 0, sums / np.maximum(degrees, 1), np.nan), ends)

    def _probabilities(self, measured: VertexFeatures, vertices: Array, neighbours: Array) -> Array:
        standardised = (measured.about(vertices, neighbours) - np.array(self.means)) / np.array(self.scales)
        log_odds = self.intercept + (standardised * np.array(self.coefficients)).sum(axis=1)
        probabilities: Array = 0.5 * (1 + np.tanh(log_odds / 2))
        return probabilities


def _rows(solved: Solved, measured: VertexFeatures, problem: Problem, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    edges, truth = solved.instance.edges, solved.truth
    if problem == "max-cut":
        # Nothing but the graph can say which side is which: let side 1 be that of the higher degrees.
        degrees = measured.degrees.astype(np.float64)
        truth = turned_to(truth, degrees - degrees[truth != UNTOLD].mean() if len(edges) else degrees, solved.instance)
    vertices, neighbours = edges.T.ravel(), edges[:, ::-1].T.ravel()
    if len(vertices) > most:
        chosen = np.sort(rng.choice(len(vertices), most, replace=False))
        vertices, neighbours = vertices[chosen], neighbours[chosen]
    return measured.about(vertices, neighbours), truth[vertices]


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


def measure(solved: Sequence[Solved], problem: Problem, stop: Callable[[], bool]) -> list[VertexFeatures]:
    """Return the features of the graphs of past instances."""
    return [VertexFeatures(one.instance, problem, stop=stop) for one in solved]
