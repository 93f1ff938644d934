"""Problems for the engine's tests: vectors from files, random tables, and a table summed up for a fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from solvers.gam.binning import BinnedTable, bin_table
from solvers.gam.candidate_columns import CandidateColumns, candidate_columns
from solvers.gam.forest import Forest
from solvers.gam.gram import Gram, Response, build_gram, respond
from solvers.gam.shape_functions import CodedColumn

VECTORS = Path(__file__).parents[2] / "data" / "gam"


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def numbers(values: Any) -> np.ndarray:
    """Return floats of nested lists that may hold null and "inf"."""
    return np.array([[np.nan if v is None else float(v) for v in row] if isinstance(row, list) else row for row in values], float)


@dataclass(frozen=True)
class Problem:
    table: BinnedTable
    columns: CandidateColumns
    gram: Gram
    response: Response
    z: np.ndarray
    weights: np.ndarray | None

    def indicators(self) -> np.ndarray:
        """Return the 0/1 columns, shape (N, p)."""
        codes = self.table.codes[self.columns.feature]
        cut = self.columns.cut[:, None]
        return np.where(self.columns.is_level[:, None], codes == cut, codes > cut).T.astype(float)

    def residual(self, forest: Forest) -> np.ndarray:
        return self.z - forest.intercept - self.indicators() @ forest.heights(len(self.columns))

    def objective(self, forest: Forest, alpha: float, *, l1: float = 0.0, l0: float = 0.0, smoothing: float = 0.0) -> float:
        """Return J, computed from the rows."""
        weights = np.ones(len(self.z)) if self.weights is None else self.weights
        ridge = forest.steps**2 / (forest.multiplicity + smoothing)
        penalty = alpha / 2 * ridge.sum() + l1 * np.abs(forest.steps).sum() + l0 * forest.multiplicity.sum()
        return float(weights @ self.residual(forest) ** 2 / 2 + penalty)

    def index(self, feature: int, threshold: float) -> int:
        at = (self.columns.feature == feature) & (self.columns.thresholds(self.table) == threshold)
        return int(np.flatnonzero(at)[0])


def problem(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    min_samples_leaf: float = 0,
    max_bins: Any = None,
    monotonic_cst: Any = None,
) -> Problem:
    """Bin the columns of X and sum the rows up; weights of one are left out."""
    X, z = numbers(X), np.array(y, float)
    weights = None if weights is None or np.all(np.array(weights) == 1) else np.array(weights, float)
    names = [f"x{d}" for d in range(X.shape[1])]
    return summed_up(bin_table(list(X.T), names, max_bins=max_bins, weights=weights), z, weights, min_samples_leaf, monotonic_cst)


def summed_up(
    table: BinnedTable, z: np.ndarray, weights: np.ndarray | None = None, min_samples_leaf: float = 0, monotonic_cst: Any = None
) -> Problem:
    columns = candidate_columns(table, weights, min_samples_leaf=min_samples_leaf, monotonic_cst=monotonic_cst)
    gram = build_gram(table, columns, weights)
    return Problem(table, columns, gram, respond(table, columns, z, weights), z, weights)


def mixed_table(
    rng: np.random.Generator, n: int, *, n_numeric: int = 3, n_categorical: int = 1, max_bins: Any = 16
) -> BinnedTable:
    """Return integer-valued numeric features and categorical ones, a tenth of the values missing."""
    columns: list[np.ndarray | CodedColumn] = []
    for _ in range(n_numeric):
        column = rng.integers(0, 40, n).astype(float)
        column[rng.random(n) < 0.1] = np.nan
        columns.append(column)
    for _ in range(n_categorical):
        columns.append(CodedColumn(rng.integers(-1, 4, n), ("a", "b", "c", "d")))
    return bin_table(columns, [f"x{d}" for d in range(len(columns))], max_bins=max_bins)
