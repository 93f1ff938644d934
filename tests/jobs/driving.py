"""Doing by hand what a dispatcher does."""

from __future__ import annotations

from app.jobs.executor import Capacity, Ended
from app.jobs.leases import Claimed, Lease
from app.jobs.store import Job, JobStore
from tests.jobs.operations import CATALOGUE

OPERATIONS = tuple(operation.name for operation in CATALOGUE)
A_LEASE = Lease("dispatcher-1", 15.0, OPERATIONS)


def claim(store: JobStore, normal: int = 10, light: int = 0, *, lease: Lease = A_LEASE, gpu: bool = False) -> list[Claimed]:
    with store.writing() as connection:
        return lease.claim(connection, Capacity(normal, light, gpu))


def end(
    store: JobStore, claimed: Claimed, outcome: str, result: bytes | None = None, *, lease: Lease = A_LEASE, **members: object
) -> Job | None:
    ended = Ended(claimed.job.id, claimed.job.attempt, outcome, result, **members)
    with store.writing() as connection:
        return lease.finish(connection, ended, claimed.job.owner)


def lose(store: JobStore, claimed: Claimed, *, lease: Lease = A_LEASE) -> Job | None:
    with store.writing() as connection:
        return lease.retry(connection, Ended(claimed.job.id, claimed.job.attempt, "lost"), claimed.job)
