"""Stump-forest GAMs against their peers: one thread, the same splits of real data sets, all parameters chosen by the methods.

Runs of different methods go side by side, one per core. One line of JSON per run is appended to the results file, and what is there is
not run again; at the end the tables and the gates are printed. FORESOLVE_GAM_DATA names the folder of the data sets.

    python -m benchmarks.gam.peers
    python -m benchmarks.gam.peers --data wage concrete --methods foresolve ebm --seeds 0 1 2
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.gam.comparison import REFERENCE_SEEDS, Line, report
from benchmarks.gam.data_sets import catalogue, folder
from benchmarks.gam.methods import METHODS
from benchmarks.instances import ROOT, own_version
from benchmarks.ledger import RESULTS, Ledger, disturbed
from benchmarks.peers.measuring import ONE_THREAD

KEY = ("data", "method", "version", "seed")


class Run(NamedTuple):
    """What identifies a run: the fields of `KEY`."""

    data: str
    method: str
    version: str
    seed: int


def main() -> None:
    known = list(catalogue())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=known, choices=known)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)), help="of the splits")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs side by side, at most one per core")
    parser.add_argument("--results", type=Path, default=RESULTS / "gam_peers.jsonl")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    groups = [(data, method) for data in arguments.data for method in arguments.methods]
    with ThreadPoolExecutor(arguments.processes) as executor:
        lines = list(executor.map(lambda group: measure(*group, arguments.seeds, ledger), groups))
    found: dict[str, dict[str, list[Line]]] = {data: {} for data in arguments.data}
    for (data, method), some in zip(groups, lines, strict=True):
        found[data][method] = some
    print(report(found, reference_losses()))
    disturbance = disturbed([line for some in lines for line in some])
    if disturbance:
        print(f"\n{disturbance}")


def measure(data: str, method: str, seeds: list[int], ledger: Ledger) -> list[Line]:
    """Return the lines of a method on a data set in the order of the seeds, from the file or from running it in one process."""
    runs = [Run(data, method, version(method), seed) for seed in seeds]
    missing = [run.seed for run in runs if ledger.find(**run._asdict()) is None]
    if missing:
        run_child(data, method, missing, ledger)
    lines = [ledger.find(**run._asdict()) for run in runs]
    return [line for line in lines if line is not None]


def run_child(data: str, method: str, seeds: list[int], ledger: Ledger) -> None:
    command = [sys.executable, "-m", "benchmarks.gam.child", method, data, *map(str, seeds)]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for text in process.stdout:
            line: dict[str, Any] = json.loads(text)
            ledger.append(data=data, method=method, version=version(method), **line)
            print(f"{data} {method} seed {line['seed']}: {line['loss']:.5g}", file=sys.stderr, flush=True)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")


@cache
def version(method: str) -> str:
    """Return the version of a method's package, of ours with a digest of its sources."""
    package = METHODS[method].package
    return own_version("gam") if package == "foresolve" else importlib.metadata.version(package)


def reference_losses() -> dict[str, float]:
    """Return the mean losses of the reference implementation, by data set; none if the folder has none."""
    path = folder() / "reference_scores.csv"
    losses: dict[str, list[float]] = defaultdict(list)
    if not path.exists():
        return losses
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["method"] == "SF" and int(row["split_seed"]) in REFERENCE_SEEDS:
                losses[row["data"]].append(float(row["rmse"] or row["log_loss"]))
    return {data: fmean(some) for data, some in losses.items()}


if __name__ == "__main__":
    main()
