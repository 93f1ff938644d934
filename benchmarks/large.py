"""Large sparse instances end to end over HTTP: a file is uploaded, read, solved with and without predictions, bounded and verified.

Starts `foresolve serve` as it comes, asks one thing after the other, and measures for each the wall time, the processor time of
the server and of its workers, the peak memory of the worker and the size of the answer. A line of JSON per step goes to
`benchmarks/results/large.jsonl`.

    python -m benchmarks.large --edges 1000000
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from app.client import Client
from app.own_service import own_service
from benchmarks import large_instances
from benchmarks.instances import own_version
from benchmarks.ledger import RESULTS, Ledger, markdown
from solvers.graphs.predictions import sample_edge_predictions

KEY = ("instance", "size", "step", "version", "limit")
SEED = 1
VERTICES_PER_EDGE = 0.1
SETS_PER_ELEMENT, SETS_PER_INCIDENCE = 20, 0.02
EPSILON = 0.2
GRAPH_PROBLEMS = ("max-cut", "vertex-cover", "independent-set")
SECONDS_FOR_A_JOB = 300.0

STAGES = ("reading", "reductions", "greedy", "search", "bounds", "rounding", "exact", "advice")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=1_000_000, help="edges of a graph, or elements of sets together")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for a solution or a bound")
    parser.add_argument("--instances", nargs="+", default=["uniform", "power law", "sets"])
    parser.add_argument("--results", type=Path, default=RESULTS / "large.jsonl")
    arguments = parser.parse_args()

    ledger = Ledger(arguments.results, KEY)
    rows = []
    with own_service({"FORESOLVE_LOG_LEVEL": "WARNING"}) as url, Client(url) as client:
        for name in arguments.instances:
            bench = (SetBench if name == "sets" else GraphBench)(client, name, arguments.edges, arguments.limit, ledger)
            rows += list(bench.run())
    print(shown(rows))


class Bench:
    """The steps of one instance; a step whose line is there is not taken again."""

    formats: tuple[str, ...]

    def __init__(self, client: Client, name: str, size: int, limit: float, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger
        self._run = {"instance": name, "size": size, "limit": limit, "version": own_version()}
        self._files: dict[str, str] = {}

    def text(self, form: str) -> bytes:
        raise NotImplementedError

    def file(self, form: str) -> str:
        """Return the id of the uploaded text, which is written and sent at the first call."""
        if form not in self._files:
            self._files[form] = self._client.upload(self.text(form), f"instance.{form}")
        return self._files[form]

    def step(self, name: str, act: Callable[[], bytes]) -> dict[str, Any]:
        """Measure a step, unless that was done before."""
        line = self._ledger.find(**self._run, step=name)
        if line is None:
            with measured() as figures:
                answer = act()
            line = self._ledger.append(**self._run, step=name, **figures, answer_bytes=len(answer), **summary(answer))
        return line

    def ask(self, operation: str, **body: Any) -> bytes:
        return self._client.submit(operation, body).result_json(SECONDS_FOR_A_JOB)

    def parsed(self, problem: str) -> Iterator[dict[str, Any]]:
        """Upload the instance in every format and have it read."""
        for form in self.formats:
            text = self.text(form)
            yield self.step(f"upload {form}", lambda: self._client.upload(text).encode())  # noqa: B023 - called at once
            yield self.step(
                f"parse {form}",
                lambda: self.ask("graphs-parse", problem=problem, graph={"file": self.file(form), "format": form}),  # noqa: B023
            )

    def solved(self, problem: str, predictions: Callable[[dict[str, Any]], Any]) -> Iterator[dict[str, Any]]:
        """Solve the instance without and with predictions, have the answer verified, and the optimum bounded."""
        graph = {"file": self.file(self.formats[0]), "format": self.formats[0]}
        options = {"time_limit": self._run["limit"]}
        answers: dict[str, dict[str, Any]] = {}

        def solve(**more: Any) -> bytes:
            content = self.ask(problem, graph=graph, options=options, **more)
            answers["last"] = json.loads(content)
            return content

        def verify() -> bytes:
            found = answer()
            content = self.ask(
                "graphs-verify", problem=problem, graph=graph, solution=found["solution"], certificate=found["certificate"]
            )
            checked = json.loads(content)
            if (checked["value"], checked["bound"], checked["faults"]) != (found["value"], found["bound"], []):
                raise SystemExit(f"{problem}: the answer was refused: {checked}")
            return content

        def answer() -> dict[str, Any]:
            if "last" not in answers:
                solve()
            return answers["last"]

        yield self.step(f"{problem}", solve)
        yield self.step(f"{problem} verified", verify)
        yield self.step(f"{problem} with predictions", lambda: solve(predictions=predictions(answer())))
        yield self.step(f"{problem} bounds", lambda: self.ask("graphs-bounds", problem=problem, graph=graph, options=options))


class GraphBench(Bench):
    """The steps of a graph: every format is read, every problem solved."""

    formats = tuple(large_instances.FORMATS)

    @cached_property
    def edges(self) -> large_instances.Edges:
        return large_instances.GRAPHS[self._run["instance"]](self.num_vertices, self._run["size"], SEED)

    @property
    def num_vertices(self) -> int:
        return int(VERTICES_PER_EDGE * self._run["size"])

    def text(self, form: str) -> bytes:
        return large_instances.FORMATS[form](self.num_vertices, self.edges)

    def run(self) -> Iterator[dict[str, Any]]:
        yield from self.parsed("max-cut")
        for problem in GRAPH_PROBLEMS:
            yield from self.solved(problem, lambda found: self._bits(problem, found["solution"]))  # noqa: B023 - used at once

    def _bits(self, problem: str, solution: list[int]) -> dict[str, Any]:
        reference = np.array(solution) if problem == "max-cut" else np.isin(np.arange(self.num_vertices), np.array(solution) - 1)
        bits = sample_edge_predictions(self.edges, reference.astype(int), EPSILON, SEED).bits
        return {"edge_bits_flat": np.ascontiguousarray(bits).ravel(), "epsilon": EPSILON}


class SetBench(Bench):
    """The steps of a set system."""

    formats = ("orlib",)

    @property
    def num_sets(self) -> int:
        return int(SETS_PER_INCIDENCE * self._run["size"])

    @cached_property
    def _text(self) -> bytes:
        choices = large_instances.set_choices(self._run["size"] // SETS_PER_ELEMENT, self.num_sets, SETS_PER_ELEMENT, SEED)
        return large_instances.orlib(self.num_sets, choices, SEED)

    def text(self, form: str) -> bytes:
        return self._text

    def run(self) -> Iterator[dict[str, Any]]:
        yield from self.parsed("set-cover")
        yield from self.solved("set-cover", self._labels)

    def _labels(self, found: dict[str, Any]) -> dict[str, Any]:
        chosen = np.isin(np.arange(self.num_sets), np.array(found["solution"]) - 1)
        is_wrong = np.random.default_rng(SEED).random(self.num_sets) >= 0.5 + EPSILON
        return {"set_labels": (chosen ^ is_wrong).astype(int), "epsilon": EPSILON}


@contextlib.contextmanager
def measured() -> Iterator[dict[str, Any]]:
    """Measure a block: wall seconds, processor seconds of the server and of all below it, and the peak memory of a worker."""
    figures: dict[str, Any] = {}
    server, workers = processes()
    before = cpu_seconds(server), {worker: cpu_seconds([worker]) for worker in workers}
    for worker in workers:
        # The kernel begins anew to watch how much memory the process holds at most.
        Path(f"/proc/{worker.pid}/clear_refs").write_text("5")
    started = time.perf_counter()
    yield figures
    figures["seconds"] = time.perf_counter() - started
    server, workers = processes()
    spent = {worker: cpu_seconds([worker]) - before[1].get(worker, 0.0) for worker in workers}
    figures["server_cpu_seconds"] = cpu_seconds(server) - before[0]
    figures["worker_cpu_seconds"] = sum(spent.values())
    busiest = max(workers, key=lambda worker: spent[worker])
    figures["peak_mb"] = peak_bytes(busiest) / 2**20 if spent[busiest] > 0 else None


def processes() -> tuple[list[psutil.Process], list[psutil.Process]]:
    """Return the server, and the processes that it started."""
    server = psutil.Process().children()
    return server, [child for process in server for child in process.children(recursive=True)]


def cpu_seconds(those: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (process.cpu_times() for process in those))


def peak_bytes(process: psutil.Process) -> int:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def summary(answer: bytes) -> dict[str, Any]:
    """Return what of an answer goes into the results: value, bound, and the seconds of every stage."""
    try:
        document = json.loads(answer)
    except json.JSONDecodeError:
        return {}
    kept = ("value", "bound", "bound_kind", "winner", "stopped_by", "timings", "reduction", "kinds")
    return {name: document[name] for name in kept if document.get(name) is not None}


def shown(rows: list[dict[str, Any]]) -> str:
    header = ["instance", "step", "wall s", "worker CPU s", "server CPU s", "peak MiB", "answer kB", "value", "bound"]
    cells = [
        [
            row["instance"],
            row["step"],
            *(f"{row[name]:.2f}" for name in ("seconds", "worker_cpu_seconds", "server_cpu_seconds")),
            "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}",
            f"{row['answer_bytes'] / 1000:.0f}",
            *(f"{row[name]:g}" if name in row else "" for name in ("value", "bound")),
        ]
        for row in rows
    ]
    stages = [
        [row["instance"], row["step"], *(f"{row['timings'].get(stage, 0.0):.2f}" for stage in STAGES)]
        for row in rows
        if "timings" in row
    ]
    return f"{markdown(header, cells)}\n\nSeconds per stage:\n\n{markdown(['instance', 'step', *STAGES], stages)}"


if __name__ == "__main__":
    main()
