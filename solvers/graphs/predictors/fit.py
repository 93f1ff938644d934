"""Learn a predictor from past solved instances, and say how good it is on instances that it has not seen."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs.any_instance import AnyProblem
from solvers.graphs.arrays import Integer, Number
from solvers.graphs.predictors.predictor import PREDICTORS, ModelName, PredictorSummary, fit_predictor, quality_warnings
from solvers.graphs.predictors.solved_instances import SolvedInstance, read_solved
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, Operation, Resources

DESCRIPTION = """
`frequency` counts how often each vertex or set was chosen, for instances that share them: probability (c + 1) / (K + 2) after c of K past
solutions, past cuts turned to agree first. `logistic`, for instances of the same kind, regresses the side of a vertex on its degree, that
of the neighbour, its core number, triangles and the linear relaxation; that of a set on its size and cost, how rare its elements are, and
the relaxation. `relaxation` learns nothing: the past says how good the problem's own convex relaxation is. The result names the predictor
for `graphs/predictions/predict`; it is kept until it is deleted under `/v1/graphs/predictors`.
"""

_RING = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]]
EXAMPLES: dict[str, dict[str, Any]] = {
    "Cuts of one ring with changing chords": {
        "problem": "max-cut",
        "model": "frequency",
        "folds": 3,
        "instances": [
            {"edges": [*_RING, [0, 3]], "solution": [0, 1, 0, 1, 0, 1]},
            {"edges": [*_RING, [1, 4]], "solution": [1, 0, 1, 0, 1, 0]},
            {"edges": [*_RING, [2, 5]], "solution": [0, 1, 0, 1, 0, 1]},
        ],
    },
    "Independent sets of stars and paths": {
        "problem": "independent-set",
        "model": "logistic",
        "folds": 2,
        "instances": [
            {"edges": [[0, 1], [0, 2], [0, 3], [0, 4]], "solution": [1, 2, 3, 4]},
            {"edges": [[0, 1], [1, 2], [2, 3], [3, 4]], "solution": [0, 2, 4]},
            {"edges": [[0, 1], [0, 2], [0, 3], [3, 4], [3, 5]], "solution": [1, 2, 4, 5]},
            {"edges": [[0, 1], [1, 2], [1, 3], [3, 4]], "solution": [0, 2, 4]},
        ],
    },
    "Covers by the same sets, whose elements change": {
        "problem": "set-cover",
        "model": "frequency",
        "folds": 3,
        "instances": [
            {"sets": [[0, 1], [1, 2], [2, 3], [0, 3]], "solution": [0, 2]},
            {"sets": [[0, 1], [1], [2, 3], [3]], "solution": [0, 2]},
            {"sets": [[0], [0, 1, 2], [2, 3], [3]], "solution": [1, 2]},
        ],
    },
    "How good the linear relaxation of vertex cover is": {
        "problem": "vertex-cover",
        "model": "relaxation",
        "folds": 2,
        "instances": [
            {"edges": [[0, 1], [0, 2], [2, 3], [3, 4]], "solution": [0, 3]},
            {"edges": [[0, 1], [1, 2], [2, 0], [2, 3]], "vertex_weights": [1, 2, 2, 3], "solution": [0, 2]},
        ],
    },
}


class FitOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(
        None,
        gt=0,
        description="Seconds until the answer; when they are over, folds that are left stay out. Default: the operation's.",
    )


class FitRequest(BaseModel):
    """Past instances with their solutions, and what to learn from them."""

    model_config = ConfigDict(extra="forbid")

    problem: AnyProblem = Field(description="What the solutions solve.")
    instances: list[SolvedInstance] = Field(
        min_length=1, description="Past instances, each a graph or set system with its solution."
    )
    model: ModelName = Field(
        "frequency",
        description="`frequency` for instances with the same vertices or sets, `logistic` for instances of the same kind, `relaxation` to "
        "learn nothing but how good that is.",
    )
    folds: Integer = Field(5, ge=2, le=100, description="Parts for cross-validation; never more than there are instances.")
    seed: Integer = Field(
        0, ge=0, le=2**53, description="Of the dealing into folds, and of the choice of rows where there are many."
    )
    options: FitOptions = Field(default_factory=FitOptions)


class FitResult(PredictorSummary):
    """The predictor's id, and how good it is."""

    predictor: str = Field(description="Its id: name it to `graphs/predictions/predict`.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired or is odd in the instances.")


def run_fit(request: FitRequest, context: Context) -> FitResult:
    """Carry out a request."""
    solved, warnings = read_solved(request.instances, request.problem, context)
    fitted = fit_predictor(solved, request.model, folds=request.folds, seed=request.seed, context=context)
    if fitted.is_cut_short:
        message = "time ran out before all folds were predicted"
        warnings.append(WarningEntry(code="time-limit", message=message, pointer="/options/time_limit"))
    elif fitted.predictor.cross_validation is None:
        message = "one instance cannot be held back from a predictor of the others; its quality is unknown"
        warnings.append(WarningEntry(code="not-validated", message=message, pointer="/instances"))
    else:
        warnings += quality_warnings(fitted.predictor.cross_validation.epsilon, "on instances that were held back, the bits")
    content = fitted.predictor.model_dump_json().encode()
    return FitResult(
        predictor=PREDICTORS.save(context.files, content), warnings=warnings, **fitted.predictor.summary.model_dump()
    )


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for demo in PREDICTORS.demos.values():
        demo()


GRAPHS_PREDICTIONS_FIT: Operation[FitRequest, FitResult] = Operation(
    name="graphs-predictions-fit",
    path="graphs/predictions/fit",
    request=FitRequest,
    result=FitResult,
    run=run_fit,
    summary="Learn a predictor from past solved instances.",
    description=DESCRIPTION,
    resources=Resources(time_limit=60.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("predictor",),
    warm=warm,
    makes=PREDICTORS,
)
