"""Cut a Gset graph of 800 vertices through the service, without and with predictions, and say what the predictions did.

Starts a service of its own on a free port of this machine, with a temporary folder for its data, and stops it at the end. The
predictions are drawn: for every edge two bits about the best known cut, each right with probability 0.6.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from app.client import Client
from app.own_service import own_service
from solvers.graphs.predictions import sample_edge_predictions

GRAPHS = Path(__file__).resolve().parent.parent / "tests" / "data" / "graphs"
INSTANCE = "G1"
EPSILON = 0.1
TIME_LIMIT = 8.0


def main() -> None:
    path = GRAPHS / "maxcut" / f"{INSTANCE}.txt"
    edges = np.loadtxt(path, skiprows=1, dtype=np.int64)[:, :2] - 1
    reference = best_known_cut(INSTANCE)
    bits = sample_edge_predictions(edges, reference["solution"], EPSILON, seed=1).bits
    predictions = {"edge_bits_flat": bits.ravel().tolist(), "epsilon": EPSILON}

    console = Console(highlight=False)
    console.print("Starting the service (the first start compiles the solvers) ...")
    with own_service() as url, Client(url) as client:
        graph = {"file": client.upload(path)}
        console.print(
            f"Cutting {INSTANCE} ({reference['vertices']} vertices, {len(edges)} edges) twice, {TIME_LIMIT:g} s each ..."
        )
        without = timed(client, {"graph": graph, "options": {"time_limit": TIME_LIMIT, "seed": 0}})
        helped = timed(client, {"graph": graph, "predictions": predictions, "options": {"time_limit": TIME_LIMIT, "seed": 0}})
    console.print(comparison(reference["best_known"], without, helped))
    console.print(effect(helped), soft_wrap=True)
    console.print("`make serve` starts the service for good; its Swagger UI is at http://127.0.0.1:8000/docs", soft_wrap=True)


def best_known_cut(instance: str) -> dict[str, Any]:
    """Return the best known value of a Gset graph and a cut that attains it."""
    entries = json.loads((GRAPHS / "references.json").read_text())
    entry = next(entry for entry in entries if entry["problem"] == "max_cut" and entry["instance"] == instance)
    sides = [int(side) for side in entry["solution"]]
    return {"best_known": entry["best_known"], "solution": sides, "vertices": len(sides)}


def timed(client: Client, body: dict[str, Any]) -> tuple[Any, float]:
    """Return the result of a request and the seconds it took, all told."""
    started = time.monotonic()
    result = client.run("max-cut", body)
    return result, time.monotonic() - started


def comparison(best_known: float, without: tuple[Any, float], helped: tuple[Any, float]) -> Table:
    table = Table("", "without predictions", "with predictions", box=None, header_style="bold")

    def row(name: str, show: Any) -> None:
        table.add_row(name, *(show(result, seconds) for result, seconds in (without, helped)))

    row("objective", lambda result, seconds: f"{result.value:g}")
    row("best known", lambda result, seconds: f"{best_known:g}")
    row("upper bound", lambda result, seconds: f"{result.bound:g} ({result.bound_kind})")
    row("proven ratio", lambda result, seconds: f"{result.ratio:.4f}")
    row("share of best known", lambda result, seconds: f"{result.value / best_known:.4f}")
    row("seconds to its best", lambda result, seconds: f"{seconds_to(result, result.value):.2f}")
    row("seconds to best known", lambda result, seconds: shown_seconds(seconds_to(result, best_known)))
    row("seconds, all told", lambda result, seconds: f"{seconds:.2f}")
    return table


def effect(helped: tuple[Any, float]) -> str:
    result = helped[0]
    estimate = result.epsilon_estimate
    estimated = getattr(estimate, "epsilon", estimate)
    return (
        f"What the predictions did in the second run: {result.value:g} with them, {result.value_without_predictions:g} without "
        f"them in the same run; found by {result.winner}.\nThe answer agrees with {result.prediction_agreement:.1%} of the bits "
        f"(the best known cut: about {0.5 + EPSILON:.0%}); epsilon was drawn as {EPSILON:g} and is estimated as {estimated:.3f}."
    )


def seconds_to(result: Any, target: float) -> float | None:
    """Return when the run first reached a value, by its history."""
    return next((row.seconds for row in result.history if row.value is not None and row.value >= target), None)


def shown_seconds(seconds: float | None) -> str:
    return "not reached" if seconds is None else f"{seconds:.2f}"


if __name__ == "__main__":
    main()
