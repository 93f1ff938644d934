"""Runs of one method on one data set in a process of its own: what :mod:`benchmarks.gam.peers` starts.

Writes one line of JSON for each seed. A fit comes before them, so that no import and no compilation is timed.

    python -m benchmarks.gam.child foresolve wage 0 1 2
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

from benchmarks.gam.data_sets import DataSet, load, split
from benchmarks.gam.method import Floats
from benchmarks.gam.methods import METHODS
from benchmarks.peers.child import own_standard_output

WARMING_ROWS = 500


def main() -> None:
    replies = own_standard_output()
    method, name, *seeds = sys.argv[1:]
    data = load(name)
    warm(method, data)
    for seed in map(int, seeds):
        print(json.dumps({"seed": seed} | measured(method, data, seed)), file=replies, flush=True)


def warm(method: str, data: DataSet) -> None:
    """Import and compile: fit some rows; ours all, since other sizes may take other kernels."""
    count = len(data.y) if METHODS[method].package == "foresolve" else WARMING_ROWS
    METHODS[method].fit(chosen(data, np.random.RandomState(0).permutation(len(data.y))[:count]), 0)


def chosen(data: DataSet, rows: npt.NDArray[np.int64]) -> DataSet:
    return data._replace(X=data.X.iloc[rows].reset_index(drop=True), y=data.y[rows])


def measured(method: str, data: DataSet, seed: int) -> dict[str, Any]:
    """Fit the training rows of a split, and score the model on its test rows."""
    train, test = split(len(data.y), seed)
    training, kept_back = chosen(data, train), chosen(data, test)
    gc.collect()
    started, started_cpu = time.monotonic(), time.process_time()
    fit = METHODS[method].fit(training, seed)
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - started_cpu
    scores = scored(kept_back.y, fit.predict(kept_back.X), data.is_classification)
    sizes = {"steps": fit.count_steps(), "n_train": len(train), "n_test": len(test)}
    return scores | sizes | {"seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3)}


def scored(y: Floats, predicted: Floats, is_classification: bool) -> dict[str, float]:
    """Return the loss that methods are compared by (log-loss, or root of the mean squared error), and the area under the ROC curve."""
    if is_classification:
        return {"loss": float(log_loss(y, np.asarray(predicted, np.float64))), "auc": float(roc_auc_score(y, predicted))}
    return {"loss": float(root_mean_squared_error(y, predicted))}


if __name__ == "__main__":
    main()
