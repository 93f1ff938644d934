"""Past instances with their solutions, from which predictors learn, as a request spells them and as arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from solvers.graphs.any_instance import AnyInstance, AnyProblem
from solvers.graphs.arrays import Array, list_of
from solvers.graphs.predictors.subjects import Subject, read_subject
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, ForesolveError

SolutionIds = Annotated[list[Any], list_of({"anyOf": [{"type": "integer"}, {"type": "string"}]})]


class SolvedInstance(AnyInstance):
    """A graph or set system with a solution."""

    solution: SolutionIds = Field(
        description="As a solve returns it: the ids of the vertices or sets that are chosen; of a cut, the side of every vertex."
    )


class Solved(NamedTuple):
    """An instance with the side of every vertex or set in a solution.

    Attributes
    ----------
    subject : Subject
    truth : int8 array of shape (n,)
        1 for what is chosen or on side 1, 0 for the rest; of a cut -1 for vertices without edges, whose side is nobody's choice.
    """

    subject: Subject
    truth: Array


class Notes:
    """Warnings about several instances: one entry for each kind, with the first place."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[int, str, str | None]]] = {}

    def add(self, code: str, index: int, message: str, pointer: str | None) -> None:
        """Note something about the instance of an index."""
        self._found.setdefault(code, []).append((index, message, pointer))

    def add_repairs(self, index: int, subject: Subject) -> None:
        """Note what was repaired of an instance."""
        for repair in subject.instance.warnings:
            pointer = repair["pointer"]
            self.add(str(repair["code"]), index, str(repair["message"]), None if pointer is None else f"{place(index)}{pointer}")

    @property
    def warnings(self) -> list[WarningEntry]:
        return [_warning(code, entries) for code, entries in self._found.items()]


def read_solved(
    given: Iterable[SolvedInstance], problem: AnyProblem, context: Context
) -> tuple[list[Solved], list[WarningEntry]]:
    """Return past instances as arrays, and what was repaired or is odd of them.

    Raises
    ------
    InvalidInput
        If an instance or a solution is malformed; the fault names the instance and the element.
    TooLarge
        If one is too large, or all together have more edges than the service takes.
    """
    found: list[Solved] = []
    notes = Notes()
    for index, (one, subject) in enumerate(read_subjects(given, problem, context)):
        with below(place(index)):
            solved = Solved(subject, subject.truth_of(one.solution, "/solution"))
        found.append(solved)
        notes.add_repairs(index, subject)
        violation = subject.violation(solved.truth)
        if violation is not None:
            notes.add("infeasible-solution", index, violation, f"{place(index)}/solution")
    return found, notes.warnings


def read_subjects(given: Iterable[Any], problem: AnyProblem, context: Context) -> Iterator[tuple[Any, Subject]]:
    """Yield instances of a request with what predictors see of them; faults as for :func:`read_solved`."""
    votes_so_far = 0
    for index, one in enumerate(given):
        with below(place(index)):
            subject = read_subject(one, problem, context)
            votes_so_far += len(subject.item_of)
            edges = votes_so_far if problem == "set-cover" else votes_so_far // 2
            what = "elements of sets" if problem == "set-cover" else "edges"
            context.require("max_edges", edges, f"{what} in the instances so far", pointer="")
        yield one, subject


def place(index: int) -> str:
    """Return the pointer of an instance of a request."""
    return f"/instances/{index}"


@contextlib.contextmanager
def below(pointer: str) -> Iterator[None]:
    """Put `pointer` before those of the faults that are raised inside."""
    try:
        yield
    except ForesolveError as fault:
        fault.pointer = pointer + (fault.pointer or "")
        raise


def _warning(code: str, entries: list[tuple[int, str, str | None]]) -> WarningEntry:
    first, message, pointer = entries[0]
    where = f"instance {first}" if len(entries) == 1 else f"{len(entries)} instances, first in instance {first}"
    return WarningEntry(code=code, message=f"in {where}: {message}", pointer=pointer)
