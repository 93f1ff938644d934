"""The model as a Python module that needs nothing but `math`."""

from __future__ import annotations

from string import Template
from typing import Any

from solvers.gam.additive_model import LARGEST_EXPONENT, AdditiveModel
from solvers.gam.shape_functions import ShapeFunction

_HEAD = '''\
"""A generalized additive model that scores one row at a time.

A row is a mapping from column names to values; None and NaN are missing. `contributions(row)` says what each feature adds to
`decision(row)`, and `predict(row)` what follows from it.
"""

import math
'''

_SCORING = '''

def _score(function, value):
    """Return the score of a value: (thresholds, scores, missing), or ({level: score}, missing, unseen)."""
    if isinstance(function[0], dict):
        levels, missing, unseen = function
        return missing if value is None or value != value else levels.get(str(value), unseen)
    thresholds, scores, missing = function
    if value is None or value != value:
        return missing
    low, high = 0, len(thresholds)
    while low < high:  # the number of thresholds below the value
        middle = (low + high) // 2
        if thresholds[middle] < value:
            low = middle + 1
        else:
            high = middle
    return scores[low]


def _clipped(decision):
    return max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, decision))
'''

_ONE_OUTPUT = '''

def contributions(row):
    """Return what each feature adds to the decision, by name."""
    return {name: _score(function, row[name]) for name, (function,) in SHAPES.items()}


def decision(row):
    """Return the sum of intercept and contributions$offset."""
    return INTERCEPTS[0] + sum(contributions(row).values())$added
'''

_MANY_OUTPUTS = '''

def contributions(row):
    """Return what each feature adds to the decision of each class, by name."""
    return {name: [_score(function, row[name]) for function in functions] for name, functions in SHAPES.items()}


def decision(row):
    """Return the sum of intercept and contributions$offset, for each class."""
    parts = contributions(row).values()
    return [intercept + sum(part[output] for part in parts)$added for output, intercept in enumerate(INTERCEPTS)]
'''

_PREDICTIONS = {
    "identity": '''

def predict(row):
    """Return the mean of the target."""
    return decision(row)
''',
    "log": '''

def predict(row):
    """Return the mean of the target$exposure."""
    return math.exp(_clipped(decision(row)))$factor
''',
    "logit": '''

def predict_proba(row):
    """Return the probability of each class."""
    score = _clipped(decision(row))
    return [1 / (1 + math.exp(score)), 1 / (1 + math.exp(-score))]


def predict(row):
    """Return the class."""
    return CLASSES[1 if decision(row) > 0 else 0]
''',
    "softmax": '''

def predict_proba(row):
    """Return the probability of each class."""
    scores = decision(row)
    return [1 / sum(math.exp(_clipped(other - score)) for other in scores) for score in scores]


def predict(row):
    """Return the class; of equally probable ones, the first."""
    scores = decision(row)
    return CLASSES[scores.index(max(scores))]
''',
}


def to_python(model: AdditiveModel) -> str:
    """Return the source of a module with `contributions(row)`, `decision(row)`, `predict(row)` and, for classes, `predict_proba(row)`.

    Returns
    -------
    str
        ASCII only. The decision holds the offset; an exposure multiplies the prediction alone, and counts as 1 where it is absent.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", scores=[-1.0, 2.0], thresholds=[30.5])
    >>> module = {}
    >>> exec(to_python(AdditiveModel("classification", "logit", [0.5], [[age]], ("no", "yes"))), module)
    >>> module["decision"]({"age": 30.5}), module["predict"]({"age": 31})
    (-0.5, 'yes')
    """
    scoring = _ONE_OUTPUT if model.link != "softmax" else _MANY_OUTPUTS
    return _HEAD + _constants(model) + _SCORING + _with_offset(scoring + _PREDICTIONS[model.link], model)


def _constants(model: AdditiveModel) -> str:
    lines = [f"\nLARGEST_EXPONENT = {LARGEST_EXPONENT!r}", f"INTERCEPTS = {_tuple(model.intercepts.tolist())}"]
    if model.classes is not None:
        lines.append(f"CLASSES = {_tuple(model.classes)}")
    lines.append("SHAPES = {")
    for name, per_output in zip(model.feature_names, model.shapes, strict=True):
        lines += [f"    {name!a}: (", *(f"        {_function(shape)}," for shape in per_output), "    ),"]
    return "\n".join([*lines, "}\n"])


def _function(shape: ShapeFunction) -> str:
    if shape.kind == "numeric":
        return f"({_tuple(shape.thresholds.tolist())}, {_tuple(shape.scores.tolist())}, {shape.missing!r})"
    levels = ", ".join(f"{level!a}: {score!r}" for level, score in zip(shape.levels, shape.scores.tolist(), strict=True))
    return f"({{{levels}}}, {shape.missing!r}, {shape.unseen!r})"


def _tuple(values: Any) -> str:
    return f"({''.join(f'{value!a}, ' for value in values).rstrip(' ')})"


def _with_offset(source: str, model: AdditiveModel) -> str:
    texts = dict.fromkeys(("offset", "added", "exposure", "factor"), "")
    if model.offset is not None:
        column = ascii(model.offset.column)
        if model.offset.kind == "offset":
            texts |= {"offset": " and offset", "added": f" + row.get({column}, 0.0)"}
        else:
            texts |= {"exposure": ", times the exposure", "factor": f" * row.get({column}, 1.0)"}
    return Template(source).substitute(texts)
