"""What runs inside a worker process: one job after another, each from the bytes of its request to the bytes of its result.

The main thread runs the operation. A second thread listens to the server: for a new job, for a request to cancel, and for the end
of the link, upon which the worker ends itself and all that it started.
"""

from __future__ import annotations

import contextlib
import os
import queue
import resource
import select
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from app.files import FileStore
from app.jobs.link import INLINE_BYTES, LARGEST_HEADER, Closed, Link, Message
from app.json_members import require_unique_members
from app.json_numbers import require_finite_numbers
from app.problems import Problem, problem
from app.time_limits import granted
from solvers.field_faults import from_validation_error
from solvers.garbage import without_collection
from solvers.operation import Context, ForesolveError, Operation, Snapshot, internal_error

REPORT_SECONDS = 0.2
SNAPSHOT_SECONDS = 0.5
_SNAPSHOT_SHARE = 10  # a snapshot may take a tenth of a job's time
_LARGEST_REPORT = 32 * 1024
_LARGEST_TRACEBACK = 16 * 1024
_ADDRESS_SPACE_FACTOR = 4
_ADDRESS_SPACE_MARGIN = 8 * 2**30


@dataclass(eq=False)
class Surroundings:
    """What all workers of an executor share; made before they are forked."""

    catalogue: Mapping[str, Operation[Any, Any]]
    files_url: str
    limits: Mapping[str, int]
    scratch: str

    @cached_property
    def files(self) -> FileStore:
        """The files, opened only after the fork: remote file systems bring threads."""
        return FileStore(self.files_url)


class Worker:
    """Serves the jobs that come over a link, until its other end is gone."""

    def __init__(self, link: Link, surroundings: Surroundings) -> None:
        self._link = link
        self._surroundings = surroundings
        self._assigned: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._reporter: Reporter | None = None

    def serve(self) -> None:
        """Run jobs until the link ends."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        self.send({"kind": "idle", "resident": _resident_bytes()})
        while True:
            message = self._assigned.get()
            self._run(message)
            del message

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Send a message to the server; without one there is nothing left to do."""
        try:
            with self._sending:
                self._link.send(header, payload)
        except Closed:
            _end_group()

    def _listen(self) -> None:
        try:
            while True:
                reporter = self._reporter
                if not select.select([self._link.socket], [], [], None if reporter is None else REPORT_SECONDS)[0]:
                    if reporter is not None:
                        reporter.flush()
                    continue
                message = self._link.receive()
                if message.header["kind"] == "cancel":
                    if self._reporter is not None:
                        self._reporter.cancelled = True
                    continue
                self._reporter = Reporter(self, message.header["snapshot_file"])
                self._assigned.put(message)
        finally:
            _end_group()

    def _run(self, message: Message) -> None:
        self.send({"kind": "started"})
        header, reporter = message.header, self._reporter
        assert reporter is not None
        with _address_space(header["memory_mb"]) if header["device"] == "cpu" else contextlib.nullcontext():
            ended, result = execute(header, message.payload, self._surroundings, reporter)
        if reporter.cancelled:
            ended |= {"outcome": "cancelled", "problem": None}
        reporter.finish()
        self._reporter = None
        ended |= {"kind": "ended", "resident": _resident_bytes(), "result": "none" if result is None else "inline"}
        if result is not None and len(result) > INLINE_BYTES:
            Path(header["result_file"]).write_bytes(result)
            ended["result"], result = "file", None
        self.send(ended, result or b"")


def execute(
    header: Mapping[str, Any], body: bytes, surroundings: Surroundings, reporter: Reporter
) -> tuple[dict[str, Any], bytes | None]:
    """Run one job.

    Returns
    -------
    ended : dict
        `outcome`, and the `problem` and `traceback` of a job that failed.
    result : bytes, optional
        JSON of the result.
    """
    try:
        operation = surroundings.catalogue[header["operation"]]
        files = surroundings.files
        context = Context(
            time_limit=header["deadline"] - time.monotonic(),
            device=header["device"],
            files=files.of(header["owner"], reporter.saved),
            limits=surroundings.limits,
            on_report=reporter,
            is_cancelled=lambda: reporter.cancelled,
            save_checkpoint=lambda state: reporter.checkpoint(files, header["id"], state),
            resume=files.read_checkpoint(header["id"]) if header["resume"] else None,
            run_id=header["id"],
            owner=header["owner"],
        )
        content = _body(header, body, files)
        request = _parse(operation, content)
        if header["request_file"] is not None:  # which nobody has read before
            require_unique_members(content)
        context.seed = operation.seed(request) if header["seed"] is None else header["seed"]
        _narrow(context, operation, request, header, reporter)
        result = operation.run(request, context)
        return {"outcome": "succeeded"}, result.model_dump_json().encode()
    except ForesolveError as error:
        return _failed(error.problem())
    except _Refused as refused:
        return _failed(refused.problem)
    except MemoryError:
        return _failed(problem("memory-limit", f"the job ran out of memory within its limit of {header['memory_mb']} MiB"))
    except BaseException:
        return _failed(internal_error(), traceback.format_exc()[-_LARGEST_TRACEBACK:])


class Reporter:
    """Carries what an operation reports to the server, but not more often than anybody looks.

    The first report goes out at once, and the last of any burst always does. Snapshots go to a file, and so outlive the worker.
    """

    def __init__(self, worker: Worker, snapshot_file: str) -> None:
        self.cancelled = False
        self._worker = worker
        self._file = Path(snapshot_file)
        self._lock = threading.Lock()
        self._pending: dict[str, Any] | None = None
        self._next_report = 0.0
        self._next_snapshot = 0.0
        self._saw_cancel = False

    def __call__(self, members: dict[str, Any], snapshot: Snapshot | None) -> None:
        """Take one report."""
        with self._lock:
            self._pending = members
            if time.monotonic() >= self._next_report:
                self._send()
        if snapshot is not None:
            self._keep(snapshot)

    def flush(self) -> None:
        """Send the last report if it was held back for long enough."""
        with self._lock:
            if self._pending is not None and time.monotonic() >= self._next_report:
                self._send()

    def finish(self) -> None:
        """Send the last report if it was held back."""
        with self._lock:
            if self._pending is not None:
                self._send()

    def saved(self, entry: dict[str, Any]) -> None:
        """Tell of a file that the job saved."""
        self._worker.send({"kind": "file", "file": entry})

    def narrow(self, deadline: float) -> None:
        """Tell that the job must be done earlier than the server knows."""
        self._worker.send({"kind": "deadline", "deadline": deadline})

    def checkpoint(self, files: FileStore, job_id: str, state: bytes) -> None:
        """Keep a checkpoint and tell of it."""
        files.write_checkpoint(job_id, state)
        self._worker.send({"kind": "checkpoint"})

    def _send(self) -> None:
        self._next_report = time.monotonic() + REPORT_SECONDS
        report, self._pending = _presentable(self._pending or {}), None
        self._worker.send({"kind": "report", "members": report})

    def _keep(self, snapshot: Snapshot) -> None:
        began = time.monotonic()
        is_last_chance = self.cancelled and not self._saw_cancel
        if began < self._next_snapshot and not is_last_chance:
            return
        self._saw_cancel = self.cancelled
        with contextlib.suppress(Exception):  # a job is not worse for an incumbent that cannot be shown
            part = self._file.with_suffix(".part")
            part.write_bytes(snapshot().model_dump_json().encode())
            part.replace(self._file)
        now = time.monotonic()
        self._next_snapshot = now + max(SNAPSHOT_SECONDS, _SNAPSHOT_SHARE * (now - began))


class _Refused(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _body(header: Mapping[str, Any], body: bytes, files: FileStore) -> bytes:
    if header["request_file"] is not None:
        with files.open(header["owner"], header["request_file"]) as stream:
            return stream.read()
    if header["payload_file"] is not None:
        return Path(header["payload_file"]).read_bytes()
    return body


def _parse(operation: Operation[Any, Any], body: bytes) -> BaseModel:
    try:
        with without_collection():
            document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        require_finite_numbers(body)
        raise _Refused(problem("invalid-json", str(error), line=error.lineno, column=error.colno)) from None
    try:
        request: BaseModel = operation.request.model_validate(document)
    except ValidationError as error:
        raise _Refused(from_validation_error(error, document)) from None
    return request


def _narrow(
    context: Context, operation: Operation[Any, Any], request: BaseModel, header: Mapping[str, Any], reporter: Reporter
) -> None:
    """Apply the time limit of a request that nobody has read before."""
    allowed = header["time_limit"]
    if header["request_file"] is None or (asked := granted(operation, request, allowed)) == allowed:
        return
    context.deadline = header["deadline"] - (allowed - asked)
    reporter.narrow(context.deadline)


def _failed(document: Problem, trace: str | None = None) -> tuple[dict[str, Any], None]:
    document = _plain(document)
    if len(orjson.dumps(document)) > LARGEST_HEADER // 2:
        document = {key: document[key] for key in ("type", "title", "status")} | {"detail": str(document["detail"])[:1000]}
    return {"outcome": "failed", "problem": document, "traceback": trace}, None


def _presentable(members: dict[str, Any]) -> dict[str, Any]:
    plain = _plain(members)
    if len(orjson.dumps(plain)) > _LARGEST_REPORT:
        return {name: value for name, value in plain.items() if isinstance(value, int | float | bool)}
    return plain


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """Return `value` as JSON can hold it; what it cannot is shown as text rather than held against the job."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    try:
        plain: dict[str, Any] = orjson.loads(orjson.dumps(value, default=lambda other: repr(other)[:200], option=options))
    except (orjson.JSONEncodeError, RecursionError):
        return {str(name)[:200]: _as_text(member) for name, member in value.items()}
    return plain


def _as_text(member: Any) -> Any:
    if isinstance(member, bool | float) or (isinstance(member, int) and abs(member) < 2**63):
        return member
    return ascii(member)[:1000]


@contextlib.contextmanager
def _address_space(memory_mb: int) -> Iterator[None]:
    """Bound the address space far above the memory limit: a backstop for what allocates faster than anybody can look."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = _ADDRESS_SPACE_FACTOR * memory_mb * 2**20 + _ADDRESS_SPACE_MARGIN
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def _end_group() -> None:
    os.killpg(0, signal.SIGKILL)
