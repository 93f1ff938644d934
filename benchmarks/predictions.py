"""What predictions do to the four graph problems as their accuracy grows: the value, and the work and time to a target.

Every bit of the edge (or incidence) model is drawn about a shipped solution and right with probability 1/2 + epsilon. At epsilon 0 the
bits are coins and the solver is not told; inverted bits are all wrong, and the solver is told that all are right. Beside them run
searches without predictions. All are local searches of equally many iterations, so that values and iterations do not depend on the
machine; a time limit only guards. Runs go side by side, one per core. One line of JSON per run is appended to the results file, and
what is there is not run again; at the end tables and tests are printed and the plots are drawn.

    python -m benchmarks.predictions
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.instances import ROOT, own_version
from benchmarks.ledger import RESULTS, Ledger, disturbed, markdown
from benchmarks.peers.measuring import ONE_THREAD
from benchmarks.predicted_instances import INVERTED, NO_PREDICTIONS, STUDIES, drawn, load
from benchmarks.trend import band, falls, rise
from solvers.operation import Context

EPSILONS = ("0", "0.02", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5")
ADVICE = (NO_PREDICTIONS, INVERTED, *EPSILONS)
KEY = ("problem", "instance", "advice", "version", "seed", "iterations", "limit")

Line = dict[str, Any]
Measure = Callable[[Line], float]


class Run(NamedTuple):
    """What identifies a run: the fields of `KEY`."""

    problem: str
    instance: str
    advice: str
    version: str
    seed: int
    iterations: int
    limit: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(STUDIES), choices=STUDIES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--limit", type=float, default=2.0, help="seconds that guard a run")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs side by side, at most one per core")
    parser.add_argument("--results", type=Path, default=RESULTS / "predictions.jsonl")
    parser.add_argument("--plots", type=Path, default=ROOT / "docs" / "plots", help="folder of the plots")
    arguments = parser.parse_args()

    runs = planned(arguments.problems, arguments.seeds, arguments.limit, own_version())
    lines = measured(runs, Ledger(arguments.results, KEY), arguments.processes)
    print(report(arguments.problems, lines))

    from benchmarks.prediction_plots import draw

    for path in draw(arguments.problems, lines, arguments.plots):
        print(f"\nDrawn: {path}")


def planned(problems: Iterable[str], seeds: Iterable[int], limit: float, version: str) -> list[Run]:
    """Return the runs, all advice of a seed in a row, so that what disturbs the machine for a while disturbs all epsilons alike."""
    return [
        Run(problem, STUDIES[problem].instance, advice, version, seed, STUDIES[problem].iterations, limit)
        for problem in problems
        for seed in seeds
        for advice in ADVICE
    ]


def measured(runs: list[Run], ledger: Ledger, processes: int) -> list[Line]:
    """Return the lines of the runs, from the file or from running them."""
    os.environ.update(ONE_THREAD)
    missing = [run for run in runs if ledger.find(**run._asdict()) is None]
    if missing:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=warm) as executor:
            futures = {executor.submit(measure, run): run for run in missing}
            for count, future in enumerate(as_completed(futures), 1):
                line = ledger.append(**futures[future]._asdict(), **future.result())
                print(f"{count} of {len(missing)}: {line['problem']} {line['advice']}", file=sys.stderr, flush=True)
    return [line for line in (ledger.find(**run._asdict()) for run in runs) if line is not None]


def warm() -> None:
    for study in STUDIES.values():
        if study.operation.warm is not None:
            study.operation.warm()


def measure(run: Run) -> Line:
    """Solve an instance with drawn predictions, or without."""
    study, instance = STUDIES[run.problem], load(run.problem)
    options = {"method": "local_search", "max_iterations": run.iterations, "time_limit": run.limit, "seed": run.seed}
    request = study.operation.request.of(instance.content, drawn(run.problem, run.advice, run.seed), options=options)
    reports: list[Line] = []
    started, started_cpu = time.monotonic(), time.process_time()
    context = Context(run.limit, run.seed, on_report=lambda members, snapshot: reports.append(members))
    result = study.operation.run(request, context)
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - started_cpu
    if instance.value(instance.members(result.solution)) != result.value:
        raise SystemExit(f"{run}: the solution is not worth {result.value}")
    if is_better(result.value_without_predictions, result.value, study.maximises):
        raise SystemExit(f"{run}: {result.value} with predictions, {result.value_without_predictions} without in the same run")
    reference = instance.value(instance.reference)
    target = math.ceil(study.near * reference)
    reached = next((row for row in reports if not is_better(target, row["value"], study.maximises)), {})
    return {
        "reference": reference,
        "target": target,
        "value": result.value,
        "value_without_predictions": result.value_without_predictions,
        "iterations_to_target": reached.get("iterations"),
        "seconds_to_target": reached.get("seconds"),
        "stopped_by": result.stopped_by,
        "winner": result.winner,
        "epsilon_used": result.epsilon_used,
        "epsilon_estimate": result.epsilon_estimate,
        "prediction_agreement": result.prediction_agreement,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
    }


def is_better(one: float, other: float, maximises: bool) -> bool:
    return one > other if maximises else one < other


def iterations_to_target(line: Line) -> float:
    """Return the iterations of both parts up to the target; a run that missed it counts with all that it had."""
    parts = 1 if line["advice"] == NO_PREDICTIONS else 2
    reached = line["iterations_to_target"]
    return float(parts * line["iterations"] if reached is None else reached)


def seconds_to_target(line: Line) -> float:
    """Return the seconds up to the target; a run that missed it counts with its whole length."""
    reached = line["seconds_to_target"]
    return float(line["seconds"] if reached is None else reached)


def report(problems: Iterable[str], lines: list[Line]) -> str:
    """Return a table and the tests per problem, as Markdown."""
    parts = []
    for problem in problems:
        some = [line for line in lines if line["problem"] == problem]
        parts += [table(problem, some), verdicts(problem, some), robustness(some)]
    disturbance = disturbed(lines)
    return "\n\n".join([*parts, disturbance] if disturbance else parts)


def table(problem: str, lines: list[Line]) -> str:
    target, maximises = lines[0]["target"], STUDIES[problem].maximises
    worst = min if maximises else max
    header = ["predictions", "value", worst.__name__, "without, same run", f"iterations to {target}", "seconds", "reached"]
    rows = []
    for advice in ADVICE:
        some = [line for line in lines if line["advice"] == advice]
        rows.append(
            [
                advice,
                shown(some, lambda line: line["value"]),
                f"{worst(line['value'] for line in some):g}",
                "-" if advice == NO_PREDICTIONS else shown(some, lambda line: line["value_without_predictions"]),
                shown(some, iterations_to_target, digits=0),
                shown(some, seconds_to_target, digits=3),
                f"{sum(line['iterations_to_target'] is not None for line in some)} of {len(some)}",
            ]
        )
    first = lines[0]
    seeds = len({line["seed"] for line in lines})
    return (
        f"{problem}, {first['instance']}, {seeds} seeds, {first['iterations']} iterations a part, best known or close to it "
        f"{first['reference']}; mean ± half of the 95 % confidence interval:\n\n{markdown(header, rows)}"
    )


def shown(lines: list[Line], measure: Measure, digits: int = 2) -> str:
    interval = band([measure(line) for line in lines])
    return f"{interval.mean:.{digits}f} ± {interval.high - interval.mean:.{digits}f}"


def verdicts(problem: str, lines: list[Line]) -> str:
    """Return what the tests say of the measures as epsilon grows."""
    sign = 1 if STUDIES[problem].maximises else -1
    gains: dict[str, Measure] = {
        "value": lambda line: sign * line["value"],
        "iterations": lambda line: -iterations_to_target(line),
        "seconds": lambda line: -seconds_to_target(line),
    }
    sentences = []
    for name, gain in gains.items():
        levels = np.array([[gain(line) for line in of_advice(lines, epsilon)] for epsilon in EPSILONS]).T
        worse = [f"{EPSILONS[i]} to {EPSILONS[j]}" for i, j in falls(levels)]
        verdict = f"worse beyond noise from {', '.join(worse)}" if worse else "nowhere worse beyond noise"
        trend = f", rising with p = {rise(levels):.1g}" if len(levels) > 1 else ""
        sentences.append(f"- {name}: {verdict}{trend}")
    return f"{problem}, as epsilon grows (paired Student tests of all pairs, 5 % together; Page's test):\n\n" + "\n".join(
        sentences
    )


def of_advice(lines: list[Line], advice: str) -> list[Line]:
    """Return the lines of one kind of advice, in order of the seeds."""
    return sorted((line for line in lines if line["advice"] == advice), key=lambda line: line["seed"])


def robustness(lines: list[Line]) -> str:
    """Compare every `value_without_predictions` with the run without predictions, where both ended by iterations."""
    alone = {line["seed"]: line for line in of_advice(lines, NO_PREDICTIONS)}
    compared = [
        (line, alone[line["seed"]])
        for line in lines
        if line["advice"] != NO_PREDICTIONS and line["stopped_by"] == alone[line["seed"]]["stopped_by"] == "max_iterations"
    ]
    for line, other in compared:
        if line["value_without_predictions"] != other["value"]:
            raise SystemExit(f"{line} found {line['value_without_predictions']} without predictions, and alone {other['value']}")
    guarded = sum(line["stopped_by"] == "time_limit" for line in lines)
    return (
        f"No value is worse than `value_without_predictions`; in {len(compared)} pairs of runs that ended by iterations that equals the "
        f"run without predictions. The guard ended {guarded} of {len(lines)} runs."
    )


if __name__ == "__main__":
    main()
