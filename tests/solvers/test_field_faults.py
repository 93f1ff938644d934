"""Problems of refused fields name the field at fault by its place in the document that was sent."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from solvers.field_faults import MOST_ERRORS, from_validation_error, json_pointer


class Bits(BaseModel):
    bits: list[int]


class Labels(BaseModel):
    labels: list[int]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prediction: Bits | Labels | None = None
    weights: list[float] = []
    size: int


def errors(document: object) -> list[dict[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Body.model_validate(document)
    return from_validation_error(caught.value, document)["errors"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"size": 1, "weights": [0, "a"]}, "/weights/1"),
        ({"size": 1, "unknown": 1}, "/unknown"),
        ({}, "/size"),
        ({"size": 1, "prediction": {"bits": [1, "x"]}}, "/prediction/bits/1"),
        ({"size": 1, "a/b~c": 1}, "/a~1b~0c"),
    ],
)
def test_an_error_points_to_the_field_at_fault(document, pointer):
    assert errors(document)[0]["pointer"] == pointer


def test_a_document_with_many_errors_is_told_the_first_of_them():
    document = {"size": 1, "weights": ["a"] * 500}

    with pytest.raises(ValidationError) as caught:
        Body.model_validate(document)
    problem = from_validation_error(caught.value, document)

    assert len(problem["errors"]) == MOST_ERRORS
    assert "499 more" in problem["detail"]


def test_the_whole_body_has_the_empty_pointer():
    assert errors([1])[0]["pointer"] == ""
    assert json_pointer(()) == ""


def test_a_part_of_a_document_has_pointers_into_the_whole():
    with pytest.raises(ValidationError) as caught:
        Body.model_validate({"size": "x"})
    problem = from_validation_error(caught.value, {"size": "x"}, within="/bodies/3")

    assert problem["errors"][0]["pointer"] == "/bodies/3/size"
    assert problem["detail"].startswith("/bodies/3/size: ")


def test_a_reason_is_told_as_it_was_raised():
    class Even(BaseModel):
        size: int

        @field_validator("size")
        @classmethod
        def _is_even(cls, size: int) -> int:
            raise ValueError("sizes are even")

    with pytest.raises(ValidationError) as caught:
        Even.model_validate({"size": 1})
    assert from_validation_error(caught.value, {"size": 1})["errors"] == [{"pointer": "/size", "detail": "sizes are even"}]
