"""The application, and how to serve it until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from app.api import events, files, health, jobs, metrics
from app.api.access import Gate
from app.api.fault_handlers import add_fault_handlers
from app.api.metrics import Metrics
from app.api.openapi import describe
from app.api.operations import operations_router
from app.api.pages import add_pages
from app.api.resources import resources_router
from app.api.service import Service
from app.catalogue import load_catalogue
from app.connection import Connection
from app.files import FileStore
from app.jobs.dispatcher import Dispatcher
from app.jobs.local import LocalExecutor
from app.jobs.store import JobStore
from app.logs import configure_logs
from app.middleware_origin import OriginGuard
from app.middleware_request import Incidents, RequestRecord
from app.security import require_safe_binding
from app.settings import Settings
from solvers.operation import Operation

log = structlog.get_logger("foresolve")

_KEEP_ALIVE_SECONDS = 15
_CONNECTION_GRACE_SECONDS = 10
_CORS_METHODS = ("GET", "POST", "DELETE")
_CORS_REQUEST_HEADERS = ("Authorization", "Content-Encoding", "Idempotency-Key", "Last-Event-ID", "Prefer", "X-Request-Id")
_CORS_RESPONSE_HEADERS = (
    "Foresolve-Job",
    "Foresolve-Job-Status",
    "Location",
    "Preference-Applied",
    "RateLimit-Remaining",
    "Retry-After",
    "X-Request-Id",
)


def create_app(settings: Settings | None = None, *, worker: bool = True) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    settings : Settings, optional
        Default: from the environment.
    worker : bool
        Whether jobs run here too, in worker processes of this one, or only where `foresolve worker` runs.
    """
    settings = settings or Settings()
    catalogue = load_catalogue(settings.catalogue)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = await run_in_threadpool(open_service, settings, catalogue, worker=worker)
        app.state.service = service
        try:
            yield
        finally:
            service.stopping.set()
            await run_in_threadpool(close_service, service)

    app = FastAPI(
        title="Foresolve",
        version=_version(),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=_middleware(settings, lambda: app.state.service),
    )
    add_fault_handlers(app)
    app.include_router(operations_router(catalogue))
    app.include_router(resources_router(catalogue))
    for resource in (jobs, events, files, health, metrics):
        app.include_router(resource.router)
    add_pages(app, catalogue)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    return app


def serve(settings: Settings, *, worker: bool = True) -> None:
    """Serve until a signal says to stop: then take no more work, let running jobs finish for a while, and return the rest to the queue.

    A second signal gives running jobs back to the queue at once and ends the process.

    Raises
    ------
    UnsafeConfiguration
        If others could reach the service although it has no keys.
    """
    configure_logs(settings)
    store = open_store(settings)
    try:
        require_safe_binding(settings.host, keyed=Gate(store, settings).is_keyed())
    finally:
        store.close()
    with contextlib.suppress(KeyboardInterrupt):
        Server(create_app(settings, worker=worker), settings).run()


class Server(uvicorn.Server):
    """Ends streams and waits when it is told to stop, so that open connections do not hold it up."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_CONNECTION_GRACE_SECONDS,
        )
        super().__init__(config)
        self._app = app
        self._signals = 0
        self.urls: list[str] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        await super().startup(sockets)
        for server in self.servers:
            for listener in server.sockets:
                host, port = listener.getsockname()[:2]
                self.urls.append(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        log.info("listening", urls=self.urls)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let waiting requests answer with their jobs, and stop."""
        log.info("stopping")
        self._app.state.service.stopping.set()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in good order; on the second signal without grace for jobs and connections; on the third like a crash."""
        # A signal comes in the middle of whatever runs, a log line included: no lock may be taken here.
        self._signals += 1
        if self._signals == 1:
            super().handle_exit(sig, frame)
        elif self._signals == 2:
            threading.Thread(target=self._stop_at_once, args=(128 + sig,), daemon=True).start()
        else:
            os._exit(128 + sig)

    def _stop_at_once(self, status: int) -> None:
        service = getattr(self._app.state, "service", None)
        if service is not None and service.dispatcher is not None:
            service.dispatcher.stop(0)
        os._exit(status)


def open_service(settings: Settings, catalogue: Mapping[str, Operation[Any, Any]], *, worker: bool) -> Service:
    """Open the database and the files, and start the workers."""
    store = open_store(settings)
    service = Service(
        settings=settings,
        catalogue=catalogue,
        store=store,
        files=FileStore(settings.files),
        gate=Gate(store, settings),
        metrics=Metrics(),
    )
    if worker:
        executor = LocalExecutor.from_settings(settings)
        service.dispatcher = Dispatcher(settings, store, service.files, executor, catalogue)
        service.dispatcher.start()
    return service


def close_service(service: Service) -> None:
    """Stop the workers after their grace period, and close the database."""
    if service.dispatcher is not None:
        service.dispatcher.stop(service.settings.grace_seconds)
    service.store.close()


def open_store(settings: Settings) -> JobStore:
    """Open the job database; the folder that holds it by default is for its owner's eyes only."""
    if settings.database_url is None:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return JobStore.open(settings.database)


def _middleware(settings: Settings, service: Callable[[], Service]) -> list[Middleware]:
    outermost_first = [
        Middleware(RequestRecord, observe=lambda *request: service().metrics.observe_request(*request)),
        Middleware(
            OriginGuard,
            is_keyed=lambda: service().gate.is_keyed(),
            allowed_hosts=settings.allowed_hosts,
            cors_origins=settings.cors_origins,
        ),
    ]
    if settings.cors_origins:
        outermost_first.append(
            Middleware(
                CORSMiddleware,
                allow_origins=settings.cors_origins,
                allow_methods=_CORS_METHODS,
                allow_headers=_CORS_REQUEST_HEADERS,
                expose_headers=_CORS_RESPONSE_HEADERS,
            )
        )
    return [*outermost_first, Middleware(Incidents)]


def _version() -> str:
    try:
        return version("foresolve")
    except PackageNotFoundError:
        return "unreleased"
