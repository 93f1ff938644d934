"""Which fields of a document a Pydantic model refused, as a problem document (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from solvers.operation import InvalidInput

MOST_ERRORS = 20


def from_validation_error(error: ValidationError, document: Any = None, *, within: str = "") -> dict[str, Any]:
    """Return the document that says which fields a Pydantic model refused, and why.

    Parameters
    ----------
    error : pydantic.ValidationError
    document : JSON value, optional
        What was validated. With it the pointers name places of the document only; without it they may pass through the names
        Pydantic gives to the members of a union.
    within : str
        JSON pointer of the document itself, if it is a part of what was sent.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Point(BaseModel):
    ...     x: list[float]
    >>> try:
    ...     Point.model_validate({"x": [0, "a"]})
    ... except ValidationError as error:
    ...     from_validation_error(error)["errors"][0]["pointer"]
    '/x/1'
    """
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    errors = [
        {
            "pointer": within + json_pointer(_places(fault["loc"], document, fault["type"])),
            # Of a ValueError, Pydantic puts the kind before the message.
            "detail": fault["msg"].removeprefix("Value error, "),
        }
        for fault in faults[:MOST_ERRORS]
    ]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    place = errors[0]["pointer"] or "the body"
    return {
        "type": InvalidInput.type,
        "title": InvalidInput.title,
        "status": InvalidInput.status,
        "detail": f"{place}: {errors[0]['detail']}{more}",
        "errors": errors,
    }


def json_pointer(location: Sequence[int | str]) -> str:
    """Return the JSON pointer (RFC 6901) of a Pydantic error location.

    Examples
    --------
    >>> json_pointer(("edges", 3, "a/b"))
    '/edges/3/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in location)


def _places(location: Sequence[int | str], document: Any, kind: str) -> list[int | str]:
    if document is None:
        return list(location)
    places: list[int | str] = []
    for index, step in enumerate(location):
        is_key = isinstance(document, dict) and step in document
        is_index = isinstance(document, list) and isinstance(step, int) and 0 <= step < len(document)
        if is_key or is_index:
            places.append(step)
            document = document[step]
        elif kind == "missing" and index == len(location) - 1:
            places.append(step)
    return places
