"""The events of a job as server-sent events.

Every event carries its number as `id`, so that a reader who lost the connection goes on where it was: browsers send `Last-Event-ID` by
themselves. A stream ends with the job's last event; who asks again after that gets 204, which tells a browser to stop.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, get_args

import orjson
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.api.access import BEARER
from app.api.job_documents import timestamp
from app.api.jobs import existing_job
from app.api.refusals import EVERYWHERE, Responses, documented
from app.api.service import Service, service_of
from app.api.waiting import first_of, hearing
from app.jobs.store import ENDED, Event, EventKind

router = APIRouter(tags=["jobs"])

HEARTBEAT_SECONDS = 15.0
_END_CHECK_SECONDS = 1.0
_RETRY_MILLISECONDS = 1000
_LARGEST_NUMBER = 2**31 - 1
_BATCH = 500
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Number of the event, from 1.", "pattern": "^[0-9]+$"},
        "event": {"type": "string", "enum": list(get_args(EventKind))},
        "data": {"type": "string", "description": "A JSON object: the time, `at`, and what is told."},
        "retry": {"type": "integer"},
    },
}

_STREAM: Responses = {
    200: {"description": "The events.", "content": {"text/event-stream": {"schema": _EVENT}}},
    204: {"description": "The job has ended and the reader has seen its last event."},
}


@router.get(
    "/v1/jobs/{job_id}/events",
    summary="Watch a job",
    response_class=Response,
    responses=_STREAM | documented(*EVERYWHERE, 404, 422),
    dependencies=[Depends(BEARER)],
)
async def job_events(
    request: Request,
    job_id: str,
    last_event_id: Annotated[
        int | None,
        Header(
            alias="Last-Event-ID",
            description="Number of the last event seen; the stream goes on after it.",
            ge=0,
            le=_LARGEST_NUMBER,
        ),
    ] = None,
    after: Annotated[int, Query(description="The same, for readers that cannot send headers.", ge=0, le=_LARGEST_NUMBER)] = 0,
    token: Annotated[str | None, Query(description="A stream token in place of a key.", max_length=300)] = None,
) -> Response:
    """Stream what happens to a job, from its beginning or from where the reader was."""
    service = service_of(request)
    caller = await service.gate.admit_stream(request, job_id, token)
    job = await existing_job(service, job_id, caller)
    seen = after if last_event_id is None else last_event_id
    events = await run_in_threadpool(service.store.events, job.id, seen, _BATCH)
    if job.ended and not events:
        return Response(status_code=204)
    return StreamingResponse(
        _stream(service, job.id, seen, events), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _stream(service: Service, job_id: str, seen: int, events: Sequence[Event]) -> AsyncIterator[bytes]:
    yield format_sse_event(data_str=None, retry=_RETRY_MILLISECONDS)
    with hearing(service, job_id, {"queued", "news", "end", "missed"}) as notice:
        sent = checked = time.monotonic()
        is_over = False
        while not is_over and not service.stopping.is_set():
            for event in events:
                yield _encoded(event)
                seen, sent = event.seq, time.monotonic()
            if events and events[-1].kind in ENDED:
                return
            if time.monotonic() - sent >= HEARTBEAT_SECONDS:
                yield KEEPALIVE_COMMENT
                sent = time.monotonic()
            if len(events) < _BATCH:
                await first_of(service.settings.poll_seconds, service.stopping, notice)
                notice.clear()
            events = await run_in_threadpool(service.store.events, job_id, seen, _BATCH)
            if not events and time.monotonic() - checked >= _END_CHECK_SECONDS:
                checked = time.monotonic()
                is_over, events = await run_in_threadpool(_look_for_end, service, job_id, seen)


def _look_for_end(service: Service, job_id: str, seen: int) -> tuple[bool, Sequence[Event]]:
    # A reader that was ahead of the job, or whose job was swept away, gets no last event. In this order: events that end a job are
    # there once its row says that it has ended.
    job = service.store.get(job_id)
    events = service.store.events(job_id, seen, _BATCH)
    return (job is None or job.ended) and not events, events


def _encoded(event: Event) -> bytes:
    data = orjson.dumps({"at": timestamp(event.created_at)} | event.data).decode()
    return format_sse_event(data_str=data, event=event.kind, id=str(event.seq))
