"""What the searches of all problems share: a part that never sees advice, one that starts from it, and how either goes on.

A part is a generator that does a piece of work of some hundredths of a second, charges its allowance with the iterations it took,
offers what it found and yields. The parts share neither random numbers nor incumbents, so that the advice-free part finds with
advice beside it exactly what it finds without.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Protocol

import numpy as np

from solvers.graphs.turns import Allowance

ADVICE_STARTS = 4

LENGTH_GROWTH = 4

Offer = Callable[[np.ndarray, str], None]

Candidate = tuple[str, "int | None", np.ndarray]
"""Stage, threshold from which on the advice was followed, and solution."""


class OfferAdvised(Protocol):
    """Takes a solution, its stage, and the threshold from which on that followed the advice."""

    def __call__(self, solution: np.ndarray, source: str, threshold: int | None = None) -> None: ...


class LocalSearch(Protocol):
    """A search that is advanced piece by piece."""

    @property
    def best_value(self) -> int:
        """Of the best solution so far."""

    def advance(self, iterations: int) -> int:
        """Run up to so many iterations; return how many."""


def lengths(first: int, most: int) -> Iterator[int]:
    """Yield how long the runs of a search are, two of each length.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(lengths(10, 100), 6))
    [10, 10, 40, 40, 100, 100]
    """
    length = first
    while True:
        yield length
        yield length
        length = min(length * LENGTH_GROWTH, most)


def in_pieces(run: LocalSearch, allowance: Allowance, iterations: int, piece: int, show: Callable[[], None]) -> Iterator[None]:
    """Advance a search, and show its best after the first piece and whenever that has changed."""
    shown: int | None = None
    spent = 0
    while spent < iterations:
        done = run.advance(min(piece, iterations - spent))
        allowance.charge(done)
        spent += done
        if run.best_value != shown:
            shown = run.best_value
            show()
        yield


def advised_starts(
    candidates: Iterable[Candidate],
    offer: OfferAdvised,
    improve: Callable[[np.ndarray], np.ndarray],
    worth: Callable[[np.ndarray], int],
) -> Generator[None, None, list[np.ndarray]]:
    """Offer every candidate once improved, and return the best, no two worth the same, as starts for a search.

    Parameters
    ----------
    candidates : iterable of Candidate
        Cheapest first; none is trusted.
    offer : callable
    improve : callable
        Returns a solution at least as good.
    worth : callable
        Of a solution, more for better ones.

    Yields
    ------
    None
        After each candidate.

    Returns
    -------
    list of arrays
        Best first.
    """
    found: list[tuple[int, np.ndarray]] = []
    for source, threshold, candidate in candidates:
        solution = improve(candidate)
        offer(solution, source, threshold)
        value = worth(solution)
        if all(value != known for known, _ in found):
            found = sorted([*found, (value, solution)], key=lambda pair: -pair[0])[:ADVICE_STARTS]
        yield
    return [start for _, start in found]
