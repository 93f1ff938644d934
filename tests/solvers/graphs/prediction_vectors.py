"""Graphs with drawn predictions, and all that follows from them as an independent reference program computed it."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parents[2] / "data" / "graphs"


class Vector(NamedTuple):
    num_vertices: int
    edges: np.ndarray
    bits: np.ndarray
    expected: dict


def _vector(case):
    return Vector(case["n"], np.array(case["edges"], dtype=np.int32), np.array(case["edge_bits"], dtype=np.int8), case)


_CASES = json.loads((DATA / "predictions.json").read_text())

VECTORS = {case["id"]: _vector(case) for case in _CASES if case["task"] == "max_cut"}
COVER_VECTORS = {case["id"]: _vector(case) for case in _CASES if case["task"] == "vertex_cover"}
SET_VECTORS = {case["id"]: _vector(case) for case in _CASES if case["task"] == "independent_set"}


def gset(name):
    """Return the number of vertices and the edges of a graph of the Gset."""
    return weighted_gset(name)[:2]


def weighted_gset(name):
    """Return the number of vertices, the edges and the weights of a graph of the Gset."""
    num_vertices, _ = map(int, (DATA / "maxcut" / f"{name}.txt").open().readline().split())
    rows = np.loadtxt(DATA / "maxcut" / f"{name}.txt", skiprows=1, dtype=np.int64)
    return num_vertices, (rows[:, :2] - 1).astype(np.int32), rows[:, 2]
