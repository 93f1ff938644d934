"""The model as a JSON document, format `stumpforest-json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, Strict, ValidationError

from solvers.field_faults import from_validation_error
from solvers.operation import InvalidInput

Finite = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Label = Annotated[str, Strict()] | Annotated[bool, Strict()] | Annotated[int, Strict()] | Finite


class OffsetDocument(BaseModel, extra="forbid"):
    """The column whose value is added to the decision, or multiplies the mean."""

    column: str
    kind: Literal["offset", "exposure"] = Field(description="An exposure adds its logarithm to the decision.")


class ShapeDocument(BaseModel, extra="forbid", populate_by_name=True, serialize_by_alias=True):
    """One shape function."""

    name: str
    type: Literal["numeric", "categorical"]
    of_class: Label | None = Field(None, alias="class", description="With more than two classes: which one the scores are of.")
    thresholds: list[Finite] = Field([], description="Ascending; x <= threshold goes left.")
    levels: list[str] = []
    scores: list[Finite] = Field(description="One more than thresholds, or one for each level.")
    missing: Finite = 0.0
    unseen: Finite = Field(0.0, description="Score of a level that is none of `levels`.")
    weights: list[Finite] | None = Field(None, description="Training weight of each bin, missing first.")
    stderr: list[Finite] | None = Field(None, description="Standard errors of the scores, missing first.")


class ModelDocument(BaseModel, extra="forbid"):
    """An additive model."""

    format: Literal["stumpforest-json"] = "stumpforest-json"
    version: Literal[1] = 1
    task: Literal["regression", "classification"]
    link: Literal["identity", "log", "logit", "softmax"]
    intercept: Finite | list[Finite] = Field(description="A list with one for each class where there are more than two.")
    classes: list[Label] | None = None
    offset: OffsetDocument | None = None
    features: list[ShapeDocument] = Field(description="In order; with more than two classes, one of each feature and class.")

    def to_json(self) -> str:
        """Return the text of the document, the same for equal models."""
        document = self.model_dump(mode="json", exclude_none=True)
        for shape in document["features"]:
            for unused in ("levels", "unseen") if shape["type"] == "numeric" else ("thresholds",):
                del shape[unused]
        return json.dumps(document, ensure_ascii=False, allow_nan=False)

    @classmethod
    def parse(cls, document: str | bytes | Mapping[str, Any]) -> ModelDocument:
        """Return the document of a JSON text or of a parsed one.

        Raises
        ------
        InvalidInput
            With the JSON pointer of the first field that is wrong.

        Examples
        --------
        >>> ModelDocument.parse('{"task": "regression", "link": "identity", "intercept": 1.5, "features": []}').intercept
        1.5
        """
        if isinstance(document, str | bytes):
            try:
                document = json.loads(document, object_pairs_hook=_without_duplicates)
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
                raise InvalidInput(f"the model is no JSON document: {error}") from None
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            problem = from_validation_error(error, document)
            raise InvalidInput(problem["detail"], pointer=problem["errors"][0]["pointer"]) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        name = next(name for index, (name, _) in enumerate(pairs) if any(name == earlier for earlier, _ in pairs[:index]))
        raise InvalidInput(f"the member {name!r} occurs twice in one object of the model")
    return members
