"""The job store: what the API asks of the job database.

A row is the truth about a job. Whoever changes a job's status writes the event that says so in the same transaction, so that the
events of a job are numbered without gaps and the last one of an ended job is terminal.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from sqlalchemy import Connection, Engine, Row, Select, bindparam, delete, func, insert, null, select, text, true, update
from sqlalchemy.exc import IntegrityError

from app.identifiers import is_id, new_id
from app.jobs.database import Database
from app.jobs.file_records import FileRecords, is_resource
from app.jobs.keys import Keys
from app.jobs.notices import notices_of
from app.jobs.schema import files, job_events, jobs, now, workers
from solvers.operation import ForesolveError, InvalidInput

Status = Literal["queued", "running", "succeeded", "failed", "cancelled"]
EventKind = Literal["queued", "started", "progress", "retry", "succeeded", "failed", "cancelled"]

ENDED: tuple[Status, ...] = ("succeeded", "failed", "cancelled")


class IdempotencyConflict(ForesolveError):
    """An idempotency key was used before, with another request."""

    type: ClassVar[str] = "idempotency-conflict"
    title: ClassVar[str] = "The idempotency key belongs to another request"
    status: ClassVar[int] = 422


class QueueFull(ForesolveError):
    """The owner has as many queued jobs as allowed."""

    type: ClassVar[str] = "queue-full"
    title: ClassVar[str] = "Too many queued jobs"
    status: ClassVar[int] = 429


class NotResumable(ForesolveError):
    """The job is not one that stopped early and left a checkpoint."""

    type: ClassVar[str] = "not-resumable"
    title: ClassVar[str] = "The job cannot be resumed"
    status: ClassVar[int] = 409


@dataclass(frozen=True, slots=True)
class NewJob:
    """A request to be kept as a job; its body is `request`, or the file `request_file` of its owner."""

    owner: str
    operation: str
    request_hash: str
    time_limit: float
    memory_mb: int
    request: bytes | None = None
    request_file: str | None = None
    seed: int | None = None
    light: bool = False
    gpu: str = "none"
    idempotency_key: str | None = None
    max_attempts: int = 3


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the store.

    Attributes
    ----------
    attempt : int
        How often the job was started; deaths of its workers count, shutdowns do not.
    progress : dict, optional
        The members of the last report.
    result : bytes, optional
        JSON, as it is answered; for a job that did not succeed, its last incumbent. Left out of listings.
    problem : dict, optional
        Members of the problem document, with a bare slug as `type`.
    created_at, started_at, finished_at : float
        Unix seconds by the database's clock.
    """

    id: str
    owner: str
    operation: str
    status: Status
    seed: int | None
    light: bool
    gpu: str
    time_limit: float
    memory_mb: int
    request_file: str | None
    request_hash: str
    attempt: int
    max_attempts: int
    cancel_requested: bool
    has_checkpoint: bool
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    progress: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    result: bytes | None = None

    @property
    def ended(self) -> bool:
        """Whether the job is over."""
        return self.status in ENDED


class Event(NamedTuple):
    """Something that happened to a job; `seq` counts from 1 within the job."""

    seq: int
    kind: EventKind
    data: dict[str, Any]
    created_at: float


class Page(NamedTuple):
    """Some jobs, newest first, and the cursor that continues after them."""

    jobs: list[Job]
    next_cursor: str | None


JOB_COLUMNS = tuple(column for column in jobs.c if column.name in Job.__dataclass_fields__)
_LISTED = [column for column in JOB_COLUMNS if column.name != "result"]

_INSERT_JOB = insert(jobs).values(created_at=now()).returning(jobs.c.created_at)
_INSERT_EVENT = insert(job_events)
_GET = select(*JOB_COLUMNS).where(jobs.c.id == bindparam("id"))
_BY_IDEMPOTENCY_KEY = select(*JOB_COLUMNS).where(
    jobs.c.owner == bindparam("owner"), jobs.c.idempotency_key == bindparam("idempotency_key")
)
# The status stands in the text, not in a parameter, or SQLite would not see that the partial index holds all it needs.
_QUEUED_OF = text("SELECT count(*) FROM jobs WHERE owner = :owner AND status = 'queued'")
_EVENTS = (
    select(job_events.c.seq, job_events.c.kind, job_events.c.data, job_events.c.created_at)
    .where(job_events.c.job_id == bindparam("job_id"), job_events.c.seq > bindparam("after"))
    .order_by(job_events.c.seq)
    .limit(bindparam("limit"))
)


class JobStore(Keys, FileRecords, Database):
    """Jobs, their events, and the keys and file names beside them, in one SQL database.

    Examples
    --------
    >>> import tempfile
    >>> store = JobStore.open(f"sqlite:///{tempfile.mkdtemp()}/jobs.db")
    >>> new = NewJob("alice", "max-cut", request_hash="0", time_limit=10, memory_mb=512, request=b"{}")
    >>> job, created = store.submit(new, max_queued=10)
    >>> job.status, created, [event.kind for event in store.events(job.id, after=0)]
    ('queued', True, ['queued'])
    >>> store.cancel(job.id, "alice").status
    'cancelled'
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.notices = notices_of(engine)

    def close(self) -> None:
        self.notices.close()
        super().close()

    def submit(self, new: NewJob, *, max_queued: int) -> tuple[Job, bool]:
        """Keep a new job, or find the one that the same idempotency key made.

        Returns
        -------
        job : Job
        created : bool
            False if the job existed.

        Raises
        ------
        IdempotencyConflict
            If the key was used with a request of another hash.
        QueueFull
            If the owner has `max_queued` queued jobs.
        """
        try:
            with self.writing() as connection:
                job, created = _submit(connection, new, max_queued)
        except IntegrityError:
            # Another process used the key since we looked; now its row is there to be found.
            with self.writing() as connection:
                job, created = _submit(connection, new, max_queued)
        if created:
            self.notices.tell(queued=[job.id])
        return job, created

    def get(self, job_id: str, owner: str | None = None) -> Job | None:
        """Return a job; None if there is none of that id, or it is not that owner's."""
        if not is_id("job", job_id):
            return None
        with self.reading() as connection:
            row = connection.execute(_GET, {"id": job_id}).first()
        return None if row is None or owner not in {None, row.owner} else job_of(row)

    def list(
        self,
        owner: str | None,
        *,
        status: Status | None = None,
        operation: str | None = None,
        created_after: float | None = None,
        created_before: float | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page:
        """Return one page of jobs, newest first, without their results; an owner of None means everybody's."""
        query: Select[Any] = select(*_LISTED).order_by(jobs.c.id.desc()).limit(limit + 1)
        for column, wanted in ((jobs.c.owner, owner), (jobs.c.status, status), (jobs.c.operation, operation)):
            if wanted is not None:
                query = query.where(column == wanted)
        if created_after is not None:
            query = query.where(jobs.c.created_at > created_after)
        if created_before is not None:
            query = query.where(jobs.c.created_at < created_before)
        if cursor is not None:
            query = query.where(jobs.c.id < read_cursor(cursor))
        with self.reading() as connection:
            found = [job_of(row) for row in connection.execute(query)]
        return Page(found[:limit], write_cursor(found[limit - 1].id) if len(found) > limit else None)

    def cancel(self, job_id: str, owner: str | None = None) -> Job | None:
        """End a queued job at once; ask for the end of a running one; leave an ended one as it is."""
        with self.writing() as connection:
            job = _lock(connection, job_id, owner)
            if job is not None and job.status == "queued":
                connection.execute(end(job_id, "cancelled", cancel_requested=true()))
                append_events(connection, [(job_id, "cancelled", {})])
            elif job is not None and job.status == "running":
                connection.execute(update(jobs).where(jobs.c.id == job_id).values(cancel_requested=True))
            else:
                return job
            job = job_of(connection.execute(_GET, {"id": job_id}).one())
        if job.ended:
            self.notices.tell(end=[job_id])
        else:
            self.notices.tell(cancel=[job_id])
        return job

    def resume(self, job_id: str, owner: str | None = None) -> Job | None:
        """Queue a failed or cancelled job again, to go on from its checkpoint.

        Raises
        ------
        NotResumable
            If the job did not fail and was not cancelled, or has no checkpoint.
        """
        with self.writing() as connection:
            job = _lock(connection, job_id, owner)
            if job is None:
                return None
            if job.status not in {"failed", "cancelled"}:
                raise NotResumable(f"job {job_id} is {job.status}; only a failed or cancelled job can be resumed")
            if not job.has_checkpoint:
                raise NotResumable(f"job {job_id} left no checkpoint")
            again = {"status": "queued", "attempt": 0, "cancel_requested": False}
            gone = dict.fromkeys(["result", "problem", "started_at", "finished_at"], null())
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(**again, **gone))
            append_events(connection, [(job_id, "queued", {"resumed": True})])
            job = job_of(connection.execute(_GET, {"id": job_id}).one())
        self.notices.tell(queued=[job_id], news=[job_id])
        return job

    def delete(self, job_id: str, owner: str | None = None) -> bool:
        """Forget an ended job, its events and its files; False if there is no such job or it has not ended.

        The bytes of its files go with the next sweep.
        """
        with self.writing() as connection:
            job = _lock(connection, job_id, owner)
            if job is None or not job.ended:
                return False
            delete_jobs(connection, [job_id])
            return True

    def events(self, job_id: str, after: int, limit: int = 500) -> Sequence[Event]:
        """Return the events of a job whose number is larger than `after`, in order."""
        with self.reading() as connection:
            rows = connection.execute(_EVENTS, {"job_id": job_id, "after": after, "limit": limit})
            return [Event(*row) for row in rows]

    def queue_lengths(self) -> dict[str, int]:
        """Return how many jobs are queued and running."""
        query = text(
            "SELECT (SELECT count(*) FROM jobs WHERE status = 'queued') AS queued, "
            "(SELECT count(*) FROM jobs WHERE status = 'running') AS running"
        )
        with self.reading() as connection:
            return dict(connection.execute(query).one()._mapping)

    def live_workers(self) -> int:
        """Return how many dispatchers have lately said that they live."""
        with self.reading() as connection:
            return connection.execute(select(func.count()).where(workers.c.expires_at > now())).scalar_one()


def job_of(row: Row[Any]) -> Job:
    """Return the job that a row of :data:`JOB_COLUMNS` describes."""
    return Job(**row._mapping)


def end(job_id: str, status: Status, **values: Any) -> Any:
    """Return the statement that gives a job its last status."""
    return (
        update(jobs)
        .where(jobs.c.id == job_id)
        .values(status=status, finished_at=now(), lease_owner=null(), lease_expires_at=null(), **values)
    )


def append_events(connection: Connection, happened: Sequence[tuple[str, EventKind, Mapping[str, Any]]]) -> None:
    """Write events, each as the next of its job. The caller's transaction has locked or changed the jobs' rows."""
    counts: dict[str, int] = {}
    for job_id, _, _ in happened:
        counts[job_id] = counts.get(job_id, 0) + 1
    following: dict[str, int] = {}
    for job_id, count in counts.items():
        row = connection.execute(_TAKE_NUMBERS, {"job_id": job_id, "count": count}).one()
        following[job_id], moment = row.last_seq - count + 1, row.moment
    rows = []
    for job_id, kind, members in happened:
        rows.append({"job_id": job_id, "seq": following[job_id], "kind": kind, "data": dict(members), "created_at": moment})
        following[job_id] += 1
    if rows:
        connection.execute(_INSERT_EVENT, rows)


_TAKE_NUMBERS = (
    update(jobs)
    .where(jobs.c.id == bindparam("job_id"))
    .values(last_seq=jobs.c.last_seq + bindparam("count"))
    .returning(jobs.c.last_seq, now().label("moment"))
)


def delete_jobs(connection: Connection, job_ids: Sequence[str]) -> None:
    """Remove jobs with all that is kept about them; resources that they made stay with their owners."""
    connection.execute(delete(job_events).where(job_events.c.job_id.in_(job_ids)))
    connection.execute(delete(files).where(files.c.job_id.in_(job_ids), ~is_resource()))
    connection.execute(delete(jobs).where(jobs.c.id.in_(job_ids)))


def write_cursor(last: str) -> str:
    """Return the cursor of a page that ends with the row `last`."""
    return base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """Return the row after which a page starts."""
    try:
        last = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeError):
        last = ""
    if not is_id("job", last):
        raise InvalidInput("the cursor is not one that this service made", parameter="cursor")
    return last


def _submit(connection: Connection, new: NewJob, max_queued: int) -> tuple[Job, bool]:
    if new.idempotency_key is not None:
        key = {"owner": new.owner, "idempotency_key": new.idempotency_key}
        row = connection.execute(_BY_IDEMPOTENCY_KEY, key).first()
        if row is not None:
            if (row.request_hash, row.operation) != (new.request_hash, new.operation):
                raise IdempotencyConflict("the idempotency key was used before with another request")
            return job_of(row), False
    if connection.execute(_QUEUED_OF, {"owner": new.owner}).scalar_one() >= max_queued:
        raise QueueFull(f"{max_queued} jobs are queued already (setting FORESOLVE_MAX_QUEUED_JOBS)")
    values = {name: getattr(new, name) for name in NewJob.__dataclass_fields__} | {
        "id": new_id("job"),
        "status": "queued",
        "last_seq": 1,
    }
    created_at = connection.execute(_INSERT_JOB, values).scalar_one()
    event = {"job_id": values["id"], "seq": 1, "kind": "queued", "data": {}, "created_at": created_at}
    connection.execute(_INSERT_EVENT, event)
    kept = {name: value for name, value in values.items() if name in Job.__dataclass_fields__}
    fresh = {"attempt": 0, "cancel_requested": False, "has_checkpoint": False, "created_at": created_at}
    return Job(**kept, **fresh), True


def _lock(connection: Connection, job_id: str, owner: str | None) -> Job | None:
    if not is_id("job", job_id):
        return None
    row = connection.execute(_GET.with_for_update(), {"id": job_id}).first()
    return None if row is None or owner not in {None, row.owner} else job_of(row)
