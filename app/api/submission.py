"""From the body of a request to a row of the job table."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import orjson
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool

from app.api.body import decoded
from app.api.refusals import Refusal
from app.api.service import Service
from app.api.uploads import new_file
from app.jobs.store import Job, NewJob
from app.json_members import require_unique_members
from app.json_numbers import require_finite_numbers
from app.security import Caller
from app.settings import Settings
from app.time_limits import granted
from solvers.field_faults import from_validation_error
from solvers.operation import InvalidInput, Operation

_LONGEST_IDEMPOTENCY_KEY = 255
_SEEDS = range(-(2**63), 2**63)


class RefusedFields(Exception):
    """The request's model refused it; holds the problem that says where."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.problem = problem


class Body(NamedTuple):
    """The decompressed body of a request: its bytes, or the file that a large one was put into, and a digest."""

    content: bytes | None
    file_id: str | None
    digest: str


async def submit(service: Service, request: Request, operation: Operation[Any, Any], caller: Caller) -> Job:
    """Read a request, validate it, and keep it as a job; answer with the existing job if its idempotency key has one.

    A body above `inline_body_bytes` is kept as a file and validated by the worker.
    """
    idempotency_key = _idempotency_key(request)
    _require_json(request)
    body = await _received(service, request, operation, caller.owner)
    return await run_in_threadpool(_keep, service, operation, caller.owner, body, idempotency_key)


async def _received(service: Service, request: Request, operation: Operation[Any, Any], owner: str) -> Body:
    settings = service.settings
    digest = hashlib.sha256(operation.name.encode() + b"\n")
    pieces = decoded(request, limit=settings.max_body_bytes, setting="FORESOLVE_MAX_BODY_BYTES")
    content = b""
    async for piece in pieces:
        content = content + piece if content else piece
        if len(content) > settings.inline_body_bytes:
            return await _received_as_file(service, owner, content, pieces, digest)
    digest.update(content)
    return Body(content, None, digest.hexdigest())


async def _received_as_file(service: Service, owner: str, head: bytes, rest: AsyncIterator[bytes], digest: Any) -> Body:
    async with new_file(service.files, owner) as writer:

        def write(piece: bytes) -> None:
            digest.update(piece)
            writer.write(piece)

        await run_in_threadpool(write, head)
        async for piece in rest:
            await run_in_threadpool(write, piece)
    return Body(None, writer.file_id, digest.hexdigest())


def _keep(service: Service, operation: Operation[Any, Any], owner: str, body: Body, idempotency_key: str | None) -> Job:
    created = False
    try:
        job, created = service.store.submit(
            _new_job(service.settings, operation, owner, body, idempotency_key), max_queued=service.settings.max_queued_jobs
        )
        return job
    finally:
        if body.file_id is not None and not created:
            service.files.delete(owner, body.file_id)


def _new_job(settings: Settings, operation: Operation[Any, Any], owner: str, body: Body, idempotency_key: str | None) -> NewJob:
    # Whoever reads a body that is a file, the worker, narrows the time limit to what it asks for.
    time_limit, seed = settings.max_time_limit, None
    if body.content is not None:
        request = validated(operation, body.content)
        time_limit, seed = granted(operation, request, settings.max_time_limit), _seed(operation, request)
    return NewJob(
        owner=owner,
        operation=operation.name,
        request_hash=body.digest,
        time_limit=time_limit,
        memory_mb=min(operation.resources.memory_mb, settings.job_memory_mb),
        request=body.content,
        request_file=body.file_id,
        seed=seed,
        light=operation.resources.light,
        gpu=operation.resources.gpu,
        idempotency_key=idempotency_key,
        max_attempts=settings.max_attempts,
    )


def validated(operation: Operation[Any, Any], content: bytes) -> BaseModel:
    """Return the request that a JSON document holds.

    Raises
    ------
    Refusal
        ``invalid-json``, with the place where it breaks.
    InvalidInput
        If a number in it is not finite, or a member occurs twice in an object.
    RefusedFields
        If it is JSON but not what the operation takes.
    """
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        require_finite_numbers(content)
        raise Refusal("invalid-json", str(error), line=error.lineno, column=error.colno) from None
    require_unique_members(content)
    try:
        request: BaseModel = operation.request.model_validate(document)
    except ValidationError as error:
        raise RefusedFields(from_validation_error(error, document)) from None
    return request


def _seed(operation: Operation[Any, Any], request: BaseModel) -> int | None:
    seed = operation.seed(request)
    if seed is not None and seed not in _SEEDS:
        raise InvalidInput("a seed is an integer of 64 bits", pointer="/options/seed")
    return seed


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not 0 < len(key) <= _LONGEST_IDEMPOTENCY_KEY or not key.isascii() or not key.isprintable():
        raise Refusal("invalid-header", f"Idempotency-Key takes 1 to {_LONGEST_IDEMPOTENCY_KEY} printable ASCII characters")
    return key


def _require_json(request: Request) -> None:
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if media_type.strip().lower() != "application/json" or charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise Refusal(
            "unsupported-media-type", "the body must be application/json in UTF-8", headers={"Accept": "application/json"}
        )
