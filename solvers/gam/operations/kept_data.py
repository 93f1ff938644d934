"""The rows that a model was fitted to and held back from, kept with it in bins: a part of the model that goes before it does.

Arrow's file format, compressed: a column of codes for each feature, the targets, weights and offsets, and the decisions of the
linear baseline, which was fitted to the values themselves. The bins are in the metadata.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.gam.binning import BinnedTable, FeatureBins, LevelBins, NumericBins
from solvers.gam.kept_rows import KeptRows
from solvers.gam.shape_functions import Floats

PART = "gam-data"
# No threads: the service warms up in the process that it forks its workers from.
_WRITING = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
_READING = pa.ipc.IpcReadOptions(use_threads=False)


@dataclass(frozen=True, eq=False)
class KeptData:
    """Training rows, and holdout rows if there are any.

    Attributes
    ----------
    training, holdout : KeptRows
    linear : float64 array of shape (N, K), optional
        Decision of the linear baseline for the training rows, then the holdout rows.
    held_back_linear : float64 array of shape (N_training, K), optional
        Decision for each training row of a linear baseline that was fitted to the rows of other folds.
    """

    training: KeptRows
    holdout: KeptRows | None = None
    linear: Floats | None = None
    held_back_linear: Floats | None = None

    def to_bytes(self) -> bytes:
        """Return the content of the part."""
        tables = [self.training] if self.holdout is None else [self.training, self.holdout]
        columns: dict[str, Any] = {
            f"code {number}": np.concatenate([rows.table.codes[number] for rows in tables])
            for number in range(len(self.training.table.features))
        }
        columns["target"] = np.concatenate([rows.target for rows in tables])
        columns["weight"] = np.concatenate([rows.weights for rows in tables])
        if self.training.offset is not None:
            columns["offset"] = np.concatenate([rows.offset for rows in tables])
        for output in range(0 if self.linear is None else self.linear.shape[1]):
            columns[f"linear {output}"] = self.linear[:, output]  # type: ignore[index]
        for output in range(0 if self.held_back_linear is None else self.held_back_linear.shape[1]):
            known = self.held_back_linear[:, output]  # type: ignore[index]
            columns[f"held back {output}"] = np.pad(known, (0, len(columns["target"]) - len(known)))
        described = {
            "training": self.training.table.n_rows,
            "features": [_described(bins) for bins in self.training.table.features],
        }
        table = pa.table(columns).replace_schema_metadata({"bins": json.dumps(described)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema, options=_WRITING) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content

    @classmethod
    def from_bytes(cls, content: bytes) -> KeptData:
        """Return what :meth:`to_bytes` has written."""
        table = pa.ipc.open_file(pa.BufferReader(content), options=_READING).read_all()
        described = json.loads(table.schema.metadata[b"bins"])
        features = tuple(_bins(one) for one in described["features"])
        codes = [table[f"code {number}"].to_numpy() for number in range(len(features))]
        joined = np.array(codes) if codes else np.empty((0, table.num_rows), dtype=np.uint8)
        offset = table["offset"].to_numpy() if "offset" in table.column_names else None
        whole = KeptRows(BinnedTable(features, joined), table["target"].to_numpy(), table["weight"].to_numpy(), offset)
        n_training = described["training"]
        linear, held_back = (
            [table[name].to_numpy() for name in table.column_names if name.startswith(f"{kind} ")]
            for kind in ("linear", "held back")
        )
        return cls(
            _slice(whole, slice(0, n_training)),
            _slice(whole, slice(n_training, None)) if n_training < table.num_rows else None,
            np.column_stack(linear) if linear else None,
            np.column_stack(held_back)[:n_training] if held_back else None,
        )


def _slice(rows: KeptRows, part: slice) -> KeptRows:
    table = BinnedTable(rows.table.features, np.ascontiguousarray(rows.table.codes[:, part]))
    return KeptRows(table, rows.target[part], rows.weights[part], None if rows.offset is None else rows.offset[part])


def _described(bins: FeatureBins) -> dict[str, Any]:
    common = {"name": bins.name, "has_missing": bins.has_missing}
    if isinstance(bins, NumericBins):
        return common | {"thresholds": bins.thresholds.tolist()}
    return common | {"levels": bins.levels, "pooled": bins.pooled}


def _bins(described: dict[str, Any]) -> FeatureBins:
    if "thresholds" in described:
        return NumericBins(described["name"], np.array(described["thresholds"], dtype=np.float64), described["has_missing"])
    return LevelBins(described["name"], tuple(described["levels"]), tuple(described["pooled"]), described["has_missing"])
