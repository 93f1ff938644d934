"""Which vertices the advice decides: those with many votes, or those that it is sure of.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025), let the advice decide the vertices of
high degree, where "high" is a threshold Delta on the number of votes. Its constants are made for proofs and exceed the degrees of
nearly every graph, so that a whole range of thresholds is tried beside it, on the votes and on the log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, paper_threshold

CONFIDENCES = (0, 1, 2, 4, 8)

Threshold = int | Literal["auto", "paper"]


class DecisionRule(NamedTuple):
    """Vertices to be decided by the advice.

    Attributes
    ----------
    source : str
        ``threshold_scan``, ``paper`` or ``confidence_scan``.
    threshold : int
        Votes, or log-odds, from which on a vertex is decided.
    is_decided : ndarray of bool, shape (n,)
    """

    source: str
    threshold: int
    is_decided: np.ndarray


def decision_rules(
    advice: Advice,
    *,
    method: str = "auto",
    threshold: Threshold = "auto",
    paper: Callable[[float], int] = paper_threshold,
) -> Iterator[DecisionRule]:
    """Yield the rules to try, leaving out those that decide nobody or the same vertices as one before.

    Parameters
    ----------
    advice : Advice
        Trusted.
    method : str
        With ``"paper"`` only the paper's threshold.
    threshold : {"auto", "paper"} or int
        Votes from which on the advice decides a vertex.
    paper : callable
        Returns the paper's threshold at an epsilon.
    """
    rules: list[DecisionRule] = []
    if isinstance(threshold, int) and method != "paper":
        rules.append(DecisionRule("threshold_scan", threshold, advice.votes >= threshold))
    elif threshold == "auto" and method != "paper":
        powers = (2**power for power in range(math.ceil(math.log2(advice.votes.max())) + 1))
        rules.extend(DecisionRule("threshold_scan", power, advice.votes >= power) for power in powers)
    if advice.epsilon_used is not None and (method == "paper" or not isinstance(threshold, int)):
        cut_off = threshold if isinstance(threshold, int) else paper(advice.epsilon_used)
        rules.append(DecisionRule("paper", cut_off, advice.votes >= cut_off))
    if threshold == "auto" and method != "paper":
        confidence = np.abs(advice.log_odds)
        rules.extend(DecisionRule("confidence_scan", tau, (confidence >= tau) & (confidence > 0)) for tau in CONFIDENCES)
    seen: set[bytes] = set()
    for rule in rules:
        fingerprint = np.packbits(rule.is_decided).tobytes()
        if rule.is_decided.any() and fingerprint not in seen:
            seen.add(fingerprint)
            yield rule
