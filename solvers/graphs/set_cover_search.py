"""The two parts of a set cover search: one that never sees advice, and one that starts from it.

Each part is a generator that does a piece of work of some hundredths of a second, charges its allowance with the iterations it
took, steps of the row-weighting local search, offers what it found and yields. They share neither random numbers nor incumbents,
so that the advice-free part finds with advice beside it exactly what it finds without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from solvers.graphs.cover_progress import CoverIncumbent
from solvers.graphs.incidence import Incidence
from solvers.graphs.learned_set_cover import SetCandidate
from solvers.graphs.row_weighting import RowWeighting
from solvers.graphs.turns import Allowance

FIRST_STEPS = 50_000
STEP_GROWTH = 4
MOST_STEPS = 5_000_000
STEPS_PER_PIECE = 2_000

Offer = Callable[[np.ndarray, str], None]
OfferAdvised = Callable[[np.ndarray, str, "int | None"], None]


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
    for attempt, length in enumerate(_lengths()):
        begin = start if attempt % 2 == 0 or incumbent.members is None else incumbent.members
        yield from _run(kernel, begin, lambda members: offer(members, "local_search"), allowance, length, rng)


def advice_search(
    kernel: Incidence,
    offer: OfferAdvised,
    incumbent: CoverIncumbent,
    candidates: Iterable[SetCandidate],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Take every candidate that the advice suggests, then search from the best of them and from the best so far in turn.

    Parameters
    ----------
    candidates : iterable of SetCandidate
        Covers of the kernel.

    Other parameters and yields as in :func:`advice_free_search`.
    """
    best: np.ndarray | None = None
    for source, threshold, members in candidates:
        offer(members, source, threshold)
        if best is None or kernel.cost_of(members) < kernel.cost_of(best):
            best = members
        yield
    if best is None:
        # The candidates were cut short.
        best = np.ones(kernel.num_sets, bool)
    for attempt, length in enumerate(_lengths()):
        begin = best if attempt % 2 == 0 or incumbent.members is None else incumbent.members
        yield from _run(kernel, begin, lambda members: offer(members, "advice_local_search", None), allowance, length, rng)


def _lengths() -> Iterator[int]:
    length = FIRST_STEPS
    while True:
        yield length
        yield length
        length = min(length * STEP_GROWTH, MOST_STEPS)


def _run(
    kernel: Incidence,
    start: np.ndarray,
    offer: Callable[[np.ndarray], None],
    allowance: Allowance,
    length: int,
    rng: np.random.Generator,
) -> Iterator[None]:
    steps = allowance.fits(length)
    run = RowWeighting(kernel, start, seed=int(rng.integers(2**62)))
    shown = kernel.cost_of(start)
    while run.steps_done < steps:
        allowance.charge(run.advance(min(STEPS_PER_PIECE, steps - run.steps_done)))
        if run.best_cost < shown:
            shown = run.best_cost
            offer(run.best_members)
        yield
