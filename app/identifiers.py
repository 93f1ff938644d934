"""Identifiers of jobs and files: a prefix and 32 hexadecimal digits that sort by the time they were made (UUID version 7)."""

from __future__ import annotations

import re
import secrets
import threading
import time

_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return an identifier that nothing has, larger than all that this process made before.

    Examples
    --------
    >>> first, second = new_id("job"), new_id("job")
    >>> first < second, len(first)
    (True, 36)
    """
    global _last
    with _lock:
        # 48 bits of milliseconds and 12 of their fraction, counted on where the clock stands still or goes back.
        _last = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        moment = _last
    bits = (moment >> 12) << 80 | 7 << 76 | (moment & 0xFFF) << 64 | 2 << 62 | secrets.randbits(62)
    return f"{prefix}_{bits:032x}"


def is_id(prefix: str, text: str) -> bool:
    """Return whether `text` has the form of the identifiers that :func:`new_id` makes with `prefix`.

    Examples
    --------
    >>> is_id("job", new_id("job")), is_id("job", "job_../../etc/passwd")
    (True, False)
    """
    return re.fullmatch(f"{prefix}_[0-9a-f]{{32}}", text) is not None
