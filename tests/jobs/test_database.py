"""Connections to the job database outlive what becomes of the server's side of them."""

from __future__ import annotations

import contextlib

import pytest
from sqlalchemy import text

from app.jobs.store import JobStore


def test_connections_that_the_server_closed_while_they_were_idle_are_replaced(
    a_postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.database._UNCHECKED_SECONDS", -1.0)
    store, other = JobStore.open(a_postgres_database), JobStore.open(a_postgres_database)
    with contextlib.ExitStack() as held:
        mine = {held.enter_context(store.reading()).execute(text("SELECT pg_backend_pid()")).scalar_one() for _ in range(3)}
    with other.reading() as connection:
        cut = text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = ANY(:mine)")
        assert connection.execute(cut, {"mine": list(mine)}).scalar_one() == 3

    for _ in range(3):
        store.ping()

    store.close()
    other.close()
