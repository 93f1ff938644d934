"""How well a constant and a linear model do on the rows of a fit: what an additive model is worth beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvers.gam.additive_model import AdditiveModel, Link
from solvers.gam.binning import LevelBins, NumericBins
from solvers.gam.linear_baseline import MOST_FEATURES, Column, Design, LinearBaseline, fit_linear
from solvers.gam.losses import Loss
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats, ShapeFunction
from solvers.operation import Context

PART = "gam-baselines"


@dataclass(frozen=True, eq=False)
class Baselines:
    """A constant and a linear model of the training rows.

    Attributes
    ----------
    constant : float64 array of shape (K,)
        Best decision that is the same for all rows, beside the offset.
    linear : LinearBaseline, optional
        None where there was one class only, too many features, or no time.
    binned : AdditiveModel, optional
        The linear model in the bins of the fit: the mean of its contributions in each.
    """

    constant: Floats
    linear: LinearBaseline | None
    binned: AdditiveModel | None

    def to_bytes(self) -> bytes:
        """Return the content of the part."""
        linear = self.linear
        document: dict[str, Any] = {"constant": self.constant.tolist()}
        if linear is not None and self.binned is not None:
            document["linear"] = {
                "levels": linear.design.levels,
                "start": linear.design.start.tolist(),
                "mean": linear.design.mean.tolist(),
                "scale": [None if np.isinf(scale) else scale for scale in linear.design.scale.tolist()],
                "coefficients": linear.coefficients.tolist(),
                "intercepts": linear.intercepts.tolist(),
            }
            document["binned"] = json.loads(self.binned.to_json())
        return json.dumps(document).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Baselines:
        """Return what :meth:`to_bytes` has written."""
        document = json.loads(content)
        if "linear" not in document:
            return cls(np.array(document["constant"]), None, None)
        kept = document["linear"]
        scale = np.array([np.inf if value is None else value for value in kept["scale"]])
        design = Design(tuple(kept["levels"]), np.array(kept["start"], dtype=np.int64), np.array(kept["mean"]), scale)
        linear = LinearBaseline(design, np.array(kept["coefficients"]), np.array(kept["intercepts"]))
        return cls(np.array(document["constant"]), linear, AdditiveModel.from_json(document["binned"]))


def fit_baselines(columns: Sequence[Column], sample: Sample, loss: Loss, model: AdditiveModel, context: Context) -> Baselines:
    """Fit both to the training rows.

    Parameters
    ----------
    columns : sequence of D columns
        The values of the training rows.
    sample : Sample
        The same rows in bins.
    loss : Loss
    model : AdditiveModel
        The fitted one, for its outputs.
    """
    n_classes = 0 if model.classes is None else len(model.classes)
    constant = best_constants(sample, loss, n_classes)
    if n_classes == 1 or len(columns) > MOST_FEATURES or context.stop:
        return Baselines(constant, None, None)
    linear = fit_linear(
        columns,
        sample.target,
        loss,
        sample.row_weights(),
        sample.offset,
        n_classes=max(2, n_classes),
        should_stop=lambda: context.stop,
    )
    return Baselines(constant, linear, _in_bins(linear, columns, sample, model))


def best_constants(sample: Sample, loss: Loss, n_classes: int) -> Floats:
    """Return the best constant decision of each output; `n_classes` is 0 for a regression."""
    weights = sample.row_weights()
    if n_classes == 1:
        return np.zeros(1)
    if n_classes > 2:
        shares = np.bincount(sample.target.astype(np.int64), weights=weights, minlength=n_classes) / weights.sum()
        return np.asarray(np.log(shares))
    fitted = loss.scaled_to(sample.target, weights)
    return np.array([fitted.best_constant(sample.target, weights, sample.row_offsets())])


def constant_decision(constant: Floats, n_rows: int, offset: Floats | None) -> Floats:
    """Return the decision of the constant model for some rows, shape (N, K)."""
    total = np.tile(constant, (n_rows, 1))
    return total if offset is None else total + offset[:, None]


def as_decision(decision: Floats, link: Link) -> Floats:
    """Return decisions of shape (N, K) in the shape that a model of this link has them."""
    return decision if link == "softmax" else decision[:, 0]


def _in_bins(linear: LinearBaseline, columns: Sequence[Column], sample: Sample, model: AdditiveModel) -> AdditiveModel:
    """Return the linear model with the mean of each feature's contributions in each bin, centred."""
    weights, shapes, intercepts = sample.row_weights(), [], linear.intercepts.copy()
    for feature, (bins, codes) in enumerate(zip(sample.table.features, sample.table.codes, strict=True)):
        mass = np.bincount(codes, weights=weights, minlength=bins.n_codes).astype(np.float64)
        parts = linear.contributions(columns, feature)
        per_output = []
        for output in range(parts.shape[1]):
            total = np.bincount(codes, weights=weights * parts[:, output], minlength=bins.n_codes)
            scores = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
            shape = _shape(bins, scores, mass)
            intercepts[output] += shape.mean
            per_output.append(shape.shifted(-shape.mean))
        shapes.append(tuple(per_output))
    return replace(model, intercepts=intercepts, shapes=tuple(shapes), offset=None)


def _shape(bins: NumericBins | LevelBins, scores: Floats, mass: Floats) -> ShapeFunction:
    if isinstance(bins, NumericBins):
        return ShapeFunction(bins.name, "numeric", scores[1:], bins.thresholds, missing=scores[0], weights=mass)
    levels = (*bins.levels, *bins.pooled[:1])
    return ShapeFunction(bins.name, "categorical", scores[1:], levels=levels, missing=scores[0], weights=mass)
