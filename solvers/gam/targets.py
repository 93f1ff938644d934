"""Targets, weights and offsets of the rows, checked: each fault names the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from solvers.gam.additive_model import Offset
from solvers.gam.losses import GammaLoss, Loss, PoissonLoss
from solvers.gam.shape_functions import Floats, as_numbers
from solvers.operation import InvalidInput

LARGEST = 1e100
"""Bounds targets and, with its reciprocal, weights, so that sums of their products are normal numbers."""


def regression_target(y: Any, loss: Loss, n_rows: int) -> Floats:
    """Return the targets as float64.

    Raises
    ------
    InvalidInput
        If they are not `n_rows` finite numbers, or the loss does not take one of them.

    Examples
    --------
    >>> regression_target([1, 0], GammaLoss(), 2)
    Traceback (most recent call last):
    solvers.operation.InvalidInput: y, row 1: 0.0; a gamma model takes positive targets
    """
    target = _finite(column_or_1d(y, warn=True), "y", n_rows)
    _require(np.abs(target) <= LARGEST, target, "y", f"a target is at most {LARGEST:g}, so that its square is a number")
    if isinstance(loss, PoissonLoss):
        _require(target >= 0, target, "y", "a Poisson model takes targets that are not negative")
    if isinstance(loss, GammaLoss):
        _require(target > 0, target, "y", "a gamma model takes positive targets")
    return target


def class_target(y: Any, n_rows: int) -> np.ndarray:
    """Return the labels as an array.

    Raises
    ------
    InvalidInput
        If their number is not `n_rows` or one is missing.
    ValueError
        If they are no classes but continuous numbers.
    """
    check_classification_targets(y)
    labels: np.ndarray = column_or_1d(y, warn=True)
    _require_length(labels, "y", n_rows)
    missing = (
        [row for row, label in enumerate(labels.tolist()) if label is None or label != label] if labels.dtype == object else []
    )
    if missing:
        raise InvalidInput(f"y, row {missing[0]}: the class is missing", column="y", row=missing[0])
    return labels


def row_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights as float64, None for none.

    Raises
    ------
    InvalidInput
        If they are not `n_rows` finite numbers, one is negative or too large or small to be computed with, or all are zero.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, int | float):
        sample_weight = np.full(n_rows, sample_weight)
    weights = _finite(sample_weight, "sample_weight", n_rows)
    _require(weights >= 0, weights, "sample_weight", "a weight is not negative")
    in_range = (weights == 0) | ((weights >= 1 / LARGEST) & (weights <= LARGEST))
    _require(in_range, weights, "sample_weight", f"a weight is 0, or from {1 / LARGEST:g} to {LARGEST:g}")
    if not weights.any():
        raise InvalidInput("sample_weight: every weight is zero", column="sample_weight")
    return weights


def class_weights(class_weight: Any, labels: np.ndarray, weights: Floats | None) -> Floats | None:
    """Return the weights times those of the classes."""
    if class_weight is None:
        return weights
    plain = np.ones(len(labels)) if weights is None else weights
    counted = plain > 0
    classes = np.unique(labels[counted])
    per_class = compute_class_weight(class_weight, classes=classes, y=labels[counted], sample_weight=plain[counted])
    weighted = np.zeros(len(labels))
    weighted[counted] = per_class[np.searchsorted(classes, labels[counted])]
    return weighted * plain


def row_offsets(offset: Any, exposure: Any, link: str, n_rows: int) -> tuple[Floats | None, Offset | None]:
    """Return what is added to the decisions, and what it is called.

    Raises
    ------
    InvalidInput
        If both are given, an exposure goes without a log link, an offset is not finite or an exposure not positive.
    """
    if offset is None and exposure is None:
        return None, None
    if offset is not None and exposure is not None:
        raise InvalidInput(
            "both an offset and an exposure are given; an exposure is the offset log(exposure)", pointer="/exposure"
        )
    if exposure is not None and link != "log":
        raise InvalidInput(f"an exposure goes with a log link (Poisson or gamma loss), not with {link!r}", pointer="/exposure")
    if offset is not None and link == "softmax":
        raise InvalidInput("an offset would shift all classes alike and change nothing with more than two", pointer="/offset")
    kind = Offset("offset", "offset") if exposure is None else Offset("exposure", "exposure")
    values = kind.on_link_scale(exposure if offset is None else offset)
    _require_length(values, kind.column, n_rows)
    return values, kind


def _finite(values: Any, name: str, n_rows: int) -> Floats:
    numbers = as_numbers(values, name)
    _require_length(numbers, name, n_rows)
    _require(np.isfinite(numbers), numbers, name, "a finite number is needed; the input contains NaN or infinity")
    return numbers


def _require_length(values: Any, name: str, n_rows: int) -> None:
    if len(values) != n_rows:
        raise InvalidInput(f"{name} has {len(values)} rows, the table {n_rows}", column=name)


def _require(holds: np.ndarray, values: Floats, name: str, reason: str) -> None:
    if not holds.all():
        row = int(np.argmin(holds))
        raise InvalidInput(f"{name}, row {row}: {values[row]}; {reason}", column=name, row=row)
