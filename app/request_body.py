"""Puts values that are given by name where an operation's request has them: what keyword arguments and ``--option`` mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from solvers.operation import InvalidInput, Operation


def with_values(operation: Operation[Any, Any], body: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` with `values` added: a field of the request by its own name, anything else as one of its options.

    Parameters
    ----------
    operation : Operation
    body : mapping
        A request body; it is not changed.
    values : mapping
        Name to JSON value. Values that are None are left out.

    Raises
    ------
    InvalidInput
        If the request has neither a field of that name nor options.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Request(BaseModel):
    ...     text: str
    ...     options: dict = {}
    >>> operation = Operation("shout", "shout", Request, Request, lambda request, context: request, "")
    >>> with_values(operation, {"text": "a"}, {"text": "b", "seed": 1, "time_limit": None})
    {'text': 'b', 'options': {'seed': 1}}
    """
    fields = operation.request.model_fields
    filled = dict(body)
    for name, value in values.items():
        if value is None:
            continue
        if name in fields:
            filled[name] = value
        elif "options" in fields:
            filled["options"] = {**(filled.get("options") or {}), name: value}
        else:
            known = ", ".join(fields) or "none"
            raise InvalidInput(f"{operation.name} takes no {name!r}; its fields are {known}", pointer=f"/{name}")
    return filled
