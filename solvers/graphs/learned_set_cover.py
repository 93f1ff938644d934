"""Covers that the advice suggests, each worth a try and none to be trusted.

Learned set cover of Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025): a set of at least
Delta elements is chosen if most of its bits say so; what those leave uncovered is covered greedily by smaller sets, what these cannot
cover by any. Dominated sets should be dropped first. Every candidate is a cover, whatever the bits. Symbols: Delta -> `threshold`,
eps -> `epsilon`, lambda -> `log_odds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, tally
from solvers.graphs.greedy_cover_sets import FULL_WEIGHT, greedy_cover, without_redundant
from solvers.graphs.incidence import Incidence
from solvers.graphs.incidence_predictions import IncidencePredictions
from solvers.graphs.predictions import VertexPredictions
from solvers.graphs.set_system import SetSystem
from solvers.graphs.threshold_rules import Threshold, threshold_rules

LEAST_CHANCE = 0.05
"""A set that the advice is sure to be out of the cover still costs at most 20 times as much."""

Stop = Callable[[], bool]


class LearnedCover(NamedTuple):
    """A cover by advice and greed.

    Attributes
    ----------
    learned : bool array of shape (n,)
        Sets that the advice chose.
    greedy_small, greedy_fallback : int32 array
        Sets that were chosen greedily, in that order: first those that the advice does not decide, then any.
    """

    learned: np.ndarray
    greedy_small: np.ndarray
    greedy_fallback: np.ndarray

    @property
    def members(self) -> np.ndarray:
        """All of them, redundant ones included: bool array of shape (n,)."""
        members = self.learned.copy()
        members[self.greedy_small] = True
        members[self.greedy_fallback] = True
        return members


class SetCandidate(NamedTuple):
    """A cover and where it comes from.

    Attributes
    ----------
    source : str
        ``majority``, ``paper``, ``threshold_scan``, ``confidence_scan`` or ``ordered_greedy``.
    threshold : int or None
        Votes or log-odds from which on the advice decided a set.
    members : bool array of shape (n,)
    """

    source: str
    threshold: int | None
    members: np.ndarray


def tally_sets(predictions: list[IncidencePredictions | VertexPredictions], system: SetSystem) -> Advice:
    """Add up predictions about one cover.

    Parameters
    ----------
    predictions : list of IncidencePredictions and VertexPredictions
        Labels and probabilities are those of the sets.
    system : SetSystem

    Examples
    --------
    >>> system = SetSystem([[0, 1, 2], [2]])
    >>> tally_sets([IncidencePredictions([[1, 1, 0], [None]], epsilon=0.25)], system).votes_in.tolist()
    [2, 0]
    """
    about_sets = [one.votes_about(system) if isinstance(one, IncidencePredictions) else one for one in predictions]
    return tally(about_sets, system.num_sets, np.zeros((0, 2), np.int32), symmetric=False)


def learned_cover(
    incidence: Incidence, says_in: np.ndarray, is_decided: np.ndarray, *, stop: Stop = lambda: False
) -> LearnedCover:
    """Follow the advice where it decides, and cover the rest greedily.

    Parameters
    ----------
    incidence : Incidence
    says_in : bool array of shape (n,)
        Sets that the advice favours; where it is undecided, it does not.
    is_decided : bool array of shape (n,)
        Sets that are left to the advice.
    stop : callable
        Asked now and then; once true, elements may be left uncovered.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> three = build_incidence(3, [0, 2, 3, 5], [0, 1, 2, 1, 2], [1, 1, 1])
    >>> found = learned_cover(three, np.array([True, False, False]), np.array([True, False, True]))
    >>> found.greedy_small.tolist(), found.members.tolist()
    ([1], [True, True, False])
    """
    learned = is_decided & says_in
    small = greedy_cover(incidence, allowed=~is_decided, chosen=learned, stop=stop)
    members = learned.copy()
    members[small] = True
    return LearnedCover(learned, small, greedy_cover(incidence, chosen=members, stop=stop))


def set_cover_candidates(
    advice: Advice,
    incidence: Incidence,
    *,
    method: str = "auto",
    threshold: Threshold = "auto",
    stop: Stop = lambda: False,
) -> Iterator[SetCandidate]:
    """Yield covers that the advice suggests, without redundant sets.

    Parameters
    ----------
    advice : Advice
    incidence : Incidence
        Without dominated sets.
    method : str
        With ``"paper"`` only the paper's rule at the paper's threshold, and nothing where no set has that many votes.
    threshold : {"auto", "paper"} or int
        Votes from which on the advice decides a set.
    stop : callable
        Ends the candidates once it answers true.
    """
    if advice.is_empty:
        return
    says_in = advice.log_odds > 0
    if method != "paper":
        every = np.ones(incidence.num_sets, bool)
        yield from _finished(incidence, "majority", None, learned_cover(incidence, says_in, every, stop=stop).members, stop)
    if not advice.is_trusted:
        return
    for rule in threshold_rules(advice, method, threshold):
        if stop():
            return
        found = learned_cover(incidence, says_in, rule.is_decided, stop=stop)
        yield from _finished(incidence, rule.source, rule.cut_off, found.members, stop)
    if method != "paper" and not stop():
        order = greedy_cover(incidence, weights=chance_weights(advice.log_odds), stop=stop)
        members = np.zeros(incidence.num_sets, bool)
        members[order] = True
        yield from _finished(incidence, "ordered_greedy", None, members, stop)


def chance_weights(log_odds: np.ndarray) -> np.ndarray:
    """Return the chance that each set is in the cover, at least `LEAST_CHANCE`, in units of 1 / `FULL_WEIGHT`.

    Examples
    --------
    >>> chance_weights(np.array([-20.0, 0.0, 20.0])).tolist()
    [51, 512, 1024]
    """
    chances = 0.5 * (1 + np.tanh(np.asarray(log_odds) / 2))
    return np.rint(FULL_WEIGHT * np.clip(chances, LEAST_CHANCE, 1)).astype(np.int64)


def _finished(
    incidence: Incidence, source: str, threshold: int | None, members: np.ndarray, stop: Stop
) -> Iterator[SetCandidate]:
    """Yield the cover, unless it is none because it was cut short."""
    if stop() and not incidence.is_covered_by(members):
        return
    yield SetCandidate(source, threshold, without_redundant(incidence, members))
