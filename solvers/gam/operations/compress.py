"""Make a model smaller for nearly the same fit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.additive_fit import single_fit
from solvers.gam.compression import compress
from solvers.gam.edit_history import COMPRESS, new_entry
from solvers.gam.editing import Edit
from solvers.gam.fit_summary import summarise
from solvers.gam.forest import penalty
from solvers.gam.operations.bands_part import spreads_to_bytes
from solvers.gam.operations.edit import BUILT_IN, Expected, ModelId
from solvers.gam.operations.fitting import fit_report
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.models import DEMO, bands_part, change_model, read_to_change, require_version
from solvers.gam.operations.refitting import training_of
from solvers.gam.operations.scored_rows import parameters_of
from solvers.gam.operations.table_fields import TableFields
from solvers.gam.stump_forest import PROOF_SHARE
from solvers.gam.training import Training
from solvers.operation import Conflict, Context, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {
    "Without the steps that cost next to nothing": {"model": DEMO, "tol": 0.01, "dry_run": True}
}


NOTHING_GOES = "no step costs so little: the model stays as it is"


class CompressRequest(BaseModel):
    """A model and what a smaller one may cost."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    tol: float = Field(
        ge=0,
        allow_inf_nan=False,
        description="A step goes if without it, all other leaves fitted again, the training objective (`objective`, a sum over the rows) "
        "rises by less than this; the cheapest step first.",
    )
    dry_run: bool = Field(False, description="Only tell how small it would be.")
    data: TableFields | None = Field(None, description="The table that the model was fitted to, if its rows are not kept.")
    version: int | None = Expected


class CompressResult(BaseModel):
    """Size and loss before and after."""

    n_steps_before: int
    n_steps_after: int
    loss_before: float = Field(description="Sum of the losses of the training rows.")
    loss_after: float
    objective: float | None = Field(description="Of the smaller model, whose leaves are fitted again.")
    gap: float | None
    edit_id: str | None = Field(description="Name it to `gam/undo`; null if nothing was kept.")
    version: int | None
    warnings: list[str]


def run_compress(request: CompressRequest, context: Context) -> CompressResult:
    """Carry out a request."""
    record = read_to_change(context, request.model)
    before, sample = training_of(record, request.model, request.data, context)
    context.report(phase="compress")
    if request.dry_run:
        require_version(record, request.version)
    after = compress(before, request.tol, lambda: context.is_over(PROOF_SHARE))
    fit = single_fit(after, sample, lambda: context.stop)
    summary = summarise(fit, parameters_of(record), lambda: context.stop)
    model = record.additive_model()
    smaller = replace(fit.model(classes=model.classes, offset=model.offset), offset=model.offset)
    report = fit_report(replace(summary, lower_bound=_best(summary.lower_bound, record), gap=None), after)
    report.gap = _gap(report.objective, report.lower_bound)
    bands = spreads_to_bytes(fit.spreads)

    def change(current: ModelRecord) -> tuple[ModelRecord, None]:
        if current.version != record.version:
            raise Conflict("the model was changed meanwhile", pointer="/version", version=current.version)
        version = current.version + 1
        entry = new_entry(
            current.entries,
            version,
            Edit(smaller, (), ()),
            [{"op": COMPRESS, "tol": request.tol}],
            at=datetime.now(UTC),
            by=context.owner,
        )
        fitted = report.model_copy(update={"bands": None if bands is None else bands_part(version)})
        return current.model_copy(update={"model": smaller.document(), "fit": fitted, "entries": [*current.entries, entry]}), None

    edit_id, version, warnings = None, None, []
    if after is before:
        warnings.append(NOTHING_GOES)
    if context.is_over(PROOF_SHARE):
        warnings.append("time ran out, or the job was cancelled: more steps might go")
    if not request.dry_run and after is not before:
        changed, _, is_kept = change_model(context, request.model, request.version, change)
        if is_kept:
            edit_id, version = changed.entries[-1].edit_id, changed.version
            if bands is not None:
                _keep_bands(context, request.model, version, bands)
        else:
            warnings.append(BUILT_IN)
    return CompressResult(
        n_steps_before=record.fit.n_steps,
        n_steps_after=report.n_steps,
        loss_before=_loss(before),
        loss_after=_loss(after),
        objective=report.objective,
        gap=report.gap,
        edit_id=edit_id,
        version=version,
        warnings=warnings,
    )


def _keep_bands(context: Context, model_id: str, version: int, bands: bytes) -> None:
    try:
        context.files.add_part(model_id, bands_part(version), bands)
    except FileExistsError:
        return  # by an earlier attempt at this job


def _loss(training: Training) -> float:
    return training.objective - sum(penalty(forest, training.options) for forest in training.forests)


def _best(lower_bound: float | None, record: ModelRecord) -> float | None:
    """Return the better bound: that of the fit holds for every forest of its parameters."""
    bounds = [bound for bound in (lower_bound, record.fit.lower_bound) if bound is not None]
    return max(bounds, default=None)


def _gap(objective: float | None, lower_bound: float | None) -> float | None:
    if objective is None or lower_bound is None:
        return None
    return max(0.0, (objective - lower_bound) / objective) if objective > 0 else 0.0


GAM_COMPRESS: Operation[CompressRequest, CompressResult] = Operation(
    name="gam-compress",
    path="gam/compress",
    request=CompressRequest,
    result=CompressResult,
    run=run_compress,
    summary="Drop the steps that a model can do without.",
    description="""
The cheapest steps go and all other leaves are fitted again, so that the smaller model is still a forest of the same kind: its objective
and its gap hold. It becomes a version of the model, which can be undone; where no step goes there is no new version.
""",
    resources=Resources(time_limit=300.0),
    examples=EXAMPLES,
)
