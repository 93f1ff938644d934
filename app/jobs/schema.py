"""Tables of the job database, for SQLite and PostgreSQL alike.

Times are Unix seconds by the database's own clock (:class:`now`), so that hosts with different clocks agree on a lease.
"""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    false,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class Json(TypeDecorator[Any]):
    """A JSON value kept as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else orjson.dumps(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else orjson.loads(value)


class now(FunctionElement[float]):
    """The database's clock."""

    type = Double()
    inherit_cache = True


@compiles(now, "sqlite")
def _now_sqlite(element: now, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(now, "postgresql")
def _now_postgresql(element: now, compiler: Any, **options: Any) -> str:
    # now() is the start of the transaction, which may have waited for a lock.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS double precision)"


metadata = MetaData()

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("seed", BigInteger),
    Column("light", Boolean, nullable=False, server_default=false()),
    Column("gpu", String(16), nullable=False),
    Column("time_limit", Double, nullable=False),
    Column("memory_mb", Integer, nullable=False),
    Column("request", LargeBinary),
    Column("request_file", Text),
    Column("request_hash", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("max_attempts", Integer, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, server_default=false()),
    Column("has_checkpoint", Boolean, nullable=False, server_default=false()),
    Column("last_seq", Integer, nullable=False, server_default="0"),
    Column("lease_owner", Text),
    Column("lease_expires_at", Double),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("progress", Json),
    Column("problem", Json),
    Column("result", LargeBinary),
)

_QUEUED = text("status = 'queued'")
_RUNNING = text("status = 'running'")


def _partial(name: str, *columns: Any, where: Any) -> Index:
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


Index("jobs_by_owner", jobs.c.owner, jobs.c.id)
Index("jobs_by_idempotency_key", jobs.c.owner, jobs.c.idempotency_key, unique=True)
Index("jobs_by_end", jobs.c.finished_at)
_partial("jobs_by_request_file", jobs.c.request_file, where=text("request_file IS NOT NULL"))
_partial("jobs_queued", jobs.c.owner, jobs.c.id, where=_QUEUED)
_partial("jobs_queued_light", jobs.c.owner, jobs.c.id, where=text("status = 'queued' AND light"))
_partial("jobs_leased", jobs.c.lease_owner, jobs.c.lease_expires_at, where=_RUNNING)

job_events = Table(
    "job_events",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("data", Json, nullable=False),
    Column("created_at", Double, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("served_at", Double, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("process_started_at", Double, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("expires_at", Double, nullable=False),
)

files = Table(
    "files",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("job_id", String(40)),
    Column("created_at", Double, nullable=False),
)
Index("files_by_owner", files.c.owner, files.c.id)
Index("files_by_job", files.c.job_id)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False, unique=True),
    Column("scopes", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
)

usage = Table(
    "usage",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("requests", Integer, nullable=False),
)
