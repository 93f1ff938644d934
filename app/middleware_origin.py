"""Refuses requests that a web page or another site made a browser send.

A service without keys trusts whoever reaches it on this machine, and a browser reaches it on behalf of any page. Three checks keep
pages out: the Host header must name this machine (against DNS rebinding), an Origin header must name the service itself or an origin
that the settings allow, and browsers that say a request crosses sites are believed. With keys a page has nothing to ride on, and only
the Host names that the settings list are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.refusals import Refusal, problem_response
from app.security import is_loopback

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_PROBES = frozenset({"/health/live", "/health/ready"})


class OriginGuard:
    """ASGI middleware that answers 421 to a foreign Host and 403 to a foreign Origin.

    Parameters
    ----------
    is_keyed : callable
        Whether API keys exist.
    allowed_hosts, cors_origins : sequence of str
        From the settings.
    """

    def __init__(
        self, app: ASGIApp, *, is_keyed: Callable[[], bool], allowed_hosts: Sequence[str], cors_origins: Sequence[str]
    ) -> None:
        self.app = app
        self.is_keyed = is_keyed
        self.allowed_hosts = frozenset(host.lower() for host in allowed_hosts)
        self.cors_origins = frozenset(origin.rstrip("/").lower() for origin in cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(scope)
            except Refusal as refusal:
                answer = problem_response(refusal.document(), instance=scope["path"])
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if self.is_keyed():
            # Probes of a container platform address the service by an IP that no setting can know.
            if self.allowed_hosts and scope["path"] not in _PROBES and not self._is_allowed(host):
                raise _foreign_host(host)
            return
        if not is_loopback(host_name(host)) and not self._is_allowed(host):
            raise _foreign_host(host)
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin.lower(), host):
            raise Refusal("foreign-origin", f"requests from {origin[:200]!r} are refused")
        if (
            origin is None
            and scope["method"] not in _SAFE_METHODS
            and headers.get("sec-fetch-site") in ("cross-site", "same-site")
        ):
            raise Refusal("foreign-origin", "requests from other web sites are refused")

    def _is_allowed(self, host: str) -> bool:
        return host in self.allowed_hosts or host_name(host) in self.allowed_hosts

    def _is_own(self, origin: str, host: str) -> bool:
        return origin in self.cors_origins or origin in (f"http://{host}", f"https://{host}")


def host_name(host: str) -> str:
    """Return a Host header's name without the port.

    Examples
    --------
    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("example.org")
    ('localhost', '[::1]', 'example.org')
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _foreign_host(host: str) -> Refusal:
    return Refusal("foreign-host", f"this service does not answer as {host[:200]!r}")
