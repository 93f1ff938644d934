"""Fixtures of the tests of the HTTP side."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest
import structlog

from app.security import SCOPES, new_key
from tests.service.live import LiveService, live_service

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))

BOOTSTRAP_KEY = "a-bootstrap-key-that-nobody-guesses"


class Keys(NamedTuple):
    """API keys of a service: two owners of everything but `admin`, and one key each of less or more."""

    alice: str
    bob: str
    reader: str
    watcher: str
    admin: str


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service without keys, with workers."""
    with live_service(tmp_path_factory.mktemp("service"), max_time_limit=30, max_body_bytes=4 * 2**20) as live:
        yield live


@pytest.fixture
def client(service: LiveService) -> Iterator[httpx.Client]:
    """Calls the service without keys."""
    with service.client() as client:
        yield client


@pytest.fixture(scope="package")
def keyed_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service with keys and without workers: its jobs stay queued."""
    folder = tmp_path_factory.mktemp("keyed")
    key_file = folder / "key"
    key_file.write_text(BOOTSTRAP_KEY + "\n")
    with live_service(folder, worker=False, bootstrap_key_file=key_file) as live:
        yield live


@pytest.fixture(scope="package")
def keys(keyed_service: LiveService) -> Keys:
    """Keys of the service with keys."""

    def add(owner: str, *scopes: str) -> str:
        key = new_key()
        keyed_service.service.store.add_key(key_id=key.id, owner=owner, name=owner, hash=key.hash, scopes=scopes)
        return key.text

    return Keys(
        alice=add("alice", "solve", "files", "read"),
        bob=add("bob", "solve", "files", "read"),
        reader=add("alice", "read"),
        watcher=add("watcher", "metrics"),
        admin=add("admin", *SCOPES),
    )
