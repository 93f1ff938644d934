"""Efficient allocations of the value domains: our methods beside SATS's own models in HiGHS and our programs in CP-SAT, in one run.

Every solver has one thread and the same time limit and begins with the instance in memory; building its model counts. Runs go one
after the other. One line of JSON per run is appended to the results file, and what is there is not run again; at the end a table
is printed.

    python -m benchmarks.auctions.allocations
"""

from __future__ import annotations

import argparse
import hashlib
import math
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from auctions import domains
from auctions.domains import Instance, draw_instance
from benchmarks.auctions import cp_sat_program, sats_models
from benchmarks.ledger import RESULTS, Ledger, disturbed, markdown

DOMAINS = ("gsvm", "lsvm", "srvm", "mrvm")

KEY = ("domain", "seed", "solver", "limit", "version")

# How far two proven optima may be apart: the models of SATS have other logarithms, and gaps of 1e-6.
AGREEMENT = 1e-5

OURS = "foresolve"

Line = dict[str, Any]
Found = tuple[float, float, str | None]


def ours(instance: Instance, limit: float) -> Found:
    found = instance.efficient_allocation(time_limit=limit)
    return found.welfare, found.bound, found.stopped_by


def our_program(instance: Instance, limit: float) -> Found:
    found = instance.efficient_allocation("mip", node_limit=None, time_limit=limit)
    return found.welfare, found.bound, found.stopped_by


SOLVERS: dict[str, Callable[[Instance, float], Found]] = {
    OURS: ours,
    "our program in HiGHS": our_program,
    "SATS's model in HiGHS": sats_models.solve,
    "our program in CP-SAT": cp_sat_program.solve,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domains", nargs="+", default=list(DOMAINS), choices=DOMAINS)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per run")
    parser.add_argument("--results", type=Path, default=RESULTS / "allocations.jsonl")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    code = domains_version()
    warm_up()
    lines = []
    for domain in arguments.domains:
        for solver in arguments.solvers:
            for seed in arguments.seeds:
                run = {"domain": domain, "seed": seed, "solver": solver, "limit": arguments.limit}
                line = ledger.find(**run, version=code)
                if line is None:
                    line = ledger.append(**run, version=code, **measured(domain, seed, solver, arguments.limit))
                    told(line)
                lines.append(line)
    check(lines)
    print()
    print(table(lines, arguments.limit))
    print(disturbed(lines) or "")


def told(line: Line) -> None:
    ending = line["stopped_by"] or "optimal"
    print(
        f"{line['domain']} {line['seed']} {line['solver']}: {line['welfare']:.8g} in {line['seconds']:.3g} s, {ending}",
        flush=True,
    )


def domains_version() -> str:
    """Return the version of the domains, with a digest of their sources: figures belong to the code that made them."""
    sources = sorted(Path(domains.__file__).parent.glob("*.py"))
    return f"{version('foresolve')}+{hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:8]}"


def warm_up() -> None:
    """Compile what is compiled, on instances of another seed."""
    for domain in DOMAINS:
        draw_instance(domain, 99).efficient_allocation()


def measured(domain: str, seed: int, solver: str, limit: float) -> Line:
    """Run a solver on an instance."""
    instance = draw_instance(domain, seed)
    started, cpu_started = time.perf_counter(), time.process_time()
    welfare, bound, stopped_by = SOLVERS[solver](instance, limit)
    return {
        "welfare": welfare,
        # JSON has no infinity.
        "bound": bound if math.isfinite(bound) else None,
        "stopped_by": stopped_by,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu_started,
    }


def check(lines: list[Line]) -> None:
    """End the benchmark if two solvers disagree about an instance."""
    for line in lines:
        for other in lines:
            if (line["domain"], line["seed"]) == (other["domain"], other["seed"]):
                slack = AGREEMENT * abs(line["welfare"])
                if other["bound"] is not None and line["welfare"] > other["bound"] + slack:
                    raise SystemExit(f"{line} has more than the bound of {other}")


def table(lines: list[Line], limit: float) -> str:
    """Return the median CPU seconds of each solver and domain, and how many times ours that is."""
    rows = []
    for domain in dict.fromkeys(line["domain"] for line in lines):
        mine = [line["cpu_seconds"] for line in lines if (line["domain"], line["solver"]) == (domain, OURS)]
        for solver in dict.fromkeys(line["solver"] for line in lines):
            runs = [line for line in lines if (line["domain"], line["solver"]) == (domain, solver)]
            if not runs:
                continue
            seconds = median(line["cpu_seconds"] for line in runs)
            stopped = [line for line in runs if line["stopped_by"]]
            more = "at least " if stopped else ""
            ratio = f"{more}{seconds / median(mine):.3g}" if mine else "missing"
            proven = f"{len(runs) - len(stopped)} of {len(runs)}"
            rows.append([domain, solver, f"{seconds:.3g}", ratio, proven, largest_gap(runs)])
    header = ["domain", "solver", "CPU s, median", "times ours", f"proven in {limit:g} s", "largest gap"]
    return markdown(header, rows)


def largest_gap(runs: list[Line]) -> str:
    """Return the largest gap that a run left, relative to its bound."""
    gaps = [1.0 if line["bound"] is None else max(0.0, 1.0 - line["welfare"] / line["bound"]) for line in runs]
    return f"{max(gaps):.2g}"


if __name__ == "__main__":
    main()
