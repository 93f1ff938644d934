"""Predictions about one fixed optimal solution, in the forms that a caller may hold them.

The edge model is that of Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025): every
edge carries two bits, one about each of its ends, each right with probability 1/2 + eps. The vertex models are those of
Cohen-Addad et al., "Max-Cut with eps-Accurate Predictions" (NeurIPS 2024): a label that is right with probability 1/2 + eps, or
one that is present with probability eps. Symbols: eps -> `epsilon`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.operation import InvalidInput

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class EdgePredictions:
    """Two bits for every edge, one about each of its ends.

    Parameters
    ----------
    bits : array_like of int, shape (r, 2)
        1, 0, or -1 where a bit is missing; row e speaks of edge e of the canonical edge list, first column of its first vertex.
    epsilon : float, optional
        A bit is right with probability 1/2 + epsilon; in (0, 1/2]. Estimated from the bits where it is not given.
    overdispersion : float
        Correlation of the bits about one vertex, in [0, 1]; bits that one learned model makes from the same features are not
        independent, and count for less.
    endpoints : array_like of int, shape (r, 2), optional
        The vertices that each row speaks of, where these are not the canonical edges.

    Raises
    ------
    InvalidInput
        If a bit is none of 0, 1 and -1, or a number is out of its range.

    Examples
    --------
    >>> EdgePredictions([[0, 1], [1, -1]], epsilon=0.1).bits.shape
    (2, 2)
    """

    bits: Array
    epsilon: float | None = None
    overdispersion: float = 0.0
    endpoints: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", ternary(self.bits, "edge_bits", (None, 2)))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", float(_accuracies(self.epsilon)))
        if not 0 <= self.overdispersion <= 1:
            raise InvalidInput("overdispersion is a correlation between 0 and 1", pointer="/predictions/overdispersion")
        if self.endpoints is not None:
            endpoints = np.asarray(self.endpoints, dtype=np.int32)
            if endpoints.shape != self.bits.shape:
                raise InvalidInput(
                    f"{len(self.bits)} rows of bits for {len(endpoints)} pairs of vertices", pointer="/predictions/edge_bits"
                )
            object.__setattr__(self, "endpoints", endpoints)


@dataclass(frozen=True, eq=False)
class VertexPredictions:
    """A label or a probability for every vertex; at least one of the two.

    Parameters
    ----------
    labels : array_like of int, shape (n,), optional
        1, 0, or -1 where a label is missing.
    probabilities : array_like of float, shape (n,), optional
        Probability of side 1, in [0, 1]; NaN where it is missing.
    epsilon : float or array_like of float, shape (n,), optional
        A label is right with probability 1/2 + epsilon; in (0, 1/2]. It says nothing about `probabilities`.

    Raises
    ------
    InvalidInput
        If a label or a number is out of its range, or lengths differ.

    Examples
    --------
    >>> VertexPredictions(labels=[0, 1, -1], epsilon=0.2).labels.tolist()
    [0, 1, -1]
    """

    labels: Array | None = None
    probabilities: Array | None = None
    epsilon: float | Array | None = None

    def __post_init__(self) -> None:
        if self.labels is None and self.probabilities is None:
            raise InvalidInput("labels or probabilities of the vertices are needed", pointer="/predictions")
        if self.labels is not None:
            object.__setattr__(self, "labels", ternary(self.labels, "vertex_labels", (None,)))
        if self.probabilities is not None:
            object.__setattr__(self, "probabilities", _probabilities(self.probabilities))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", self._label_accuracies())

    def _label_accuracies(self) -> float | Array:
        accuracies = _accuracies(self.epsilon)
        if accuracies.ndim == 0:
            return float(accuracies)
        if self.labels is None or accuracies.shape != self.labels.shape:
            raise InvalidInput("epsilon is one number, or one number per label", pointer="/predictions/epsilon")
        return accuracies


Predictions: TypeAlias = EdgePredictions | VertexPredictions


def sample_edge_predictions(
    edges: npt.ArrayLike, reference: Sequence[int] | Array, epsilon: float, seed: int | np.random.Generator | None = None
) -> EdgePredictions:
    """Draw the bits of the edge model about a given solution.

    Parameters
    ----------
    edges : array_like of int, shape (m, 2)
    reference : array_like of int, shape (n,)
        The solution that the bits are about, 0 or 1 per vertex.
    epsilon : float
        Every bit is right with probability 1/2 + epsilon, independently; in [0, 1/2]. At 0 the bits are fair coins, and the
        predictions leave `epsilon` to be estimated.
    seed : int or numpy.random.Generator, optional

    Returns
    -------
    EdgePredictions

    Examples
    --------
    >>> sample_edge_predictions([[0, 1], [1, 2]], [0, 1, 0], epsilon=0.5).bits.tolist()
    [[0, 1], [1, 0]]
    """
    if not 0 <= epsilon <= 0.5:
        raise InvalidInput(f"epsilon {epsilon} is not between 0 and 1/2")
    truth = np.asarray(reference, dtype=np.int8)[np.asarray(edges, dtype=np.int64).reshape(-1, 2)]
    wrong = np.random.default_rng(seed).random(truth.shape) >= 0.5 + epsilon
    return EdgePredictions(truth ^ wrong, epsilon=epsilon or None)


def count_votes(endpoints: Array, bits: Array, num_vertices: int) -> tuple[Array, Array]:
    """Count the bits that speak of each vertex.

    Parameters
    ----------
    endpoints : ndarray of int, shape (r, 2)
        The vertices that each row of `bits` speaks of.
    bits : ndarray of int8, shape (r, 2)
    num_vertices : int

    Returns
    -------
    votes, votes_in : ndarray of int64, shape (n,)
        Bits that are present, and those of them that are 1; the paper's k_v and y_v.

    Examples
    --------
    >>> count_votes(np.array([[0, 1], [1, 2]]), np.array([[0, 1], [1, -1]]), 3)
    (array([1, 2, 0]), array([0, 2, 0]))
    """
    votes = np.bincount(endpoints[bits >= 0], minlength=num_vertices)
    return votes, np.bincount(endpoints[bits == 1], minlength=num_vertices)


def ternary(values: Any, field: str, shape: tuple[int | None, ...]) -> Array:
    """Return bits that are 0, 1, or -1 where one is missing, as int8 of some shape, in which None stands for any length."""
    given = np.asarray(values)
    if given.size == 0:
        given = given.reshape(tuple(0 if length is None else length for length in shape))
    if given.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, given.shape, strict=True)):
        raise InvalidInput(f"an array of shape {given.shape} in place of {shape}", pointer=f"/predictions/{field}")
    if given.dtype.kind not in "biuf":
        raise InvalidInput("bits are 0, 1 or missing", pointer=f"/predictions/{field}")
    allowed = (given == 0) | (given == 1) | (given == -1)
    if not allowed.all():
        place = "/".join(str(index) for index in np.argwhere(~allowed)[0])
        raise InvalidInput("a bit is 0, 1 or missing", pointer=f"/predictions/{field}/{place}")
    return np.ascontiguousarray(given, dtype=np.int8)


def _probabilities(values: Any) -> Array:
    probabilities = np.asarray(values, dtype=np.float64)
    if probabilities.ndim != 1:
        raise InvalidInput("one probability per vertex", pointer="/predictions/vertex_probabilities")
    wrong = (probabilities < 0) | (probabilities > 1)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidInput("a probability is between 0 and 1", pointer=f"/predictions/vertex_probabilities/{place}")
    return probabilities


def _accuracies(values: Any) -> Array:
    accuracies = np.asarray(values, dtype=np.float64)
    wrong = ~((accuracies > 0) & (accuracies <= 0.5))
    if wrong.any():
        place = "" if accuracies.ndim == 0 else f"/{int(np.argmax(wrong))}"
        raise InvalidInput("epsilon lies above 0 and at most at 1/2", pointer=f"/predictions/epsilon{place}")
    return accuracies
