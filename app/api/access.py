"""Who may call: keys, their scopes and their limits, checked before a body is read."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi.params import Depends as Dependency
from fastapi.security import HTTPBearer
from sqlalchemy.exc import IntegrityError
from starlette.concurrency import run_in_threadpool

from app.api.refusals import Refusal
from app.api.service import service_of
from app.jobs.keys import Key
from app.jobs.store import JobStore
from app.middleware_request import EXTRA_HEADERS
from app.security import LOCAL, SCOPES, Caller, hash_key, is_valid_stream_token, read_bootstrap_key, stream_token_key
from app.settings import Settings

BEARER = HTTPBearer(scheme_name="key", description="An API key; not needed where no keys exist.", auto_error=False)

_KEYLESS_SECONDS = 1.0
_WINDOW_SECONDS = 60
_STREAM_SCOPES = ("read", "solve")


class Gate:
    """Admits callers.

    Once a key exists the gate stays closed to those without one, revoked or not the key; until then it looks again every second,
    so that a key made by another process closes it.
    """

    def __init__(self, store: JobStore, settings: Settings) -> None:
        self._store = store
        self._requests_per_minute = settings.requests_per_minute
        self._is_keyed = False
        self._looked = float("-inf")
        if settings.bootstrap_key_file is not None:
            _keep_bootstrap_key(store, settings.bootstrap_key_file)
        self.look()

    def is_keyed(self) -> bool:
        """Whether API keys existed when the gate last looked."""
        return self._is_keyed

    def look(self) -> None:
        """Look whether there are keys; blocks on the database."""
        self._is_keyed = self._is_keyed or self._store.any_keys()
        self._looked = time.monotonic()

    async def admit(self, request: Request, *scopes: str) -> Caller:
        """Return who sent the request.

        Raises
        ------
        Refusal
            ``unauthorized``, ``rate-limit``, or ``forbidden`` if the caller has none of `scopes`.
        """
        caller = LOCAL
        if self._is_keyed or self._requests_per_minute or time.monotonic() - self._looked > _KEYLESS_SECONDS:
            caller = await run_in_threadpool(self._identify, request)
        if scopes and not caller.may(*scopes):
            raise Refusal("forbidden", f"this needs a key with the scope {' or '.join(scopes)}")
        return caller

    async def admit_stream(self, request: Request, job_id: str, token: str | None) -> Caller:
        """Return who wants to read a job's events, by key or by a token in the address."""
        if token is None or not self._is_keyed:
            return await self.admit(request, *_STREAM_SCOPES)
        key_id = stream_token_key(token)
        key = None if key_id is None else await run_in_threadpool(self._store.get_key, key_id)
        if key is None or key.revoked_at is not None or not is_valid_stream_token(token, job_id, key.hash):
            raise _unauthorized("the stream token is not valid, or has expired")
        return _caller(key)

    def _identify(self, request: Request) -> Caller:
        if not self._is_keyed:
            self.look()
        caller = self._by_key(request.headers.get("authorization")) if self._is_keyed else LOCAL
        if self._requests_per_minute:
            self._count(request, caller)
        return caller

    def _by_key(self, authorization: str | None) -> Caller:
        if authorization is None:
            raise _unauthorized("there is no API key")
        scheme, _, text = authorization.partition(" ")
        key = self._store.find_key(hash_key(text.strip())) if scheme.lower() == "bearer" else None
        if key is None:
            raise _unauthorized("the API key is not valid", error="invalid_token")
        return _caller(key)

    def _count(self, request: Request, caller: Caller) -> None:
        window, elapsed = divmod(int(time.time()), _WINDOW_SECONDS)
        left = self._requests_per_minute - self._store.count_request(caller.key_id or caller.owner, window)
        reset = str(_WINDOW_SECONDS - elapsed)
        request.scope[EXTRA_HEADERS] = {
            "RateLimit-Limit": str(self._requests_per_minute),
            "RateLimit-Remaining": str(max(0, left)),
            "RateLimit-Reset": reset,
        }
        if left < 0:
            raise Refusal(
                "rate-limit",
                f"more than {self._requests_per_minute} requests in a minute (setting FORESOLVE_REQUESTS_PER_MINUTE)",
                headers={"Retry-After": reset},
            )


def requires(*scopes: str) -> Dependency:
    """Return the dependency of a route that only callers with one of these scopes may use."""

    async def admitted(request: Request, _: Annotated[object, Depends(BEARER)]) -> Caller:
        return await service_of(request).gate.admit(request, *scopes)

    dependency: Dependency = Depends(admitted)
    return dependency


def _keep_bootstrap_key(store: JobStore, path: Path) -> None:
    key = read_bootstrap_key(path)
    # A bootstrap key that was revoked stays so, whatever the file says.
    if store.get_key(key.id) is None:
        # Another process of the service may start at the same moment.
        with contextlib.suppress(IntegrityError):
            store.add_key(key_id=key.id, owner=key.id, name="bootstrap", hash=key.hash, scopes=SCOPES)


def _caller(key: Key) -> Caller:
    return Caller(key.owner, frozenset(key.scopes), key.id)


def _unauthorized(detail: str, *, error: str | None = None) -> Refusal:
    challenge = 'Bearer realm="foresolve"' + (f', error="{error}"' if error else "")
    return Refusal("unauthorized", detail, headers={"WWW-Authenticate": challenge})
