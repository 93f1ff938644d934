"""Auction mechanisms on the SATS domains: parity with published figures, and MLHCA beside its baselines.

Runs are spread over processes of one thread each. One line of JSON per finished run is appended to the results file, and what is there is
not run again; at the end, or with `--tables` at any time, the tables are written.

    python -m benchmarks.auctions.mechanisms
    python -m benchmarks.auctions.mechanisms --domains lsvm --labels MLHCA --processes 1
    python -m benchmarks.auctions.mechanisms --tables
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

from auctions.mechanism.experiment import RunSpec, run_one
from benchmarks.auctions.plan import DOMAINS, MECHANISMS, long, required, with_budget
from benchmarks.auctions.tables import tables
from benchmarks.instances import own_version
from benchmarks.ledger import RESULTS, Ledger
from benchmarks.peers.measuring import ONE_THREAD

# The version is no part of the key: auctions that take minutes are not run again for every change of the code, but their lines name it.
KEY = ("domain", "instance_seed", "seed", "label", "query_budget")

# Questions per bidder in the published runs; with others there is nothing to compare with.
PUBLISHED_BUDGET = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="more seeds, and BOCA everywhere")
    parser.add_argument("--domains", nargs="+", default=DOMAINS, choices=DOMAINS)
    parser.add_argument("--labels", nargs="+", default=list(MECHANISMS), choices=MECHANISMS)
    parser.add_argument("--query-budget", type=int, default=PUBLISHED_BUDGET, help="questions per bidder")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1), help="auctions side by side")
    parser.add_argument("--results", type=Path, default=RESULTS / "auctions.jsonl")
    parser.add_argument("--tables", action="store_true", help="write the tables of what is there and run nothing")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    specs = with_budget(long() if arguments.long else required(), arguments.query_budget)
    chosen = [spec for spec in specs if spec.instance["domain"] in arguments.domains and spec.label in arguments.labels]
    if not arguments.tables:
        run_missing(chosen, ledger, arguments.processes)
    if arguments.query_budget == PUBLISHED_BUDGET:
        text = tables([(spec, ledger.find(**identity(spec))) for spec in specs])
        print(text)
        arguments.results.with_suffix(".md").write_text(text + "\n")


def identity(spec: RunSpec) -> dict[str, Any]:
    """Return what identifies a run in the results file."""
    return {
        "domain": spec.instance["domain"],
        "instance_seed": spec.instance["seed"],
        "seed": spec.seed,
        "label": spec.label,
        "query_budget": spec.query_budget,
    }


def run_missing(specs: list[RunSpec], ledger: Ledger, processes: int) -> None:
    """Run what has no line yet, in order, and write a line as each ends."""
    missing = [spec for spec in specs if ledger.find(**identity(spec)) is None]
    if not missing:
        return
    os.environ |= ONE_THREAD
    version = own_version("auctions")
    with multiprocessing.get_context("spawn").Pool(min(processes, len(missing))) as pool:
        for spec, record in pool.imap_unordered(measured, missing):
            ledger.append(**identity(spec), version=version, mechanism=spec.mechanism, parameters=spec.parameters, **record)
            last = record["lines"][-1]
            print(
                f"{spec.instance['domain']} {spec.label} seed {spec.instance['seed']}: loss {last['loss_percent']:.2f} % after "
                f"{last['questions']} questions, {record['cpu_seconds']:.0f} CPU s",
                flush=True,
            )


def measured(spec: RunSpec) -> tuple[RunSpec, dict[str, Any]]:
    """Run an auction; beside its record the seconds that it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    record = run_one(spec)
    return spec, {
        "seconds": round(time.perf_counter() - wall, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "parts": {part: round(seconds, 2) for part, seconds in record["seconds"].items()},
        "lines": [_short(line) for line in record["lines"]],
    }


def _short(line: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a report what the run's line says already."""
    return {
        name: value
        for name, value in line.items()
        if name not in ("instance", "domain", "instance_seed", "seed", "label", "mechanism")
    }


if __name__ == "__main__":
    main()
