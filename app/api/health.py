"""Whether the service lives, and whether it can take work."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from app.api.job_documents import json_response
from app.api.refusals import Responses, documented
from app.api.service import Service, service_of

router = APIRouter(tags=["service"])


class Liveness(BaseModel):
    """The process answers."""

    status: Literal["ok"]


class Readiness(BaseModel):
    """Whether each part that a request needs is there."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str] = Field(
        description="`ok`, or what is missing, by part.", examples=[{"database": "ok", "workers": "ok"}]
    )


_NOT_READY: Responses = {503: {"description": "Not yet, or not any more.", "model": Readiness}}


@router.get("/health/live", summary="Is the process alive?", response_model=Liveness, responses=documented(403, 421))
async def live() -> Response:
    """Answer as long as the process does."""
    return json_response({"status": "ok"})


@router.get(
    "/health/ready",
    summary="Can the service take work?",
    response_model=Readiness,
    responses=_NOT_READY | documented(403, 421),
)
async def ready(request: Request) -> Response:
    """Check the database and the workers."""
    checks = await run_in_threadpool(_checks, service_of(request))
    is_ready = all(state == "ok" for state in checks.values())
    return json_response({"status": "ready" if is_ready else "not ready", "checks": checks}, status=200 if is_ready else 503)


def _checks(service: Service) -> dict[str, str]:
    if service.stopping.is_set():
        return {"service": "stopping"}
    try:
        service.store.ping()
        workers = service.store.live_workers()
    except Exception:
        return {"database": "does not answer"}
    if service.dispatcher is not None:
        return {"database": "ok", "workers": "ok" if service.dispatcher.ready else "starting"}
    return {"database": "ok", "workers": "ok" if workers else "none is connected"}
