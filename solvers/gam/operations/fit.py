"""Fit an additive model to a table and keep it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from solvers.gam.additive_model import AdditiveModel, Link
from solvers.gam.fit_summary import NOT_ASKED
from solvers.gam.kept_rows import KeptRows, further_table
from solvers.gam.operations.bands_part import spreads_to_bytes
from solvers.gam.operations.baselines import Baselines, as_decision, constant_decision, fit_baselines
from solvers.gam.operations.fit_request import FitRequest
from solvers.gam.operations.fitting import (
    Estimator,
    SearchTime,
    cross_validated_score,
    fit_estimator,
    fit_report,
    last_fit,
    read_training_input,
    resolved_parameters,
)
from solvers.gam.operations.held_back import held_back_linear
from solvers.gam.operations.kept_data import KeptData
from solvers.gam.operations.model_record import DataReport, GamModel, ModelRecord, ModelScore, shown_model
from solvers.gam.operations.models import DEMO, MODELS, keep_model
from solvers.gam.operations.training_input import TrainingInput, holdout_rows, require_known_classes, target_codes
from solvers.gam.row_errors import RowError, row_error
from solvers.gam.shape_functions import Floats
from solvers.operation import Context, Operation, Resources

RETENTION = "gam_data_retention_days"

DESCRIPTION = """
The model is a sum of step functions, one for each column, fitted as a forest of decision stumps whose every split and leaf minimises one
objective; `gap` says how far from the best such forest it can be. Types of columns are told from their cells: numbers, texts, truth
values. Rows come in the request, as the text of a file, or as an uploaded file of up to a gigabyte, which is read in blocks.

The answer names the model for the other operations; it is kept until it is deleted under `/v1/gam/models`. The rows stay with it in bins,
for the scores of edits, comparisons and certificates, unless `keep_data` is false, until the service's retention is over.
"""

_ROWS = [
    {"age": age, "plan": plan, "visits": visits, "left": left}
    for age, plan, visits, left in zip(
        [23, 25, 31, 35, 38, 41, 44, 47, 52, 55, 58, 61, 63, 66, 70, 74],
        ["basic", "pro"] * 8,
        [2, 9, 4, 12, None, 8, 3, 15, 1, 7, 2, 11, 5, None, 6, 10],
        ["yes", "no", "yes", "no", "yes", "no", "no", "no", "yes", "no", "yes", "no", "yes", "no", "no", "no"],
        strict=True,
    )
]
EXAMPLES: dict[str, dict[str, Any]] = {
    "Who leaves, from rows": {
        "data": {"rows": _ROWS},
        "target": "left",
        "params": {"n_stumps": 20, "alpha": 1.0, "min_samples_leaf": 2},
        "name": "who leaves",
    },
    "Claims per year, from the text of a CSV file, with an exposure": {
        "data": {
            "format": "csv",
            "content": "age,car,years,claims\n"
            + "\n".join(f"{20 + 2 * i},{'small' if i % 3 else 'large'},{1 + i % 2},{(i * i) % 3}" for i in range(24)),
        },
        "target": "claims",
        "exposure": "years",
        "params": {"loss": "poisson", "n_stumps": 10, "alpha": 2.0, "monotonic_cst": {"age": -1}},
        "holdout": {"fraction": 0.25},
    },
}


def fit(request: FitRequest, context: Context) -> GamModel:
    """Carry out a request."""
    clock = Clock()
    context.report(phase="read")
    whole = read_training_input(request, context)
    held = holdout_rows(whole.n_rows, None if request.holdout is None else request.holdout.fraction, request.holdout_seed)
    require_known_classes(whole, held, request.target)
    training = whole.rows(np.setdiff1d(np.arange(whole.n_rows), held)) if len(held) else whole
    holdout = whole.rows(held) if len(held) else None
    data = DataReport(
        target=request.target,
        weight=request.weight,
        columns=request.columns,
        n_rows=whole.n_rows,
        n_holdout=len(held),
        holdout_fraction=None if request.holdout is None else request.holdout.fraction,
        holdout_seed=request.holdout_seed,
        digest=whole.digest(held),
        features=whole.features_digest(),
    )
    del whole
    clock.lap("read")

    search = SearchTime(context)
    estimator = fit_estimator(request, training, search)
    model = replace(estimator.model_, offset=training.offset_column)
    clock.lap("fit")
    context.report(phase="baselines")
    kept, compared = with_baselines(estimator, model, training, holdout, request.target, context)
    clock.lap("baselines")

    error = error_of(estimator, model)
    warnings = list(estimator.warnings_)
    if search.was_cut_short:
        so_far = "the best so far" if len(estimator.stumps_) else "a constant, for there was none yet"
        warnings.append(f"time ran out, or the job was cancelled: the model is {so_far}")
    is_kept = request.keep_data and context.limits.get(RETENTION, 1) > 0
    report = fit_report(estimator.summary_, last_fit(estimator).training)
    if report.gap_reason == NOT_ASKED and not is_kept:
        report.gap_reason = "data"  # and never can be: the rows that would prove it are not kept
    record = ModelRecord(
        name=request.name,
        created=datetime.now(UTC),
        task=training.task,
        loss=estimator.checked_parameters().loss,
        params=resolved_parameters(estimator, training),
        model=model.document(),
        fit=report,
        data=data,
        score=model_score(estimator, model, kept, error),
        baselines=baseline_scores(kept, compared, error, model.link),
        timings=clock.seconds,
        warnings=warnings,
    )
    bands = spreads_to_bytes(estimator.fitted_.spreads)
    return shown_model(record, keep_model(context, record, kept if is_kept else None, compared, bands))


def with_baselines(
    estimator: Estimator,
    model: AdditiveModel,
    training: TrainingInput,
    holdout: TrainingInput | None,
    target: str,
    context: Context,
) -> tuple[KeptData, Baselines]:
    """Return the rows in bins, and the constant and linear models of the training rows."""
    fitted = last_fit(estimator)
    if training.weights is not None and not training.weights.all():
        training = training.rows(np.flatnonzero(training.weights))
    columns = list(training.features.values())
    compared = fit_baselines(columns, fitted.sample, fitted.loss, model, context)
    sample = fitted.sample
    kept = KeptRows(sample.table, sample.target, sample.row_weights(), sample.offset)
    if holdout is not None and holdout.weights is not None and not holdout.weights.all():
        holdout = holdout.rows(np.flatnonzero(holdout.weights))
    further = None if holdout is None else further_rows(holdout, sample.table.features, model, target)
    linear = held_back = None
    if compared.linear is not None:
        parts = [compared.linear.decision(columns, training.offset)]
        if holdout is not None:
            parts.append(compared.linear.decision(list(holdout.features.values()), holdout.offset))
        linear = np.concatenate(parts)
        held_back = held_back_linear(compared.linear, columns, sample, fitted.loss, len(model.classes or ()), context)
    return KeptData(kept, further, linear, held_back), compared


def further_rows(rows: TrainingInput, features: Any, model: AdditiveModel, target: str) -> KeptRows:
    """Return rows that were held back, in the bins of the training rows."""
    table = further_table(features, list(rows.features.values()))
    targets = rows.target if model.classes is None else target_codes(rows.target, model.classes, target)
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    return KeptRows(table, targets, weights, rows.offset)


def error_of(estimator: Estimator, model: AdditiveModel) -> RowError:
    """Return the measure of error that goes with a fit."""
    return row_error(estimator.checked_parameters().make_loss(), len(model.classes or (0, 1)))


def model_score(estimator: Estimator, model: AdditiveModel, kept: KeptData, error: RowError) -> ModelScore:
    """Return how well a model does on its rows."""
    holdout = None if kept.holdout is None else kept.holdout.score(model, error.of)
    cv, cv_se = cross_validated_score(estimator)
    return ModelScore(metric=error.metric, train=kept.training.score(model, error.of), cv=cv, cv_se=cv_se, holdout=holdout)


def baseline_scores(kept: KeptData, compared: Baselines, error: RowError, link: Link) -> dict[str, ModelScore]:
    """Return how well the constant and the linear model do."""
    tables = [kept.training] if kept.holdout is None else [kept.training, kept.holdout]

    def scored(decisions: list[Floats]) -> ModelScore:
        means = [
            float(np.average(error.of(rows.target, as_decision(decision, link)), weights=rows.weights))
            for rows, decision in zip(tables, decisions, strict=True)
        ]
        return ModelScore(metric=error.metric, train=means[0], holdout=means[1] if len(means) > 1 else None)

    scores = {"constant": scored([constant_decision(compared.constant, rows.table.n_rows, rows.offset) for rows in tables])}
    if kept.linear is not None:
        split = np.split(kept.linear, [kept.training.table.n_rows])
        scores["linear"] = scored(split[: len(tables)])
    return scores


class Clock:
    """Seconds that each part of the work took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = self._started = time.monotonic()

    def lap(self, name: str) -> None:
        """Name what was done since the last call."""
        now = time.monotonic()
        self.seconds[name] = round(now - self._last, 4)
        self.seconds["total"] = round(now - self._started, 4)
        self._last = now


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    MODELS.demos[DEMO]()


GAM_FIT: Operation[FitRequest, GamModel] = Operation(
    name="gam-fit",
    path="gam/fit",
    request=FitRequest,
    result=GamModel,
    run=fit,
    summary="Fit an additive model to a table.",
    description=DESCRIPTION,
    resources=Resources(time_limit=600.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("model_id", "created", "timings"),
    warm=warm,
    from_file=lambda file_id: {"data": {"file": file_id}},
    makes=MODELS,
)
