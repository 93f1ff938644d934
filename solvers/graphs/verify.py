"""Prove an upper bound on a maximum cut again, from the graph and a certificate, trusting neither the solver nor the certificate.

Nothing here imports a solver. All arithmetic on values is exact, in multiples of a power of two; the one factorisation in
floating point allows for its rounding errors. Whatever is wrong with a certificate is a fault to report, never an exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, member, on_grid
from solvers.graphs.proofs.odd_cycles import odd_cycles_bound
from solvers.graphs.proofs.parts import parts_of
from solvers.graphs.proofs.reduced import replay
from solvers.graphs.proofs.sdp_dual import sdp_dual_bound
from solvers.graphs.proofs.tables import elimination_optimum, enumerated_optimum
from solvers.operation import ForesolveError

Checked = TypeVar("Checked")

DEEPEST = 16
KINDS = ("trivial", "sdp_dual", "odd_cycles", "elimination", "enumeration", "reduced", "sum", "search")


class Proof(NamedTuple):
    """What a certificate proves.

    Attributes
    ----------
    bound : int, float or None
        No cut is worth more; an integer where the weights are. None if the certificate is refused.
    is_proved : bool
        Whether all that the certificate claims was proven; False where it holds a search, of which only the fallback is checked.
    faults : tuple of str
        Why it was refused.
    """

    bound: int | float | None
    is_proved: bool
    faults: tuple[str, ...]


def prove(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    certificate: Any,
    *,
    load: Callable[[Any], Any] = lambda certificate: certificate,
    stop: Callable[[], bool] = lambda: False,
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
    grid = on_grid(num_vertices, edges, weights)
    checker = _Checker(grid.instance.exponent, load, stop)
    try:
        bound = checker.bound(grid.instance, certificate, "certificate", 0)
        value = math.floor(bound) if grid.is_integral else _rounded_up(bound, grid.instance.exponent, grid.rounding)
    except Refused as refusal:
        return Proof(None, False, (str(refusal),))
    return Proof(value, not checker.holds_search, ())


def _rounded_up(bound: Fraction, exponent: int, rounding: float) -> float:
    exact = bound * Fraction(2) ** -exponent + Fraction(rounding)
    try:
        nearest = float(exact)
    except OverflowError:
        raise Refused("the bound is too large for a floating-point number") from None
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


class _Checker:
    """Checks certificates within certificates; bounds are in units of the caller's grid."""

    def __init__(self, exponent: int, load: Callable[[Any], Any], stop: Callable[[], bool]) -> None:
        self.holds_search = False
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
        if not isinstance(kind, str) or kind not in KINDS:
            raise Refused(f"{path}: kind must be one of {', '.join(KINDS)}")
        instance = instance.coarsened(self._exponent)
        if kind in ("reduced", "sum", "search"):
            return self._nested_bound(kind, instance, loaded, path, depth)
        units = self._at(path, lambda: self._leaf_bound(kind, instance, loaded))
        return Fraction(units, 2 ** (instance.exponent - self._exponent))

    def _leaf_bound(self, kind: str, instance: ProofInstance, certificate: dict[str, Any]) -> int:
        match kind:
            case "sdp_dual":
                return sdp_dual_bound(instance, certificate, self._stop)
            case "odd_cycles":
                return odd_cycles_bound(instance, certificate)
            case "elimination":
                return elimination_optimum(instance, certificate, self._stop)
            case "enumeration":
                return enumerated_optimum(instance, self._stop)
            case _:
                return int(instance.weights[instance.weights > 0].sum())

    def _nested_bound(self, kind: str, instance: ProofInstance, certificate: dict[str, Any], path: str, depth: int) -> Fraction:
        if kind == "search":
            self.holds_search = True
            fallback = self._at(path, lambda: member(certificate, "fallback"))
            return self.bound(instance, fallback, f"{path}/fallback", depth + 1)
        if kind == "reduced":
            inner = self._at(path, lambda: member(certificate, "kernel"))
            kernel, constant = self._at(path, lambda: replay(instance, certificate, self._stop))
            kernel_bound = self.bound(kernel, inner, f"{path}/kernel", depth + 1)
            return kernel_bound + constant * Fraction(1, 2 ** (kernel.exponent - self._exponent))
        total = Fraction(0)
        for number, (part, inner) in enumerate(self._at(path, lambda: list(parts_of(instance, certificate)))):
            total += self.bound(part, inner, f"{path}/parts/{number}/certificate", depth + 1)
        return total

    def _at(self, path: str, check: Callable[[], Checked]) -> Checked:
        """Run a check; if it refuses, say where."""
        try:
            return check()
        except Refused as refusal:
            raise Refused(f"{path}: {refusal}") from None
