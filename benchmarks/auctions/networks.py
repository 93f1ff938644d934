"""Value networks: a training step beside torch's, and the demand by tables beside HiGHS on the published program.

Every pair runs in one process on one thread, in turn, and is compared in CPU seconds, so that what else the machine does falls on both.
The networks are trained on 20 demand answers of an additive bidder with a bonus for large bundles, or just drawn.

    python -m benchmarks.auctions.networks
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from auctions.bundles import Limits
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.demand_program import proven_demand
from auctions.networks.forward_pass import evaluate
from auctions.networks.initialisation import initial_parameters
from auctions.networks.oracles import chooser
from auctions.networks.training import Answers, TrainingOptions, draw_orders, train
from auctions.networks.value_table import network_table
from benchmarks.auctions.published_program import published_demand
from benchmarks.ledger import RESULTS, markdown

SINGLE, GENERIC = (1,) * 18, (1, 2, 3) * 14
STEP_SHAPES = [(SINGLE, (30,), True), (SINGLE, (20, 20, 20), False), (SINGLE, (30, 30, 30), True), (GENERIC, (20, 20, 20), True)]
DEMAND_SHAPES = [(SINGLE, (30,), True), (SINGLE, (20, 20, 20), False), (SINGLE, (30, 30, 30), True)]
PROOF_SHAPES = [(GENERIC, (30,), True), (GENERIC, (20, 20), True), (GENERIC, (20, 20, 20), True)]
N_ANSWERS, N_PRICES = 20, 40


def cpu_seconds(work: Callable[[], Any], repetitions: int = 1) -> float:
    """CPU seconds of one repetition; the first run, which may compile, does not count."""
    work()
    start = time.process_time()
    for _ in range(repetitions):
        work()
    return (time.process_time() - start) / repetitions


def answers_of(architecture: Architecture, rng: np.random.Generator) -> Answers:
    """Demand answers of a bidder that values x at (w.x)^1.3, with the full bundle worth 1."""
    capacities = np.array(architecture.capacities)
    slopes = rng.random(len(capacities))
    asked = rng.integers(0, capacities + 1, (N_ANSWERS, len(capacities)))
    values = ((asked @ slopes) / (capacities @ slopes)) ** 1.3
    prices = rng.uniform(0, 2 / capacities.sum(), asked.shape)
    return Answers(prices, asked, asked, values)


def trained(architecture: Architecture, rng: np.random.Generator) -> Vector:
    answers = answers_of(architecture, rng)
    start = initial_parameters(architecture, rng)
    choose = chooser(architecture, Limits(), known=answers.chosen)
    return train(architecture, start, answers, TrainingOptions(), draw_orders(rng, 30, N_ANSWERS, N_ANSWERS), choose)[0]


def step_line(shape: tuple[tuple[int, ...], tuple[int, ...], bool]) -> dict[str, Any]:
    """A step on one value answer, by the kernel and by torch."""
    architecture, rng = Architecture(*shape), np.random.default_rng(0)
    answers = answers_of(architecture, rng)
    values_only = Answers(answers.prices[:0], answers.chosen[:0], answers.asked, answers.values)
    start, options = initial_parameters(architecture, rng), TrainingOptions(epochs=100)
    orders = draw_orders(rng, 100, 0, N_ANSWERS)
    ours = cpu_seconds(lambda: train(architecture, start, values_only, options, orders, lambda *_: answers.chosen), 3) / (
        100 * N_ANSWERS
    )
    theirs = cpu_seconds(lambda: torch_steps(architecture, start, answers, 10), 3) / (10 * N_ANSWERS)
    return {
        "network": name(architecture), "parameters": architecture.n_parameters, "ours_us": 1e6 * ours, "torch_us": 1e6 * theirs,
        "ratio": theirs / ours,
    }  # fmt: skip


def torch_steps(architecture: Architecture, start: Vector, answers: Answers, epochs: int) -> None:
    """The same steps as a torch module would take them."""
    shares = torch.tensor(answers.asked / np.array(architecture.capacities))
    raw, targets = torch.tensor(answers.asked, dtype=torch.float64), torch.tensor(answers.values)
    layers = [tuple(torch.tensor(part.copy(), requires_grad=True) for part in layer) for layer in architecture.layers(start)]
    output = torch.tensor(architecture.output_weight(start).copy(), requires_grad=True)
    linear = architecture.skip_weight(start)
    skip = None if linear is None else torch.tensor(linear.copy(), requires_grad=True)
    positive = [part for weight, _, cutoff in layers for part in (weight, cutoff)] + [output] + ([] if skip is None else [skip])
    biases = [bias for _, bias, _ in layers]
    optimizer = torch.optim.Adam(positive + biases, lr=0.01, weight_decay=1e-6)
    for _ in range(epochs):
        for row in range(len(targets)):
            units = shares[row]
            for weight, bias, cutoff in layers:
                units = torch.minimum(cutoff, torch.relu(units @ weight + bias))
            value = units @ output if skip is None else units @ output + raw[row] @ skip
            optimizer.zero_grad()
            (value - targets[row]).abs().backward()
            optimizer.step()
            with torch.no_grad():
                for part in positive:
                    part.clamp_(min=0)
                for part in biases:
                    part.clamp_(max=0)


def price_vectors(architecture: Architecture, parameters: Vector, rng: np.random.Generator, n: int) -> Vector:
    highest = float(evaluate(architecture, parameters, np.array([architecture.capacities]))[0])
    return rng.uniform(0, 2 * highest / sum(architecture.capacities), (n, architecture.n_goods))


def table_line(shape: tuple[tuple[int, ...], tuple[int, ...], bool], kind: str, seed: int) -> dict[str, Any]:
    """The demand at many prices by one table, and at three of them by HiGHS on the published program."""
    architecture, rng = Architecture(*shape), np.random.default_rng(seed)
    parameters = trained(architecture, rng) if kind == "trained" else initial_parameters(architecture, rng)
    prices = price_vectors(architecture, parameters, rng, N_PRICES)
    filling = cpu_seconds(lambda: network_table(architecture, parameters, precision=np.float32), 5)
    table = network_table(architecture, parameters, precision=np.float32)
    asking = cpu_seconds(lambda: table.demands(prices), 5) / N_PRICES
    utilities = table.demands(prices)[1]
    few = prices[:3]
    start = time.process_time()
    answers = [published_demand(architecture, parameters, row) for row in few]
    solving = (time.process_time() - start) / len(few)
    worths = [
        evaluate(architecture, parameters, bundle[None, :])[0] - bundle @ row
        for (bundle, _), row in zip(answers, few, strict=True)
    ]
    return {
        "network": f"{name(architecture)}, {kind}, seed {seed}", "table_ms": 1e3 * filling, "price_ms": 1e3 * asking,
        "highs_ms": 1e3 * solving,
        "ratio_single": solving / (filling + asking), "ratio_of_40": solving * N_PRICES / (filling + asking * N_PRICES),
        "difference": float(np.abs(utilities[:3] - worths).max()),
    }  # fmt: skip


def proof_line(shape: tuple[tuple[int, ...], tuple[int, ...], bool], kind: str, seed: int) -> dict[str, Any]:
    """The proven demand where no table fits: coordinate ascent with our program, and HiGHS on the published one."""
    architecture, rng = Architecture(*shape), np.random.default_rng(seed)
    parameters = trained(architecture, rng) if kind == "trained" else initial_parameters(architecture, rng)
    prices = price_vectors(architecture, parameters, rng, 3)
    none = np.zeros((0, architecture.n_goods), dtype=np.int64)
    proven_demand(architecture, parameters, 1.0, prices[0], none)
    start = time.process_time()
    ours = [proven_demand(architecture, parameters, 1.0, row, none).utility for row in prices]
    middle = time.process_time()
    bundles = [published_demand(architecture, parameters, row)[0] for row in prices]
    end = time.process_time()
    theirs = [
        evaluate(architecture, parameters, bundle[None, :])[0] - bundle @ row for bundle, row in zip(bundles, prices, strict=True)
    ]
    return {
        "network": f"{name(architecture)}, {kind}, seed {seed}", "ours_ms": 1e3 * (middle - start) / 3,
        "highs_ms": 1e3 * (end - middle) / 3,
        "ratio": (end - middle) / (middle - start), "difference": float(np.max(np.subtract(theirs, ours))),
    }  # fmt: skip


def name(architecture: Architecture) -> str:
    hidden = "x".join(map(str, architecture.hidden_layer_sizes))
    return f"{architecture.n_goods} goods, {hidden}{' skip' if architecture.skip_connection else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tables", type=Path, default=RESULTS / "auction_networks.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    runs = [(kind, seed) for kind in ("drawn", "trained") for seed in range(arguments.seeds)]
    parts = {
        "A training step (one value answer)": [step_line(shape) for shape in STEP_SHAPES],
        "Demand by a table of 2^18 bundles, and by HiGHS": [table_line(shape, *run) for shape in DEMAND_SHAPES for run in runs],
        "Proven demand of 42 goods, 98 units": [proof_line(shape, *run) for shape in PROOF_SHAPES for run in runs],
    }
    text = "\n\n".join(f"## {title}\n\n{table(lines)}" for title, lines in parts.items())
    arguments.tables.write_text(
        f"# Value networks\n\nCPU milliseconds and microseconds on one thread; ratios are theirs over ours.\n\n{text}\n"
    )
    print(text)


def table(lines: list[dict[str, Any]]) -> str:
    return markdown(
        list(lines[0]), [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in line.values()] for line in lines]
    )


if __name__ == "__main__":
    main()
