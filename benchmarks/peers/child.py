"""One run of one solver in a process of its own: what :mod:`benchmarks.peers.measuring` starts.

Imports and compiles first, writes `ready`, waits for a line, and then has its time: from the instance in memory to an answer, which is
one line of JSON. Models are built within the time, by everybody.

    python -m benchmarks.peers.child max-cut foresolve G1 0 10
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import TextIO

from benchmarks.instances import load
from benchmarks.peers.catalogue import SOLVERS


def main() -> None:
    replies = own_standard_output()
    problem, solver, name, seed, limit = sys.argv[1:]
    solve = SOLVERS[problem][solver].prepare(load(problem, name).content)
    gc.collect()
    print("ready", file=replies, flush=True)
    sys.stdin.readline()
    started, started_cpu = time.monotonic(), time.process_time()
    answer = solve(int(seed), float(limit))
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - started_cpu
    line = {
        "members": None if answer.members is None else "".join(map(str, answer.members.tolist())),
        "claimed": None if answer.claimed is None else float(answer.claimed),
        "bound": None if answer.bound is None else float(answer.bound),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }
    print(json.dumps(line), file=replies, flush=True)
    # Threads of a library, or what it does at its end, are no part of the answer.
    os._exit(0)


def own_standard_output() -> TextIO:
    """Return the standard output, and leave standard error in its place to the libraries that write there."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return replies


if __name__ == "__main__":
    main()
