"""Covers and independent sets as solutions: whether they are ones, what they weigh, and how they are written to a file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from solvers.graphs.arrays import as_written
from solvers.graphs.canonical import Instance, Problem

MOST_VIOLATIONS = 10


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


def value_of(instance: Instance, members: np.ndarray) -> int | float:
    """Return the weight of some vertices in the caller's weights: exact for integers, rounded once for floats."""
    weights = instance.vertex_weights[members]
    return int(weights.sum()) if weights.dtype.kind == "i" else math.fsum(weights.tolist())


def file_text(instance: Instance, problem: Problem, members: np.ndarray) -> str:
    """Return a solution as a text.

    Covers are in the format of the PACE challenges: a line ``s vc VERTICES SIZE``, then the vertices by their positions from 1, one per
    line. Independent sets have one id per line.
    """
    positions = np.flatnonzero(members)
    if problem == "vertex-cover":
        header = f"s vc {instance.num_vertices} {len(positions)}\n"
        return header + "".join(f"{position + 1}\n" for position in positions.tolist())
    return "".join(f"{vertex}\n" for vertex in instance.vertex_ids(positions))


def _name(instance: Instance, position: int) -> Any:
    return as_written(instance.vertex_id(position))
