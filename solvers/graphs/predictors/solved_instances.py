"""Past instances with their solutions, from which predictors learn, as a request spells them and as arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from solvers.graphs.arrays import Array, as_written, inside, integers, list_of
from solvers.graphs.canonical import Instance
from solvers.graphs.components import connected_components
from solvers.graphs.graph import label_positions
from solvers.graphs.prediction_fields import require_one_each
from solvers.graphs.request import InstanceFields
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, ForesolveError, InvalidInput

Problem: TypeAlias = Literal["max-cut", "vertex-cover", "independent-set"]
"""The problems whose solutions are sides of vertices."""

UNTOLD = -1
"""In place of the side of a vertex that the solution says nothing about."""


class SolvedInstance(InstanceFields):
    """A graph with a solution."""

    solution: Annotated[list[Any], list_of({"anyOf": [{"type": "integer"}, {"type": "string"}]})] = Field(
        description="As a solve returns it: the ids of the vertices in the cover or set; of a cut, the side of every vertex."
    )


@dataclass(frozen=True, eq=False)
class Solved:
    """A graph with the side of every vertex in a solution.

    Attributes
    ----------
    instance : Instance
    truth : int8 array of shape (n,)
        1 for the vertices in the cover or set or on side 1, 0 for the others; of a cut -1 for vertices without edges, whose side is
        nobody's choice.
    """

    instance: Instance
    truth: Array


def read_solved(given: Iterable[SolvedInstance], problem: Problem, context: Context) -> tuple[list[Solved], list[WarningEntry]]:
    """Return past instances as arrays, and what was repaired or is odd of them.

    Raises
    ------
    InvalidInput
        If a graph or a solution is malformed; the fault names the instance and the element.
    TooLarge
        If one is too large, or all together have more edges than the service takes.
    """
    found: list[Solved] = []
    notes: dict[str, list[tuple[int, str, str | None]]] = {}
    edges_so_far = 0
    for index, one in enumerate(given):
        where = f"/instances/{index}"
        with below(where):
            instance = one.read_instance(context, problem)
            edges_so_far += len(instance.edges)
            context.require("max_edges", edges_so_far, "edges in the instances so far", pointer="")
            solved = Solved(instance, truth_of(one.solution, problem, instance, "/solution"))
        found.append(solved)
        for repair in instance.warnings:
            pointer = repair["pointer"]
            message, code = str(repair["message"]), str(repair["code"])
            notes.setdefault(code, []).append((index, message, None if pointer is None else where + pointer))
        violation = _violation(solved, problem)
        if violation is not None:
            notes.setdefault("infeasible-solution", []).append((index, violation, f"{where}/solution"))
    return found, [_warning(code, entries) for code, entries in notes.items()]


def truth_of(solution: list[Any], problem: Problem, instance: Instance, pointer: str) -> Array:
    """Return the side of every vertex, as :class:`Solved` has them.

    Parameters
    ----------
    solution : list
        As a solve returns it.
    problem : {"max-cut", "vertex-cover", "independent-set"}
    instance : Instance
    pointer : str
        Of the solution, for faults.
    """
    if problem == "max-cut":
        require_one_each(solution, instance.num_vertices, "vertices", pointer)
        sides = integers(solution, inside(pointer), "a side, 0 or 1")
        is_side = (sides == 0) | (sides == 1)
        if not is_side.all():
            index = int(np.argmin(is_side))
            raise InvalidInput(f"{sides[index]} is not a side, 0 or 1", pointer=f"{pointer}/{index}")
        truth = np.full(instance.num_vertices, UNTOLD, dtype=np.int8)
        has_edges = np.unique(instance.edges)
        truth[has_edges] = sides[has_edges]
        return truth
    truth = np.zeros(instance.num_vertices, dtype=np.int8)
    truth[_positions(solution, instance, pointer)] = 1
    return truth


def turned_to(truth: Array, wanted: Array, instance: Instance) -> Array:
    """Return a cut with each component of the graph turned over where that agrees better with `wanted`.

    Parameters
    ----------
    truth : int8 array of shape (n,)
        Sides, or :data:`UNTOLD`.
    wanted : float array of shape (n,)
        Positive where side 1 is wanted, negative where side 0 is; by how much counts.

    Notes
    -----
    A cut stays the same when one component changes sides, so that past cuts must be turned alike before they can be compared.
    """
    components = connected_components(instance.num_vertices, instance.edges)
    signs = np.where(truth == UNTOLD, 0, 2 * truth.astype(np.int64) - 1)
    agreement = np.bincount(components, signs * wanted, minlength=1)
    turned: Array = np.where((agreement[components] < 0) & (truth != UNTOLD), 1 - truth, truth).astype(np.int8)
    return turned


@contextlib.contextmanager
def below(pointer: str) -> Iterator[None]:
    """Put `pointer` before those of the faults that are raised inside."""
    try:
        yield
    except ForesolveError as fault:
        fault.pointer = pointer + (fault.pointer or "")
        raise


def _positions(ids: list[Any], instance: Instance, pointer: str) -> Array:
    if instance.labels is None:
        positions = integers(ids, inside(pointer), "the id of a vertex") - instance.index_base
        is_there = (positions >= 0) & (positions < instance.num_vertices)
        if not is_there.all():
            index = int(np.argmin(is_there))
            raise InvalidInput(f"there is no vertex {as_written(ids[index])}", pointer=f"{pointer}/{index}")
        return positions
    table = label_positions(instance.labels)
    found = np.empty(len(ids), dtype=np.int64)
    for index, label in enumerate(ids):
        try:
            found[index] = table[_key(label)]
        except (KeyError, TypeError):
            raise InvalidInput(f"there is no vertex {as_written(label)}", pointer=f"{pointer}/{index}") from None
    return found


def _key(label: Any) -> Any:
    return tuple(map(_key, label)) if isinstance(label, list) else label


def _violation(solved: Solved, problem: Problem) -> str | None:
    if problem == "max-cut":
        return None
    ends, loops = solved.truth[solved.instance.edges], solved.truth[solved.instance.loops]
    if problem == "vertex-cover":
        wrong, what = (ends == 0).all(axis=1).sum() + (loops == 0).sum(), "not covered"
    else:
        wrong, what = (ends == 1).all(axis=1).sum() + (loops == 1).sum(), "inside the set"
    return f"{wrong} edge{'s are' if wrong > 1 else ' is'} {what}" if wrong else None


def _warning(code: str, entries: list[tuple[int, str, str | None]]) -> WarningEntry:
    first, message, pointer = entries[0]
    where = f"instance {first}" if len(entries) == 1 else f"{len(entries)} instances, first in instance {first}"
    return WarningEntry(code=code, message=f"in {where}: {message}", pointer=pointer)
