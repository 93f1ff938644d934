"""Structured logs: one line per event with its request id, readable on a terminal or as JSON."""

from __future__ import annotations

import logging
import sys
from typing import Any

import orjson
import structlog

from app.settings import Settings


def configure_logs(settings: Settings) -> None:
    """Send the logs of this process, the libraries' too, to standard error in one form."""
    level = logging.getLevelNamesMapping().get(settings.log_level.upper(), logging.INFO)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if settings.log_json:
        last: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]
    else:
        last = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    structlog.configure(
        processors=shared + last,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
        )
    )
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def _json(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str).decode()
