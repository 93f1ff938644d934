"""Largest cuts of single components, by the method that fits each."""

from __future__ import annotations

import numpy as np

from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.components import balanced_sides
from solvers.graphs.cp_sat import Limits
from solvers.graphs.cp_sat_cut import cp_sat_max_cut
from solvers.graphs.elimination import elimination_optimum
from solvers.graphs.enumeration import enumerate_max_cut
from solvers.graphs.exact_finish import (
    EARLY_TABLE_ENTRIES,
    LARGEST_ENUMERATED,
    ExactPart,
    Stop,
    by_enumeration,
    by_search,
    by_tables,
)
from solvers.graphs.kernel import Component

# Beyond this CP-SAT has proven nothing about a cut within minutes.
LARGEST_FOR_CP_SAT = 200

# In CP-SAT's deterministic unit, a few seconds each.
CP_SAT_WORK = 1.0


def cut_without_conflict(component: Component) -> ExactPart | None:
    """Return the cut of all positive and no negative edges, if there is one; O(m)."""
    sides = balanced_sides(component.num_vertices, component.edges, component.weights)
    if sides is None:
        return None
    bound = trivial_bound(component.weights)
    return ExactPart(int(bound.value), sides, bound)


def cut_at_once(component: Component, stop: Stop) -> ExactPart | None:
    """Return the largest cut by enumeration if the component is tiny, else by tables if those take less than about half a second."""
    if component.num_vertices > LARGEST_ENUMERATED:
        return _cut_by_tables(component, EARLY_TABLE_ENTRIES, stop)
    found = enumerate_max_cut(component.num_vertices, component.edges, component.weights, stop=stop)
    return None if found is None else by_enumeration(found.value, found.sides)


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
) -> ExactPart | None:
    """Return the largest cut by elimination tables, or the best that CP-SAT finds and proves in the time.

    Parameters
    ----------
    component : Component
    hint : int8 array of shape (n,)
        A good cut.
    known : Bound
        The least bound so far, which the certificate of a search falls back on.
    narrow : bool
        Whether elimination tables are small enough to be made.
    seed : int
    seconds : float
    by_work : bool
        Whether CP-SAT ends by an amount of work, the same in every run.
    stop : callable
    """
    solved = _cut_by_tables(component, None, stop) if narrow else None
    if solved is not None:
        return solved
    if component.num_vertices > LARGEST_FOR_CP_SAT:
        return None
    found = cp_sat_max_cut(
        component.num_vertices,
        component.edges,
        component.weights,
        hint,
        limits=Limits(seconds, CP_SAT_WORK if by_work else None, stop),
        seed=seed,
    )
    return None if found is None else by_search(found, known)


def _cut_by_tables(component: Component, max_entries: int | None, stop: Stop) -> ExactPart | None:
    tables = elimination_optimum(
        component.num_vertices, component.edges, component.weights, max_table_entries=max_entries, stop=stop
    )
    return None if tables is None else by_tables(*tables)
