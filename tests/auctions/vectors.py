"""Test vectors as `tests/data/` has them."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def cases(name: str) -> list[Any]:
    """Return the cases of a file of `tests/data/mlhca/`, each under its id."""
    import pytest

    document = json.loads((DATA / "mlhca" / name).read_text("utf-8"))
    return [pytest.param(case, id=case["id"]) for case in document["cases"]]
