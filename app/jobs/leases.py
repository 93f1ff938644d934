"""What a dispatcher does to the jobs it has leased.

Every change says ``WHERE attempt = mine AND lease_owner = me``, so whoever lost a lease changes nothing. The functions work
within the caller's transaction, so that a dispatcher can settle and claim many jobs in one.
"""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from sqlalchemy import Connection, TextClause, bindparam, delete, false, insert, null, select, text, true, update

from app.identifiers import new_id
from app.jobs.executor import Capacity, Ended, JobSpec
from app.jobs.schema import files, job_events, jobs, now, workers
from app.jobs.store import ENDED, JOB_COLUMNS, EventKind, Job, Status, append_events, job_of
from app.problems import Problem, problem

ORPHAN_SECONDS = 2.0
"""How long the workers of a killed server may outlive it."""

_SHOWN = [column for column in JOB_COLUMNS if column.name != "result"]
_MINE = (
    jobs.c.id == bindparam("job_id"),
    jobs.c.attempt == bindparam("my_attempt"),
    jobs.c.lease_owner == bindparam("me"),
    jobs.c.status == text("'running'"),
)
_FREED = {"lease_owner": null(), "lease_expires_at": null()}
_NEXT = {"last_seq": jobs.c.last_seq + 1}
_STAMP = (jobs.c.last_seq, now().label("moment"))

_CLAIM = (
    update(jobs)
    .where(jobs.c.id.in_(bindparam("ids", expanding=True)), jobs.c.status == text("'queued'"))
    .values(
        status=text("'running'"),
        attempt=jobs.c.attempt + 1,
        lease_owner=bindparam("me"),
        lease_expires_at=now() + bindparam("lease"),
        started_at=now(),
        progress=null(),
        **_NEXT,
    )
    .returning(*_SHOWN, jobs.c.request, *_STAMP)
)
_REPORT = update(jobs).where(*_MINE).values(progress=bindparam("members"), **_NEXT).returning(*_STAMP)
_CHECKPOINT = update(jobs).where(*_MINE).values(has_checkpoint=True)
_FINISH = (
    update(jobs)
    .where(*_MINE)
    .values(
        status=bindparam("new_status"),
        finished_at=now(),
        result=bindparam("new_result"),
        problem=bindparam("new_problem"),
        **_FREED,
        **_NEXT,
    )
    .returning(*_SHOWN, *_STAMP)
)
_REQUEUE = (
    update(jobs)
    .where(*_MINE, jobs.c.cancel_requested == false())
    .values(status="queued", attempt=jobs.c.attempt - bindparam("forgiven"), started_at=null(), **_FREED, **_NEXT)
    .returning(*_STAMP)
)
_RENEW = (
    update(jobs)
    .where(jobs.c.lease_owner == bindparam("me"), jobs.c.status == text("'running'"))
    .values(lease_expires_at=now() + bindparam("lease"))
    .returning(jobs.c.id, jobs.c.attempt)
)
_CANCELS = select(jobs.c.id).where(
    jobs.c.lease_owner == bindparam("me"), jobs.c.status == text("'running'"), jobs.c.cancel_requested == true()
)
_OVERDUE = select(*_SHOWN).where(jobs.c.status == text("'running'"), jobs.c.lease_expires_at < now())
_OWNERS = """
WITH RECURSIVE waiting(owner) AS (
    SELECT min(owner) FROM jobs WHERE {condition}
    UNION ALL
    SELECT (SELECT min(owner) FROM jobs WHERE {condition} AND owner > waiting.owner) FROM waiting WHERE waiting.owner IS NOT NULL
)
SELECT waiting.owner FROM waiting LEFT JOIN turns ON turns.owner = waiting.owner
WHERE waiting.owner IS NOT NULL ORDER BY coalesce(turns.served_at, 0), waiting.owner LIMIT :limit
"""
_FIRST_OF = "SELECT id FROM jobs WHERE {condition} AND owner = :owner ORDER BY id LIMIT :limit"
_SERVED = text(
    "INSERT INTO turns (owner, served_at) VALUES (:owner, :served_at) "
    "ON CONFLICT (owner) DO UPDATE SET served_at = excluded.served_at"
)


class Claimed(NamedTuple):
    """A job that this dispatcher now has, as row and as what an executor needs."""

    job: Job
    spec: JobSpec


@dataclass(frozen=True)
class Lease:
    """The identity of a dispatcher, and how long its word holds.

    Attributes
    ----------
    me : str
        Unique to this dispatcher.
    seconds : float
        From each renewal to the moment when others may take the jobs.
    operations : tuple of str
        The operations it can run; jobs of others are left to whoever knows them.
    """

    me: str
    seconds: float
    operations: tuple[str, ...]

    @classmethod
    def new(cls, seconds: float, operations: Iterable[str]) -> Lease:
        """Return the lease of a new dispatcher."""
        return cls(new_id("worker"), seconds, tuple(operations))

    def claim(self, connection: Connection, capacity: Capacity, besides: Iterable[str] = ()) -> list[Claimed]:
        """Lease as many queued jobs as there is room for: first in, first out per owner, and the owners in turn.

        The jobs `besides` are not taken: they still run here, though a database that crashed may have forgotten it.
        """
        found = self._next_ids(connection, capacity.light, gpu=capacity.gpu, light=True)
        found |= self._next_ids(connection, capacity.normal, gpu=capacity.gpu, light=False, besides=found)
        for job_id in found.keys() & set(besides):
            del found[job_id]
        if not found:
            return []
        rows = connection.execute(_CLAIM, {"ids": list(found), "me": self.me, "lease": self.seconds}).all()
        claimed = sorted((self._claimed(row) for row in rows), key=lambda each: list(found).index(each.job.id))
        events = [_event(row.id, row, "started", {"attempt": row.attempt}) for row in rows]
        if rows:
            connection.execute(insert(job_events), events)
            owners = dict.fromkeys(each.job.owner for each in claimed)
            # Owners served in one go keep their order: microseconds apart are what a float still tells at this size.
            connection.execute(
                _SERVED, [{"owner": owner, "served_at": rows[0].moment + place * 1e-6} for place, owner in enumerate(owners)]
            )
        return claimed

    def report(self, connection: Connection, job_id: str, attempt: int, members: Mapping[str, Any]) -> None:
        """Note how far a job is."""
        stamp = connection.execute(_REPORT, self._mine(job_id, attempt, members=dict(members))).first()
        if stamp is not None:
            connection.execute(insert(job_events), _event(job_id, stamp, "progress", members))

    def checkpoint(self, connection: Connection, job_id: str, attempt: int) -> None:
        """Note that a job can be resumed."""
        connection.execute(_CHECKPOINT, self._mine(job_id, attempt))

    def finish(self, connection: Connection, ended: Ended, owner: str) -> Job | None:
        """Give a job its end; None if the lease is lost."""
        assert ended.outcome != "lost"
        values = {"new_status": ended.outcome, "new_result": ended.result, "new_problem": ended.problem}
        row = connection.execute(_FINISH, self._mine(ended.job_id, ended.attempt, **values)).first()
        if row is None:
            return None
        data = {} if ended.problem is None else {"problem": ended.problem}
        connection.execute(insert(job_events), _event(ended.job_id, row, ended.outcome, data))
        self._list_files(connection, ended, owner)
        return replace(_shown(row), result=ended.result)

    def retry(self, connection: Connection, ended: Ended, job: Job) -> Job | None:
        """Queue a job again whose worker died, or end it if that was its last attempt; return it if it is over."""
        trouble = ended.problem or problem("worker-lost", "the worker died in the middle of the job")
        if job.attempt >= job.max_attempts:
            return self.finish(connection, ended._replace(outcome="failed", problem=exhausted(trouble, job.attempt)), job.owner)
        stamp = connection.execute(_REQUEUE, self._mine(job.id, job.attempt, forgiven=0)).first()
        if stamp is None:
            return self.finish(connection, ended._replace(outcome="cancelled", problem=None), job.owner)
        data = {"attempt": job.attempt, "reason": trouble["detail"]}
        connection.execute(insert(job_events), _event(job.id, stamp, "retry", data))
        self._list_files(connection, ended, job.owner)
        return None

    def release(self, connection: Connection, ended: Ended, job: Job) -> Job | None:
        """Give a stopped job back as if it had never been started; return it if it was to be cancelled anyway."""
        stamp = connection.execute(_REQUEUE, self._mine(job.id, job.attempt, forgiven=1)).first()
        if stamp is None:
            return self.finish(connection, ended._replace(outcome="cancelled", problem=None), job.owner)
        data = {"attempt": job.attempt, "reason": "the service was stopped"}
        connection.execute(insert(job_events), _event(job.id, stamp, "retry", data))
        return None

    def renew(self, connection: Connection, slots: int) -> dict[str, int]:
        """Say that this dispatcher lives; return the jobs that are still its own, with their attempts."""
        register = text(
            "INSERT INTO workers (id, host, pid, process_started_at, slots, expires_at) "
            "VALUES (:me, :host, :pid, :process_started_at, :slots, 0) ON CONFLICT (id) DO NOTHING"
        )
        connection.execute(register, {"me": self.me, "slots": slots} | this_process())
        connection.execute(update(workers).where(workers.c.id == self.me).values(expires_at=now() + self.seconds))
        rows = connection.execute(_RENEW, {"me": self.me, "lease": self.seconds})
        return {row.id: row.attempt for row in rows}

    def resign(self, connection: Connection) -> None:
        """Say that this dispatcher is no more."""
        connection.execute(delete(workers).where(workers.c.id == self.me))

    def cancel_requests(self, connection: Connection) -> list[str]:
        """Return the own jobs that somebody wants to end."""
        return list(connection.execute(_CANCELS, {"me": self.me}).scalars())

    def shorten_dead_leases(self, connection: Connection) -> None:
        """Let the leases of dispatchers that died on this host end soon: once their orphaned workers have ended themselves."""
        here = this_process()["host"]
        for row in connection.execute(select(workers).where(workers.c.host == here, workers.c.id != self.me)).all():
            if _is_alive(row.pid, row.process_started_at):
                continue
            soon = now() + ORPHAN_SECONDS
            connection.execute(
                update(jobs)
                .where(jobs.c.lease_owner == row.id, jobs.c.status == text("'running'"), jobs.c.lease_expires_at > soon)
                .values(lease_expires_at=soon)
            )
            connection.execute(delete(workers).where(workers.c.id == row.id))

    def _next_ids(
        self, connection: Connection, count: int, *, gpu: bool, light: bool, besides: Iterable[str] = ()
    ) -> dict[str, None]:
        """Return the ids of the next jobs to start, in order; a dict, because it is a set that keeps its order."""
        if count <= 0:
            return {}
        taken = set(besides)
        most = count + len(taken)
        condition = "status = 'queued' AND operation IN :operations"
        condition += (" AND light" if light else "") + ("" if gpu else " AND gpu <> 'required'")
        known = {"operations": self.operations}
        owners = connection.execute(_expanding(_OWNERS, condition), known | {"limit": most}).scalars().all()
        if not owners:
            return {}
        each = most if len(owners) < most else 1 + len(taken)
        lock = " FOR UPDATE SKIP LOCKED" if connection.dialect.name == "postgresql" else ""
        first_of = _expanding(_FIRST_OF + lock, condition)
        queues = [list(connection.execute(first_of, known | {"owner": owner, "limit": each}).scalars()) for owner in owners]
        found: dict[str, None] = {}
        for place in range(each):
            for queue in queues:
                if place < len(queue) and queue[place] not in taken and len(found) < count:
                    found[queue[place]] = None
        return found

    def _claimed(self, row: Any) -> Claimed:
        job = _shown(row)
        spec = JobSpec(
            id=job.id,
            attempt=job.attempt,
            owner=job.owner,
            operation=job.operation,
            time_limit=job.time_limit,
            memory_mb=job.memory_mb,
            request=row.request,
            request_file=job.request_file,
            seed=job.seed,
            light=job.light,
            gpu=job.gpu,
            resume=job.has_checkpoint,
        )
        return Claimed(job, spec)

    def _list_files(self, connection: Connection, ended: Ended, owner: str) -> None:
        rows = [file | {"owner": owner, "job_id": ended.job_id} for file in ended.files]
        if rows:
            connection.execute(insert(files).values(created_at=now()), rows)

    def _mine(self, job_id: str, attempt: int, **values: Any) -> dict[str, Any]:
        return {"job_id": job_id, "my_attempt": attempt, "me": self.me, **values}


def any_overdue(connection: Connection) -> bool:
    """Whether the lease of a running job has run out."""
    return connection.execute(_OVERDUE.limit(1)).first() is not None


def expire(connection: Connection) -> list[str]:
    """Take the jobs of dispatchers that gave no sign of life for too long: queue them again, or end them. Return their ids."""
    overdue = [_shown(row) for row in connection.execute(_OVERDUE.with_for_update(skip_locked=True))]
    for job in overdue:
        reason = "the server that ran the job is gone"
        if job.cancel_requested:
            _take(connection, job, "cancelled", {})
        elif job.attempt >= job.max_attempts:
            trouble = exhausted(problem("worker-lost", reason), job.attempt)
            _take(connection, job, "failed", {"problem": trouble}, problem=trouble)
        else:
            _take(connection, job, "queued", {"attempt": job.attempt, "reason": reason}, kind="retry")
    return [job.id for job in overdue]


def ended_among(connection: Connection, job_ids: Iterable[str]) -> list[Job]:
    """Return those of the jobs that are over, with their results."""
    query = select(*JOB_COLUMNS).where(jobs.c.id.in_(list(job_ids)), jobs.c.status.in_(ENDED))
    return [job_of(row) for row in connection.execute(query)]


def exhausted(trouble: Problem, attempts: int) -> Problem:
    """Return the problem of a job that was tried as often as allowed."""
    return trouble | {"detail": f"{trouble['detail']}; that was attempt {attempts} of {attempts}", "attempts": attempts}


def _take(
    connection: Connection, job: Job, status: Status, data: dict[str, Any], *, kind: EventKind | None = None, **values: Any
) -> None:
    finished = null() if status == "queued" else now()
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(status=status, finished_at=finished, **_FREED, **values))
    append_events(connection, [(job.id, kind or status, data)])  # type: ignore[list-item]


@functools.cache
def _expanding(template: str, condition: str) -> TextClause:
    return text(template.format(condition=condition)).bindparams(bindparam("operations", expanding=True))


def _event(job_id: str, stamp: Any, kind: EventKind, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"job_id": job_id, "seq": stamp.last_seq, "kind": kind, "data": dict(data), "created_at": stamp.moment}


def _shown(row: Any) -> Job:
    return Job(**{column.name: row._mapping[column] for column in _SHOWN})


def this_process() -> dict[str, Any]:
    """Return where to find this process: its host is one boot and one process-id namespace, not just a name."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    host = f"{socket.gethostname()}/{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    return {"host": host, "pid": os.getpid(), "process_started_at": psutil.Process().create_time()}


def _is_alive(pid: int, started_at: float) -> bool:
    try:
        process = psutil.Process(pid)
        is_same: bool = abs(process.create_time() - started_at) < 1
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
