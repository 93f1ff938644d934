"""The two parts of a search for covers and independent sets: one that never sees advice, and one that starts from it.

Each part is a generator that does a piece of work of some hundredths of a second, charges its allowance with the iterations it
took, offers what it found to its incumbent and yields. They share neither random numbers nor incumbents, so that the advice-free
part finds with advice beside it exactly what it finds without. Solutions are independent sets, as int8 arrays with 1 for their
members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from solvers.graphs.cover_kernel import CoverSpace
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.iterated_swaps import IteratedSwaps
from solvers.graphs.min_degree_greedy import extended_greedily
from solvers.graphs.numvc import NuMVC
from solvers.graphs.search_parts import Offer, OfferAdvised
from solvers.graphs.turns import Allowance

# Runs from the same start, longer each time.
FIRST_ITERATIONS = 50_000
GROWTH = 4
MOST_ITERATIONS = 10_000_000

ITERATIONS_PER_PIECE = 20_000

ADVICE_STARTS = 4


def advice_free_search(
    space: CoverSpace, offer: Offer, incumbent: Incumbent, start: np.ndarray, allowance: Allowance, rng: np.random.Generator
) -> Iterator[None]:
    """Search from a start and from the best so far in turn, longer each time: by swaps, and without weights by NuMVC as well.

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
    for attempt, length in enumerate(_lengths()):
        begin = incumbent.sides if attempt % 4 in (1, 2) else start
        search = _learn_weights if is_unit and attempt % 2 else _swap
        yield from search(space, begin, offer, "local_search", allowance, length, rng)


def advice_search(
    space: CoverSpace,
    offer: OfferAdvised,
    incumbent: Incumbent,
    candidates: Iterable[tuple[str, int | None, np.ndarray]],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Take every candidate that the advice suggests, then swap from the best of them and from the best so far in turn.

    Parameters
    ----------
    candidates : iterable of (name, threshold, set)
        Independent sets of the search space, cheapest first; none is trusted.

    Other parameters and yields as in :func:`advice_free_search`.
    """
    found: list[tuple[int, np.ndarray]] = []
    for name, threshold, members in candidates:
        extended = extended_greedily(space.csr, space.weights, members == 1).astype(np.int8)
        offer(extended, name, threshold)
        value = int(space.part_values(extended).sum())
        if all(value != known for known, _ in found):
            found = sorted([*found, (value, extended)], key=lambda pair: -pair[0])[:ADVICE_STARTS]
        yield
    starts = [members for _, members in found] or [np.zeros(space.num_vertices, np.int8)]
    for attempt, length in enumerate(_lengths()):
        begin = incumbent.sides if attempt % 2 else starts[attempt // 2 % len(starts)]
        yield from _swap(space, begin, offer, "advice_local_search", allowance, length, rng)


def _lengths() -> Iterator[int]:
    length = FIRST_ITERATIONS
    while True:
        yield length
        yield length
        length = min(length * GROWTH, MOST_ITERATIONS)


def _swap(
    space: CoverSpace,
    start: np.ndarray,
    offer: Callable[[np.ndarray, str], None],
    source: str,
    allowance: Allowance,
    length: int,
    rng: np.random.Generator,
) -> Iterator[None]:
    iterations = allowance.fits(length)
    run = IteratedSwaps(space.csr, start == 1, weights=space.weights, seed=int(rng.integers(2**62)))
    shown, spent = -1, 0
    while spent < iterations:
        done = run.advance(min(ITERATIONS_PER_PIECE, iterations - spent))
        allowance.charge(done)
        if run.best_value > shown:
            shown = run.best_value
            offer(run.best_members.astype(np.int8), source)
        spent += done
        yield


def _learn_weights(
    space: CoverSpace,
    start: np.ndarray,
    offer: Callable[[np.ndarray, str], None],
    source: str,
    allowance: Allowance,
    length: int,
    rng: np.random.Generator,
) -> Iterator[None]:
    steps = allowance.fits(length)
    run = NuMVC(space.csr, start == 0, seed=int(rng.integers(2**62)))
    shown, spent = space.num_vertices + 1, 0
    while spent < steps:
        # A cover of nothing leaves no step to take.
        done = max(1, run.advance(min(ITERATIONS_PER_PIECE, steps - spent)))
        allowance.charge(done)
        if run.best_value < shown:
            shown = run.best_value
            offer((~run.best_members).astype(np.int8), source)
        spent += done
        yield
