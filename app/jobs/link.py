"""Messages between the server, its zygote and its workers: a JSON object and perhaps some bytes, whole or not at all.

The sockets keep message boundaries, so nothing is ever half read, and reading never waits for a slow writer. What is longer than
:data:`INLINE_BYTES` travels as a file beside the message.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

INLINE_BYTES = 64 * 1024
LARGEST_HEADER = 48 * 1024
_LARGEST_MESSAGE = INLINE_BYTES + LARGEST_HEADER + 1


class Message(NamedTuple):
    """What was received."""

    header: dict[str, Any]
    payload: bytes
    descriptors: Sequence[int]


class Closed(Exception):
    """The other side is gone."""


class Link:
    """One end of a connection.

    Examples
    --------
    >>> here, there = Link.pair()
    >>> here.send({"kind": "run"}, b"{}")
    >>> there.receive().header
    {'kind': 'run'}
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @classmethod
    def pair(cls) -> tuple[Link, Link]:
        """Return both ends of a new connection."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(here), cls(there)

    def send(self, header: dict[str, Any], payload: bytes = b"", descriptors: Sequence[int] = ()) -> None:
        """Send a message, with open files if there are any; :class:`Closed` if nobody is there to read it."""
        message = orjson.dumps(header) + b"\n" + payload
        if len(message) > _LARGEST_MESSAGE:
            raise ValueError(f"a message of {len(message)} bytes is too long to send")
        try:
            socket.send_fds(self.socket, [message], list(descriptors))
        except (BrokenPipeError, ConnectionError) as error:
            raise Closed from error

    def receive(self) -> Message:
        """Return the next message; :class:`Closed` after the last, :class:`BlockingIOError` if a non-blocking end has none."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.socket, _LARGEST_MESSAGE, 1, socket.MSG_CMSG_CLOEXEC)
        except ConnectionError as error:
            raise Closed from error
        if not message:
            raise Closed
        header, _, payload = message.partition(b"\n")
        return Message(orjson.loads(header), payload, descriptors)

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
