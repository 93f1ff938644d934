"""Heaviest independent sets of single components: at once where that costs next to nothing, and as the finish of a run.

What they leave out is the lightest cover, and a bound on them amounts to one on covers.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.cp_sat import Limits
from solvers.graphs.cp_sat_independent_set import cp_sat_independent_set
from solvers.graphs.exact_finish import (
    EARLY_TABLE_ENTRIES,
    LARGEST_ENUMERATED,
    ExactPart,
    Stop,
    by_enumeration,
    by_search,
    by_tables,
)
from solvers.graphs.independent_elimination import eliminate_independent_set
from solvers.graphs.maximum_clique import LARGEST, UNLIMITED, densest_independent_set

# Up to here branch and bound mostly ends within a minute, and the search has found the optimum early.
LARGEST_PROMISING = 400

# Of the time, for branch and bound; CP-SAT at least lowers the bound in the rest.
CLIQUE_SHARE = 0.75

# Sparser graphs have cliques in the complement that branch and bound does not come to the end of.
LEAST_DENSITY = 1 / 16

# Beyond this many edges CP-SAT has proven nothing within minutes that reductions had not.
MOST_EDGES_FOR_CP_SAT = 200_000


class Effort(NamedTuple):
    """How far the searches go.

    Attributes
    ----------
    nodes : int
        Of branch and bound.
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
"""About two seconds for each search, the same in every run."""

BY_CLOCK = Effort(UNLIMITED, None, MOST_EDGES_FOR_CP_SAT)


def set_at_once(component: VertexComponent, stop: Stop) -> ExactPart | None:
    """Return the heaviest set if the component is tiny, or so narrow that its tables take less than about half a second.

    Examples
    --------
    >>> path = VertexComponent(np.arange(3), np.array([[0, 1], [1, 2]]), np.array([1, 3, 1]))
    >>> set_at_once(path, lambda: False).bound
    Bound(value=3, kind='enumeration', certificate={'kind': 'enumeration'})
    """
    num_vertices, edges, weights = component.num_vertices, component.edges, component.weights
    if num_vertices <= LARGEST_ENUMERATED:
        found = densest_independent_set(num_vertices, edges, weights, np.zeros(num_vertices, np.bool_), stop=stop)
        return by_enumeration(found.value, found.solution) if found.is_optimal else None
    return _set_by_tables(num_vertices, edges, weights, EARLY_TABLE_ENTRIES, stop)


def looks_finishable(component: VertexComponent) -> bool:
    """Return whether a search has prospects."""
    return _is_dense(component) or len(component.edges) <= MOST_EDGES_FOR_CP_SAT


def ends_by_cliques(component: VertexComponent) -> bool:
    """Return whether branch and bound is likely to come to its end."""
    return _is_dense(component) and component.num_vertices <= LARGEST_PROMISING


def finished_set(
    component: VertexComponent,
    hint: np.ndarray,
    known: Bound,
    *,
    narrow: bool,
    seed: int,
    seconds: float,
    effort: Effort,
    stop: Stop,
) -> ExactPart | None:
    """Return the heaviest set by elimination tables, by branch and bound if the graph is dense, or what CP-SAT proves in the time.

    Parameters
    ----------
    component : VertexComponent
    hint : bool array of shape (n,)
        A good independent set.
    known : Bound
        The least bound from above so far, which the certificate of a search falls back on.
    narrow : bool
        Whether elimination tables may be small enough to be made.
    seed : int
    seconds : float
        Infinite where searches end by their effort alone.
    effort : Effort
    stop : callable

    Returns
    -------
    ExactPart or None
        None if nothing is worth trying, or told to stop before it began. The bound is never worse than the known one.
    """
    num_vertices, edges, weights = component.num_vertices, component.edges, component.weights
    solved = _set_by_tables(num_vertices, edges, weights, None, stop) if narrow else None
    if solved is not None:
        return solved
    end = time.monotonic() + seconds
    end_of_cliques = end - (1 - CLIQUE_SHARE) * seconds if math.isfinite(seconds) else math.inf
    found = None
    if _is_dense(component):
        found = densest_independent_set(
            num_vertices,
            edges,
            weights,
            hint,
            max_nodes=effort.nodes,
            stop=lambda: stop() or time.monotonic() >= end_of_cliques,
        )
        if found.is_optimal:
            return by_search(found, known)
        hint = found.solution
    if len(edges) <= effort.most_edges:
        closer = cp_sat_independent_set(
            num_vertices,
            edges,
            weights,
            hint,
            limits=Limits(max(0.0, end - time.monotonic()), effort.cp_sat_work, stop),
            seed=seed,
        )
        found = closer or found
    return None if found is None else by_search(found, known)


def _is_dense(component: VertexComponent) -> bool:
    n = component.num_vertices
    return n <= LARGEST and 2 * len(component.edges) >= LEAST_DENSITY * n**2


def _set_by_tables(
    num_vertices: int, edges: np.ndarray, weights: np.ndarray, max_entries: int | None, stop: Stop
) -> ExactPart | None:
    tables = eliminate_independent_set(num_vertices, edges, weights, max_table_entries=max_entries, stop=stop)
    return None if tables is None else by_tables(*tables)
