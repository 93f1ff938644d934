"""The data sets of the GAM benchmark and their splits.

The folder that FORESOLVE_GAM_DATA names holds `datasets.json` (file, digest, columns by kind, target and task of each), the
tables as CSV and, if there are scores to be reached, `reference_scores.csv`. None of it is shipped; benchmarks/README.md says where the
tables come from.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

FOLDER_VARIABLE = "FORESOLVE_GAM_DATA"
TEST_SHARE = 5  # one row of five


class DataSet(NamedTuple):
    """A table and what is to be predicted.

    Attributes
    ----------
    X : DataFrame
        Numbers as float64, categories as texts; missing values are NaN.
    y : float64 array of shape (N,)
        The target, or 1 for the positive class and 0 for the other.
    numeric, categorical : tuple of str
        The columns of X by kind, in this order.
    """

    name: str
    X: pd.DataFrame
    y: npt.NDArray[np.float64]
    numeric: tuple[str, ...]
    categorical: tuple[str, ...]
    is_classification: bool


class Split(NamedTuple):
    """Positions of the training and of the test rows, ascending."""

    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def folder() -> Path:
    """Return the folder of the data."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        raise SystemExit(f"{FOLDER_VARIABLE} must name the folder of the data sets; see benchmarks/README.md")
    return Path(named)


def catalogue() -> dict[str, dict[str, Any]]:
    """Return what is known of every data set, by name."""
    entries: dict[str, dict[str, Any]] = json.loads((folder() / "datasets.json").read_text())
    return entries


def load(name: str) -> DataSet:
    """Read a data set; ValueError if its file is not the one that was described."""
    entry = catalogue()[name]
    path = folder() / entry["file"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        raise ValueError(f"{path} is not the file that datasets.json describes")
    numeric, categorical, target = tuple(entry["numeric"]), tuple(entry["categorical"]), entry["target"]
    kinds = {**dict.fromkeys(numeric, "float64"), **dict.fromkeys(categorical, "object")}
    # Only an empty cell is missing: "NA" or "None" may be a level.
    table = pd.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])
    is_classification = entry["task"] == "classification"
    return DataSet(
        name, table[[*numeric, *categorical]], table[target].to_numpy(np.float64), numeric, categorical, is_classification
    )


def split(n_rows: int, seed: int) -> Split:
    """Draw the rows of the test: a fifth, by the permutation of NumPy's RandomState of that seed."""
    drawn = np.random.RandomState(seed).permutation(n_rows)
    return Split(np.sort(drawn[n_rows // TEST_SHARE :]), np.sort(drawn[: n_rows // TEST_SHARE]))
