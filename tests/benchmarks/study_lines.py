"""Lines as the study of predictions writes them."""

from benchmarks.predicted_instances import STUDIES
from benchmarks.predictions import EPSILONS, planned


def line_of(run, **changes):
    line = run._asdict() | {
        "reference": 100,
        "target": 100,
        "value": 100,
        "value_without_predictions": 99,
        "iterations_to_target": 5,
        "seconds_to_target": 0.5,
        "stopped_by": "max_iterations",
        "seconds": 1.0,
        "cpu_seconds": 1.0,
    }
    return line | changes


def lines_that_improve(problem, seeds=4):
    """What is found gets better with epsilon, and differs a little from seed to seed."""
    lines = []
    for run in planned([problem], range(seeds), 2.0, "v"):
        rank = EPSILONS.index(run.advice) if run.advice in EPSILONS else 0
        taken = 100 - 10 * rank + run.seed
        value = 90 + rank if STUDIES[problem].maximises else 110 - rank
        alone = 90 if STUDIES[problem].maximises else 110
        found = {"value": value, "value_without_predictions": alone}
        lines.append(line_of(run, iterations_to_target=taken, seconds_to_target=taken / 100, **found))
    return lines
