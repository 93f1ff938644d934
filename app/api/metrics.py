"""What the service counts, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool

from app.api.access import requires
from app.api.refusals import EVERYWHERE, Responses, documented
from app.api.service import service_of
from app.jobs.store import Job

router = APIRouter(tags=["service"])

_TEXT: Responses = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "foresolve_http_requests", "HTTP requests.", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "foresolve_http_request_seconds", "Seconds from a request to its last byte.", ["route"], registry=self.registry
        )
        self._job_seconds = Histogram(
            "foresolve_job_seconds",
            "Seconds from start to end of the jobs that requests waited for.",
            ["operation", "status"],
            registry=self.registry,
        )
        self._jobs = Gauge("foresolve_jobs", "Jobs that have not ended, by status.", ["status"], registry=self.registry)
        self._workers = Gauge("foresolve_workers", "Live dispatchers.", registry=self.registry)

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; methods nobody knows share a label, lest a caller make labels without end."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def observe_job(self, job: Job) -> None:
        """Count a job that a request waited for."""
        if job.started_at is not None and job.finished_at is not None:
            self._job_seconds.labels(job.operation, job.status).observe(job.finished_at - job.started_at)

    def text(self, jobs: Mapping[str, int], workers: int) -> bytes:
        """Return everything, with these numbers of jobs and workers."""
        for status, count in jobs.items():
            self._jobs.labels(status).set(count)
        self._workers.set(workers)
        return generate_latest(self.registry)


@router.get(
    "/metrics",
    summary="Read the metrics",
    response_class=Response,
    responses=_TEXT | documented(*EVERYWHERE),
    dependencies=[requires("metrics")],
)
async def metrics(request: Request) -> Response:
    """Return the service's metrics in Prometheus' text format."""
    service = service_of(request)
    content = await run_in_threadpool(lambda: service.metrics.text(service.store.queue_lengths(), service.store.live_workers()))
    return Response(content, media_type=CONTENT_TYPE_LATEST)
