"""Forgetting: jobs that ended long ago, uploads as old, and bytes that nothing names any more."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping

from sqlalchemy import delete, select, text

from app.files import FileStore
from app.jobs.file_records import is_resource
from app.jobs.schema import files, jobs, now, turns, usage, workers
from app.jobs.store import JobStore, delete_jobs
from solvers.operation import UnknownFile

_BATCH = 200
SECONDS_PER_DAY = 24 * 3600.0
ORPHAN_SECONDS = 3600.0
"""Bytes get their row after they are written; until this age they are given the benefit of the doubt."""


def sweep(store: JobStore, stored: FileStore, retention: float) -> None:
    """Remove ended jobs and uploads that are older than `retention` seconds, with all their files but the resources that jobs made."""
    while _sweep_jobs(store, stored, retention):
        pass
    while _sweep_uploads(store, stored, retention):
        pass
    with store.writing() as connection:
        connection.execute(delete(usage).where(usage.c.minute < time.time() // 60 - 10))
        connection.execute(delete(turns).where(turns.c.served_at < now() - retention))
        connection.execute(delete(workers).where(workers.c.expires_at < now() - retention))


def sweep_orphans(store: JobStore, stored: FileStore, retained: Mapping[str, float] | None = None) -> None:
    """Remove stored bytes that neither a row nor a job names: of writes that broke off, lost attempts and deleted jobs.

    Parameters
    ----------
    retained : mapping of str to float, optional
        Seconds after which the parts of some names go, although their file stays.
    """
    deadline = time.time() - ORPHAN_SECONDS
    old = []
    for file in stored.walk():
        if file.part is not None and file.modified < time.time() - (retained or {}).get(file.part, math.inf):
            stored.remove(file.path)
        elif file.modified < deadline:
            old.append(file)
    for start in range(0, len(old), _BATCH):
        batch = old[start : start + _BATCH]
        names = [file.name for file in batch]
        known = select(files.c.id).where(files.c.id.in_(names))
        requests = select(jobs.c.request_file).where(jobs.c.request_file.in_(names))
        checkpoints = select(jobs.c.id).where(jobs.c.id.in_(names))
        with store.reading() as connection:
            named = set(connection.execute(known.union_all(requests, checkpoints)).scalars())
        for file in batch:
            if file.name not in named:
                stored.remove(file.path)


def _sweep_jobs(store: JobStore, stored: FileStore, retention: float) -> bool:
    ended = text("status IN ('succeeded', 'failed', 'cancelled')")
    expired = select(jobs.c.id, jobs.c.owner, jobs.c.request_file, jobs.c.has_checkpoint)
    with store.reading() as connection:
        rows = connection.execute(expired.where(jobs.c.finished_at < now() - retention, ended).limit(_BATCH)).all()
        ids = [row.id for row in rows]
        made = connection.execute(select(files.c.owner, files.c.id).where(files.c.job_id.in_(ids), ~is_resource())).all()
    requests = [(row.owner, row.request_file) for row in rows if row.request_file is not None]
    for owner, file_id in [*made, *requests]:
        _remove(stored, owner, file_id)
    for row in rows:
        if row.has_checkpoint:
            stored.delete_checkpoint(row.id)
    if ids:
        with store.writing() as connection:
            delete_jobs(connection, ids)
    return bool(ids)


def _sweep_uploads(store: JobStore, stored: FileStore, retention: float) -> bool:
    expired = select(files.c.owner, files.c.id).where(files.c.job_id.is_(None), files.c.created_at < now() - retention)
    with store.reading() as connection:
        rows = connection.execute(expired.limit(_BATCH)).all()
    for owner, file_id in rows:
        _remove(stored, owner, file_id)
        store.delete_file(file_id)
    return bool(rows)


def _remove(stored: FileStore, owner: str, file_id: str) -> None:
    with contextlib.suppress(UnknownFile):
        stored.delete(owner, file_id)
