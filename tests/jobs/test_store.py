"""The store's side of the API, on SQLite and on PostgreSQL."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading

import alembic.autogenerate
import alembic.migration
import pytest

from app.jobs.database import Database
from app.jobs.schema import metadata
from app.jobs.store import IdempotencyConflict, JobStore, NotResumable, QueueFull
from solvers.operation import InvalidInput
from tests.jobs.conftest import A_JOB
from tests.jobs.driving import A_LEASE, claim, end


def kinds(store, job):
    return [event.kind for event in store.events(job.id, after=0)]


def test_a_submitted_job_is_queued_with_all_that_was_said_of_it(store):
    new = dataclasses.replace(A_JOB, seed=7, light=True, gpu="optional", request_file="file_x", max_attempts=5)

    job, created = store.submit(new, max_queued=1)

    assert created
    assert store.get(job.id) == job
    assert job.status == "queued"
    assert (job.seed, job.light, job.gpu, job.request_file, job.max_attempts) == (7, True, "optional", "file_x", 5)


def test_the_first_event_says_that_the_job_is_queued(store, submit):
    job = submit()

    (event,) = store.events(job.id, after=0)

    assert (event.seq, event.kind, event.created_at) == (1, "queued", job.created_at)


def test_an_idempotency_key_finds_the_job_it_made(store):
    new = dataclasses.replace(A_JOB, idempotency_key="k")
    first, _ = store.submit(new, max_queued=10)

    assert store.submit(new, max_queued=10) == (first, False)


def test_an_idempotency_key_with_another_request_is_refused(store):
    store.submit(dataclasses.replace(A_JOB, idempotency_key="k"), max_queued=10)

    with pytest.raises(IdempotencyConflict):
        store.submit(dataclasses.replace(A_JOB, idempotency_key="k", request_hash="other"), max_queued=10)


def test_an_idempotency_key_with_another_operation_is_refused(store):
    store.submit(dataclasses.replace(A_JOB, idempotency_key="k"), max_queued=10)

    with pytest.raises(IdempotencyConflict):
        store.submit(dataclasses.replace(A_JOB, idempotency_key="k", operation="wait"), max_queued=10)


def test_owners_do_not_share_idempotency_keys(store):
    store.submit(dataclasses.replace(A_JOB, idempotency_key="k"), max_queued=10)

    _, created = store.submit(dataclasses.replace(A_JOB, idempotency_key="k", owner="bob", request_hash="other"), max_queued=10)

    assert created


def test_an_idempotency_key_used_by_many_at_once_makes_one_job(store):
    new = dataclasses.replace(A_JOB, idempotency_key="k")
    barrier = threading.Barrier(8)
    answers = []

    def post():
        barrier.wait()
        answers.append(store.submit(new, max_queued=10))

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({job.id for job, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1


def test_a_full_queue_takes_no_more_of_its_owner(store):
    store.submit(A_JOB, max_queued=1)

    with pytest.raises(QueueFull):
        store.submit(A_JOB, max_queued=1)


def test_a_full_queue_is_no_other_owners_concern(store):
    store.submit(A_JOB, max_queued=1)

    store.submit(dataclasses.replace(A_JOB, owner="bob"), max_queued=1)


def test_running_jobs_do_not_fill_the_queue(store):
    store.submit(A_JOB, max_queued=1)
    claim(store)

    store.submit(A_JOB, max_queued=1)


@pytest.mark.parametrize("method", ["get", "cancel", "resume"])
def test_another_owners_job_is_not_found(store, submit, method):
    job = submit("alice")

    assert getattr(store, method)(job.id, "bob") is None


def test_another_owners_job_is_not_deleted(store, submit):
    job = submit("alice")
    store.cancel(job.id)

    assert not store.delete(job.id, "bob")
    assert store.get(job.id) is not None


@pytest.mark.parametrize("job_id", ["job_\x00", "", "job_" + "0" * 32, "'; DROP TABLE jobs; --"])
def test_what_is_no_jobs_id_finds_nothing(store, job_id):
    assert store.get(job_id) is None
    assert store.cancel(job_id) is None
    assert not store.delete(job_id)


def test_pages_hold_every_job_once_and_newest_first(store, submit):
    made = [submit().id for _ in range(7)]
    submit("bob")

    seen, cursor = [], None
    while True:
        page = store.list("alice", cursor=cursor, limit=3)
        seen += [job.id for job in page.jobs]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert seen == made[::-1]


def test_a_page_that_ends_with_the_last_job_has_no_cursor(store, submit):
    for _ in range(3):
        submit()

    assert store.list("alice", limit=3).next_cursor is None


def test_listings_filter_by_status_operation_and_time(store, submit):
    first = submit()
    second = submit(operation="wait")
    store.cancel(first.id)

    assert [job.id for job in store.list("alice", status="cancelled").jobs] == [first.id]
    assert [job.id for job in store.list("alice", operation="wait").jobs] == [second.id]
    assert store.list("alice", created_before=first.created_at).jobs == []
    assert store.list("alice", created_after=first.created_at - 1, created_before=second.created_at + 1).jobs


def test_nobody_in_particular_sees_the_jobs_of_all(store, submit):
    submit("alice")
    submit("bob")

    assert {job.owner for job in store.list(None).jobs} == {"alice", "bob"}


@pytest.mark.parametrize("cursor", ["x", "???", "ünïcode", "am9iXwA", ""])
def test_a_cursor_that_nobody_made_is_invalid_input(store, cursor):
    with pytest.raises(InvalidInput):
        store.list("alice", cursor=cursor)


def test_a_queued_job_is_cancelled_at_once(store, submit):
    job = submit()

    cancelled = store.cancel(job.id, "alice")

    assert cancelled.status == "cancelled"
    assert cancelled.finished_at is not None
    assert kinds(store, job) == ["queued", "cancelled"]


def test_a_running_job_is_asked_to_cancel(store, submit):
    job = submit()
    claim(store)

    asked = store.cancel(job.id, "alice")

    assert (asked.status, asked.cancel_requested) == ("running", True)


def test_cancelling_an_ended_job_changes_nothing(store, submit):
    submit()
    ended = end(store, claim(store)[0], "succeeded", b"1")

    assert store.cancel(ended.id) == ended


def test_a_cancelled_job_with_a_checkpoint_is_resumed_from_the_start_of_its_attempts(store, submit):
    submit()
    (claimed,) = claim(store)
    with store.writing() as connection:
        A_LEASE.checkpoint(connection, claimed.job.id, 1)
    end(store, claimed, "cancelled", b'{"value": "half"}')

    resumed = store.resume(claimed.job.id, "alice")

    assert (resumed.status, resumed.attempt, resumed.result, resumed.cancel_requested) == ("queued", 0, None, False)
    assert claim(store)[0].spec.resume


def test_a_job_without_a_checkpoint_is_not_resumed(store, submit):
    job = submit()
    store.cancel(job.id)

    with pytest.raises(NotResumable):
        store.resume(job.id)


@pytest.mark.parametrize("outcome", [None, "succeeded"])
def test_only_a_job_that_stopped_early_is_resumed(store, submit, outcome):
    submit()
    (claimed,) = claim(store)
    with store.writing() as connection:
        A_LEASE.checkpoint(connection, claimed.job.id, 1)
    if outcome is not None:
        end(store, claimed, outcome, b"1")

    with pytest.raises(NotResumable):
        store.resume(claimed.job.id)


def test_a_job_that_has_not_ended_is_not_deleted(store, submit):
    job = submit()

    assert not store.delete(job.id, "alice")


def test_a_deleted_job_is_gone_with_its_events_and_files(store, submit):
    job = submit()
    store.add_file("alice", "file_" + "a" * 32, name="x", media_type="text/plain", size=1, job_id=job.id)
    store.cancel(job.id)

    assert store.delete(job.id, "alice")

    assert store.get(job.id) is None
    assert store.events(job.id, after=0) == []
    assert store.list_files("alice") == []


def test_events_continue_after_the_one_that_was_seen(store, submit):
    job = submit()
    claim(store)
    for count in range(3):
        with store.writing() as connection:
            A_LEASE.report(connection, job.id, 1, {"count": count})

    assert [event.seq for event in store.events(job.id, after=0)] == [1, 2, 3, 4, 5]
    assert [event.data for event in store.events(job.id, after=3)] == [{"count": 1}, {"count": 2}]
    assert [event.seq for event in store.events(job.id, after=0, limit=2)] == [1, 2]


def test_the_queue_is_counted(store, submit):
    submit()
    submit()
    claim(store, normal=1)

    assert store.queue_lengths() == {"queued": 1, "running": 1}


def test_a_revoked_key_is_not_found_but_still_known(store):
    key = store.add_key(key_id="k1", owner="alice", name="laptop", hash="abc", scopes=["solve", "read"])
    found = store.find_key("abc")

    assert store.revoke_key("k1")

    assert found == key
    assert key.scopes == ("solve", "read")
    assert store.find_key("abc") is None
    assert not store.revoke_key("k1")
    assert store.any_keys()
    assert store.get_key("k1").revoked_at is not None
    assert [each.id for each in store.list_keys()] == ["k1"]


def test_a_new_database_has_no_keys(store):
    assert not store.any_keys()


def test_requests_are_counted_per_key_and_minute(store):
    assert [store.count_request("k", 5), store.count_request("k", 5)] == [1, 2]
    assert store.count_request("k", 6) == 1
    assert store.count_request("other", 5) == 1


def test_a_file_is_seen_by_its_owner_alone(store):
    file_id = "file_" + "0" * 32
    record = store.add_file("alice", file_id, name="ä\n.txt", media_type="text/plain", size=3)

    assert store.get_file(file_id, "alice") == record
    assert store.get_file(file_id, "bob") is None
    assert store.list_files("bob") == []
    assert not store.delete_file(file_id, "bob")
    assert store.delete_file(file_id, "alice")


def test_files_are_listed_newest_first_and_page_by_page(store):
    ids = [f"file_{number:032x}" for number in range(5)]
    for file_id in ids:
        store.add_file("alice", file_id, name="x", media_type="text/plain", size=1)

    first = store.list_files("alice", limit=3)

    assert [file.id for file in first] == ids[:1:-1]
    assert [file.id for file in store.list_files("alice", before=first[-1].id)] == ids[1::-1]


def test_the_migrations_make_the_tables_that_the_code_expects(store):
    with store.writing() as connection:
        context = alembic.migration.MigrationContext.configure(connection)
        assert alembic.autogenerate.compare_metadata(context, metadata) == []


def test_processes_that_start_together_migrate_once(database_url):
    code = f"from app.jobs.store import JobStore; JobStore.open({database_url!r}).ping()"
    processes = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]

    outputs = [process.communicate(timeout=60)[1].decode() for process in processes]

    assert [process.returncode for process in processes] == [0] * 4, outputs


def test_jobs_outlive_the_process_that_took_them(database_url):
    first = JobStore.open(database_url)
    job, _ = first.submit(A_JOB, max_queued=1)
    first.close()

    assert JobStore.open(database_url).get(job.id) == job


@pytest.mark.parametrize("url", ["sqlite://", "mysql://localhost/x", "sqlite:///:memory:"])
def test_a_database_that_jobs_cannot_be_kept_in_is_refused(url):
    with pytest.raises(ValueError, match="SQLite file or PostgreSQL"):
        Database.open(url)


def test_many_writers_of_one_process_wait_for_each_other(store):
    threads = [threading.Thread(target=lambda: [store.submit(A_JOB, max_queued=1000) for _ in range(10)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.queue_lengths()["queued"] == 80
