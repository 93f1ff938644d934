"""The model and the rows of `scoring.json`."""

import json
from pathlib import Path
from typing import Any

import numpy as np

VECTORS = json.loads((Path(__file__).parents[2] / "data/gam/scoring.json").read_text())
DOCUMENT: dict[str, Any] = VECTORS["model"]
CONTRIBUTIONS = np.array([row["contributions"] for row in VECTORS["rows"]])
DECISIONS = np.array([row["decision"] for row in VECTORS["rows"]])
PROBABILITIES = np.array([row["probability"] for row in VECTORS["rows"]])


def _value(written: Any, kind: str) -> Any:
    return written if written is None or kind == "categorical" else float(written)


COLUMNS: dict[str, list[Any]] = {
    feature["name"]: [_value(row["input"][number], feature["type"]) for row in VECTORS["rows"]]
    for number, feature in enumerate(DOCUMENT["features"])
}
