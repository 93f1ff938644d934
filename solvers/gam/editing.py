"""Edits of a model: each changes shape functions, says what it changed, and leaves the model it was given as it was.

An edit that keeps functions centred moves their weighted mean into the intercept, which changes no prediction. What the edit reports is
the change before that move, so that `after - before` is the change of the decision of the rows in question.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field
from scipy.optimize import isotonic_regression

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.edit_operations import (
    AddToScores,
    ClampScores,
    EditOperation,
    MergeSteps,
    Monotonise,
    RemoveFeature,
    RescaleScores,
    SetScores,
    SmoothScores,
    parse_operations,
)
from solvers.gam.model_document import Label
from solvers.gam.shape_functions import Floats, ShapeFunction
from solvers.operation import InvalidInput


class ScoreChange(BaseModel):
    """The score of one bin before and after an edit."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    feature: str
    of_class: Label | None = Field(None, alias="class")
    lo: float | None = Field(None, description="The bin is (lo, hi]; null: unbounded.")
    hi: float | None = None
    level: str | None = None
    missing: bool = Field(False, description="The bin of missing values.")
    unseen: bool = Field(False, description="The score of levels that the model has not seen.")
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class Edit:
    """What an edit makes of a model.

    Attributes
    ----------
    model : AdditiveModel
        The edited model.
    diff : tuple of ScoreChange
        Every bin whose score changed, operation by operation, before functions are centred again.
    warnings : tuple of str
    """

    model: AdditiveModel
    diff: tuple[ScoreChange, ...]
    warnings: tuple[str, ...]


def edit(model: AdditiveModel, operations: Sequence[EditOperation | Mapping[str, Any]]) -> Edit:
    """Apply operations to a model, one after the other.

    Parameters
    ----------
    model : AdditiveModel
    operations : sequence of EditOperation or mapping

    Returns
    -------
    Edit

    Raises
    ------
    InvalidInput
        With the JSON pointer of the field that is wrong: no such feature, class or level, or an operation that the feature does not
        take.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.0], weights=[0, 3, 1])
    >>> model = AdditiveModel("regression", "identity", [0.0], [[age]])
    >>> done = edit(model, [{"op": "set", "feature": "age", "lo": 29, "value": 3}])
    >>> [(row.lo, row.hi, row.before, row.after) for row in done.diff], done.warnings
    ([(30.0, None, 2.0, 3.0)], ("feature 'age': the end 29.0 moved to the nearest threshold, 30.0",))
    >>> done.model.shape("age").scores, done.model.decision([[30, 31]])
    (array([-1.,  3.]), array([-1.,  3.]))
    """
    editor = _Editor(model)
    for number, operation in enumerate(parse_operations(operations)):
        try:
            editor.apply(operation)
        except InvalidInput as fault:
            raise InvalidInput(fault.detail, pointer=f"/operations/{number}{fault.pointer or ''}") from None
    return Edit(editor.model, tuple(editor.diff), tuple(editor.warnings))


class _Editor:
    """A model under edit."""

    def __init__(self, model: AdditiveModel) -> None:
        self.model = model
        self.diff: list[ScoreChange] = []
        self.warnings: list[str] = []

    def apply(self, operation: EditOperation) -> None:
        feature = self.model.feature(operation.feature)
        outputs = range(self.model.n_outputs) if operation.of_class is None else [self.model.output_of(operation.of_class)]
        for output in outputs:
            before = self.model.shapes[feature][output]
            after = self._edited(before, operation)
            label = self.model.classes[output] if self.model.link == "softmax" and self.model.classes else None
            self.diff += _changes(before, after, label)
            self._keep(feature, output, replace(after, stderr=None), operation.recenter)

    def _keep(self, feature: int, output: int, shape: ShapeFunction, recenter: bool) -> None:
        intercepts = self.model.intercepts.copy()
        if recenter and shape.weights is None:
            self._warn(f"feature {shape.name!r}: the weights of its bins are not known, so it is not centred")
        elif recenter:
            mean = shape.mean
            shape = shape.shifted(-mean)
            intercepts[output] += mean
        shapes = [list(per_output) for per_output in self.model.shapes]
        shapes[feature][output] = shape
        self.model = replace(self.model, intercepts=intercepts, shapes=tuple(map(tuple, shapes)))

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _edited(self, shape: ShapeFunction, operation: EditOperation) -> ShapeFunction:
        match operation:
            case SetScores():
                return _with_table(shape, np.where(self._bins(shape, operation), operation.value, shape.table))
            case AddToScores():
                return _with_table(shape, shape.table + np.where(self._bins(shape, operation), operation.value, 0.0))
            case ClampScores():
                return _with_table(shape, np.clip(shape.table, operation.min, operation.max))
            case RemoveFeature():
                return _with_table(shape, np.zeros_like(shape.table))
            case RescaleScores():
                with np.errstate(over="ignore"):  # a score that is not finite is refused
                    return _with_table(shape, shape.table * operation.factor)
            case MergeSteps():
                return _merged(shape, *self._interval(_numeric(shape, "merge"), operation))
            case Monotonise():
                return _monotone(_numeric(shape, "monotonise"), operation.direction == "increasing")
            case SmoothScores():
                return _smooth(_numeric(shape, "smooth"), operation.window)

    def _bins(self, shape: ShapeFunction, operation: SetScores | AddToScores) -> npt.NDArray[np.bool_]:
        """Return which entries of the table an operation is about."""
        chosen = np.zeros(len(shape.table), dtype=bool)
        if operation.missing:
            chosen[0] = True
        elif operation.level is not None:
            levels = [operation.level] if isinstance(operation.level, str) else operation.level
            chosen[_level_bins(shape, levels)] = True
        elif shape.kind == "numeric":
            first, last = self._interval(shape, operation)
            chosen[first + 1 : last + 1] = True
        elif operation.lo is None and operation.hi is None:
            chosen[1:-1] = True
        else:
            raise InvalidInput(f"the categorical feature {shape.name!r} has levels, no intervals", pointer="/lo")
        return chosen

    def _interval(self, shape: ShapeFunction, operation: SetScores | AddToScores | MergeSteps) -> tuple[int, int]:
        """Return the first bin of an interval, counted from 0, and the one after its last."""
        first = 0 if operation.lo is None else self._edge(shape, operation.lo, otherwise=0)
        last = shape.n_bins if operation.hi is None else self._edge(shape, operation.hi, otherwise=shape.n_bins)
        if first < last:
            return first, last
        # Both ends are nearest to the same threshold: the bin that holds the middle of the interval is meant.
        assert operation.lo is not None
        assert operation.hi is not None
        held = int(np.searchsorted(shape.thresholds, operation.lo / 2 + operation.hi / 2, side="left"))
        return held, held + 1

    def _edge(self, shape: ShapeFunction, end: float, *, otherwise: int) -> int:
        """Return the number of bins below the threshold that is nearest to `end`; `otherwise` where there is none."""
        if not len(shape.thresholds):
            return otherwise
        with np.errstate(over="ignore"):
            nearest = int(np.argmin(np.abs(shape.thresholds - end)))
        threshold = float(shape.thresholds[nearest])
        if threshold != end:
            self._warn(f"feature {shape.name!r}: the end {end} moved to the nearest threshold, {threshold}")
        return nearest + 1


def _numeric(shape: ShapeFunction, op: str) -> ShapeFunction:
    if shape.kind != "numeric":
        raise InvalidInput(f"{op} takes a numeric feature; {shape.name!r} is categorical", pointer="/feature")
    return shape


def _level_bins(shape: ShapeFunction, levels: list[str]) -> list[int]:
    if shape.kind != "categorical":
        raise InvalidInput(f"the numeric feature {shape.name!r} has no levels", pointer="/level")
    unknown = [level for level in levels if level not in shape.levels]
    if unknown:
        raise InvalidInput(f"{shape.name!r} has no level {unknown[0]!r:.60}", pointer="/level")
    return [1 + shape.levels.index(level) for level in levels]


def _with_table(shape: ShapeFunction, table: Floats) -> ShapeFunction:
    return replace(shape, missing=float(table[0]), scores=table[1:-1], unseen=float(table[-1]))


def _merged(shape: ShapeFunction, first: int, last: int) -> ShapeFunction:
    weights = shape.bin_weights[1:]
    scores = np.concatenate([shape.scores[:first], [_mean(shape.scores[first:last], weights[first:last])], shape.scores[last:]])
    thresholds = np.concatenate([shape.thresholds[:first], shape.thresholds[last - 1 :]])
    known = shape.weights
    if known is not None:
        known = np.concatenate([known[: first + 1], [known[first + 1 : last + 1].sum()], known[last + 1 :]])
    return replace(shape, scores=scores, thresholds=thresholds, weights=known, stderr=None)


def _mean(scores: Floats, weights: Floats) -> float:
    return float(np.average(scores, weights=weights if weights.any() else None))


def _monotone(shape: ShapeFunction, increasing: bool) -> ShapeFunction:
    weights = shape.bin_weights[1:]
    # A bin that no row fell into has next to no say, but takes a score between its neighbours'.
    weights = np.maximum(weights, 1e-12 * weights.max(initial=1.0))
    return replace(shape, scores=isotonic_regression(shape.scores, weights=weights, increasing=increasing).x)


def _smooth(shape: ShapeFunction, window: int) -> ShapeFunction:
    weights = shape.bin_weights[1:]
    reach = np.arange(shape.n_bins)
    first = np.maximum(reach - window // 2, 0)
    last = np.minimum(reach + window // 2 + 1, shape.n_bins)
    weight_sum, score_sum = (np.concatenate([[0.0], np.cumsum(terms)]) for terms in (weights, weights * shape.scores))
    total = weight_sum[last] - weight_sum[first]
    average = np.divide(score_sum[last] - score_sum[first], total, out=shape.scores.copy(), where=total > 0)
    return replace(shape, scores=average)


def _changes(before: ShapeFunction, after: ShapeFunction, label: Any) -> list[ScoreChange]:
    """Return the bins of `before` whose score is another in `after`, whose thresholds are some of the same."""
    places: list[dict[str, Any]] = [{"missing": True}]
    if before.kind == "numeric":
        edges = [None, *before.thresholds.tolist(), None]
        places += [{"lo": lo, "hi": hi} for lo, hi in itertools.pairwise(edges)]
        now = after.values([np.nan, *before.thresholds, np.inf])
    else:
        places += [{"level": level} for level in before.levels]
        now = np.array([after.missing, *after.values(before.levels)])
    pairs = [*zip(places, before.table[:-1].tolist(), now.tolist(), strict=True)]
    if before.kind == "categorical":
        pairs.append(({"unseen": True}, before.unseen, after.unseen))
    return [
        ScoreChange(feature=before.name, **{"class": label}, **place, before=old, after=new)
        for place, old, new in pairs
        if old != new
    ]
