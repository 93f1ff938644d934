"""Client of the service, synchronous and asynchronous, with one method per operation of the catalogue and what they make.

>>> from app.client import Client
>>> with Client("http://127.0.0.1:8000", key="fsk_…") as client:  # doctest: +SKIP
...     cut = client.max_cut(networkx.petersen_graph(), time_limit=10, seed=1)
...     job = client.max_cut.submit(networkx.petersen_graph())
...     for event in job.events():
...         print(event.kind, event.data)
...     cut = job.result()

`client.max_cut(...)` takes what the library's function takes (a NetworkX graph, a SciPy sparse matrix, an edge array) or a
request body, and returns the operation's result model. The client imports the catalogue and the libraries, nothing of the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar, overload

import httpx
from pydantic import BaseModel

from app.async_client import AsyncClient, AsyncJobHandle
from app.client_protocol import (
    Body,
    Call,
    Flow,
    JobStatus,
    Listed,
    Pause,
    ProblemError,
    Reply,
    Resource,
    Unreachable,
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

__all__ = [
    "AsyncClient",
    "AsyncJobHandle",
    "Client",
    "Event",
    "JobHandle",
    "JobStatus",
    "ProblemError",
    "Resource",
    "Resources",
    "Unreachable",
]

T = TypeVar("T")
Result = TypeVar("Result", bound=BaseModel)


class Client(Connection):
    """Synchronous client.

    Parameters
    ----------
    url : str
        Where the service listens.
    key : str, optional
        API key.
    retries : int
        How often a call is repeated after a broken connection or an answer 429, 502 or 503; an idempotency key makes it safe.
    timeout : float
        Seconds to connect, and of silence after which a connection counts as broken.
    catalogue : str, optional
        Where the operations come from, as ``module:attribute``; default: as the service's settings say.
    transport : httpx.BaseTransport, optional
        How requests are sent; default: over the network.

    Notes
    -----
    Every operation is a method: ``graphs/max-cut`` named ``max-cut`` is :meth:`max_cut`; see :class:`OperationMethod`. What operations
    make is an attribute: ``predictors``; see :class:`Resources`.
    Errors are :class:`ProblemError` (the service said why), :class:`Unreachable` or, before anything is sent, an
    :class:`~solvers.operation.InvalidInput`. All are :class:`~solvers.operation.ForesolveError`.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        retries: int = 5,
        timeout: float = 30.0,
        catalogue: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key=key, retries=retries, timeout=timeout, catalogue=catalogue)
        self._http = httpx.Client(base_url=self.url, headers=self._headers, transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # Whatever the catalogue has: a method for an operation, an attribute for what is made.
    def __getattr__(self, name: str) -> Any:
        named = self._named(name)
        return OperationMethod(self, named) if isinstance(named, Operation) else Resources(self, named)

    @overload
    def run(self, operation: Operation[Any, Result], body: Body) -> Result: ...
    @overload
    def run(self, operation: str, body: Body) -> Any: ...
    def run(self, operation: str | Operation[Any, Any], body: Body) -> Any:
        """Solve, wait for the end however long it takes, and return the result model."""
        known = self._operation(operation)
        return known.result.model_validate_json(self._follow(completed(known.path, body, self.retries)))

    @overload
    def submit(self, operation: Operation[Any, Result], body: Body) -> JobHandle[Result]: ...
    @overload
    def submit(self, operation: str, body: Body) -> JobHandle[Any]: ...
    def submit(self, operation: str | Operation[Any, Any], body: Body) -> JobHandle[Any]:
        """Queue a job and return its handle at once."""
        known = self._operation(operation)
        return JobHandle(self, self._follow(submitted(known.path, body, self.retries)), known.result)

    def job(self, job_id: str) -> JobHandle[Any]:
        """Return the handle of a job that was submitted before."""
        operation = self.operations.get(self._follow(status_of(job_id, self.retries)).operation)
        return JobHandle(self, job_id, operation.result if operation else None)

    def jobs(self, *, limit: int = 50, **filters: str | None) -> Iterator[JobStatus]:
        """Iterate over the caller's jobs, newest first.

        Parameters
        ----------
        limit : int
            How many at most.
        **filters
            Such as ``status="running"`` or ``operation="max-cut"``.
        """
        return self._pages("jobs", JobStatus, limit, filters)

    def upload(self, content: bytes | Path, name: str | None = None) -> str:
        """Keep a file with the service and return its id, which a request may name."""
        return self._follow(uploaded(content, name or name_of(content), self.retries))

    def download(self, file_id: str) -> bytes:
        """Return the content of a file."""
        return self._get(f"/v1/files/{file_id}/content").content

    def delete_file(self, file_id: str) -> None:
        """Remove a file."""
        self._follow(exchange(Call("DELETE", f"/v1/files/{file_id}"), self.retries))

    def health(self, *, live: bool = False) -> dict[str, Any]:
        """Return what a service says of itself that is ready, or (`live`) at least answers.

        Raises
        ------
        ProblemError
            If it is not ready.
        Unreachable
            If it does not answer.
        """
        document: dict[str, Any] = (self._get("/health/live" if live else "/health/ready")).json()
        return document

    def _pages(self, path: str, model: type[Listed], limit: int, filters: Mapping[str, str | None]) -> Iterator[Listed]:
        asked = {name: value for name, value in filters.items() if value is not None}
        cursor: str | None = None
        while limit > 0:
            page, cursor = self._follow(page_of(path, model, page_query(asked, limit, cursor), self.retries))
            yield from page[:limit]
            limit -= len(page)
            if cursor is None:
                return

    def _get(self, path: str) -> httpx.Response:
        return self._follow(exchange(Call("GET", path), self.retries))

    def _follow(self, flow: Flow[T]) -> T:
        with closing(flow):
            step = next(flow)
            while True:
                reply = self._take(step)
                try:
                    step = flow.send(reply)
                except StopIteration as end:
                    value: T = end.value
                    return value

    def _take(self, step: Call | Pause) -> Reply | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        content = chunks(step.content) if isinstance(step.content, Path) else step.content
        try:
            return self._http.request(
                step.method,
                step.path,
                headers=dict(step.headers),
                params=dict(step.params),
                content=content,
                timeout=self._timeout(step),
            )
        except httpx.TransportError as error:
            return error


class JobHandle(Generic[Result]):
    """A job of the service."""

    def __init__(self, client: Client, job_id: str, result_model: type[Result] | None) -> None:
        self.id = job_id
        self._client = client
        self._result_model = result_model

    def __repr__(self) -> str:
        return f"JobHandle({self.id!r})"

    def status(self) -> JobStatus:
        """Return the job as it stands."""
        return self._client._follow(status_of(self.id, self._client.retries))

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return the result; a cancelled job's is the best that it had found.

        Raises
        ------
        TimeoutError
            If the job has not ended after `timeout` seconds; it goes on.
        ProblemError
            If the job failed, or was cancelled before it had found anything.
        """
        return parsed(self._result_model, self.result_json(timeout))

    def result_json(self, timeout: float | None = None) -> bytes:
        """Return what :meth:`result` does, as the JSON document that the service wrote."""
        return self._client._follow(result_of(self.id, timeout, self._client.retries))

    def cancel(self) -> JobStatus:
        """Ask the job to end with the best that it has found."""
        return self._client._follow(told(self.id, "cancel", self._client.retries))

    def resume(self) -> JobStatus:
        """Queue a failed or cancelled job again, to go on from its last checkpoint."""
        return self._client._follow(told(self.id, "resume", self._client.retries))

    def delete(self) -> None:
        """Remove an ended job with its result."""
        self._client._follow(exchange(Call("DELETE", f"/v1/jobs/{self.id}"), self._client.retries))

    def events(self, after: int = 0) -> Iterator[Event]:
        """Iterate over what happens to the job until it ends, across broken connections.

        Parameters
        ----------
        after : int
            Sequence number of the last event that is already known.
        """
        stream = EventStream(self.id, after, self._client.retries)
        while not stream.ended:
            try:
                with self._client._http.stream("GET", stream.path, headers=stream.headers, timeout=stream.timeout) as response:
                    if response.is_error:
                        response.read()
                    if stream.accepts(response):
                        for chunk in response.iter_bytes():
                            yield from stream.feed(chunk)
            except httpx.TransportError as error:
                stream.broken(error)
            if not stream.ended:
                time.sleep(stream.pause())


class OperationMethod:
    """One operation as a method of a :class:`Client`.

    ``method(*objects, **options)`` returns the result, ``method.submit(*objects, **options)`` a :class:`JobHandle`.
    The objects are what the operation's adapter takes (for graphs: a NetworkX graph, a SciPy sparse matrix, an edge array),
    or one request body; options are fields of the request or of its `options`.
    """

    def __init__(self, client: Client, operation: Operation[Any, Any]) -> None:
        self._client = client
        self.operation = operation
        self.__doc__ = f"{operation.summary}\n\n{operation.description}"

    def __call__(self, *objects: Any, **options: Any) -> Any:
        return self._client.run(self.operation, body_of(self.operation, *objects, **options))

    def submit(self, *objects: Any, **options: Any) -> JobHandle[Any]:
        """Queue a job and return its handle at once."""
        return self._client.submit(self.operation, body_of(self.operation, *objects, **options))


class Resources:
    """The resources of one kind as an attribute of a :class:`Client`: what operations made, until it is deleted."""

    def __init__(self, client: Client, kind: ResourceKind[Any]) -> None:
        self._client = client
        self.kind = kind
        self.__doc__ = kind.summary

    def list(self, *, limit: int = 50) -> Iterator[Resource]:
        """Iterate over the caller's, newest first, at most `limit`, without their details."""
        return self._client._pages(self.kind.path, Resource, limit, {})

    def get(self, resource_id: str) -> Resource:
        """Return one of the caller's, or a built-in one; `details` is the kind's own view of it."""
        return self._client._follow(resource_of(self.kind, resource_id, self._client.retries))

    def delete(self, resource_id: str) -> None:
        """Remove one of the caller's, and the file that holds it."""
        self._client._follow(exchange(Call("DELETE", resource_path(self.kind, resource_id)), self._client.retries))
