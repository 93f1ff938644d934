"""How good the bits of edge predictions are: estimates of eps, with and without a known solution.

Every bit about a vertex is right with probability 1/2 + eps (Aamand et al., "Improved Approximations for Hard Graph Problems
using Predictions", ICML 2025). Symbols: k_v -> `votes`, y_v -> `votes_in`, rho -> `overdispersion`.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.graphs.predictions import Array, EdgePredictions, count_votes
from solvers.operation import InvalidInput

NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the normal distribution: every interval here covers 95 %


class EpsilonEstimate(NamedTuple):
    """What the bits say of their own quality.

    Attributes
    ----------
    epsilon : float or None
        None where the bits cannot tell; negative, against a reference, where they are wrong more often than right.
    interval : (float, float) or None
        95 % confidence, taking the vertices (`moment`) or the bits (`reference`) as independent.
    asymmetry : float or None
        abs(P(1 | in) + P(1 | out) - 1): 0 where both sides are predicted equally well.
    overdispersion : float or None
        Correlation of the bits about one vertex, in [0, 1]; seen only against a reference.
    """

    epsilon: float | None
    interval: tuple[float, float] | None = None
    asymmetry: float | None = None
    overdispersion: float | None = None


def estimate_epsilon(
    edges: npt.ArrayLike,
    bits: npt.ArrayLike,
    reference: npt.ArrayLike | None = None,
    method: Literal["moment", "em", "reference"] | None = None,
) -> EpsilonEstimate:
    """Estimate how often the bits are right.

    Parameters
    ----------
    edges : array_like of int, shape (r, 2)
        The vertices that each row of `bits` speaks of.
    bits : array_like of int, shape (r, 2)
        1, 0, or -1 where a bit is missing.
    reference : array_like of int, shape (n,), optional
        The solution that the bits are about, 0 or 1 per vertex.
    method : {"moment", "em", "reference"}, optional
        ``moment``: how often two bits about one vertex agree. ``em``: fit a mixture of two binomials, whose sides may be
        predicted unequally well. ``reference``: count the right bits. Default: ``reference`` where there is one, else ``moment``.

    Returns
    -------
    EpsilonEstimate

    Raises
    ------
    InvalidInput
        If ``reference`` is asked for and there is none, or it is too short.

    Notes
    -----
    Two independent bits about one vertex agree with probability 1/2 + 2 eps^2, so `moment` cannot see an eps below
    1/2 (number of pairs)^(-1/4), and takes dependent bits for good ones: copies of one label on all edges of a vertex give 1/2.

    Examples
    --------
    >>> estimate_epsilon([[0, 1], [0, 2]], [[1, 0], [1, 0]]).epsilon
    0.5
    >>> estimate_epsilon([[0, 1], [0, 2]], [[1, 0], [0, 0]], reference=[1, 0, 0]).epsilon
    0.25
    """
    predictions = EdgePredictions(np.asarray(bits), endpoints=np.asarray(edges, dtype=np.int64).reshape(-1, 2))
    endpoints = predictions.endpoints
    assert endpoints is not None
    method = method or ("moment" if reference is None else "reference")
    if method == "reference":
        if reference is None:
            raise InvalidInput("counting right bits needs a reference solution", pointer="/reference")
        return _against_reference(endpoints, predictions.bits, np.asarray(reference, dtype=np.int8))
    votes, votes_in = count_votes(endpoints, predictions.bits, int(endpoints.max(initial=-1)) + 1)
    return moment_estimate(votes, votes_in) if method == "moment" else _mixture_estimate(votes, votes_in)


def moment_estimate(votes: Array, votes_in: Array) -> EpsilonEstimate:
    """Estimate eps from how often two bits about one vertex agree.

    Parameters
    ----------
    votes, votes_in : ndarray of int, shape (n,)

    Returns
    -------
    EpsilonEstimate
        Its `epsilon` is None where no vertex has two bits.
    """
    k, y = votes.astype(np.float64), votes_in.astype(np.float64)
    pairs = k * (k - 1) / 2
    total = pairs.sum()
    if total == 0:
        return EpsilonEstimate(None)
    agreeing = (y * (y - 1) + (k - y) * (k - y - 1)) / 2
    agreement = agreeing.sum() / total
    # Pairs about one vertex share bits, so the vertices are what is independent; bits at eps 0 give the least error there is.
    error = max(math.sqrt(np.square(agreeing - agreement * pairs).sum()) / total, 0.5 / math.sqrt(total))
    low, high = (_epsilon_of(agreement + sign * NORMAL_95 * error) for sign in (-1, 1))
    return EpsilonEstimate(_epsilon_of(agreement), (low, high))


def wilson_interval(share: float, count: float) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a share among `count` independent cases.

    Examples
    --------
    >>> low, high = wilson_interval(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    square = NORMAL_95**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = NORMAL_95 / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return middle - half, middle + half


def _epsilon_of(agreement: float) -> float:
    return min(0.5, math.sqrt(max(0.0, (agreement - 0.5) / 2)))


def _mixture_estimate(votes: Array, votes_in: Array) -> EpsilonEstimate:
    """Fit two binomials by expectation-maximisation, the two-coin model of Dawid and Skene (1979)."""
    start = moment_estimate(votes, votes_in).epsilon
    if start is None:
        return EpsilonEstimate(None)
    k, y = votes[votes > 0].astype(np.float64), votes_in[votes > 0].astype(np.float64)
    share, inside, outside = (y / k).mean(), 0.5 + start, 0.5 - start
    for _ in range(100):
        share, inside, outside = (min(max(p, 1e-9), 1 - 1e-9) for p in (share, inside, outside))
        odds = math.log(share / (1 - share)) + y * math.log(inside / outside) + (k - y) * math.log((1 - inside) / (1 - outside))
        is_in = 0.5 * (1 + np.tanh(odds / 2))
        before = share, inside, outside
        votes_of_in, votes_of_out = (is_in * k).sum(), ((1 - is_in) * k).sum()
        share = is_in.mean()
        inside = (is_in * y).sum() / votes_of_in if votes_of_in > 0 else inside
        outside = ((1 - is_in) * y).sum() / votes_of_out if votes_of_out > 0 else outside
        if max(abs(new - old) for new, old in zip((share, inside, outside), before, strict=True)) < 1e-8:
            break
    return EpsilonEstimate(float(inside - outside) / 2, asymmetry=float(abs(inside + outside - 1)))


def _against_reference(endpoints: Array, bits: Array, reference: Array) -> EpsilonEstimate:
    if endpoints.max(initial=-1) >= len(reference):
        raise InvalidInput(f"the reference has {len(reference)} vertices, the edges speak of more", pointer="/reference")
    present = bits >= 0
    given, truth = bits[present], reference[endpoints[present]]
    if len(given) == 0:
        return EpsilonEstimate(None)
    share_right = float((given == truth).mean())
    low, high = wilson_interval(share_right, len(given))
    inside, outside = (float(given[truth == side].mean()) if (truth == side).any() else None for side in (1, 0))
    return EpsilonEstimate(
        share_right - 0.5,
        (low - 0.5, high - 0.5),
        None if inside is None or outside is None else abs(inside + outside - 1),
        _overdispersion(*count_votes(endpoints, bits, len(reference)), reference, (outside or 0.0, inside or 0.0)),
    )


def _overdispersion(votes: Array, votes_in: Array, reference: Array, share_of_ones: tuple[float, float]) -> float | None:
    """Compare the spread of the votes within each side with the binomial's: Var y = k p (1-p) (1 + (k-1) rho)."""
    p = np.asarray(share_of_ones)[reference]
    binomial = votes * p * (1 - p)
    correlated = float(((votes - 1) * binomial).sum())
    if correlated <= 0:
        return None
    excess = float((np.square(votes_in - votes * p) - binomial).sum())
    return min(1.0, max(0.0, excess / correlated))
