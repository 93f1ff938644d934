"""Problem documents (RFC 9457): the kinds of fault this service reports, and the members each is told with.

Inside the service a problem's `type` is a bare slug such as ``timeout``; the HTTP side turns it into ``/problems/timeout``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Problem = dict[str, Any]


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
