"""The zygote: a process that has everything imported and compiled, and forks a worker whenever the executor asks for one.

A fork takes milliseconds where a fresh interpreter with its imports takes seconds, so a worker that crashed or was killed is soon
replaced. The zygote has one thread, or its forks would inherit locks that nobody opens again.

It is also the one who knows its children: it kills those that the executor names, tells how each ended, and when the executor is
gone, even by kill -9, it kills all of them with everything they started, and ends.

Run as ``python -m app.jobs.zygote DESCRIPTOR PID``: one end of a :class:`~app.jobs.link.Link`, and who has the other.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import os
import selectors
import shutil
import signal
import socket
import sys
from typing import Any

import psutil

from app.catalogue import load_catalogue
from app.jobs.link import Closed, Link
from app.jobs.runner import Surroundings, Worker

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_CHECK_SECONDS = 1.0


def main() -> None:
    """Preload, then serve until the executor is gone."""
    control = Link(socket.socket(fileno=int(sys.argv[1])))
    control.socket.set_inheritable(False)
    parent = int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM):
        # Whoever stops a whole process group stops the server too, and that lets running jobs finish. A handler that does nothing
        # is not inherited by programs that a job starts, as ignoring the signal would be.
        signal.signal(number, lambda *_: None)
    with contextlib.suppress(Closed):
        configuration = control.receive().header
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what a dead worker leaves behind becomes ours to end
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # while it is deaf; later it has children to take along
        if os.getppid() != parent:
            return
        surroundings = _preload(configuration)
        _prctl(_PR_SET_PDEATHSIG, 0)
        control.send({"kind": "preloaded", "threads": psutil.Process().num_threads()})
        Zygote(control, surroundings, parent).serve()


class Zygote:
    """Forks workers, kills them, and tells how they ended."""

    def __init__(self, control: Link, surroundings: Surroundings, parent: int) -> None:
        self._control = control
        self._surroundings = surroundings
        self._parent = parent
        self._workers: set[int] = set()

    def serve(self) -> None:
        """Answer the executor until it is gone."""
        wakeup, self._signalled = socket.socketpair()
        for end in (wakeup, self._signalled):
            end.setblocking(False)
        signal.set_wakeup_fd(self._signalled.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._own = [wakeup, self._signalled]
        selector = selectors.DefaultSelector()
        selector.register(self._control.socket, selectors.EVENT_READ, self._answer)
        selector.register(wakeup, selectors.EVENT_READ, lambda: wakeup.recv(4096))
        self._selector = selector
        try:
            # The parent is looked at too, in case some other process holds a copy of its end of the link.
            while os.getppid() == self._parent:
                for key, _ in selector.select(_PARENT_CHECK_SECONDS):
                    key.data()
                self._reap()
        except Closed:
            pass
        finally:
            self._end_all()
            shutil.rmtree(self._surroundings.scratch, ignore_errors=True)

    def _answer(self) -> None:
        message = self._control.receive()
        if message.header["kind"] == "kill":
            if message.header["pid"] in self._workers:
                _kill_group(message.header["pid"])
            return
        (descriptor,) = message.descriptors
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(descriptor)
            self._control.send({"kind": "unforked", "worker": message.header["worker"], "detail": str(error)})
            return
        if pid == 0:
            self._become_worker(descriptor, zygote)
        os.close(descriptor)
        self._workers.add(pid)
        self._control.send({"kind": "forked", "worker": message.header["worker"], "pid": pid})

    def _become_worker(self, descriptor: int, zygote: int) -> None:
        status = 70  # EX_SOFTWARE
        try:
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != zygote:  # it died before it could be watched
                return
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            self._selector.close()
            for end in self._own:
                end.close()
            _prefer_for_out_of_memory()
            Worker(Link(socket.socket(fileno=descriptor)), self._surroundings).serve()
            status = 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            pid = ended.si_pid
            is_worker = pid in self._workers
            if is_worker:
                # As long as the leader is not waited for, its number cannot name another group.
                _kill_group(pid)
                self._workers.discard(pid)
            _, status = os.waitpid(pid, 0)
            if is_worker:
                self._end_orphans()
                self._control.send({"kind": "exited", "pid": pid, "status": os.waitstatus_to_exitcode(status)})

    def _end_orphans(self) -> None:
        for child in psutil.Process().children():
            if child.pid not in self._workers:
                with contextlib.suppress(psutil.Error):
                    child.kill()

    def _end_all(self) -> None:
        for pid in self._workers:
            _kill_group(pid)
        self._workers.clear()
        with contextlib.suppress(ChildProcessError):
            while True:
                self._end_orphans()
                os.waitpid(-1, 0)


def _preload(configuration: dict[str, Any]) -> Surroundings:
    faulthandler.enable()
    catalogue = load_catalogue(configuration["catalogue"])
    for operation in catalogue.values():
        if operation.warm is not None:
            operation.warm()
    surroundings = Surroundings(
        catalogue=catalogue,
        files_url=configuration["files_url"],
        limits=configuration["limits"],
        scratch=configuration["scratch"],
    )
    # Nothing that exists now will be collected, and so its pages stay shared with every worker.
    gc.collect()
    gc.freeze()
    return surroundings


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # the second for a worker that was forked this moment and leads no group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _prefer_for_out_of_memory() -> None:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as adjustment:
        adjustment.write("500")


if __name__ == "__main__":
    main()
