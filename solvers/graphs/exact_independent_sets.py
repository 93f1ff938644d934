"""Heaviest independent sets of single components: at once where that costs next to nothing, and as the finish of a run.

What they leave out is the lightest cover, and a bound on them amounts to one on covers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.cp_sat_cover import cp_sat_independent_set
from solvers.graphs.independent_elimination import eliminate_independent_set
from solvers.graphs.independent_search import IndependentSearch
from solvers.graphs.maximum_clique import LARGEST, MOST_NODES, densest_independent_set

# Vertices that a certificate of kind ``enumeration`` may speak of.
LARGEST_ENUMERATED = 25

# Entries of elimination tables, about 5 ns each, that are always worth it before a search: half a second.
EARLY_TABLE_ENTRIES = 100_000_000

# Sparser graphs have cliques in the complement that branch and bound does not come to the end of.
LEAST_DENSITY = 1 / 16

# Beyond this many edges CP-SAT has proven nothing within minutes that reductions had not.
MOST_EDGES_FOR_CP_SAT = 200_000

Stop = Callable[[], bool]


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

BY_CLOCK = Effort(MOST_NODES, None, MOST_EDGES_FOR_CP_SAT)


class ExactSet(NamedTuple):
    """An independent set and a bound from above; unless the search was cut short, they agree.

    Attributes
    ----------
    value : int
    members : bool array of shape (n,)
    bound : Bound
    """

    value: int
    members: np.ndarray
    bound: Bound

    @property
    def is_optimal(self) -> bool:
        return self.value >= self.bound.value


def set_at_once(num_vertices: int, edges: np.ndarray, weights: np.ndarray, stop: Stop) -> ExactSet | None:
    """Return the heaviest set if the component is tiny, or so narrow that its tables take less than about half a second.

    Examples
    --------
    >>> set_at_once(3, [[0, 1], [1, 2]], np.array([1, 3, 1]), lambda: False).bound
    Bound(value=3, kind='enumeration', certificate={'kind': 'enumeration'})
    """
    if num_vertices <= LARGEST_ENUMERATED:
        found = densest_independent_set(num_vertices, edges, weights, np.zeros(num_vertices, np.bool_), stop=stop)
        if not found.is_optimal:
            return None
        return ExactSet(found.value, found.members, Bound(found.value, "enumeration", {"kind": "enumeration"}))
    return _set_by_tables(num_vertices, edges, weights, EARLY_TABLE_ENTRIES, stop)


def looks_finishable(num_vertices: int, num_edges: int) -> bool:
    """Return whether a search has prospects."""
    return _is_dense(num_vertices, num_edges) or num_edges <= MOST_EDGES_FOR_CP_SAT


def finished_set(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    hint: np.ndarray,
    known: Bound,
    *,
    narrow: bool,
    seed: int,
    seconds: float,
    effort: Effort,
    stop: Stop,
) -> ExactSet | None:
    """Return the heaviest set by elimination tables, by branch and bound if the graph is dense, or what CP-SAT proves in the time.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
    weights : int64 array of shape (n,)
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
    ExactSet or None
        None if nothing is worth trying, or told to stop before it began. The bound is never worse than the known one.
    """
    by_tables = _set_by_tables(num_vertices, edges, weights, None, stop) if narrow else None
    if by_tables is not None:
        return by_tables
    end = time.monotonic() + seconds
    found = None
    if _is_dense(num_vertices, len(edges)):
        found = densest_independent_set(
            num_vertices,
            edges,
            weights,
            hint,
            max_nodes=effort.nodes,
            stop=lambda: stop() or time.monotonic() >= end,
        )
        if found.is_optimal:
            return _searched(found, known)
        hint = found.members
    if len(edges) <= effort.most_edges:
        closer = cp_sat_independent_set(
            num_vertices,
            edges,
            weights,
            hint,
            seed=seed,
            time_limit=max(0.0, end - time.monotonic()) if math.isfinite(end) else None,
            deterministic_time_limit=effort.cp_sat_work,
            stop=stop,
        )
        found = closer or found
    return None if found is None else _searched(found, known)


def _is_dense(num_vertices: int, num_edges: int) -> bool:
    return num_vertices <= LARGEST and 2 * num_edges >= LEAST_DENSITY * num_vertices**2


def _searched(found: IndependentSearch, known: Bound) -> ExactSet:
    if found.bound >= known.value:
        return ExactSet(found.value, found.members, known)
    # Of a search before, what can be checked is its fallback.
    fallback = known.certificate.get("fallback", known.certificate)
    return ExactSet(found.value, found.members, Bound(found.bound, "search", found.certificate(fallback)))


def _set_by_tables(
    num_vertices: int, edges: np.ndarray, weights: np.ndarray, max_entries: int | None, stop: Stop
) -> ExactSet | None:
    tables = eliminate_independent_set(num_vertices, edges, weights, max_table_entries=max_entries, stop=stop)
    if tables is None:
        return None
    return ExactSet(
        tables.value, tables.members, Bound(tables.value, "elimination", {"kind": "elimination", "order": tables.order})
    )
