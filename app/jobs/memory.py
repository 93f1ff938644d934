"""How much memory the processes of a job hold, and whether the kernel killed one for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

_CGROUP_EVENTS = Path("/sys/fs/cgroup/memory.events")


def trees(roots: Iterable[int]) -> dict[int, list[int]]:
    """Return the process ids of each root and all its descendants, from one look at the process table.

    Examples
    --------
    >>> import os
    >>> os.getpid() in trees([os.getpid()])[os.getpid()]
    True
    """
    children: dict[int, list[int]] = {}
    for process in psutil.process_iter(["ppid"]):
        children.setdefault(process.info["ppid"], []).append(process.pid)
    found = {}
    for root in roots:
        tree = [root]
        for pid in tree:
            tree.extend(children.get(pid, ()))
        found[root] = tree
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    """Return the sum of the resident memory of the processes; pages that several of them share count for each."""
    return sum(_held(pid, exact=False) for pid in pids)


def own_bytes(pids: Iterable[int]) -> int:
    """Return the memory that would be free if the processes ended: exact, but slow to find out."""
    return sum(_held(pid, exact=True) for pid in pids)


def out_of_memory_kills() -> int:
    """Return how many processes of this container the kernel has killed for lack of memory."""
    try:
        lines = _CGROUP_EVENTS.read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def _held(pid: int, *, exact: bool) -> int:
    try:
        process = psutil.Process(pid)
        return int(process.memory_full_info().uss if exact else process.memory_info().rss)
    except psutil.Error:
        return 0
