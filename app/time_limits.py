"""How long a job may run: as long as its request asks for, if the service's owner allows that."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from solvers.operation import InvalidInput, Operation


def granted(operation: Operation[Any, Any], request: BaseModel, longest: float) -> float:
    """Return the time limit of a job in seconds.

    Parameters
    ----------
    longest : float
        The longest that the service allows. It caps a time limit that nobody asked for.

    Raises
    ------
    InvalidInput
        If the request asks for more.
    """
    asked = operation.time_limit(request)
    options = getattr(request, "options", None)
    is_explicit = isinstance(options, BaseModel) and "time_limit" in options.model_fields_set
    if is_explicit and asked > longest:
        raise InvalidInput(
            f"{asked:g} s; this service allows at most {longest:g} s (setting FORESOLVE_MAX_TIME_LIMIT)",
            pointer="/options/time_limit",
        )
    return min(asked, longest)
