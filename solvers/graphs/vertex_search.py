"""The two parts of a search for covers and independent sets; see :mod:`solvers.graphs.search_parts`.

Solutions are independent sets, as int8 arrays with 1 for their members. One iteration is one of iterated swaps, or one step of NuMVC.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import numpy as np

from solvers.graphs.cover_kernel import CoverSpace
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.iterated_swaps import IteratedSwaps
from solvers.graphs.min_degree_greedy import extended_greedily
from solvers.graphs.numvc import NuMVC
from solvers.graphs.search_parts import Candidate, Offer, OfferAdvised, advised_starts, in_pieces, lengths
from solvers.graphs.turns import Allowance

FIRST_ITERATIONS, MOST_ITERATIONS = 50_000, 10_000_000

ITERATIONS_PER_PIECE = 20_000

# NuMVC, which learns on where the swaps start anew, gets as many times their effort; the swaps get it where they have found more.
LEAD = 4


def advice_free_search(
    space: CoverSpace, offer: Offer, incumbent: Incumbent, start: np.ndarray, allowance: Allowance, rng: np.random.Generator
) -> Iterator[None]:
    """Swap from a start and from the best so far in turn, longer each time; without weights let NuMVC go on in between.

    An iteration of swaps may take as long as seven steps of NuMVC or less than one, so that their turns are measured by effort.

    Parameters
    ----------
    space : CoverSpace
    offer : callable
        Takes every better set, with the name of its stage.
    incumbent : Incumbent
        What this part has found so far.
    start : int8 array of shape (n,)
        A set found without advice.
    allowance : Allowance
    rng : numpy.random.Generator

    Yields
    ------
    None
        After each piece of work.
    """
    is_unit = bool((space.weights == space.weights[:1]).all())
    learning: NuMVC | None = None
    effort = 0.0
    for attempt, length in enumerate(lengths(FIRST_ITERATIONS, MOST_ITERATIONS)):
        if is_unit and attempt % 2:
            # What it has learnt of the edges is worth keeping until the swaps are ahead.
            is_behind = learning is not None and incumbent.sides.sum() > space.num_vertices - learning.best_value
            if learning is None or is_behind:
                learning = NuMVC(space.csr, incumbent.sides == 0, seed=int(rng.integers(2**62)))
            yield from _learn_weights(learning, offer, allowance, effort / LEAD if is_behind else effort * LEAD)
        else:
            begin = incumbent.sides if attempt % 4 in (1, 2) else start
            effort = yield from _swap(space, begin, offer, "local_search", allowance, length, rng)


def advice_search(
    space: CoverSpace,
    offer: OfferAdvised,
    incumbent: Incumbent,
    candidates: Iterable[Candidate],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Take every candidate that the advice suggests, then swap from the best of them and from the best so far in turn.

    Parameters
    ----------
    candidates : iterable of Candidate
        Independent sets of the search space.

    Other parameters and yields as in :func:`advice_free_search`.
    """

    def improve(members: np.ndarray) -> np.ndarray:
        return extended_greedily(space.csr, space.weights, members == 1).astype(np.int8)

    found = yield from advised_starts(candidates, offer, improve, lambda members: int(space.part_values(members).sum()))
    starts = found or [np.zeros(space.num_vertices, np.int8)]
    for attempt, length in enumerate(lengths(FIRST_ITERATIONS, MOST_ITERATIONS)):
        begin = incumbent.sides if attempt % 2 else starts[attempt // 2 % len(starts)]
        yield from _swap(space, begin, offer, "advice_local_search", allowance, length, rng)


def _swap(
    space: CoverSpace,
    start: np.ndarray,
    offer: Offer,
    source: str,
    allowance: Allowance,
    length: int,
    rng: np.random.Generator,
) -> Generator[None, None, float]:
    """Swap for a turn; return what effort that took."""
    run = IteratedSwaps(space.csr, start == 1, weights=space.weights, seed=int(rng.integers(2**62)))
    yield from in_pieces(
        run,
        allowance,
        allowance.fits(length),
        ITERATIONS_PER_PIECE,
        lambda: offer(run.best_members.astype(np.int8), source),
    )
    return run.effort


def _learn_weights(run: NuMVC, offer: Offer, allowance: Allowance, effort: float) -> Iterator[None]:
    end = run.effort + effort
    while run.effort < end:
        yield from in_pieces(
            run,
            allowance,
            allowance.fits(ITERATIONS_PER_PIECE),
            ITERATIONS_PER_PIECE,
            lambda: offer((~run.best_members).astype(np.int8), "local_search"),
        )
