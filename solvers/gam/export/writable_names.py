"""Names, levels and classes that a form of export has no way to write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from solvers.gam.additive_model import AdditiveModel
from solvers.operation import InvalidInput


def require_writable(model: AdditiveModel, unwritable: re.Pattern[str], form: str) -> None:
    r"""Raise `InvalidInput` at the first text of a model that holds a character which a form cannot write.

    Examples
    --------
    >>> require_writable(AdditiveModel("regression", "identity", [0.5], []), re.compile("\0"), "SQL")
    """
    for place, column, text in _texts(model):
        found = unwritable.search(text)
        if found:
            members = {} if column is None else {"column": column}
            raise InvalidInput(
                f"{place} {text!r:.60} holds the character {found[0]!r}, which {form} cannot write", pointer="/format", **members
            )


def _texts(model: AdditiveModel) -> Iterator[tuple[str, str | None, str]]:
    """Yield what each text is, the column it belongs to, and the text."""
    for per_output in model.shapes:
        name = per_output[0].name
        yield "the feature", name, name
        for level in dict.fromkeys(level for shape in per_output for level in shape.levels):
            yield f"feature {name!r:.60}: the level", name, level
    if model.offset is not None:
        yield "the offset column", model.offset.column, model.offset.column
    for label in model.classes or ():
        yield "the class", None, str(label)
