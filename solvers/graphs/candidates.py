"""Cuts that the advice suggests for MaxCut, each worth a try and none to be trusted.

Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025), let the advice decide the vertices
of high degree, which have many votes, and cut the rest without predictions; "high" is a threshold Delta on the number of votes.
Its constants are made for proofs and exceed the degrees of nearly every graph, so that here a whole range of thresholds is tried,
on the votes and on the log-odds. What is best is measured, not assumed: every candidate is a cut, whatever the bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.csr import Csr
from solvers.graphs.greedy_completion import UNDECIDED, complete_greedily
from solvers.graphs.threshold_rules import Threshold, threshold_rules
from solvers.graphs.wide_lp import MOST_NONZEROS, best_prefix, round_against_neighbours, solve_wide_lp, truncate

LP_SHARE_OF_TIME, LP_MOST_SECONDS, LP_MOST_ITERATIONS = 0.1, 4.0, 20_000


class Candidate(NamedTuple):
    """A cut and where it comes from.

    Attributes
    ----------
    source : str
        ``majority``, ``vote_rounding``, ``paper``, ``threshold_scan``, ``confidence_scan`` or ``wide_lp``.
    threshold : int or None
        Votes or log-odds from which on the advice decided a vertex, or the entries that each row of the linear program lost.
    sides : ndarray of int8, shape (n,)
    """

    source: str
    threshold: int | None
    sides: np.ndarray


def advice_candidates(
    advice: Advice,
    csr: Csr,
    *,
    method: str = "auto",
    threshold: Threshold = "auto",
    remaining: Callable[[], float] = lambda: math.inf,
    max_iterations: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Candidate]:
    """Yield cuts that the advice suggests, cheapest first, none of them improved yet.

    Parameters
    ----------
    advice : Advice
    csr : Csr
        The graph that the advice is about.
    method : str
        With ``"paper"`` only what is published: the linear program on the truncated graph, or the pooled votes in its place where
        it is too large, and the vertices of as many votes as the paper's threshold.
    threshold : {"auto", "paper"} or int
        Votes from which on the advice decides a vertex.
    remaining : callable
        Seconds left, of which the linear program gets a tenth.
    max_iterations : int, optional
        Where it is set, nothing looks at the clock: the linear program ends by iterations.
    stop : callable
        Ends the candidates once it answers true.
    """
    if advice.is_empty:
        return
    if method != "paper":
        yield Candidate("majority", None, _decided_sides(advice))
    if not advice.is_trusted:
        return
    if method != "paper":
        yield from _rounded_votes(advice, csr)
    for source, cut_off, is_decided in threshold_rules(advice, method, threshold):
        if stop():
            return
        partial = np.where(is_decided, _decided_sides(advice), np.int8(UNDECIDED))
        yield Candidate(source, cut_off, complete_greedily(csr, partial, stop=stop))
    if not stop():
        seconds = math.inf if max_iterations is not None else min(LP_MOST_SECONDS, LP_SHARE_OF_TIME * remaining())
        yield from _wide_cut(advice, csr, threshold, seconds, None if max_iterations is None else LP_MOST_ITERATIONS, stop)


def _decided_sides(advice: Advice) -> np.ndarray:
    """Return the side that the votes favour; a tie is "out"."""
    return (advice.log_odds > 0).astype(np.int8)


def _rounded_votes(advice: Advice, csr: Csr) -> Iterator[Candidate]:
    pooled = round_against_neighbours(csr, advice.estimates)
    yield Candidate("vote_rounding", None, pooled)
    expected = round_against_neighbours(csr, np.tanh(advice.log_odds / 2))
    if not np.array_equal(pooled, expected):
        yield Candidate("vote_rounding", None, expected)


def _wide_cut(
    advice: Advice, csr: Csr, threshold: Threshold, seconds: float, iterations: int | None, stop: Callable[[], bool]
) -> Iterator[Candidate]:
    """Yield the cut of the linear program; where that is too large or does not end, of the estimates that it starts from."""
    if csr.weights.min(initial=0) < 0:
        return
    prefix = threshold if isinstance(threshold, int) else best_prefix(csr, 1 - np.square(np.tanh(advice.log_odds / 2)))
    truncated = truncate(csr, prefix)
    if len(truncated.indices) == 0:
        return
    solution = None
    if len(truncated.indices) <= MOST_NONZEROS:
        row_estimates = truncated.row_sums(truncated.weights * advice.estimates[truncated.indices])
        solution = solve_wide_lp(truncated, row_estimates, time_limit=seconds, iteration_limit=iterations, stop=stop)
    if solution is None:
        yield Candidate("vote_rounding", prefix, round_against_neighbours(csr, advice.estimates))
    else:
        yield Candidate("wide_lp", prefix, round_against_neighbours(csr, solution.x))
