"""Apply a predictor, or a relaxation, to a new instance; the answer is the `predictions` of a solve."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.any_instance import AnyInstance, AnyProblem, body_of
from solvers.graphs.arrays import Number
from solvers.graphs.prediction_fields import PredictionFields
from solvers.graphs.predictors.cross_validation import CrossValidation
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.predictor import PREDICTORS, Model, Predictor, quality_warnings, read_predictor
from solvers.graphs.predictors.relaxed import RelaxationModel
from solvers.graphs.predictors.subjects import Subject, read_subject
from solvers.graphs.result import WarningEntry
from solvers.graphs.set_cover_request import SetPredictionFields
from solvers.operation import Context, InvalidInput, Operation, Resources, UnknownFile

Form = Literal["edge_bits", "vertex_probabilities", "incidence_bits", "set_probabilities"]

DESCRIPTION = """
Post the same instance to the solve with `predictions` as they are returned here. Bits come with the accuracy and the correlation that
cross-validation found; where it found them no better than coins, or there was none, they are left out of the default answer.

With `model` in place of `predictor` nothing is learnt: the probabilities are those of the problem's convex relaxation. For vertex cover
and independent set that is the half-integral linear relaxation, for set cover the linear relaxation, for max-cut the semidefinite one,
whose first coordinate says the side.
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
    "Which of five ranges cover six stations": {
        "predictor": "demo-covers",
        "sets": [[0, 1, 2], [1], [2, 3], [3, 4, 5], [4, 5]],
    },
    "The linear relaxation of vertex cover": {
        "model": "relaxation",
        "problem": "vertex-cover",
        "edges": [[0, 1], [0, 2], [0, 3], [3, 4], [4, 5], [5, 3]],
    },
}


class PredictOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: Number | None = Field(None, gt=0, description="Seconds until the answer; default: the operation's.")


class PredictRequest(AnyInstance):
    """A predictor, or a model that needs none, and a new graph or set system."""

    predictor: str | None = Field(
        None, description="Id of a predictor, as `graphs/predictions/fit` returns it, or of a built-in one."
    )
    model: Literal["relaxation"] | None = Field(None, description="In place of a predictor: the relaxation of `problem`.")
    problem: AnyProblem | None = Field(None, description="The problem to be solved; default: the one that the predictor is for.")
    forms: list[Form] | None = Field(
        None, min_length=1, description="What to return; default: both, but bits only where they are known to be worth something."
    )
    options: PredictOptions = Field(default_factory=PredictOptions)

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.predictor is None) == (self.model is None):
            raise ValueError("give one of predictor and model")
        if self.model is not None and self.problem is None:
            raise ValueError("with a model in place of a predictor, name the problem")
        return self


class PredictResult(BaseModel):
    """Predictions of the instance's solution."""

    model_config = ConfigDict(extra="forbid")

    predictions: PredictionFields | SetPredictionFields = Field(
        description="What a solve of the same instance takes as its `predictions`."
    )
    problem: AnyProblem = Field(description="The problem whose solution is predicted.")
    unpredicted: int = Field(description="Vertices or sets that there is no probability for.", ge=0)
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the instance, or left out.")
    labels: list[Any] | None = Field(
        None, description="The names of the vertices, or elements, in order, if the request had names."
    )
    index_base: int = Field(0, description="Where there are no labels, the id of the first.")


_UNPREDICTED = {
    "frequency": "was never seen",
    "logistic": "has nothing to judge by",
    "relaxation": "is not told by the relaxation",
}


def run_predict(request: PredictRequest, context: Context) -> PredictResult:
    """Carry out a request."""
    model, problem, quality = _source(request, context)
    subject = read_subject(request, problem, context)
    forms = _forms(request, subject)
    forecast = model.forecast(subject)
    warnings = [WarningEntry.model_validate(repair) for repair in subject.instance.warnings]
    unpredicted = int(np.isnan(forecast.items).sum())
    if unpredicted:
        message = f"{unpredicted} of {subject.num_items}: such a {subject.noun} {_UNPREDICTED[model.kind]}"
        warnings.append(WarningEntry(code=f"unpredicted-{subject.plural}", message=message))
    return PredictResult(
        predictions=_predictions(subject, forecast, quality, forms, warnings),
        problem=problem,
        unpredicted=unpredicted,
        warnings=warnings,
        labels=subject.instance.labels,
        index_base=subject.instance.index_base,
    )


def _source(request: PredictRequest, context: Context) -> tuple[Model, AnyProblem, CrossValidation | None]:
    """Return the model, the problem that it is for, and how good it is known to be."""
    if request.predictor is None:
        assert request.problem is not None
        return RelaxationModel(), request.problem, None
    predictor = _predictor(request.predictor, context)
    if request.problem not in (None, predictor.problem):
        raise InvalidInput(f"the predictor is for {predictor.problem}, not for {request.problem}", pointer="/problem")
    return predictor.model, predictor.problem, predictor.cross_validation


def _predictor(predictor_id: str, context: Context) -> Predictor:
    try:
        return read_predictor(PREDICTORS.read(context.files, predictor_id))
    except UnknownFile:
        raise UnknownFile(f"there is no predictor {predictor_id[:80]!r}", pointer="/predictor") from None
    except InvalidInput as fault:
        fault.pointer = "/predictor"
        raise


def _forms(request: PredictRequest, subject: Subject) -> list[Form] | None:
    for index, form in enumerate(request.forms or ()):
        if form not in (subject.bits_form, subject.probabilities_form):
            allowed = f"{subject.bits_form} and {subject.probabilities_form}"
            raise InvalidInput(f"{subject.problem} has {allowed}, not {form}", pointer=f"/forms/{index}")
    return request.forms


def _predictions(
    subject: Subject, forecast: Forecast, quality: CrossValidation | None, forms: list[Form] | None, warnings: list[WarningEntry]
) -> PredictionFields | SetPredictionFields:
    found = None if quality is None else quality.epsilon
    epsilon = found if found is not None and found > 0 else None
    has_bits = epsilon is not None if forms is None else subject.bits_form in forms
    if epsilon is None and (forms is None or has_bits):
        warnings += quality_warnings(found, "on instances that were held back, the bits") or [_weak_bits()]
    fields: dict[str, Any] = {}
    if has_bits:
        # Where nothing is known of their correlation, bits about a vertex count as one.
        correlation = 1.0 if quality is None or quality.overdispersion is None else quality.overdispersion
        fields |= {subject.bits_form: subject.table_of(forecast.bits), "epsilon": epsilon, "overdispersion": correlation}
    if forms is None or subject.probabilities_form in forms:
        rounded = forecast.items.round(9).tolist()
        fields[subject.probabilities_form] = [None if value != value else value for value in rounded]
    return subject.prediction_fields.model_validate(fields)


def _weak_bits() -> WarningEntry:
    return WarningEntry(
        code="weak-bits", message="the bits are not known to be better than coins; they are there only if asked for"
    )


def from_objects(
    instance: Any,
    predictor: str | None = None,
    *,
    problem: AnyProblem | None = None,
    model: str | None = None,
    forms: list[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return the body that asks for predictions about a graph in memory or, where `problem` is set-cover, a set system.

    Examples
    --------
    >>> from_objects([[0, 1]], "demo-cuts")
    {'num_vertices': 2, 'index_base': 0, 'edges_flat': [0, 1], 'predictor': 'demo-cuts'}
    """
    given = {"predictor": predictor, "problem": problem, "model": model, "forms": forms}
    body = body_of(problem or "vertex-cover")(instance, **options)
    return body | {name: value for name, value in given.items() if value is not None}


def warm() -> None:
    """Compile, or load from the cache, what the first request would wait for."""
    run_predict(PredictRequest(predictor="demo-independent-sets", edges_flat=[0, 1, 1, 2, 2, 0]), Context())
    run_predict(PredictRequest(predictor="demo-covers", sets=[[0, 1], [1]]), Context())
    run_predict(PredictRequest(model="relaxation", problem="max-cut", edges_flat=[0, 1, 1, 2, 2, 0]), Context())


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
