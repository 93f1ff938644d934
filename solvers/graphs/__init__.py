"""Graph problems approximated with predictions, each answer with a proven bound."""

from solvers.graphs.epsilon import EpsilonEstimate, estimate_epsilon
from solvers.graphs.graph import Graph
from solvers.graphs.max_cut import max_cut
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions
from solvers.graphs.result import GraphResult

__all__ = [
    "EdgePredictions",
    "EpsilonEstimate",
    "Graph",
    "GraphResult",
    "VertexPredictions",
    "estimate_epsilon",
    "max_cut",
    "sample_edge_predictions",
]
