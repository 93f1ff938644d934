"""The event stream of a job as a client reads it: parsing, the position reached, and when to ask again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
import orjson

from app.client_protocol import ENDED, Backoff, Reply, Unreachable, answered

SILENCE_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Event:
    """Something that happened to a job: ``queued``, ``started``, ``progress``, ``retry`` or how it ended."""

    seq: int
    kind: str
    data: dict[str, Any]

    @property
    def is_last(self) -> bool:
        """Whether the job ended with this event."""
        return self.kind in ENDED


class EventParser:
    r"""Splits the bytes of a server-sent event stream into events, wherever the chunks break.

    Examples
    --------
    >>> parser = EventParser()
    >>> parser.feed(b'id: 3\nevent: progress\ndata: {"val')
    []
    >>> parser.feed(b'ue": 7}\n\n: still here\n\n')
    [Event(seq=3, kind='progress', data={'value': 7})]
    """

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, list[str]] = {}

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that `chunk` completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        events = [self._take(line.removesuffix(b"\r").decode("utf-8", "replace")) for line in lines]
        return [event for event in events if event is not None]

    def _take(self, line: str) -> Event | None:
        if line:
            name, _, value = line.partition(":")
            if name:
                self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        data = orjson.loads("\n".join(fields["data"]))
        return Event(
            seq=int(fields.get("id", ["0"])[-1]),
            kind=fields.get("event", ["message"])[-1],
            data=data if isinstance(data, dict) else {"data": data},
        )


class EventStream:
    """Where an event stream stands: what was read, what to ask for next, and whether to go on."""

    def __init__(self, job_id: str, after: int, retries: int) -> None:
        self.path = f"/v1/jobs/{job_id}/events"
        self.ended = False
        self._position = after
        self._backoff = Backoff(retries)
        self._reply: Reply | None = None
        self._parser = EventParser()

    @property
    def timeout(self) -> httpx.Timeout:
        """How long to wait for the connection, and for the next event or sign of life."""
        return httpx.Timeout(30.0, read=SILENCE_SECONDS)

    @property
    def headers(self) -> dict[str, str]:
        """What asks for the events that were not read yet."""
        return {"Accept": "text/event-stream", "Last-Event-ID": str(self._position)}

    def accepts(self, response: httpx.Response) -> bool:
        """Return whether there are events to read; 204 means that all were."""
        self._parser = EventParser()
        self._reply = response if response.is_error else None
        self.ended = response.status_code == 204
        return response.is_success and not self.ended

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Iterate over the events that `chunk` completes, up to the last of the job."""
        for event in self._parser.feed(chunk):
            self._backoff.succeeded()
            self._position = event.seq
            self.ended = event.is_last
            yield event
            if self.ended:
                return

    def broken(self, error: httpx.TransportError) -> None:
        """Note that the connection broke."""
        self._reply = error

    def pause(self) -> float:
        """Return the seconds to wait before the stream is asked for again, or raise why that is useless."""
        pause = self._backoff.pause(self._reply)
        if pause is not None:
            return pause.seconds
        if self._reply is None:
            raise Unreachable("the event stream breaks off again and again")
        answered(self._reply)
        raise AssertionError("a reply that is no error leaves nothing to wait for")
