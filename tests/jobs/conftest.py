from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy

from app.jobs.schema import metadata
from app.jobs.store import Job, JobStore, NewJob
from tests.conftest import new_database

A_JOB = NewJob("alice", "echo", request_hash="h", time_limit=10, memory_mb=512, request=b'{"value": 1}')


@pytest.fixture(scope="session")
def a_migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "jobs.db"
    JobStore.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def a_migrated_postgres_store(postgres: str) -> Iterator[JobStore]:
    with new_database(postgres) as url:
        store = JobStore.open(url)
        yield store
        store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStore]:
    """An empty store, of either kind."""
    if request.param == "sqlite":
        path = shutil.copy(request.getfixturevalue("a_migrated_file"), tmp_path / "jobs.db")
        store = JobStore.open(f"sqlite:///{path}")
        yield store
        store.close()
        return
    store = request.getfixturevalue("a_migrated_postgres_store")
    yield store
    with store.writing() as connection:
        for table in metadata.sorted_tables:
            connection.execute(sqlalchemy.delete(table))


@pytest.fixture
def submit(store: JobStore) -> Callable[..., Job]:
    def submit(owner: str = "alice", **changes: object) -> Job:
        job, _ = store.submit(dataclasses.replace(A_JOB, owner=owner, **changes), max_queued=1000)
        return job

    return submit
