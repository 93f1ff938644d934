"""The contract of every executor. Each misbehaviour of a job or a worker is an ordinary event that one test plays through."""

from __future__ import annotations

import os
import queue
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import psutil
import pytest

from app.files import FileStore
from app.jobs.executor import Checkpointed, Ended, Executor, JobEvent, JobSpec, Reported
from app.jobs.local import LocalExecutor
from tests.waiting import eventually

PATIENCE = 30


def a_local_executor(folder: Path) -> Executor:
    return LocalExecutor(
        "tests.jobs.operations:CATALOGUE",
        f"file://{folder}/files",
        folder / "cache",
        workers=2,
        light_workers=1,
        cancel_grace=0.3,
        limits={"max_edges": 3},
    )


EXECUTORS = {"local": a_local_executor}


class Driver:
    """Submits jobs to an executor and waits for what it tells of them."""

    def __init__(self, executor: Executor, folder: Path) -> None:
        self.executor = executor
        self.files = FileStore(f"file://{folder}/files")
        self.idle: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.told: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        executor.start(lambda: self.idle.put(None))

    def wait_for_room(self, normal: int = 2, light: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            capacity = self.executor.capacity()
            if capacity.normal >= normal and capacity.light >= light:
                return
            self.idle.get(timeout=deadline - time.monotonic())

    def submit(self, operation: str, *, time_limit: float = 60, memory_mb: int = 512, **spec: object) -> str:
        body = spec.pop("body", {})
        job_id = f"job_{uuid.uuid4().hex}"
        request = body if isinstance(body, bytes) else orjson.dumps(body)
        if spec.get("request_file") is not None:
            request = None
        self.executor.submit(
            JobSpec(job_id, 1, "alice", operation, time_limit, memory_mb, request=request, **spec), self.told.put
        )
        return job_id

    def until_end(self) -> tuple[Ended, list[JobEvent]]:
        before: list[JobEvent] = []
        while True:
            event = self.told.get(timeout=PATIENCE)
            if isinstance(event, Ended):
                return event, before
            before.append(event)

    def run(self, operation: str, **spec: object) -> Ended:
        self.submit(operation, **spec)
        return self.until_end()[0]

    def value(self, operation: str, **spec: object) -> object:
        ended = self.run(operation, **spec)
        assert ended.outcome == "succeeded", ended
        return orjson.loads(ended.result)["value"]


@pytest.fixture(scope="module", params=EXECUTORS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("executor")
    driver = Driver(EXECUTORS[request.param](folder), folder)
    yield driver
    driver.executor.close()


@pytest.fixture
def driver(shared: Driver) -> Driver:
    """A driver with room for jobs and nothing left to tell."""
    shared.wait_for_room()
    assert shared.told.empty()
    return shared


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def lines(journal: Path, count: int = 1) -> list[str]:
    eventually(lambda: journal.exists() and journal.read_text().count("\n") >= count)
    return journal.read_text().splitlines()


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# A job that behaves.


def test_a_result_is_the_json_of_the_result_model(driver):
    assert driver.run("echo", body={"value": [1, "ä"]}).result == '{"value":[1,"ä"]}'.encode()


def test_the_same_seed_draws_the_same_numbers(driver):
    assert driver.value("draw", seed=7) == driver.value("draw", seed=7) != driver.value("draw", seed=8)


def test_the_seed_of_a_request_that_nobody_read_before_is_used(driver):
    assert driver.value("draw", body={"options": {"seed": 7}}) == driver.value("draw", seed=7)


def test_a_job_knows_the_time_that_is_left(driver):
    assert 0 < driver.value("describe", time_limit=5)["remaining"] <= 5


def test_a_job_runs_on_one_thread_and_in_a_process_group_of_its_own(driver):
    told = driver.value("describe")

    assert set(told["threads"].values()) == {"1"}
    assert told["pid"] == told["group"]


def test_a_result_of_fifty_megabytes_arrives(driver):
    assert len(driver.value("lengthy", body={"count": 50 << 20}, memory_mb=2048)) == 50 << 20


def test_a_request_of_a_megabyte_arrives(driver):
    assert driver.value("echo", body={"value": "x" * (1 << 20)}) == "x" * (1 << 20)


def test_a_request_is_read_from_the_file_that_holds_it(driver):
    with driver.files.create("alice") as writer:
        writer.write(b'{"value": 5}')

    assert driver.value("echo", request_file=writer.file_id) == 5


def test_numbers_that_json_does_not_know_become_null(driver):
    assert driver.value("nan") == [None, None, 1.5]


def test_a_failed_item_of_a_map_comes_back_in_its_place(driver):
    first, second, third = driver.value("squares")

    assert (first, third) == (1, 9)
    assert second[0] == 1
    assert second[1]["detail"] == "two is odd"


# Reports, checkpoints and files.


def test_the_first_and_the_last_report_arrive_however_many_there_are(driver):
    driver.submit("report", body={"count": 2000})

    _, told = driver.until_end()

    assert all(isinstance(event, Reported) for event in told)
    assert told[0].members == {"fraction": 0.0, "index": 0}
    assert told[-1].members["index"] == 1999


def test_reports_are_throttled(driver):
    driver.submit("wait", body={"seconds": 1.0})

    _, told = driver.until_end()

    assert 2 <= len(told) <= 8


def test_a_report_that_was_held_back_arrives_while_the_job_is_silent(driver):
    job_id = driver.submit("fall-silent")
    assert driver.told.get(timeout=PATIENCE).members == {"index": 0}
    assert driver.told.get(timeout=PATIENCE).members == {"index": 1}

    driver.executor.cancel(job_id, grace=0.0)
    driver.until_end()


def test_a_report_that_json_cannot_hold_does_not_kill_the_job(driver):
    driver.submit("report-nonsense")

    ended, told = driver.until_end()

    assert ended.outcome == "succeeded"
    assert set(told[0].members) == {"thing", "big", "nan", "deep", "text"}


def test_a_snapshot_that_fails_does_not_kill_the_job(driver):
    assert driver.value("fail-to-snapshot") == "survived"


def test_a_saved_file_is_the_owners_and_is_told_of(driver):
    ended = driver.run("write")

    (file,) = ended.files
    assert file["id"] == orjson.loads(ended.result)["value"]
    assert driver.files.open("alice", file["id"]).read() == b"content"


def test_a_job_reads_no_file_of_another_owner(driver):
    with driver.files.create("bob") as writer:
        writer.write(b"secret")

    assert driver.run("read", body={"file": writer.file_id}).problem["type"] == "unknown-file"


def test_another_attempt_finds_the_checkpoint_of_the_one_before(driver):
    job_id = driver.submit("crash-once")
    ended, told = driver.until_end()
    assert ended.outcome == "lost"
    assert told == [Checkpointed(job_id, 1)]

    driver.executor.submit(JobSpec(job_id, 2, "alice", "crash-once", 60, 512, request=b"{}", resume=True), driver.told.put)

    assert orjson.loads(driver.until_end()[0].result) == {"value": "half way"}


# Requests and operations that fail.


def test_a_fault_of_the_input_is_told_as_the_operation_put_it(driver):
    ended = driver.run("refuse")

    assert ended.outcome == "failed"
    assert ended.problem["status"] == 422
    assert ended.problem["errors"][0]["pointer"] == "/edges/17"
    assert ended.problem["line"] == 3


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"seconds": "soon"}, "/seconds"), ({"options": {"time_limit": -1}}, "/options/time_limit")],
)
def test_a_request_that_its_model_refuses_fails_with_a_pointer(driver, body, pointer):
    ended = driver.run("echo", body=body)

    assert (ended.outcome, ended.problem["status"]) == ("failed", 422)
    assert ended.problem["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff"])
def test_a_request_that_is_no_json_fails_as_invalid_json(driver, body):
    assert driver.run("echo", body=body).problem["type"] == "invalid-json"


def test_a_number_that_is_not_finite_fails_with_a_pointer(driver):
    ended = driver.run("echo", body=b'{"value": NaN}')

    assert ended.problem["type"] == "invalid-input"
    assert ended.problem["errors"][0]["pointer"] == "/value"


def test_an_unforeseen_error_is_told_by_an_incident_alone(driver):
    ended = driver.run("err")

    assert ended.problem["type"] == "internal-error"
    assert "secret" not in orjson.dumps(ended.problem).decode()
    assert "a secret path" in ended.traceback


def test_leaving_by_an_exception_is_a_failure_like_any_other(driver):
    assert driver.run("leave-by-exception").problem["type"] == "internal-error"


def test_an_operation_that_is_not_in_the_catalogue_fails(driver):
    assert driver.run("unheard-of").problem["type"] == "internal-error"


def test_a_failed_job_leaves_its_worker_fit_for_the_next(driver):
    before = driver.value("describe")["pid"]
    for operation in ("refuse", "err", "leave-by-exception"):
        driver.run(operation)

    assert driver.value("describe")["pid"] == before


# Workers that die.


def test_a_worker_that_exits_in_the_middle_of_a_job_is_noticed(driver):
    ended = driver.run("leave")

    assert ended.outcome == "lost"
    assert "exited with code 0" in ended.problem["detail"]


def test_a_worker_that_is_killed_in_the_middle_of_a_job_is_noticed(driver):
    ended = driver.run("crash")

    assert ended.outcome == "lost"
    assert "killed by signal 9" in ended.problem["detail"]


def test_a_dead_worker_is_replaced(driver):
    driver.run("leave")
    driver.run("crash")

    driver.wait_for_room()
    assert driver.value("echo", body={"value": 1}) == 1


def test_an_idle_worker_that_is_killed_is_replaced_and_costs_no_job(driver):
    for _ in range(5):
        os.kill(driver.value("describe", light=True)["pid"], signal.SIGKILL)
        assert driver.value("echo", body={"value": 1}, light=True) == 1

    driver.wait_for_room()


def test_all_idle_workers_may_be_killed_at_once(driver):
    zygote = next(child for child in psutil.Process().children() if "app.jobs.zygote" in child.cmdline())
    for worker in zygote.children():
        worker.kill()

    assert driver.value("echo", body={"value": 1}) == 1
    driver.wait_for_room()


def test_everything_recovers_from_the_death_of_the_zygote(driver, journal):
    driver.submit("stall", body={"journal": str(journal)})
    pid = int(lines(journal)[0])
    # Not just any: services of other tests may have theirs.
    zygote = next(parent for parent in psutil.Process(pid).parents() if "app.jobs.zygote" in parent.cmdline())
    zygote.kill()

    ended, _ = driver.until_end()

    assert ended.outcome == "lost"
    eventually(lambda: is_gone(pid))
    driver.wait_for_room()
    assert driver.value("echo", body={"value": 1}) == 1


def test_everything_recovers_from_a_fault_of_the_executor_itself(driver, journal, tmp_path, monkeypatch):
    driver.submit("stall", body={"journal": str(journal)})
    lines(journal)
    with monkeypatch.context() as patch:
        patch.setattr("app.jobs.local.trees", lambda roots: 1 / 0)
        ended, _ = driver.until_end()

    assert ended.outcome == "lost"
    driver.wait_for_room()


def test_what_a_dead_worker_started_ends_with_it(driver, journal):
    driver.submit("breed", body={"journal": str(journal)})
    worker, *bred = map(int, lines(journal, 3))
    os.kill(worker, signal.SIGKILL)

    driver.until_end()

    eventually(lambda: all(map(is_gone, bred)))


# Limits.


def test_a_job_that_allocates_without_bound_is_stopped(driver):
    ended = driver.run("allocate", memory_mb=400)

    assert (ended.outcome, ended.problem["type"], ended.problem["status"]) == ("failed", "memory-limit", 413)
    assert "FORESOLVE_JOB_MEMORY_MB" in ended.problem["detail"]


def test_a_job_that_is_stopped_for_its_memory_leaves_its_last_incumbent(driver):
    assert driver.run("allocate", memory_mb=400).result == b'{"value":"incumbent"}'


def test_the_memory_of_what_a_job_started_counts(driver):
    assert driver.run("allocate-in-child", memory_mb=400).problem["type"] == "memory-limit"


def test_a_single_huge_allocation_fails_as_a_memory_limit(driver):
    assert driver.run("reserve").problem["type"] == "memory-limit"


def test_a_job_that_looks_at_the_clock_returns_in_time(driver):
    ended = driver.run("wait", time_limit=0.3)

    assert (ended.outcome, ended.result) == ("succeeded", b'{"value":"stopped"}')


@pytest.mark.parametrize("operation", ["stall", "hang"])
def test_a_job_that_does_not_return_in_time_is_killed(driver, operation):
    ended = driver.run(operation, time_limit=0.2)

    assert (ended.outcome, ended.problem["type"], ended.problem["status"]) == ("failed", "timeout", 504)
    assert "0.2 s" in ended.problem["detail"]


def test_a_job_that_is_killed_for_its_time_leaves_its_last_incumbent(driver):
    assert driver.run("hang", time_limit=0.2).result == b'{"value":"incumbent"}'


def test_the_time_limit_of_a_request_that_nobody_read_before_holds(driver):
    with driver.files.create("alice") as writer:
        writer.write(b'{"options": {"time_limit": 0.2}}')

    ended = driver.run("stall", time_limit=3600, request_file=writer.file_id)

    assert ended.problem["type"] == "timeout"
    assert "0.2 s" in ended.problem["detail"]


def test_a_longer_time_limit_than_allowed_is_refused_in_a_request_that_nobody_read_before(driver):
    with driver.files.create("alice") as writer:
        writer.write(b'{"options": {"time_limit": 4000}}')

    ended = driver.run("echo", time_limit=3600, request_file=writer.file_id)

    assert ended.problem["errors"][0]["pointer"] == "/options/time_limit"


# Cancelling.


def test_a_cancelled_job_returns_its_best(driver):
    job_id = driver.submit("wait")
    assert isinstance(driver.told.get(timeout=PATIENCE), Reported)

    driver.executor.cancel(job_id)

    ended, _ = driver.until_end()
    assert (ended.outcome, ended.result) == ("cancelled", b'{"value":"stopped"}')


def test_a_cancelled_job_in_native_code_is_killed_and_leaves_its_last_incumbent(driver):
    job_id = driver.submit("hang")
    assert isinstance(driver.told.get(timeout=PATIENCE), Reported)

    driver.executor.cancel(job_id)

    ended, _ = driver.until_end()
    assert (ended.outcome, ended.result, ended.problem) == ("cancelled", b'{"value":"incumbent"}', None)


def test_a_cancelled_job_does_not_hold_up_another(driver, journal):
    stuck = driver.submit("stall", body={"journal": str(journal)})
    lines(journal)
    driver.executor.cancel(stuck, grace=PATIENCE)

    assert driver.value("echo", body={"value": 1}) == 1

    driver.executor.cancel(stuck, grace=0.0)
    assert driver.until_end()[0].job_id == stuck


def test_what_a_cancelled_job_started_ends_with_it(driver, journal):
    job_id = driver.submit("breed", body={"journal": str(journal)})
    pids = list(map(int, lines(journal, 3)))

    driver.executor.cancel(job_id)

    driver.until_end()
    eventually(lambda: all(map(is_gone, pids)))


def test_cancelling_what_does_not_run_is_harmless(driver):
    driver.executor.cancel("job_of_nobody")

    assert driver.value("echo", body={"value": 1}) == 1


# Room.


def test_a_light_job_starts_although_all_other_workers_are_busy(driver, journal):
    busy = [driver.submit("stall", body={"journal": str(journal)}) for _ in range(2)]
    lines(journal, 2)
    assert driver.executor.capacity()[:2] == (0, 1)

    assert driver.value("echo", body={"value": 1}, light=True) == 1

    for job_id in busy:
        driver.executor.cancel(job_id, grace=0.0)
    assert {driver.until_end()[0].job_id for _ in busy} == set(busy)


def test_jobs_beyond_the_room_wait_for_it(driver):
    made = {driver.submit("echo", body={"value": number}) for number in range(20)}

    assert {driver.until_end()[0].job_id for _ in made} == made


# The end of the executor and of its server.


@pytest.fixture(params=EXECUTORS)
def an_executor_of_its_own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Driver]]:
    started: list[Driver] = []

    def start() -> Driver:
        started.append(Driver(EXECUTORS[request.param](tmp_path), tmp_path))
        started[-1].wait_for_room()
        return started[-1]

    yield start
    for driver in started:
        driver.executor.close()


def test_nothing_of_any_job_runs_after_the_executor_is_closed(an_executor_of_its_own, journal):
    driver = an_executor_of_its_own()
    driver.submit("breed", body={"journal": str(journal)})
    pids = list(map(int, lines(journal, 3)))

    driver.executor.close()

    assert all(map(is_gone, pids))


def test_a_closed_executor_leaves_no_process_and_no_scratch_folder(an_executor_of_its_own, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    driver = an_executor_of_its_own()

    driver.executor.close()

    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
    assert not list(tmp_path.glob("foresolve-*"))
