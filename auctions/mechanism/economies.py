"""Which economies a group of value queries looks at: the main one, and some without a bidder.

A bidder's bundle in an economy "without j" tells how the others fare if j were not there, on which payments depend. In the reference, q
bidders are left out at random, each for everybody, so that one that is left out has no question of its own. Balanced economies instead
give everybody the main economy and q others: of the q + 1 bidders that were left out least often, everybody skips itself, or else the one
it has met most often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

Economy = int | None
"""The bidder that is left out; None in the main economy."""


def random_economies(n_bidders: int, n_marginal: int, rng: np.random.Generator) -> list[list[Economy]]:
    """Return per bidder the economies of a group as the reference draws them.

    Examples
    --------
    >>> economies = random_economies(4, 2, np.random.default_rng(0))
    >>> [len(own) for own in economies], economies[0] == economies[3]
    ([3, 3, 3, 3], True)
    """
    n_marginal = min(n_marginal, n_bidders - 1)
    excluded = rng.choice(n_bidders, size=n_marginal, replace=False).tolist()
    return [[None, *excluded] for _ in range(n_bidders)]


def balanced_economies(
    n_bidders: int, n_marginal: int, history: Sequence[Sequence[Sequence[Economy]]], rng: np.random.Generator
) -> list[list[Economy]]:
    """Return per bidder the economies of a group in which everybody has a question in each.

    Parameters
    ----------
    n_bidders, n_marginal : int
        With too few bidders, as many marginal economies as there are others.
    history : sequence
        What was returned for the groups before.
    rng : numpy.random.Generator
        Breaks ties.

    Examples
    --------
    >>> economies = balanced_economies(5, 3, [], np.random.default_rng(0))
    >>> [len(own) for own in economies], any(bidder in own for bidder, own in enumerate(economies))
    ([4, 4, 4, 4, 4], False)
    """
    n_marginal = min(n_marginal, n_bidders - 1)
    if n_marginal <= 0:
        return [[None] for _ in range(n_bidders)]
    left_out: Counter[Economy] = Counter(economy for group in history for economy in set().union(*group))
    candidates = _fewest_first(list(range(n_bidders)), left_out, rng)[: n_marginal + 1]
    economies = []
    for bidder in range(n_bidders):
        own: list[Economy] = [economy for economy in candidates if economy != bidder]
        if len(own) > n_marginal:
            met: Counter[Economy] = Counter(economy for group in history for economy in group[bidder])
            own.remove(_fewest_first(candidates, met, rng)[-1])
        economies.append([None, *own])
    return economies


def _fewest_first(bidders: list[int], counts: Counter[Economy], rng: np.random.Generator) -> list[int]:
    shuffled = [bidders[index] for index in rng.permutation(len(bidders))]
    return sorted(shuffled, key=lambda bidder: counts[bidder])
