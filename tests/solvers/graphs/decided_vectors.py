"""What the votes of the reference program's cases decide at their thresholds."""

from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice, tally
from solvers.graphs.predictions import EdgePredictions
from tests.solvers.graphs.weighted_vertices import WeightedVertices


class Decided(NamedTuple):
    graph: WeightedVertices
    advice: Advice
    is_decided: np.ndarray
    expected: dict


def decided(vector):
    """Return a case's graph with unit weights, its votes, the vertices with as many as its threshold, and what it expects."""
    graph = WeightedVertices(vector.num_vertices, vector.edges, np.ones(vector.num_vertices, np.int64))
    predictions = EdgePredictions(vector.bits, epsilon=vector.expected["epsilon"])
    advice = tally([predictions], vector.num_vertices, vector.edges, symmetric=False)
    return Decided(graph, advice, advice.votes >= vector.expected["threshold"], vector.expected)


def vertices(mask):
    """Return the numbers of the vertices in a mask."""
    return np.flatnonzero(mask).tolist()
