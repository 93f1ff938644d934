"""Jobs: list, watch, cancel, resume, delete."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field
from starlette.concurrency import run_in_threadpool

from app.api.access import requires
from app.api.job_documents import (
    JOB_HEADERS,
    RESULT_HEADERS,
    JobDocument,
    JobPage,
    answer,
    job_path,
    job_response,
    json_response,
    page_response,
)
from app.api.preferences import parse_prefer
from app.api.refusals import EVERYWHERE, Refusal, Responses, documented
from app.api.service import Service, service_of
from app.api.waiting import ended
from app.identifiers import is_id
from app.jobs.store import Job, Status
from app.security import STREAM_TOKEN_SECONDS, Caller, stream_token

router = APIRouter(tags=["jobs"])

_READ = ("read", "solve")

Reader = Annotated[Caller, requires(*_READ)]
Solver = Annotated[Caller, requires("solve")]
Prefer = Annotated[
    str | None, Header(alias="Prefer", description="`wait=N` waits up to N seconds for the end of the job (RFC 7240).")
]

_RESULT_OR_JOB: Responses = {
    200: {
        "description": "The result, as the operation's endpoint answers it.",
        "content": {"application/json": {"schema": {"type": "object"}}},
        "headers": RESULT_HEADERS,
    },
    202: {"description": "The job, which has not ended yet.", "model": JobDocument, "headers": JOB_HEADERS},
}
_ENDING: Responses = {202: {"description": "The job, which is about to end.", "model": JobDocument, "headers": JOB_HEADERS}}


def _rfc_3339(text: str) -> str:
    # Pydantic would also take a number for Unix seconds, which the schema does not say.
    if "T" not in text.upper():
        raise ValueError("a moment is written as in RFC 3339, such as 2026-01-31T12:00:00Z")
    return text


Moment = Annotated[AwareDatetime, BeforeValidator(_rfc_3339)]


class StreamToken(BaseModel):
    """Opens the events of one job for a reader that cannot send headers."""

    token: str
    url: str = Field(description="Path of the events with the token in it.")
    expires_in: int = Field(description="Seconds until the token ends; a stream that is open by then stays open.")


@router.get(
    "/v1/jobs",
    summary="List jobs",
    response_model=JobPage,
    responses=documented(*EVERYWHERE, 422),
)
async def list_jobs(
    request: Request,
    caller: Reader,
    status: Annotated[Status | None, Query(description="Only jobs of this status.")] = None,
    operation: Annotated[str | None, Query(description="Only jobs of this operation.", pattern="^[a-z0-9-]{1,64}$")] = None,
    created_after: Annotated[Moment | None, Query(description="Only jobs made after this moment.")] = None,
    created_before: Annotated[Moment | None, Query(description="Only jobs made before this moment.")] = None,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.", max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """List the caller's jobs, newest first; an admin's list has everybody's."""
    page = await run_in_threadpool(
        service_of(request).store.list,
        caller.sees,
        status=status,
        operation=operation,
        created_after=None if created_after is None else created_after.timestamp(),
        created_before=None if created_before is None else created_before.timestamp(),
        cursor=cursor,
        limit=limit,
    )
    return page_response(page)


@router.get(
    "/v1/jobs/{job_id}",
    summary="Show a job",
    response_model=JobDocument,
    responses=documented(*EVERYWHERE, 404, 422),
)
async def show_job(request: Request, job_id: str, caller: Reader, prefer: Prefer = None) -> Response:
    """Show a job: its status, its progress, and why it failed if it did."""
    job = await existing_job(service_of(request), job_id, caller)
    longest = service_of(request).settings.max_wait
    preference = parse_prefer(request.headers.getlist("prefer"))
    job = await ended(service_of(request), job, preference.seconds(0, longest))
    return job_response(job, headers=preference.applied(longest))


@router.get(
    "/v1/jobs/{job_id}/result",
    summary="Get a job's result",
    response_class=Response,
    responses=_RESULT_OR_JOB | documented(*EVERYWHERE, 400, 404, 409, 413, 422, 504),
)
async def job_result(
    request: Request,
    job_id: str,
    caller: Reader,
    prefer: Prefer = None,
    partial: Annotated[bool, Query(description="Of a failed job, the last incumbent that it reported.")] = False,
) -> Response:
    """Answer as the operation's endpoint does: with the result, with the problem of a failed job, or with 202 and the job."""
    job = await existing_job(service_of(request), job_id, caller)
    longest = service_of(request).settings.max_wait
    preference = parse_prefer(request.headers.getlist("prefer"))
    job = await ended(service_of(request), job, preference.seconds(0, longest))
    return answer(job, instance=request.url.path, headers=preference.applied(longest), partial=partial)


@router.post(
    "/v1/jobs/{job_id}/cancel",
    summary="Cancel a job",
    response_model=JobDocument,
    responses=_ENDING | documented(*EVERYWHERE, 404, 422),
)
async def cancel_job(request: Request, job_id: str, caller: Solver) -> Response:
    """End a job: at once if it is queued; a running one returns its best so far within about two seconds. An ended one stays as it is."""
    service = service_of(request)
    job = _existing(job_id, await run_in_threadpool(service.store.cancel, _sane(job_id), caller.sees))
    return job_response(job, status=200 if job.ended else 202)


@router.post(
    "/v1/jobs/{job_id}/resume",
    summary="Resume a job",
    status_code=202,
    response_model=JobDocument,
    responses=documented(*EVERYWHERE, 404, 409, 422),
)
async def resume_job(request: Request, job_id: str, caller: Solver) -> Response:
    """Queue a failed or cancelled job again; it goes on from its last checkpoint."""
    service = service_of(request)
    job = _existing(job_id, await run_in_threadpool(service.store.resume, _sane(job_id), caller.sees))
    return job_response(job, status=202)


@router.delete(
    "/v1/jobs/{job_id}",
    summary="Delete a job",
    status_code=204,
    responses=documented(*EVERYWHERE, 404, 409, 422),
)
async def delete_job(request: Request, job_id: str, caller: Solver) -> Response:
    """Forget an ended job with its result, events and files."""
    store = service_of(request).store
    await existing_job(service_of(request), job_id, caller)
    if not await run_in_threadpool(store.delete, job_id, caller.sees):
        raise Refusal("job-not-ended", f"job {job_id} is still queued or running; cancel it first")
    return Response(status_code=204)


@router.post(
    "/v1/jobs/{job_id}/stream-token",
    summary="Make a token for a job's events",
    response_model=StreamToken,
    responses=documented(*EVERYWHERE, 404, 422),
)
async def make_stream_token(request: Request, job_id: str, caller: Reader) -> Response:
    """Make a token that opens the job's events for a minute, for browsers' `EventSource`, which sends no headers."""
    service = service_of(request)
    job = await existing_job(service_of(request), job_id, caller)
    token = await run_in_threadpool(_token, service, job, caller)
    return json_response({"token": token, "url": f"{job_path(job)}/events?token={token}", "expires_in": STREAM_TOKEN_SECONDS})


def _token(service: Service, job: Job, caller: Caller) -> str:
    key = None if caller.key_id is None else service.store.get_key(caller.key_id)
    # Without keys everybody may read, and the token is there only for the page's sake.
    key_id, key_hash = ("local", "") if key is None else (key.id, key.hash)
    return stream_token(job.id, key_id, key_hash, expires=int(time.time()) + STREAM_TOKEN_SECONDS)


async def existing_job(service: Service, job_id: str, caller: Caller) -> Job:
    """Return a job that the caller may see; for others it does not exist."""
    return _existing(job_id, await run_in_threadpool(service.store.get, _sane(job_id), caller.sees))


def _existing(job_id: str, job: Job | None) -> Job:
    if job is None:
        raise _no_job(job_id)
    return job


def _sane(job_id: str) -> str:
    if not is_id("job", job_id):
        raise _no_job(job_id)
    return job_id


def _no_job(job_id: str) -> Refusal:
    return Refusal("not-found", f"there is no job {job_id[:80]!r}")
