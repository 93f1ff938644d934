"""The dispatcher: takes queued jobs from the store, has an executor run them, and writes down how they end.

One thread does all of it, in turns. A turn begins when something happened (a job was announced, a worker spoke) or some time
passed; it settles all that happened and claims what there is room for in one transaction. What only concerns this process, such
as calling whoever waits for a result, comes after the commit.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Literal

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from app.catalogue import resource_kinds
from app.files import FileStore
from app.jobs import leases
from app.jobs.executor import Checkpointed, Ended, Executor, JobEvent, JobSpec, Reported
from app.jobs.leases import Claimed, Lease
from app.jobs.notices import Kind
from app.jobs.store import Job, JobStore
from app.jobs.sweep import SECONDS_PER_DAY, sweep, sweep_orphans
from app.problems import problem
from app.settings import Settings
from solvers.operation import Operation, internal_error

_RETRY_SECONDS = 0.5
_REMEMBERED_ENDS = 4096
_LEASE_MARGIN = 0.8
_ORPHAN_SWEEP_SECONDS = 3600.0
_STOP_SECONDS = 5.0

log = structlog.get_logger("foresolve.jobs")

OnEnd = Callable[[Job], None]


class Dispatcher:
    """Runs the jobs of a store on an executor.

    Parameters
    ----------
    settings : Settings
    store : JobStore
    files : FileStore
    executor : Executor
        Started and closed together with the dispatcher.
    catalogue : mapping of str to Operation
        Jobs of other operations are left to other dispatchers.
    """

    def __init__(
        self,
        settings: Settings,
        store: JobStore,
        files: FileStore,
        executor: Executor,
        catalogue: Mapping[str, Operation[Any, Any]],
    ) -> None:
        self._settings = settings
        self._store = store
        self._files = files
        self._executor = executor
        self._lease = Lease.new(settings.lease_seconds, catalogue)
        self._kinds = resource_kinds(catalogue).values()
        self._inbox: queue.SimpleQueue[JobEvent | Literal["wake", "look"]] = queue.SimpleQueue()
        self._running: dict[str, Job] = {}
        self._stopping: set[str] = set()  # let go of, but perhaps not dead yet
        self._unsettled: list[JobEvent] = []
        self._renewed_at = 0.0
        self._next_heartbeat = 0.0
        self._next_poll = 0.0
        self._stop_by: float | None = None
        self._subscriptions = threading.Lock()
        self._subscribers: dict[str, list[OnEnd]] = {}
        self._recently_ended: OrderedDict[str, None] = OrderedDict()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="dispatcher", daemon=True)
        self._sweeper = threading.Thread(target=self._sweep, name="sweeper", daemon=True)

    @property
    def ready(self) -> bool:
        """Whether a job that is queued now would start as soon as there is room."""
        return self._thread.is_alive() and self._executor.ready

    @property
    def worker_id(self) -> str:
        """Under which the jobs of this dispatcher are leased."""
        return self._lease.me

    def start(self) -> None:
        """Start the executor and begin to claim jobs."""
        self._executor.start(self.announce)
        self._store.notices.subscribe(self._hear)
        self._thread.start()
        self._sweeper.start()

    def announce(self) -> None:
        """Say that there may be something to claim: a job was queued, or there is room for one."""
        self._inbox.put("wake")

    def subscribe(self, job_id: str, callback: OnEnd) -> None:
        """Have `callback` called once with the job when it is over, wherever it runs. It must return at once.

        If the job ended lately, that is now.
        """
        with self._subscriptions:
            may_have_ended = job_id in self._recently_ended
            if not may_have_ended:
                self._subscribers.setdefault(job_id, []).append(callback)
        if not may_have_ended or (job := self._store.get(job_id)) is None:
            return
        if job.ended:
            callback(job)
            return
        with self._subscriptions:  # it was resumed
            self._recently_ended.pop(job_id, None)
            self._subscribers.setdefault(job_id, []).append(callback)

    def unsubscribe(self, job_id: str, callback: OnEnd) -> None:
        """Forget a callback that was not called yet."""
        with self._subscriptions:
            callbacks = self._subscribers.get(job_id, [])
            if callback in callbacks:
                callbacks.remove(callback)
            if not callbacks:
                self._subscribers.pop(job_id, None)

    def stop(self, grace: float = 0.0) -> None:
        """Claim no more, let running jobs end for `grace` seconds, give the rest back to the queue, and close the executor.

        May be called again, from another thread, to shorten the grace.
        """
        stop_by = time.monotonic() + grace
        self._stop_by = stop_by if self._stop_by is None else min(self._stop_by, stop_by)
        self.announce()
        if self._thread.is_alive():
            self._thread.join()
        self._stopped.set()
        self._store.notices.unsubscribe(self._hear)
        self._executor.close()

    def _hear(self, kind: Kind, job_id: str) -> None:
        if kind == "queued":
            self._inbox.put("wake")
        elif kind in {"cancel", "missed"} or (kind == "end" and self._awaits(job_id)):
            self._inbox.put("look")

    def _awaits(self, job_id: str) -> bool:
        """Whether somebody waits for a job that ended elsewhere; who asks after it later shall be told at once."""
        with self._subscriptions:
            self._remember_end(job_id)
            return job_id in self._subscribers

    # The thread.

    def _serve(self) -> None:
        while not self._is_done():
            self._collect()
            try:
                self._take_turn()
            except (OperationalError, InterfaceError) as error:
                log.error("the job database does not answer", error=str(error.orig))
                self._give_up_unrenewed()
                self._next_heartbeat = 0.0  # a database that crashed may have forgotten the latest claims
                time.sleep(_RETRY_SECONDS)
            except Exception:
                log.exception("the dispatcher failed in a turn")
                self._settle_one_by_one()
                time.sleep(_RETRY_SECONDS)
        try:
            self._hand_over()
        except DBAPIError as error:
            log.error("jobs could not be given back; their leases will expire", error=str(error.orig))

    def _is_done(self) -> bool:
        return self._stop_by is not None and (not self._running or time.monotonic() >= self._stop_by)

    def _collect(self) -> None:
        """Wait for something to happen, but no longer than to the next thing that is due; take all that happened."""
        due = min(self._next_poll, self._next_heartbeat, self._stop_by or float("inf"))
        try:
            happened = self._inbox.get(timeout=max(0.0, due - time.monotonic()))
            while True:
                if happened == "look":
                    self._next_poll = 0.0
                elif happened != "wake":
                    self._unsettled.append(happened)
                    if isinstance(happened, Ended):
                        self._stopping.discard(happened.job_id)
                happened = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _take_turn(self) -> None:
        now = time.monotonic()
        if now >= self._next_heartbeat:
            self._beat(now)
        capacity = self._executor.capacity()
        may_claim = self._stop_by is None and (capacity.normal > 0 or capacity.light > 0)
        ended: list[Job] = []
        claimed: list[Claimed] = []
        if self._unsettled or may_claim:
            is_end = any(isinstance(event, Ended) for event in self._unsettled)
            with self._store.writing() if is_end else self._store.writing_lazily() as connection:
                ended = self._settle(connection, self._unsettled)
                if may_claim:
                    claimed = self._lease.claim(connection, capacity, besides=self._running.keys() | self._stopping)
        settled = self._forget_settled()
        for job, spec in claimed:
            self._running[job.id] = job
            self._submit(spec)
        self._tell(ended)
        self._notify(settled, claimed, ended)
        if now >= self._next_poll:
            self._next_poll = now + self._settings.poll_seconds
            self._look_around()

    def _submit(self, spec: JobSpec) -> None:
        try:
            self._executor.submit(spec, self._inbox.put)
        except Exception:
            log.exception("the executor took no job", job_id=spec.id)
            trouble = problem("worker-lost", "the job could not be handed to a worker")
            self._inbox.put(Ended(spec.id, spec.attempt, "lost", problem=trouble))

    def _settle(self, connection: Connection, events: list[JobEvent]) -> list[Job]:
        """Write down what happened; return the jobs that are over."""
        ended: list[Job] = []
        for event in events:
            job = self._running.get(event.job_id)
            if job is None or job.attempt != event.attempt:
                continue
            if isinstance(event, Reported):
                self._lease.report(connection, event.job_id, event.attempt, event.members)
            elif isinstance(event, Checkpointed):
                self._lease.checkpoint(connection, event.job_id, event.attempt)
            elif isinstance(event, Ended):
                if event.traceback is not None:
                    incident = (event.problem or {}).get("incident")
                    log.error(
                        "a job failed", job_id=job.id, operation=job.operation, incident=incident, traceback=event.traceback
                    )
                if event.outcome == "lost":
                    log.warning("a worker was lost", job_id=job.id, attempt=job.attempt, problem=event.problem)
                    over = self._lease.retry(connection, event, job)
                else:
                    over = self._lease.finish(connection, event, job.owner)
                ended += [] if over is None else [over]
        return ended

    def _forget_settled(self) -> list[JobEvent]:
        settled, self._unsettled = self._unsettled, []
        for event in settled:
            job = self._running.get(event.job_id)
            if isinstance(event, Ended) and job is not None and job.attempt == event.attempt:
                del self._running[event.job_id]
        return settled

    def _notify(self, settled: list[JobEvent], claimed: list[Claimed], ended: list[Job]) -> None:
        over = {job.id for job in ended}
        again = {event.job_id for event in settled if isinstance(event, Ended)} - over
        reported = {event.job_id for event in settled if isinstance(event, Reported)}
        self._store.notices.tell(queued=again, news=reported | again | {job.id for job, _ in claimed}, end=over)

    def _settle_one_by_one(self) -> None:
        """Find the event that the database refuses, and have its job fail rather than all."""
        ended: list[Job] = []
        for event in self._unsettled:
            instead = Ended(event.job_id, event.attempt, "failed", problem=internal_error())
            for attempt in [event, instead] if isinstance(event, Ended) else [event]:
                try:
                    with self._store.writing() as connection:
                        ended += self._settle(connection, [attempt])
                    break
                except Exception:
                    log.exception("what happened to a job could not be kept", job_id=event.job_id)
        settled = self._forget_settled()
        self._tell(ended)
        self._notify(settled, [], ended)

    def _beat(self, now: float) -> None:
        """Renew the leases; take over from dispatchers that died; let go of jobs that others took over."""
        capacity = self._settings.workers + self._settings.light_workers
        with self._store.writing() as connection:
            mine = self._lease.renew(connection, capacity)
            self._lease.shorten_dead_leases(connection)
        self._renewed_at = now
        self._next_heartbeat = now + self._settings.heartbeat_seconds
        for job_id, job in list(self._running.items()):
            if mine.get(job_id) != job.attempt:
                log.warning("a lease was lost", job_id=job_id)
                self._let_go(job_id)
        # A claim may be committed and its answer never arrive here; or it was let go of when the database did not answer.
        for job_id in mine.keys() - self._running.keys() - self._stopping:
            stray = self._store.get(job_id)
            if stray is not None:
                with self._store.writing() as connection:
                    over = self._lease.retry(connection, Ended(stray.id, stray.attempt, "lost"), stray)
                self._notify([Ended(stray.id, stray.attempt, "lost")], [], [] if over is None else [over])

    def _look_around(self) -> None:
        """See what others did: cancel requests, leases that ran out, jobs that ended elsewhere."""
        with self._subscriptions:
            awaited = [job_id for job_id in self._subscribers if job_id not in self._running]
        with self._store.reading() as connection:
            cancels = self._lease.cancel_requests(connection) if self._running else []
            ended = leases.ended_among(connection, awaited) if awaited else []
            overdue = leases.any_overdue(connection)
        for job_id in cancels:
            self._executor.cancel(job_id)
        self._tell(ended)
        if overdue:
            with self._store.writing() as connection:
                expired = leases.expire(connection)
            self._store.notices.tell(queued=expired, end=expired)

    def _tell(self, ended: list[Job]) -> None:
        for job in ended:
            with self._subscriptions:
                callbacks = self._subscribers.pop(job.id, [])
                self._remember_end(job.id)
            for callback in callbacks:
                try:
                    callback(job)
                except Exception:
                    log.exception("a callback at the end of a job failed", job_id=job.id)

    def _remember_end(self, job_id: str) -> None:
        self._recently_ended[job_id] = None
        if len(self._recently_ended) > _REMEMBERED_ENDS:
            self._recently_ended.popitem(last=False)

    def _let_go(self, job_id: str) -> None:
        self._running.pop(job_id, None)
        if not any(isinstance(event, Ended) and event.job_id == job_id for event in self._unsettled):
            self._stopping.add(job_id)
        self._executor.cancel(job_id, grace=0.0)

    def _give_up_unrenewed(self) -> None:
        """Without the database the leases run out, and others start the jobs; then they must not run here any more."""
        if time.monotonic() - self._renewed_at > _LEASE_MARGIN * self._settings.lease_seconds:
            for job_id in list(self._running):
                self._let_go(job_id)
            self._unsettled.clear()

    def _hand_over(self) -> None:
        """Stop what still runs and queue it again; settle whatever ended meanwhile."""
        for job_id in self._running:
            self._executor.cancel(job_id, grace=0.0)
        ends: dict[str, Ended] = {}
        self._next_poll = self._next_heartbeat = self._stop_by = time.monotonic() + _STOP_SECONDS
        while not self._running.keys() <= ends.keys() and time.monotonic() < self._stop_by:
            self._collect()
            ends = {event.job_id: event for event in self._unsettled if isinstance(event, Ended)}
        forced = {job_id: end for job_id, end in ends.items() if end.outcome in {"cancelled", "lost"}}
        with self._store.writing() as connection:
            over = self._settle(connection, [event for event in self._unsettled if event not in forced.values()])
            for job_id in forced.keys() & self._running.keys():
                released = self._lease.release(connection, forced[job_id], self._running[job_id])
                over += [] if released is None else [released]
            self._lease.resign(connection)
        self._tell(over)
        self._notify(self._unsettled, [], over)

    def _sweep(self) -> None:
        next_orphan_sweep = 0.0
        days = {part: setting for kind in self._kinds for part, setting in kind.retained.items()}
        retained = {part: getattr(self._settings, setting) * SECONDS_PER_DAY for part, setting in days.items()}
        while not self._stopped.wait(self._settings.sweep_seconds):
            try:
                sweep(self._store, self._files, self._settings.retention_seconds)
                if time.monotonic() >= next_orphan_sweep:
                    sweep_orphans(self._store, self._files, retained)
                    next_orphan_sweep = time.monotonic() + _ORPHAN_SWEEP_SECONDS
            except Exception:
                log.exception("a sweep failed")
