"""The model as a page to read: start from the intercept, add one score for each feature, and turn the sum into the prediction."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.shape_functions import Floats, ShapeFunction
from solvers.operation import InvalidInput

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~$&])")
_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
    "td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:left}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
)


class Row(NamedTuple):
    """A condition on a feature and the score it gives to each output."""

    condition: str
    scores: Floats


def to_scorecard(model: AdditiveModel, form: Literal["markdown", "html"] = "markdown", *, digits: int = 4) -> str:
    r"""Return the model as tables of conditions and scores.

    Parameters
    ----------
    model : AdditiveModel
    form : {"markdown", "html"}
        HTML is one page that loads nothing.
    digits : int
        Decimals of scores. Thresholds are written in full.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> print(to_scorecard(AdditiveModel("classification", "logit", [0.5], [[age]], ("no", "yes"))))
    # Scorecard
    <BLANKLINE>
    Start from the intercept and add the score of each feature. With the sum s, the probability of yes is 1 / (1 + exp(-s)).
    <BLANKLINE>
    | Intercept | Score |
    | --- | ---: |
    | Start | 0.5000 |
    <BLANKLINE>
    | age | Score |
    | --- | ---: |
    | x ≤ 30.5 | -1.0000 |
    | x \> 30.5 | 2.0000 |
    | missing | 0.0000 |
    """
    if form not in ("markdown", "html"):
        raise InvalidInput(f"{form!r:.40} is neither markdown nor html", pointer="/form")
    blocks = [_table("Intercept", [Row("Start", model.intercepts)], model, form, digits)]
    blocks += [_table(quoted_name(name), feature_rows(model, name), model, form, digits) for name in model.feature_names]
    if form == "markdown":
        return "\n\n".join(["# Scorecard", _markdown(_rule(model)), *blocks]) + "\n"
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Scorecard</title><style>{_STYLE}</style></head><body>'
    return "\n".join([head, "<h1>Scorecard</h1>", f"<p>{html.escape(_rule(model))}</p>", *blocks, "</body></html>\n"])


def feature_rows(model: AdditiveModel, feature: str) -> list[Row]:
    """Return what each value of a feature adds: its intervals or levels, then missing and, for levels, any other one."""
    per_output = model.shapes[model.feature(feature)]
    if per_output[0].kind == "numeric":
        thresholds = np.unique(np.concatenate([shape.thresholds for shape in per_output])).tolist()
        edges = [-np.inf, *thresholds, np.inf]
        rows = [Row(_interval(lo, hi), _scores(per_output, hi)) for lo, hi in itertools.pairwise(edges)]
        return [*rows, Row("missing", _scores(per_output, None))]
    levels = dict.fromkeys(level for shape in per_output for level in shape.levels)
    rows = [Row(json.dumps(level, ensure_ascii=False), _scores(per_output, level)) for level in levels]
    unseen = np.array([shape.unseen for shape in per_output])
    return [*rows, Row("missing", _scores(per_output, None)), Row("any other", unseen)]


def quoted_name(name: str) -> str:
    """Return a name on one line, control characters written as escapes."""
    return json.dumps(name, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _scores(per_output: Sequence[ShapeFunction], value: Any) -> Floats:
    return np.array([shape.values([value])[0] for shape in per_output])


def _interval(lo: float, hi: float) -> str:
    if np.isinf(lo) and np.isinf(hi):
        return "any number"
    if np.isinf(lo):
        return f"x ≤ {_threshold(hi)}"
    return f"x > {_threshold(lo)}" if np.isinf(hi) else f"{_threshold(lo)} < x ≤ {_threshold(hi)}"


def _threshold(value: float) -> str:
    return repr(value).removesuffix(".0")


def _rule(model: AdditiveModel) -> str:
    added = "Start from the intercept and add the score of each feature"
    if model.offset is not None and model.offset.kind == "offset":
        added += f", and the value of {quoted_name(model.offset.column)}"
    classes = [quoted_name(str(label)) for label in model.classes or ()]
    outcome = {
        "identity": "The sum is the prediction.",
        "log": "With the sum s, the prediction is exp(s).",
        "logit": f"With the sum s, the probability of {classes[-1] if classes else ''} is 1 / (1 + exp(-s)).",
        "softmax": "With one sum for each class, the probability of class k is exp(s_k) over the sum of exp(s_l) of all classes l.",
    }[model.link]
    if model.offset is not None and model.offset.kind == "exposure":
        outcome = f"With the sum s, the prediction is exp(s) times {quoted_name(model.offset.column)}."
    return f"{added}. {outcome}"


def _table(title: str, rows: list[Row], model: AdditiveModel, form: str, digits: int) -> str:
    heads = [quoted_name(str(label)) for label in model.classes or ()] if model.link == "softmax" else ["Score"]
    cells = [[row.condition, *(f"{score:.{digits}f}" for score in row.scores)] for row in rows]
    return _markdown_table([title, *heads], cells) if form == "markdown" else html_table([title, *heads], cells)


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _markdown_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line if number == 1 else map(_markdown, line))} |" for number, line in enumerate(lines))


def html_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table whose first column is text and whose others are numbers."""

    def line(tag: str, cells: list[str]) -> str:
        marked = [f"<{tag}{' class=n' if number else ''}>{html.escape(cell)}</{tag}>" for number, cell in enumerate(cells)]
        return f"<tr>{''.join(marked)}</tr>"

    return "\n".join(["<table>", line("th", head), *(line("td", row) for row in rows), "</table>"])
