"""Covers and independent sets as solutions: whether they are ones, what they weigh, and how they are written to a file."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from solvers.graphs.arrays import as_written, is_integer
from solvers.graphs.canonical import Instance, Problem
from solvers.graphs.formats.node_link import frozen
from solvers.operation import InvalidInput

MOST_VIOLATIONS = 10

MOST_DIGITS = 19


def violations_of(instance: Instance, problem: Problem, members: np.ndarray) -> list[str]:
    """Return why some vertices are no cover, or no independent set: the first 10 reasons.

    Parameters
    ----------
    instance : Instance
    problem : {"vertex-cover", "independent-set"}
    members : bool array of shape (n,)
    """
    is_cover = problem == "vertex-cover"
    held = members[instance.edges]
    wrong = ~held.any(axis=1) if is_cover else held.all(axis=1)
    looped = np.unique(instance.loops)
    wrong_loops = looped[members[looped] != is_cover]
    what = "is not covered" if is_cover else "joins two members"
    found = [f"the self-loop at {_name(instance, vertex)} {what}" for vertex in wrong_loops[:MOST_VIOLATIONS].tolist()]
    for u, v in instance.edges[np.flatnonzero(wrong)[:MOST_VIOLATIONS]].tolist():
        found.append(f"edge {_name(instance, u)} to {_name(instance, v)} {what}")
    return found[:MOST_VIOLATIONS]


def members_named(instance: Instance, given: list[Any]) -> tuple[np.ndarray, list[str]]:
    """Return the vertices of some ids as a mask, and which of the ids name none, or one twice: the first 10 reasons."""
    positions = None if instance.labels is None else {label: position for position, label in enumerate(instance.labels)}
    members = np.zeros(instance.num_vertices, np.bool_)
    wrong: list[str] = []
    for vertex in given:
        if len(wrong) == MOST_VIOLATIONS:
            break
        position = _position(instance, positions, vertex)
        if position is None:
            wrong.append(f"there is no vertex {as_written(vertex)}")
        elif members[position]:
            wrong.append(f"vertex {as_written(vertex)} is named twice")
        else:
            members[position] = True
    return members, wrong


def ids_in(text: str, instance: Instance, problem: Problem) -> list[Any]:
    """Return the ids that a text in the form of :func:`file_text` names; a word that names no vertex is returned as it is.

    A cover may be named by ids, too. With a line ``s vc`` they are positions from 1; lines that begin with ``c `` are comments.

    Raises
    ------
    InvalidInput
        If the sizes in a line ``s vc VERTICES SIZE`` are not those of the graph and of the list below.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    header = next((place for place, line in enumerate(lines) if line.startswith("s vc ")), None)
    if problem == "vertex-cover" and header is not None and all(line.startswith("c") for line in lines[:header]):
        words = [line for line in lines[header + 1 :] if not line.startswith("c ")]
        _check_header(lines[header], instance, len(words))
        return [_id_at(instance, word) for word in words]
    written = {_line(vertex): vertex for vertex in instance.vertex_ids(np.arange(instance.num_vertices))}
    return [written.get(line, line) for line in lines]


def value_of(instance: Instance, members: np.ndarray) -> int | float:
    """Return the weight of some vertices in the caller's weights: exact for integers, rounded once for floats."""
    weights = instance.vertex_weights[members]
    return int(weights.sum()) if weights.dtype.kind == "i" else math.fsum(weights.tolist())


def total_weight(instance: Instance) -> int | float:
    """Return the weight of all vertices, as :func:`value_of`."""
    return value_of(instance, np.ones(instance.num_vertices, np.bool_))


def file_text(instance: Instance, problem: Problem, members: np.ndarray) -> str:
    """Return a solution as a text.

    Covers are in the format of the PACE challenges: a line ``s vc VERTICES SIZE``, then the vertices by their positions from 1, one per
    line. Independent sets have one id per line.
    """
    positions = np.flatnonzero(members)
    if problem == "vertex-cover":
        header = f"s vc {instance.num_vertices} {len(positions)}\n"
        return header + "".join(f"{position + 1}\n" for position in positions.tolist())
    return "".join(f"{_line(vertex)}\n" for vertex in instance.vertex_ids(positions))


def _line(vertex: Any) -> str:
    """Return an id as the input has it: a string as it is, anything else as JSON, which has lists where Python has tuples."""
    return vertex if isinstance(vertex, str) else json.dumps(vertex, default=str)


def _position(instance: Instance, positions: dict[Any, int] | None, vertex: Any) -> int | None:
    if positions is not None:
        label = frozen(vertex)
        return positions.get(label) if isinstance(label, Hashable) and not isinstance(label, bool) else None
    position = int(vertex) - instance.index_base if is_integer(vertex) else -1
    return position if 0 <= position < instance.num_vertices else None


def _check_header(line: str, instance: Instance, size: int) -> None:
    if line.split() != ["s", "vc", str(instance.num_vertices), str(size)]:
        raise InvalidInput(
            f"the solution begins with {as_written(line)}, but the graph has {instance.num_vertices} vertices and {size} are listed",
            pointer="/solution",
        )


def _id_at(instance: Instance, word: str) -> Any:
    is_position = word.isdecimal() and len(word) < MOST_DIGITS and 1 <= int(word) <= instance.num_vertices
    return instance.vertex_id(int(word) - 1) if is_position else word


def _name(instance: Instance, position: int) -> Any:
    return as_written(instance.vertex_id(position))
