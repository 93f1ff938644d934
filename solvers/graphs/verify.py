"""Prove a bound on a cut, a cover or an independent set again, from the graph and a certificate, trusting neither it nor the solver.

Nothing here imports a solver. All arithmetic on values is exact, in multiples of a power of two; the one factorisation in
floating point allows for its rounding errors. Whatever is wrong with a certificate is a fault to report, never an exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np

from solvers.graphs.proofs.independent_reduced import replay_on_sets
from solvers.graphs.proofs.independent_tables import eliminated_optimum, tried_optimum
from solvers.graphs.proofs.instance import GridInstance, ProofInstance, Refused, member, on_grid
from solvers.graphs.proofs.odd_cycles import odd_cycles_bound
from solvers.graphs.proofs.packings import clique_partition_bound, edge_packing_bound, matching_bound
from solvers.graphs.proofs.parts import parts_of, separate_parts_of
from solvers.graphs.proofs.reduced import replay
from solvers.graphs.proofs.sdp_dual import sdp_dual_bound
from solvers.graphs.proofs.tables import elimination_optimum, enumerated_optimum
from solvers.operation import ForesolveError

Checked = TypeVar("Checked")
Load = Callable[[Any], Any]
Stop = Callable[[], bool]

DEEPEST = 16


class Proof(NamedTuple):
    """What a certificate proves.

    Attributes
    ----------
    bound : int, float or None
        No cut or independent set is worth more, no cover less; an integer where the weights are. None if the certificate is refused.
    is_proved : bool
        Whether all that the certificate claims was proven; False where it holds a search, of which only the fallback is checked.
    faults : tuple of str
        Why it was refused.
    """

    bound: int | float | None
    is_proved: bool
    faults: tuple[str, ...]


def _as_it_is(certificate: Any) -> Any:
    return certificate


def _never() -> bool:
    return False


def prove(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    certificate: Any,
    *,
    load: Load = _as_it_is,
    stop: Stop = _never,
) -> Proof:
    """Check a certificate of an upper bound on the maximum cut of a graph.

    Parameters
    ----------
    num_vertices : int
    edges : ndarray of int, shape (m, 2)
        Simple, without loops.
    weights : ndarray of shape (m,)
        Integers or floats of any sign.
    certificate : object
        As parsed from JSON; nothing is assumed of it.
    load : callable
        Returns a certificate where a file stands in its place.
    stop : callable
        Once true, what is not yet proven is refused.

    Returns
    -------
    Proof

    Raises
    ------
    InvalidInput
        If the weights are integers too large to count cuts exactly.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [1, 2], [2, 0]])
    >>> prove(3, triangle, np.array([1, 1, 1]), {"kind": "odd_cycles", "cycles": [[0, 1, 2]]})
    Proof(bound=2, is_proved=True, faults=())
    >>> prove(3, triangle, np.array([1, 1, 1]), {"kind": "odd_cycles", "cycles": [[0, 1]]}).bound is None
    True
    """
    return _upper_proof(_CUTS, on_grid(num_vertices, edges, weights), certificate, load, stop)


def prove_independent_set(
    num_vertices: int,
    edges: np.ndarray,
    vertex_weights: np.ndarray,
    certificate: Any,
    *,
    loops: np.ndarray | None = None,
    load: Load = _as_it_is,
    stop: Stop = _never,
) -> Proof:
    """Check a certificate of an upper bound on the weight of an independent set.

    Parameters
    ----------
    num_vertices : int
    edges : ndarray of int, shape (m, 2)
        Simple, without loops.
    vertex_weights : ndarray of shape (n,)
        Integers or floats, none negative.
    certificate : object
        As parsed from JSON; nothing is assumed of it. It takes vertices with loops as ones that weigh nothing.
    loops : ndarray of int, optional
        Vertices that are joined to themselves, which no independent set holds.
    load, stop : callable
        As for :func:`prove`.

    Returns
    -------
    Proof

    Raises
    ------
    InvalidInput
        If the weights are integers too large to be added exactly.

    Examples
    --------
    >>> path = np.array([[0, 1], [1, 2]])
    >>> prove_independent_set(3, path, np.array([1, 1, 1]), {"kind": "clique_partition", "cliques": [[0, 1], [2]]})
    Proof(bound=2, is_proved=True, faults=())
    """
    grid, _ = _on_vertex_grid(num_vertices, edges, vertex_weights, loops)
    return _upper_proof(_INDEPENDENT_SETS, grid, certificate, load, stop)


def prove_cover(
    num_vertices: int,
    edges: np.ndarray,
    vertex_weights: np.ndarray,
    certificate: Any,
    *,
    loops: np.ndarray | None = None,
    load: Load = _as_it_is,
    stop: Stop = _never,
) -> Proof:
    """Check a certificate of a lower bound on the weight of a vertex cover.

    The certificates are those of :func:`prove_independent_set`, of which this takes the same arguments: what a cover leaves out is
    an independent set. Vertices with loops are in every cover.

    Examples
    --------
    >>> path = np.array([[0, 1], [1, 2]])
    >>> prove_cover(3, path, np.array([1, 1, 1]), {"kind": "matching", "edges": [1]})
    Proof(bound=1, is_proved=True, faults=())
    """
    grid, total = _on_vertex_grid(num_vertices, edges, vertex_weights, loops)
    proof = _upper_proof(_INDEPENDENT_SETS, grid, certificate, load, stop, less=total)
    return proof if proof.bound is None else proof._replace(bound=max(0, -proof.bound))


def _upper_proof(problem: _Problem, grid: GridInstance, certificate: Any, load: Load, stop: Stop, less: int = 0) -> Proof:
    """Prove an upper bound on the optimum less a constant, which is in the unit of the grid."""
    checker = _Checker(problem, grid.instance.exponent, load, stop)
    try:
        bound = checker.bound(grid.instance, certificate, "certificate", 0) - less
        value = math.floor(bound) if grid.is_integral else _rounded_up(bound, grid.instance.exponent, grid.rounding)
    except Refused as refusal:
        return Proof(None, False, (str(refusal),))
    return Proof(value, not checker.holds_search, ())


def _on_vertex_grid(
    num_vertices: int, edges: np.ndarray, vertex_weights: np.ndarray, loops: np.ndarray | None
) -> tuple[GridInstance, int]:
    """Return the graph on its grid, where vertices with loops weigh nothing, and the weight of all vertices."""
    grid = on_grid(num_vertices, edges, vertex_weights, "vertex_weights")
    weights = grid.instance.weights.copy()
    total = int(weights.sum())
    if loops is not None:
        weights[np.asarray(loops, dtype=np.int64)] = 0
    return grid._replace(instance=grid.instance._replace(weights=weights)), total


def _rounded_up(bound: Fraction, exponent: int, rounding: float) -> float:
    exact = bound * Fraction(2) ** -exponent + Fraction(rounding)
    try:
        nearest = float(exact)
    except OverflowError:
        raise Refused("the bound is too large for a floating-point number") from None
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


class _Problem(NamedTuple):
    """How the certificates of a problem are checked.

    Attributes
    ----------
    leaves : dict
        For each kind that stands by itself, what returns the upper bound that a certificate proves, in the instance's unit.
    replay : callable
        Returns the kernel that the steps of a certificate lead to, and the constant in the kernel's unit.
    parts_of : callable
        Returns the parts of a sum, each with its certificate.
    """

    leaves: dict[str, Callable[[ProofInstance, dict[str, Any], Stop], int]]
    replay: Callable[[ProofInstance, dict[str, Any], Stop], tuple[ProofInstance, Fraction]]
    parts_of: Callable[[ProofInstance, dict[str, Any]], Iterator[tuple[ProofInstance, Any]]]

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*self.leaves, "reduced", "sum", "search")


_CUTS = _Problem(
    leaves={
        "trivial": lambda instance, certificate, stop: int(instance.weights[instance.weights > 0].sum()),
        "sdp_dual": sdp_dual_bound,
        "odd_cycles": lambda instance, certificate, stop: odd_cycles_bound(instance, certificate),
        "elimination": elimination_optimum,
        "enumeration": lambda instance, certificate, stop: enumerated_optimum(instance, stop),
    },
    replay=replay,
    parts_of=parts_of,
)

_INDEPENDENT_SETS = _Problem(
    leaves={
        "trivial": lambda instance, certificate, stop: int(instance.weights.sum()),
        "matching": lambda instance, certificate, stop: matching_bound(instance, certificate),
        "edge_packing": lambda instance, certificate, stop: edge_packing_bound(instance, certificate),
        "clique_partition": lambda instance, certificate, stop: clique_partition_bound(instance, certificate),
        "elimination": eliminated_optimum,
        "enumeration": lambda instance, certificate, stop: tried_optimum(instance, stop),
    },
    replay=replay_on_sets,
    parts_of=separate_parts_of,
)


class _Checker:
    """Checks certificates within certificates; bounds are in units of the caller's grid."""

    def __init__(self, problem: _Problem, exponent: int, load: Load, stop: Stop) -> None:
        self.holds_search = False
        self._problem = problem
        self._exponent = exponent
        self._load = load
        self._stop = stop

    def bound(self, instance: ProofInstance, certificate: Any, path: str, depth: int) -> Fraction:
        if depth > DEEPEST:
            raise Refused(f"certificates are nested more than {DEEPEST} deep")
        # Files that name files many times over make a certificate of any size.
        if depth and self._stop():
            raise Refused(f"{path}: time was up before this was checked")
        try:
            loaded = self._load(certificate)
        except ForesolveError as error:
            raise Refused(f"{path}: {error.detail}") from None
        kind = loaded.get("kind") if isinstance(loaded, dict) else None
        if not isinstance(kind, str) or kind not in self._problem.kinds:
            raise Refused(f"{path}: kind must be one of {', '.join(self._problem.kinds)}")
        instance = instance.coarsened(self._exponent)
        if kind not in self._problem.leaves:
            return self._nested_bound(kind, instance, loaded, path, depth)
        units = self._at(path, lambda: self._problem.leaves[kind](instance, loaded, self._stop))
        return Fraction(units, 2 ** (instance.exponent - self._exponent))

    def _nested_bound(self, kind: str, instance: ProofInstance, certificate: dict[str, Any], path: str, depth: int) -> Fraction:
        if kind == "search":
            self.holds_search = True
            fallback = self._at(path, lambda: member(certificate, "fallback"))
            return self.bound(instance, fallback, f"{path}/fallback", depth + 1)
        if kind == "reduced":
            inner = self._at(path, lambda: member(certificate, "kernel"))
            kernel, constant = self._at(path, lambda: self._problem.replay(instance, certificate, self._stop))
            kernel_bound = self.bound(kernel, inner, f"{path}/kernel", depth + 1)
            return kernel_bound + constant * Fraction(1, 2 ** (kernel.exponent - self._exponent))
        total = Fraction(0)
        for number, (part, inner) in enumerate(self._at(path, lambda: list(self._problem.parts_of(instance, certificate)))):
            total += self.bound(part, inner, f"{path}/parts/{number}/certificate", depth + 1)
        return total

    def _at(self, path: str, check: Callable[[], Checked]) -> Checked:
        """Run a check; if it refuses, say where."""
        try:
            return check()
        except Refused as refusal:
            raise Refused(f"{path}: {refusal}") from None
