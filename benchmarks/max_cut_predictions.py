"""What predictions do to MaxCut as their accuracy grows: the value of the cut, and the time to a given one.

Every edge of a Gset graph gets two bits about a cut that is the best known one or close to it, each right with probability 1/2 +
epsilon. At epsilon 0 the bits are coins and the solver is not told. Beside them run searches without predictions. Runs go side by
side, one per core. One line of JSON per run is appended to the results file, and what is there is not run again; at the end the
tables are printed and the plots are drawn.

    python -m benchmarks.max_cut_predictions
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gset import INSTANCES, ROOT, Instance, cut_value, load, own_version
from benchmarks.ledger import RESULTS, Ledger, disturbed, markdown
from benchmarks.max_cut_peers import ONE_THREAD
from solvers.graphs.max_cut import max_cut, warm
from solvers.graphs.predictions import EdgePredictions, sample_edge_predictions
from solvers.graphs.result import GraphResult

EPSILONS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
KEY = ("instance", "epsilon", "version", "seed", "limit")

# The second target: a cut within a thousandth of the reference, which runs without predictions reach, too.
NEAR = 0.999


class Run(NamedTuple):
    """What identifies a run: the fields of `KEY`. Without an epsilon there are no predictions."""

    instance: str
    epsilon: float | None
    version: str
    seed: int
    limit: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", nargs="+", default=["G1", "G14", "G22", "G43"], choices=INSTANCES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--limit", type=float, default=2.0, help="seconds a run")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs side by side, at most one per core")
    parser.add_argument("--results", type=Path, default=RESULTS / "max_cut_predictions.jsonl")
    parser.add_argument("--plots", type=Path, default=ROOT / "docs" / "plots", help="folder of the plots")
    arguments = parser.parse_args()

    version = own_version()
    runs = [
        Run(instance, epsilon, version, seed, arguments.limit)
        for instance in arguments.instances
        for epsilon in (None, *arguments.epsilons)
        for seed in arguments.seeds
    ]
    lines = measured(runs, Ledger(arguments.results, KEY), arguments.processes)
    print(report(arguments.instances, lines))

    from benchmarks.max_cut_plots import draw

    for path in draw(arguments.instances, lines, arguments.plots):
        print(f"\nDrawn: {path}")


def measured(runs: list[Run], ledger: Ledger, processes: int) -> list[dict[str, Any]]:
    """Return the lines of the runs, from the file or from running them."""
    os.environ.update(ONE_THREAD)
    missing = [run for run in runs if ledger.find(**run._asdict()) is None]
    if missing:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=warm) as executor:
            futures = {executor.submit(measure, run): run for run in missing}
            for count, future in enumerate(as_completed(futures), 1):
                line = ledger.append(**futures[future]._asdict(), **future.result())
                print(f"{count} of {len(missing)}: {line['instance']} {line['epsilon']}", file=sys.stderr, flush=True)
    return [line for line in (ledger.find(**run._asdict()) for run in runs) if line is not None]


def measure(run: Run) -> dict[str, Any]:
    """Solve an instance with drawn predictions, or without."""
    instance = _loaded(run.instance)
    predictions = None if run.epsilon is None else drawn(instance, run.epsilon, run.seed)
    started, started_cpu = time.monotonic(), time.process_time()
    result = max_cut(instance.graph, predictions, time_limit=run.limit, seed=run.seed)
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - started_cpu
    if cut_value(instance.graph, np.array(result.solution, np.int8)) != result.value:
        raise SystemExit(f"{run}: the cut is not worth {result.value}")
    if result.value < result.value_without_predictions:
        raise SystemExit(f"{run}: {result.value} with predictions, {result.value_without_predictions} without in the same run")
    return {
        "reference": instance.reference_value,
        "value": result.value,
        "value_without_predictions": result.value_without_predictions,
        "seconds_to_reference": seconds_to(result, instance.reference_value),
        "seconds_to_near": seconds_to(result, NEAR * instance.reference_value),
        "winner": result.winner,
        "epsilon_used": result.epsilon_used,
        "epsilon_estimate": result.epsilon_estimate,
        "prediction_agreement": result.prediction_agreement,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
    }


def drawn(instance: Instance, epsilon: float, seed: int) -> EdgePredictions:
    rng = np.random.default_rng([seed, round(1e6 * epsilon)])
    return sample_edge_predictions(instance.graph.edges, instance.reference, epsilon, rng)


def seconds_to(result: GraphResult, target: float) -> float | None:
    """Return when a run first held a cut of a value, or None."""
    return next((round(row.seconds, 4) for row in result.history if row.value >= target), None)


@cache
def _loaded(name: str) -> Instance:
    return load(name)


def report(instances: Iterable[str], lines: list[dict[str, Any]]) -> str:
    """Return a table per graph, as Markdown."""
    parts = [table(instance, [line for line in lines if line["instance"] == instance]) for instance in instances]
    disturbance = disturbed(lines)
    return "\n\n".join([*parts, disturbance] if disturbance else parts)


def table(instance: str, lines: list[dict[str, Any]]) -> str:
    limit, reference = lines[0]["limit"], lines[0]["reference"]
    header = [
        "epsilon",
        "value, mean",
        "least",
        "without, same run, mean",
        "least lead",
        f"s to {reference}, median",
        "reached",
        f"s to {NEAR:.1%} of it, median",
        "reached",
    ]
    rows = []
    for epsilon in sorted({line["epsilon"] for line in lines}, key=lambda one: -1 if one is None else one):
        some = [line for line in lines if line["epsilon"] == epsilon]
        values = [line["value"] for line in some]
        without = [line["value_without_predictions"] for line in some]
        lead = min(value - free for value, free in zip(values, without, strict=True))
        cells = ["no predictions" if epsilon is None else f"{epsilon:g}", f"{fmean(values):.1f}", str(min(values))]
        cells += ["-", "-"] if epsilon is None else [f"{fmean(without):.1f}", str(lead)]
        for target in ("seconds_to_reference", "seconds_to_near"):
            cells += [shown_median(some, target, limit), f"{sum(line[target] is not None for line in some)} of {len(some)}"]
        rows.append(cells)
    return f"{instance}, {len({line['seed'] for line in lines})} seeds, {limit:g} s a run:\n\n{markdown(header, rows)}"


def shown_median(lines: list[dict[str, Any]], target: str, limit: float) -> str:
    """Return the median time to a target, in which a run that missed it counts as longer than its limit."""
    middle = median(limit if line[target] is None else line[target] for line in lines)
    return f"> {limit:g}" if middle >= limit else f"{middle:.3f}"


if __name__ == "__main__":
    main()
