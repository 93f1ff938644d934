"""Plots of :mod:`benchmarks.predictions`: value, iterations and seconds to a target against the accuracy of the predictions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.predicted_instances import INVERTED, NO_PREDICTIONS
from benchmarks.predictions import EPSILONS, Line, Measure, iterations_to_target, of_advice, seconds_to_target
from benchmarks.trend import band

WITH, WITHOUT, ALONE = "#0b6e99", "#c2571a", "#555555"

# Where inverted bits stand on the axis of the epsilons.
LEFT = -1.3


def draw(problems: Iterable[str], lines: list[Line], folder: Path) -> list[Path]:
    """Draw one SVG per problem, the same bytes for the same lines, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for problem in problems:
        path = folder / f"predictions_{problem.replace('-', '_')}.svg"
        with mpl.rc_context({"svg.hashsalt": "foresolve", "svg.fonttype": "none", "font.size": 8}):
            _figure([line for line in lines if line["problem"] == problem]).savefig(path, metadata={"Date": None})
        paths.append(path)
    return paths


def _figure(lines: list[Line]) -> Figure:
    figure = Figure(figsize=(9.0, 2.7), layout="constrained")
    values, iterations, seconds = figure.subplots(1, 3)
    _curve(values, lines, lambda line: line["value_without_predictions"], "without them, in the same run", WITHOUT)
    for axes, measure in ((values, lambda line: line["value"]), (iterations, iterations_to_target), (seconds, seconds_to_target)):
        _curve(axes, lines, measure, "with predictions", WITH)
        _level(axes, lines, measure, "a run of its own without them")
        axes.set_xticks([LEFT, *range(len(EPSILONS))], [INVERTED, *EPSILONS], rotation=45)
        axes.grid(alpha=0.3)
    target = lines[0]["target"]
    values.set_title(f"value on {lines[0]['instance']}")
    iterations.set_title(f"iterations to {target}")
    seconds.set_title(f"seconds to {target}")
    for axes in (iterations, seconds):
        axes.set_ylim(bottom=0)
    figure.supxlabel("epsilon: a bit is right with probability 1/2 + epsilon")
    handles, labels = values.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def _curve(axes: Axes, lines: list[Line], measure: Measure, label: str, colour: str) -> None:
    """Draw the mean over the seeds at each epsilon with its confidence band, and the inverted bits beside them."""
    mean, low, high = np.array([band([measure(line) for line in of_advice(lines, epsilon)]) for epsilon in EPSILONS]).T
    places = np.arange(len(EPSILONS))
    axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(places, mean, color=colour, marker="o", markersize=3, label=label)
    aside = band([measure(line) for line in of_advice(lines, INVERTED)])
    axes.errorbar(
        [LEFT], [aside.mean], [[aside.mean - aside.low], [aside.high - aside.mean]], color=colour, marker="o", markersize=3
    )


def _level(axes: Axes, lines: list[Line], measure: Measure, label: str) -> None:
    """Draw the same of the runs without predictions, across."""
    level = band([measure(line) for line in of_advice(lines, NO_PREDICTIONS)])
    axes.axhspan(level.low, level.high, color=ALONE, alpha=0.12, linewidth=0)
    axes.axhline(level.mean, color=ALONE, linestyle="--", linewidth=1, label=label)
