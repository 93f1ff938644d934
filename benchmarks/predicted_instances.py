"""The instances that the study of predictions solves: one per problem, with the solution that the bits are about.

The solutions are the best known ones or close to them, found by searches that the study has no part in.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.gset import GRAPHS, cut_value
from solvers.graphs.formats import read_graph
from solvers.graphs.formats.set_cover import read_set_system
from solvers.graphs.graph import Graph
from solvers.graphs.incidence_predictions import IncidencePredictions, sample_incidence_predictions
from solvers.graphs.independent_set import INDEPENDENT_SET
from solvers.graphs.max_cut import MAX_CUT
from solvers.graphs.predictions import EdgePredictions, sample_edge_predictions
from solvers.graphs.set_cover import SET_COVER
from solvers.graphs.set_system import SetSystem
from solvers.graphs.vertex_cover import VERTEX_COVER
from solvers.operation import Operation

NO_PREDICTIONS, INVERTED = "none", "inverted"

# The draws of a run differ from the solver's, which has the first few streams of the same seed.
STREAM_OF_DRAWS = 1000

Members = npt.NDArray[np.int8]


class Study(NamedTuple):
    """How a problem is studied.

    Attributes
    ----------
    operation : Operation
    folder, instance : str
        The shipped file, without its ending.
    iterations : int
        Of local search that each part of a run has.
    near : float
        The target in terms of the reference's value; rounded up.
    maximises : bool
    """

    operation: Operation[Any, Any]
    folder: str
    instance: str
    iterations: int
    near: float
    maximises: bool


STUDIES = {
    "max-cut": Study(MAX_CUT, "maxcut", "G14", 10_000, 0.999, True),
    "vertex-cover": Study(VERTEX_COVER, "mis", "rb40-2", 20_000, 1.0, False),
    "independent-set": Study(INDEPENDENT_SET, "mis", "rb40-2", 20_000, 1.0, True),
    "set-cover": Study(SET_COVER, "setcover", "stn45", 4_000, 1.0, False),
}


class Instance(NamedTuple):
    """An instance, and a good solution of it.

    Attributes
    ----------
    content : Graph or SetSystem
    reference : int8 array
        The sides, or 1 for the members, of the solution that bits are about.
    worth : callable
        The value of sides or members; ValueError if they are no solution.
    """

    content: Graph | SetSystem
    reference: Members
    worth: Callable[[Members], int]

    def marked(self, solution: Sequence[int], problem: str) -> Members:
        """Return a solution as an answer writes it in the form of the reference."""
        if problem == "max-cut":
            return np.array(solution, np.int8)
        members = np.zeros(len(self.reference), np.int8)
        members[np.array(solution, np.int64) - self.content.index_base] = 1
        return members


@cache
def load(problem: str) -> Instance:
    study = STUDIES[problem]
    entries = json.loads((GRAPHS / "references.json").read_text())
    # The shipped sets are independent; what they leave out covers.
    kind = {"max-cut": "max_cut", "set-cover": "set_cover"}.get(problem, "independent_set")
    text = next(one["solution"] for one in entries if (one["problem"], one["instance"]) == (kind, study.instance))
    solution = np.array(list(map(int, text)), np.int8)
    if problem == "set-cover":
        system = read_set_system((GRAPHS / study.folder / f"{study.instance}.txt").read_bytes())[0]
        return Instance(system, solution, lambda members: cover_cost(system, members))
    ending = "txt" if problem == "max-cut" else "mis"
    graph = read_graph((GRAPHS / study.folder / f"{study.instance}.{ending}").read_text())
    if problem == "max-cut":
        return Instance(graph, solution, lambda sides: cut_value(graph, sides))
    if problem == "vertex-cover":
        return Instance(graph, 1 - solution, lambda members: vertex_count(graph, members, covering=members))
    return Instance(graph, solution, lambda members: vertex_count(graph, members, covering=1 - members))


def vertex_count(graph: Graph, members: Members, covering: Members) -> int:
    """Return the number of members, where `covering` must meet every edge."""
    if not covering[graph.edges].any(axis=1).all():
        raise ValueError("an edge is not covered, or joins two members of a set that should be independent")
    return int(members.sum())


def cover_cost(system: SetSystem, members: Members) -> int:
    covered = np.zeros(system.num_elements, bool)
    covered[system.elements[np.repeat(members, np.diff(system.set_ptr)) == 1]] = True
    if not covered.all():
        raise ValueError(f"element {int(np.argmin(covered))} is in no chosen set")
    return int(system.costs[members == 1].sum())


def drawn(problem: str, advice: str, seed: int) -> EdgePredictions | IncidencePredictions | None:
    """Draw the bits about an instance's reference.

    Parameters
    ----------
    problem : str
    advice : str
        `NO_PREDICTIONS`; an epsilon; or `INVERTED`: every bit is wrong, and said to be right for sure.
    seed : int
        A bit that is right at some epsilon is right at every larger one.
    """
    if advice == NO_PREDICTIONS:
        return None
    instance, rng = load(problem), np.random.default_rng([seed, STREAM_OF_DRAWS])
    epsilon = 0.5 if advice == INVERTED else float(advice)
    predictions: EdgePredictions | IncidencePredictions
    if isinstance(instance.content, SetSystem):
        predictions = sample_incidence_predictions(instance.content, instance.reference, epsilon, rng)
    else:
        predictions = sample_edge_predictions(instance.content.edges, instance.reference, epsilon, rng)
    return dataclasses.replace(predictions, bits=1 - predictions.bits) if advice == INVERTED else predictions
