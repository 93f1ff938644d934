"""How a client talks to the service, without the talking: calls, retries, problems and event streams as plain values.

A *flow* is a generator that yields a :class:`Call` (send it, send back the reply or the transport's error) or a :class:`Pause`
(wait that long). The synchronous and the asynchronous client run the same flows, each with its own way to send and to wait.
"""

from __future__ import annotations

import email.utils
import math
import random
import time
import uuid
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

import httpx
import orjson
from pydantic import BaseModel, ConfigDict

from app.request_body import with_values
from solvers.operation import ForesolveError, InvalidInput, Operation
from solvers.resource import ResourceKind

T = TypeVar("T")
Result = TypeVar("Result", bound=BaseModel)
Listed = TypeVar("Listed", bound=BaseModel)
Body = Mapping[str, Any] | BaseModel

ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})
WAIT_SECONDS: Final = 30
CHUNK_BYTES: Final = 1 << 20
LONGEST_PAUSE: Final = 60.0


@dataclass(frozen=True)
class Call:
    """One HTTP request; a path as content is opened anew at every attempt."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | Path | None = None
    waits: float = 0.0


@dataclass(frozen=True)
class Pause:
    """Wait before the flow goes on."""

    seconds: float


Reply = httpx.Response | httpx.TransportError
Flow = Generator[Call | Pause, Reply | None, T]


class ProblemError(ForesolveError):
    """The service refused a request, or a job failed; holds the problem document (RFC 9457).

    Attributes
    ----------
    status : int
        HTTP status.
    type : str
        The problem's name, such as ``invalid-input``.
    detail : str
    pointer : str or None
        JSON pointer to the first field at fault.
    document : dict
        All members of the document.

    Examples
    --------
    >>> error = ProblemError({"type": "/problems/too-large", "title": "Too large", "status": 413, "detail": "9 edges; at most 5"})
    >>> error.type, error.status, str(error)
    ('too-large', 413, '9 edges; at most 5')
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        faults = [fault for fault in document.get("errors") or () if isinstance(fault, Mapping)]
        title = str(document.get("title") or "The service answered with an error")
        super().__init__(str(document.get("detail") or title), pointer=faults[0].get("pointer") if faults else None)
        self.document = dict(document)
        kind = str(document.get("type") or "about:blank").rsplit("/", 1)[-1]
        vars(self).update(type=kind, title=title, status=int(document.get("status") or 500))

    def problem(self) -> dict[str, Any]:
        return dict(self.document)


class Unreachable(ForesolveError):
    """No attempt to reach the service got an answer."""

    type = "unreachable"
    title = "The service cannot be reached"
    status = 503


class JobStatus(BaseModel):
    """A job as the service shows it."""

    model_config = ConfigDict(extra="allow")

    id: str
    operation: str
    status: str
    progress: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the job is succeeded, failed or cancelled."""
        return self.status in ENDED


class Resource(BaseModel):
    """Something that an operation made, such as a predictor, as the service shows it; a list leaves the details out."""

    id: str
    size: int
    job: str | None = None
    created_at: datetime | None = None
    details: Any = None


class Backoff:
    """Decides how long to wait after a failed attempt, and when to give up.

    Waits double from a quarter of a second to eight seconds, with jitter; a `Retry-After` of the service makes them longer.

    Parameters
    ----------
    retries : int
        Failed attempts in a row after which to give up.
    """

    def __init__(self, retries: int) -> None:
        self.retries = retries
        self.failures = 0

    def succeeded(self) -> None:
        """Start counting anew."""
        self.failures = 0

    def pause(self, reply: Reply | None) -> Pause | None:
        """Return how long to wait before the next attempt, or None if `reply` is to be taken as it is."""
        asked = 0.0
        if isinstance(reply, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
            # What this side cannot send, it cannot send a second time either.
            return None
        if isinstance(reply, httpx.Response):
            if reply.status_code not in (429, 502, 503):
                return None
            asked = _retry_after(reply.headers.get("Retry-After"))
        if self.failures >= self.retries or asked > LONGEST_PAUSE:
            return None
        seconds = min(8.0, 0.25 * 2**self.failures) * random.uniform(0.5, 1.0)
        self.failures += 1
        return Pause(max(asked, seconds))


def _retry_after(header: str | None) -> float:
    """Return the seconds that a `Retry-After` header asks for, in either of its forms."""
    if header is None:
        return 0.0
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return 0.0


def exchange(call: Call, retries: int) -> Flow[httpx.Response]:
    """Send a call, again where that can help, and return the answer if it is no error.

    Raises
    ------
    ProblemError
        If the service answers with a problem.
    Unreachable
        If there is no answer.
    """
    backoff = Backoff(retries)
    while True:
        reply = yield call
        pause = backoff.pause(reply)
        if pause is None:
            return answered(reply)
        yield pause


def answered(reply: Reply | None) -> httpx.Response:
    """Return a successful response, or raise what went wrong."""
    if not isinstance(reply, httpx.Response):
        raise Unreachable(f"the service cannot be reached: {reply}") from reply
    if reply.is_success:
        return reply
    raise ProblemError(_problem_document(reply))


def _problem_document(response: httpx.Response) -> dict[str, Any]:
    try:
        document = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        document = None
    known = {"status": response.status_code, "title": response.reason_phrase or f"Status {response.status_code}"}
    if not isinstance(document, dict):
        return known
    # An answer that is no problem document may have a `status` of another meaning.
    return known | document | ({} if isinstance(document.get("status"), int) else {"status": response.status_code})


def encoded(body: Body) -> bytes:
    """Return a request body as JSON; NumPy arrays in it are written as lists."""
    if isinstance(body, BaseModel):
        return body.model_dump_json(exclude_unset=True).encode()
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def posted(path: str, body: Body, *, prefer: str, waits: float = 0.0) -> Call:
    """Return the call that submits a job; its idempotency key makes every repetition mean the same job."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex, "Prefer": prefer}
    return Call("POST", f"/v1/{path}", headers, content=encoded(body), waits=waits)


def submitted(path: str, body: Body, retries: int) -> Flow[str]:
    """Submit a job, wait for nothing, and return its id."""
    reply = yield from exchange(posted(path, body, prefer="respond-async"), retries)
    return _job_id(reply)


def completed(path: str, body: Body, retries: int) -> Flow[bytes]:
    """Submit a job and return its result's JSON when it has ended."""
    reply = yield from exchange(posted(path, body, prefer=f"wait={WAIT_SECONDS}", waits=WAIT_SECONDS), retries)
    if reply.status_code != 202:
        return _document(reply)
    return (yield from result_of(_job_id(reply), None, retries))


def result_of(job_id: str, timeout: float | None, retries: int) -> Flow[bytes]:
    """Wait for a job to end and return its result's JSON.

    Raises
    ------
    TimeoutError
        If the job has not ended after `timeout` seconds; it goes on.
    """
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    seconds = 0.05
    while True:
        remaining = max(0.0, deadline - time.monotonic())
        asked = min(WAIT_SECONDS, remaining)
        call = Call("GET", f"/v1/jobs/{job_id}/result", {"Prefer": f"wait={math.ceil(asked)}"}, waits=asked)
        reply = yield from exchange(call, retries)
        if reply.status_code != 202:
            return _document(reply)
        if remaining <= 0:
            raise TimeoutError(f"job {job_id} has not ended after {timeout} s")
        # A service that is about to stop, or waits less long than asked, must not be asked again without a breath.
        yield Pause(min(seconds, remaining))
        seconds = min(1.0, seconds * 1.5)


def status_of(job_id: str, retries: int) -> Flow[JobStatus]:
    """Return a job as it stands."""
    reply = yield from exchange(Call("GET", f"/v1/jobs/{job_id}"), retries)
    return JobStatus.model_validate_json(_document(reply))


def told(job_id: str, what: str, retries: int) -> Flow[JobStatus]:
    """Tell a job to ``cancel`` or to ``resume`` and return it as it then stands."""
    reply = yield from exchange(Call("POST", f"/v1/jobs/{job_id}/{what}"), retries)
    return JobStatus.model_validate_json(_document(reply))


def uploaded(content: bytes | Path, name: str, retries: int) -> Flow[str]:
    """Keep a file with the service and return its id."""
    headers = {"Content-Type": "application/octet-stream"}
    if isinstance(content, Path):
        headers["Content-Length"] = str(content.stat().st_size)
    reply = yield from exchange(Call("POST", "/v1/files", headers, {"name": name}, content, waits=WAIT_SECONDS), retries)
    return str(orjson.loads(_document(reply))["id"])


def page_of(path: str, model: type[Listed], query: Mapping[str, str], retries: int) -> Flow[tuple[list[Listed], str | None]]:
    """Return one page of a list, newest first, and the cursor of the next."""
    reply = yield from exchange(Call("GET", f"/v1/{path}", params=query), retries)
    page = orjson.loads(_document(reply))
    return [model.model_validate(one) for one in page[path.rpartition("/")[2]]], cast("str | None", page.get("next_cursor"))


def resource_of(kind: ResourceKind[Any], resource_id: str, retries: int) -> Flow[Resource]:
    """Return a resource with its details."""
    reply = yield from exchange(Call("GET", resource_path(kind, resource_id)), retries)
    document = orjson.loads(_document(reply))
    shown = Resource.model_validate(document)
    shown.details = kind.view.model_validate({name: document[name] for name in document.keys() & kind.view.model_fields.keys()})
    return shown


def resource_path(kind: ResourceKind[Any], resource_id: str) -> str:
    """Return the path of one resource."""
    return f"/v1/{kind.path}/{quote(resource_id, safe='')}"


def _job_id(reply: httpx.Response) -> str:
    return str(orjson.loads(_document(reply))["id"])


def _document(reply: httpx.Response) -> bytes:
    """Return the JSON object that an answer holds; a web page in its place comes from somebody else."""
    if not reply.content.lstrip().startswith(b"{"):
        raise Unreachable(f"what answers at {reply.url.copy_with(path='/', query=None)} is not this service")
    return reply.content


def body_of(operation: Operation[Any, Any], *objects: Any, **options: Any) -> Body:
    """Return the request body that a method's arguments stand for.

    A mapping or a request model is the body itself; other objects go through the operation's `from_objects`.
    """
    if len(objects) == 1 and isinstance(objects[0], operation.request) and not options:
        body: Body = objects[0]
        return body
    if not objects or (len(objects) == 1 and type(objects[0]) is dict):
        return with_values(operation, objects[0] if objects else {}, options)
    if operation.from_objects is None:
        raise InvalidInput(f"{operation.name} takes a request body (a dict) and fields by name")
    return operation.from_objects(*objects, **options)


def page_query(filters: Mapping[str, str], limit: int, cursor: str | None) -> dict[str, str]:
    """Return the query for the next page of a list, of which at most `limit` are wanted."""
    page = {"limit": str(min(limit, 100))}
    return {**filters, **page} if cursor is None else {**filters, **page, "cursor": cursor}


def name_of(content: bytes | Path) -> str:
    """Return the name that an upload gets when the caller gives none."""
    return content.name if isinstance(content, Path) else "upload"


def chunks(path: Path) -> Iterator[bytes]:
    """Iterate over the content of a file."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def parsed(model: type[Result] | None, document: bytes) -> Result:
    """Return a result document as its model, or as plain JSON where the catalogue has no model of it."""
    return cast("Result", orjson.loads(document)) if model is None else model.model_validate_json(document)
