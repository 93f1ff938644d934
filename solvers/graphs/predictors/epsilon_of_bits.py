"""How good the bits of a prediction are, as an operation: by how they agree with each other or with a known solution."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs import adapters
from solvers.graphs.arrays import Array, list_of
from solvers.graphs.canonical import Instance
from solvers.graphs.epsilon import estimate_epsilon
from solvers.graphs.prediction_fields import PredictionFields
from solvers.graphs.predictions import EdgePredictions
from solvers.graphs.predictors.solved_instances import Problem, truth_of, turned_to
from solvers.graphs.request import InstanceFields
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, Operation, Resources

DESCRIPTION = """
A bit is right with probability 1/2 + epsilon. `moment` tells epsilon from how often two bits about one vertex agree, `em` fits two sides
that may be predicted unequally well; both take the bits as independent, and copies of one label for perfect. `reference` counts the right
bits, and sees their correlation. A reference cut is turned over, component by component, where the bits agree better with it so.
"""

EXAMPLES: dict[str, dict[str, Any]] = {
    "Bits alone": {
        "problem": "vertex-cover",
        "edges": [[0, 1], [0, 2], [0, 3], [1, 2]],
        "edge_bits": [[1, 0], [1, 0], [1, 1], [0, None]],
    },
    "Bits and the cover that they are about": {
        "problem": "vertex-cover",
        "edges": [[0, 1], [0, 2], [0, 3], [1, 2]],
        "edge_bits": [[1, 0], [1, 0], [1, 1], [0, None]],
        "reference": [0, 1],
    },
    "Bits of a cut that is turned over": {
        "problem": "max-cut",
        "edges": [[0, 1], [1, 2], [2, 3]],
        "edge_bits": [[1, 0], [0, 1], [1, 1]],
        "reference": [0, 1, 0, 1],
        "method": "reference",
    },
}

_BIT = {"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "null"}]}


class EpsilonRequest(InstanceFields):
    """Bits about a graph and, if it is known, the solution that they are about."""

    problem: Problem = Field(description="The problem whose solution the bits predict.")
    edge_bits: Annotated[list[Any], list_of({"type": "array", "items": _BIT, "minItems": 2, "maxItems": 2})] | None = Field(
        None, description="Row e has a bit about each end of edge e, as in the `predictions` of a solve."
    )
    edge_bits_flat: Annotated[list[Any], list_of({"type": "integer", "enum": [0, 1, -1]})] | None = Field(
        None, description="`edge_bits` row after row in one list, -1 where there is no bit."
    )
    reference: Annotated[list[Any], list_of({"anyOf": [{"type": "integer"}, {"type": "string"}]})] | None = Field(
        None, description="A solution as a solve returns it: ids of vertices, or of a cut the side of every vertex."
    )
    method: Literal["moment", "em", "reference"] | None = Field(
        None, description="Default: `reference` if there is one, else `moment`."
    )

    @model_validator(mode="after")
    def _has_bits(self) -> Self:
        if (self.edge_bits is None) == (self.edge_bits_flat is None):
            raise ValueError("give one of edge_bits and edge_bits_flat")
        if self.method == "reference" and self.reference is None:
            raise ValueError("method 'reference' counts right bits and needs a reference")
        return self


class EpsilonResult(BaseModel):
    """What the bits say of their own quality."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float | None = Field(
        description="Null where the bits cannot tell; negative where they are wrong more often than right."
    )
    interval: tuple[float, float] | None = Field(description="95 % interval; null for `em`.")
    asymmetry: float | None = Field(description="abs(P(1 | in) + P(1 | out) - 1): 0 where both sides are predicted equally well.")
    overdispersion: float | None = Field(description="Correlation of the bits about one vertex; only seen against a reference.")
    method: Literal["moment", "em", "reference"] = Field(description="How it was estimated.")
    bits: int = Field(description="Bits that are not missing.", ge=0)
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the graph, or is odd.")


def run_estimate_epsilon(request: EpsilonRequest, context: Context) -> EpsilonResult:
    """Carry out a request."""
    instance = request.read_instance(context, request.problem)
    fields = PredictionFields(edge_bits=request.edge_bits, edge_bits_flat=request.edge_bits_flat)
    prediction = fields.read(instance, "")[0]
    assert isinstance(prediction, EdgePredictions)
    endpoints = instance.edges if prediction.endpoints is None else prediction.endpoints
    bits = prediction.bits
    truth = None if request.reference is None else _truth(request, instance, endpoints, bits)
    method = request.method or ("moment" if truth is None else "reference")
    estimate = estimate_epsilon(endpoints, bits, truth if method == "reference" else None, method)
    warnings = [WarningEntry.model_validate(repair) for repair in instance.warnings]
    if estimate.epsilon is not None and estimate.epsilon < 0:
        message = "the bits are wrong more often than right; turned over, they would predict"
        warnings.append(WarningEntry(code="mostly-wrong", message=message))
    return EpsilonResult(
        epsilon=estimate.epsilon,
        interval=estimate.interval,
        asymmetry=estimate.asymmetry,
        overdispersion=estimate.overdispersion,
        method=method,
        bits=int((bits >= 0).sum()),
        warnings=warnings,
    )


def _truth(request: EpsilonRequest, instance: Instance, endpoints: Array, bits: Array) -> Array:
    assert request.reference is not None
    truth = truth_of(request.reference, request.problem, instance, "/reference")
    if request.problem != "max-cut":
        return truth
    for_side_1 = np.where(bits < 0, 0, 2 * bits.astype(np.int64) - 1)
    return turned_to(truth, np.bincount(endpoints.ravel(), for_side_1.ravel(), minlength=instance.num_vertices), instance)


def from_objects(graph: Any, predictions: EdgePredictions, *, problem: Problem, reference: Any = None) -> dict[str, Any]:
    """Return the body that asks how good the bits about a graph in memory are.

    Examples
    --------
    >>> from_objects([[0, 1]], EdgePredictions([[0, 1]]), problem="max-cut")["edge_bits_flat"]
    [0, 1]
    """
    body = adapters.from_objects(graph) | {"problem": problem, "edge_bits_flat": predictions.bits.ravel().tolist()}
    return body if reference is None else body | {"reference": np.asarray(reference).tolist()}


GRAPHS_PREDICTIONS_ESTIMATE_EPSILON: Operation[EpsilonRequest, EpsilonResult] = Operation(
    name="graphs-predictions-estimate-epsilon",
    path="graphs/predictions/estimate-epsilon",
    request=EpsilonRequest,
    result=EpsilonResult,
    run=run_estimate_epsilon,
    summary="Estimate how often the bits of a prediction are right.",
    description=DESCRIPTION,
    resources=Resources(time_limit=30.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=(),
    from_objects=from_objects,
)
