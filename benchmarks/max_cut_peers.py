"""MaxCut against its peers at equal time: one thread, one process per run, on six Gset graphs.

Time counts from the graph in memory to the cut; imports and compilation come before. Every cut is counted by the same checker. Runs
go side by side, one per core. One line of JSON per run is appended to the results file, and what is there is not run again; at the
end the tables are printed.

    python -m benchmarks.max_cut_peers                                 # ours at 1 and 10 s, peers at 10 s
    python -m benchmarks.max_cut_peers --solvers foresolve --limits 60
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.gset import INSTANCES, ROOT, Instance, cut_value, load, own_version, sides_from
from benchmarks.ledger import RESULTS, Ledger, disturbed, markdown

OURS = "foresolve"
PEERS = {"dwave-tabu": "dwave-samplers", "dwave-annealing": "dwave-samplers", "cp-sat": "ortools", "networkx": "networkx"}

# These do not profit from luck: one exchanges until it cannot, the other is far from the best cuts with any seed.
RUN_ONCE = {"cp-sat", "networkx"}

# one_exchange looks at no clock and shows no cut before its last; when it must be killed, the other heuristic of the same module
# is repeated until the time is up, and the best of its cuts stands for NetworkX.
NETWORKX_EXCHANGE, NETWORKX_RANDOM = "networkx-one-exchange", "networkx-random"

# Solvers that look at the clock are waited for, and the notes tell who was late. Late is over this multiple of the limit.
PATIENCE_SECONDS = 30.0
LATE = 1.05

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
KEY = ("instance", "solver", "version", "seed", "limit")


class Run(NamedTuple):
    """What identifies a run: the fields of `KEY`."""

    instance: str
    solver: str
    version: str
    seed: int
    limit: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", nargs="+", default=list(INSTANCES), choices=INSTANCES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--limits", nargs="+", type=float, default=[1.0, 10.0], help="seconds; peers get only the longest")
    parser.add_argument("--solvers", nargs="+", default=[OURS, *PEERS], choices=[OURS, *PEERS])
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs side by side, at most one per core")
    parser.add_argument("--results", type=Path, default=RESULTS / "max_cut_peers.jsonl")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    instances = {name: load(name) for name in arguments.instances}
    plan = planned(arguments.instances, arguments.solvers, arguments.seeds, arguments.limits)
    with ThreadPoolExecutor(arguments.processes) as executor:
        lines = list(executor.map(lambda run: measure(run, instances[run.instance], ledger), plan))
    print(report(instances, plan, lines))


def planned(instances: list[str], solvers: list[str], seeds: list[int], limits: list[float]) -> list[Run]:
    runs = []
    for instance in instances:
        for solver in solvers:
            version = own_version() if solver == OURS else importlib.metadata.version(PEERS[solver])
            for seed in seeds[:1] if solver in RUN_ONCE else seeds:
                for limit in limits if solver == OURS else [max(limits)]:
                    runs.append(Run(instance, solver, version, seed, limit))
    return runs


def measure(run: Run, instance: Instance, ledger: Ledger) -> dict[str, Any]:
    """Return the line of a run, from the file or from running it."""
    line = ledger.find(**run._asdict())
    if line is None:
        line = ledger.append(**run._asdict(), **(networkx(run, instance) if run.solver == "networkx" else answer(run, instance)))
        print(f"{run.instance:4} {run.solver:16} seed {run.seed} {run.limit:g} s: {line['value']}", file=sys.stderr, flush=True)
    return line


def networkx(run: Run, instance: Instance) -> dict[str, Any]:
    exchanged = answer(run._replace(solver=NETWORKX_EXCHANGE), instance)
    if exchanged["value"] is not None:
        return exchanged | {"method": NETWORKX_EXCHANGE}
    return answer(run._replace(solver=NETWORKX_RANDOM), instance) | {"method": NETWORKX_RANDOM}


def answer(run: Run, instance: Instance) -> dict[str, Any]:
    """Run a solver in a process of its own and count its cut."""
    patience = 0.0 if run.solver == NETWORKX_EXCHANGE else PATIENCE_SECONDS
    command = [sys.executable, "-m", "benchmarks.max_cut_solvers", run.solver, run.instance, str(run.seed), str(run.limit)]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | ONE_THREAD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise SystemExit(f"{' '.join(command)} did not start")
        try:
            text, _ = process.communicate("go\n", timeout=run.limit + patience)
        except subprocess.TimeoutExpired:
            process.kill()
            if patience:
                raise SystemExit(f"{' '.join(command)} did not end") from None
            return {"value": None, "bound": None, "seconds": None, "cpu_seconds": None}
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    found = json.loads(text)
    timing = {name: round(found[name], 3) for name in ("seconds", "cpu_seconds")}
    if found["sides"] is None:
        return {"value": None, "bound": found["bound"], **timing}
    value = cut_value(instance.graph, sides_from(found["sides"]))
    # CP-SAT stopped early may count less than it has: its variables for cut edges need not be tight.
    if value < found["claimed"] or (value > found["claimed"] and run.solver == "foresolve"):
        raise SystemExit(f"{run}: the cut is worth {value}, its solver claims {found['claimed']}")
    if found["bound"] is not None and max(value, instance.best_known) > found["bound"]:
        raise SystemExit(f"{run}: the bound {found['bound']} is below a cut of {max(value, instance.best_known)}")
    return {"value": value, "bound": found["bound"], **timing}


class Column(NamedTuple):
    """A column of the tables: a solver with a time limit."""

    solver: str
    limit: float


def report(instances: dict[str, Instance], plan: list[Run], lines: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown: cuts, their share of the best known ones, and ours over each peer's."""
    columns = list(dict.fromkeys(Column(run.solver, run.limit) for run in plan))
    # Ours by time, so that the longest stands next to the peers.
    columns.sort(key=lambda column: (column.solver != OURS, column.limit if column.solver == OURS else 0))
    found = {
        (name, column): [
            line for run, line in zip(plan, lines, strict=True) if (run.instance, run.solver, run.limit) == (name, *column)
        ]
        for name in instances
        for column in columns
    }
    parts = [
        "Cuts, worst to best over the seeds:",
        cuts_table(instances, columns, found),
        "Share of the best known cut, mean over the seeds:",
        shares_table(instances, columns, found),
        ratios_table(instances, columns, found),
        *notes(lines),
    ]
    return "\n\n".join(part for part in parts if part)


Found = dict[tuple[str, Column], list[dict[str, Any]]]


def cuts_table(instances: dict[str, Instance], columns: list[Column], found: Found) -> str:
    ours = [column for column in columns if column.solver == OURS]
    header = ["graph", "best known", *map(heading, columns), *(["our bound", "proven ratio"] if ours else [])]
    rows = []
    for name, instance in instances.items():
        cells = [name, str(instance.best_known), *(spread(found[name, column]) for column in columns)]
        if ours:
            bounds = [line["bound"] for line in found[name, ours[-1]]]
            worst = min(line["value"] / line["bound"] for line in found[name, ours[-1]])
            cells += [f"{max(bounds):g}", f"{worst:.4f}"]
        rows.append(cells)
    return markdown(header, rows)


def shares_table(instances: dict[str, Instance], columns: list[Column], found: Found) -> str:
    rows = []
    for name, instance in instances.items():
        values = [[line["value"] for line in found[name, column] if line["value"] is not None] for column in columns]
        rows.append([name, *(f"{fmean(some) / instance.best_known:.4f}" if some else "-" for some in values)])
    return markdown(["graph", *map(heading, columns)], rows)


def ratios_table(instances: dict[str, Instance], columns: list[Column], found: Found) -> str:
    """Return ours over the peer's at equal time, each seed against the same seed, or against the only run that there is."""
    rows = []
    for peer in (column for column in columns if column.solver != OURS):
        ours = Column(OURS, peer.limit)
        if ours not in columns:
            continue
        ratios, missing = [], 0
        for name in instances:
            by_seed = {line["seed"]: line for line in found[name, peer]}
            for line in found[name, ours]:
                value = by_seed.get(line["seed"], found[name, peer][0])["value"]
                if value is None:
                    missing += 1
                else:
                    ratios.append(line["value"] / value)
        row = [peer.solver, *((f"{min(ratios):.4f}", f"{fmean(ratios):.4f}") if ratios else ("-", "-")), str(missing)]
        rows.append(row)
    title = f"Ours over the peer's at {max(column.limit for column in columns):g} s, over all graphs and seeds:"
    return f"{title}\n\n{markdown(['peer', 'worst', 'mean', 'runs without an answer'], rows)}" if rows else ""


def notes(lines: list[dict[str, Any]]) -> list[str]:
    said = []
    random = [line["instance"] for line in lines if line.get("method") == NETWORKX_RANDOM]
    if random:
        said.append(
            f"NetworkX: one_exchange had no answer in time on {', '.join(random)}; what is shown is the best of as many "
            "randomized_partitioning cuts as fit into the time."
        )
    late = [line for line in lines if line["seconds"] and line["seconds"] > LATE * line["limit"]]
    if late:
        listed = ", ".join(
            f"{line['solver']} on {line['instance']} ({line['seconds']:.1f} s of {line['limit']:g})" for line in late
        )
        said.append(f"Late, and counted all the same: {listed}.")
    disturbance = disturbed(lines)
    if disturbance:
        said.append(disturbance)
    return said


def heading(column: Column) -> str:
    return f"{column.solver}, {column.limit:g} s"


def spread(lines: list[dict[str, Any]]) -> str:
    values = [line["value"] for line in lines if line["value"] is not None]
    if not values:
        return "-"
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"


if __name__ == "__main__":
    main()
