"""HTTP connections that cannot be held, or made to hold much, before a request is there to be checked.

Uvicorn bounds neither the length of a request's head nor the time it takes, and keeps a connection whose peer goes on sending a body
that was answered already. All three cost an attacker nothing and need no key.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.api.refusals import MEDIA_TYPE, Refusal, with_path_as_type

HEAD_SECONDS = 30.0
LARGEST_HEAD = 64 * 1024


class Connection(HttpToolsProtocol):
    """One connection: a request line and headers arrive within `HEAD_SECONDS` after the last answer, in about `LARGEST_HEAD` bytes.

    The bound on bytes covers whatever is neither head nor body too, such as trailers: it counts what arrives without bringing the
    request any further.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._idle_bytes = 0
        self._head_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._head_has_come()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless too much has led to nothing."""
        self._idle_bytes += len(data)
        super().data_received(data)
        if self._idle_bytes > LARGEST_HEAD and not self.transport.is_closing():
            self._refuse("head-too-large", f"the request line and headers are longer than {LARGEST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Answer the request."""
        self._idle_bytes = 0
        self._head_has_come()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        self._idle_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._idle_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, if it is not there yet."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._await_head()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse("malformed-request", "this is not an HTTP/1.1 request")

    def _await_head(self) -> None:
        self._head_has_come()
        self._head_deadline = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _head_has_come(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _refuse(self, slug: str, detail: str) -> None:
        document = with_path_as_type(Refusal(slug, detail).document())
        content = orjson.dumps(document)
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(content)), "Connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(STATUS_LINE[document["status"]] + lines.encode() + b"\r\n" + content)
        self.transport.close()
