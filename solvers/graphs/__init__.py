"""Graph problems approximated with predictions, each answer with a proven bound."""

from solvers.graphs.epsilon import EpsilonEstimate, estimate_epsilon, pooled_epsilon
from solvers.graphs.graph import Graph
from solvers.graphs.incidence_predictions import IncidencePredictions, sample_incidence_predictions
from solvers.graphs.independent_set import independent_set
from solvers.graphs.max_cut import max_cut
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions
from solvers.graphs.result import GraphResult
from solvers.graphs.set_cover import set_cover
from solvers.graphs.set_system import SetSystem
from solvers.graphs.vertex_cover import vertex_cover

__all__ = [
    "EdgePredictions",
    "EpsilonEstimate",
    "Graph",
    "GraphResult",
    "IncidencePredictions",
    "SetSystem",
    "VertexPredictions",
    "estimate_epsilon",
    "independent_set",
    "max_cut",
    "pooled_epsilon",
    "sample_edge_predictions",
    "sample_incidence_predictions",
    "set_cover",
    "vertex_cover",
]
