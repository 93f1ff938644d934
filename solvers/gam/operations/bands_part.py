"""What is known of the spread of a fit, kept with the model for the intervals of predictions."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.gam.bands import Spread
from solvers.gam.bin_scores import BinScores
from solvers.gam.binning import FeatureBins, LevelBins, NumericBins
from solvers.gam.shape_functions import Floats


def spreads_to_bytes(spreads: Sequence[Spread | None]) -> bytes | None:
    """Return the content of the part; None if nothing is known of one of the outputs."""
    described: list[dict[str, Any]] = []
    arrays: list[Floats] = []
    for spread in spreads:
        if spread is None:
            return None
        described.append({"kind": spread.kind, "features": [_described(of) for of in spread.features]})
        arrays += [spread.intercept, *(of.scores for of in spread.features)]
    file = io.BytesIO()
    written = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    np.savez_compressed(file, written, *arrays)  # named arr_0, arr_1 and so on
    return file.getvalue()


def spreads_from_bytes(content: bytes) -> tuple[Spread, ...]:
    """Return what :func:`spreads_to_bytes` has written."""
    with np.load(io.BytesIO(content)) as file:
        arrays = [file[f"arr_{number}"] for number in range(len(file.files))]
    described, following = json.loads(arrays[0].tobytes()), iter(arrays[1:])
    spreads = []
    for one in described:
        intercept = next(following)
        spreads.append(Spread(one["kind"], tuple(_of_feature(of, next(following)) for of in one["features"]), intercept))
    return tuple(spreads)


def _described(of: BinScores) -> dict[str, Any]:
    bins = of.bins
    places = {"thresholds": bins.thresholds.tolist()} if isinstance(bins, NumericBins) else {"levels": bins.levels}
    return {
        "name": bins.name,
        "has_missing": bins.has_missing,
        "weights": of.weights.tolist(),
        "means": of.means.tolist(),
        **places,
    }


def _of_feature(described: dict[str, Any], scores: Floats) -> BinScores:
    name, has_missing = described["name"], described["has_missing"]
    if "thresholds" in described:
        bins: FeatureBins = NumericBins(name, np.array(described["thresholds"], dtype=np.float64), has_missing)
    else:
        bins = LevelBins(name, tuple(described["levels"]), (), has_missing)
    return BinScores(bins, np.array(described["weights"]), scores, np.array(described["means"]))
