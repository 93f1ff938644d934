"""Twenty-five graphs on the same vertices, each with a largest independent set."""

import json

import numpy as np

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import subject_of
from tests.solvers.graphs.prediction_vectors import DATA

PAST = json.loads((DATA / "past_independent_sets.json").read_text())


def solved(graph: dict) -> Solved:
    truth = np.zeros(PAST["n"], np.int8)
    truth[graph["independent_set"]] = 1
    return Solved(subject_of(canonicalise(Graph(PAST["n"], graph["edges"])), "independent-set"), truth)


def body(graphs: list[dict], **fields) -> dict:
    instances = [{"num_vertices": PAST["n"], "edges": one["edges"], "solution": one["independent_set"]} for one in graphs]
    return {"problem": "independent-set", "instances": instances} | fields
