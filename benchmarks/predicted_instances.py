"""The instances that the study of predictions solves: one per problem, with the solution that the bits are about.

The solutions are the best known ones or close to them, found by searches that the study has no part in.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from benchmarks import instances
from benchmarks.instances import MAXIMISED, Instance
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


class Study(NamedTuple):
    """How a problem is studied.

    Attributes
    ----------
    operation : Operation
    instance : str
    iterations : int
        Of local search that each part of a run has.
    near : float
        The target in terms of the reference's value; rounded up.
    """

    operation: Operation[Any, Any]
    instance: str
    iterations: int
    near: float

    @property
    def maximises(self) -> bool:
        """Whether more is better."""
        return self.operation.name in MAXIMISED


STUDIES = {
    "max-cut": Study(MAX_CUT, "G14", 10_000, 0.999),
    "vertex-cover": Study(VERTEX_COVER, "rb40-2", 20_000, 1.0),
    "independent-set": Study(INDEPENDENT_SET, "rb40-2", 20_000, 1.0),
    "set-cover": Study(SET_COVER, "stn45", 4_000, 1.0),
}


def load(problem: str) -> Instance:
    """Return the instance that a problem is studied on."""
    return instances.load(problem, STUDIES[problem].instance)


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
