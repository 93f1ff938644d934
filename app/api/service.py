"""The parts of a running service, as the routers see them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import Request

from app.files import FileStore
from app.jobs.dispatcher import Dispatcher
from app.jobs.store import JobStore
from app.settings import Settings
from solvers.operation import Operation

if TYPE_CHECKING:
    from app.api.access import Gate
    from app.api.metrics import Metrics


@dataclass(eq=False)
class Service:
    """Everything that answers requests share.

    Attributes
    ----------
    dispatcher : Dispatcher or None
        None where jobs run in other processes only.
    stopping : asyncio.Event
        Set at shutdown: streams end, and waiting requests answer with their job.
    """

    settings: Settings
    catalogue: Mapping[str, Operation[Any, Any]]
    store: JobStore
    files: FileStore
    gate: Gate
    metrics: Metrics
    dispatcher: Dispatcher | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)
