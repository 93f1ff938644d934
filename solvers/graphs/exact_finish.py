"""Exact methods on the components of a graph: at once where that costs next to nothing, and as the finish of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.course import SMALL_SHARE, Course
from solvers.graphs.elimination import plan_elimination
from solvers.graphs.progress import Progress
from solvers.graphs.search_claim import SearchClaim

# Vertices that a certificate of kind ``enumeration`` may speak of.
LARGEST_ENUMERATED = 25

# Entries of elimination tables, about 5 ns each, that are always worth it before a search: half a second.
EARLY_TABLE_ENTRIES = 100_000_000

# To find an order of elimination, or that none is narrow.
PLANNING_SECONDS_PER_EDGE = 2e-6

Stop = Callable[[], bool]


class AnyComponent(Protocol):
    """A part of the kernel that shares no edge with the others."""

    @property
    def num_vertices(self) -> int: ...

    @property
    def edges(self) -> np.ndarray: ...

    @property
    def weights(self) -> np.ndarray: ...


class ExactPart(NamedTuple):
    """A solution of a component and a bound, in kernel units; unless the search was cut short, they agree.

    Attributes
    ----------
    value : int
    sides : int8 array of shape (n,)
        Of a cut the sides, of an independent set 1 for its members.
    bound : Bound
    """

    value: int
    sides: np.ndarray
    bound: Bound

    @property
    def is_optimal(self) -> bool:
        return self.value >= self.bound.value


def by_enumeration(value: int, solution: np.ndarray) -> ExactPart:
    """Return what an enumeration proves."""
    return ExactPart(value, solution.astype(np.int8), Bound(value, "enumeration", {"kind": "enumeration"}))


def by_tables(value: int, solution: np.ndarray, order: list[int]) -> ExactPart:
    """Return what elimination tables prove."""
    return ExactPart(value, solution.astype(np.int8), Bound(value, "elimination", {"kind": "elimination", "order": order}))


def by_search(found: SearchClaim, known: Bound) -> ExactPart:
    """Return what a search claims, with the least bound so far to fall back on; its bound is never worse than that."""
    if found.bound >= known.value:
        return ExactPart(found.value, found.solution.astype(np.int8), known)
    # Of a search before, what can be checked is its fallback.
    fallback = known.certificate.get("fallback", known.certificate)
    return ExactPart(found.value, found.solution.astype(np.int8), Bound(found.bound, "search", found.certificate(fallback)))


class ExactFinish:
    """The exact methods of one run.

    Parameters
    ----------
    course : Course
    components : sequence of components
    at_once : callable
        ``at_once(component, stop)`` solves one that is tiny or narrow, or returns None.
    is_promising : callable
        Whether a search of a component has prospects.

    Attributes
    ----------
    narrow : set of int
        Components that elimination tables may be made for, by index.
    """

    def __init__(
        self,
        course: Course,
        components: Sequence[Any],
        at_once: Callable[[Any, Stop], ExactPart | None],
        is_promising: Callable[[Any], bool],
    ) -> None:
        self.narrow: set[int] = set()
        self._course = course
        self._components = components
        self._at_once = at_once
        self._is_promising = is_promising

    def settle(self, trivially: Callable[[Any], ExactPart | None] = lambda component: None) -> dict[int, ExactPart]:
        """Solve the components whose optimum costs next to nothing, by their indices; first by what is no search, whatever the method."""
        settled: dict[int, ExactPart] = {}
        stop = self._course.clock.after(SMALL_SHARE)
        for index, component in enumerate(self._components):
            if stop():
                break
            found = trivially(component)
            if found is None and self._course.is_exact and self._is_small(index, component, stop):
                # Its work is limited already; only the end of the run may interrupt it.
                found = self._at_once(component, self._course.clock.is_over)
            if found is not None:
                settled[index] = found
        return settled

    def has_prospects(self, index: int) -> bool:
        """Return whether a component may be solved in the end."""
        return self._course.is_exact and (index in self.narrow or self._is_promising(self._components[index]))

    def solve(
        self,
        progress: Progress[Any],
        solve_part: Callable[[Any, np.ndarray, Bound, bool, float], ExactPart | None],
        remaining: Callable[[], float],
    ) -> None:
        """Solve what is open, smallest component first, as far as the time goes.

        Parameters
        ----------
        progress : Progress
        solve_part : callable
            ``solve_part(component, hint, known, is_narrow, seconds)`` takes the best solution and the least bound so far.
        remaining : callable
            Seconds left.
        """
        course, is_open = self._course, progress.space.open
        for part in sorted(range(len(is_open)), key=lambda part: self._components[is_open[part]].num_vertices):
            if course.must_stop() or remaining() <= 0:
                break
            index = is_open[part]
            value, hint = progress.best.part(part)
            known = progress.upper_bound.parts[part]
            if value >= known.value or not self.has_prospects(index):
                continue
            found = solve_part(self._components[index], hint, known, index in self.narrow, remaining())
            if found is not None:
                course.clock.decided |= not (course.by_iterations or found.is_optimal)
                progress.offer_part(part, found.sides, "exact")
                progress.offer_bound(part, found.bound)
        course.clock.lap("exact")

    def _is_small(self, index: int, component: AnyComponent, stop: Stop) -> bool:
        if component.num_vertices <= LARGEST_ENUMERATED:
            return True
        seconds = math.inf if self._course.by_iterations else SMALL_SHARE * self._course.clock.total
        # Finding out may take longer than that.
        if PLANNING_SECONDS_PER_EDGE * len(component.edges) > seconds:
            return False
        if plan_elimination(component.num_vertices, component.edges, stop=stop) is None:
            return False
        self.narrow.add(index)
        return True
