"""The graphs that the MaxCut benchmarks run on, and the one checker of all cuts."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import solvers
from solvers.graphs.formats import read_graph
from solvers.graphs.graph import Graph

ROOT = Path(__file__).resolve().parent.parent
GRAPHS = ROOT / "tests" / "data" / "graphs"
INSTANCES = ("G1", "G11", "G14", "G22", "G43", "G50")


class Instance(NamedTuple):
    """A graph of the Gset collection, and a cut of it that is the best known one or close to it."""

    name: str
    graph: Graph
    best_known: int
    reference: npt.NDArray[np.int8]

    @property
    def reference_value(self) -> int:
        return cut_value(self.graph, self.reference)


def load(name: str) -> Instance:
    entries = json.loads((GRAPHS / "references.json").read_text())
    entry = next(entry for entry in entries if entry["problem"] == "max_cut" and entry["instance"] == name)
    graph = read_graph((GRAPHS / "maxcut" / f"{name}.txt").read_text())
    return Instance(name, graph, entry["best_known"], sides_from(entry["solution"]))


def weights_of(graph: Graph) -> npt.NDArray[np.int64]:
    return np.ones(len(graph.edges), np.int64) if graph.edge_weights is None else graph.edge_weights


def cut_value(graph: Graph, sides: npt.NDArray[np.int8]) -> int:
    """Return the weight of the edges between the sides, whoever found them."""
    if len(sides) != graph.num_vertices or not np.isin(sides, (0, 1)).all():
        raise ValueError(f"{len(sides)} sides for {graph.num_vertices} vertices, or one that is neither 0 nor 1")
    separated = sides[graph.edges[:, 0]] != sides[graph.edges[:, 1]]
    return int(weights_of(graph)[separated].sum())


def sides_from(text: str) -> npt.NDArray[np.int8]:
    return np.array(list(map(int, text)), np.int8)


def own_version() -> str:
    """Return the version of our solvers, with a digest of their sources: figures belong to the code that made them."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    package = Path(solvers.__file__).parent
    sources = [package / "operation.py", *sorted((package / "graphs").rglob("*.py"))]
    return f"{version}+{hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:8]}"
