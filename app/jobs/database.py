"""Connections to the job database: SQLite or PostgreSQL, brought to the newest schema before first use."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import alembic.command
import alembic.config
import sqlalchemy
from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import InvalidatePoolError

BUSY_SECONDS = 30
_UNCHECKED_SECONDS = 1.0
_MIGRATION_LOCK = 0x666F7265  # PostgreSQL's advisory locks are numbers; this one spells "fore".


class Database:
    """An engine, and the two ways to use it: :meth:`reading` and :meth:`writing`.

    Notes
    -----
    SQLite has one writer at a time, and its own way to wait for one is to sleep and look again. Writers of one process therefore
    queue on a lock first, which hands over at once.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._reader = engine if self._is_sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writer = engine.execution_options(begin_immediately=True) if self._is_sqlite else engine
        self._turn: contextlib.AbstractContextManager[Any] = threading.Lock() if self._is_sqlite else contextlib.nullcontext()

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect to `url` and migrate; processes that start together migrate one after the other."""
        database = cls(_engine(make_url(url)))
        database._migrate()
        return database

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Statements that change nothing, each seeing the newest state."""
        with self._reader.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction, committed at the end of the block."""
        with self._turn, self._writer.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def writing_lazily(self) -> Iterator[Connection]:
        """One transaction that nobody needs to find again after a crash of the machine; PostgreSQL need not wait for its disk.

        SQLite never waits: what it has written survives the end of the process, and that is all it promises here.
        """
        with self.writing() as connection:
            if not self._is_sqlite:
                connection.execute(text("SET LOCAL synchronous_commit = off"))
            yield connection

    def ping(self) -> None:
        """Raise unless the database answers."""
        with self.reading() as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _migrate(self) -> None:
        config = alembic.config.Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
        with self.writing() as connection:
            if not self._is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, "head")


def _engine(url: URL) -> Engine:
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "postgresql":
        engine = sqlalchemy.create_engine(url, pool_size=10, max_overflow=30)
        _check_idle_connections(engine)
        return engine
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        raise ValueError(f"the job database is a SQLite file or PostgreSQL, not {url.render_as_string()}")
    engine = sqlalchemy.create_engine(url, pool_size=10, max_overflow=50, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_idle_connections(engine: Engine) -> None:
    """Ask a connection whether it still lives only if it was idle for a while; asking each time costs a round trip each time."""

    def note_use(connection: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    def check(connection: Any, record: Any, proxy: Any) -> None:
        if time.monotonic() - record.info.get("used_at", time.monotonic()) <= _UNCHECKED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError(str(error)) from error

    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", check)


def _prepare_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin where _begin_sqlite says so, not where the driver guesses
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that starts as a reader and turns writer can fail at once when another wrote in between; one that starts as a
    # writer waits its turn.
    if connection.get_execution_options().get("begin_immediately"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
