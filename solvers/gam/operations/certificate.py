"""Prove how far a fitted model is from the best that its parameters allow, as tightly as wanted."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from solvers.gam.operations.edit import ModelId
from solvers.gam.operations.models import DEMO, read_model
from solvers.gam.operations.refitting import training_of
from solvers.gam.operations.table_fields import TableFields
from solvers.gam.stump_forest import PROOF_SHARE
from solvers.operation import Context, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {"A tighter bound": {"model": DEMO, "iterations": 3}}


class CertificateRequest(BaseModel):
    """A model and the work to spend on the proof."""

    model_config = ConfigDict(extra="forbid")

    model: str = ModelId
    iterations: int | None = Field(
        None, ge=0, le=100_000, description="Sweeps (squared loss) or steps (logistic loss); default: in proportion to the rows."
    )
    data: TableFields | None = Field(None, description="The table that the model was fitted to, if its rows are not kept.")


class CertificateResult(BaseModel):
    """What is proven."""

    objective: float
    lower_bound: float | None = Field(description="No forest under the same parameters has a lower objective.")
    gap: float | None = Field(description="(objective - lower_bound) / objective.")
    gap_reason: str | None = Field(description="Why there is no bound: loss or alpha.")
    iterations: int = Field(description="Sweeps or steps that were made.")
    one_swap_residual: float | None = Field(
        description="Most that moving one stump could gain, as a share of the null objective."
    )


def run_certificate(request: CertificateRequest, context: Context) -> CertificateResult:
    """Carry out a request."""
    record = read_model(context.files, request.model)
    training, _ = training_of(record, request.model, request.data, context)
    certificate = training.certify(request.iterations, lambda: context.is_over(PROOF_SHARE))
    bounds = [bound for bound in (certificate.lower_bound, record.fit.lower_bound) if bound is not None]
    lower_bound = max(bounds, default=None)
    gap = None
    if lower_bound is not None:
        gap = max(0.0, (certificate.objective - lower_bound) / certificate.objective) if certificate.objective > 0 else 0.0
    return CertificateResult(
        objective=certificate.objective,
        lower_bound=lower_bound,
        gap=gap,
        gap_reason=None if lower_bound is not None else certificate.reason,
        iterations=certificate.iterations,
        one_swap_residual=training.one_swap_residual(lambda: context.stop),
    )


GAM_CERTIFICATE: Operation[CertificateRequest, CertificateResult] = Operation(
    name="gam-certificate",
    path="gam/certificate",
    request=CertificateRequest,
    result=CertificateResult,
    run=run_certificate,
    summary="Prove how far a model is from the best of its kind.",
    description="The bound holds for squared and binary logistic loss. The best bound that is known is returned, that of the fit included.",
    resources=Resources(time_limit=300.0),
    examples=EXAMPLES,
)
