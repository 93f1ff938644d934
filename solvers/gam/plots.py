"""Pictures of a model: shape functions as steps or points, with bands, and importances as bars.

Drawn with Matplotlib, which is imported on first use, on figures of its own: nothing of `pyplot` is touched. The same model gives the
same bytes.
"""

from __future__ import annotations

import io
import threading
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.stats import norm

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.shape_functions import MISSING, Floats, ShapeFunction
from solvers.operation import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ImageFormat = Literal["svg", "png"]

INK = "#1f4e79"
WIDTH, HEIGHT = 5.6, 3.4  # inches
HEIGHT_PER_ROW = 0.26
MOST_ROWS = 60
LONGEST_NAME = 48
FARTHEST = 1e150  # beyond this Matplotlib's ticks overflow
_RENDERING = threading.Lock()  # what makes bytes reproducible is a setting of the whole process


def draw_shape(model: AdditiveModel, feature: str, ax: Axes, *, label: Any = None, band: float | None = None) -> None:
    """Draw the shape function of a feature.

    Parameters
    ----------
    model : AdditiveModel
    feature : str
    ax : matplotlib.axes.Axes
    label : optional
        With more than two classes: one of them. Default: all.
    band : float, optional
        Confidence level in (0, 1) of pointwise normal bands; drawn where standard errors are known.

    Raises
    ------
    InvalidInput
        If there is no such feature or class, or the level lies outside (0, 1).
    """
    per_output = model.shapes[model.feature(feature)]
    outputs = range(model.n_outputs) if label is None else [model.output_of(label)]
    if band is not None and not 0 < band < 1:
        raise InvalidInput(f"a confidence level lies between 0 and 1, not at {band}", pointer="/band")
    reach = 0.0 if band is None else float(norm.ppf(0.5 + band / 2))
    levels = _levels_to_show(per_output)
    for rank, output in enumerate(outputs):
        name = _shown(str(model.classes[output])) if model.classes is not None and model.link == "softmax" else None
        colour = INK if name is None else f"C{rank % 10}"
        if per_output[0].kind == "numeric":
            _draw_steps(per_output[output], ax, colour, name, reach)
        else:
            _draw_points(per_output[output], levels, ax, colour, name, reach)
    if per_output[0].kind == "numeric":
        ax.set_ylabel("score")
        ax.axhline(0, color="0.6", linewidth=0.6, zorder=0)
    else:
        _name_rows(ax, [*(f"“{level}”" for level in levels), "missing"], "score")
    _finish(ax, feature)
    if model.link == "softmax":
        for text in ax.legend(frameon=False, fontsize="small").get_texts():
            text.set_parse_math(False)


def draw_importances(model: AdditiveModel, ax: Axes, *, most: int = 20) -> None:
    """Draw the importances of features as bars, the largest on top.

    Parameters
    ----------
    model : AdditiveModel
    ax : matplotlib.axes.Axes
    most : int
        Features drawn.
    """
    shares = model.importances()
    order = np.argsort(-shares, kind="stable")[:most]
    ax.barh(np.arange(len(order)), shares[order], color=INK)
    _name_rows(ax, [model.feature_names[number] for number in order], "share of the spread of all scores")
    _finish(ax, "importance")


def shape_image(
    model: AdditiveModel, feature: str, *, label: Any = None, band: float | None = 0.95, image_format: ImageFormat = "svg"
) -> bytes:
    """Return a picture of the shape function of a feature; parameters and faults as :func:`draw_shape`.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> shape_image(AdditiveModel("regression", "identity", [0.5], [[age]]), "age")[:5]
    b'<?xml'
    """
    rows = 1 + len(_levels_to_show(model.shapes[model.feature(feature)]))
    return _rendered(lambda ax: draw_shape(model, feature, ax, label=label, band=band), rows, image_format, salt=feature)


def importance_image(model: AdditiveModel, *, most: int = 20, image_format: ImageFormat = "svg") -> bytes:
    """Return a picture of the importances of features."""
    return _rendered(lambda ax: draw_importances(model, ax, most=most), min(most, len(model.shapes)), image_format, salt="")


def _rendered(draw: Callable[[Axes], None], rows: int, image_format: ImageFormat, salt: str) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure

    metadata: dict[str, str | None] = (
        {"Date": None, "Creator": "Foresolve"} if image_format == "svg" else {"Software": "Foresolve"}
    )
    content = io.BytesIO()
    settings: Any = {"svg.hashsalt": f"foresolve {salt}", "svg.fonttype": "none", "font.size": 9.0}
    with _RENDERING, matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of letters that the font lacks
        figure = Figure(figsize=(WIDTH, max(HEIGHT, 1.0 + HEIGHT_PER_ROW * rows)), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(content, format=image_format, dpi=144, metadata=metadata)
    return content.getvalue()


def _draw_steps(shape: ShapeFunction, ax: Axes, colour: str, name: str | None, reach: float) -> None:
    edges = _edges(shape.thresholds)
    ax.stairs(shape.scores, edges, baseline=None, color=colour, label=name, linewidth=1.4)
    if reach and shape.stderr is not None:
        low, high = (
            np.append(bound, bound[-1])
            for bound in (shape.scores - reach * shape.stderr[1:], shape.scores + reach * shape.stderr[1:])
        )
        ax.fill_between(edges, low, high, step="post", color=colour, alpha=0.2, linewidth=0)
    if shape.weights is None or shape.weights[0] > 0:
        ax.axhline(shape.missing, color=colour, linestyle=":", linewidth=1)
        ax.annotate("missing", (1, shape.missing), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize="small")


def _edges(thresholds: Floats) -> Floats:
    """Return the ends of the steps, the outer ones a little beyond the thresholds."""
    inner = np.clip(thresholds, -FARTHEST, FARTHEST)
    if not len(inner):
        return np.array([0.0, 1.0])
    margin = 0.06 * (inner[-1] - inner[0]) or max(abs(inner[0]), 1.0)
    return np.concatenate([[inner[0] - margin], inner, [inner[-1] + margin]])


def _levels_to_show(per_output: Sequence[ShapeFunction]) -> list[str]:
    """Return the levels that any output knows, at most 60 of them: the heaviest."""
    weights: dict[str, float] = {}
    for shape in per_output:
        for level, weight in zip(shape.levels, shape.bin_weights[1:].tolist(), strict=False):
            weights[level] = weights.get(level, 0.0) + weight
    heaviest = set(sorted(weights, key=weights.__getitem__, reverse=True)[:MOST_ROWS])
    return [level for level in weights if level in heaviest]


def _draw_points(shape: ShapeFunction, levels: list[str], ax: Axes, colour: str, name: str | None, reach: float) -> None:
    bins = np.append(shape.bins(levels), MISSING)
    error = None if not reach or shape.stderr is None else reach * np.append(shape.stderr, np.nan)[bins]
    ax.errorbar(shape.table[bins], np.arange(len(bins)), xerr=error, fmt="o", color=colour, label=name, markersize=4, capsize=2)
    ax.grid(axis="y", color="0.9", linewidth=0.6)


def _name_rows(ax: Axes, names: list[str], quantity: str) -> None:
    """Name the rows of a picture whose quantity runs from left to right, the first row on top."""
    ax.set_yticks(np.arange(len(names)), [_shown(name) for name in names])
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(quantity)
    ax.axvline(0, color="0.6", linewidth=0.6, zorder=0)


def _finish(ax: Axes, title: str) -> None:
    ax.set_title(_shown(title), loc="left", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)


def _shown(name: str) -> str:
    """Return a name as a picture can hold it: on one line, of printable characters, and not too long."""
    printable = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in name)
    return printable if len(printable) <= LONGEST_NAME else printable[: LONGEST_NAME - 1] + "…"
