"""Bounds that are tried one by one on the same instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.integer_weights import IntegerWeights
from solvers.graphs.kernel import SearchSpace
from solvers.graphs.progress import Sense
from solvers.graphs.upper_bound import FLOAT_NOISE, UpperBound, in_unit
from solvers.operation import Context

Method = Callable[[int, np.ndarray, np.ndarray, int, Context], Bound]
"""``method(num_vertices, edges, weights, seed, context)`` bounds from above what a search would maximise, for integer weights."""

COMBINATIONS = ("reduced", "sum")


class NotApplicable(Exception):
    """A kind of bound has nothing to say of an instance; the message says why."""


class Attempts(Protocol):
    """What is tried on one instance.

    Attributes
    ----------
    kinds : tuple of str
        Cheapest first.
    maximises : bool
        Whether the problem is to maximise, so that the least bound is the best.
    """

    kinds: tuple[str, ...]
    maximises: bool

    def attempt(self, kind: str) -> Bound:
        """Return a bound in the caller's unit, with its certificate.

        Raises
        ------
        NotApplicable
        """


class GraphAttempts:
    """Bounds on one graph.

    Parameters
    ----------
    graph : (num_vertices, edges)
    grid : IntegerWeights
        The weights that the methods look at.
    methods : dict
        Of the kinds that stand by themselves, cheapest first, ``trivial`` the first of all.
    space_of : callable
        ``space_of(stop)`` reduces the graph and takes it apart.
    sense : Sense
    seed : int
    context : Context
    """

    def __init__(
        self,
        graph: tuple[int, np.ndarray],
        grid: IntegerWeights,
        methods: dict[str, Method],
        space_of: Callable[[Callable[[], bool]], SearchSpace[Any]],
        sense: Sense,
        seed: int,
        context: Context,
    ) -> None:
        self.kinds = (*methods, *COMBINATIONS)
        self.maximises = sense.maximises
        self._graph = graph
        self._grid = grid
        self._methods = methods
        self._space_of = space_of
        self._sense = sense
        self._seed = seed
        self._context = context

    def attempt(self, kind: str) -> Bound:
        bound = self._combination(kind) if kind in COMBINATIONS else self._leaf(kind)
        return bound._replace(value=self._sense.bound(bound.value))

    def _leaf(self, kind: str) -> Bound:
        bound = self._methods[kind](*self._graph, self._grid.weights, self._seed, self._context)
        unit = float(np.ldexp(1.0, self._grid.exponent))
        value = bound.value / unit
        if self._grid.rounding == 0 and self._grid.exponent <= 0:
            value = math.floor(value + FLOAT_NOISE)
        else:
            value = math.nextafter(value + self._grid.rounding, math.inf) if self._grid.rounding else value
        return Bound(value, bound.kind, in_unit(bound.certificate, unit))

    def _combination(self, kind: str) -> Bound:
        """Bound every component of the reduced graph by the best kind that applies."""
        space = self._space_of(lambda: self._context.stop)
        upper_bound = UpperBound(space)
        if upper_bound.kind != kind:
            wanting = "no vertex can be reduced" if kind == "reduced" else "the graph is connected or can be reduced"
            raise NotApplicable(wanting)
        for part, component in enumerate(space.kernel.components):
            for leaf, method in self._methods.items():
                if self._context.stop:
                    break
                if leaf == "trivial":
                    continue
                try:
                    bound = method(component.num_vertices, component.edges, component.weights, self._seed, self._context)
                except NotApplicable:
                    continue
                upper_bound.offer(part, bound)
                if leaf in ("enumeration", "elimination"):
                    break
        return Bound(upper_bound.value, upper_bound.kind, upper_bound.certificate())
