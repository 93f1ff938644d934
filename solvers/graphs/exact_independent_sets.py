"""Heaviest independent sets of single components: at once where that costs next to nothing, and as the finish of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.independent_search import IndependentSearch
from solvers.graphs.maximum_clique import LARGEST, MOST_NODES, densest_independent_set
from solvers.graphs.set_enumeration import MAX_VERTICES, enumerate_independent_sets

# Share of all pairs that are edges, from which on branch and bound on the complement has prospects.
LEAST_DENSITY = 0.08

# Sets looked at where the clock only guards: some seconds.
NODES_BY_WORK = 2_000_000

Stop = Callable[[], bool]


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


def set_at_once(component: VertexComponent) -> ExactSet | None:
    """Return the heaviest independent set by enumeration if the component is tiny."""
    if component.num_vertices > MAX_VERTICES:
        return None
    found = enumerate_independent_sets(component.csr(), component.weights)
    return ExactSet(found.value, found.members.astype(np.int8), Bound(found.value, "enumeration", {"kind": "enumeration"}))


def looks_finishable(component: VertexComponent) -> bool:
    """Return whether an exact method has prospects."""
    return _is_dense(component)


def finished_set(
    component: VertexComponent,
    hint: np.ndarray,
    known: Bound,
    *,
    seed: int,
    remaining: Callable[[], float],
    by_work: bool,
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
    seed : int
    remaining : callable
        Seconds that are left.
    by_work : bool
        Whether methods end by an amount of work, the same in every run.
    stop : callable
    """
    n, edges, weights = component.num_vertices, component.edges, component.weights
    if _is_dense(component):
        most = NODES_BY_WORK if by_work else MOST_NODES
        found = densest_independent_set(n, edges, weights, hint == 1, max_nodes=most, stop=stop)
        yield _as_exact(found, known)


def _is_dense(component: VertexComponent) -> bool:
    n = component.num_vertices
    return n <= LARGEST and 2 * len(component.edges) >= LEAST_DENSITY * n * (n - 1)


def _as_exact(found: IndependentSearch, known: Bound) -> ExactSet:
    bound = Bound(found.bound, "search", found.certificate(known.certificate))
    return ExactSet(found.value, found.members.astype(np.int8), bound)
