"""Word of what happened to jobs, so that whoever waits need not look at the database again and again.

A notice is a hint: it names a job, and whoever hears it looks at the database, where the truth is. Everybody who listens also looks
now and then unasked, so a notice may be late or lost. That is why notices are sent after the commit, by a thread of their own, and
not within the transaction: PostgreSQL takes transactions that notify through their commit one by one, each with its own wait for
the disk, and many at once would no longer share one.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal, get_args

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

Kind = Literal["queued", "cancel", "news", "end", "missed"]
Listener = Callable[[Kind, str], None]

_CHANNELS: dict[str, Kind] = {f"foresolve_{kind}": kind for kind in get_args(Kind) if kind != "missed"}
_SEND = "SELECT pg_notify(channel, job_id) FROM unnest(%s::text[], %s::text[]) AS notices(channel, job_id)"
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 10.0
_CHECK_SECONDS = 30.0
_CLOSE_SECONDS = 2.0

log = structlog.get_logger("foresolve.jobs")


class Notices:
    """Notices within this process, which is all there is with SQLite.

    Examples
    --------
    >>> notices = Notices()
    >>> notices.subscribe(lambda kind, job_id: print(kind, job_id), job_id="job_1")
    >>> notices.tell(news=["job_1", "job_2"], end=["job_1"])
    news job_1
    end job_1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str | None, list[Listener]] = {}

    def subscribe(self, listener: Listener, job_id: str | None = None) -> None:
        """Have `listener` called with what happens to a job, or to any. It must return at once, and be ready for any thread.

        Kinds of notices: the job was *queued*; its *cancel* was asked for; it has *news*, a further event; it came to its *end*; or,
        with no job's name, notices may have been *missed*.
        """
        with self._lock:
            self._listeners.setdefault(job_id, []).append(listener)

    def unsubscribe(self, listener: Listener, job_id: str | None = None) -> None:
        """Call `listener` no more."""
        with self._lock:
            listeners = self._listeners.get(job_id, [])
            if listener in listeners:
                listeners.remove(listener)
            if not listeners:
                self._listeners.pop(job_id, None)

    def tell(
        self,
        *,
        queued: Collection[str] = (),
        cancel: Collection[str] = (),
        news: Collection[str] = (),
        end: Collection[str] = (),
    ) -> None:
        """Tell everybody what happened to these jobs; call it after the commit."""
        happened: dict[Kind, Collection[str]] = {"queued": queued, "cancel": cancel, "news": news, "end": end}
        notices = [(kind, job_id) for kind, job_ids in happened.items() for job_id in job_ids]
        for kind, job_id in notices:
            self._deliver(kind, job_id)
        if notices:
            self._send(notices)

    def close(self) -> None:
        """Send what is still to be sent, and end."""

    def _deliver(self, kind: Kind, job_id: str) -> None:
        with self._lock:
            listeners = [*self._listeners.get(job_id, ()), *self._listeners.get(None, ())]
        _call(listeners, kind, job_id)

    def _send(self, notices: Iterable[tuple[Kind, str]]) -> None:
        """Pass notices on to other processes."""


class PostgresNotices(Notices):
    """Notices between all processes on one PostgreSQL database, by LISTEN and NOTIFY.

    One thread has one connection for both directions. It starts with the first notice or listener, and connects again when the
    connection breaks.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._outbox: dict[tuple[Kind, str], None] = {}  # a set that keeps its order
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def subscribe(self, listener: Listener, job_id: str | None = None) -> None:
        super().subscribe(listener, job_id)
        self._start()

    def close(self) -> None:
        with self._lock:
            self._closing.set()
            thread = self._thread
        if thread is not None:
            self._wake.send(b"c")
            thread.join(_CLOSE_SECONDS)

    def _send(self, notices: Iterable[tuple[Kind, str]]) -> None:
        with self._lock:
            is_first = not self._outbox
            self._outbox.update(dict.fromkeys(notices))
        self._start()
        if is_first:
            self._wake.send(b"w")

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._serve, name="notices", daemon=True)
                self._thread.start()

    # The thread.

    def _serve(self) -> None:
        faults = (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error, OSError)
        pause = _FIRST_PAUSE
        while not self._closing.is_set():
            try:
                with contextlib.closing(self._connect()) as connection:
                    pause = _FIRST_PAUSE
                    self._deliver_missed()
                    self._relay(connection)
            except faults as error:
                if pause == _FIRST_PAUSE:
                    log.warning("no notices from other processes; the database is looked at regularly", error=str(error))
                self._take_outbox()
                self._closing.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _connect(self) -> Any:
        pooled = self._engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()
        connection.autocommit = True
        for channel in _CHANNELS:
            connection.execute(f"LISTEN {channel}")
        return connection

    def _relay(self, connection: Any) -> None:
        own = connection.info.backend_pid
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                if outbox := self._take_outbox():
                    kinds, job_ids = zip(*outbox, strict=True)
                    connection.execute(_SEND, ([f"foresolve_{kind}" for kind in kinds], list(job_ids)))
                for notice in connection.notifies(timeout=0):
                    if notice.pid != own:
                        self._deliver(_CHANNELS[notice.channel], notice.payload)
                if self._closing.is_set():
                    return
                if not selector.select(_CHECK_SECONDS):
                    connection.execute("SELECT 1")  # a connection that broke silently is found out

    def _take_outbox(self) -> list[tuple[Kind, str]]:
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(4096)
        with self._lock:
            outbox = list(self._outbox)
            self._outbox.clear()
        return outbox

    def _deliver_missed(self) -> None:
        with self._lock:
            listeners = [listener for several in self._listeners.values() for listener in several]
        _call(listeners, "missed", "")


def notices_of(engine: Engine) -> Notices:
    """Return what carries the notices of a database."""
    return PostgresNotices(engine) if engine.dialect.name == "postgresql" else Notices()


def _call(listeners: Iterable[Listener], kind: Kind, job_id: str) -> None:
    for listener in listeners:
        try:
            listener(kind, job_id)
        except Exception:
            log.exception("a listener failed", job_id=job_id)
