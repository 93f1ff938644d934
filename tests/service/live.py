"""Services that listen on a free port of this machine for as long as a test needs them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson

from app.api.service import Service
from app.main import Server, create_app
from app.settings import Settings

CATALOGUE = "tests.service.operations:CATALOGUE"
DEADLINE_SECONDS = 60.0


def until(condition: Callable[[], Any], *, seconds: float = DEADLINE_SECONDS) -> Any:
    """Return the first true value of `condition`; fail when there is none in time."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (value := condition()):
        assert time.monotonic() < deadline, "the condition did not come true in time"
        pause.wait(0.02)
    return value


class LiveService:
    """A service that listens, and ways to call it."""

    def __init__(self, server: Server, service: Callable[[], Service]) -> None:
        self.server = server
        self._service = service

    @property
    def url(self) -> str:
        return self.server.urls[0]

    @property
    def service(self) -> Service:
        return self._service()

    def client(self, key: str | None = None, **headers: str) -> httpx.Client:
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=DEADLINE_SECONDS)


@contextmanager
def live_service(folder: Path, *, worker: bool = True, **values: Any) -> Iterator[LiveService]:
    """Serve the tests' catalogue in a thread of this process."""
    settings = Settings(
        **{"data_dir": folder, "port": 0, "catalogue": CATALOGUE, "workers": 2, "grace_seconds": 0, "log_level": "ERROR"} | values
    )
    app = create_app(settings, worker=worker)
    server = Server(app, settings)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        live = LiveService(server, lambda: app.state.service)
        until(lambda: server.started or not thread.is_alive())
        if worker:
            with live.client() as client:
                # A service whose kernels were never compiled compiles them first.
                until(lambda: client.get("/health/ready").status_code == 200, seconds=300)
        yield live
    finally:
        server.should_exit = True
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()


def read(lines: Iterator[str]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number, kind and data of the events in the lines of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            if "data" in fields:
                yield int(fields["id"]), fields["event"], orjson.loads(fields["data"])
            fields = {}


def watch(client: httpx.Client, path: str, count: int | None = None, **headers: str) -> list[tuple[int, str, dict[str, Any]]]:
    """Return the first `count` events of a stream, or all."""
    found = []
    with client.stream(
        "GET", f"{path}/events", headers={key.replace("_", "-"): value for key, value in headers.items()}
    ) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        for event in read(stream.iter_lines()):
            found.append(event)
            if len(found) == count:
                break
    return found
