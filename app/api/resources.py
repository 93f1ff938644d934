"""Resources that operations make: one list for every kind that an operation of the catalogue declares.

A resource is a file of the kind's media type; what is here is no more than a view of the caller's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, create_model
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from app.api.file_names import attachment
from app.api.files import Keeper, Reader, remove_file
from app.api.job_documents import json_response, timestamp
from app.api.refusals import EVERYWHERE, Refusal, Responses, documented
from app.api.service import Service, service_of
from app.catalogue import resource_kinds
from app.identifiers import is_id
from app.jobs.file_records import FileRecord
from app.security import Caller
from solvers.operation import ForesolveError, Operation, UnknownFile
from solvers.resource import ResourceKind, ResourceView


class ResourceDocument(BaseModel):
    """Something that an operation made and that requests name by its id."""

    id: str = Field(examples=["file_0197f3c2a1b27c4d8e9f00112233aabb"])
    size: int = Field(description="Length in bytes of the file of that id, which holds its first version.", ge=0)
    job: str | None = Field(description="Id of the job that made it, which may be gone; null if it was uploaded or is built in.")
    created_at: datetime | None = Field(description="Null if it is built in.")


class ResourceEntry(ResourceDocument, extra="allow"):
    """One of a list, with what the list shows of each."""


class ResourcePage(BaseModel):
    """Some of the caller's, newest first."""

    next: str | None = Field(description="The same as `next_cursor`.")
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
    names = {} if kind.id_name is None else {kind.id_name: (str, Field(description="The same as `id`."))}
    shown = _model(kind, "_document", (ResourceDocument, kind.view), **names)
    listed = ResourceDocument if kind.brief is None else ResourceEntry
    page = _model(kind, "_page", (ResourcePage,), **{kind.plural: (list[listed], ...)})  # type: ignore[valid-type]
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
        name: Annotated[str | None, Query(description="Only those of this name.", max_length=200)] = None,
    ) -> Response:
        service = service_of(request)
        records = await run_in_threadpool(
            service.store.list_files,
            caller.sees,
            before=cursor,
            limit=limit + 1,
            media_type=kind.media_type,
            name=name,
            is_made=kind.is_sealed,
        )
        listed = await run_in_threadpool(_listed, service, kind, records[:limit])
        next_cursor = listed[-1]["id"] if len(records) > limit else None
        return json_response({kind.plural: listed, "next": next_cursor, "next_cursor": next_cursor})

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

    for view in kind.views:
        _add_view(router, kind, view)
    return router


def _add_view(router: APIRouter, kind: ResourceKind, view: ResourceView) -> None:
    downloads = {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in view.media_types}
    success: Responses = {200: {"description": "What was asked for.", "content": downloads}} if downloads else {}

    async def show_view(request: Request, resource_id: str, caller: Reader, query: BaseModel) -> Response:
        return await run_in_threadpool(_viewed, service_of(request), kind, view, resource_id, caller, query)

    show_view.__annotations__["query"] = Annotated[view.query, Query()]
    router.add_api_route(
        f"/{{resource_id}}/{view.name}",
        show_view,
        operation_id=f"{view.name}_of_{_identifier(kind.path)}",
        summary=view.summary,
        description=f"{view.summary} {kind.summary}",
        response_class=Response if downloads else JSONResponse,
        response_model=view.result,
        responses=success | documented(*EVERYWHERE, 404, 422),
    )


def _viewed(
    service: Service, kind: ResourceKind, view: ResourceView, resource_id: str, caller: Caller, query: BaseModel
) -> Response:
    rendered = view.render(_content(service, kind, resource_id, caller)[0], query)
    if isinstance(rendered, BaseModel):
        return Response(rendered.model_dump_json(), media_type="application/json")
    headers = {} if rendered.name is None else {"Content-Disposition": attachment(rendered.name)}
    return Response(rendered.content, media_type=rendered.media_type, headers=headers)


def _shown(service: Service, kind: ResourceKind, resource_id: str, caller: Caller) -> dict[str, Any]:
    content, record = _content(service, kind, resource_id, caller)
    built_in = {"id": resource_id, "size": len(content), "job": None, "created_at": None}
    document = built_in if record is None else _document(record)
    shown: dict[str, Any] = kind.show(content).model_dump(mode="json")
    return _named(kind, document) | shown


def _listed(service: Service, kind: ResourceKind, records: list[FileRecord]) -> list[dict[str, Any]]:
    documents = []
    for record in records:
        document = _named(kind, _document(record))
        if kind.brief is not None:
            # What was deleted since it was listed, or is forged, has nothing to tell.
            with suppress(ForesolveError):
                document |= kind.brief(kind.read(service.files.of(record.owner), record.id))
        documents.append(document)
    return documents


def _content(service: Service, kind: ResourceKind, resource_id: str, caller: Caller) -> tuple[bytes, FileRecord | None]:
    """Return the newest content of one, and its record unless it is built in."""
    if resource_id in kind.demos:
        return kind.demos[resource_id](), None
    record = _record(service, kind, resource_id, caller)
    try:
        return kind.read(service.files.of(record.owner), record.id), record
    except UnknownFile:
        raise _none_such(kind, resource_id) from None


def _record(service: Service, kind: ResourceKind, resource_id: str, caller: Caller) -> FileRecord:
    record = service.store.get_file(resource_id, caller.sees) if is_id("file", resource_id) else None
    if record is None or record.media_type != kind.media_type or (kind.is_sealed and record.job_id is None):
        raise _none_such(kind, resource_id)
    return record


def _none_such(kind: ResourceKind, resource_id: str) -> Refusal:
    return Refusal("not-found", f"there is no {kind.name} {resource_id[:80]!r} that could be shown or deleted")


def _document(record: FileRecord) -> dict[str, Any]:
    return {"id": record.id, "size": record.size, "job": record.job_id, "created_at": timestamp(record.created_at)}


def _named(kind: ResourceKind, document: dict[str, Any]) -> dict[str, Any]:
    return document if kind.id_name is None else document | {kind.id_name: document["id"]}


def _model(kind: ResourceKind, suffix: str, bases: tuple[type[Any], ...], **fields: Any) -> type[BaseModel]:
    name = "".join(part.capitalize() for part in f"{_identifier(kind.name)}{suffix}".split("_"))
    model: Any = create_model(name, __base__=bases, __doc__=bases[0].__doc__, **fields)
    return cast("type[BaseModel]", model)


def _identifier(text: str) -> str:
    return text.replace("/", "_").replace("-", "_")
