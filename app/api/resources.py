"""Resources that operations make: one list for every kind that an operation of the catalogue declares.

A resource is a file of the kind's media type; what is here is no more than a view of the caller's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, create_model
from starlette.concurrency import run_in_threadpool

from app.api.files import Keeper, Reader, remove_file
from app.api.job_documents import json_response, timestamp
from app.api.refusals import EVERYWHERE, Refusal, documented
from app.api.service import Service, service_of
from app.catalogue import resource_kinds
from app.identifiers import is_id
from app.jobs.file_records import FileRecord
from app.security import Caller
from solvers.operation import Operation, UnknownFile
from solvers.resource import ResourceKind


class ResourceDocument(BaseModel):
    """Something that an operation made and that requests name by its id."""

    id: str = Field(examples=["file_0197f3c2a1b27c4d8e9f00112233aabb"])
    size: int = Field(description="Length in bytes of the file of that id, which holds it.", ge=0)
    job: str | None = Field(description="Id of the job that made it, which may be gone; null if it was uploaded or is built in.")
    created_at: datetime | None = Field(description="Null if it is built in.")


class ResourcePage(BaseModel):
    """Some of the caller's, newest first."""

    next_cursor: str | None = Field(description="Pass it as `cursor` for the following page; null on the last one.")


def resources_router(catalogue: Mapping[str, Operation[Any, Any]]) -> APIRouter:
    """Return the router that serves the kinds of resources that the operations of a catalogue make.

    Raises
    ------
    ValueError
        If two kinds have the same path, media type or plural.
    """
    router = APIRouter()
    for kind in resource_kinds(catalogue).values():
        router.include_router(_router_of(kind))
    return router


def _router_of(kind: ResourceKind) -> APIRouter:
    router = APIRouter(prefix=f"/v1/{kind.path}", tags=[kind.path.partition("/")[0]])
    shown = _model(kind, "_document", ResourceDocument, details=(kind.view, Field(description=kind.summary)))
    page = _model(kind, "_page", ResourcePage, **{kind.plural: (list[ResourceDocument], ...)})
    one, many, identifier = kind.name, kind.plural, _identifier(kind.path)

    @router.get(
        "",
        operation_id=f"list_{identifier}",
        summary=f"List {many}",
        description=f"List the caller's {many}, newest first; an admin's list has everybody's. {kind.summary}",
        response_model=page,
        responses=documented(*EVERYWHERE, 422),
    )
    async def list_resources(
        request: Request,
        caller: Reader,
        cursor: Annotated[
            str | None, Query(description="`next_cursor` of the page before.", pattern="^file_[0-9a-f]{32}$")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Response:
        store = service_of(request).store
        records = await run_in_threadpool(
            store.list_files, caller.sees, before=cursor, limit=limit + 1, media_type=kind.media_type
        )
        listed = [_document(record) for record in records[:limit]]
        next_cursor = listed[-1]["id"] if len(records) > limit else None
        return json_response({kind.plural: listed, "next_cursor": next_cursor})

    @router.get(
        "/{resource_id}",
        operation_id=f"show_{identifier}",
        summary=f"Show a {one}",
        description=f"Show a {one} of the caller's, or a built-in one. {kind.summary}",
        response_model=shown,
        responses=documented(*EVERYWHERE, 404, 422),
    )
    async def show_resource(request: Request, resource_id: str, caller: Reader) -> Response:
        return json_response(await run_in_threadpool(_shown, service_of(request), kind, resource_id, caller))

    @router.delete(
        "/{resource_id}",
        operation_id=f"delete_{identifier}",
        summary=f"Delete a {one}",
        description=f"Delete a {one} of the caller's, and the file that holds it. Built-in ones stay.",
        status_code=204,
        responses=documented(*EVERYWHERE, 404, 422),
    )
    async def delete_resource(request: Request, resource_id: str, caller: Keeper) -> Response:
        service = service_of(request)
        record = await run_in_threadpool(_record, service, kind, resource_id, caller)
        await run_in_threadpool(remove_file, service, record)
        return Response(status_code=204)

    return router


def _shown(service: Service, kind: ResourceKind, resource_id: str, caller: Caller) -> dict[str, Any]:
    demo = kind.demos.get(resource_id)
    if demo is not None:
        content = demo()
        return _details(kind, content, {"id": resource_id, "size": len(content), "job": None, "created_at": None})
    record = _record(service, kind, resource_id, caller)
    try:
        with service.files.open(record.owner, record.id) as stream:
            content = stream.read()
    except UnknownFile:
        raise _none_such(kind, resource_id) from None
    return _details(kind, content, _document(record))


def _details(kind: ResourceKind, content: bytes, document: dict[str, Any]) -> dict[str, Any]:
    return document | {"details": kind.show(content).model_dump(mode="json")}


def _record(service: Service, kind: ResourceKind, resource_id: str, caller: Caller) -> FileRecord:
    record = service.store.get_file(resource_id, caller.sees) if is_id("file", resource_id) else None
    if record is None or record.media_type != kind.media_type:
        raise _none_such(kind, resource_id)
    return record


def _none_such(kind: ResourceKind, resource_id: str) -> Refusal:
    return Refusal("not-found", f"there is no {kind.name} {resource_id[:80]!r} that could be shown or deleted")


def _document(record: FileRecord) -> dict[str, Any]:
    return {"id": record.id, "size": record.size, "job": record.job_id, "created_at": timestamp(record.created_at)}


def _model(kind: ResourceKind, suffix: str, base: type[BaseModel], **fields: Any) -> type[BaseModel]:
    name = "".join(part.capitalize() for part in f"{_identifier(kind.name)}{suffix}".split("_"))
    model: type[BaseModel] = create_model(name, __base__=base, __doc__=base.__doc__, **fields)
    return model


def _identifier(text: str) -> str:
    return text.replace("/", "_").replace("-", "_")
