"""The four graph problems against their peers at equal time: one thread, one process per run, on the shipped instances.

Time counts from the instance in memory to the solution; imports and compilation come before. Every solution is valued by the same
checker. Runs go side by side, one per core. One line of JSON per run is appended to the results file of its problem, and what is there
is not run again; at the end the tables are printed, and with `--tables` written to a file, too.

    python -m benchmarks.peers                                 # ours at 1 and 10 s, peers at 10 s
    python -m benchmarks.peers --solvers foresolve --limits 60
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.instances import PROBLEMS, load, names
from benchmarks.ledger import RESULTS, Ledger
from benchmarks.peers.catalogue import compared
from benchmarks.peers.measuring import KEY, Line, Run, measure
from benchmarks.peers.plan import planned
from benchmarks.peers.tables import report


def main() -> None:
    every_solver = list(dict.fromkeys(name for problem in PROBLEMS for _, name in compared(problem)))
    every_instance = list(dict.fromkeys(name for problem in PROBLEMS for name in names(problem)))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--instances", nargs="+", default=every_instance, choices=every_instance)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--limits", nargs="+", type=float, default=[1.0, 10.0], help="seconds; peers get only the longest")
    parser.add_argument("--solvers", nargs="+", default=every_solver, choices=every_solver)
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs side by side, at most one per core")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results files")
    parser.add_argument("--tables", type=Path, help="file for the tables, beside the printed ones")
    arguments = parser.parse_args()

    plans = {}
    for problem in arguments.problems:
        instances = [name for name in names(problem) if name in arguments.instances]
        plans[problem] = planned(problem, instances, arguments.solvers, arguments.seeds, arguments.limits)
    lines = measured([run for plan in plans.values() for run in plan], arguments.results, arguments.processes)
    tables = "\n\n".join(report(problem, {run: lines[run] for run in plan}) for problem, plan in plans.items() if plan)
    print(tables)
    if arguments.tables:
        arguments.tables.write_text(f"# Foresolve and its peers\n\n{tables}\n")


def measured(runs: list[Run], folder: Path, processes: int) -> dict[Run, Line]:
    """Return the lines of the runs, each run once."""
    ledgers = {run.problem: Ledger(folder / f"{run.problem.replace('-', '_')}_peers.jsonl", KEY) for run in runs}
    distinct = list(dict.fromkeys(runs))
    with ThreadPoolExecutor(processes) as executor:
        lines = executor.map(lambda run: measure(run, load(run.problem, run.instance), ledgers[run.problem]), distinct)
        return dict(zip(distinct, lines, strict=True))


if __name__ == "__main__":
    main()
