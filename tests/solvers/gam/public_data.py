"""Public data sets, which are not part of the repository: FORESOLVE_GAM_DATA names the folder that holds them."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np

from solvers.gam.shape_functions import CodedColumn

FOLDER = os.environ.get("FORESOLVE_GAM_DATA")


def columns_of(name: str) -> tuple[list[str], dict[str, np.ndarray | CodedColumn], np.ndarray]:
    folder = Path(str(FOLDER))
    meta = json.loads((folder / "datasets.json").read_text())[name]
    with gzip.open(folder / meta["file"], "rt") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, np.ndarray | CodedColumn] = {}
    for column in rows[0]:
        texts = [row[column] for row in rows]
        if column in meta["numeric"]:
            columns[column] = np.array([float(text) if text else np.nan for text in texts])
        elif column in meta["categorical"]:
            levels = sorted(set(texts) - {""})
            number = {level: k for k, level in enumerate(levels)} | {"": -1}
            columns[column] = CodedColumn(np.array([number[text] for text in texts]), levels)
    return list(columns), columns, np.array([float(row[meta["target"]]) for row in rows])


def some(column, rows):
    return CodedColumn(column.codes[rows], column.levels) if isinstance(column, CodedColumn) else column[rows]


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test rows."""
    test = np.sort(np.random.RandomState(seed).permutation(n)[: n // 5])
    return np.setdiff1d(np.arange(n), test), test
