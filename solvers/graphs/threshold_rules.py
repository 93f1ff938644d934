"""Which vertices the advice decides: those of many votes, or of clear ones.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025), trust the votes of vertices of high
degree; "high" is a threshold Delta made for proofs, which exceeds the degrees of nearly every graph. A range of thresholds is
therefore tried, on the votes and on the log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, paper_threshold

CONFIDENCES = (0, 1, 2, 4, 8)

Threshold = int | Literal["auto", "paper"]


class ThresholdRule(NamedTuple):
    """A way to draw the line.

    Attributes
    ----------
    source : str
        ``threshold_scan``, ``paper`` or ``confidence_scan``.
    cut_off : int
        Votes or log-odds from which on the advice decides.
    is_decided : bool array of shape (n,)
    """

    source: str
    cut_off: int
    is_decided: np.ndarray


def threshold_rules(
    advice: Advice, method: str, threshold: Threshold, paper: Callable[[float], int] = paper_threshold
) -> Iterator[ThresholdRule]:
    """Yield the rules to try, leaving out those that decide nobody or the same vertices as one before.

    Parameters
    ----------
    advice : Advice
        With votes.
    method : str
        With ``"paper"`` only the paper's rule.
    threshold : {"auto", "paper"} or int
        Votes from which on the advice decides a vertex.
    paper : callable
        The paper's threshold for an epsilon.

    Examples
    --------
    >>> from solvers.graphs.advice import tally
    >>> from solvers.graphs.predictions import EdgePredictions
    >>> path = np.array([[0, 1], [1, 2]])
    >>> advice = tally([EdgePredictions([[0, 1], [1, 0]], epsilon=0.25)], 3, path)
    >>> [(rule.source, rule.cut_off, rule.is_decided.tolist()) for rule in threshold_rules(advice, "auto", "auto")]
    [('threshold_scan', 1, [True, True, True]), ('threshold_scan', 2, [False, True, False])]
    """
    rules: list[ThresholdRule] = []
    if isinstance(threshold, int) and method != "paper":
        rules.append(ThresholdRule("threshold_scan", threshold, advice.votes >= threshold))
    elif threshold == "auto" and method != "paper":
        powers = (2**power for power in range(math.ceil(math.log2(advice.votes.max())) + 1))
        rules.extend(ThresholdRule("threshold_scan", power, advice.votes >= power) for power in powers)
    if advice.epsilon_used is not None and (method == "paper" or not isinstance(threshold, int)):
        least = threshold if isinstance(threshold, int) else paper(advice.epsilon_used)
        rules.append(ThresholdRule("paper", least, advice.votes >= least))
    if threshold == "auto" and method != "paper":
        confidence = np.abs(advice.log_odds)
        rules.extend(
            ThresholdRule("confidence_scan", cut_off, (confidence >= cut_off) & (confidence > 0)) for cut_off in CONFIDENCES
        )
    seen: set[bytes] = set()
    for rule in rules:
        fingerprint = np.packbits(rule.is_decided).tobytes()
        if rule.is_decided.any() and fingerprint not in seen:
            seen.add(fingerprint)
            yield rule
