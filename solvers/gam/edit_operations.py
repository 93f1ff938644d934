"""What can be done to a shape function, as requests say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError, field_validator, model_validator

from solvers.field_faults import from_validation_error
from solvers.gam.model_document import Finite, Label
from solvers.operation import InvalidInput


class _OnFeature(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, serialize_by_alias=True)

    feature: str
    of_class: Label | None = Field(None, alias="class", description="With more than two classes: one of them; absent: all.")
    recenter: bool = Field(True, description="Keep the weighted mean of the function at 0 by moving it into the intercept.")


class _OnInterval(_OnFeature):
    lo: Finite | None = Field(
        None, description="The interval is (lo, hi]; absent: unbounded. Ends move to the nearest threshold."
    )
    hi: Finite | None = None

    @model_validator(mode="after")
    def _in_order(self) -> _OnInterval:
        if self.lo is not None and self.hi is not None and self.lo >= self.hi:
            raise ValueError(f"the interval ({self.lo}, {self.hi}] is empty")
        return self


class _OnBins(_OnInterval):
    level: str | list[str] | None = Field(None, description="Of a categorical feature: one level or several.")
    missing: Literal[True] | None = Field(None, description="Only the score of missing values.")
    value: Finite

    @model_validator(mode="after")
    def _one_kind_of_place(self) -> _OnBins:
        has_interval = self.lo is not None or self.hi is not None
        if has_interval + (self.level is not None) + (self.missing is not None) > 1:
            raise ValueError("give an interval, levels, or `missing`, and only one of them")
        return self


class SetScores(_OnBins):
    """Give bins a score."""

    op: Literal["set"] = "set"


class AddToScores(_OnBins):
    """Add to the scores of bins."""

    op: Literal["add"] = "add"


class ClampScores(_OnFeature):
    """Keep all scores, of missing values too, between two bounds."""

    op: Literal["clamp"] = "clamp"
    min: Finite | None = None
    max: Finite | None = None

    @model_validator(mode="after")
    def _bounds(self) -> ClampScores:
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} exceeds max {self.max}")
        return self


class MergeSteps(_OnInterval):
    """Make one step of the bins of an interval, at their weighted mean."""

    op: Literal["merge"] = "merge"


class RemoveFeature(_OnFeature):
    """Let the feature have no say."""

    op: Literal["remove"] = "remove"


class RescaleScores(_OnFeature):
    """Multiply all scores, of missing values too."""

    op: Literal["rescale"] = "rescale"
    factor: Finite


class Monotonise(_OnFeature):
    """Take the nearest monotone function, in weighted least squares; missing values keep their score."""

    op: Literal["monotonise"] = "monotonise"
    direction: Literal["increasing", "decreasing"]


class SmoothScores(_OnFeature):
    """Average each bin with its neighbours, by weight; missing values keep their score."""

    op: Literal["smooth"] = "smooth"
    window: Annotated[int, Strict()] = Field(ge=1, le=100_001, description="Bins averaged; odd.")

    @field_validator("window")
    @classmethod
    def _odd(cls, window: int) -> int:
        if window % 2 == 0:
            raise ValueError("a window is odd, so that it has a middle")
        return window


EditOperation = Annotated[
    SetScores | AddToScores | ClampScores | MergeSteps | RemoveFeature | RescaleScores | Monotonise | SmoothScores,
    Field(discriminator="op"),
]

_LIST: TypeAdapter[list[EditOperation]] = TypeAdapter(list[EditOperation])


def parse_operations(operations: Sequence[EditOperation | Mapping[str, Any]]) -> list[EditOperation]:
    """Return operations that are given as mappings, checked.

    Raises
    ------
    InvalidInput
        With the JSON pointer of the first field that is wrong.

    Examples
    --------
    >>> parse_operations([{"op": "rescale", "feature": "age", "factor": 0.5}])[0].factor
    0.5
    """
    try:
        return _LIST.validate_python(list(operations))
    except ValidationError as error:
        problem = from_validation_error(error, operations, within="/operations")
        raise InvalidInput(problem["detail"], pointer=problem["errors"][0]["pointer"]) from None
