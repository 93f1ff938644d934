"""What the dispatcher makes of the store and an executor; the executor is played by the test."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.files import FileStore
from app.jobs.dispatcher import Dispatcher
from app.jobs.executor import Capacity, Checkpointed, Ended, JobSpec, OnJobEvent, Outcome, Reported
from app.jobs.store import Job, JobStore
from app.settings import Settings
from tests.jobs.conftest import A_JOB
from tests.jobs.operations import CATALOGUE
from tests.waiting import PATIENCE, eventually


class PlayedExecutor:
    """Takes jobs and leaves it to the test what becomes of them."""

    ready = True

    def __init__(self) -> None:
        self.room = 2
        self.running: dict[str, tuple[JobSpec, OnJobEvent]] = {}
        self.submitted: queue.SimpleQueue[JobSpec] = queue.SimpleQueue()
        self.cancelled: queue.SimpleQueue[tuple[str, float | None]] = queue.SimpleQueue()
        self.closed = False

    def start(self, on_idle: Callable[[], None]) -> None:
        self.on_idle = on_idle

    def submit(self, spec: JobSpec, events: OnJobEvent) -> None:
        self.running[spec.id] = (spec, events)
        self.submitted.put(spec)

    def cancel(self, job_id: str, *, grace: float | None = None) -> None:
        self.cancelled.put((job_id, grace))
        if grace == 0.0 and job_id in self.running:
            self.end(job_id, "cancelled")

    def capacity(self) -> Capacity:
        return Capacity(self.room - len(self.running), 0, gpu=False)

    def close(self) -> None:
        self.closed = True

    def next(self) -> JobSpec:
        return self.submitted.get(timeout=PATIENCE)

    def report(self, job_id: str, **members: object) -> None:
        spec, events = self.running[job_id]
        events(Reported(job_id, spec.attempt, members))

    def end(self, job_id: str, outcome: Outcome, result: bytes | None = None, **members: object) -> None:
        spec, events = self.running.pop(job_id)
        events(Ended(job_id, spec.attempt, outcome, result, **members))


@pytest.fixture
def executor() -> PlayedExecutor:
    return PlayedExecutor()


@pytest.fixture
def start(store, executor, tmp_path) -> Iterator[Callable[..., Dispatcher]]:
    started: list[Dispatcher] = []

    def start(executor: PlayedExecutor = executor, **changes: float) -> Dispatcher:
        settings = Settings(data_dir=tmp_path, **({"poll_seconds": 0.05} | changes))
        catalogue = {operation.name: operation for operation in CATALOGUE}
        dispatcher = Dispatcher(settings, store, FileStore(settings.files), executor, catalogue)
        dispatcher.start()
        started.append(dispatcher)
        return dispatcher

    yield start
    for dispatcher in started:
        dispatcher.stop()


@pytest.fixture
def dispatcher(start) -> Dispatcher:
    return start()


def ends_of(dispatcher: Dispatcher, job: Job) -> queue.SimpleQueue[Job]:
    ends: queue.SimpleQueue[Job] = queue.SimpleQueue()
    dispatcher.subscribe(job.id, ends.put)
    return ends


def status(store, job: Job) -> str:
    return store.get(job.id).status


def test_a_queued_job_runs_and_its_end_is_told_with_its_result(store, submit, dispatcher, executor):
    job = submit()
    ends = ends_of(dispatcher, job)

    executor.end(executor.next().id, "succeeded", b'{"value":1}')

    told = ends.get(timeout=PATIENCE)
    assert told == store.get(job.id)
    assert (told.status, told.result) == ("succeeded", b'{"value":1}')


def test_a_job_that_nobody_announced_is_found(submit, dispatcher, executor):
    job = submit()

    assert executor.next().id == job.id


def test_no_more_jobs_are_claimed_than_there_is_room_for(store, submit, dispatcher, executor):
    made = [submit() for _ in range(4)]
    first = executor.next()
    executor.next()
    assert store.queue_lengths() == {"queued": 2, "running": 2}

    executor.end(first.id, "succeeded", b"1")

    assert executor.next().id == made[2].id


def test_the_end_is_told_at_once_to_who_asks_after_it(store, submit, dispatcher, executor):
    job = submit()
    executor.end(executor.next().id, "succeeded", b"1")
    eventually(lambda: status(store, job) == "succeeded")

    assert ends_of(dispatcher, job).get(timeout=PATIENCE).result == b"1"


def test_the_end_of_a_job_that_the_api_cancelled_is_told(store, submit, dispatcher, executor):
    executor.room = 0
    job = submit()
    ends = ends_of(dispatcher, job)

    store.cancel(job.id)

    assert ends.get(timeout=PATIENCE).status == "cancelled"


def test_the_end_of_a_job_that_another_dispatcher_runs_is_told(submit, start):
    idle, busy = PlayedExecutor(), PlayedExecutor()
    idle.room = 0
    here = start(idle)
    start(busy)
    job = submit()
    ends = ends_of(here, job)

    busy.end(busy.next().id, "succeeded", b"1")

    assert ends.get(timeout=PATIENCE).result == b"1"


def test_who_unsubscribed_is_told_nothing(submit, dispatcher, executor):
    job = submit()
    unwanted: queue.SimpleQueue[Job] = queue.SimpleQueue()
    dispatcher.subscribe(job.id, unwanted.put)
    ends = ends_of(dispatcher, job)
    dispatcher.unsubscribe(job.id, unwanted.put)

    executor.end(executor.next().id, "succeeded", b"1")

    ends.get(timeout=PATIENCE)
    assert unwanted.empty()


def test_a_callback_that_fails_harms_nobody(submit, dispatcher, executor):
    job = submit()
    dispatcher.subscribe(job.id, lambda job: 1 / 0)
    ends = ends_of(dispatcher, job)

    executor.end(executor.next().id, "succeeded", b"1")

    assert ends.get(timeout=PATIENCE).status == "succeeded"


def test_what_a_job_reports_becomes_its_events_and_its_progress(store, submit, dispatcher, executor):
    job = submit()
    executor.next()
    for value in range(3):
        executor.report(job.id, value=value)
    executor.end(job.id, "succeeded", b"1")
    eventually(lambda: status(store, job) == "succeeded")

    events = store.events(job.id, after=0)

    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6]
    assert [event.kind for event in events] == ["queued", "started", "progress", "progress", "progress", "succeeded"]
    assert [event.data for event in events[2:5]] == [{"value": 0}, {"value": 1}, {"value": 2}]
    assert store.get(job.id).progress == {"value": 2}


def test_a_checkpoint_makes_the_job_resumable(store, submit, dispatcher, executor):
    job = submit()
    spec = executor.next()
    executor.running[job.id][1](Checkpointed(job.id, spec.attempt))

    eventually(lambda: store.get(job.id).has_checkpoint)


def test_a_lost_job_runs_again_until_its_attempts_are_used_up(store, submit, dispatcher, executor):
    job = submit(max_attempts=3)
    ends = ends_of(dispatcher, job)
    for attempt in (1, 2, 3):
        assert executor.next().attempt == attempt
        executor.end(job.id, "lost", problem={"type": "worker-lost", "detail": "the worker exited with code 0"})

    over = ends.get(timeout=PATIENCE)

    assert (over.status, over.problem["type"], over.attempt) == ("failed", "worker-lost", 3)
    assert over.problem["detail"].startswith("the worker exited with code 0")


def test_a_cancel_that_another_process_asked_for_reaches_the_executor(store, submit, dispatcher, executor):
    job = submit()
    executor.next()

    store.cancel(job.id)

    assert executor.cancelled.get(timeout=PATIENCE) == (job.id, None)


def test_a_cancel_asked_for_here_reaches_the_executor_without_a_poll(store, submit, start, executor):
    start(poll_seconds=1000)
    job = submit()
    executor.next()

    store.cancel(job.id)

    assert executor.cancelled.get(timeout=PATIENCE) == (job.id, None)


def test_a_job_that_runs_long_keeps_its_lease(store, submit, start, executor):
    start(lease_seconds=15, heartbeat_seconds=0.05)
    job = submit()
    executor.next()
    first = expiry(store, job)

    eventually(lambda: expiry(store, job) > first + 0.2)


def test_a_job_whose_lease_was_lost_is_stopped_and_leaves_no_trace(store, submit, start, executor):
    start(heartbeat_seconds=0.05)
    job = submit()
    executor.next()

    with store.writing() as connection:
        connection.execute(text("UPDATE jobs SET lease_owner = 'another', attempt = attempt + 1"))

    assert executor.cancelled.get(timeout=PATIENCE) == (job.id, 0.0)
    assert (status(store, job), store.get(job.id).attempt) == ("running", 2)


def test_a_job_whose_claim_the_database_forgot_starts_anew_once_it_is_dead_here(store, submit, start, executor):
    start(poll_seconds=1000, heartbeat_seconds=0.05)
    job = submit()
    executor.next()

    with store.writing() as connection:
        connection.execute(text("UPDATE jobs SET status = 'queued', attempt = 0, lease_owner = NULL, lease_expires_at = NULL"))
    assert executor.cancelled.get(timeout=PATIENCE) == (job.id, 0.0)
    executor.end(executor.next().id, "succeeded", b"1")

    eventually(lambda: status(store, job) == "succeeded")


def test_a_claim_whose_answer_was_lost_is_made_good(store, submit, start, executor):
    dispatcher = start(heartbeat_seconds=0.05)
    executor.room = 0
    job = submit()

    with store.writing() as connection:
        connection.execute(
            text("UPDATE jobs SET status = 'running', attempt = 1, lease_owner = :me, lease_expires_at = 1e12"),
            {"me": dispatcher.worker_id},
        )

    eventually(lambda: status(store, job) == "queued")


def test_a_job_that_the_executor_does_not_take_is_tried_again(store, submit, start, executor, monkeypatch):
    monkeypatch.setattr(executor, "submit", lambda spec, events: 1 / 0)
    dispatcher = start()
    ends = ends_of(dispatcher, submit(max_attempts=2))

    assert ends.get(timeout=PATIENCE).problem["type"] == "worker-lost"


def test_what_the_database_refuses_fails_its_own_job_alone(store, submit, dispatcher, executor):
    first, second = submit(), submit()
    executor.next()
    executor.next()

    executor.end(first.id, "failed", problem={"detail": object()})
    executor.end(second.id, "succeeded", b"1")

    eventually(lambda: status(store, second) == "succeeded")
    eventually(lambda: status(store, first) == "failed")
    assert store.get(first.id).problem["type"] == "internal-error"


def test_what_happens_while_the_database_does_not_answer_is_kept(store, submit, dispatcher, executor, monkeypatch):
    job = submit()
    executor.next()
    with an_outage(store, monkeypatch) as missed:
        executor.end(job.id, "succeeded", b"1")
        eventually(lambda: missed.qsize() > 1)

    eventually(lambda: status(store, job) == "succeeded")


def test_jobs_whose_leases_cannot_be_renewed_are_stopped(store, submit, start, executor, monkeypatch):
    start(lease_seconds=0.6, heartbeat_seconds=0.1)
    job = submit()
    executor.next()
    with an_outage(store, monkeypatch):
        assert executor.cancelled.get(timeout=PATIENCE) == (job.id, 0.0)

    assert executor.next().id == job.id


def test_stopping_gives_running_jobs_back_unused(store, submit, dispatcher, executor):
    job = submit()
    executor.next()

    dispatcher.stop(grace=0)

    assert executor.closed
    assert executor.cancelled.get_nowait() == (job.id, 0.0)
    assert (status(store, job), store.get(job.id).attempt) == ("queued", 0)
    assert store.live_workers() == 0


def test_stopping_lets_a_job_end_that_does_within_the_grace(store, submit, dispatcher, executor, in_background):
    job = submit()
    executor.next()
    stopping = in_background(lambda: dispatcher.stop(grace=PATIENCE))

    executor.end(job.id, "succeeded", b"1")

    stopping.join()
    assert status(store, job) == "succeeded"


def test_a_stopping_dispatcher_claims_nothing(store, submit, dispatcher, executor, in_background):
    running = submit()
    executor.next()
    stopping = in_background(lambda: dispatcher.stop(grace=PATIENCE))
    eventually(lambda: dispatcher._stop_by is not None)
    waiting = submit()

    executor.end(running.id, "succeeded", b"1")

    stopping.join()
    assert (status(store, running), status(store, waiting)) == ("succeeded", "queued")


def test_a_second_request_to_stop_shortens_the_grace(store, submit, dispatcher, executor, in_background):
    job = submit()
    executor.next()
    patient = in_background(lambda: dispatcher.stop(grace=1000))
    eventually(lambda: dispatcher._stop_by is not None)

    dispatcher.stop(grace=0)

    patient.join()
    assert status(store, job) == "queued"


def test_a_job_that_was_to_be_cancelled_is_cancelled_at_the_stop(store, submit, start, executor):
    dispatcher = start(poll_seconds=1000)
    job = submit()
    executor.next()
    store.cancel(job.id)

    dispatcher.stop(grace=0)

    assert status(store, job) == "cancelled"


@pytest.fixture
def in_background():
    import threading

    def run(function: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=function)
        thread.start()
        return thread

    return run


def expiry(store, job: Job) -> float:
    with store.reading() as connection:
        return connection.execute(text("SELECT lease_expires_at FROM jobs WHERE id = :id"), {"id": job.id}).scalar_one()


@contextmanager
def an_outage(store, monkeypatch) -> Iterator[queue.SimpleQueue[None]]:
    """Have no transaction succeed within the block; what is yielded counts those that failed."""
    missed: queue.SimpleQueue[None] = queue.SimpleQueue()

    @contextmanager
    def failing() -> Iterator[None]:
        missed.put(None)
        raise OperationalError("BEGIN", {}, Exception("the server closed the connection"))
        yield

    with monkeypatch.context() as patch:
        for method in ("writing", "reading"):
            patch.setattr(store, method, failing)
        yield missed


@pytest.fixture
def elsewhere(store) -> Iterator[JobStore]:
    """The same jobs, as another process sees them."""
    other = JobStore.open(store.engine.url.render_as_string(hide_password=False))
    yield other
    other.close()


needs_postgresql = pytest.mark.parametrize("store", ["postgresql"], indirect=True)


@needs_postgresql
def test_a_job_queued_and_cancelled_elsewhere_is_heard_of_without_a_poll(elsewhere, start, executor):
    start(poll_seconds=1000)
    job, _ = elsewhere.submit(A_JOB, max_queued=10)
    assert executor.next().id == job.id

    elsewhere.cancel(job.id)

    assert executor.cancelled.get(timeout=PATIENCE) == (job.id, None)


@needs_postgresql
def test_the_end_of_a_job_elsewhere_is_told_to_who_waits_without_a_poll(elsewhere, start, executor):
    executor.room = 0
    dispatcher = start(poll_seconds=1000)
    for _ in range(2):  # the first end may be seen by the look around at the start
        job, _ = elsewhere.submit(A_JOB, max_queued=10)
        ends = ends_of(dispatcher, job)

        elsewhere.cancel(job.id)

        assert ends.get(timeout=PATIENCE).status == "cancelled"
