"""A service for the length of a block, in a process of its own on a free port: for demos, benchmarks and tests."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from app.client import Client
from app.settings import default_data_dir
from solvers.operation import ForesolveError

ROOT = Path(__file__).resolve().parent.parent
SECONDS_TO_START = 600.0
SECONDS_TO_STOP = 60.0
LOOK_SECONDS = 0.1


@contextlib.contextmanager
def own_service(settings: Mapping[str, str] | None = None, *, arguments: Sequence[str] = ()) -> Iterator[str]:
    """Run ``foresolve serve`` with a data folder of its own, and give its URL once it is ready.

    Parameters
    ----------
    settings : mapping of str to str, optional
        Environment variables; all others that begin with ``FORESOLVE_`` are left out. Compiled kernels are kept where those of a
        lasting service are, or in ``NUMBA_CACHE_DIR``, so that only the first start compiles them.
    arguments : sequence of str
        Further arguments of ``foresolve serve``.

    Raises
    ------
    RuntimeError
        If the service does not become ready; says what it wrote.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="foresolve-") as folder:
        kernels = os.environ.get("NUMBA_CACHE_DIR") or str(default_data_dir() / "cache")
        own = {"FORESOLVE_DATA_DIR": folder, "FORESOLVE_KERNELS_DIR": kernels, **(settings or {})}
        command = ["serve", "--host", "127.0.0.1", "--port", str(port), *arguments]
        with running(command, own, log=Path(folder) / "service.log") as process:
            url = f"http://127.0.0.1:{port}"
            with Client(url, retries=0, timeout=5) as client:
                wait_for(lambda: is_healthy(client), process)
            yield url


class Process:
    """A running ``foresolve`` and the file it writes to."""

    def __init__(self, popen: subprocess.Popen[bytes], log: Path) -> None:
        self.popen = popen
        self.log = log


@contextlib.contextmanager
def running(arguments: Sequence[str], settings: Mapping[str, str], *, log: Path) -> Iterator[Process]:
    """Run a command of ``foresolve`` until the block ends, then have it stop in good order."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FORESOLVE_")}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    with log.open("wb") as output:
        popen = _start(arguments, {**clean, "PYTHONPATH": path, **settings}, output)
    try:
        yield Process(popen, log)
    finally:
        popen.terminate()
        try:
            popen.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()
            raise


def wait_for(condition: Callable[[], bool], process: Process, seconds: float = SECONDS_TO_START) -> None:
    """Return once the condition holds; :class:`RuntimeError` if the process ends before, or time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if process.popen.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"foresolve did not become ready; it wrote:\n{process.log.read_text(errors='replace')}")
        time.sleep(LOOK_SECONDS)


def is_healthy(client: Client, *, live: bool = False) -> bool:
    """Whether a service says that it is ready, or (`live`) answers at all."""
    try:
        client.health(live=live)
    except ForesolveError:
        return False
    return True


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(arguments: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.Popen(command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
