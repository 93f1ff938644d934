"""Notices reach every process on one PostgreSQL database, and those that are lost do no harm."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.jobs.executor import Capacity
from app.jobs.notices import Kind, Notices
from app.jobs.store import JobStore
from tests.jobs.conftest import A_JOB
from tests.jobs.driving import A_LEASE
from tests.waiting import PATIENCE

Heard = queue.SimpleQueue[tuple[Kind, str]]


def listen(store: JobStore, job_id: str | None = None) -> Heard:
    """Return where a store's notices arrive, once it listens to the other processes."""
    heard: Heard = queue.SimpleQueue()
    store.notices.subscribe(lambda kind, job_id: heard.put((kind, job_id)), job_id)
    assert heard.get(timeout=PATIENCE) == ("missed", "")
    return heard


@pytest.fixture
def stores(a_postgres_database: str) -> Iterator[tuple[JobStore, JobStore]]:
    """The stores of two processes, as far as the database can tell."""
    pair = JobStore.open(a_postgres_database), JobStore.open(a_postgres_database)
    yield pair
    for store in pair:
        store.close()


def test_within_a_process_a_notice_reaches_those_who_listen_to_its_job_or_to_all():
    notices, one, other, everything = Notices(), [], [], []
    notices.subscribe(lambda *notice: one.append(notice), "job_1")
    notices.subscribe(lambda *notice: other.append(notice), "job_2")
    notices.subscribe(lambda *notice: everything.append(notice))

    notices.tell(news=["job_1"], end=["job_1"])

    assert (one, other, everything) == ([("news", "job_1"), ("end", "job_1")], [], [("news", "job_1"), ("end", "job_1")])


def test_who_stopped_listening_hears_no_more():
    notices, heard = Notices(), []

    def listener(*notice: str) -> None:
        heard.append(notice)

    notices.subscribe(listener, "job_1")
    notices.unsubscribe(listener, "job_1")

    notices.tell(end=["job_1"])

    assert heard == []


def test_a_listener_that_fails_does_not_keep_the_notice_from_others():
    notices, heard = Notices(), []
    notices.subscribe(lambda *notice: 1 / 0)
    notices.subscribe(lambda *notice: heard.append(notice))

    notices.tell(end=["job_1"])

    assert heard == [("end", "job_1")]


def test_a_job_queued_through_one_process_is_heard_of_in_another(stores):
    heard = listen(stores[1])

    job, _ = stores[0].submit(A_JOB, max_queued=10)

    assert heard.get(timeout=PATIENCE) == ("queued", job.id)


def test_the_cancel_of_a_running_job_is_heard_of_in_another_process(stores):
    job, _ = stores[0].submit(A_JOB, max_queued=10)
    heard = listen(stores[1])
    with stores[0].writing() as connection:
        A_LEASE.claim(connection, Capacity(1, 0, gpu=False))

    stores[0].cancel(job.id)

    assert ("cancel", job.id) in iter(lambda: heard.get(timeout=PATIENCE), None)


def test_the_end_of_a_queued_job_is_heard_of_in_another_process(stores):
    job, _ = stores[0].submit(A_JOB, max_queued=10)
    heard = listen(stores[1], job.id)

    stores[0].cancel(job.id)

    assert ("end", job.id) in iter(lambda: heard.get(timeout=PATIENCE), None)


def test_own_notices_are_heard_once(stores):
    heard = listen(stores[0])
    witness = listen(stores[1])
    stores[0].notices.tell(end=["job_1"])
    assert witness.get(timeout=PATIENCE) == ("end", "job_1")

    stores[1].notices.tell(end=["job_2"])

    assert [heard.get(timeout=PATIENCE) for _ in range(2)] == [("end", "job_1"), ("end", "job_2")]


def test_many_notices_at_once_all_arrive(stores):
    heard = listen(stores[1])
    jobs = [f"job_{number}" for number in range(2000)]

    stores[0].notices.tell(news=jobs)

    assert [heard.get(timeout=PATIENCE) for _ in jobs] == [("news", job) for job in jobs]


def test_what_was_told_is_sent_before_the_store_closes(stores):
    heard = listen(stores[1])

    stores[0].notices.tell(end=["job_1"])
    stores[0].close()

    assert heard.get(timeout=PATIENCE) == ("end", "job_1")


def test_a_listener_whose_connection_was_cut_hears_again_and_knows_that_it_may_have_missed_something(stores):
    heard = listen(stores[1])
    with stores[0].reading() as connection:
        cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        assert connection.execute(text(cut + " AND datname = current_database()")).scalar_one() == 1
    assert heard.get(timeout=PATIENCE) == ("missed", "")

    job, _ = stores[0].submit(A_JOB, max_queued=10)

    assert heard.get(timeout=PATIENCE) == ("queued", job.id)
