"""Waiting for the end of a job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool

from app.api.service import Service
from app.jobs.dispatcher import Dispatcher
from app.jobs.notices import Kind
from app.jobs.store import Job

_SLOWEST_POLL = 2.0


async def ended(service: Service, job: Job, seconds: float) -> Job:
    """Return the job once it has ended, or as it is when `seconds` have passed or the service stops."""
    if job.ended or seconds <= 0:
        return job
    if service.dispatcher is None:
        job = await _looked_up(service, job, seconds)
    else:
        job = await _told(service, service.dispatcher, job, seconds)
    if job.ended:
        service.metrics.observe_job(job)
    return job


async def _told(service: Service, dispatcher: Dispatcher, job: Job, seconds: float) -> Job:
    loop = asyncio.get_running_loop()
    end: asyncio.Future[Job] = loop.create_future()

    def settle(job: Job) -> None:
        if not end.done():
            end.set_result(job)

    def on_end(job: Job) -> None:
        loop.call_soon_threadsafe(settle, job)

    dispatcher.subscribe(job.id, on_end)
    try:
        await first_of(seconds, end, service.stopping)
    finally:
        dispatcher.unsubscribe(job.id, on_end)
    return end.result() if end.done() and not end.cancelled() else await _now(service, job)


async def _looked_up(service: Service, job: Job, seconds: float) -> Job:
    # Less and less often the longer it takes, so that a hundred waiting requests do not keep the database busy.
    started = time.monotonic()
    with hearing(service, job.id, {"end", "missed"}) as notice:
        while not job.ended and not service.stopping.is_set() and (elapsed := time.monotonic() - started) < seconds:
            pause = min(max(service.settings.poll_seconds, elapsed / 8), _SLOWEST_POLL, seconds - elapsed)
            await first_of(pause, service.stopping, notice)
            notice.clear()
            job = await _now(service, job)
    return job


async def _now(service: Service, job: Job) -> Job:
    return await run_in_threadpool(service.store.get, job.id) or job


@contextmanager
def hearing(service: Service, job_id: str, kinds: Collection[Kind]) -> Iterator[asyncio.Event]:
    """Have an event set at each notice about a job.

    It is set at first, for what happened before anybody listened.
    """
    loop = asyncio.get_running_loop()
    notice = asyncio.Event()
    notice.set()

    def hear(kind: Kind, job_id: str) -> None:
        if kind in kinds:
            loop.call_soon_threadsafe(notice.set)

    service.store.notices.subscribe(hear, job_id)
    try:
        yield notice
    finally:
        service.store.notices.unsubscribe(hear, job_id)


async def first_of(seconds: float, *happenings: asyncio.Event | asyncio.Future[Job]) -> None:
    """Wait until one of these happens, or `seconds` have passed."""
    waiters = [asyncio.ensure_future(one.wait() if isinstance(one, asyncio.Event) else one) for one in happenings]
    try:
        await asyncio.wait(waiters, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in waiters:
            waiter.cancel()
