"""Large tables: uploaded as a stream, fitted and scored within the memory of a job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.service.live import live_service

COLUMNS = 20
ROWS_AT_ONCE = 10_000
MEGABYTE = 2**20


def csv_blocks(n_bytes: int) -> Iterator[bytes]:
    """Yield a CSV of about that many bytes: numbers, of which two matter, a level that matters, and the target."""
    rng = np.random.default_rng(0)
    yield (",".join(f"x{number}" for number in range(COLUMNS)) + ",plan,y\n").encode()
    sent = 0
    while sent < n_bytes:
        numbers = rng.normal(size=(ROWS_AT_ONCE, COLUMNS))
        plan = rng.integers(0, 3, ROWS_AT_ONCE)
        target = (numbers[:, 0] > 0) + np.abs(numbers[:, 1]) + plan + 0.1 * rng.normal(size=ROWS_AT_ONCE)
        block = "".join(
            ",".join(map("{:.6f}".format, row)) + f",plan {level},{y:.6f}\n"
            for row, level, y in zip(numbers, plan, target, strict=True)
        ).encode()
        sent += len(block)
        yield block


def check(folder: Path, kernels: Path, n_bytes: int, memory_mb: int, seconds: float) -> None:
    """Fit and score a table of that size in a service whose jobs have that much memory."""
    with (
        live_service(folder, catalogue="app.operations:CATALOGUE", kernels_dir=kernels, job_memory_mb=memory_mb) as live,
        httpx.Client(base_url=live.url, timeout=seconds) as client,
    ):
        uploaded = client.post("/v1/files", content=csv_blocks(n_bytes)).json()
        assert uploaded["size"] > n_bytes
        data = {"format": "csv", "file": uploaded["id"]}
        fitted = done(client, "fit", {"data": data, "target": "y", "params": {"n_stumps": 100, "alpha": 10}}, seconds)
        matters = {shape["feature"] for shape in fitted["shape_functions"] if shape["importance"] > 0.05}
        assert matters == {"x0", "x1", "plan"}
        scored = done(client, "predict", {"model": fitted["model_id"], "data": data}, seconds)
        assert scored["rows"] == fitted["n_rows"]
        with client.stream("GET", f"/v1/files/{scored['file_id']}/content") as lines:
            assert sum(1 for _ in lines.iter_lines()) == fitted["n_rows"] + 1


def done(client: httpx.Client, operation: str, body: dict[str, Any], seconds: float) -> dict[str, Any]:
    body |= {"options": {"time_limit": seconds}}
    job = client.post(f"/v1/gam/{operation}", json=body, headers={"Prefer": "respond-async"}).json()
    while True:
        answer = client.get(f"/v1/jobs/{job['id']}/result", headers={"Prefer": "wait=30"})
        if answer.status_code != 202:
            assert answer.status_code == 200, answer.text
            document: dict[str, Any] = answer.json()
            return document


@pytest.mark.timeout(600)
def test_a_table_of_forty_megabytes_needs_a_gigabyte_at_most(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    check(tmp_path, Path(pytestconfig.cache.mkdir("kernels")), 40 * MEGABYTE, 1024, 300)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_a_table_of_a_gigabyte_needs_four_at_most(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    check(tmp_path, Path(pytestconfig.cache.mkdir("kernels")), 1023 * MEGABYTE, 4096, 2000)
