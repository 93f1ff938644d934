"""A fitted additive model: intercept, shape functions and a link. It knows nothing of how it was fitted.

F(x) = intercept + sum_d f_d(x_d) + offset; the mean of the target is the inverse link of F. With more than two classes there is one
F for each of them. Scoring, editing, exports and plots work on this object alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from solvers.gam.model_document import ModelDocument, OffsetDocument
from solvers.gam.shape_functions import CodedColumn, Floats, ShapeFunction, as_numbers, plain_text
from solvers.operation import InvalidInput

Task = Literal["regression", "classification"]
Link = Literal["identity", "log", "logit", "softmax"]
Columns = Sequence[Any] | Mapping[str, Any] | npt.NDArray[Any]

LARGEST_EXPONENT = 700.0
"""Decisions are clipped to this before exp, here and in exports, so that no engine over- or underflows and all agree."""


@dataclass(frozen=True)
class Offset:
    """The column that enters the decision as it is.

    Attributes
    ----------
    column : str
    kind : {"offset", "exposure"}
        An offset is added on the link scale; an exposure is positive and adds its logarithm, so that it multiplies the mean.
    """

    column: str
    kind: Literal["offset", "exposure"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", plain_text(self.column))

    def on_link_scale(self, values: npt.ArrayLike) -> Floats:
        """Return what the column adds to the decision.

        Raises
        ------
        InvalidInput
            With the first row whose offset is not finite or whose exposure is not positive.

        Examples
        --------
        >>> Offset("years", "exposure").on_link_scale([1.0, 2.0]).round(3)
        array([0.   , 0.693])
        """
        numbers = as_numbers(values, self.column)
        is_fit = np.isfinite(numbers) & (numbers > 0) if self.kind == "exposure" else np.isfinite(numbers)
        if not is_fit.all():
            row = int(np.argmin(is_fit))
            wanted = "positive and finite" if self.kind == "exposure" else "finite"
            raise InvalidInput(
                f"column {self.column!r}, row {row}: the {self.kind} {numbers[row]} is not {wanted}", column=self.column, row=row
            )
        return np.log(numbers) if self.kind == "exposure" else numbers


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """An additive model.

    Attributes
    ----------
    task : {"regression", "classification"}
    link : {"identity", "log", "logit", "softmax"}
        `identity` and `log` for regression, `logit` for two classes, `softmax` for more, or for a single one.
    intercepts : float64 array of shape (K,)
        One for each output: K = 1, or the number of classes with link `softmax`.
    shapes : tuple of D tuples of K ShapeFunction
        `shapes[d][k]` is what feature d adds to output k.
    classes : tuple, optional
        Labels in the order of the probabilities.
    offset : Offset, optional

    Raises
    ------
    InvalidInput
        If link, classes, intercepts and shapes do not fit together, or a feature occurs twice.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.0])
    >>> model = AdditiveModel("classification", "logit", [0.5], [[age]], classes=("no", "yes"))
    >>> model.decision({"age": [25, 35]})
    array([-0.5,  2.5])
    >>> model.predict({"age": [25, 35]})
    array(['no', 'yes'], dtype='<U3')
    """

    task: Task
    link: Link
    intercepts: Floats
    shapes: tuple[tuple[ShapeFunction, ...], ...]
    classes: tuple[Any, ...] | None = None
    offset: Offset | None = None

    def __post_init__(self) -> None:
        intercepts = np.array(self.intercepts, dtype=np.float64)
        if intercepts.ndim != 1 or not np.isfinite(intercepts).all():
            raise InvalidInput("an intercept is a finite number", pointer="/intercept")
        intercepts.flags.writeable = False
        object.__setattr__(self, "intercepts", intercepts)
        object.__setattr__(self, "shapes", tuple(map(tuple, self.shapes)))
        object.__setattr__(self, "classes", None if self.classes is None else tuple(map(_plain, self.classes)))
        self._require_outputs()
        self._require_features()

    def _require_outputs(self) -> None:
        wanted = {"identity": "regression", "log": "regression", "logit": "classification", "softmax": "classification"}
        if wanted[self.link] != self.task:
            raise InvalidInput(f"the link {self.link!r} is not one of {self.task}", pointer="/link")
        n_classes = 0 if self.classes is None else len(self.classes)
        if self.task == "classification" and not (n_classes == 2 if self.link == "logit" else n_classes):
            raise InvalidInput(f"the link {self.link!r} does not go with {n_classes} classes", pointer="/classes")
        if self.task == "regression" and self.classes is not None:
            raise InvalidInput("a regression has no classes", pointer="/classes")
        if self.classes is not None and len(set(map(str, self.classes))) < n_classes:
            raise InvalidInput("two classes have the same name", pointer="/classes")
        n_outputs = n_classes if self.link == "softmax" else 1
        if len(self.intercepts) != n_outputs:
            raise InvalidInput(f"{len(self.intercepts)} intercepts for {n_outputs} outputs", pointer="/intercept")
        if self.offset is not None and self.offset.kind == "exposure" and self.link != "log":
            raise InvalidInput(f"an exposure goes with the link 'log', not {self.link!r}", pointer="/offset")

    def _require_features(self) -> None:
        for number, per_output in enumerate(self.shapes):
            if len(per_output) != self.n_outputs:
                raise InvalidInput(
                    f"feature {number} has {len(per_output)} shape functions for {self.n_outputs} outputs",
                    pointer=f"/features/{number}",
                )
            if len({(shape.name, shape.kind) for shape in per_output}) > 1:
                raise InvalidInput(
                    f"the shape functions of feature {number} differ in name or kind", pointer=f"/features/{number}"
                )
        if len(set(self.feature_names)) < len(self.shapes):
            raise InvalidInput("a feature occurs twice", pointer="/features")

    @property
    def n_outputs(self) -> int:
        """K: the number of classes with link `softmax`, else 1."""
        return len(self.intercepts)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(per_output[0].name for per_output in self.shapes)

    @property
    def n_steps(self) -> int:
        """Number of jumps of all shape functions."""
        return sum(shape.n_steps for per_output in self.shapes for shape in per_output)

    def output_of(self, label: Any) -> int:
        """Return the number of the output of a class; a label may be given as text.

        Raises
        ------
        InvalidInput
            If the model has one output only, or no such class.
        """
        if self.link != "softmax" or self.classes is None:
            raise InvalidInput("a class is named only where the model has more than two", pointer="/class")
        names = [str(known) for known in self.classes]
        if str(label) not in names:
            raise InvalidInput(f"there is no class {label!r:.40}", pointer="/class")
        return names.index(str(label))

    def feature(self, name: str) -> int:
        """Return the position of a feature; `InvalidInput` if there is none of that name."""
        try:
            return self.feature_names.index(name)
        except ValueError:
            raise InvalidInput(f"there is no feature {name!r:.60}", pointer="/feature") from None

    def shape(self, name: str, label: Any = None) -> ShapeFunction:
        """Return the shape function of a feature; with more than two classes, of that class."""
        per_output = self.shapes[self.feature(name)]
        if label is None and self.n_outputs > 1:
            raise InvalidInput("the model has more than two classes; name one", pointer="/class")
        return per_output[0 if label is None else self.output_of(label)]

    def importances(self) -> Floats:
        """Return how much each feature matters: the weighted spread of its scores as a share of all, shape (D,).

        With more than two classes: the root of the mean square over the classes.
        """
        spreads = np.array([[shape.spread for shape in per_output] for per_output in self.shapes]).reshape(-1, self.n_outputs)
        root: Floats = np.sqrt(np.mean(spreads**2, axis=1))
        return root / root.sum() if root.any() else root

    def decision(self, columns: Columns, offset: npt.ArrayLike | None = None) -> Floats:
        """Return F of each row, on the link scale.

        Parameters
        ----------
        columns : sequence of D columns, array of shape (N, D), or mapping
            The features in order, or by name. See :meth:`ShapeFunction.bins` for values.
        offset : array_like of shape (N,), optional
            What is added on the link scale; see :meth:`Offset.on_link_scale`. Default 0.

        Returns
        -------
        float64 array of shape (N,), or (N, K) with link `softmax`

        Raises
        ------
        InvalidInput
            If a column is absent, has another length, or holds something that is no number where one is needed.
        """
        total = np.zeros((self._length(columns, offset), self.n_outputs)) + self.intercepts
        for number, column in enumerate(self._in_order(columns)):
            for output, shape in enumerate(self.shapes[number]):
                total[:, output] += shape.values(column)
        if offset is not None:
            total += np.asarray(offset, dtype=np.float64)[:, None]
        return total if self.link == "softmax" else total[:, 0]

    def contributions(self, columns: Columns) -> Floats:
        """Return what each feature adds to F, shape (N, D), or (N, D, K) with link `softmax`; parameters as :meth:`decision`."""
        parts = np.zeros((self._length(columns, None), len(self.shapes), self.n_outputs))
        for number, column in enumerate(self._in_order(columns)):
            for output, shape in enumerate(self.shapes[number]):
                parts[:, number, output] = shape.values(column)
        return parts if self.link == "softmax" else parts[:, :, 0]

    def mean(self, decision: Floats) -> Floats:
        """Return the inverse link of F: the mean of the target, or the probability of the second class, or of each class.

        F is clipped to 700 on both sides first, so that the answer is finite.
        """
        if self.link == "identity":
            return decision
        if self.link == "softmax":
            result: Floats = softmax(decision, axis=1)
            return result
        clipped = np.clip(decision, -LARGEST_EXPONENT, LARGEST_EXPONENT)
        return np.exp(clipped) if self.link == "log" else 1.0 / (1.0 + np.exp(-clipped))

    def probabilities(self, decision: Floats) -> Floats:
        """Return the probability of each class, shape (N, number of classes)."""
        if self.task != "classification":
            raise InvalidInput("a regression has no probabilities")
        if self.link == "softmax":
            return self.mean(decision)
        return np.column_stack([self.mean(-decision), self.mean(decision)])

    def labels(self, decision: Floats) -> npt.NDArray[Any]:
        """Return the class of each row; of equal ones, the first."""
        if self.classes is None:
            raise InvalidInput("a regression has no classes")
        chosen = decision.argmax(axis=1) if self.link == "softmax" else (decision > 0).astype(np.intp)
        chosen_labels: npt.NDArray[Any] = _label_array(self.classes)[chosen]
        return chosen_labels

    def predict(self, columns: Columns, offset: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the mean of the target, or the class, of each row; parameters as :meth:`decision`."""
        decision = self.decision(columns, offset)
        return self.mean(decision) if self.task == "regression" else self.labels(decision)

    def unfamiliar(self, columns: Columns) -> list[str]:
        """Return what the rows hold that the training rows did not: unseen levels, and missing values where none were."""
        notes = []
        for number, column in enumerate(self._in_order(columns)):
            shape = self.shapes[number][0]
            bins = shape.bins(column)
            unseen, missing = int((bins < 0).sum()), int((bins == 0).sum())
            if unseen:
                notes.append(f"column {shape.name!r}: {unseen} rows with a level that the model has not seen")
            if missing and shape.weights is not None and shape.weights[0] == 0:
                notes.append(f"column {shape.name!r}: {missing} missing values, of which there were none in training")
        return notes

    def document(self) -> ModelDocument:
        """Return the model as a document."""
        flat = [(shape, output) for per_output in self.shapes for output, shape in enumerate(per_output)]
        return ModelDocument(
            task=self.task,
            link=self.link,
            intercept=self.intercepts.tolist() if self.link == "softmax" else float(self.intercepts[0]),
            classes=None if self.classes is None else list(self.classes),
            offset=None if self.offset is None else OffsetDocument(column=self.offset.column, kind=self.offset.kind),
            features=[shape.document(self._label_of(output)) for shape, output in flat],
        )

    def to_json(self) -> str:
        """Return the canonical text of the model; equal models have equal texts.

        Examples
        --------
        >>> model = AdditiveModel("regression", "identity", [1.5], [])
        >>> AdditiveModel.from_json(model.to_json()).intercepts
        array([1.5])
        """
        return self.document().to_json()

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any]) -> AdditiveModel:
        """Return the model of a JSON text, or of one that is parsed already.

        Raises
        ------
        InvalidInput
            With the JSON pointer of the field that is wrong.
        """
        return cls.from_document(ModelDocument.parse(document))

    @classmethod
    def from_document(cls, document: ModelDocument) -> AdditiveModel:
        """Return the model of a document."""
        intercepts = document.intercept if isinstance(document.intercept, list) else [document.intercept]
        n_outputs = len(intercepts)
        shapes = []
        for number, feature in enumerate(document.features):
            try:
                shapes.append(ShapeFunction.from_document(feature))
            except InvalidInput as fault:
                raise InvalidInput(fault.detail, pointer=f"/features/{number}") from None
        if document.link == "softmax":
            _require_class_order(document)
        return cls(
            document.task,
            document.link,
            intercepts,  # type: ignore[arg-type]
            tuple(tuple(shapes[first : first + n_outputs]) for first in range(0, len(shapes), n_outputs)),
            None if document.classes is None else tuple(document.classes),
            None if document.offset is None else Offset(document.offset.column, document.offset.kind),
        )

    def _label_of(self, output: int) -> Any:
        return self.classes[output] if self.link == "softmax" and self.classes is not None else None

    def _in_order(self, columns: Columns) -> Sequence[Any]:
        if isinstance(columns, Mapping):
            absent = [name for name in self.feature_names if name not in columns]
            if absent:
                raise InvalidInput(f"column {absent[0]!r} is absent", column=absent[0])
            columns = [columns[name] for name in self.feature_names]
        elif isinstance(columns, np.ndarray) and columns.ndim == 2:
            columns = columns.T
        if len(columns) != len(self.shapes):
            raise InvalidInput(f"{len(columns)} columns for {len(self.shapes)} features")
        lengths = [_length_of(column) for column in columns]
        for name, length in zip(self.feature_names, lengths, strict=True):
            if length != lengths[0]:
                raise InvalidInput(f"column {name!r} has {length} rows, the first column {lengths[0]}", column=name)
        return columns  # type: ignore[return-value]  # an array of columns is a sequence of them

    def _length(self, columns: Columns, offset: npt.ArrayLike | None) -> int:
        if isinstance(columns, np.ndarray) and columns.ndim == 2:
            return len(columns)
        ordered = self._in_order(columns)
        if len(ordered):
            return _length_of(ordered[0])
        return 0 if offset is None else len(np.asarray(offset))


def _length_of(column: Any) -> int:
    return len(column.codes if isinstance(column, CodedColumn) else column)


def _label_array(classes: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return the labels as an array that keeps their type; labels of several types stay Python's."""
    if len(set(map(type, classes))) == 1:
        return np.array(classes)
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    return labels


def _plain(label: Any) -> Any:
    own = label.item() if isinstance(label, np.generic) else label
    return plain_text(own) if isinstance(own, str) else own


def _require_class_order(document: ModelDocument) -> None:
    """Require that the shape functions of each feature come in the order of the classes."""
    classes = document.classes or []
    for number, shape in enumerate(document.features):
        expected = classes[number % len(classes)] if classes else None
        if shape.of_class != expected:
            raise InvalidInput(
                f"shape function {number} is of class {shape.of_class!r}; in order it is {expected!r}",
                pointer=f"/features/{number}/class",
            )
