"""What the theory promises of a run before it starts, where its assumptions hold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.csr import Csr
from solvers.graphs.wide_lp import Truncated, truncate

TRIVIAL_RATIO = 0.5
"""For weights >= 0 every cut that no single move improves has it."""


class RatioGuarantee(NamedTuple):
    """A ratio to the optimum that the value, or its expectation where predictions are assumed to be independent, reaches.

    Attributes
    ----------
    name : str
    value : float
    assumes_independent_predictions : bool
    """

    name: str
    value: float
    assumes_independent_predictions: bool


def wide_cut_guarantee(advice: Advice, csr: Csr, prefix: int) -> RatioGuarantee | None:
    """Return the expected ratio of the linear program's cut, or None where it is not proven or says nothing.

    Parameters
    ----------
    advice : Advice
    csr : Csr
        Weights >= 0.
    prefix : int
        Delta, at which the linear program was solved to its optimum.

    Notes
    -----
    A vertex is wide if its Delta heaviest edges weigh at most eta of all its edges; the graph, if wide vertices hold at least
    1 - eta of the weight (Cohen-Addad et al., 2024). With W the total weight, dropping the prefixes costs at most 2 eta W, rows
    of vertices that are not wide included. The estimate z_j pools k_j independent votes of accuracy eps, unbiased with variance
    (1/(4 eps^2) - 1)/k_j, and is clipped to [-1, 1], which leaves errors towards the inside only, half of them on average. If
    sum_ij A~_ij E|z_j - s_j| stays below W sqrt(eta / Delta) / eps, which is checked here, the expected cut is at least
    OPT (1 - 4 eta - sqrt(eta / Delta) / eps), as OPT >= W / 2.
    """
    epsilon = advice.epsilon_used
    if not advice.assumes_independent or epsilon is None or prefix < 1 or csr.weights.min(initial=0) < 0:
        return None
    truncated = truncate(csr, prefix)
    row_weights = truncated.prefix_weights + truncated.row_sums(truncated.weights)
    total = row_weights.sum() / 2
    if total == 0:
        return None
    eta = _width(truncated, row_weights)
    noise = math.sqrt(eta / prefix) / epsilon
    ratio = 1 - 4 * eta - noise
    if ratio <= TRIVIAL_RATIO or _expected_error(truncated, advice, epsilon) > noise * total:
        return None
    return RatioGuarantee("wide_max_cut_expected_ratio", ratio, True)


def independent_set_guarantee(advice: Advice, csr: Csr, threshold: int) -> RatioGuarantee | None:
    """Return the share of the largest independent set that the paper's rule reaches in expectation, or None where it is not proven.

    Parameters
    ----------
    advice : Advice
        About an independent set of a graph without weights.
    csr : Csr
    threshold : int
        Delta, the votes from which on the advice decides.

    Notes
    -----
    With all bits present and independent, the majority at a vertex of degree d errs with probability at most
    q = exp(-2 eps^2 Delta) from d = Delta on. Of the share a of the set that has such degrees, (1 - q) a is predicted in, less at
    most (Delta + 1) q that is lost for wrong predictions, where (d + 1) exp(-2 eps^2 d) does not grow, from
    Delta + 1 = 1 / (2 eps^2) on. Of the rest, the greedy rule finds 3 / (Delta + 2). The better of the two is least where they are
    equal.
    """
    epsilon = advice.epsilon_used
    if not advice.assumes_independent or epsilon is None or not np.array_equal(advice.votes, np.diff(csr.indptr)):
        return None
    if 2 * epsilon**2 * (threshold + 1) < 1:
        return None
    error = math.exp(-2 * epsilon**2 * threshold)
    greedy = min(1.0, 3 / (threshold + 2))
    share = (greedy + (threshold + 1) * error) / (1 - error + greedy)
    return RatioGuarantee("independent_set_expected_ratio", greedy * (1 - share), True) if share < 1 else None


def colouring_guarantee(ratio: float) -> RatioGuarantee:
    """Return what the colouring of the linear relaxation's kernel promises of a cover: so many times the least weight at most."""
    return RatioGuarantee("hochbaum_ratio", ratio, False)


def local_ratio_guarantee() -> RatioGuarantee:
    """Return what the local ratio promises of a cover: at most twice the least weight (Bar-Yehuda and Even, 1985)."""
    return RatioGuarantee("local_ratio", 2.0, False)


def _width(truncated: Truncated, row_weights: np.ndarray) -> float:
    """Return the least eta for which the graph is wide."""
    rows = np.flatnonzero(row_weights > 0)
    shares = truncated.prefix_weights[rows] / row_weights[rows]
    order = np.argsort(shares)
    held = np.cumsum(row_weights[rows][order]) / row_weights.sum()
    return float(np.maximum(shares[order], 1 - held).min())


def _expected_error(truncated: Truncated, advice: Advice, epsilon: float) -> float:
    """Bound the expected 1-norm of the row estimates' error."""
    deviation = math.sqrt(1 - 4 * epsilon**2) / (2 * epsilon)
    errors = np.where(advice.votes > 0, deviation / (2 * np.sqrt(np.maximum(advice.votes, 1))), 1.0)
    return float((truncated.weights * errors[truncated.indices]).sum())
