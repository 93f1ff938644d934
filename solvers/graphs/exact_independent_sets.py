"""Heaviest independent sets of single components: at once where that costs next to nothing, and as the finish of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.cp_sat_cover import cp_sat_independent_set
from solvers.graphs.exact_cuts import EARLY_TABLE_ENTRIES
from solvers.graphs.independent_elimination import eliminate_independent_set
from solvers.graphs.independent_search import IndependentSearch
from solvers.graphs.maximum_clique import LARGEST, MOST_NODES, densest_independent_set
from solvers.graphs.set_enumeration import MAX_VERTICES, enumerate_independent_sets

# Share of all pairs that are edges, from which on branch and bound on the complement has prospects.
LEAST_DENSITY = 0.08

# Beyond these the clauses take longer to write than they are worth.
LARGEST_FOR_CP_SAT, MOST_EDGES_FOR_CP_SAT = 50_000, 200_000

Stop = Callable[[], bool]


class Effort(NamedTuple):
    """How far the searches go.

    Attributes
    ----------
    nodes : int
        Sets looked at by branch and bound.
    cp_sat_work : float or None
        In CP-SAT's deterministic unit; None: until the time is up.
    most_edges : int
        Of graphs that CP-SAT is given.
    """

    nodes: int
    cp_sat_work: float | None
    most_edges: int


ATTEMPT = Effort(200_000, 0.1, 20_000)
"""Some tenths of a second."""

BY_WORK = Effort(2_000_000, 1.0, MOST_EDGES_FOR_CP_SAT)
"""Some seconds."""

BY_CLOCK = Effort(MOST_NODES, None, MOST_EDGES_FOR_CP_SAT)


class ExactSet(NamedTuple):
    """An independent set and a bound, in kernel units; unless the search was cut short, they agree.

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


def set_at_once(component: VertexComponent, stop: Stop) -> ExactSet | None:
    """Return the heaviest independent set by enumeration if the component is tiny, else by tables if those take half a second."""
    if component.num_vertices > MAX_VERTICES:
        return _set_by_tables(component, EARLY_TABLE_ENTRIES, stop)
    found = enumerate_independent_sets(component.csr(), component.weights)
    return ExactSet(found.value, found.members.astype(np.int8), Bound(found.value, "enumeration", {"kind": "enumeration"}))


def looks_finishable(component: VertexComponent) -> bool:
    """Return whether a search has prospects, the component not being narrow."""
    return _is_dense(component) or _suits_cp_sat(component)


def finished_set(
    component: VertexComponent,
    hint: np.ndarray,
    known: Bound,
    *,
    narrow: bool,
    seed: int,
    remaining: Callable[[], float],
    effort: Effort,
    stop: Stop,
) -> Iterator[ExactSet]:
    """Yield what the exact methods find and prove, each as far as the time goes.

    Parameters
    ----------
    component : VertexComponent
    hint : int8 array of shape (n,)
        A good independent set.
    known : Bound
        The least bound so far, which the certificate of a search falls back on.
    narrow : bool
        Whether elimination tables are small enough to be made.
    seed : int
    remaining : callable
        Seconds that are left; infinite where the clock only guards.
    effort : Effort
    stop : callable
    """
    n, edges, weights = component.num_vertices, component.edges, component.weights
    if narrow:
        by_tables = _set_by_tables(component, None, stop)
        if by_tables is not None:
            yield by_tables
            return
    if _is_dense(component):
        found = densest_independent_set(n, edges, weights, hint == 1, max_nodes=effort.nodes, stop=stop)
        yield _as_exact(found, known)
        if found.is_optimal:
            return
    if _suits_cp_sat(component) and len(edges) <= effort.most_edges and not stop():
        seconds = remaining()
        answer = cp_sat_independent_set(
            n,
            edges,
            weights,
            hint == 1,
            seed=seed,
            time_limit=seconds if math.isfinite(seconds) else None,
            deterministic_time_limit=effort.cp_sat_work,
            stop=stop,
        )
        if answer is not None:
            yield _as_exact(answer, known)


def _is_dense(component: VertexComponent) -> bool:
    n = component.num_vertices
    return n <= LARGEST and 2 * len(component.edges) >= LEAST_DENSITY * n * (n - 1)


def _suits_cp_sat(component: VertexComponent) -> bool:
    return component.num_vertices <= LARGEST_FOR_CP_SAT and len(component.edges) <= MOST_EDGES_FOR_CP_SAT


def _set_by_tables(component: VertexComponent, max_entries: int | None, stop: Stop) -> ExactSet | None:
    found = eliminate_independent_set(
        component.num_vertices, component.edges, component.weights, max_table_entries=max_entries, stop=stop
    )
    if found is None:
        return None
    bound = Bound(found.value, "elimination", {"kind": "elimination", "order": found.order})
    return ExactSet(found.value, found.members.astype(np.int8), bound)


def _as_exact(found: IndependentSearch, known: Bound) -> ExactSet:
    # Of a search before, what can be checked is its fallback.
    fallback = known.certificate.get("fallback", known.certificate)
    bound = Bound(found.bound, "search", found.certificate(fallback))
    return ExactSet(found.value, found.members.astype(np.int8), bound)
