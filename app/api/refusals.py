"""How the HTTP side says no: one exception, and the problem documents (RFC 9457) that it and ended jobs are told with.

A problem's `type` is a path of this service, ``/problems/<slug>``, where a page explains it. Faults that the libraries raise and
problems that jobs end with carry the bare slug; :func:`problem_response` turns all of them into what is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.problems import INVALID_JSON, JOB_PROBLEMS, ProblemType
from solvers.operation import ForesolveError

MEDIA_TYPE = "application/problem+json"

EVERYWHERE = (401, 403, 421, 429, 500, 503)
"""Statuses that every path below /v1 may answer with."""

Responses = dict[int | str, dict[str, Any]]
"""What OpenAPI says of the answers of a path, by status."""

REFUSALS: dict[str, ProblemType] = {
    "invalid-json": INVALID_JSON,
    "invalid-header": ProblemType("A header is not valid", 400, "Correct the header that `detail` names."),
    "malformed-body": ProblemType("The body cannot be read", 400, "Its compression or multipart framing is broken or cut short."),
    "malformed-request": ProblemType("This is not HTTP", 400, "The service speaks HTTP/1.1."),
    "head-too-large": ProblemType("The headers are too long", 431, "Send fewer or shorter headers."),
    "unauthorized": ProblemType(
        "A valid API key is needed", 401, "Send `Authorization: Bearer <key>` with a key that is not revoked."
    ),
    "forbidden": ProblemType("The key lacks a scope", 403, "Use a key with the scope that `detail` names."),
    "foreign-origin": ProblemType(
        "The request comes from another web site",
        403,
        "Name the site in FORESOLVE_CORS_ORIGINS if its pages may call this service.",
    ),
    "not-found": ProblemType("There is no such thing", 404, "It does not exist, has expired, or belongs to somebody else."),
    "method-not-allowed": ProblemType("The method is not allowed here", 405, "The `Allow` header names the methods that are."),
    "request-timeout": ProblemType("The body came too slowly", 408, "Send it again over a faster connection, or compressed."),
    "job-not-ended": ProblemType("The job has not ended", 409, "Wait until it has ended, or cancel it."),
    "cancelled": ProblemType("The job was cancelled before it had a result", 409, "Post the request again."),
    "too-large": ProblemType("It is too large", 413, "`detail` names the limit and the setting that holds it."),
    "unsupported-media-type": ProblemType("The body's media type is not supported", 415, "Operations take `application/json`."),
    "unsupported-encoding": ProblemType("The body's encoding is not supported", 415, "Send it plain, or as gzip or zstd."),
    "foreign-host": ProblemType(
        "The Host header names another host", 421, "Name the host in FORESOLVE_ALLOWED_HOSTS if this service is reached by it."
    ),
    "rate-limit": ProblemType("Too many requests", 429, "Wait as long as `Retry-After` says."),
    "not-ready": ProblemType("The service cannot answer now", 503, "Try again when `Retry-After` says."),
}


class Refusal(Exception):
    """Raised anywhere on the HTTP side to end a request with a problem.

    Examples
    --------
    >>> Refusal("not-found", "there is no job 'x'").document()["status"]
    404
    """

    def __init__(self, slug: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.slug = slug
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def document(self) -> dict[str, Any]:
        """Return the members of the problem, with a bare slug as `type`."""
        kind = REFUSALS[self.slug]
        return {"type": self.slug, "title": kind.title, "status": kind.status, "detail": self.detail, **self.members}


class FieldError(BaseModel):
    """One field at fault."""

    pointer: str | None = Field(None, description="JSON pointer (RFC 6901) into the body.")
    parameter: str | None = Field(None, description="Name of the query, path or header parameter.")
    detail: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """A problem document (RFC 9457); further members depend on its type."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="Path of a page that explains this type of problem.", examples=["/problems/invalid-input"])
    title: str = Field(description="The type of problem in words.")
    status: int = Field(description="The HTTP status.", ge=400, le=599)
    detail: str | None = Field(None, description="What went wrong this time.")
    instance: str | None = Field(None, description="Path of the request.")
    errors: list[FieldError] | None = Field(None, description="The fields at fault.")


def with_path_as_type(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem whose `type` is a path.

    Examples
    --------
    >>> with_path_as_type({"type": "timeout", "status": 504})
    {'type': '/problems/timeout', 'status': 504}
    """
    slug = str(document.get("type", "about:blank"))
    return {**document, "type": slug if ":" in slug or slug.startswith("/") else f"/problems/{slug}"}


def problem_response(document: Mapping[str, Any], *, instance: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that carries a problem."""
    members = with_path_as_type(document)
    members.setdefault("instance", instance)
    # Members may quote what the caller sent; whatever JSON cannot hold becomes text rather than a second fault.
    content = orjson.dumps(members, default=str, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, status_code=int(members.get("status", 500)), media_type=MEDIA_TYPE, headers=dict(headers or {}))


def of_status(status: int) -> dict[str, Any]:
    """Return the problem for a bare HTTP status."""
    slug = {404: "not-found", 405: "method-not-allowed"}.get(status)
    return {"type": slug or "about:blank", "title": REFUSALS[slug].title if slug else HTTPStatus(status).phrase, "status": status}


def documented(*statuses: int) -> Responses:
    """Return the OpenAPI entries of the problems with these statuses."""
    titles: dict[int, list[str]] = {}
    for kind in known_problems().values():
        titles.setdefault(kind.status, []).append(kind.title)
    return {status: {"model": Problem, "description": "; ".join(dict.fromkeys(titles[status]))} for status in statuses}


def known_problems() -> dict[str, ProblemType]:
    """Return every type of problem, those of the libraries' faults too, by slug."""
    faults = {fault.type: ProblemType(fault.title, fault.status, _summary(fault)) for fault in _faults(ForesolveError)}
    return faults | JOB_PROBLEMS | REFUSALS


def _faults(base: type[ForesolveError]) -> list[type[ForesolveError]]:
    return [fault for direct in base.__subclasses__() for fault in _faults(direct)] + [base]


def _summary(fault: type[ForesolveError]) -> str:
    return (fault.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
