"""Largest cuts of single components: at once where that costs next to nothing, and as the finish of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.components import balanced_sides
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.cp_sat import cp_sat_max_cut
from solvers.graphs.elimination import elimination_optimum, plan_elimination
from solvers.graphs.enumeration import MAX_VERTICES, enumerate_max_cut
from solvers.graphs.kernel import Component

# Entries of elimination tables, about 5 ns each, that are always worth it before a search: half a second.
EARLY_TABLE_ENTRIES = 100_000_000

# To find an order of elimination, or that none is narrow.
PLANNING_SECONDS_PER_EDGE = 2e-6

# Beyond this CP-SAT has proven nothing about a cut within minutes.
LARGEST_FOR_CP_SAT = 200

# In CP-SAT's deterministic unit, a few seconds each.
CP_SAT_WORK = 1.0

Stop = Callable[[], bool]


class ExactCut(NamedTuple):
    """A cut and a bound, in kernel units; unless the search was cut short, they agree.

    Attributes
    ----------
    value : int
    sides : int8 array of shape (n,)
    bound : Bound
    """

    value: int
    sides: np.ndarray
    bound: Bound

    @property
    def is_optimal(self) -> bool:
        return self.value >= self.bound.value


def cut_without_conflict(component: Component) -> ExactCut | None:
    """Return the cut of all positive and no negative edges, if there is one; O(m)."""
    sides = balanced_sides(component.num_vertices, component.edges, component.weights)
    if sides is None:
        return None
    bound = trivial_bound(component.weights)
    return ExactCut(int(bound.value), sides, bound)


def is_narrow(component: Component | VertexComponent, seconds: float, stop: Stop) -> bool:
    """Return whether elimination tables are small enough to be made; False as well if finding out may take longer than `seconds`."""
    if PLANNING_SECONDS_PER_EDGE * len(component.edges) > seconds:
        return False
    return plan_elimination(component.num_vertices, component.edges, stop=stop) is not None


def cut_at_once(component: Component, stop: Stop) -> ExactCut | None:
    """Return the largest cut by enumeration if the component is tiny, else by tables if those take less than about half a second."""
    if component.num_vertices > MAX_VERTICES:
        return _cut_by_tables(component, EARLY_TABLE_ENTRIES, stop)
    found = enumerate_max_cut(component.num_vertices, component.edges, component.weights, stop=stop)
    if found is None:
        return None
    return ExactCut(found.value, found.sides, Bound(found.value, "enumeration", {"kind": "enumeration"}))


def finished_cut(
    component: Component,
    hint: np.ndarray,
    known: Bound,
    *,
    narrow: bool,
    seed: int,
    seconds: float,
    by_work: bool,
    stop: Stop,
) -> ExactCut | None:
    """Return the largest cut by elimination tables, or the best that CP-SAT finds and proves in the time.

    Parameters
    ----------
    component : Component
    hint : int8 array of shape (n,)
        A good cut.
    known : Bound
        The least bound so far, which the certificate of a search falls back on.
    narrow : bool
        What :func:`is_narrow` says.
    seed : int
    seconds : float
    by_work : bool
        Whether CP-SAT ends by an amount of work, the same in every run.
    stop : callable
    """
    if narrow:
        by_tables = _cut_by_tables(component, None, stop)
        if by_tables is not None:
            return by_tables
    if component.num_vertices > LARGEST_FOR_CP_SAT:
        return None
    found = cp_sat_max_cut(
        component.num_vertices,
        component.edges,
        component.weights,
        hint,
        seed=seed,
        time_limit=seconds,
        deterministic_time_limit=CP_SAT_WORK if by_work else None,
        stop=stop,
    )
    if found is None:
        return None
    return ExactCut(found.value, found.sides, Bound(found.bound, "search", found.certificate(known.certificate)))


def _cut_by_tables(component: Component, max_entries: int | None, stop: Stop) -> ExactCut | None:
    tables = elimination_optimum(
        component.num_vertices, component.edges, component.weights, max_table_entries=max_entries, stop=stop
    )
    if tables is None:
        return None
    return ExactCut(
        tables.value, tables.sides, Bound(tables.value, "elimination", {"kind": "elimination", "order": tables.order})
    )
