"""What is reported of a fit: its objective and how it fell, the proof of its quality, its stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.gam.additive_fit import AdditiveFit
from solvers.gam.binning import NumericBins
from solvers.gam.parameters import FitParameters
from solvers.gam.sample import Sample

STUMP = np.dtype(
    {
        "names": ["output", "feature", "threshold", "level", "step", "multiplicity"],
        "formats": [np.int64, np.int64, np.float64, object, np.float64, np.int64],
    }
)


@dataclass(frozen=True, slots=True)
class FitSummary:
    """What was fitted and how well.

    Attributes
    ----------
    stumps : structured array of shape (n_steps,)
        Of each step the output (class) and feature by number, the threshold (-inf: "not missing") or the level (None: missing), the height
        and how many stumps share it.
    n_steps : int
    n_iter : int
    objective : float or None
        J; None for an average of fits, which minimises nothing.
    history : tuple of float
    lower_bound, gap : float or None
    gap_reason : str or None
        Why there is no bound: "loss", "alpha", "average" or "not asked".
    one_swap_residual : float or None
    certificate_iterations : int
    """

    stumps: np.ndarray
    n_steps: int
    n_iter: int
    objective: float | None = None
    history: tuple[float, ...] = ()
    lower_bound: float | None = None
    gap: float | None = None
    gap_reason: str | None = None
    one_swap_residual: float | None = None
    certificate_iterations: int = 0


def summarise(fit: AdditiveFit, parameters: FitParameters) -> FitSummary:
    """Return the report of a fit, with the certificate if the parameters ask for one."""
    stumps = stump_table(fit)
    if fit.training is None:
        return FitSummary(stumps, len(stumps), fit.n_iter, gap_reason="average")
    training = fit.training
    if not parameters.certificate:
        return FitSummary(stumps, len(stumps), fit.n_iter, training.objective, training.history, gap_reason="not asked")
    certificate = training.certify(parameters.certificate_iterations)
    return FitSummary(
        stumps,
        len(stumps),
        fit.n_iter,
        training.objective,
        training.history,
        certificate.lower_bound,
        certificate.gap,
        certificate.reason,
        training.one_swap_residual(),
        certificate.iterations,
    )


def stump_table(fit: AdditiveFit) -> np.ndarray:
    """Return the steps of a fit as a structured array; see :class:`FitSummary`."""
    output, column = np.nonzero(fit.heights)
    stumps = np.zeros(len(column), dtype=STUMP)
    stumps["output"], stumps["feature"] = output, fit.sample.columns.feature[column]
    stumps["threshold"] = fit.sample.columns.thresholds(fit.sample.table)[column]
    stumps["level"] = [_level(fit.sample, int(j)) for j in column]
    stumps["step"], stumps["multiplicity"] = fit.heights[output, column], fit.multiplicity[output, column]
    return stumps


def _level(sample: Sample, column: int) -> Any:
    """Return the level that a column singles out; of pooled ones the first, of a numeric feature and for "missing" None."""
    feature, cut = sample.table.features[sample.columns.feature[column]], int(sample.columns.cut[column])
    if isinstance(feature, NumericBins) or cut == 0:
        return None
    return (*feature.levels, *feature.pooled[:1])[cut - 1]
