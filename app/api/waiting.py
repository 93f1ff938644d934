"""Waiting for the end of a job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.api.service import Service
from app.jobs.store import Job

_SLOWEST_POLL = 2.0


async def ended(service: Service, job: Job, seconds: float) -> Job:
    """Return the job once it has ended, or as it is when `seconds` have passed or the service stops.

    The dispatcher in this process says at once when a job of its own has ended. Jobs that other processes run are looked up, less
    and less often the longer they take, so that a hundred waiting requests do not keep the database busy.
    """
    if job.ended or seconds <= 0:
        return job
    started = time.monotonic()
    with _end_of(service, job.id) as happened:
        while not job.ended and not service.stopping.is_set():
            elapsed = time.monotonic() - started
            if elapsed >= seconds:
                break
            pause = min(max(service.settings.poll_seconds, elapsed / 8), _SLOWEST_POLL, seconds - elapsed)
            await first_of(pause, happened, service.stopping)
            job = await run_in_threadpool(service.store.get, job.id) or job
    if job.ended:
        service.metrics.observe_wait(job.operation, job.status, time.monotonic() - started)
    return job


async def first_of(seconds: float, *happenings: asyncio.Event) -> None:
    """Wait until one of the events is set, or `seconds` have passed."""
    waiters = [asyncio.ensure_future(happening.wait()) for happening in happenings]
    try:
        await asyncio.wait(waiters, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in waiters:
            waiter.cancel()


@contextmanager
def _end_of(service: Service, job_id: str) -> Iterator[asyncio.Event]:
    happened = asyncio.Event()
    if service.dispatcher is None:
        yield happened
        return
    on_end = _thread_safe(happened)
    service.dispatcher.subscribe(job_id, on_end)
    try:
        yield happened
    finally:
        service.dispatcher.unsubscribe(job_id, on_end)


def _thread_safe(happened: asyncio.Event) -> Callable[..., None]:
    loop = asyncio.get_running_loop()

    def on_end(*_: Any) -> None:
        loop.call_soon_threadsafe(happened.set)

    return on_end
