"""Apply a predictor to a new instance; the answer is the `predictions` of a solve."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs import adapters
from solvers.graphs.arrays import Number
from solvers.graphs.prediction_fields import PredictionFields
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.predictor import PREDICTORS, Predictor, read_predictor
from solvers.graphs.predictors.solved_instances import Problem
from solvers.graphs.request import InstanceFields
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, InvalidInput, Operation, Resources, UnknownFile

Form = Literal["edge_bits", "vertex_probabilities"]

ALL_FORMS: tuple[Form, ...] = ("edge_bits", "vertex_probabilities")

DESCRIPTION = """
Post the same graph to the solve with `predictions` as they are returned here. Bits come with the accuracy and the correlation that
cross-validation found; where it found them no better than coins, or there was none, they are left out of the default answer.
"""

EXAMPLES: dict[str, dict[str, Any]] = {
    "A cut of a ring like those of the past": {
        "predictor": "demo-cuts",
        "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [2, 5]],
    },
    "Probabilities of an independent set of a star": {
        "predictor": "demo-independent-sets",
        "problem": "independent-set",
        "edges": [[0, 1], [0, 2], [0, 3], [0, 4]],
        "forms": ["vertex_probabilities"],
    },
}


class PredictOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(None, gt=0, description="Seconds until the answer; default: the operation's.")


class PredictRequest(InstanceFields):
    """A predictor and a new graph."""

    predictor: str = Field(description="Id of a predictor, as `graphs/predictions/fit` returns it, or of a built-in one.")
    problem: Problem | None = Field(None, description="The problem to be solved; default: the one that the predictor is for.")
    forms: list[Form] | None = Field(
        None, min_length=1, description="What to return; default: both, but bits only where they are known to be worth something."
    )
    options: PredictOptions = Field(default_factory=PredictOptions)


class PredictResult(BaseModel):
    """Predictions of the graph's solution."""

    model_config = ConfigDict(extra="forbid")

    predictions: PredictionFields = Field(description="What a solve of the same graph takes as its `predictions`.")
    problem: Problem = Field(description="The problem whose solution is predicted.")
    unpredicted: int = Field(description="Vertices that the predictor has no probability for.", ge=0)
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the graph, or left out.")
    labels: list[Any] | None = Field(None, description="The names of the vertices in order, if the request had names.")
    index_base: int = Field(0, description="Where there are no labels, the id of the first vertex.")


def run_predict(request: PredictRequest, context: Context) -> PredictResult:
    """Carry out a request."""
    predictor = _predictor(request, context)
    instance = request.read_instance(context, predictor.problem)
    forecast = predictor.forecast(instance, context)
    warnings = [WarningEntry.model_validate(repair) for repair in instance.warnings]
    unpredicted = int(np.isnan(forecast.vertices).sum())
    if unpredicted:
        known = "has never seen" if predictor.model.kind == "frequency" else "has no edges to judge by for"
        message = f"the predictor {known} {unpredicted} of {instance.num_vertices} vertices"
        warnings.append(WarningEntry(code="unpredicted-vertices", message=message))
    return PredictResult(
        predictions=_predictions(predictor, forecast, request.forms, warnings),
        problem=predictor.problem,
        unpredicted=unpredicted,
        warnings=warnings,
        labels=instance.labels,
        index_base=instance.index_base,
    )


def _predictor(request: PredictRequest, context: Context) -> Predictor:
    try:
        predictor = read_predictor(PREDICTORS.read(context.files, request.predictor))
    except UnknownFile:
        raise UnknownFile(f"there is no predictor {request.predictor[:80]!r}", pointer="/predictor") from None
    except InvalidInput as fault:
        fault.pointer = "/predictor"
        raise
    if request.problem not in (None, predictor.problem):
        raise InvalidInput(f"the predictor is for {predictor.problem}, not for {request.problem}", pointer="/problem")
    return predictor


def _predictions(
    predictor: Predictor, forecast: Forecast, forms: list[Form] | None, warnings: list[WarningEntry]
) -> PredictionFields:
    found = predictor.cross_validation
    epsilon = None if found is None or found.epsilon is None or found.epsilon <= 0 else found.epsilon
    chosen = forms or ALL_FORMS
    if epsilon is None and "edge_bits" in chosen:
        message = "cross-validation did not find the bits better than coins"
        if forms is None:
            message, chosen = f"{message}; they are left out", ("vertex_probabilities",)
        warnings.append(WarningEntry(code="weak-bits", message=message))
    fields: dict[str, Any] = {}
    if "edge_bits" in chosen:
        bits = forecast.bits.tolist()
        if (forecast.bits < 0).any():
            bits = [[None if bit < 0 else bit for bit in row] for row in bits]
        # Where nothing is known of their correlation, bits about a vertex count as one.
        correlation = 1.0 if found is None or found.overdispersion is None else found.overdispersion
        fields |= {"edge_bits": bits, "epsilon": epsilon, "overdispersion": correlation}
    if "vertex_probabilities" in chosen:
        rounded = forecast.vertices.round(9).tolist()
        fields["vertex_probabilities"] = [None if value != value else value for value in rounded]
    return PredictionFields.model_validate(fields)


def from_objects(graph: Any, predictor: str, *, forms: list[str] | None = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks for predictions about a graph in memory.

    Examples
    --------
    >>> from_objects([[0, 1]], "demo-cuts")
    {'num_vertices': 2, 'index_base': 0, 'edges_flat': [0, 1], 'predictor': 'demo-cuts'}
    """
    body = adapters.from_objects(graph, **options) | {"predictor": predictor}
    return body if forms is None else body | {"forms": forms}


def warm() -> None:
    """Compile, or load from the cache, what the first request would wait for."""
    run_predict(PredictRequest(predictor="demo-independent-sets", edges_flat=[0, 1, 1, 2, 2, 0]), Context())


GRAPHS_PREDICTIONS_PREDICT: Operation[PredictRequest, PredictResult] = Operation(
    name="graphs-predictions-predict",
    path="graphs/predictions/predict",
    request=PredictRequest,
    result=PredictResult,
    run=run_predict,
    summary="Predict the solution of a new instance by a predictor.",
    description=DESCRIPTION,
    resources=Resources(time_limit=30.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=(),
    warm=warm,
    from_objects=from_objects,
)
