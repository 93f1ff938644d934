"""How large a table a stump forest is fitted to in how much time and memory, and how fast a small one is by library and over HTTP.

The large fit runs in a process of its own, with a thread on each core; its peak memory counts all of that process, the table too. The
small fits have their own certificate each, as by default, and rows that no other has. A line of JSON per step goes to
`benchmarks/results/gam_scale.jsonl`, and a step whose line is there is not taken again.

    python -m benchmarks.gam.scale
"""

from __future__ import annotations

import argparse
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import numpy.typing as npt
import psutil
from sklearn.base import clone

from app.own_service import own_service
from benchmarks.instances import own_version
from benchmarks.large import peak_bytes
from benchmarks.ledger import RESULTS, Ledger, markdown
from solvers.gam.estimators import StumpForestRegressor

KEY = ("step", "version")
ALPHA, SMALL_STUMPS = 30.0, 200
SMALL_ROWS, SMALL_COLUMNS = 1000, 10
TEST_ROWS = 100_000
WARMING_ROWS, WARMING_FITS = 20_000, 10

# The aims: wall seconds and memory of the large fit on two cores, and the median of a small one over HTTP.
MOST_SECONDS, MOST_MB, MOST_MILLISECONDS = 60.0, 4096.0, 150.0

SHAPES: tuple[Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]], ...] = (
    lambda x: np.sin(2 * x),
    np.abs,
    lambda x: (x > 0.5).astype(np.float64),
    np.tanh,
    lambda x: 0.5 * np.square(x),
)
RELEVANT = 20

Floats = npt.NDArray[np.float64]


class Table(NamedTuple):
    """Rows of an additive model with as much noise as signal: no model explains more than half of the variance."""

    X: Floats
    y: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--stumps", nargs="+", type=int, default=[200, 800])
    parser.add_argument("--repetitions", type=int, default=100, help="of the small fits")
    parser.add_argument("--results", type=Path, default=RESULTS / "gam_scale.jsonl")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    large = [
        recorded(
            ledger,
            f"{arguments.rows:,} x {arguments.columns}, {stumps} stumps",
            lambda: in_own_process(large_fit, arguments.rows, arguments.columns, stumps),  # noqa: B023 - called at once
        )
        for stumps in arguments.stumps
    ]
    name = f"{SMALL_ROWS:,} x {SMALL_COLUMNS}, {SMALL_STUMPS} stumps"
    small = [
        recorded(ledger, f"{name}, by library", lambda: in_own_process(library_fits, arguments.repetitions)),
        recorded(ledger, f"{name}, over HTTP", lambda: http_fits(arguments.repetitions)),
    ]
    print(shown(large, small))


def recorded(ledger: Ledger, step: str, act: Callable[[], dict[str, float]]) -> dict[str, Any]:
    """Return the line of a step, from the file or from taking it."""
    run = {"step": step, "version": own_version("gam")}
    return ledger.find(**run) or ledger.append(**run, **act())


def in_own_process(function: Callable[..., dict[str, float]], *arguments: Any) -> dict[str, float]:
    """Call a function in a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(function, *arguments).result()


def table(n_rows: int, n_columns: int, seed: int) -> Table:
    """Draw normal columns, the first twenty of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    signal = np.zeros(n_rows)
    for position in range(min(RELEVANT, n_columns)):
        signal += SHAPES[position % len(SHAPES)](X[:, position]) / (1 + position / len(SHAPES))
    return Table(X, signal + signal.std() * rng.standard_normal(n_rows))


def large_fit(n_rows: int, n_columns: int, n_stumps: int) -> dict[str, float]:
    """Fit once with a thread on each core, kernels compiled, and predict."""
    model = StumpForestRegressor(n_stumps, alpha=ALPHA, n_jobs=os.cpu_count())
    clone(model).fit(*table(WARMING_ROWS, n_columns, seed=1))
    train, test = table(n_rows, n_columns, seed=0), table(TEST_ROWS, n_columns, seed=2)
    process = psutil.Process()
    # The kernel begins anew to watch how much memory the process holds at most.
    Path("/proc/self/clear_refs").write_text("5")
    held = process.memory_info().rss
    started, started_cpu = time.monotonic(), time.process_time()
    model.fit(*train)
    figures = {"seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - started_cpu}
    figures |= {"peak_mb": peak_bytes(process) / 2**20, "table_mb": held / 2**20}
    started_cpu = time.process_time()
    predicted = model.predict(test.X)
    cells_per_second = test.X.size / (time.process_time() - started_cpu)
    r2 = 1 - np.square(test.y - predicted).sum() / np.square(test.y - test.y.mean()).sum()
    return figures | {"r2": float(r2), "gap": model.gap_, "steps": model.n_steps_, "predicted_cells_per_second": cells_per_second}


def library_fits(count: int) -> dict[str, float]:
    """Fit small tables one after the other."""

    def fit(small: Table) -> None:
        StumpForestRegressor(SMALL_STUMPS, alpha=ALPHA).fit(*small)

    return latencies(fit, small_tables(count))


def http_fits(count: int) -> dict[str, float]:
    """Post small tables one after the other to a service of our own."""
    with own_service({"FORESOLVE_LOG_LEVEL": "WARNING"}) as url, httpx.Client(base_url=url, timeout=60) as client:

        def fit(body: bytes) -> None:
            reply = client.post("/v1/gam/fit", content=body, headers={"Content-Type": "application/json", "Prefer": "wait=60"})
            if reply.status_code != 200 or reply.json()["lower_bound"] is None:
                raise SystemExit(f"the service answered {reply.status_code}: {reply.text[:500]}")

        return latencies(fit, map(fit_request, small_tables(count)))


def small_tables(count: int) -> Iterator[Table]:
    """Draw one table after the other, the first ten of which are to warm up."""
    return (table(SMALL_ROWS, SMALL_COLUMNS, seed) for seed in range(WARMING_FITS + count))


def fit_request(small: Table) -> bytes:
    """Return the request that fits a table, its rows as CSV."""
    names = [f"x{position}" for position in range(small.X.shape[1])]
    text = io.StringIO()
    np.savetxt(text, np.column_stack([small.X, small.y]), "%.17g", ",", header=",".join([*names, "y"]), comments="")
    body = {
        "data": {"format": "csv", "content": text.getvalue()},
        "target": "y",
        "task": "regression",
        "params": {"n_stumps": SMALL_STUMPS, "alpha": ALPHA},
    }
    return json.dumps(body).encode()


def latencies(act: Callable[[Any], None], items: Iterator[Any]) -> dict[str, float]:
    """Return the median and the 95th percentile of the seconds that an action takes, the first ten left out."""
    taken = []
    for item in items:
        started = time.perf_counter()
        act(item)
        taken.append(time.perf_counter() - started)
    middle, tail = np.quantile(taken[WARMING_FITS:], (0.5, 0.95))
    return {"median_ms": 1e3 * float(middle), "p95_ms": 1e3 * float(tail)}


def shown(large: list[dict[str, Any]], small: list[dict[str, Any]]) -> str:
    header = ["fit", "wall s", "CPU s", "peak MiB", "of them before", "test R²", "gap", "steps", "predicted cells/s"]
    rows = [
        [
            row["step"],
            *(f"{row[name]:.1f}" for name in ("seconds", "cpu_seconds")),
            *(f"{row[name]:.0f}" for name in ("peak_mb", "table_mb")),
            f"{row['r2']:.4f}",
            f"{row['gap']:.2%}",
            str(row["steps"]),
            f"{row['predicted_cells_per_second']:.2g}",
        ]
        for row in large
    ]
    fits = [[row["step"], f"{row['median_ms']:.1f} ms", f"{row['p95_ms']:.1f} ms"] for row in small]
    is_fast = all(row["seconds"] <= MOST_SECONDS and row["peak_mb"] <= MOST_MB for row in large)
    is_prompt = small[-1]["median_ms"] <= MOST_MILLISECONDS
    return "\n".join(
        [
            f"{os.cpu_count()} cores; at most half of the variance can be explained.\n",
            markdown(header, rows) + "\n",
            markdown(["fit", "median", "95th percentile"], fits) + "\n",
            f"- {'met' if is_fast else 'MISSED'}: large fits in at most {MOST_SECONDS:g} s and {MOST_MB:g} MiB",
            f"- {'met' if is_prompt else 'MISSED'}: median over HTTP at most {MOST_MILLISECONDS:g} ms",
        ]
    )


if __name__ == "__main__":
    main()
