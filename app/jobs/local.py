"""The local executor: warm worker processes on this machine, one job at a time in each.

A thread of its own, the supervisor, hears what the workers say and watches the deadlines and the memory of their jobs.

The processes are forked from a preloaded one (`app.jobs.zygote`) rather than managed by a process pool such as Pebble's: that a worker
exits in mid-job, that an idle one is killed, or that the server itself is, then are ordinary events that end one socket, a kill waits
for no lock, and a replacement imports nothing.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import structlog

from app.jobs.executor import Capacity, Checkpointed, Ended, JobSpec, OnJobEvent, Outcome, Reported
from app.jobs.link import INLINE_BYTES, Message
from app.jobs.memory import out_of_memory_kills, own_bytes, resident_bytes, trees
from app.jobs.nursery import Nursery, WorkerProcess
from app.problems import Problem, problem
from app.settings import Settings

# Long enough to write the answer of a large instance on a busy machine, and short enough that a caller who waits for the default of the
# time limit and five seconds gets it.
TIME_LIMIT_GRACE = 4.0
_JOBS_PER_WORKER = 1000
_GROWTH_BYTES = 512 * 2**20
_MEMORY_SECONDS = 0.1
_MEMORY_SHARE = 20  # looking at memory may take a twentieth of the supervisor's time
_UNNOTICED_DEATHS = 3

log = structlog.get_logger("foresolve.jobs")


@dataclass(eq=False)
class _Run:
    """A job on a worker, or waiting for one."""

    spec: JobSpec
    events: OnJobEvent
    began: float
    deadline: float
    kill_at: float
    started: bool = False
    unnoticed_deaths: int = 0
    cancelled: bool = False
    killed_for: Literal["timeout", "memory-limit", "cancelled"] | None = None
    problem: Problem | None = None
    files: list[dict[str, Any]] = field(default_factory=list)
    oom_kills: int = 0

    def timeout(self) -> Problem:
        return problem("timeout", f"the job did not end within its time limit of {self.deadline - self.began:.6g} s")


class LocalExecutor:
    """Runs jobs in forked worker processes.

    Parameters
    ----------
    catalogue : str
        ``module:attribute`` of the operations.
    files_url : str
    cache_dir : pathlib.Path
        Writable folder for compiled kernels.
    workers, light_workers : int
        Jobs of any kind, and light jobs beside them, that run at once.
    cancel_grace : float
        Seconds from a request to cancel to the kill.
    limits : mapping of str to int
        Instance limits, see :meth:`solvers.operation.Context.require`.
    """

    def __init__(
        self,
        catalogue: str,
        files_url: str,
        cache_dir: Path,
        *,
        workers: int = 1,
        light_workers: int = 0,
        cancel_grace: float = 1.5,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._cancel_grace = cancel_grace
        self._device = "cuda:0" if os.path.exists("/dev/nvidia0") else "cpu"
        self._lock = threading.RLock()
        self._idle: set[WorkerProcess] = set()
        self._runs: dict[WorkerProcess, _Run] = {}
        self._waiting: deque[_Run] = deque()
        self._jobs_done: dict[WorkerProcess, int] = {}
        self._look_at_memory_at = 0.0
        self._closing = False
        self._on_idle: Callable[[], None] = lambda: None
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, lambda: self._woken.recv(4096))
        self._nursery = Nursery(
            self._selector,
            {"catalogue": catalogue, "files_url": files_url, "limits": dict(limits or {})},
            cache_dir,
            [True] * light_workers + [False] * workers,
            on_message=self._heed,
            on_death=self._mourn,
        )
        self._thread = threading.Thread(target=self._supervise, name="executor", daemon=True)

    @classmethod
    def from_settings(cls, settings: Settings) -> LocalExecutor:
        """Return the executor that the settings describe."""
        return cls(
            settings.catalogue,
            settings.files,
            settings.cache_dir,
            workers=settings.workers,
            light_workers=settings.light_workers,
            cancel_grace=settings.cancel_grace_seconds,
            limits=settings.instance_limits,
        )

    @property
    def ready(self) -> bool:
        """Whether the operations are loaded and compiled and workers can be had at once."""
        return self._nursery.preloaded

    def start(self, on_idle: Callable[[], None]) -> None:
        """Start the workers and the thread that watches them."""
        self._on_idle = on_idle
        self._thread.start()

    def submit(self, spec: JobSpec, events: OnJobEvent) -> None:
        """Run a job; its time starts now. Where no worker is free it waits for one."""
        now = time.monotonic()
        deadline = now + spec.time_limit
        run = _Run(spec, events, now, deadline, deadline + TIME_LIMIT_GRACE)
        with self._lock:
            if self._assign(run):
                return  # the worker's first word wakes the supervisor
            self._waiting.append(run)
        self._wake_up()

    def cancel(self, job_id: str, *, grace: float | None = None) -> None:
        """Ask a job to return its best answer, and kill its worker after `grace` seconds."""
        with self._lock:
            for run in self._waiting:
                if run.spec.id == job_id:
                    run.cancelled, run.kill_at = True, 0.0
            for worker, run in self._runs.items():
                if run.spec.id == job_id:
                    self._request_cancel(worker, run, self._cancel_grace if grace is None else grace)
        self._wake_up()

    def capacity(self) -> Capacity:
        """Return how many jobs could start now."""
        with self._lock:
            light = sum(worker.light for worker in self._idle)
            normal = len(self._idle) - light - len(self._waiting)
            return Capacity(normal=max(0, normal), light=light, gpu=self._device != "cpu")

    def close(self) -> None:
        """Kill all workers, end the zygote, and return when they are gone."""
        self._closing = True
        if self._thread.is_alive():
            self._wake_up()
            self._thread.join()

    # What follows runs in the supervisor's thread, or with its lock held.

    def _supervise(self) -> None:
        try:
            while not self._closing:
                try:
                    self._listen()
                except Exception:
                    log.exception("the executor failed; its workers are replaced")
                    with self._lock:
                        self._nursery.clear()
        finally:
            with self._lock:
                self._nursery.close()
                self._selector.close()
                self._wake.close()
                self._woken.close()

    def _listen(self) -> None:
        for key, _ in self._selector.select(self._patience()):
            with self._lock:
                key.data()
        with self._lock:
            self._attend(time.monotonic())

    def _attend(self, now: float) -> None:
        self._nursery.attend(now)
        for worker, run in list(self._runs.items()):
            if run.killed_for is None and now >= run.kill_at:
                run.killed_for = "cancelled" if run.cancelled else "timeout"
                self._nursery.kill(worker)
        if self._runs and now >= self._look_at_memory_at:
            self._look_at_memory()
            self._look_at_memory_at = now + max(_MEMORY_SECONDS, _MEMORY_SHARE * (time.monotonic() - now))
        for run in list(self._waiting):
            if now >= run.kill_at:
                self._waiting.remove(run)
                self._end(run, "cancelled" if run.cancelled else "failed", None if run.cancelled else run.timeout())
            elif self._assign(run):
                self._waiting.remove(run)

    def _patience(self) -> float | None:
        """Return the seconds until there is something to do even if nothing happens."""
        with self._lock:
            due = [run.kill_at for run in (*self._waiting, *self._runs.values()) if run.killed_for is None]
            if self._runs:
                due.append(self._look_at_memory_at)
            if (birth := self._nursery.due()) is not None:
                due.append(birth)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _wake_up(self) -> None:
        with contextlib.suppress(OSError):  # full, and so awake anyway; or closed
            self._wake.send(b"\0")

    def _assign(self, run: _Run) -> bool:
        """Give a job to an idle worker, light ones first to those kept for them; False if there is none."""
        fit = [worker for worker in self._idle if run.spec.light or not worker.light]
        if not fit:
            return False
        worker = max(fit, key=lambda worker: worker.light)
        self._idle.discard(worker)
        run.oom_kills = out_of_memory_kills()
        if not worker.send(*self._assignment(run)):
            return False  # it is dead, and its place will be filled
        self._runs[worker] = run
        return True

    def _assignment(self, run: _Run) -> tuple[dict[str, Any], bytes]:
        spec = run.spec
        header = {
            "kind": "run",
            "id": spec.id,
            "owner": spec.owner,
            "operation": spec.operation,
            "request_file": spec.request_file,
            "payload_file": None,
            "seed": spec.seed,
            "device": self._device if spec.gpu != "none" else "cpu",
            "memory_mb": spec.memory_mb,
            "time_limit": spec.time_limit,
            "deadline": run.deadline,
            "resume": spec.resume,
            "result_file": str(self._scratch_file(run, "result")),
            "snapshot_file": str(self._scratch_file(run, "snapshot")),
        }
        payload = spec.request or b""
        if len(payload) <= INLINE_BYTES:
            return header, payload
        file = self._scratch_file(run, "request")
        file.write_bytes(payload)
        return header | {"payload_file": str(file)}, b""

    # What workers say, and what their silence says.

    def _heed(self, worker: WorkerProcess, message: Message) -> None:
        header, run = message.header, self._runs.get(worker)
        kind = header["kind"]
        if kind == "idle":
            self._idle.add(worker)
            self._on_idle()
        elif run is None:
            return
        elif kind == "started":
            run.started = True
        elif kind == "report":
            run.events(Reported(run.spec.id, run.spec.attempt, header["members"]))
        elif kind == "checkpoint":
            run.events(Checkpointed(run.spec.id, run.spec.attempt))
        elif kind == "file":
            run.files.append(header["file"])
        elif kind == "deadline":
            run.deadline = min(run.deadline, header["deadline"])
            run.kill_at = min(run.kill_at, run.deadline + TIME_LIMIT_GRACE)
        elif kind == "ended":
            self._finish(worker, run, message)

    def _finish(self, worker: WorkerProcess, run: _Run, message: Message) -> None:
        header = message.header
        result: bytes | None = None
        if header["result"] == "inline":
            result = message.payload
        elif header["result"] == "file":
            result = self._scratch_file(run, "result").read_bytes()
        del self._runs[worker]
        jobs_done = self._jobs_done[worker] = self._jobs_done.get(worker, 0) + 1
        if run.killed_for is None:
            if jobs_done >= _JOBS_PER_WORKER or header["resident"] > worker.resident + _GROWTH_BYTES:
                self._nursery.retire(worker)
            else:
                self._idle.add(worker)
        self._end(run, header["outcome"], header.get("problem"), result, header.get("traceback"))

    def _mourn(self, worker: WorkerProcess, reason: str) -> None:
        self._idle.discard(worker)
        self._jobs_done.pop(worker, None)
        run = self._runs.pop(worker, None)
        if run is None:
            return
        is_noticed = run.started or run.cancelled or run.killed_for is not None
        if not is_noticed and run.unnoticed_deaths < _UNNOTICED_DEATHS:
            run.unnoticed_deaths += 1  # the worker was dead before it heard of the job
            self._waiting.appendleft(run)
        elif run.killed_for == "timeout":
            self._end(run, "failed", run.timeout())
        elif run.killed_for == "memory-limit" or (reason.endswith("signal 9") and out_of_memory_kills() > run.oom_kills):
            self._end(run, "failed", run.problem or problem("memory-limit", "the machine ran out of memory"))
        elif run.cancelled:
            self._end(run, "cancelled", None)
        else:
            self._end(run, "lost", problem("worker-lost", f"the worker {reason} in the middle of the job"))

    def _end(
        self, run: _Run, outcome: Outcome, trouble: Problem | None, result: bytes | None = None, trace: str | None = None
    ) -> None:
        """Tell of a job's end; where it has no other result, that is its last snapshot."""
        if result is None:
            with contextlib.suppress(FileNotFoundError):
                result = self._scratch_file(run, "snapshot").read_bytes()
        for name in ("request", "result", "snapshot"):
            self._scratch_file(run, name).unlink(missing_ok=True)
        run.events(Ended(run.spec.id, run.spec.attempt, outcome, result, trouble, tuple(run.files), trace))

    def _scratch_file(self, run: _Run, name: str) -> Path:
        return self._nursery.scratch / f"{run.spec.id}-{run.spec.attempt}.{name}"

    # Ending jobs by force.

    def _request_cancel(self, worker: WorkerProcess, run: _Run, grace: float) -> None:
        if not run.cancelled and grace > 0:
            worker.send({"kind": "cancel"})
        run.cancelled = True
        run.kill_at = min(run.kill_at, time.monotonic() + grace)

    def _look_at_memory(self) -> None:
        busy = {worker.pid: (worker, run) for worker, run in self._runs.items() if worker.pid and run.killed_for is None}
        for pid, tree in trees(pid for pid in busy if pid is not None).items():
            worker, run = busy[pid]
            limit = run.spec.memory_mb * 2**20
            if resident_bytes(tree) > limit and (held := own_bytes(tree)) > limit:
                run.killed_for = "memory-limit"
                run.problem = problem(
                    "memory-limit",
                    f"the job held {held >> 20} MiB; its limit is {run.spec.memory_mb} MiB (setting FORESOLVE_JOB_MEMORY_MB, "
                    "or the operation's own)",
                )
                self._nursery.kill(worker)
