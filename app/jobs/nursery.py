"""The worker processes of this machine, from their birth to the report of their death.

Workers are forked by the :mod:`zygote <app.jobs.zygote>` and killed by it, each with its whole process group. A worker counts as dead
only when the zygote says so. Where the zygote itself dies, all its workers do, and another one is started.

Nothing here is safe to call from several threads; the owner's lock is.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from app.jobs.link import Closed, Link, Message

_RESTART_SECONDS = 1.0
_ZYGOTE_END_SECONDS = 2.0
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

log = structlog.get_logger("foresolve.jobs")


@dataclass(eq=False)
class WorkerProcess:
    """A process that runs jobs; `pid` is None until it is forked."""

    number: int
    light: bool
    link: Link
    pid: int | None = None
    resident: int = 0  # bytes when it was new; 0 until it has spoken
    retired: bool = False

    def send(self, header: dict[str, Any], payload: bytes = b"") -> bool:
        """Send a message; False if the worker cannot hear it any more."""
        try:
            self.link.send(header, payload)
        except (Closed, BlockingIOError):
            return False
        return True


class Nursery:
    """Keeps one worker alive for every lane.

    Parameters
    ----------
    selector : selectors.BaseSelector
        Its keys' data are called when there is something to read.
    configuration : mapping
        What the zygote is told; its `scratch` folder is added.
    cache_dir : pathlib.Path
        Writable folder for compiled kernels.
    lanes : sequence of bool
        For every worker whether it is kept for light jobs.
    on_message : callable
        Receives what a worker says.
    on_death : callable
        Receives a worker that is no more, and what became of it.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        configuration: Mapping[str, Any],
        cache_dir: Path,
        lanes: Sequence[bool],
        *,
        on_message: Callable[[WorkerProcess, Message], None],
        on_death: Callable[[WorkerProcess, str], None],
    ) -> None:
        self.preloaded = False
        self.scratch = Path()
        self._selector = selector
        self._configuration = configuration
        self._cache_dir = cache_dir
        self._lanes = lanes
        self._on_message = on_message
        self._on_death = on_death
        self._workers: dict[int, WorkerProcess] = {}
        self._missing: deque[tuple[float, bool]] = deque()
        self._numbers = 0
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: Link | None = None
        self._restart_at = 0.0

    def attend(self, now: float) -> None:
        """Start what is missing and due."""
        if self._zygote is None and now >= self._restart_at:
            self._start_zygote()
        while self._missing and now >= self._missing[0][0]:
            self._fork(self._missing.popleft()[1])

    def due(self) -> float | None:
        """Return when :meth:`attend` will have something to do even if nothing happens."""
        if self._zygote is None:
            return self._restart_at
        return self._missing[0][0] if self._missing else None

    def kill(self, worker: WorkerProcess) -> None:
        """Have a worker killed with all that it started; its death is told when it is dead."""
        if worker.pid is not None and self._control is not None:
            with contextlib.suppress(Closed, BlockingIOError):
                self._control.send({"kind": "kill", "pid": worker.pid})

    def retire(self, worker: WorkerProcess) -> None:
        """Put a fresh worker in the place of one that has served long enough."""
        worker.retired = True
        self._fork(worker.light)
        self.kill(worker)

    def close(self) -> None:
        """Kill all workers and the zygote, and return when they are gone; no death is told."""
        self._on_death = lambda worker, reason: None
        self.clear()

    def clear(self) -> None:
        """Kill all workers and the zygote; :meth:`attend` starts anew."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.socket.shutdown(socket.SHUT_RDWR)
            self._lose_zygote()

    # The zygote.

    def _start_zygote(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="foresolve-"))
        self._cache_dir.mkdir(parents=True, exist_ok=True)
        here, there = Link.pair()
        environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, "1")
        environment["JE_ARROW_MALLOC_CONF"] = (
            "background_thread:false"  # Arrow's allocator: a forked worker would lack its thread
        )
        environment["NUMBA_CACHE_DIR"] = str(self._cache_dir)
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        descriptor = there.socket.fileno()
        self._zygote = subprocess.Popen(
            [sys.executable, "-m", "app.jobs.zygote", str(descriptor), str(os.getpid())],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
        there.close()
        here.send({**self._configuration, "scratch": str(self.scratch)})
        here.socket.setblocking(False)
        self._control = here
        self._selector.register(here.socket, selectors.EVENT_READ, self._hear_zygote)
        for light in self._lanes:
            self._fork(light)

    def _hear_zygote(self) -> None:
        try:
            while self._control is not None:
                self._heed_zygote(self._control.receive().header)
        except BlockingIOError:
            return
        except Closed:
            log.error("the process that forks workers is gone; starting another")
            self._lose_zygote()

    def _heed_zygote(self, header: Mapping[str, Any]) -> None:
        if header["kind"] == "preloaded":
            self.preloaded = True
            if header["threads"] > 1:
                log.warning("the preloaded operations started threads; forked workers may hang", threads=header["threads"])
        elif header["kind"] == "forked":
            self._workers[header["worker"]].pid = header["pid"]
        elif header["kind"] == "unforked":
            log.error("a worker could not be forked", detail=header["detail"])
            self._bury(self._workers[header["worker"]], "could not be forked")
        elif header["kind"] == "exited":
            worker = next((worker for worker in self._workers.values() if worker.pid == header["pid"]), None)
            if worker is not None:
                self._bury(worker, _exit_reason(header["status"]))

    def _lose_zygote(self) -> None:
        """Settle the end of the zygote. Its workers die with it, but only it could tell what they had started."""
        assert self._control is not None
        assert self._zygote is not None
        self._selector.unregister(self._control.socket)
        self._control.close()
        if self.preloaded:  # before, it hears nothing and has no children to take along
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._zygote.wait(_ZYGOTE_END_SECONDS)
        self._zygote.kill()
        self._zygote.wait()
        self._zygote, self._control = None, None
        self._restart_at = time.monotonic() + (0.0 if self.preloaded else _RESTART_SECONDS)
        self.preloaded = False
        self._missing.clear()
        for worker in list(self._workers.values()):
            if worker.pid is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(worker.pid, signal.SIGKILL)
            worker.retired = True
            self._bury(worker, "ended together with the process that forks workers")
        shutil.rmtree(self.scratch, ignore_errors=True)

    # Workers.

    def _fork(self, light: bool) -> None:
        if self._control is None:
            return
        here, there = Link.pair()
        here.socket.setblocking(False)
        self._numbers += 1
        worker = WorkerProcess(self._numbers, light, here)
        with contextlib.suppress(Closed, BlockingIOError):  # if the zygote is gone, all workers are made anew soon
            self._control.send({"kind": "fork", "worker": worker.number}, descriptors=[there.socket.fileno()])
        there.close()
        self._workers[worker.number] = worker
        self._selector.register(here.socket, selectors.EVENT_READ, lambda: self._hear(worker))

    def _hear(self, worker: WorkerProcess) -> None:
        try:
            while worker.number in self._workers:
                self._heed(worker, worker.link.receive())
        except BlockingIOError:
            return
        except Closed:
            # It may have closed the link and live on; the zygote makes sure of its end and reports it.
            self._selector.unregister(worker.link.socket)
            self.kill(worker)

    def _heed(self, worker: WorkerProcess, message: Message) -> None:
        if not worker.resident:
            worker.resident = message.header["resident"]
        self._on_message(worker, message)

    def _bury(self, worker: WorkerProcess, reason: str) -> None:
        """Hear a dead worker's last words, tell of its death, and see to its place."""
        with contextlib.suppress(Closed, BlockingIOError):
            while True:
                self._heed(worker, worker.link.receive())
        del self._workers[worker.number]
        with contextlib.suppress(KeyError):
            self._selector.unregister(worker.link.socket)
        worker.link.close()
        if worker.retired:
            pass
        elif worker.resident:
            self._fork(worker.light)
        else:  # it never lived; give what is wrong some time
            self._missing.append((time.monotonic() + _RESTART_SECONDS, worker.light))
        self._on_death(worker, reason)


def _exit_reason(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"exited with code {status}"
