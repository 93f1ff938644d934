"""The OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.refusals import MEDIA_TYPE, Problem

DESCRIPTION = """
Post a problem to an operation and get its result, or, if it takes longer than you want to wait, a job that you can watch, cancel and
resume. `Prefer: wait=N` says how long to wait, `Prefer: respond-async` not to wait at all, and an `Idempotency-Key` makes a retry find
the same job.

Errors are problem documents (RFC 9457); their `type` is the path of a page that explains them, and `errors` names every field at fault
by its JSON pointer. Bodies may be compressed with gzip or zstd.
"""

TAGS = [
    {"name": "graphs", "description": "Problems on graphs, with or without predictions, always with a proven bound."},
    {"name": "operations", "description": "What this service can do."},
    {"name": "jobs", "description": "Every request to an operation is kept as a job."},
    {"name": "files", "description": "Uploads, and what jobs have made."},
    {"name": "service", "description": "Health and metrics."},
]

_PROBLEM = {"$ref": f"#/components/schemas/{Problem.__name__}"}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of the application, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes, tags=TAGS)
        for path in document["paths"].values():
            for operation in path.values():
                _name_problems(operation["responses"])
                for parameter in operation.get("parameters", ()):
                    _forbid_null(parameter)
        app.openapi_schema = document
    return app.openapi_schema


def _name_problems(responses: dict[str, Any]) -> None:
    # FastAPI documents every model under the media type of the route.
    for entry in responses.values():
        content = entry.get("content", {})
        for media_type, body in list(content.items()):
            if body.get("schema") == _PROBLEM and media_type != MEDIA_TYPE:
                content[MEDIA_TYPE] = content.pop(media_type)


def _forbid_null(parameter: dict[str, Any]) -> None:
    # A parameter that may be left out has a default of None; nobody can send a null in a header or a query.
    schema = parameter["schema"]
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del schema["anyOf"]
        schema.update(kinds[0])
