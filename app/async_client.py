"""The asynchronous client of the service; :mod:`app.client` has the synchronous one and the description of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar, overload

import httpx
from pydantic import BaseModel

from app.client_protocol import (
    Body,
    Call,
    Flow,
    JobStatus,
    Listed,
    Pause,
    Reply,
    Resource,
    body_of,
    chunks,
    completed,
    exchange,
    name_of,
    page_of,
    page_query,
    parsed,
    resource_of,
    resource_path,
    result_of,
    status_of,
    submitted,
    told,
    uploaded,
)
from app.event_stream import Event, EventStream
from app.service_connection import DEFAULT_URL, Connection
from solvers.operation import Operation
from solvers.resource import ResourceKind

T = TypeVar("T")
Result = TypeVar("Result", bound=BaseModel)


class AsyncClient(Connection):
    """Asynchronous client; parameters and methods are those of :class:`~app.client.Client`, awaited."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        retries: int = 5,
        timeout: float = 30.0,
        catalogue: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key=key, retries=retries, timeout=timeout, catalogue=catalogue)
        self._http = httpx.AsyncClient(base_url=self.url, headers=self._headers, transport=transport)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def __getattr__(self, name: str) -> Any:
        named = self._named(name)
        return AsyncOperationMethod(self, named) if isinstance(named, Operation) else AsyncResources(self, named)

    @overload
    async def run(self, operation: Operation[Any, Result], body: Body) -> Result: ...
    @overload
    async def run(self, operation: str, body: Body) -> Any: ...
    async def run(self, operation: str | Operation[Any, Any], body: Body) -> Any:
        """Solve, wait for the end however long it takes, and return the result model."""
        known = self._operation(operation)
        return known.result.model_validate_json(await self._follow(completed(known.path, body, self.retries)))

    @overload
    async def submit(self, operation: Operation[Any, Result], body: Body) -> AsyncJobHandle[Result]: ...
    @overload
    async def submit(self, operation: str, body: Body) -> AsyncJobHandle[Any]: ...
    async def submit(self, operation: str | Operation[Any, Any], body: Body) -> AsyncJobHandle[Any]:
        """Queue a job and return its handle at once."""
        known = self._operation(operation)
        return AsyncJobHandle(self, await self._follow(submitted(known.path, body, self.retries)), known.result)

    async def job(self, job_id: str) -> AsyncJobHandle[Any]:
        """Return the handle of a job that was submitted before."""
        operation = self.operations.get((await self._follow(status_of(job_id, self.retries))).operation)
        return AsyncJobHandle(self, job_id, operation.result if operation else None)

    def jobs(self, *, limit: int = 50, **filters: str | None) -> AsyncIterator[JobStatus]:
        """Iterate over the caller's jobs, newest first."""
        return self._pages("jobs", JobStatus, limit, filters)

    async def upload(self, content: bytes | Path, name: str | None = None) -> str:
        """Keep a file with the service and return its id, which a request may name."""
        return await self._follow(uploaded(content, name or name_of(content), self.retries))

    async def download(self, file_id: str) -> bytes:
        """Return the content of a file."""
        return (await self._get(f"/v1/files/{file_id}/content")).content

    async def delete_file(self, file_id: str) -> None:
        """Remove a file."""
        await self._follow(exchange(Call("DELETE", f"/v1/files/{file_id}"), self.retries))

    async def health(self, *, live: bool = False) -> dict[str, Any]:
        """Return what a service says of itself that is ready, or (`live`) at least answers.

        Raises
        ------
        ProblemError
            If it is not ready.
        Unreachable
            If it does not answer.
        """
        document: dict[str, Any] = (await self._get("/health/live" if live else "/health/ready")).json()
        return document

    async def _pages(
        self, path: str, model: type[Listed], limit: int, filters: Mapping[str, str | None]
    ) -> AsyncIterator[Listed]:
        asked = {name: value for name, value in filters.items() if value is not None}
        cursor: str | None = None
        while limit > 0:
            page, cursor = await self._follow(page_of(path, model, page_query(asked, limit, cursor), self.retries))
            for one in page[:limit]:
                yield one
            limit -= len(page)
            if cursor is None:
                return

    async def _get(self, path: str) -> httpx.Response:
        return await self._follow(exchange(Call("GET", path), self.retries))

    async def _follow(self, flow: Flow[T]) -> T:
        with closing(flow):
            step = next(flow)
            while True:
                reply = await self._take(step)
                try:
                    step = flow.send(reply)
                except StopIteration as end:
                    value: T = end.value
                    return value

    async def _take(self, step: Call | Pause) -> Reply | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        content = _async_chunks(step.content) if isinstance(step.content, Path) else step.content
        try:
            return await self._http.request(
                step.method,
                step.path,
                headers=dict(step.headers),
                params=dict(step.params),
                content=content,
                timeout=self._timeout(step),
            )
        except httpx.TransportError as error:
            return error


class AsyncJobHandle(Generic[Result]):
    """A job of the service; the methods are those of :class:`~app.client.JobHandle`, awaited."""

    def __init__(self, client: AsyncClient, job_id: str, result_model: type[Result] | None) -> None:
        self.id = job_id
        self._client = client
        self._result_model = result_model

    def __repr__(self) -> str:
        return f"AsyncJobHandle({self.id!r})"

    async def status(self) -> JobStatus:
        """Return the job as it stands."""
        return await self._client._follow(status_of(self.id, self._client.retries))

    async def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result; a cancelled job's is the best that it had found."""
        return parsed(self._result_model, await self.result_json(timeout))

    async def result_json(self, timeout: float | None = None) -> bytes:
        """Return what :meth:`result` does, as the JSON document that the service wrote."""
        return await self._client._follow(result_of(self.id, timeout, self._client.retries))

    async def cancel(self) -> JobStatus:
        """Ask the job to end with the best that it has found."""
        return await self._client._follow(told(self.id, "cancel", self._client.retries))

    async def resume(self) -> JobStatus:
        """Queue a failed or cancelled job again, to go on from its last checkpoint."""
        return await self._client._follow(told(self.id, "resume", self._client.retries))

    async def delete(self) -> None:
        """Remove an ended job with its result."""
        await self._client._follow(exchange(Call("DELETE", f"/v1/jobs/{self.id}"), self._client.retries))

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Iterate over what happens to the job until it ends, across broken connections."""
        stream = EventStream(self.id, after, self._client.retries)
        while not stream.ended:
            try:
                request = self._client._http.stream("GET", stream.path, headers=stream.headers, timeout=stream.timeout)
                async with request as response:
                    if response.is_error:
                        await response.aread()
                    if stream.accepts(response):
                        async for chunk in response.aiter_bytes():
                            for event in stream.feed(chunk):
                                yield event
            except httpx.TransportError as error:
                stream.broken(error)
            if not stream.ended:
                await asyncio.sleep(stream.pause())


class AsyncOperationMethod:
    """One operation as a method of an :class:`AsyncClient`; used like :class:`~app.client.OperationMethod`, awaited."""

    def __init__(self, client: AsyncClient, operation: Operation[Any, Any]) -> None:
        self._client = client
        self.operation = operation
        self.__doc__ = f"{operation.summary}\n\n{operation.description}"

    async def __call__(self, *objects: Any, **options: Any) -> Any:
        return await self._client.run(self.operation, body_of(self.operation, *objects, **options))

    async def submit(self, *objects: Any, **options: Any) -> AsyncJobHandle[Any]:
        """Queue a job and return its handle at once."""
        return await self._client.submit(self.operation, body_of(self.operation, *objects, **options))


class AsyncResources:
    """The resources of one kind as an attribute of an :class:`AsyncClient`; the methods are those of :class:`~app.client.Resources`."""

    def __init__(self, client: AsyncClient, kind: ResourceKind[Any]) -> None:
        self._client = client
        self.kind = kind
        self.__doc__ = kind.summary

    def list(self, *, limit: int = 50) -> AsyncIterator[Resource]:
        """Iterate over the caller's, newest first, at most `limit`, without their details."""
        return self._client._pages(self.kind.path, Resource, limit, {})

    async def get(self, resource_id: str) -> Resource:
        """Return one of the caller's, or a built-in one; `details` is the kind's own view of it."""
        return await self._client._follow(resource_of(self.kind, resource_id, self._client.retries))

    async def delete(self, resource_id: str) -> None:
        """Remove one of the caller's, and the file that holds it."""
        await self._client._follow(exchange(Call("DELETE", resource_path(self.kind, resource_id)), self._client.retries))


async def _async_chunks(path: Path) -> AsyncIterator[bytes]:
    for chunk in chunks(path):
        yield chunk
