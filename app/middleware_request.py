"""What every request gets, whatever becomes of it: an id, safe headers, a log line, a metric, and no stack trace.

The middlewares are plain ASGI, so that streams pass through unbuffered.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from urllib.parse import quote

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.refusals import problem_response
from solvers.operation import internal_error

REQUEST_ID = "X-Request-Id"
EXTRA_HEADERS = "foresolve.headers"
"""Where in the ASGI scope inner layers leave headers for the response, whichever it will be."""

_SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_CLIENT_LEFT = 499
_UNMATCHED = "unmatched"
_PROBES = frozenset({"/health/live", "/health/ready", "/metrics"})

_SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

log = structlog.get_logger("foresolve.http")

Observer = Callable[[str, str, int, float], None]


class RequestRecord:
    """ASGI middleware that gives a request its id and records what came of it.

    Parameters
    ----------
    observe : callable
        Receives method, route, status and seconds of every request.
    """

    def __init__(self, app: ASGIApp, *, observe: Observer) -> None:
        self.app = app
        self.observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        status = _CLIENT_LEFT
        started = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers[REQUEST_ID] = request_id
                for name, value in {**scope.get(EXTRA_HEADERS, {}), **_SAFE_HEADERS}.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/v1"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            self.observe(scope["method"], getattr(scope.get("route"), "path", _UNMATCHED), status, seconds)
            # Probes come every few seconds and say nothing as long as all is well.
            say = log.debug if scope["path"] in _PROBES and status < 500 else log.info
            say("request", method=scope["method"], path=_logged_path(scope), status=status, seconds=round(seconds, 4))


class Incidents:
    """ASGI middleware that turns an unforeseen exception into a problem with an incident's id; the log has the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except ClientDisconnect:
            return
        except Exception:
            problem = internal_error()
            log.exception("unforeseen fault", incident=problem["incident"], path=_logged_path(scope))
            if has_started:
                # The status is out; cutting the connection is the one way left to say that the body is not whole.
                raise
            await problem_response(problem, instance=scope["path"])(scope, receive, send)


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE_REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return uuid.uuid4().hex


def _logged_path(scope: Scope) -> str:
    # As it came, percent-encoded: a decoded path could hold line breaks and forge a line.
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    return str(raw.decode("ascii", "replace"))
