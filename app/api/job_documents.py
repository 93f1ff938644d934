"""How a job is told: as a document of its own, and as the answer to the request that made it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.refusals import Problem, Refusal, problem_response, with_path_as_type
from app.jobs.store import Job, Page

RETRY_AFTER_SECONDS = "1"

JOB_HEADER = "Foresolve-Job"
STATUS_HEADER = "Foresolve-Job-Status"

RESULT_HEADERS: dict[str, Any] = {
    JOB_HEADER: {"description": "Id of the job.", "schema": {"type": "string"}},
    STATUS_HEADER: {
        "description": "How the job ended; `cancelled` marks the best answer found until then.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "Path of the job.", "schema": {"type": "string"}},
}
JOB_HEADERS: dict[str, Any] = {
    "Location": {"description": "Path of the job.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds after which to look again.", "schema": {"type": "string"}},
}


class JobLinks(BaseModel):
    """Where more of a job is found."""

    self: str
    result: str
    events: str
    cancel: str


class JobDocument(BaseModel):
    """A job: a request that was kept, and what became of it."""

    id: str = Field(examples=["job_0197f3c2a1b27c4d8e9f00112233aabb"])
    owner: str = Field(description="Whose it is: that of the key it was posted with.")
    operation: str = Field(examples=["max-cut"])
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    seed: int | None = Field(description="Seed of its random numbers, if the request named one.")
    time_limit: float = Field(description="Seconds it may run.")
    attempt: int = Field(description="How often it was started.")
    max_attempts: int = Field(description="How often it is started at most when its worker dies.")
    cancel_requested: bool
    has_checkpoint: bool = Field(description="Whether it can be resumed after it failed or was cancelled.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: dict[str, Any] | None = Field(description="What it last reported.")
    problem: Problem | None = Field(description="Why it failed.")
    links: JobLinks


class JobPage(BaseModel):
    """Some jobs, newest first."""

    jobs: list[JobDocument]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the following page; null on the last one.")


def job_path(job: Job) -> str:
    """Return the path of a job."""
    return f"/v1/jobs/{job.id}"


def job_document(job: Job) -> dict[str, Any]:
    """Return a job as the members of a :class:`JobDocument`."""
    path = job_path(job)
    return {
        "id": job.id,
        "owner": job.owner,
        "operation": job.operation,
        "status": job.status,
        "seed": job.seed,
        "time_limit": job.time_limit,
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        "cancel_requested": job.cancel_requested,
        "has_checkpoint": job.has_checkpoint,
        "created_at": timestamp(job.created_at),
        "started_at": timestamp(job.started_at),
        "finished_at": timestamp(job.finished_at),
        "progress": job.progress,
        "problem": None if job.problem is None else with_path_as_type(job.problem),
        "links": {"self": path, "result": f"{path}/result", "events": f"{path}/events", "cancel": f"{path}/cancel"},
    }


def timestamp(seconds: float | None) -> str | None:
    """Return Unix seconds in RFC 3339.

    Examples
    --------
    >>> timestamp(0.25)
    '1970-01-01T00:00:00.250000Z'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def json_response(document: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response; no model checks it, it was made here."""
    return Response(orjson.dumps(document), status_code=status, media_type="application/json", headers=headers)


def page_response(page: Page) -> Response:
    """Return one page of a listing."""
    return json_response({"jobs": [job_document(job) for job in page.jobs], "next_cursor": page.next_cursor})


def job_response(job: Job, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a job as a document; one that has not ended says when to look again."""
    all_headers = {"Location": job_path(job)} | (headers or {}) | ({} if job.ended else {"Retry-After": RETRY_AFTER_SECONDS})
    return json_response(job_document(job), status=status, headers=all_headers)


def answer(job: Job, *, instance: str, headers: dict[str, str] | None = None, partial: bool = False) -> Response:
    """Return what a job has come to.

    Its result (of a cancelled job the best so far, of a failed one only if `partial`), else its problem, else, before it has ended, 202
    and the job.
    """
    headers = headers or {}
    if not job.ended:
        return job_response(job, status=202, headers=headers)
    headers = headers | {JOB_HEADER: job.id, STATUS_HEADER: job.status, "Location": job_path(job)}
    if job.result is not None and (partial or job.status != "failed"):
        return Response(job.result, media_type="application/json", headers=headers)
    links = {"job": job_path(job)}
    if job.status == "cancelled":
        problem = Refusal("cancelled", f"job {job.id} was cancelled before it had a result").document()
    else:
        problem = job.problem or Refusal("not-found", f"job {job.id} has no result").document()
        if job.result is not None:
            links["partial_result"] = f"{job_path(job)}/result?partial=true"
    return problem_response(problem | links, instance=instance, headers=headers)
