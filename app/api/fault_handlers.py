"""What each kind of exception is answered with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from app.api.refusals import Refusal, of_status, problem_response
from app.api.submission import RefusedFields
from solvers.operation import ForesolveError, InvalidInput

_RETRY_AFTER_SECONDS = "5"


def add_fault_handlers(app: FastAPI) -> None:
    """Make every fault leave the application as a problem document."""
    app.add_exception_handler(Refusal, _refusal)
    app.add_exception_handler(RefusedFields, _refused_fields)
    app.add_exception_handler(ForesolveError, _fault)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(HTTPException, _bare_status)
    app.add_exception_handler(OperationalError, _no_database)
    app.add_exception_handler(PoolTimeout, _no_database)


def _refusal(request: Request, error: Any) -> Response:
    return problem_response(error.document(), instance=request.url.path, headers=error.headers)


def _refused_fields(request: Request, error: Any) -> Response:
    return problem_response(error.problem, instance=request.url.path)


def _fault(request: Request, error: Any) -> Response:
    headers = {"Retry-After": _RETRY_AFTER_SECONDS} if error.status == 429 else {}
    return problem_response(error.problem(), instance=request.url.path, headers=headers)


def _parameters(request: Request, error: Any) -> Response:
    errors = [{"parameter": str(fault["loc"][-1]), "detail": fault["msg"]} for fault in error.errors()]
    document = {
        "type": InvalidInput.type,
        "title": InvalidInput.title,
        "status": InvalidInput.status,
        "detail": f"{errors[0]['parameter']}: {errors[0]['detail']}",
        "errors": errors,
    }
    return problem_response(document, instance=request.url.path)


def _bare_status(request: Request, error: Any) -> Response:
    headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
    return problem_response(of_status(error.status_code), instance=request.url.path, headers=headers)


def _allowed(request: Request) -> str:
    # Each method of a path is a route of its own, and the router names only the first one's.
    allowed: set[str] = set()
    for route in iter_route_contexts(request.app.routes):
        if route.path and route.methods and compile_path(route.path)[0].match(request.url.path):
            allowed |= route.methods
    return ", ".join(sorted(allowed))


def _no_database(request: Request, error: Any) -> Response:
    refusal = Refusal("not-ready", "the job database does not answer")
    return problem_response(refusal.document(), instance=request.url.path, headers={"Retry-After": _RETRY_AFTER_SECONDS})
