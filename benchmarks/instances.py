"""The shipped instances of the four graph problems, and the one checker of all their solutions."""

from __future__ import annotations

import csv
import hashlib
import json
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import solvers
from solvers.graphs.formats import read_graph
from solvers.graphs.formats.set_cover import read_set_system
from solvers.graphs.graph import Graph
from solvers.graphs.set_system import SetSystem

ROOT = Path(__file__).resolve().parent.parent
GRAPHS = ROOT / "tests" / "data" / "graphs"

MAX_CUT, VERTEX_COVER, INDEPENDENT_SET, SET_COVER = "max-cut", "vertex-cover", "independent-set", "set-cover"
PROBLEMS = (MAX_CUT, VERTEX_COVER, INDEPENDENT_SET, SET_COVER)
MAXIMISED = {MAX_CUT, INDEPENDENT_SET}

# What instances.csv and references.json call the problems; a cover is what an independent set leaves over.
SHIPPED_AS = {
    MAX_CUT: "max_cut",
    VERTEX_COVER: "independent_set",
    INDEPENDENT_SET: "independent_set",
    SET_COVER: "set_cover",
}

Members: TypeAlias = npt.NDArray[np.int8]
"""1 for the vertices on the second side of a cut, for the members of a set of vertices, or for the chosen sets; else 0."""


class NoSolution(ValueError):
    """What was offered as a solution is none."""


class Instance(NamedTuple):
    """An instance, and a solution of it that is the best known one or close to it."""

    problem: str
    name: str
    content: Any  # a Graph, or a SetSystem
    best_known: int
    reference: Members

    @property
    def size(self) -> int:
        """Return the number of vertices, or of sets."""
        return self.content.num_sets if self.problem == SET_COVER else self.content.num_vertices

    def members(self, solution: Sequence[int]) -> Members:
        """Return a solution as an answer of ours lists it: the sides, or the ids of members."""
        if self.problem == MAX_CUT:
            return np.array(solution, np.int8)
        members = np.zeros(self.size, np.int8)
        members[np.array(solution, np.int64) - self.content.index_base] = 1
        return members

    def value(self, members: Members) -> int:
        """Return what a solution is worth, whoever found it; NoSolution if it is none."""
        if members.shape != (self.size,) or not np.isin(members, (0, 1)).all():
            raise NoSolution(f"an array of shape {members.shape} for {self.size} places, or an entry that is neither 0 nor 1")
        return VALUES[self.problem](self.content, members)


@cache
def names(problem: str) -> tuple[str, ...]:
    """Return the names of the shipped instances of a problem."""
    return tuple(row["instance"] for row in _rows() if SHIPPED_AS[problem] in row["problem"].split(" / "))


@cache
def load(problem: str, name: str) -> Instance:
    """Return a shipped instance."""
    row = next(row for row in _rows() if row["instance"] == name and SHIPPED_AS[problem] in row["problem"].split(" / "))
    text = (GRAPHS / row["file"]).read_text()
    content = read_set_system(text)[0] if problem == SET_COVER else read_graph(text)
    best_known, reference = int(row["best_known"]), _references()[SHIPPED_AS[problem], name]
    if problem == VERTEX_COVER:
        best_known, reference = content.num_vertices - best_known, 1 - reference
    return Instance(problem, name, content, best_known, reference)


def weights_of(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the weights of the edges, 1 where there are none."""
    return np.ones(len(graph.edges), np.int64) if graph.edge_weights is None else graph.edge_weights


def cut_value(graph: Graph, sides: Members) -> int:
    """Return the weight of the edges between the sides."""
    separated = sides[graph.edges[:, 0]] != sides[graph.edges[:, 1]]
    return int(weights_of(graph)[separated].sum())


def cover_size(graph: Graph, members: Members) -> int:
    """Return the number of members of a vertex cover."""
    missed = ~members[graph.edges].any(axis=1)
    if missed.any():
        raise NoSolution(f"no end of {int(missed.sum())} edges is in the cover")
    return int(members.sum())


def independent_size(graph: Graph, members: Members) -> int:
    """Return the number of members of an independent set."""
    within = members[graph.edges].all(axis=1)
    if within.any():
        raise NoSolution(f"{int(within.sum())} edges are within the set")
    return int(members.sum())


def cover_cost(system: SetSystem, members: Members) -> int:
    """Return the cost of the chosen sets."""
    covered = np.zeros(system.num_elements, bool)
    covered[system.elements[np.repeat(members == 1, np.diff(system.set_ptr))]] = True
    if not covered.all():
        raise NoSolution(f"{int((~covered).sum())} elements are in no chosen set")
    return int(system.costs[members == 1].sum())


VALUES = {MAX_CUT: cut_value, VERTEX_COVER: cover_size, INDEPENDENT_SET: independent_size, SET_COVER: cover_cost}


def members_from(text: str) -> Members:
    """Return what a string of 0 and 1 says."""
    return np.frombuffer(text.encode(), np.int8) - ord("0")


def own_version(family: str = "graphs") -> str:
    """Return the version of a family of solvers, with a digest of its sources: figures belong to the code that made them."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    package = Path(solvers.__file__).parent
    folder = ROOT / family if family == "auctions" else package / family
    sources = [package / "operation.py", *sorted(folder.rglob("*.py"))]
    return f"{version}+{hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:8]}"


@cache
def _rows() -> list[dict[str, str]]:
    with (GRAPHS / "instances.csv").open() as file:
        return list(csv.DictReader(file))


@cache
def _references() -> dict[tuple[str, str], Members]:
    entries = json.loads((GRAPHS / "references.json").read_text())
    return {(entry["problem"], entry["instance"]): members_from(entry["solution"]) for entry in entries}
