"""Largest cut of a graph, with or without predictions.

The use of predictions follows Aamand, Chen, Gollapudi, Silwal and Wu, "Improved Approximations for Hard Graph Problems using
Predictions" (ICML 2025), on MaxCut, and Cohen-Addad, d'Orsi, Gupta, Lee and Panigrahi, "Max-Cut with eps-Accurate Predictions"
(NeurIPS 2024): vertices with many votes follow them, the others are placed without predictions, and the better answer is kept.
Beside it runs a search that never sees the predictions, so that the answer is never worse than that search's. Symbols: eps ->
`epsilon`, Delta -> `threshold`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solvers.graphs.adapters import from_file, from_objects, solution_text
from solvers.graphs.advice import Advice, a_priori_guarantee, tally
from solvers.graphs.canonical import Instance
from solvers.graphs.certificate import store_large
from solvers.graphs.csr import cut_value
from solvers.graphs.portfolio import Portfolio
from solvers.graphs.predictions import Predictions
from solvers.graphs.request import GraphRequest, SearchOptions
from solvers.graphs.result import GraphResult, Guarantee, HistoryRow, ReductionSize
from solvers.operation import Context, Operation, Resources


class MaxCutRequest(GraphRequest):
    """A graph and, if there is one, a prediction of the best cut."""


def run_max_cut(request: MaxCutRequest, context: Context) -> GraphResult:
    """Carry out a request; see :func:`max_cut` for the library's form of it."""
    instance = request.read_instance(context)
    predictions = request.read_predictions(instance)
    advice = tally(predictions, instance.num_vertices, instance.edges) if predictions else None
    return MaxCutRun(instance, advice, request.options, context).result()
