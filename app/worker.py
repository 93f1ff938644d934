"""A worker: runs the jobs of a service whose API runs elsewhere, on the same database and files."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import structlog
from sqlalchemy import func, select

from app.catalogue import load_catalogue
from app.files import FileStore
from app.jobs.dispatcher import Dispatcher
from app.jobs.leases import this_process
from app.jobs.local import LocalExecutor
from app.jobs.schema import now, workers
from app.jobs.store import JobStore
from app.logs import configure_logs
from app.main import open_store
from app.settings import Settings

log = structlog.get_logger("foresolve")


def run_worker(settings: Settings) -> None:
    """Run jobs until a signal says to stop; then let running ones finish for a while and return the rest to the queue.

    A second signal ends the wait.
    """
    configure_logs(settings)
    signalled = threading.Semaphore(0)

    def stop(number: int, frame: FrameType | None) -> None:
        signalled.release()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    store = open_store(settings)
    executor = LocalExecutor.from_settings(settings)
    dispatcher = Dispatcher(settings, store, FileStore(settings.files), executor, load_catalogue(settings.catalogue))
    dispatcher.start()
    log.info("working", worker=dispatcher.worker_id)
    signalled.acquire()
    log.info("stopping", hint="once more to stop at once")
    stopping = threading.Thread(target=dispatcher.stop, args=(settings.grace_seconds,), name="stop")
    stopping.start()
    while stopping.is_alive():
        if signalled.acquire(timeout=0.1):
            dispatcher.stop(0)
        stopping.join(timeout=0.1)
    store.close()


def lives_here(settings: Settings) -> bool:
    """Whether a worker on this host has lately told the job database that it lives."""
    store = JobStore.open(settings.database)
    try:
        with store.reading() as connection:
            query = select(func.count()).where(workers.c.host == this_process()["host"], workers.c.expires_at > now())
            return connection.execute(query).scalar_one() > 0
    finally:
        store.close()
