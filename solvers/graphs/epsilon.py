"""How good the bits of edge predictions are: estimates of eps, with and without a known solution.

Every bit about a vertex is right with probability 1/2 + eps (Aamand et al., "Improved Approximations for Hard Graph Problems
using Predictions", ICML 2025). Symbols: k_v -> `votes`, y_v -> `votes_in`, rho -> `overdispersion`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.graphs.predictions import Array, count_votes, ternary
from solvers.operation import InvalidInput

Method: TypeAlias = Literal["moment", "em", "reference"]

NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the normal distribution: every interval here covers 95 %


class EpsilonEstimate(NamedTuple):
    """What the bits say of their own quality.

    Attributes
    ----------
    epsilon : float or None
        None where the bits cannot tell; negative, against a reference, where they are wrong more often than right.
    interval : (float, float) or None
        95 % confidence, taking the vertices as independent; against a reference, correlated bits count for as few as they are worth.
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
    method: Method | None = None,
) -> EpsilonEstimate:
    """Estimate how often the bits are right.

    Parameters
    ----------
    edges : array_like of int, shape (r, 2) or (r,)
        The vertices that each row of `bits` speaks of; of incidence bits, the set that each speaks of.
    bits : array_like of int, of the same shape
        1, 0, or -1 where a bit is missing.
    reference : array_like of int, shape (n,), optional
        The solution that the bits are about, 0 or 1 per vertex or set.
    method : {"moment", "em", "reference"}, optional
        ``moment``: how often two bits about one vertex agree. ``em``: fit a mixture of two binomials, whose sides may be
        predicted unequally well. ``reference``: count the right bits. Default: ``reference`` where there is one, else ``moment``.

    Returns
    -------
    EpsilonEstimate

    Raises
    ------
    InvalidInput
        If a bit is none of 0, 1 and -1, shapes differ, or ``reference`` is asked for and there is none, or it is too short.

    See Also
    --------
    pooled_epsilon : The same from several past instances.

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
    about = np.asarray(edges, dtype=np.int64)
    given = ternary(bits, "edge_bits", (None,) if about.ndim == 1 and about.size else (None, 2))
    about = about.reshape(-1, 2) if about.size == 0 else about
    if about.shape != given.shape:
        raise InvalidInput(f"bits of shape {given.shape} for vertices of shape {about.shape}", pointer="/edge_bits")
    if about.min(initial=0) < 0:
        raise InvalidInput("a vertex is a position from 0 up", pointer="/edges")
    method = method or ("moment" if reference is None else "reference")
    if method == "reference":
        if reference is None:
            raise InvalidInput("counting right bits needs a reference solution", pointer="/reference")
        return _against_reference(about, given, np.asarray(reference, dtype=np.int8))
    votes, votes_in = count_votes(about, given, int(about.max(initial=-1)) + 1)
    return moment_estimate(votes, votes_in) if method == "moment" else _mixture_estimate(votes, votes_in)


Past: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike | None]
"""Of one instance the `edges`, `bits` and `reference` of :func:`estimate_epsilon`."""


def pooled_epsilon(past: Iterable[Past], method: Method | None = None) -> EpsilonEstimate:
    """Estimate how often the bits of one source are right from several instances together.

    Parameters
    ----------
    past : iterable of (edges, bits, reference)
        As for :func:`estimate_epsilon`; the reference may be None. Vertices of different instances have nothing to do with each other.
    method : {"moment", "em", "reference"}, optional
        Default: ``reference`` if every instance has one, else ``moment``.

    Raises
    ------
    InvalidInput
        As for :func:`estimate_epsilon`.

    Examples
    --------
    >>> days = [([[0, 1]], [[1, 0]], [1, 0]), ([[0, 1], [1, 2]], [[0, 0], [0, 1]], [0, 1, 0])]
    >>> pooled_epsilon(days).epsilon == 3 / 6 - 0.5
    True
    """
    edges, bits, references = [], [], []
    offset = 0
    for number, (one_edges, one_bits, reference) in enumerate(past):
        about, given = np.asarray(one_edges, dtype=np.int64), np.asarray(one_bits)
        if about.size != given.size:
            raise InvalidInput(f"{given.size} bits for {about.size} vertices", pointer=f"/{number}/edge_bits")
        size = int(about.max(initial=-1)) + 1
        if reference is not None:
            known = np.asarray(reference, dtype=np.int8)
            if len(known) < size:
                raise InvalidInput(f"a reference of {len(known)} vertices is too short", pointer=f"/{number}/reference")
            references.append(known)
            size = len(known)
        edges.append(about.ravel() + offset)
        bits.append(given.ravel())
        offset += size
    has_all = len(references) == len(edges) > 0
    return estimate_epsilon(
        np.concatenate(edges) if edges else [],
        np.concatenate(bits) if bits else [],
        np.concatenate(references) if has_all else None,
        method,
    )


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
    inside, outside = (float(given[truth == side].mean()) if (truth == side).any() else None for side in (1, 0))
    votes, votes_in = count_votes(endpoints, bits, len(reference))
    overdispersion = _overdispersion(votes, votes_in, reference, (outside or 0.0, inside or 0.0))
    # Of k bits with correlation rho, what counts is k / (1 + (k - 1) rho).
    excess = (float(np.square(votes).sum()) / len(given) - 1) * (overdispersion or 0.0)
    low, high = wilson_interval(share_right, len(given) / (1 + excess))
    return EpsilonEstimate(
        share_right - 0.5,
        (low - 0.5, high - 0.5),
        None if inside is None or outside is None else abs(inside + outside - 1),
        overdispersion,
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
