"""Problem documents (RFC 9457): the kinds of fault this service reports, and the members each is told with.

Inside the service a problem's `type` is a bare slug such as ``timeout``; the HTTP side turns it into ``/problems/timeout``.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from solvers.operation import InvalidInput

Problem = dict[str, Any]

MOST_ERRORS = 20


class ProblemType(NamedTuple):
    """One kind of fault."""

    title: str
    status: int
    explanation: str


INVALID_JSON = ProblemType("The body is not valid JSON", 400, "Send one JSON document in UTF-8; `detail` says where it breaks.")

JOB_PROBLEMS: dict[str, ProblemType] = {
    # Of a body that was too large to be read before it became a job.
    "invalid-json": INVALID_JSON,
    "timeout": ProblemType(
        "The job ran out of time",
        504,
        "The job did not return within its time limit and a short grace, and was killed. If it had reported an incumbent, the "
        "job carries the last one as its result.",
    ),
    "memory-limit": ProblemType(
        "The job exceeded its memory limit",
        413,
        "The processes of the job held more memory than FORESOLVE_JOB_MEMORY_MB or the operation allows, and were killed.",
    ),
    "worker-lost": ProblemType(
        "The job's worker died",
        500,
        "The process that ran the job ended before the job did, as often as the service tries one (FORESOLVE_MAX_ATTEMPTS).",
    ),
    "internal-error": ProblemType(
        "The service failed",
        500,
        "A fault of the service, not of the request. The log has the details under the incident's id.",
    ),
}


def problem(slug: str, detail: str, **members: Any) -> Problem:
    """Return the document of a problem that a job can end with.

    Examples
    --------
    >>> problem("timeout", "killed 1.5 s after its time limit of 10 s")["status"]
    504
    """
    kind = JOB_PROBLEMS[slug]
    return {"type": slug, "title": kind.title, "status": kind.status, "detail": detail, **members}


def internal_error() -> Problem:
    """Return the document of an unforeseen fault: nothing but an incident's id to look for in the log."""
    incident = uuid.uuid4().hex
    return problem("internal-error", f"The service failed; incident {incident}.", incident=incident)


def from_validation_error(error: ValidationError, document: Any = None) -> Problem:
    """Return the document that says which fields a Pydantic model refused, and why.

    Parameters
    ----------
    error : pydantic.ValidationError
    document : JSON value, optional
        What was validated. With it the pointers name places of the document only; without it they may pass through the names
        Pydantic gives to the members of a union.

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
        {"pointer": json_pointer(_places(fault["loc"], document, fault["type"])), "detail": fault["msg"]}
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
