"""What is reported of a fit: its objective and how it fell, the proof of its quality, its stumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.gam.additive_fit import AdditiveFit
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.parameters import FitParameters

NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class FitSummary:
    """What was fitted and how well.

    Attributes
    ----------
    stumps : structured array of shape (n_steps,)
        From :func:`~solvers.gam.stump_table.stump_table`.
    n_iter : int
    objective : float or None
        J; None for an average of fits, which minimises nothing.
    history : tuple of float
    lower_bound, gap : float or None
    gap_reason : str or None
        Why there is no bound: "loss", "alpha", "average", "not asked", or "data" where the training rows that it takes are not there.
    one_swap_residual : float or None
    certificate_iterations : int
    """

    stumps: np.ndarray
    n_iter: int
    objective: float | None = None
    history: tuple[float, ...] = ()
    lower_bound: float | None = None
    gap: float | None = None
    gap_reason: str | None = None
    one_swap_residual: float | None = None
    certificate_iterations: int = 0


def summarise(fit: AdditiveFit, parameters: FitParameters, should_stop: ShouldStop = never) -> FitSummary:
    """Return the report of a fit, with the certificate if the parameters ask for one: the best that there is time for."""
    if fit.training is None:
        return FitSummary(fit.stumps, fit.n_iter, gap_reason="average")
    training = fit.training
    if not parameters.certificate:
        return FitSummary(fit.stumps, fit.n_iter, training.objective, training.history, gap_reason=NOT_ASKED)
    certificate = training.certify(parameters.certificate_iterations, should_stop)
    return FitSummary(
        fit.stumps,
        fit.n_iter,
        training.objective,
        training.history,
        certificate.lower_bound,
        certificate.gap,
        certificate.reason,
        training.one_swap_residual(should_stop),
        certificate.iterations,
    )
