"""Every form of prediction in one currency: the log-odds that a vertex lies on side 1, or in the solution.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025), let the edges of a vertex vote on
its side; a bit that is right with probability 1/2 + eps is worth ln((1/2 + eps) / (1/2 - eps)). Labels and probabilities of
vertices (Cohen-Addad et al., NeurIPS 2024) convert alike, and independent sources add. A cut and its complement are worth the
same, so each source speaks of one of the two in every connected component, and is turned to agree with those before it; sources
about a cover or an independent set are taken as they are.
Symbols: eps -> `epsilon`, k_v -> `votes`, y_v -> `votes_in`, rho -> `overdispersion`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from solvers.graphs.components import connected_components
from solvers.graphs.epsilon import EpsilonEstimate, moment_estimate
from solvers.graphs.predictions import Array, EdgePredictions, Predictions, VertexPredictions, count_votes
from solvers.operation import InvalidInput

LEAST_EPSILON = 0.01
"""What is estimated below is told from fair coins by chance alone."""

LARGEST_LOG_ODDS = 20.0
"""Worth of a bit that cannot be wrong."""

MOST_VOTES = 2**53


class AdviceWarning(NamedTuple):
    """Something about the predictions that the caller should know."""

    code: str
    message: str
    pointer: str


@dataclass(frozen=True, eq=False)
class Advice:
    """What all predictions together say of each vertex.

    Attributes
    ----------
    log_odds : ndarray of float64, shape (n,)
        Of side 1 against side 0; 0 where nothing is known.
    votes, votes_in : ndarray of int64, shape (n,)
        Bits, labels and probabilities that are present, and those that say side 1.
    estimates : ndarray of float64, shape (n,)
        Estimate of the side as -1 or +1, from what share of the votes exceeds what chance gives.
    epsilon_used : float or None
        Of the first source that has one; None where the votes are not trusted.
    epsilon_estimate : EpsilonEstimate or None
        Of the first edge bits.
    is_trusted : bool
        Whether the accuracy of some source is known, or seen to be better than chance.
    assumes_independent : bool
        Whether the caller states the accuracy of edge bits, that they are independent, and gives nothing else.
    are_labels : bool
        Whether nothing is predicted but one label per vertex, with a known accuracy.
    warnings : tuple of AdviceWarning
    """

    log_odds: Array
    votes: Array
    votes_in: Array
    estimates: Array
    epsilon_used: float | None
    epsilon_estimate: EpsilonEstimate | None
    is_trusted: bool
    assumes_independent: bool
    are_labels: bool
    warnings: tuple[AdviceWarning, ...]
    _components: Array | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is predicted."""
        return not self.votes.any()

    def about(self, vertices: Array) -> Advice:
        """Return what is said of some vertices or sets, numbered in that order."""
        return replace(
            self,
            log_odds=self.log_odds[vertices],
            votes=self.votes[vertices],
            votes_in=self.votes_in[vertices],
            estimates=self.estimates[vertices],
            _components=None if self._components is None else self._components[vertices],
        )

    def agreement(self, sides: Array) -> float | None:
        """Return the share of votes that a solution agrees with, a cut in each component up to its complement; None without votes."""
        total = int(self.votes.sum())
        if total == 0:
            return None
        agreeing = np.where(np.asarray(sides) == 1, self.votes_in, self.votes - self.votes_in)
        if self._components is None:
            return float(agreeing.sum()) / total
        agreeing, votes = (np.bincount(self._components, weights=counts) for counts in (agreeing, self.votes))
        return float(np.maximum(agreeing, votes - agreeing).sum()) / total


class _Source(NamedTuple):
    """One kind of prediction by one predictor."""

    votes: Array
    votes_in: Array
    log_odds: Array
    epsilon: Array | float
    is_trusted: bool
    are_probabilities: bool = False

    def turned(self, where: Array) -> _Source:
        """Return the source with its sides exchanged at the vertices of a mask."""
        return self._replace(
            votes_in=np.where(where, self.votes - self.votes_in, self.votes_in),
            log_odds=np.where(where, -self.log_odds, self.log_odds),
        )


def tally(
    predictions: Sequence[Predictions], num_vertices: int, edges: Array, *, prior: Array | None = None, symmetric: bool = True
) -> Advice:
    """Add up predictions about one solution.

    Parameters
    ----------
    predictions : sequence of EdgePredictions and VertexPredictions
        May be empty.
    num_vertices : int
    edges : ndarray of int, shape (m, 2)
        Canonical edges.
    prior : ndarray of float64, shape (n,), optional
        Log-odds from elsewhere.
    symmetric : bool
        Whether a solution may be complemented in any component, as a cut may.

    Returns
    -------
    Advice

    Raises
    ------
    InvalidInput
        If a prediction does not fit the graph.

    Examples
    --------
    >>> from solvers.graphs.predictions import EdgePredictions
    >>> path = np.array([[0, 1], [1, 2]])
    >>> advice = tally([EdgePredictions([[0, 1], [1, 0]], epsilon=0.25)], 3, path)
    >>> advice.votes_in.tolist(), advice.log_odds.round(2).tolist()
    ([0, 2, 0], [-1.1, 2.2, -1.1])
    """
    components = connected_components(num_vertices, edges) if symmetric else None
    sources, warnings, estimates = [], [], []
    for prediction in predictions:
        if isinstance(prediction, EdgePredictions):
            source, estimate = _edge_source(prediction, num_vertices, edges)
            sources.append(source)
            estimates.append(estimate)
        else:
            sources.extend(_vertex_sources(prediction, num_vertices))
    if components is not None:
        sources = list(_aligned(sources, components, num_vertices))

    votes = sum((source.votes for source in sources), np.zeros(num_vertices, dtype=np.int64))
    log_odds = sum((source.log_odds for source in sources), np.zeros(num_vertices))
    trusted = [source for source in sources if source.is_trusted and source.votes.any()]
    if predictions and not votes.any():
        warnings.append(AdviceWarning("predictions-empty", "every prediction is missing; solved without", "/predictions"))
    elif sources and not trusted:
        message = f"epsilon is not given, and not seen to be {LEAST_EPSILON} or more: predictions are starting points only"
        warnings.append(AdviceWarning("epsilon-unknown", message, "/predictions/epsilon"))
    return Advice(
        log_odds=log_odds if prior is None else log_odds + np.asarray(prior, dtype=np.float64),
        votes=votes,
        votes_in=sum((source.votes_in for source in sources), np.zeros(num_vertices, dtype=np.int64)),
        estimates=_side_estimates(sources, log_odds),
        epsilon_used=next((float(np.mean(s.epsilon)) for s in trusted if not s.are_probabilities), None),
        epsilon_estimate=next(iter(estimates), None),
        is_trusted=bool(trusted),
        assumes_independent=_claims_independence(predictions),
        are_labels=bool(trusted) and _are_labels(predictions),
        warnings=tuple(warnings),
        _components=components,
    )


def log_odds_of(epsilon: Array | float) -> Array:
    """Return the worth of one bit that is right with probability 1/2 + epsilon."""
    with np.errstate(divide="ignore"):
        return np.minimum(np.log((0.5 + np.asarray(epsilon)) / (0.5 - np.asarray(epsilon))), LARGEST_LOG_ODDS)


def cover_prior(degrees: Array, vertex_weights: Array) -> Array:
    """Return log-odds that a vertex is in a cover before any prediction: 2 ln(d + 1) at degree d, less for a heavy vertex.

    Among weak votes the degree tells more than they do. A vertex twice as heavy as the mean is as likely in as one of about half the
    degree, which is how the greedy rule orders them.

    Examples
    --------
    >>> cover_prior(np.array([0, 1]), np.array([1, 1])).round(3).tolist()
    [0.0, 1.386]
    """
    if len(degrees) == 0:
        return np.zeros(0)
    prior: Array = 2 * (np.log1p(degrees) - np.log(vertex_weights / np.mean(vertex_weights)))
    return prior


def independent_set_prior(degrees: Array, vertex_weights: Array) -> Array:
    """Return log-odds that a vertex is in an independent set before any prediction: what it leaves out is a cover."""
    return -cover_prior(degrees, vertex_weights)


def _edge_source(prediction: EdgePredictions, num_vertices: int, edges: Array) -> tuple[_Source, EpsilonEstimate]:
    endpoints = edges if prediction.endpoints is None else prediction.endpoints
    if len(prediction.bits) != len(endpoints):
        raise InvalidInput(f"{len(prediction.bits)} rows of bits for {len(endpoints)} edges", pointer="/predictions/edge_bits")
    if len(endpoints) and not 0 <= endpoints.min() <= endpoints.max() < num_vertices:
        raise InvalidInput("a bit speaks of a vertex that the graph does not have", pointer="/predictions/edge_bits")
    votes, votes_in = count_votes(endpoints, prediction.bits, num_vertices)
    estimate = moment_estimate(votes, votes_in)
    epsilon = estimate.epsilon if prediction.epsilon is None else prediction.epsilon
    is_trusted = prediction.epsilon is not None or (epsilon is not None and epsilon >= LEAST_EPSILON)
    if epsilon is None or not is_trusted:
        epsilon = LEAST_EPSILON
    discount = 1 + np.maximum(votes - 1, 0) * prediction.overdispersion
    return _Source(votes, votes_in, (2 * votes_in - votes) * log_odds_of(epsilon) / discount, epsilon, is_trusted), estimate


def _vertex_sources(prediction: VertexPredictions, num_vertices: int) -> Iterator[_Source]:
    if prediction.labels is not None:
        labels = _one_per_vertex(prediction.labels, num_vertices, "vertex_labels")
        votes, votes_in = (labels >= 0).astype(np.int64), (labels == 1).astype(np.int64)
        epsilon = LEAST_EPSILON if prediction.epsilon is None else prediction.epsilon
        log_odds = (2 * votes_in - votes) * log_odds_of(epsilon)
        yield _Source(votes, votes_in, log_odds, epsilon, prediction.epsilon is not None)
    if prediction.probabilities is not None:
        probabilities = np.nan_to_num(_one_per_vertex(prediction.probabilities, num_vertices, "vertex_probabilities"), nan=0.5)
        clipped = probabilities.clip(1e-9, 1 - 1e-9)
        votes, votes_in = (probabilities != 0.5).astype(np.int64), (probabilities > 0.5).astype(np.int64)
        yield _Source(votes, votes_in, np.log(clipped / (1 - clipped)), abs(probabilities - 0.5), True, are_probabilities=True)


def _one_per_vertex(values: Array, num_vertices: int, field: str) -> Array:
    if len(values) != num_vertices:
        raise InvalidInput(f"{len(values)} predictions for {num_vertices} vertices", pointer=f"/predictions/{field}")
    return values


def _aligned(sources: Sequence[_Source], components: Array, num_vertices: int) -> Iterator[_Source]:
    """Turn every source, component by component, to agree with the sum of those before it."""
    known = np.zeros(num_vertices)
    for source in sources:
        products = np.bincount(components, weights=known * source.log_odds)
        turned = source.turned((products < 0)[components])
        known += turned.log_odds
        yield turned


def _side_estimates(sources: Sequence[_Source], log_odds: Array) -> Array:
    """Estimate the sides as -1 to +1.

    Bits and labels are pooled: a vote of accuracy eps, divided by 2 eps, is right on average, and weighted by eps^2 such votes
    vary least. The result is clipped, since sides are known to be -1 or +1. Probabilities are expectations as they stand, so
    that where there are any, all is turned into the expectation that the log-odds give.
    """
    if any(source.are_probabilities for source in sources):
        return np.tanh(log_odds / 2)
    numerator = sum(((2 * s.votes_in - s.votes) * np.multiply(2, s.epsilon) for s in sources), np.zeros(len(log_odds)))
    denominator = sum((s.votes * np.square(np.multiply(2, s.epsilon)) for s in sources), np.zeros(len(log_odds)))
    return np.divide(numerator, denominator, out=np.zeros(len(log_odds)), where=denominator > 0).clip(-1, 1)


def _claims_independence(predictions: Sequence[Predictions]) -> bool:
    if len(predictions) != 1 or not isinstance(predictions[0], EdgePredictions):
        return False
    return predictions[0].epsilon is not None and predictions[0].overdispersion == 0


def _are_labels(predictions: Sequence[Predictions]) -> bool:
    if len(predictions) != 1 or not isinstance(predictions[0], VertexPredictions):
        return False
    return predictions[0].labels is not None and predictions[0].probabilities is None


def paper_threshold(epsilon: float, factor: int = 100) -> int:
    """Return the degree from which on the paper trusts votes: 100 ln(1/eps) / eps^2, with 3 in place of 100 for independent sets.

    No more than `MOST_VOTES`, which no vertex has.

    Examples
    --------
    >>> [paper_threshold(epsilon) for epsilon in (0.45, 0.1)], paper_threshold(0.1, factor=3)
    ([395, 23026], 691)
    """
    # One division after the other: the square of a tiny epsilon is 0.
    return math.ceil(min(MOST_VOTES, -factor * math.log(epsilon) / epsilon / epsilon))
