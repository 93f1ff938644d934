"""Runs of solvers, each in a process of its own, and what their answers are worth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from benchmarks.instances import MAXIMISED, ROOT, Instance, NoSolution, members_from
from benchmarks.ledger import Ledger
from benchmarks.peers.catalogue import OURS, SOLVERS

# Solvers that look at the clock are waited for this much longer, and the notes tell who was late.
PATIENCE_SECONDS = 30.0

# Claims and bounds in floating point may be off by this, relative to their size.
TOLERANCE = 1e-6

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
KEY = ("instance", "solver", "version", "seed", "limit")
NOTHING = {"value": None, "bound": None, "seconds": None, "cpu_seconds": None}

Line = dict[str, Any]


class Run(NamedTuple):
    """What identifies a run: its problem, whose results have a file of their own, and there the fields of `KEY`."""

    problem: str
    instance: str
    solver: str
    version: str
    seed: int
    limit: float

    @property
    def key(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in KEY}


def measure(run: Run, instance: Instance, ledger: Ledger) -> Line:
    """Return the line of a run, from the file or from running it."""
    line = ledger.find(**run.key)
    if line is None:
        line = ledger.append(**run.key, **answered(run, instance))
        said = line["value"] if line.get("fault") is None else f"{line['value']} ({line['fault']})"
        print(f"{run.problem} {run.instance} {run.solver} seed {run.seed} {run.limit:g} s: {said}", file=sys.stderr, flush=True)
    return line


def answered(run: Run, instance: Instance) -> Line:
    """Return what a run came to, or its fallback if it came to nothing."""
    found = answer(run, instance)
    fallback = SOLVERS[run.problem][run.solver].fallback
    if fallback is not None and found["value"] is None:
        found = answer(run._replace(solver=fallback), instance) | {"method": fallback}
    if run.solver == OURS and "fault" in found:
        raise SystemExit(f"{run}: {found['fault']}")
    return found


def answer(run: Run, instance: Instance) -> Line:
    """Run a solver in a process of its own, and see what its answer is worth."""
    patience = PATIENCE_SECONDS if SOLVERS[run.problem][run.solver].looks_at_clock else 0.0
    arguments = [run.problem, run.solver, run.instance, str(run.seed), str(run.limit)]
    command = [sys.executable, "-m", "benchmarks.peers.child", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(command, cwd=ROOT, env=os.environ | ONE_THREAD, stderr=complaints, **pipes) as process,
    ):
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            complaints.seek(0)
            raise SystemExit(f"{' '.join(command)} did not start:\n{complaints.read()}")
        try:
            text, _ = process.communicate("go\n", timeout=run.limit + patience)
        except subprocess.TimeoutExpired:
            process.kill()
            return NOTHING | {"fault": f"no answer when it was stopped after {run.limit + patience:g} s"}
        if process.returncode:
            complaints.seek(0)
            last = (complaints.read().strip().splitlines() or ["no word"])[-1]
            return NOTHING | {"fault": f"failed with code {process.returncode}: {last[:200]}"}
    return valued(json.loads(text), instance, is_exact=run.solver == OURS)


def valued(found: dict[str, Any], instance: Instance, is_exact: bool) -> Line:
    """Return the line of an answer, its value counted by the checker.

    Parameters
    ----------
    found : dict
        What :mod:`benchmarks.peers.child` writes.
    instance : Instance
    is_exact : bool
        Whether the solver may claim no other value than the true one. A peer may claim less than it has: CP-SAT stopped early counts
        cut edges by variables that need not be tight.
    """
    line = NOTHING | {name: round(found[name], 3) for name in ("seconds", "cpu_seconds")}
    # As if all problems were maximised.
    sign = 1 if instance.problem in MAXIMISED else -1
    faults = []
    known = sign * instance.best_known
    if found["members"] is None:
        faults.append("no solution")
    else:
        try:
            line["value"] = instance.value(members_from(found["members"]))
        except NoSolution as error:
            faults.append(f"no solution: {error}")
        else:
            known = max(known, sign * line["value"])
            if found["claimed"] is not None and is_wrong(sign * found["claimed"], sign * line["value"], is_exact):
                faults.append(f"claims {found['claimed']:g} for what is worth {line['value']}")
    if found["bound"] is not None:
        if sign * found["bound"] < known - tolerance(found["bound"]):
            faults.append(f"the bound {found['bound']:g} does not hold: {sign * known} is known")
        else:
            line["bound"] = found["bound"]
    return line | {"fault": "; ".join(faults)} if faults else line


def is_wrong(claimed: float, value: float, is_exact: bool) -> bool:
    return claimed > value + tolerance(value) or (is_exact and claimed != value)


def tolerance(value: float) -> float:
    return TOLERANCE * max(1.0, abs(value))
