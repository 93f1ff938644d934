"""One feature's part of an additive model: a step function of a number, or a score for each level of a category.

Bins are numbered the same everywhere: 0 is "missing", 1..B are the intervals between thresholds or the levels, and -1 is a level that
the model has never seen. A stump on the threshold -inf, which tests for "not missing", is no threshold here: it is the difference
between the first score and that of missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.gam.model_document import ShapeDocument
from solvers.operation import InvalidInput

Floats = npt.NDArray[np.float64]
Kind = Literal["numeric", "categorical"]

MISSING = 0
UNSEEN = -1


class CodedColumn(NamedTuple):
    """A categorical column as codes: `levels[code]`, and missing where a code is negative.

    Attributes
    ----------
    codes : int array of shape (N,)
    levels : sequence of str
    """

    codes: npt.NDArray[Any]
    levels: Sequence[str]


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What a feature adds to the decision.

    Attributes
    ----------
    name : str
        Of the feature.
    kind : {"numeric", "categorical"}
    scores : float64 array of shape (B,)
        Of the intervals in ascending order, or of the levels.
    thresholds : float64 array of shape (B - 1,)
        Finite and ascending; `x <= threshold` goes left. Empty for a categorical feature.
    levels : tuple of str, length B
        Empty for a numeric feature.
    missing : float
        Score of missing values.
    unseen : float
        Score of a level that is none of `levels`.
    weights : float64 array of shape (B + 1,), optional
        Total weight of the training rows in each bin, missing first.
    stderr : float64 array of shape (B + 1,), optional
        Standard errors of the scores, missing first.

    Raises
    ------
    InvalidInput
        If lengths do not fit together, a number is not finite, thresholds do not ascend, or a level occurs twice.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-0.3, 1.5, -0.9], thresholds=[25.5, 40], missing=-0.1)
    >>> age.values([25.5, 26, float("inf"), None])
    array([-0.3,  1.5, -0.9, -0.1])
    """

    name: str
    kind: Kind
    scores: Floats
    thresholds: Floats = ()  # type: ignore[assignment]  # any sequence is taken, an array is kept
    levels: tuple[str, ...] = ()
    missing: float = 0.0
    unseen: float = 0.0
    weights: Floats | None = None
    stderr: Floats | None = None

    def __post_init__(self) -> None:
        for field in ("scores", "thresholds", "weights", "stderr"):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, _finite(value, f"the {field} of {self.name!r}"))
        for field in ("missing", "unseen"):
            object.__setattr__(self, field, float(_finite([getattr(self, field)], f"the score `{field}` of {self.name!r}")[0]))
        object.__setattr__(self, "name", plain_text(self.name))
        self._require_bins()
        object.__setattr__(self, "levels", tuple(map(plain_text, self.levels)))

    def _require_bins(self) -> None:
        if self.kind == "numeric":
            bins = len(self.thresholds) + 1
            if (np.diff(self.thresholds) <= 0).any():
                raise InvalidInput(f"the thresholds of {self.name!r} do not ascend")
            if len(self.levels):
                raise InvalidInput(f"the numeric feature {self.name!r} has no levels")
        else:
            bins = len(self.levels)
            if len(self.thresholds):
                raise InvalidInput(f"the categorical feature {self.name!r} has no thresholds")
            if not all(isinstance(level, str) for level in self.levels):
                raise InvalidInput(f"the levels of {self.name!r} are texts")
            if len(set(self.levels)) < bins:
                raise InvalidInput(f"a level of {self.name!r} occurs twice")
        if len(self.scores) != bins:
            raise InvalidInput(f"{self.name!r} has {bins} bins and {len(self.scores)} scores")
        for field in ("weights", "stderr"):
            value = getattr(self, field)
            if value is not None and len(value) != bins + 1:
                raise InvalidInput(f"{self.name!r} has {bins} bins, one for missing values, and {len(value)} {field}")
            if value is not None and (value < 0).any():
                raise InvalidInput(f"the {field} of {self.name!r} are not negative")

    @classmethod
    def from_steps(
        cls,
        name: str,
        thresholds: npt.ArrayLike,
        heights: npt.ArrayLike,
        weights: npt.ArrayLike,
        stderr: npt.ArrayLike | None = None,
    ) -> ShapeFunction:
        """Return the centred step function that rises by `heights` at `thresholds`.

        Parameters
        ----------
        name : str
        thresholds : array_like of shape (k,)
            Ascending; a leading -inf is the step from missing to present.
        heights : array_like of shape (k,)
        weights : array_like of shape (B + 1,)
            Of the bins between the finite thresholds, missing first. The weighted mean of the function is 0. Where no training row
            was missing, missing values score 0.
        stderr : array_like of shape (B + 1,), optional

        Examples
        --------
        >>> shape = ShapeFunction.from_steps("x", [float("-inf"), 2.0], [4.0, 1.0], weights=[1, 2, 2])
        >>> shape.missing, shape.scores, shape.thresholds
        (-3.6, array([0.4, 1.4]), array([2.]))
        """
        at = np.asarray(thresholds, dtype=np.float64)
        rises = np.asarray(heights, dtype=np.float64)
        present = float(rises[0]) if len(at) and at[0] == -np.inf else 0.0
        finite = at > -np.inf
        scores = present + np.concatenate([[0.0], np.cumsum(rises[finite])])
        shape = cls(name, "numeric", scores, at[finite], weights=weights, stderr=stderr)  # type: ignore[arg-type]
        assert shape.weights is not None
        centred = shape.shifted(-shape.mean)
        return centred if shape.weights[MISSING] > 0 else replace(centred, missing=0.0)

    @classmethod
    def from_document(cls, document: ShapeDocument) -> ShapeFunction:
        """Return the function of a document; faults as those of the constructor."""
        return cls(
            document.name,
            document.type,
            document.scores,  # type: ignore[arg-type]
            document.thresholds,  # type: ignore[arg-type]
            tuple(document.levels),
            document.missing,
            document.unseen,
            document.weights,  # type: ignore[arg-type]
            document.stderr,  # type: ignore[arg-type]
        )

    def document(self, of_class: Any = None) -> ShapeDocument:
        """Return the function as a document; with more than two classes, that of a class."""
        return ShapeDocument(
            name=self.name,
            type=self.kind,
            of_class=of_class,
            thresholds=self.thresholds.tolist(),
            levels=list(self.levels),
            scores=self.scores.tolist(),
            missing=self.missing,
            unseen=self.unseen,
            weights=None if self.weights is None else self.weights.tolist(),
            stderr=None if self.stderr is None else self.stderr.tolist(),
        )

    @property
    def n_bins(self) -> int:
        """Number of bins that are not "missing"."""
        return len(self.scores)

    @cached_property
    def table(self) -> Floats:
        """Scores by bin: missing, the bins, unseen; so that bin -1 finds the last."""
        return np.concatenate([[self.missing], self.scores, [self.unseen]])

    @property
    def n_steps(self) -> int:
        """Number of jumps; of a category, the bins whose score is not the most common one."""
        trained_missing = self.weights is not None and self.weights[MISSING] > 0
        scores = self.table[0 if trained_missing else 1 : -1]
        if self.kind == "numeric":
            return int(np.count_nonzero(np.diff(scores)))
        return int(len(scores) - np.unique(scores, return_counts=True)[1].max(initial=0))

    @property
    def bin_weights(self) -> Floats:
        """Weights by bin, missing first; equal ones for the bins that are not missing where none are known."""
        if self.weights is not None and self.weights.any():
            return self.weights
        return np.concatenate([[0.0], np.ones(self.n_bins)])

    @property
    def mean(self) -> float:
        """Weighted mean over the bins."""
        return float(np.average(self.table[:-1], weights=self.bin_weights)) if self.n_bins else 0.0

    @property
    def spread(self) -> float:
        """Weighted standard deviation over the bins: how much the feature matters."""
        if not self.n_bins:
            return 0.0
        return float(np.sqrt(np.average((self.table[:-1] - self.mean) ** 2, weights=self.bin_weights)))

    def shifted(self, amount: float) -> ShapeFunction:
        """Return the function with `amount` added everywhere, for missing and unseen values, too."""
        return replace(self, scores=self.scores + amount, missing=self.missing + amount, unseen=self.unseen + amount)

    def bins(self, column: npt.ArrayLike | CodedColumn) -> npt.NDArray[np.intp]:
        """Return the bin of each value of a column.

        Parameters
        ----------
        column : array_like or CodedColumn of length N
            None and NaN are missing. A value of a categorical feature stands for the level of its text, `str(value)`.

        Raises
        ------
        InvalidInput
            If a value of a numeric feature is no number.

        Notes
        -----
        O(N log B).

        Examples
        --------
        >>> plan = ShapeFunction("plan", "categorical", scores=[0.8, -0.8], levels=["basic", "pro"])
        >>> plan.bins(["pro", None, "", "basic"])
        array([ 2,  0, -1,  1])
        """
        return self._numeric_bins(column) if self.kind == "numeric" else self._level_bins(column)

    def values(self, column: npt.ArrayLike | CodedColumn) -> Floats:
        """Return the score of each value of a column; parameters and faults as :meth:`bins`."""
        return self.table[self.bins(column)]

    def _numeric_bins(self, column: Any) -> npt.NDArray[np.intp]:
        if isinstance(column, CodedColumn):
            raise InvalidInput(f"column {self.name!r} holds texts; the model takes numbers")
        numbers = as_numbers(column, self.name)
        bins: npt.NDArray[np.intp] = np.searchsorted(self.thresholds, numbers, side="left") + 1
        bins[np.isnan(numbers)] = MISSING
        return bins

    def _level_bins(self, column: Any) -> npt.NDArray[np.intp]:
        numbered = self._bin_of_level
        if isinstance(column, CodedColumn):
            of_code = np.array([*(numbered.get(level, UNSEEN) for level in column.levels), MISSING], dtype=np.intp)
            # A code of -1 takes the last, which is missing.
            bins: npt.NDArray[np.intp] = of_code[np.maximum(column.codes.astype(np.intp), -1)]
            return bins
        names = map(level_name, _elements(column))
        return np.fromiter((MISSING if name is None else numbered.get(name, UNSEEN) for name in names), np.intp)

    @cached_property
    def _bin_of_level(self) -> dict[str, int]:
        return {level: number for number, level in enumerate(self.levels, start=1)}


def require_seen_levels(shape: ShapeFunction, values: Any, first_row: int = 0) -> None:
    """Raise `InvalidInput` if a value is a level that the function has no score of its own for.

    Parameters
    ----------
    shape : ShapeFunction
    values : array_like or CodedColumn
    first_row : int
        Number of the first of the values.

    Examples
    --------
    >>> plan = ShapeFunction("plan", "categorical", scores=[1.0], levels=("basic",))
    >>> require_seen_levels(plan, ["basic", None, "pro"])
    Traceback (most recent call last):
    solvers.operation.InvalidInput: column 'plan', row 2: a level that the model has not seen
    """
    is_unseen = shape.bins(values) == UNSEEN
    if is_unseen.any():
        row = first_row + int(np.argmax(is_unseen))
        raise InvalidInput(f"column {shape.name!r}, row {row}: a level that the model has not seen", column=shape.name, row=row)


def level_name(value: Any) -> str | None:
    """Return the level that a raw value stands for: its text, or None if it is missing.

    Examples
    --------
    >>> level_name("pro"), level_name(3), level_name(float("nan")), level_name("")
    ('pro', '3', None, '')
    """
    if value is None or value != value:
        return None
    return value if type(value) is str else str(value)


def plain_text(text: str) -> str:
    """Return a name or level as Python's own kind of text.

    Raises
    ------
    InvalidInput
        If it holds half a surrogate pair, which no file can hold.

    Examples
    --------
    >>> plain_text(np.str_("pro"))
    'pro'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{text!r:.60} holds half a surrogate pair") from None
    return str(text)


def as_numbers(column: npt.ArrayLike, name: str) -> Floats:
    """Return a raw column as float64, NaN where a value is missing.

    Raises
    ------
    InvalidInput
        With the column and the first row that holds no number.
    """
    kind = getattr(getattr(column, "dtype", None), "kind", "f")
    if kind in "cmM":
        raise InvalidInput(f"column {name!r} holds {'complex numbers' if kind == 'c' else 'dates'}, not numbers", column=name)
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row, value = next((row, value) for row, value in enumerate(_elements(column)) if not _is_number(value))
        raise InvalidInput(f"column {name!r}, row {row}: {value!r:.40} is not a number", column=name, row=row) from None
    if numbers.ndim != 1:
        raise InvalidInput(f"column {name!r} has {numbers.ndim} dimensions, not 1", column=name)
    return numbers


def _is_number(value: Any) -> bool:
    try:
        return np.asarray([value], dtype=np.float64).ndim == 1
    except (TypeError, ValueError, OverflowError):
        return False


def _elements(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _finite(values: Any, what: str) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} are not numbers") from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidInput(f"{what}: not a list of finite numbers")
    array.flags.writeable = False
    return array
