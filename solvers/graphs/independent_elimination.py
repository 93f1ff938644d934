"""The heaviest independent set of a graph of small width, by the tables of :mod:`solvers.graphs.elimination`.

A vertex adds its weight when it is chosen, unless a neighbour in its scope is chosen too, which rules it out. Choices that hold both
ends of an edge that neither end's elimination has seen yet are allowed until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.elimination import MAX_WIDTH, csr_in_order, optimum_by_tables, plan_elimination

# Outweighed by nothing: weights add up to less than 2^60, and messages as well.
RULED_OUT = -(2**61)


class EliminatedSet(NamedTuple):
    """The heaviest independent set and the order that proves it.

    Attributes
    ----------
    value : int
    members : bool array of shape (n,)
    order : list of int
        What a certificate of kind ``elimination`` holds.
    """

    value: int
    members: np.ndarray
    order: list[int]


def eliminate_independent_set(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    *,
    max_width: int = MAX_WIDTH,
    max_bytes: int = 2**30,
    max_table_entries: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> EliminatedSet | None:
    """Return the heaviest independent set, or None if the graph is too wide or its tables too large, or when told to stop.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (n,)
        Positive, adding up to less than 2^60.
    max_width, max_bytes, max_table_entries : int, optional
        Limits on the order, the memory, and the work, known before the first table is made.
    stop : callable, optional
        Asked before every table.

    Examples
    --------
    >>> eliminate_independent_set(5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], [1, 1, 1, 1, 1]).value
    2
    """
    plan = plan_elimination(num_vertices, edges, max_width=max_width, stop=stop)
    if plan is None or plan.peak_bytes > max_bytes or (max_table_entries is not None and plan.table_entries > max_table_entries):
        return None
    csr = csr_in_order(plan, edges, np.ones(len(edges), np.int64))
    weight_of = np.asarray(weights, dtype=np.int64)[plan.order]
    optimum = optimum_by_tables(
        plan, lambda v, scope, on_0, on_1: _start_tables(csr, weight_of[v], v, scope, on_0, on_1), stop or (lambda: False)
    )
    return None if optimum is None else EliminatedSet(optimum.value, optimum.sides == 1, optimum.order)


@njit(cache=True, nogil=True)
def _start_tables(csr, weight, v, scope, on_0, on_1):  # type: ignore[no-untyped-def]
    entries = 1 << len(scope)
    on_0[:entries] = 0
    on_1[:entries] = weight
    # Both the scope, backwards, and the row of v are increasing.
    slot = csr.indptr[v + 1] - 1
    for bit in range(len(scope)):
        while slot >= csr.indptr[v] and csr.indices[slot] > scope[bit]:
            slot -= 1
        if slot < csr.indptr[v] or csr.indices[slot] != scope[bit]:
            continue
        block = 1 << bit
        for begin in range(block, entries, 2 * block):
            on_1[begin : begin + block] = RULED_OUT
