"""Numbers that are no JSON: many writers put NaN and Infinity into documents all the same, and 1e999 is beyond every float."""

from __future__ import annotations

import json
import math

from solvers.operation import InvalidInput


def require_finite_numbers(content: bytes) -> None:
    """Say where a document that was refused as JSON holds NaN or an infinite number, if that is what is wrong with it.

    Raises
    ------
    InvalidInput
        With the pointer of the first such number.

    Examples
    --------
    >>> require_finite_numbers(b'{"weights": [1, NaN]}')
    Traceback (most recent call last):
        ...
    solvers.operation.InvalidInput: nan is not a finite number
    >>> require_finite_numbers(b'{"weights": [1, ')
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return
    waiting = [("", document)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            members = [(f"{pointer}/{_escaped(name)}", member) for name, member in value.items()]
            waiting.extend(reversed(members))
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{index}", value[index]) for index in range(len(value) - 1, -1, -1))
        elif isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput(f"{value} is not a finite number", pointer=pointer)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
