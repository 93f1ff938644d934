"""The two parts of a MaxCut search; see :mod:`solvers.graphs.search_parts`.

One iteration is one sweep of simulated annealing; a window move counts as `WINDOW_MOVE_COST` of them, which is about its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from solvers.graphs.annealing import Annealer, descend
from solvers.graphs.csr import Csr
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.kernel import Kernel, SearchSpace
from solvers.graphs.search_parts import Candidate, Offer, OfferAdvised, advised_starts, in_pieces, lengths
from solvers.graphs.tabu import Tabu
from solvers.graphs.turns import Allowance
from solvers.graphs.window_moves import WindowMover

FIRST_SWEEPS, MOST_SWEEPS = 500, 20_000

# First temperatures, in units of the field that a vertex feels among random sides: dense graphs freeze at higher ones. The second
# goes on from a good cut, and is too cold to forget it. The last temperature is one of single edges, in units of the mean weight.
HOT, HOT_FROM_GOOD_CUT, COLD = 0.4, 0.23, 0.2

# Where every vertex has few neighbours, annealing gets caught in defects that only joint moves of many vertices undo.
WINDOW_DEGREE = 8
WINDOW_MOVE_COST = 20
WINDOW_PATIENCE = 400

# About what one sweep takes. Tabu search leaves the neighbourhood of a good cut in other directions than annealing does.
TABU_MOVES_PER_ITERATION = 10
TABU_ITERATIONS_PER_PIECE = 100


def advice_free_search(
    space: SearchSpace[Kernel],
    offer: Offer,
    incumbent: Incumbent,
    starts: Callable[[int], np.ndarray | None],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Anneal from random cuts and from those of `starts` in turn, longer each time.

    In between the best so far is improved, by gentle annealing and by tabu search in turn. On sparse graphs window moves follow.

    Parameters
    ----------
    space : SearchSpace
    offer : callable
        Takes every cut found, with the name of its stage.
    incumbent : Incumbent
        What this part has found so far.
    starts : callable
        ``starts(k)`` is the k-th cut to start from, or None where there is none (yet).
    allowance : Allowance
    rng : numpy.random.Generator

    Yields
    ------
    None
        After each piece of work.
    """
    windows = _window_mover(space, rng)
    for attempt, length in enumerate(lengths(FIRST_SWEEPS, MOST_SWEEPS)):
        budget = allowance.fits(length)
        match attempt % 4:
            case 0:
                run = _annealer(space.csr, rng.integers(0, 2, space.num_vertices, dtype=np.int8), budget, HOT, rng)
            case 2:
                given = starts(attempt // 4)
                start = rng.integers(0, 2, space.num_vertices, dtype=np.int8) if given is None else given
                run = _annealer(space.csr, start, budget, HOT, rng)
            case 1:
                run = _annealer(space.csr, incumbent.sides, budget, HOT_FROM_GOOD_CUT, rng)
            case _:
                yield from _tabu(space.csr, incumbent.sides, offer, allowance, budget, rng)
                continue
        yield from _anneal(run, offer, allowance, "local_search")
        if windows is not None:
            yield from _move_windows(windows, run.best_sides, offer, allowance, length)


def advice_search(
    space: SearchSpace[Kernel],
    offer: OfferAdvised,
    incumbent: Incumbent,
    candidates: Iterable[Candidate],
    allowance: Allowance,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Try every candidate that the advice suggests, then anneal gently from the best of them and from the best so far.

    Parameters
    ----------
    candidates : iterable of Candidate
        Cuts of the search space.

    Other parameters and yields as in :func:`advice_free_search`.
    """
    found = yield from advised_starts(
        candidates, offer, lambda sides: descend(space.csr, sides)[0], lambda sides: int(space.part_values(sides).sum())
    )
    starts = found or [np.zeros(space.num_vertices, np.int8)]
    windows = _window_mover(space, rng)
    for attempt, length in enumerate(lengths(FIRST_SWEEPS, MOST_SWEEPS)):
        start = incumbent.sides if attempt % 2 else starts[attempt // 2 % len(starts)]
        run = _annealer(space.csr, start, allowance.fits(length), HOT_FROM_GOOD_CUT, rng)
        yield from _anneal(run, offer, allowance, "advice_local_search")
        if windows is not None:
            yield from _move_windows(windows, incumbent.sides, offer, allowance, length, "advice_local_search")


def _annealer(csr: Csr, start: np.ndarray, sweeps: int, hot: float, rng: np.random.Generator) -> Annealer:
    hot_in_weights = max(COLD, hot * _typical_field(csr))
    return Annealer(csr, start, sweeps=sweeps, hot=hot_in_weights, cold=COLD, seed=int(rng.integers(2**62)))


def _typical_field(csr: Csr) -> float:
    """Return the root mean square of a vertex's field among random sides, in units of the mean weight: sqrt(degree) for unit weights."""
    weights = np.abs(csr.weights.astype(np.float64))
    if not weights.any():
        return 1.0
    return float(np.sqrt(np.square(weights).sum() / csr.num_vertices) / weights.mean())


def _anneal(run: Annealer, offer: Offer, allowance: Allowance, source: str) -> Iterator[None]:
    return in_pieces(run, allowance, run.sweeps, run.sweeps, lambda: offer(run.best_sides, source))


class _TabuIterations:
    """A tabu search that counts iterations, of some moves each."""

    def __init__(self, run: Tabu) -> None:
        self._run = run

    @property
    def best_value(self) -> int:
        return self._run.best_value

    def advance(self, iterations: int) -> int:
        self._run.advance(iterations * TABU_MOVES_PER_ITERATION)
        return iterations


def _tabu(
    csr: Csr, sides: np.ndarray, offer: Offer, allowance: Allowance, iterations: int, rng: np.random.Generator
) -> Iterator[None]:
    run = Tabu(csr, sides, seed=int(rng.integers(2**62)))
    return in_pieces(
        _TabuIterations(run),
        allowance,
        iterations,
        TABU_ITERATIONS_PER_PIECE,
        lambda: offer(run.best_sides, "local_search"),
    )


def _window_mover(space: SearchSpace[Kernel], rng: np.random.Generator) -> WindowMover | None:
    if not space.num_vertices or 2 * len(space.weights) > WINDOW_DEGREE * space.num_vertices:
        return None
    return WindowMover(space.csr, seed=int(rng.integers(2**62)))


def _move_windows(
    windows: WindowMover, sides: np.ndarray, offer: Offer, allowance: Allowance, length: int, source: str = "window_moves"
) -> Iterator[None]:
    iterations = allowance.fits(length)
    stale = spent = 0
    while stale < WINDOW_PATIENCE and spent < iterations:
        sides, gain = windows.move(sides)
        allowance.charge(WINDOW_MOVE_COST)
        if gain:
            offer(sides, source)
        stale = 0 if gain else stale + 1
        spent += WINDOW_MOVE_COST
        yield
