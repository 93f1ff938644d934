"""A page about a model: what it scores, what matters, every shape function as a picture and as a table. One file that loads nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

import numpy as np

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.export.scorecard import feature_rows, html_table, quoted_name
from solvers.gam.plots import importance_image, shape_image

_STYLE = (
    # The pictures are dark on white, on a screen that is dark as well.
    ":root{color-scheme:light;background:#fff}"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .8em;border-bottom:1px solid #ddd;text-align:left}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}figure{margin:0}svg{max-width:100%;height:auto}"
    "summary{cursor:pointer;color:#1f4e79}.warning{color:#a03000}"
    "@media print{h2{break-after:avoid}figure{break-inside:avoid}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def to_report(
    model: AdditiveModel,
    *,
    title: str = "Generalized additive model",
    facts: Mapping[str, str] | None = None,
    warnings: Sequence[str] = (),
    band: float = 0.95,
) -> str:
    """Return a self-contained HTML page.

    Parameters
    ----------
    model : AdditiveModel
    title : str
    facts : mapping of str to str, optional
        Lines of the table at the top, such as score and optimality gap; default: the numbers of features and steps.
    warnings : sequence of str
    band : float
        Confidence level of the bands, where standard errors are known.

    Examples
    --------
    >>> from solvers.gam import ShapeFunction
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> page = to_report(AdditiveModel("regression", "identity", [0.5], [[age]]), title="<Claims>")
    >>> "<h1>&lt;Claims&gt;</h1>" in page
    True
    """
    size = {"Features": str(len(model.shapes)), "Steps": str(model.n_steps)}
    lines = [[name, value] for name, value in (size if facts is None else facts).items()]
    order = np.argsort(-model.importances(), kind="stable")
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        html_table(["", ""], lines),
        *(f'<p class="warning">{html.escape(warning)}</p>' for warning in warnings),
    ]
    if model.shapes:
        parts += ["<h2>What matters</h2>", _figure(importance_image(model))]
    parts += [_section(model, model.feature_names[number], band) for number in order]
    return "\n".join([*parts, "</body></html>\n"])


def _section(model: AdditiveModel, feature: str, band: float) -> str:
    heads = [quoted_name(str(label)) for label in model.classes or ()] if model.link == "softmax" else ["Score"]
    rows = [[row.condition, *(f"{score:.4f}" for score in row.scores)] for row in feature_rows(model, feature)]
    table = html_table(["Value", *heads], rows)
    return (
        f"<section>\n<h2>{html.escape(quoted_name(feature))}</h2>\n{_figure(shape_image(model, feature, band=band))}\n"
        f"<details><summary>{len(rows)} scores</summary>\n{table}\n</details>\n</section>"
    )


def _figure(svg: bytes) -> str:
    """Return a picture as an element of the page; the names of its groups would occur once in every picture."""
    text = svg.decode()
    return "<figure>" + re.sub('<g id="[^"]*"', "<g", text[text.index("<svg") :]) + "</figure>"
