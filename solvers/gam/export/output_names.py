"""Names of the columns that a scored table gains: plain, short, and none like another or like a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from solvers.gam.additive_model import AdditiveModel

LONGEST = 50  # PostgreSQL cuts names at 63 bytes


@dataclass(frozen=True)
class OutputNames:
    """Columns of a scored table.

    Attributes
    ----------
    prediction : str
    probabilities : tuple of str
        One for each class, or none.
    decisions : tuple of K str
    contributions : tuple of D tuples of K str
    """

    prediction: str
    probabilities: tuple[str, ...]
    decisions: tuple[str, ...]
    contributions: tuple[tuple[str, ...], ...]

    def every(self) -> tuple[str, ...]:
        """Return all names."""
        return (self.prediction, *self.probabilities, *self.decisions, *chain.from_iterable(self.contributions))


def output_names(model: AdditiveModel) -> OutputNames:
    """Return the columns that scoring by a model adds: `prediction`, `p_<class>`, `decision`, `f_<feature>`.

    What is no ASCII letter or digit becomes an underscore; a name that is taken, upper or lower case, gets a number.

    Examples
    --------
    >>> from solvers.gam import ShapeFunction
    >>> shapes = [[ShapeFunction(name, "numeric", [1.0])] for name in ("a b", "a?b")]
    >>> output_names(AdditiveModel("classification", "logit", [0.0], shapes, ("no", "yes")))
    OutputNames(prediction='prediction', probabilities=('p_no', 'p_yes'), decisions=('decision',), contributions=(('f_a_b',), ('f_a_b_2',)))
    """
    taken = {name.lower() for name in model.feature_names}
    if model.offset is not None:
        taken.add(model.offset.column.lower())
    labels = [str(label) for label in model.classes or ()]
    per_output = labels if model.link == "softmax" else [""]
    return OutputNames(
        free_name("prediction", taken),
        tuple(free_name(f"p_{label}", taken) for label in labels),
        tuple(free_name(_joined("decision", label), taken) for label in per_output),
        tuple(tuple(free_name(_joined(f"f_{name}", label), taken) for label in per_output) for name in model.feature_names),
    )


def _joined(*parts: str) -> str:
    return "_".join(filter(None, parts))


def free_name(wanted: str, taken: set[str]) -> str:
    """Return a name like the wanted one that is not taken, and take it; `taken` holds names in lower case."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", wanted)[:LONGEST].rstrip("_")
    name = next(name for name in _numbered(stem) if name.lower() not in taken)
    taken.add(name.lower())
    return name


def _numbered(stem: str) -> Iterable[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1
