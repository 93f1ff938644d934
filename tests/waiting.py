"""Waiting for something to become true, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 30.0


def eventually(is_true: Callable[[], object], patience: float = PATIENCE) -> None:
    """Return once `is_true` holds; fail when it does not within `patience` seconds."""
    deadline = time.monotonic() + patience
    while not is_true():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.005)
