"""Files: uploads, and what jobs have made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.api.access import requires
from app.api.body import decoded
from app.api.file_names import attachment, name_in_disposition, safe_media_type, safe_name
from app.api.job_documents import json_response, timestamp
from app.api.multipart import FirstFile
from app.api.refusals import EVERYWHERE, Refusal, Responses, documented
from app.api.service import Service, service_of
from app.api.uploads import new_file
from app.files import FileWriter
from app.identifiers import is_id
from app.jobs.file_records import FileRecord
from app.security import Caller
from solvers.operation import UnknownFile
from solvers.resource import MEDIA_TYPE_PREFIX

router = APIRouter(tags=["files"])

_READ_BYTES = 256 * 1024

Keeper = Annotated[Caller, requires("files")]
Reader = Annotated[Caller, requires("files", "read")]

_BYTES: Responses = {200: {"description": "The bytes.", "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "description": "The bytes; none make an empty file.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}
            },
        },
    }
}


class FileDocument(BaseModel):
    """A file; requests name it by its id."""

    id: str = Field(examples=["file_0197f3c2a1b27c4d8e9f00112233aabb"])
    name: str = Field(examples=["G1.txt"])
    media_type: str
    size: int = Field(description="Length in bytes.", ge=0)
    job: str | None = Field(description="Id of the job that made it; null for an upload.")
    created_at: datetime


class FilePage(BaseModel):
    """Some files, newest first."""

    files: list[FileDocument]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the following page; null on the last one.")


@router.post(
    "/v1/files",
    summary="Upload a file",
    status_code=201,
    response_model=FileDocument,
    responses=documented(*EVERYWHERE, 400, 408, 413, 415, 422),
    openapi_extra=_UPLOAD,
)
async def upload_file(
    request: Request,
    caller: Keeper,
    name: Annotated[str | None, Query(description="The file's name; default: the one in Content-Disposition.")] = None,
) -> Response:
    """Keep the body as a file: the body as it is, or the first file of a multipart form."""
    service = service_of(request)
    limit = service.settings.max_file_bytes
    pieces = decoded(request, limit=limit, setting="FORESOLVE_MAX_FILE_BYTES")
    content_type = request.headers.get("content-type", "")
    async with new_file(service.files, caller.owner) as writer:
        if content_type.lower().startswith("multipart/form-data"):
            sent_name, media_type = await _write_first_file(writer, pieces, content_type)
        else:
            sent_name, media_type = name_in_disposition(request.headers.get("content-disposition", "")), content_type
            async for piece in pieces:
                await run_in_threadpool(writer.write, piece)
    record = await run_in_threadpool(
        service.store.add_file,
        caller.owner,
        writer.file_id,
        name=safe_name(name or sent_name),
        media_type=safe_media_type(media_type),
        size=writer.size,
    )
    return json_response(_document(record), status=201, headers={"Location": f"/v1/files/{record.id}"})


async def _write_first_file(writer: FileWriter, pieces: AsyncIterator[bytes], content_type: str) -> tuple[str | None, str | None]:
    form = FirstFile(content_type)
    async for piece in pieces:
        content = form.feed(piece)
        if content:
            await run_in_threadpool(writer.write, content)
    if not form.is_complete:
        raise Refusal("malformed-body", "the multipart body has no file, or is cut short")
    return form.name, form.media_type


@router.get("/v1/files", summary="List files", response_model=FilePage, responses=documented(*EVERYWHERE, 422))
async def list_files(
    request: Request,
    caller: Reader,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.", pattern="^file_[0-9a-f]{32}$")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """List the caller's files, newest first; an admin's list has everybody's."""
    store = service_of(request).store
    records = await run_in_threadpool(store.list_files, caller.sees, before=cursor, limit=limit + 1)
    page = records[:limit]
    next_cursor = page[-1].id if len(records) > limit else None
    return json_response({"files": [_document(record) for record in page], "next_cursor": next_cursor})


@router.get(
    "/v1/files/{file_id}",
    summary="Show a file",
    response_model=FileDocument,
    responses=documented(*EVERYWHERE, 404, 422),
)
async def show_file(request: Request, file_id: str, caller: Reader) -> Response:
    """Show a file's name, type and size."""
    return json_response(_document(await _record(service_of(request), file_id, caller)))


@router.get(
    "/v1/files/{file_id}/content",
    summary="Download a file",
    response_class=Response,
    responses=_BYTES | documented(*EVERYWHERE, 404, 422),
)
async def download_file(request: Request, file_id: str, caller: Reader) -> Response:
    """Download a file."""
    service = service_of(request)
    record = await _record(service, file_id, caller)
    try:
        stream = await run_in_threadpool(service.files.open, record.owner, record.id)
    except UnknownFile:
        raise _no_file(file_id) from None
    headers = {"Content-Disposition": attachment(record.name), "Content-Length": str(record.size)}
    return StreamingResponse(_content(stream), media_type=safe_media_type(record.media_type), headers=headers)


@router.delete("/v1/files/{file_id}", summary="Delete a file", status_code=204, responses=documented(*EVERYWHERE, 404, 422))
async def delete_file(request: Request, file_id: str, caller: Keeper) -> Response:
    """Delete a file."""
    service = service_of(request)
    record = await _record(service, file_id, caller)
    await run_in_threadpool(remove_file, service, record)
    return Response(status_code=204)


def remove_file(service: Service, record: FileRecord) -> None:
    """Take a file off the list and remove its bytes."""
    service.store.delete_file(record.id, record.owner)
    with suppress(UnknownFile):
        service.files.delete(record.owner, record.id)
    if record.media_type.startswith(MEDIA_TYPE_PREFIX):
        service.files.delete_parts(record.owner, record.id)


async def _record(service: Service, file_id: str, caller: Caller) -> FileRecord:
    record = await run_in_threadpool(service.store.get_file, file_id, caller.sees) if is_id("file", file_id) else None
    if record is None:
        raise _no_file(file_id)
    return record


def _no_file(file_id: str) -> Refusal:
    return Refusal("not-found", f"there is no file {file_id[:80]!r}")


async def _content(stream: IO[bytes]) -> AsyncIterator[bytes]:
    try:
        while chunk := await run_in_threadpool(stream.read, _READ_BYTES):
            yield chunk
    finally:
        stream.close()


def _document(record: FileRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "media_type": record.media_type,
        "size": record.size,
        "job": record.job_id,
        "created_at": timestamp(record.created_at),
    }
