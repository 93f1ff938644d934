"""Which runs a comparison takes."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Collection, Sequence
from functools import cache

from benchmarks.instances import own_version
from benchmarks.peers.catalogue import OURS, SOLVERS, compared
from benchmarks.peers.measuring import Run


def planned(
    problem: str, instances: Sequence[str], solvers: Collection[str], seeds: Sequence[int], limits: Sequence[float]
) -> list[Run]:
    """Return the runs that a problem's tables show: ours at all limits, the peers at the longest."""
    runs = []
    for instance in instances:
        for asked, name in compared(problem):
            if name not in solvers:
                continue
            solver = SOLVERS[asked][name]
            for seed in seeds if solver.is_random else seeds[:1]:
                for limit in limits if name == OURS else [max(limits)]:
                    runs.append(Run(asked, instance, name, version_of(solver.package), seed, limit))
    return runs


@cache
def version_of(package: str) -> str:
    return own_version() if package == OURS else importlib.metadata.version(package)
