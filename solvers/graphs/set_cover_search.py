"""The two parts of a set cover search; see :mod:`solvers.graphs.search_parts`.

One iteration is one step of the row-weighting local search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from solvers.graphs.cover_progress import CoverIncumbent
from solvers.graphs.incidence import Incidence
from solvers.graphs.row_weighting import RowWeighting
from solvers.graphs.search_parts import Candidate, Offer, OfferAdvised, advised_starts, in_pieces, lengths
from solvers.graphs.turns import Allowance

FIRST_STEPS, MOST_STEPS = 50_000, 5_000_000
STEPS_PER_PIECE = 2_000


def advice_free_search(
    kernel: Incidence,
    offer: Offer,
    incumbent: CoverIncumbent,
    start: np.ndarray,
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Search from the start and from the best so far in turn, longer each time.

    Parameters
    ----------
    kernel : Incidence
    offer : callable
        Takes every better cover, with the name of its stage.
    incumbent : CoverIncumbent
        What this part has found so far.
    start : bool array of shape (n,)
        A cover found without advice.
    allowance : Allowance
    rng : numpy.random.Generator

    Yields
    ------
    None
        After each piece of work.
    """
    return _search(kernel, lambda members: offer(members, "local_search"), incumbent, start, allowance, rng)


def advice_search(
    kernel: Incidence,
    offer: OfferAdvised,
    incumbent: CoverIncumbent,
    candidates: Iterable[Candidate],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Take every candidate that the advice suggests, then search from the best of them and from the best so far in turn.

    Parameters
    ----------
    candidates : iterable of Candidate
        Covers of the kernel.

    Other parameters and yields as in :func:`advice_free_search`.
    """
    found = yield from advised_starts(candidates, offer, lambda members: members, lambda members: -kernel.cost_of(members))
    # The candidates may have been cut short.
    best = found[0] if found else np.ones(kernel.num_sets, bool)
    yield from _search(kernel, lambda members: offer(members, "advice_local_search"), incumbent, best, allowance, rng)


def _search(
    kernel: Incidence,
    offer: Callable[[np.ndarray], None],
    incumbent: CoverIncumbent,
    start: np.ndarray,
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    for attempt, length in enumerate(lengths(FIRST_STEPS, MOST_STEPS)):
        begin = start if attempt % 2 == 0 or incumbent.members is None else incumbent.members
        yield from _weigh_rows(kernel, begin, offer, allowance, length, rng)


def _weigh_rows(
    kernel: Incidence,
    start: np.ndarray,
    offer: Callable[[np.ndarray], None],
    allowance: Allowance,
    length: int,
    rng: np.random.Generator,
) -> Iterator[None]:
    run = RowWeighting(kernel, start, seed=int(rng.integers(2**62)))
    return in_pieces(run, allowance, allowance.fits(length), STEPS_PER_PIECE, lambda: offer(run.best_members))
