"""Reading of request bodies: in pieces, decompressed, and never more than is allowed.

A body is refused as soon as it is known to be too large: by its `Content-Length`, or after the piece that crosses the limit, so that
a small bomb of compressed zeros costs no more than the limit.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Protocol

import zstandard
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from app.api.refusals import Refusal

ENCODINGS = "gzip, zstd"
GRACE_SECONDS = 30.0
LEAST_BYTES_PER_SECOND = 16 * 1024

# A zstd block of four bytes may stand for 128 KiB, so what one step can yield is bounded by feeding it little.
_ZSTD_STEP = 512
# RFC 9659: a content coding must not need a window larger than this.
_ZSTD_WINDOW = 8 * 2**20


async def decoded(request: Request, *, limit: int, setting: str) -> AsyncIterator[bytes]:
    """Yield the decompressed body of a request in pieces.

    Parameters
    ----------
    limit : int
        Most bytes, compressed and decompressed.
    setting : str
        Name of the setting that holds the limit, for the problem's detail.

    Raises
    ------
    Refusal
        ``too-large``, ``unsupported-encoding``, ``malformed-body`` or ``request-timeout``.
    """
    decoder = _decoder(request.headers.get("content-encoding", ""))
    if _declared_length(request) > limit:
        raise _too_large(limit, setting)
    received = produced = 0
    async for piece in _received(request):
        received += len(piece)
        if received > limit:
            raise _too_large(limit, setting)
        if decoder is None:
            yield piece
            continue
        try:
            output = await run_in_threadpool(decoder.decode, piece, limit - produced)
        except (zlib.error, zstandard.ZstdError):
            raise Refusal("malformed-body", "the compressed body is corrupt") from None
        produced += len(output)
        if produced > limit:
            raise _too_large(limit, setting)
        if output:
            yield output
    if decoder is not None and not decoder.complete:
        raise Refusal("malformed-body", "the compressed body is cut short")


async def _received(request: Request) -> AsyncIterator[bytes]:
    # A body must keep up an average rate after a grace period; a limit on single reads would let one byte a minute pass.
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GRACE_SECONDS
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                message = await request.receive()
        except TimeoutError:
            raise Refusal(
                "request-timeout",
                f"a body must arrive at {LEAST_BYTES_PER_SECOND} bytes per second on average",
                headers={"Connection": "close"},
            ) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        deadline += len(piece) / LEAST_BYTES_PER_SECOND
        if piece:
            yield piece
        if not message.get("more_body", False):
            return


def _declared_length(request: Request) -> int:
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isascii() and declared.isdigit() else 0


def _too_large(limit: int, setting: str) -> Refusal:
    return Refusal("too-large", f"the body is larger than {limit} bytes (setting {setting})", limit=limit)


class Decoder(Protocol):
    """Decompresses a stream."""

    def decode(self, piece: bytes, room: int) -> bytes:
        """Return what `piece` yields, but stop soon after more than `room` bytes."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the stream may end here."""
        ...


def _decoder(encoding: str) -> Decoder | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return Gzip()
        case "zstd":
            return Zstd()
    raise Refusal("unsupported-encoding", f"the body may be encoded as {ENCODINGS}", headers={"Accept-Encoding": ENCODINGS})


class Gzip:
    """Members of a gzip stream, one after the other."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False

    @property
    def complete(self) -> bool:
        return self._member.eof or not self._begun

    def decode(self, piece: bytes, room: int) -> bytes:
        output = bytearray()
        while piece and len(output) <= room:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=31)
            self._begun = True
            output += self._member.decompress(piece, room + 1 - len(output))
            piece = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        return bytes(output)


class Zstd:
    """Frames of a zstd stream, one after the other."""

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = self._decompressor.decompressobj()
        self._begun = False

    @property
    def complete(self) -> bool:
        return self._frame.eof or not self._begun

    def decode(self, piece: bytes, room: int) -> bytes:
        output = bytearray()
        while piece and len(output) <= room:
            if self._frame.eof:
                self._frame = self._decompressor.decompressobj()
            self._begun = True
            step, piece = piece[:_ZSTD_STEP], piece[_ZSTD_STEP:]
            output += self._frame.decompress(step)
            if self._frame.eof:
                piece = self._frame.unused_data + piece
        return bytes(output)
