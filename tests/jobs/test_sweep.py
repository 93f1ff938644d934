"""What is forgotten, and what is not; on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import text

from app.files import FileStore
from app.jobs.sweep import ORPHAN_SECONDS, sweep, sweep_orphans
from tests.jobs.driving import A_LEASE, claim, end

A_DAY = 24 * 3600.0


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    return FileStore(f"file://{tmp_path}/files")


def write(files: FileStore) -> str:
    with files.create("alice") as writer:
        writer.write(b"content")
    return writer.file_id


def stored(files: FileStore) -> set[str]:
    return {file.name for file in files.walk()}


def make_old(store, seconds: float) -> None:
    """Have everything in the database be `seconds` older than it is."""
    columns = {
        "jobs": ("created_at", "finished_at"),
        "files": ("created_at",),
        "turns": ("served_at",),
        "workers": ("expires_at",),
    }
    with store.writing() as connection:
        for table, names in columns.items():
            changes = ", ".join(f"{name} = {name} - :seconds" for name in names)
            connection.execute(text(f"UPDATE {table} SET {changes}"), {"seconds": seconds})


def make_bytes_old(files: FileStore, seconds: float) -> None:
    for file in files.walk():
        os.utime(file.path, (file.modified - seconds, file.modified - seconds))


def test_an_ended_job_is_forgotten_with_everything_it_left(store, submit, files):
    request, made = write(files), write(files)
    job = submit(request_file=request)
    (claimed,) = claim(store)
    with store.writing() as connection:
        A_LEASE.checkpoint(connection, job.id, 1)
    files.write_checkpoint(job.id, b"state")
    record = {"id": made, "name": "x", "media_type": "text/plain", "size": 7}
    end(store, claimed, "succeeded", b"1", files=(record,))
    make_old(store, A_DAY)

    sweep(store, files, retention=A_DAY / 2)

    assert store.get(job.id) is None
    assert store.events(job.id, after=0) == []
    assert store.list_files("alice") == []
    assert stored(files) == set()


def test_jobs_that_ended_lately_or_not_at_all_are_kept(store, submit, files):
    ended, running, queued = submit(), submit(), submit()
    first, _ = claim(store, normal=2)
    make_old(store, A_DAY)
    end(store, first, "succeeded", b"1")

    sweep(store, files, retention=A_DAY / 2)

    assert all(store.get(job.id) for job in (ended, running, queued))


def test_more_jobs_than_one_batch_are_forgotten(store, submit, files):
    for _ in range(450):
        store.cancel(submit().id)
    make_old(store, A_DAY)

    sweep(store, files, retention=A_DAY / 2)

    assert store.list("alice").jobs == []


def test_an_upload_is_forgotten_when_it_is_as_old(store, files):
    old, new = write(files), write(files)
    store.add_file("alice", old, name="x", media_type="text/plain", size=7)
    make_old(store, A_DAY)
    store.add_file("alice", new, name="x", media_type="text/plain", size=7)

    sweep(store, files, retention=A_DAY / 2)

    assert [file.id for file in store.list_files("alice")] == [new]
    assert stored(files) == {new}


def test_counts_of_requests_are_kept_for_some_minutes_only(store, files):
    store.count_request("k", 1)

    sweep(store, files, retention=A_DAY)

    assert store.count_request("k", 1) == 1


def test_bytes_that_nothing_names_are_removed_when_they_are_old(store, submit, files):
    upload, request, orphan = write(files), write(files), write(files)
    store.add_file("alice", upload, name="x", media_type="text/plain", size=7)
    job = submit(request_file=request)
    files.write_checkpoint(job.id, b"state")
    files.write_checkpoint("job_" + "0" * 32, b"state of a job that is gone")
    broken_off = next(files.walk()).path + ".part"
    Path(broken_off).write_bytes(b"half")
    make_bytes_old(files, ORPHAN_SECONDS + 60)
    fresh = write(files)

    sweep_orphans(store, files)

    assert stored(files) == {upload, request, job.id, fresh}
    assert orphan not in stored(files)


def test_parts_stay_with_their_file_unless_they_are_retained_for_less_long(store, files):
    kept, gone = write(files), write(files)
    store.add_file("alice", kept, name="x", media_type="text/plain", size=7)
    for file_id in (kept, gone):
        files.add_part("alice", file_id, "rows", b"1 2")
        files.add_part("alice", file_id, "version-2", b"new")
    make_bytes_old(files, 2 * A_DAY)

    sweep_orphans(store, files, {"rows": 3 * A_DAY})
    assert files.parts("alice", gone) == []
    assert sorted(files.parts("alice", kept)) == ["rows", "version-2"]

    sweep_orphans(store, files, {"rows": A_DAY})
    assert files.parts("alice", kept) == ["version-2"]
