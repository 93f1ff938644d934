"""Covers and independent sets that the advice suggests, each worth a try and none to be trusted.

The rules of :mod:`solvers.graphs.learned_cover` and :mod:`solvers.graphs.learned_independent_set` are applied at a range of
thresholds, and vertices taken in the order of their log-odds. What is best is measured, not assumed: every candidate is a cover, or
an independent set, whatever the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, cover_prior, independent_set_prior, paper_threshold
from solvers.graphs.csr import Csr
from solvers.graphs.learned_cover import learned_cover
from solvers.graphs.learned_independent_set import learned_independent_set, ordered_set, set_by_labels
from solvers.graphs.threshold_rules import Threshold, ThresholdRule, threshold_rules

FACTOR_FOR_SETS = 3
"""The paper's constant in the threshold for independent sets."""


class MembershipCandidate(NamedTuple):
    """A cover or an independent set, and where it comes from.

    Attributes
    ----------
    source : str
        ``majority``, ``ordered_greedy``, ``vote_rounding``, ``threshold_scan``, ``paper`` or ``confidence_scan``.
    threshold : int or None
        Votes or log-odds from which on the advice decided a vertex.
    members : ndarray of bool, shape (n,)
    """

    source: str
    threshold: int | None
    members: np.ndarray


def cover_candidates(
    advice: Advice,
    csr: Csr,
    vertex_weights: np.ndarray,
    *,
    method: str = "auto",
    threshold: Threshold = "auto",
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[MembershipCandidate]:
    """Yield covers that the advice suggests, cheapest first, none of them improved yet.

    Parameters
    ----------
    advice : Advice
        Log-odds of being in the cover, by the predictions alone: the prior is added here where it helps.
    csr : Csr
        The graph that the advice is about; its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    method : str
        With ``"paper"`` only the paper's rule at the paper's threshold, and nothing where no vertex has that many votes.
    threshold : {"auto", "paper"} or int
        Votes from which on the advice decides a vertex.
    stop : callable
        Ends the candidates once it answers true.
    """
    weights = np.asarray(vertex_weights, dtype=np.int64)
    prior = cover_prior(np.diff(csr.indptr), weights)
    is_weighted = bool(len(weights)) and bool((weights != weights[0]).any())

    def follow(rule: ThresholdRule) -> np.ndarray:
        # The weighted rule's bound on what a mistake may cost.
        patience = float(max(rule.cut_off, 2)) ** 2 if is_weighted else None
        return learned_cover(csr, weights, rule.is_decided, advice.log_odds, patience=patience, prior=prior, stop=stop)

    for candidate in _in_order(advice, csr, -advice.log_odds, -prior, method):
        yield candidate._replace(members=~candidate.members)
    yield from _by_rules(advice, follow, method, threshold, paper_threshold, stop)


def independent_set_candidates(
    advice: Advice,
    csr: Csr,
    vertex_weights: np.ndarray,
    *,
    method: str = "auto",
    threshold: Threshold = "auto",
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[MembershipCandidate]:
    """Yield independent sets that the advice suggests; parameters as for :func:`cover_candidates`, the advice being about the set."""
    weights = np.asarray(vertex_weights, dtype=np.int64)
    is_favoured = advice.log_odds > 0

    def follow(rule: ThresholdRule) -> np.ndarray:
        return learned_independent_set(csr, weights, rule.is_decided, is_favoured, stop=stop)

    yield from _in_order(advice, csr, advice.log_odds, independent_set_prior(np.diff(csr.indptr), weights), method)
    if advice.are_labels and advice.epsilon_used is not None and method != "paper" and not stop():
        members = set_by_labels(csr, weights, advice.log_odds, advice.epsilon_used, stop=stop)
        yield MembershipCandidate("vote_rounding", None, members)
    paper = partial(paper_threshold, factor=FACTOR_FOR_SETS)
    yield from _by_rules(advice, follow, method, threshold, paper, stop)


def _in_order(advice: Advice, csr: Csr, log_odds: np.ndarray, prior: np.ndarray, method: str) -> Iterator[MembershipCandidate]:
    """Yield the independent sets in the order of the votes, and of the votes with what the degrees tell."""
    if advice.is_empty or method == "paper":
        return
    yield MembershipCandidate("majority", None, ordered_set(csr, log_odds))
    if advice.is_trusted:
        yield MembershipCandidate("ordered_greedy", None, ordered_set(csr, log_odds + prior))


def _by_rules(
    advice: Advice,
    follow: Callable[[ThresholdRule], np.ndarray],
    method: str,
    threshold: Threshold,
    paper: Callable[[float], int],
    stop: Callable[[], bool],
) -> Iterator[MembershipCandidate]:
    if advice.is_empty or not advice.is_trusted:
        return
    for rule in threshold_rules(advice, method, threshold, paper):
        if stop():
            return
        yield MembershipCandidate(rule.source, rule.cut_off, follow(rule))
