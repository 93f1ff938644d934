"""Plots of :mod:`benchmarks.max_cut_predictions`: value and time to a target against the accuracy of the predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

WITH, WITHOUT, ALONE = "#0b6e99", "#c2571a", "#555555"
Measure = Callable[[dict[str, Any]], float]


def draw(instances: list[str], lines: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Draw both plots as SVG, the same bytes for the same lines, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, panel, caption in (
        ("max_cut_value.svg", value_panel, "% of the reference cut"),
        ("max_cut_time_to_target.svg", time_panel, "s to 99.9 % of the reference"),
    ):
        with mpl.rc_context({"svg.hashsalt": "foresolve", "svg.fonttype": "none", "font.size": 9}):
            figure = Figure(figsize=(8.0, 2.7 * ((len(instances) + 1) // 2)), layout="constrained")
            grid = figure.subplots((len(instances) + 1) // 2, min(2, len(instances)), squeeze=False)
            for axes in grid.flat[len(instances) :]:
                axes.remove()
            for instance, axes in zip(instances, grid.flat, strict=False):
                panel(axes, [line for line in lines if line["instance"] == instance])
                axes.set_title(instance)
                axes.grid(alpha=0.3)
            figure.supxlabel("epsilon: a bit is right with probability 1/2 + epsilon")
            figure.supylabel(caption)
            handles, labels = grid.flat[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
            figure.savefig(folder / name, metadata={"Date": None})
        paths.append(folder / name)
    return paths


def value_panel(axes: Axes, lines: list[dict[str, Any]]) -> None:
    def percent(field: str) -> Measure:
        return lambda line: 100 * line[field] / line["reference"]

    curve(axes, lines, percent("value"), "with predictions", WITH, ends=(0, 100))
    curve(axes, lines, percent("value_without_predictions"), "without them, in the same run", WITHOUT, ends=(0, 100))
    level(axes, lines, percent("value"), "a run of its own without them", ends=(0, 100))


def time_panel(axes: Axes, lines: list[dict[str, Any]]) -> None:
    """Draw medians and quartiles; a run that missed the target counts with its limit."""

    def seconds(line: dict[str, Any]) -> float:
        reached = line["seconds_to_near"]
        return float(line["limit"] if reached is None else reached)

    curve(axes, lines, seconds, "with predictions", WITH, ends=(25, 75))
    level(axes, lines, seconds, "without them", ends=(25, 75))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def curve(axes: Axes, lines: list[dict[str, Any]], measure: Measure, label: str, colour: str, ends: tuple[int, int]) -> None:
    """Draw the median over the seeds at each epsilon, and the band between two percentiles."""
    epsilons = sorted({line["epsilon"] for line in lines if line["epsilon"] is not None})
    samples = [[measure(line) for line in lines if line["epsilon"] == epsilon] for epsilon in epsilons]
    low, middle, high = np.array([np.percentile(sample, (ends[0], 50, ends[1])) for sample in samples]).T
    places = np.arange(len(epsilons))
    axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(places, middle, color=colour, marker="o", markersize=3, label=label)
    axes.set_xticks(places, [f"{epsilon:g}" for epsilon in epsilons])


def level(axes: Axes, lines: list[dict[str, Any]], measure: Measure, label: str, ends: tuple[int, int]) -> None:
    """Draw the same of the runs without predictions, across."""
    low, middle, high = np.percentile([measure(line) for line in lines if line["epsilon"] is None], (ends[0], 50, ends[1]))
    axes.axhspan(low, high, color=ALONE, alpha=0.12, linewidth=0)
    axes.axhline(middle, color=ALONE, linestyle="--", linewidth=1, label=label)
