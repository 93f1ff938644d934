"""The local executor: warm worker processes on this machine, one job at a time in each.

A thread of its own, the supervisor, watches the workers' links, their deadlines and their memory. Workers are forked by the
:mod:`zygote <app.jobs.zygote>` and killed by it, each with its whole process group. A worker counts as gone only when the zygote
says so, and only then its job does.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import structlog

from app.jobs.executor import Capacity, Checkpointed, Ended, JobSpec, OnJobEvent, Outcome, Reported
from app.jobs.link import INLINE_BYTES, Closed, Link, Message
from app.jobs.memory import out_of_memory_kills, own_bytes, resident_bytes, trees
from app.problems import Problem, problem
from app.settings import Settings

TIME_LIMIT_GRACE = 1.5
_JOBS_PER_WORKER = 1000
_GROWTH_BYTES = 512 * 2**20
_MEMORY_SECONDS = 0.1
_MEMORY_SHARE = 20  # looking at memory may take a twentieth of the supervisor's time
_RESTART_SECONDS = 1.0
_UNNOTICED_DEATHS = 3
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

log = structlog.get_logger("foresolve.jobs")

Reason = Literal["timeout", "memory-limit", "cancelled"]


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
    killed_for: Reason | None = None
    problem: Problem | None = None
    files: list[dict[str, Any]] = field(default_factory=list)
    oom_kills: int = 0


@dataclass(eq=False)
class _Worker:
    """A process, from the request to fork it to the report of its end."""

    number: int
    light: bool
    link: Link
    pid: int | None = None
    idle: bool = False
    retired: bool = False
    run: _Run | None = None
    jobs: int = 0
    first_resident: int = 0


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
        self._catalogue = catalogue
        self._files_url = files_url
        self._cache_dir = cache_dir
        self._lanes = [True] * light_workers + [False] * workers
        self._cancel_grace = cancel_grace
        self._limits = dict(limits or {})
        self._device = "cuda:0" if os.path.exists("/dev/nvidia0") else "cpu"
        self._scratch = ""
        self._lock = threading.RLock()
        self._workers: dict[int, _Worker] = {}
        self._waiting: deque[_Run] = deque()
        self._missing: deque[tuple[float, bool]] = deque()
        self._numbers = 0
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: Link | None = None
        self._preloaded = False
        self._closing = False
        self._restart_at = 0.0
        self._look_at_memory_at = 0.0
        self._on_idle: Callable[[], None] = lambda: None
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
        return self._preloaded

    def start(self, on_idle: Callable[[], None]) -> None:
        """Start the zygote, the workers, and the thread that watches them."""
        self._on_idle = on_idle
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, lambda: self._woken.recv(4096))
        self._thread.start()

    def submit(self, spec: JobSpec, events: OnJobEvent) -> None:
        """Run a job; its time starts now. Where no worker is free it waits for one."""
        now = time.monotonic()
        deadline = now + spec.time_limit
        run = _Run(spec, events, now, deadline, deadline + TIME_LIMIT_GRACE)
        with self._lock:
            worker = self._idle_worker(light=spec.light)
            if worker is not None and self._assign(worker, run):
                return  # the worker's first word wakes the supervisor
            self._waiting.append(run)
        self._wake_up()

    def cancel(self, job_id: str, *, grace: float | None = None) -> None:
        """Ask a job to return its best answer, and kill its worker after `grace` seconds."""
        with self._lock:
            for run in self._waiting:
                if run.spec.id == job_id:
                    run.cancelled, run.kill_at = True, 0.0
            worker = next((worker for worker in self._workers.values() if worker.run and worker.run.spec.id == job_id), None)
            if worker is not None and worker.run is not None:
                self._request_cancel(worker, worker.run, self._cancel_grace if grace is None else grace)
        self._wake_up()

    def capacity(self) -> Capacity:
        """Return how many jobs could start now."""
        with self._lock:
            idle = [worker.light for worker in self._workers.values() if worker.idle]
            light = sum(idle)
            waiting = len(self._waiting)
            return Capacity(normal=max(0, len(idle) - light - waiting), light=light, gpu=self._device != "cpu")

    def close(self) -> None:
        """Kill all workers, end the zygote, and return when they are gone."""
        with self._lock:
            self._closing = True
        if self._thread.is_alive():
            self._wake_up()
            self._thread.join()

    # What follows runs in the supervisor's thread, or with its lock held.

    def _supervise(self) -> None:
        try:
            while not self._closing:
                for key, _ in self._selector.select(self._patience()):
                    with self._lock:
                        key.data()
                with self._lock:
                    self._attend(time.monotonic())
        except Exception:
            log.exception("the executor failed")
        finally:
            self._shut_down()

    def _attend(self, now: float) -> None:
        if self._zygote is None and now >= self._restart_at and not self._closing:
            self._start_zygote()
        while self._missing and now >= self._missing[0][0]:
            self._fork(self._missing.popleft()[1])
        for worker in list(self._workers.values()):
            run = worker.run
            if run is not None and run.killed_for is None and now >= run.kill_at:
                self._kill(worker, "cancelled" if run.cancelled else "timeout")
        if now >= self._look_at_memory_at:
            self._look_at_memory()
            self._look_at_memory_at = now + max(_MEMORY_SECONDS, _MEMORY_SHARE * (time.monotonic() - now))
        for run in [run for run in self._waiting if now >= run.kill_at]:
            self._waiting.remove(run)
            self._end(run, "cancelled" if run.cancelled else "failed", None if run.cancelled else _timeout(run))
        self._start_waiting()

    def _patience(self) -> float | None:
        """Seconds until there is something to do even if nothing happens."""
        with self._lock:
            if self._zygote is None:
                return max(0.0, self._restart_at - time.monotonic())
            times = [run.kill_at for run in self._waiting] + [fork_at for fork_at, _ in self._missing]
            times += [worker.run.kill_at for worker in self._workers.values() if worker.run and worker.run.killed_for is None]
            if any(worker.run for worker in self._workers.values()):
                times.append(self._look_at_memory_at)
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _wake_up(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._wake.send(b"\0")

    # The zygote.

    def _start_zygote(self) -> None:
        self._scratch = tempfile.mkdtemp(prefix="foresolve-")
        self._cache_dir.mkdir(parents=True, exist_ok=True)
        here, there = Link.pair()
        environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, "1")
        environment["NUMBA_CACHE_DIR"] = str(self._cache_dir)
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        descriptor = there.socket.fileno()
        self._zygote = subprocess.Popen(
            [sys.executable, "-m", "app.jobs.zygote", str(descriptor)],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
        there.close()
        here.send({"catalogue": self._catalogue, "files_url": self._files_url, "limits": self._limits, "scratch": self._scratch})
        here.socket.setblocking(False)
        self._control = here
        self._selector.register(here.socket, selectors.EVENT_READ, self._hear_zygote)
        for light in self._lanes:
            self._fork(light)

    def _hear_zygote(self) -> None:
        try:
            while self._control is not None:
                self._heed_zygote(self._control.receive())
        except BlockingIOError:
            return
        except Closed:
            self._lose_zygote()

    def _heed_zygote(self, message: Message) -> None:
        header = message.header
        if header["kind"] == "preloaded":
            self._preloaded = True
            if header["threads"] > 1:
                log.warning("the preloaded operations started threads; forked workers may hang", threads=header["threads"])
            return
        if header["kind"] == "exited":
            worker = next((worker for worker in self._workers.values() if worker.pid == header["pid"]), None)
            if worker is not None:
                self._bury(worker, _exit_reason(header["status"]))
            return
        worker = self._workers[header["worker"]]
        if header["kind"] == "forked":
            worker.pid = header["pid"]
            return
        log.error("a worker could not be forked", detail=header["detail"])
        self._bury(worker, "could not be forked")

    def _lose_zygote(self) -> None:
        """Start over: without the zygote nobody would notice the end of a worker, and its workers die with it."""
        if not self._closing:
            log.error("the process that forks workers is gone; starting another")
        assert self._control is not None
        assert self._zygote is not None
        self._selector.unregister(self._control.socket)
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._zygote.wait(2.0)
        self._zygote.kill()
        self._zygote.wait()
        self._zygote, self._control = None, None
        self._restart_at = max(self._restart_at, time.monotonic() + (0.0 if self._preloaded else _RESTART_SECONDS))
        self._preloaded = False
        self._missing.clear()
        for worker in list(self._workers.values()):
            if worker.pid is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(worker.pid, 9)
            self._bury(worker, "ended together with the process that forks workers", replace=False)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _shut_down(self) -> None:
        with self._lock:
            self._waiting.clear()
            for worker in self._workers.values():
                worker.run = None
            if self._zygote is not None:
                assert self._control is not None
                with contextlib.suppress(OSError):
                    self._control.socket.shutdown(socket.SHUT_RDWR)
                self._lose_zygote()
            self._selector.close()
            self._wake.close()
            self._woken.close()

    # Workers.

    def _fork(self, light: bool) -> None:
        if self._control is None:
            return
        here, there = Link.pair()
        here.socket.setblocking(False)
        self._numbers += 1
        worker = _Worker(self._numbers, light, here)
        with contextlib.suppress(Closed, BlockingIOError):  # if the zygote is gone, all workers are made anew soon
            self._control.send({"kind": "fork", "worker": worker.number}, descriptors=[there.socket.fileno()])
        there.close()
        self._workers[worker.number] = worker
        self._selector.register(here.socket, selectors.EVENT_READ, lambda: self._hear(worker))

    def _bury(self, worker: _Worker, reason: str, *, replace: bool = True) -> None:
        """Settle what a dead worker leaves: its last words, its job, and its place."""
        with contextlib.suppress(Closed, BlockingIOError):
            while True:
                self._heed(worker, worker.link.receive())
        run, worker.run, worker.idle = worker.run, None, False
        del self._workers[worker.number]
        with contextlib.suppress(KeyError):
            self._selector.unregister(worker.link.socket)
        worker.link.close()
        if replace and not worker.retired and worker.first_resident:
            self._fork(worker.light)
        elif replace and not worker.retired:  # it never lived; give what is wrong some time
            self._missing.append((time.monotonic() + _RESTART_SECONDS, worker.light))
        if run is None:
            return
        if not run.started and run.killed_for is None and not run.cancelled and run.unnoticed_deaths < _UNNOTICED_DEATHS:
            run.unnoticed_deaths += 1  # the worker was dead before it heard of the job
            self._waiting.appendleft(run)
            return
        self._settle(run, reason)

    def _settle(self, run: _Run, reason: str) -> None:
        if run.killed_for == "timeout":
            self._end(run, "failed", _timeout(run))
        elif run.killed_for == "memory-limit" or (reason == "was killed by signal 9" and out_of_memory_kills() > run.oom_kills):
            self._end(run, "failed", run.problem or problem("memory-limit", "the machine ran out of memory"))
        elif run.cancelled:
            self._end(run, "cancelled", None)
        else:
            self._end(run, "lost", problem("worker-lost", f"the worker {reason} in the middle of the job"))

    def _hear(self, worker: _Worker) -> None:
        try:
            while worker.number in self._workers:
                self._heed(worker, worker.link.receive())
        except BlockingIOError:
            return
        except Closed:
            # It may have closed the link and live on; the zygote makes sure of its end and reports it.
            worker.idle = False
            self._selector.unregister(worker.link.socket)
            self._order_kill(worker)

    def _heed(self, worker: _Worker, message: Message) -> None:
        header, run = message.header, worker.run
        kind = header["kind"]
        if kind == "idle":
            worker.first_resident = header["resident"]
            worker.idle = True
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
            if not run.cancelled:
                run.kill_at = run.deadline + TIME_LIMIT_GRACE
        elif kind == "ended":
            self._finish(worker, run, message)

    def _finish(self, worker: _Worker, run: _Run, message: Message) -> None:
        header = message.header
        result: bytes | None = None
        if header["result"] == "inline":
            result = message.payload
        elif header["result"] == "file":
            result = self._scratch_file(run, "result").read_bytes()
        worker.run = None
        worker.jobs += 1
        if run.killed_for is None:
            if worker.jobs >= _JOBS_PER_WORKER or header["resident"] > worker.first_resident + _GROWTH_BYTES:
                self._retire(worker)
            else:
                worker.idle = True
        self._end(run, header["outcome"], header.get("problem"), result, header.get("traceback"))

    def _retire(self, worker: _Worker) -> None:
        worker.retired = True
        self._fork(worker.light)
        self._order_kill(worker)

    def _end(
        self, run: _Run, outcome: Outcome, trouble: Problem | None, result: bytes | None = None, trace: str | None = None
    ) -> None:
        """Tell of a job's end; whatever it died of, its last snapshot is its result."""
        if result is None:
            with contextlib.suppress(FileNotFoundError):
                result = self._scratch_file(run, "snapshot").read_bytes()
        for name in ("request", "result", "snapshot"):
            self._scratch_file(run, name).unlink(missing_ok=True)
        run.events(Ended(run.spec.id, run.spec.attempt, outcome, result, trouble, tuple(run.files), trace))

    def _start_waiting(self) -> None:
        for run in list(self._waiting):
            worker = self._idle_worker(light=run.spec.light)
            if worker is not None and self._assign(worker, run):
                self._waiting.remove(run)

    def _idle_worker(self, *, light: bool) -> _Worker | None:
        idle = [worker for worker in self._workers.values() if worker.idle and (light or not worker.light)]
        return max(idle, key=lambda worker: worker.light, default=None)

    def _assign(self, worker: _Worker, run: _Run) -> bool:
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
        if len(payload) > INLINE_BYTES:
            request_file = self._scratch_file(run, "request")
            request_file.write_bytes(payload)
            header["payload_file"], payload = str(request_file), b""
        worker.idle = False
        run.oom_kills = out_of_memory_kills()
        try:
            worker.link.send(header, payload)
        except (Closed, BlockingIOError):
            return False
        worker.run = run
        return True

    def _scratch_file(self, run: _Run, name: str) -> Path:
        return Path(self._scratch, f"{run.spec.id}-{run.spec.attempt}.{name}")

    # Ending jobs by force.

    def _request_cancel(self, worker: _Worker, run: _Run, grace: float) -> None:
        if not run.cancelled and grace > 0:
            with contextlib.suppress(Closed, BlockingIOError):
                worker.link.send({"kind": "cancel"})
        run.cancelled = True
        run.kill_at = min(run.kill_at, time.monotonic() + grace)

    def _kill(self, worker: _Worker, reason: Reason) -> None:
        if worker.run is not None:
            worker.run.killed_for = reason
        self._order_kill(worker)

    def _order_kill(self, worker: _Worker) -> None:
        worker.idle = False
        if worker.pid is not None and self._control is not None:
            with contextlib.suppress(Closed, BlockingIOError):
                self._control.send({"kind": "kill", "pid": worker.pid})

    def _look_at_memory(self) -> None:
        busy = {
            worker.pid: worker for worker in self._workers.values() if worker.pid and worker.run and not worker.run.killed_for
        }
        if not busy:
            return
        for pid, tree in trees(pid for pid in busy if pid is not None).items():
            run = busy[pid].run
            assert run is not None
            limit = run.spec.memory_mb * 2**20
            if resident_bytes(tree) > limit and (held := own_bytes(tree)) > limit:
                run.problem = problem(
                    "memory-limit",
                    f"the job held {held >> 20} MiB; its limit is {run.spec.memory_mb} MiB (setting FORESOLVE_JOB_MEMORY_MB, "
                    "or the operation's own)",
                )
                self._kill(busy[pid], "memory-limit")


def _timeout(run: _Run) -> Problem:
    return problem("timeout", f"the job did not end within its time limit of {run.deadline - run.began:.6g} s")


def _exit_reason(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"exited with code {status}"
