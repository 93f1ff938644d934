"""One endpoint per operation of the catalogue, and the catalogue itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Header, Request, Response
from fastapi.openapi.models import Example
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from app.api.access import BEARER, requires
from app.api.job_documents import JOB_HEADERS, RESULT_HEADERS, JobDocument, answer, json_response
from app.api.preferences import parse_prefer
from app.api.refusals import EVERYWHERE, Refusal, Responses, documented
from app.api.service import service_of
from app.api.submission import submit
from app.api.waiting import ended
from solvers.operation import Operation

_WAIT_BEYOND_TIME_LIMIT = 5.0

_PROBLEMS = documented(*EVERYWHERE, 400, 408, 409, 413, 415, 422, 504)
_SUCCESSES: Responses = {
    200: {"description": "The result.", "headers": RESULT_HEADERS},
    202: {"description": "The job, which has not ended yet.", "model": JobDocument, "headers": JOB_HEADERS},
}


class OperationSummary(BaseModel):
    """An operation in the list of all."""

    name: str = Field(examples=["max-cut"])
    path: str = Field(description="Where to post to.", examples=["/v1/graphs/max-cut"])
    summary: str
    time_limit: float = Field(description="Seconds a job may run whose request does not say.")
    light: bool = Field(description="Whether it ends within about a second.")


class OperationDocument(OperationSummary):
    """An operation with the JSON schemas of what it takes and returns."""

    description: str
    request_schema: dict[str, Any]
    result_schema: dict[str, Any]
    examples: dict[str, Any] = Field(description="Request bodies, by title; each runs as it stands.")


class OperationList(BaseModel):
    """All operations, in reading order."""

    operations: list[OperationSummary]


def operations_router(catalogue: Mapping[str, Operation[Any, Any]]) -> APIRouter:
    """Return the router that serves a catalogue."""
    router = APIRouter(tags=["operations"])
    _add_catalogue(router, catalogue)
    for operation in catalogue.values():
        _add_operation(router, operation)
    return router


def _add_operation(router: APIRouter, operation: Operation[Any, Any]) -> None:
    async def post(request: Request) -> Response:
        service = service_of(request)
        caller = await service.gate.admit(request, "solve")
        preference = parse_prefer(request.headers.getlist("prefer"))
        job = await submit(service, request, operation, caller)
        longest = service.settings.max_wait
        job = await ended(service, job, preference.seconds(job.time_limit + _WAIT_BEYOND_TIME_LIMIT, longest))
        return answer(job, instance=request.url.path, headers=preference.applied(longest))

    class OperationRoute(APIRoute):
        """Documents the typed body but leaves reading and checking it to `post`, which does so in pieces and off the event loop."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            return post

    route = OperationRoute(
        f"/v1/{operation.path}",
        _signature(operation),
        methods=["POST"],
        response_model=operation.result,
        responses=_SUCCESSES | _PROBLEMS,
        tags=[operation.path.partition("/")[0]],
        summary=operation.summary,
        description=operation.description,
        operation_id=operation.name.replace("-", "_"),
        dependencies=[Depends(BEARER)],
    )
    router.routes.append(route)


def _signature(operation: Operation[Any, Any]) -> Callable[..., Any]:
    examples = {title: Example(summary=title, value=body) for title, body in operation.examples.items()}

    async def documented_parameters(body, prefer=None, idempotency_key=None):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    documented_parameters.__annotations__ = {
        "body": Annotated[operation.request, Body(openapi_examples=examples or None)],
        "prefer": Annotated[
            str | None,
            Header(
                alias="Prefer",
                description="`wait=N` waits up to N seconds for the result, `respond-async` answers with the job at once (RFC 7240).",
                examples=["wait=10"],
            ),
        ],
        "idempotency_key": Annotated[
            str | None,
            Header(
                alias="Idempotency-Key",
                description="A retry with the same key and body finds the same job.",
                min_length=1,
                max_length=255,
                pattern="^[ -~]*$",
            ),
        ],
    }
    return documented_parameters


def _add_catalogue(router: APIRouter, catalogue: Mapping[str, Operation[Any, Any]]) -> None:
    documents: dict[str, dict[str, Any]] = {}

    @router.get(
        "/v1/operations",
        summary="List the operations",
        response_model=OperationList,
        responses=documented(*EVERYWHERE),
        dependencies=[requires()],
    )
    async def list_operations() -> Response:
        """List what this service can do."""
        return json_response({"operations": [_summary(operation) for operation in catalogue.values()]})

    @router.get(
        "/v1/operations/{name}",
        summary="Describe an operation",
        response_model=OperationDocument,
        responses=documented(*EVERYWHERE, 404, 422),
        dependencies=[requires()],
    )
    async def describe_operation(name: str) -> Response:
        """Describe an operation with the JSON schemas of its request and result, and examples that run."""
        operation = catalogue.get(name)
        if operation is None:
            raise Refusal("not-found", f"there is no operation {name[:80]!r}")
        if name not in documents:
            documents[name] = _summary(operation) | {
                "description": operation.description,
                "request_schema": operation.request.model_json_schema(),
                "result_schema": operation.result.model_json_schema(mode="serialization"),
                "examples": dict(operation.examples),
            }
        return json_response(documents[name])


def _summary(operation: Operation[Any, Any]) -> dict[str, Any]:
    return {
        "name": operation.name,
        "path": f"/v1/{operation.path}",
        "summary": operation.summary,
        "time_limit": operation.resources.time_limit,
        "light": operation.resources.light,
    }
