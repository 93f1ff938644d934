"""Check a set cover and prove a lower bound again, from the sets and a certificate, trusting neither the solver nor the certificate.

Nothing here imports a solver. All arithmetic on costs is exact. Whatever is wrong with a certificate is a fault to report, never an
exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.arrays import as_written, is_integer
from solvers.graphs.proofs.instance import Refused, member
from solvers.graphs.proofs.lagrangian import SetRows, lagrangian_bound, set_rows
from solvers.graphs.set_system import SetSystem
from solvers.graphs.verify import DEEPEST, Proof
from solvers.operation import ForesolveError

KINDS = ("trivial", "lagrangian", "enumeration", "search")

MOST_ENUMERATED = 25
MOST_VIOLATIONS = 10

# Choices are gone through in blocks of that many sets, so that tables stay small.
BLOCK_SETS = 16


class CheckedCover(NamedTuple):
    """What is true of a solution.

    Attributes
    ----------
    violations : tuple of str
        Why it is no cover: the first reasons.
    value : int, float or None
        Sum of the costs of its sets; None if it is no cover.
    """

    violations: tuple[str, ...]
    value: int | float | None


def check_cover(system: SetSystem, chosen: list[Any]) -> CheckedCover:
    """Return whether the sets of some ids cover every element, and their cost.

    Examples
    --------
    >>> system = SetSystem([[0, 1], [1, 2]], costs=[2, 3])
    >>> check_cover(system, [0, 1]).value, check_cover(system, [0]).violations
    (5, ('element 2 is in no chosen set',))
    """
    violations: list[str] = []
    members = np.zeros(system.num_sets, dtype=bool)
    for given in chosen:
        if len(violations) == MOST_VIOLATIONS:
            return CheckedCover(tuple(violations), None)
        position = int(given) - system.index_base if is_integer(given) else -1
        if not 0 <= position < system.num_sets:
            violations.append(f"there is no set {as_written(given)}")
        elif members[position]:
            violations.append(f"set {given} is chosen twice")
        else:
            members[position] = True
    held = np.repeat(members, np.diff(system.set_ptr))
    missing = np.flatnonzero(np.bincount(system.elements[held], minlength=system.num_elements) == 0)
    for position in missing[: MOST_VIOLATIONS - len(violations)].tolist():
        violations.append(f"element {as_written(system.element_id(position))} is in no chosen set")
    return CheckedCover(tuple(violations), None if violations else cost_of(system, members))


def cost_of(system: SetSystem, members: np.ndarray) -> int | float:
    """Return the sum of the members' costs in the caller's unit: exact for integers, rounded once for floats."""
    costs = system.costs[members]
    return int(costs.sum()) if costs.dtype.kind == "i" else math.fsum(costs.tolist())


def prove_set_cover(
    system: SetSystem,
    certificate: Any,
    *,
    load: Callable[[Any], Any] = lambda certificate: certificate,
    stop: Callable[[], bool] = lambda: False,
) -> Proof:
    """Check a certificate of a lower bound on the cost of every cover.

    Parameters
    ----------
    system : SetSystem
    certificate : object
        As parsed from JSON; nothing is assumed of it.
    load : callable
        Returns a certificate where a file stands in its place.
    stop : callable
        Once true, what is not yet proven is refused.

    Returns
    -------
    Proof
        Its `bound` is what no cover costs less than.

    Examples
    --------
    >>> odd = SetSystem([[0, 1], [1, 2], [0, 2]])
    >>> prove_set_cover(odd, {"kind": "lagrangian", "y": [1, 1, 1], "scale": 2})
    Proof(bound=2, is_proved=True, faults=())
    >>> prove_set_cover(odd, {"kind": "lagrangian", "y": [1, 1], "scale": 2}).faults
    ('certificate: 2 prices for 3 elements',)
    """
    rows = set_rows(system.set_ptr, system.elements, system.num_elements, system.costs)
    path, holds_search = "certificate", False
    try:
        for _ in range(DEEPEST):
            loaded = load(certificate)
            kind = loaded.get("kind") if isinstance(loaded, dict) else None
            if not isinstance(kind, str) or kind not in KINDS:
                raise Refused(f"kind must be one of {', '.join(KINDS)}")
            if kind != "search":
                return Proof(max(0, _rounded(_bound(kind, rows, loaded, stop), rows)), not holds_search, ())
            holds_search = True
            certificate, path = member(loaded, "fallback"), f"{path}/fallback"
        raise Refused(f"certificates are nested more than {DEEPEST} deep")
    except (Refused, ForesolveError) as refusal:
        return Proof(None, False, (f"{path}: {refusal}",))


def _bound(kind: str, rows: SetRows, certificate: dict[str, Any], stop: Callable[[], bool]) -> Fraction:
    if kind == "lagrangian":
        return lagrangian_bound(rows, certificate)
    return _enumerated_optimum(rows, stop) if kind == "enumeration" else Fraction(0)


def _rounded(bound: Fraction, rows: SetRows) -> int | float:
    """Round up where costs are integers, else to the next float below."""
    if rows.is_integral:
        return math.ceil(bound)
    try:
        nearest = float(bound)
    except OverflowError:
        raise Refused("the bound is too large for a floating-point number") from None
    return nearest if Fraction(nearest) <= bound else math.nextafter(nearest, -math.inf)


def _enumerated_optimum(rows: SetRows, stop: Callable[[], bool]) -> Fraction:
    """Return the least cost of a cover, from all choices of sets."""
    n = len(rows.costs)
    if n > MOST_ENUMERATED:
        raise Refused(f"{n} sets are too many to enumerate; at most {MOST_ENUMERATED}")
    owners = np.repeat(np.arange(n), np.diff(rows.set_ptr))
    masks = np.zeros(rows.num_elements, dtype=np.int64)
    np.bitwise_or.at(masks, rows.elements, np.int64(1) << owners)
    masks = np.unique(masks)
    low = min(n, BLOCK_SETS)
    table = [0]
    for cost in rows.costs[:low]:
        table += [known + cost for known in table]
    # Costs may be of any size: covers are looked up in order of cost, without arithmetic on arrays.
    by_cost = np.array(sorted(range(len(table)), key=table.__getitem__))
    best: int | None = None
    for high in range(1 << (n - low)):
        if stop():
            raise Refused("time ran out during the enumeration")
        base = sum(rows.costs[low + bit] for bit in range(n - low) if high >> bit & 1)
        if best is not None and base >= best:
            continue
        at = np.flatnonzero(_covering(masks[(masks >> low) & high == 0], low)[by_cost])
        if len(at):
            cost = base + table[int(by_cost[at[0]])]
            best = cost if best is None else min(best, cost)
    if best is None:
        raise Refused("the sets together do not cover everything")
    return Fraction(best, 1 << rows.exponent)


def _covering(masks: np.ndarray, num_sets: int) -> np.ndarray:
    """Return for every choice among so many sets whether it meets all masks."""
    every = (1 << num_sets) - 1
    misses = np.zeros(1 << num_sets, dtype=bool)
    misses[every & ~masks] = True
    # What a choice misses, every part of it misses.
    for bit in range(num_sets):
        halves = misses.reshape(-1, 2, 1 << bit)
        halves[:, 0] |= halves[:, 1]
    return ~misses
