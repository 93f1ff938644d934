"""A folder of small data sets as the GAM benchmark reads them."""

import gzip
import hashlib
import json

import numpy as np

LEVELS = ("low", "None", "high")


def write_folder(folder, n_rows=400):
    """Write a regression and a classification of a number and a category, some cells of both missing."""
    rng = np.random.default_rng(5)
    x, level = rng.integers(0, 20, n_rows), rng.integers(0, 3, n_rows)
    signal = np.sin(x / 3.0) + 0.5 * level
    targets = {"regression": signal + 0.3 * rng.standard_normal(n_rows), "classification": (signal > 0.7).astype(int)}
    entries = {}
    for task, y in targets.items():
        cells = [
            (a if i % 17 else "", b if i % 13 else "", c)
            for i, (a, b, c) in enumerate(zip(x, [LEVELS[k] for k in level], y, strict=True))
        ]
        content = gzip.compress("\n".join(["x,level,y", *(f"{a},{b},{c}" for a, b, c in cells)]).encode())
        (folder / f"{task}.csv.gz").write_bytes(content)
        entries[task] = {
            "file": f"{task}.csv.gz",
            "task": task,
            "target": "y",
            "numeric": ["x"],
            "categorical": ["level"],
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    (folder / "datasets.json").write_text(json.dumps(entries))
    return folder
