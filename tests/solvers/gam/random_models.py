"""Seeded random models and rows that try every edge: values at thresholds and beside them, odd names, missing and unseen values."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.gam import AdditiveModel, Offset, ShapeFunction

ODD_NAMES = (
    "age",
    "Größe in m²",
    'say "hi"',
    "it's",
    "a`b",
    "x]y",
    "two words",
    "1st",
    "select",
    "a.b",
    "a\\b",
    "'; DROP TABLE scored; --",
    "=cmd|'/C calc'!A0",
    "<script>alert(1)</script>",
    "%s {0} $x",
    "😀",
    "decision",
    "-- comment /* x */",
)
ODD_LEVELS = (
    "basic",
    "pro",
    "PRO",
    "",
    " ",
    "pro ",
    " pro",
    "it's",
    'q"q',
    "line\nbreak",
    "car\rriage",
    "tab\tbed",
    "back\\slash",
    "back\\\nslash",
    "ends in \\",
    "'; DROP TABLE scored; --",
    "=1+1",
    "<b>&amp;</b>",
    "Größe",
    "😀",
    "NaN",
    "null",
    "None",
    "1",
    "%s",
    "{x}",
    "${x}",
    "a|b",
)


def a_numeric_shape(rng: np.random.Generator, name: str) -> ShapeFunction:
    scale = 10.0 ** rng.integers(-6, 7)
    thresholds = np.unique(rng.normal(size=rng.integers(0, 12)) * scale)
    if rng.random() < 0.3:
        thresholds = np.unique(np.concatenate([thresholds, [0.0, 0.1, np.nextafter(0.1, 1), 1e300, -1e300]]))
    n_bins = len(thresholds) + 1
    return ShapeFunction(name, "numeric", rng.normal(size=n_bins), thresholds, missing=rng.normal(), **uncertainty(rng, n_bins))


def a_categorical_shape(rng: np.random.Generator, name: str) -> ShapeFunction:
    levels = tuple(rng.permutation(ODD_LEVELS)[: rng.integers(1, len(ODD_LEVELS) - 2)].tolist())
    n_bins = len(levels)
    return ShapeFunction(
        name, "categorical", rng.normal(size=n_bins), (), levels, rng.normal(), rng.normal(), **uncertainty(rng, n_bins)
    )


def uncertainty(rng: np.random.Generator, n_bins: int) -> dict[str, Any]:
    return {"weights": rng.integers(1, 50, n_bins + 1), "stderr": rng.random(n_bins + 1)}


def a_model(seed: int, link: str) -> AdditiveModel:
    """A model of 1 to 6 features; of every two seeds, one has an offset column."""
    rng = np.random.default_rng([seed, 17])
    n_outputs = int(rng.integers(3, 6)) if link == "softmax" else 1
    names = rng.permutation(ODD_NAMES)[: rng.integers(1, 7)].tolist()
    shapes = []
    for name in names:
        make = a_numeric_shape if rng.random() < 0.6 else a_categorical_shape
        shapes.append([make(rng, name) for _ in range(n_outputs)])
    offset = None
    if seed % 2 and link != "softmax":
        offset = Offset("years'\"", "exposure" if link == "log" else "offset")
    classes = {"logit": ("no", "it's"), "softmax": ODD_LEVELS[:n_outputs]}.get(link)
    task = "classification" if classes else "regression"
    return AdditiveModel(task, link, rng.normal(size=n_outputs), shapes, classes, offset)


def rows_for(model: AdditiveModel, seed: int, n_rows: int = 60) -> dict[str, list[Any]]:
    """Columns by name: thresholds exactly, one ulp beside, infinities, both zeros, missing; levels, seen and unseen."""
    rng = np.random.default_rng([seed, 23])
    columns: dict[str, list[Any]] = {}
    for per_output in model.shapes:
        pool: list[Any] = []
        for shape in per_output:
            if shape.kind == "numeric":
                at = shape.thresholds
                pool += [*at, *np.nextafter(at, np.inf), *np.nextafter(at, -np.inf), *(at[:-1] + np.diff(at) / 2)]
                pool += [np.inf, -np.inf, 0.0, -0.0, float(rng.normal())]
            else:
                pool += [*shape.levels, "unseen", "", "BASIC", "basic ", "pro\x00"[:3]]
        pool += [None] * (1 + len(pool) // 8)
        columns[per_output[0].name] = [
            pool[i] if pool[i] is None else _plain(pool[i]) for i in rng.integers(0, len(pool), n_rows)
        ]
    if model.offset is not None:
        columns[model.offset.column] = rng.uniform(0.5, 2.0, n_rows).tolist()
    return columns


def offsets_of(model: AdditiveModel, columns: dict[str, list[Any]]) -> np.ndarray | None:
    """What the offset column adds to the decision."""
    return None if model.offset is None else model.offset.on_link_scale(columns[model.offset.column])


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, np.floating) else value
