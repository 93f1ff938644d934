"""Compare a model with a constant, a linear model or another model: row by row on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.additive_fit import fit_additive
from solvers.gam.additive_model import AdditiveModel
from solvers.gam.candidate_columns import row_sums
from solvers.gam.operations.baselines import as_decision, best_constants, constant_decision
from solvers.gam.operations.edit import ModelId
from solvers.gam.operations.held_back import FOLDS, class_in_one_fold, dealt_folds
from solvers.gam.operations.kept_data import KeptData
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.models import DEMO, DEMO_EDITED, read_baselines, read_model, require_data
from solvers.gam.operations.refitting import sample_of
from solvers.gam.operations.scored_rows import GivenRows, error_of_record, given_rows, kept_part, parameters_of
from solvers.gam.operations.table_fields import TableFields
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats, ShapeFunction
from solvers.operation import Conflict, Context, InvalidInput, Operation, Resources

On = Literal["holdout", "train", "cv"]

EXAMPLES: dict[str, dict[str, Any]] = {
    "What steps are worth beyond straight lines": {"model": DEMO, "baseline": "linear"},
    "What an edit cost": {"model": DEMO_EDITED, "baseline": DEMO, "on": "train"},
}


class CompareRequest(BaseModel):
    """A model and what to compare it with."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    baseline: str = Field("constant", description="`constant`, `linear`, or the id of another model.", max_length=200)
    on: On | None = Field(
        None,
        description="Rows kept with the model: held back from the fit (the default, if there are any), those of the fit, or (`cv`) those "
        "of the fit held back in turn from fits with the same parameters.",
    )
    data: TableFields | None = Field(None, description="Rows with targets to compare on, in place of those kept with the model.")


class FeatureComparison(BaseModel):
    """What a feature means to both models."""

    feature: str
    importance: float = Field(description="Weighted standard deviation of its scores as a share of all; 0 where it has none.")
    baseline_importance: float
    max_abs_difference: float = Field(description="Largest difference between the two shape functions, each centred.")


class CompareResult(BaseModel):
    """Which model is better on the rows, and how sure that is."""

    metric: str = Field(description="What is averaged; lower is better.")
    on: str = Field(description="The rows: holdout, train, cv or data.")
    n_rows: int
    score: float
    baseline_score: float
    difference: float = Field(description="score - baseline_score; negative where the model is better.")
    se: float | None = Field(description="Standard error of the difference, paired over the rows; null for a single row.")
    n_steps: int
    baseline_steps: int | None = Field(description="Null for the linear model, which has slopes.")
    features: list[FeatureComparison]


def run_compare(request: CompareRequest, context: Context) -> CompareResult:
    """Carry out a request."""
    record = read_model(context.files, request.model)
    other = None if request.baseline in ("constant", "linear") else read_model(context.files, request.baseline, "/baseline")
    if other is not None:
        _require_comparable(record, other)
    if request.data is not None:
        if request.on is not None:
            raise InvalidInput("`on` chooses among the rows kept with the model; it does not go with `data`", pointer="/on")
        compared = _on_given_rows(request, record, other, context)
    elif request.on == "cv":
        compared = _cross_validated(request, record, other, context)
    else:
        compared = _on_kept_rows(request, record, other, context)
    on, target, weights, decision, baseline = compared
    error = error_of_record(record)
    losses, baseline_losses = error.of(target, decision), error.of(target, baseline)
    score, baseline_score = (float(np.average(one, weights=weights)) for one in (losses, baseline_losses))
    model = record.additive_model()
    against = _model_of(request, other, context)
    return CompareResult(
        metric=error.metric,
        on=on,
        n_rows=len(target),
        score=score,
        baseline_score=baseline_score,
        difference=score - baseline_score,
        se=paired_error(losses - baseline_losses, weights),
        n_steps=model.n_steps,
        baseline_steps=None if request.baseline == "linear" else 0 if against is None else against.n_steps,
        features=compare_features(model, against),
    )


def paired_error(differences: Floats, weights: Floats) -> float | None:
    """Return the standard error of a weighted mean of differences; weights count as rows.

    Examples
    --------
    >>> paired_error(np.array([1.0, 3.0, 2.0, 2.0]), np.ones(4))
    0.408248290463863
    """
    total = float(weights.sum())
    if total <= 1:
        return None
    mean = np.average(differences, weights=weights)
    return float(np.sqrt(weights @ (differences - mean) ** 2 / (total - 1) / total))


def compare_features(model: AdditiveModel, other: AdditiveModel | None) -> list[FeatureComparison]:
    """Return how the shape functions of two models differ; None stands for a constant."""
    importance = dict(zip(model.feature_names, model.importances().tolist(), strict=True))
    others = {} if other is None else dict(zip(other.feature_names, other.importances().tolist(), strict=True))
    return [
        FeatureComparison(
            feature=name,
            importance=importance.get(name, 0.0),
            baseline_importance=others.get(name, 0.0),
            max_abs_difference=_largest_difference(_shapes(model, name), _shapes(other, name)),
        )
        for name in dict.fromkeys([*importance, *others])
    ]


Compared = tuple[str, Floats, Floats, Floats, Floats]


def _on_given_rows(request: CompareRequest, record: ModelRecord, other: ModelRecord | None, context: Context) -> Compared:
    assert request.data is not None
    rows = given_rows(request.data, record, context)
    if other is not None:
        theirs = given_rows(request.data, other, context)
        baseline = theirs.decision(other.additive_model())
    else:
        baseline = as_decision(_baseline_of_given(request, rows, context), record.model.link)
    return "data", rows.target, rows.weights, rows.decision(record.additive_model()), baseline


def _baseline_of_given(request: CompareRequest, rows: GivenRows, context: Context) -> Floats:
    compared = read_baselines(context.files, request.model)
    if request.baseline == "linear":
        if compared.linear is None:
            raise _no_linear()
        return compared.linear.decision(list(rows.rows.features.values()), rows.offset)
    return constant_decision(compared.constant, len(rows.target), rows.offset)


def _on_kept_rows(request: CompareRequest, record: ModelRecord, other: ModelRecord | None, context: Context) -> Compared:
    kept = require_data(context.files, request.model)
    if request.on == "holdout" and kept.holdout is None:
        raise InvalidInput("no rows were held back from the fit", pointer="/on")
    rows, part = kept_part(kept, request.on)  # type: ignore[arg-type]  # cv is done elsewhere
    decision = rows.decision(record.additive_model())
    if other is not None:
        theirs, _ = kept_part(_same_rows(request, record, other, context), request.on)  # type: ignore[arg-type]
        return part, rows.target, rows.weights, decision, theirs.decision(other.additive_model())
    compared = read_baselines(context.files, request.model)
    if request.baseline == "constant":
        baseline = constant_decision(compared.constant, len(rows.target), rows.offset)
    elif kept.linear is None:
        raise _no_linear()
    else:
        n_training = kept.training.table.n_rows
        baseline = kept.linear[n_training:] if part == "holdout" else kept.linear[:n_training]
    return part, rows.target, rows.weights, decision, as_decision(baseline, record.model.link)


def _cross_validated(request: CompareRequest, record: ModelRecord, other: ModelRecord | None, context: Context) -> Compared:
    kept = require_data(context.files, request.model)
    sample = sample_of(record, kept.training)
    fold = dealt_folds(sample.table.n_rows)
    _require_folds(record, sample, fold)
    if request.baseline == "linear" and kept.held_back_linear is None:
        raise Conflict(
            "the linear model was not fitted to folds: too many rows and columns, no time, or a class in one fold only; compare with it on "
            "`holdout` or `train`",
            pointer="/on",
        )
    decision = held_back_decision(record, sample, fold, context)
    if kept.held_back_linear is not None and request.baseline == "linear":
        baseline = as_decision(kept.held_back_linear, record.model.link)
    elif other is None:
        baseline = held_back_constant(record, sample, fold)
    else:
        theirs = sample_of(other, _same_rows(request, record, other, context).training)
        baseline = held_back_decision(other, theirs, fold, context)
    return "cv", sample.target, sample.row_weights(), decision, baseline


def _require_folds(record: ModelRecord, sample: Sample, fold: np.ndarray) -> None:
    """Require that no fold takes all rows, or all of a class: what is fitted to the others says nothing of it."""
    if sample.table.n_rows < 2:
        raise InvalidInput("a single row is not held back and learnt from", pointer="/on")
    classes = record.model.classes or []
    lonely = class_in_one_fold(sample.target, fold, len(classes)) if record.model.link == "softmax" else None
    if lonely is not None:
        raise InvalidInput(f"all rows of the class {classes[lonely]!s:.40} are in one fold; give rows as `data`", pointer="/on")


def held_back_decision(record: ModelRecord, sample: Sample, fold: np.ndarray, context: Context) -> Floats:
    """Return the decision of each training row by a fit, with the model's parameters, to the other folds.

    Raises
    ------
    Conflict
        If the model was edited: no fit gives it.
    """
    if record.is_edited:
        raise Conflict("the model was edited; no fit to other rows gives it", pointer="/on")
    n_classes = len(record.model.classes or ())
    total = np.zeros((sample.table.n_rows, n_classes if n_classes > 2 else 1))
    parameters = parameters_of(record)
    for k in range(FOLDS):
        held, others = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        part, loss = _rows(sample, others), parameters.make_loss()
        fit = fit_additive(part, loss, parameters, n_classes=max(2, n_classes), should_stop=lambda: context.stop)
        if context.stop:
            raise Conflict("time ran out, or the job was cancelled, before all folds were held back")
        table = sample.table.rows(held)
        for output, scores in enumerate(fit.scores):
            total[held, output] = row_sums(table, scores) + fit.intercepts[output]
        context.report(fraction=(k + 1) / FOLDS)
    return as_decision(total if sample.offset is None else total + sample.offset[:, None], record.model.link)


def held_back_constant(record: ModelRecord, sample: Sample, fold: np.ndarray) -> Floats:
    """Return the constant decision for each training row by the other folds."""
    n_classes, loss = len(record.model.classes or ()), parameters_of(record).make_loss()
    constants = [best_constants(_rows(sample, np.flatnonzero(fold != k)), loss, n_classes) for k in range(FOLDS)]
    total = np.array(constants)[fold]
    return as_decision(total if sample.offset is None else total + sample.offset[:, None], record.model.link)


def _rows(sample: Sample, index: np.ndarray) -> Sample:
    weights, offset = (None if one is None else one[index] for one in (sample.weights, sample.offset))
    return replace(sample, table=sample.table.rows(index), target=sample.target[index], weights=weights, offset=offset)


def _same_rows(request: CompareRequest, record: ModelRecord, other: ModelRecord, context: Context) -> KeptData:
    if other.data.digest != record.data.digest:
        raise Conflict(
            "the two models were fitted to different rows; give rows as `data` to compare them on", pointer="/baseline"
        )
    return require_data(context.files, request.baseline)


def _require_comparable(record: ModelRecord, other: ModelRecord) -> None:
    if (record.task, record.loss, record.model.classes) != (other.task, other.loss, other.model.classes):
        raise InvalidInput("the two models differ in task, loss or classes; their scores cannot be compared", pointer="/baseline")


def _model_of(request: CompareRequest, other: ModelRecord | None, context: Context) -> AdditiveModel | None:
    if other is not None:
        return other.additive_model()
    return read_baselines(context.files, request.model).binned if request.baseline == "linear" else None


def _no_linear() -> Conflict:
    return Conflict(
        "there is no linear model to compare with: one class only, too many features, or no time", pointer="/baseline"
    )


def _shapes(model: AdditiveModel | None, name: str) -> Sequence[ShapeFunction]:
    return () if model is None or name not in model.feature_names else model.shapes[model.feature(name)]


def _largest_difference(some: Sequence[ShapeFunction], others: Sequence[ShapeFunction]) -> float:
    """Return the largest difference over all values that either tells apart; none is the zero function."""
    if some and others and some[0].kind != others[0].kind:
        return float(max(np.abs(shape.table - shape.mean).max() for shape in (*some, *others)))
    known = [*some, *others]
    if known[0].kind == "numeric":
        places: Any = np.unique(np.concatenate([shape.thresholds for shape in known]))
        places = np.concatenate([[np.nan], places, [np.inf]])
    else:
        places = [None, *dict.fromkeys(level for shape in known for level in shape.levels)]
    zero = np.zeros(len(places))
    pairs = max(len(some), len(others))
    centred = [[shape.values(places) - shape.mean for shape in shapes] or [zero] * pairs for shapes in (some, others)]
    return float(max(np.abs(mine - theirs).max() for mine, theirs in zip(*centred, strict=True)))


GAM_COMPARE: Operation[CompareRequest, CompareResult] = Operation(
    name="gam-compare",
    path="gam/compare",
    request=CompareRequest,
    result=CompareResult,
    run=run_compare,
    summary="Compare a model with a constant, a linear model or another model.",
    description="""
The two are scored on the same rows, and the standard error is that of the paired differences. The constant and the linear model were
fitted to the training rows together with the model.
""",
    resources=Resources(time_limit=300.0),
    examples=EXAMPLES,
)
