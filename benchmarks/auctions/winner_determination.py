"""How long winner determination takes beside HiGHS on the usual model, in one run: one thread, one problem at a time.

    python -m benchmarks.auctions.winner_determination

Each finished run is a line of `results/winner_determination.jsonl`; what is there is not run again. Over networks the usual model is that
of the papers (both sides of every unit, a copy per bidder), over XOR bids one binary variable per bid.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from auctions.domains.integer_program import IntegerProgram
from auctions.networks.mvnn import MVNN
from auctions.outcome import SearchLimits
from auctions.winner_determination.choose import solve_wdp
from auctions.winner_determination.xor import solve_xor_wdp
from benchmarks.auctions.published_program import add_published_network
from benchmarks.ledger import RESULTS, Ledger, disturbed, markdown

LIMITS = SearchLimits(gap=1e-6, time_limit=120.0)
SEEDS = range(3)

Bids = list[list[tuple[list[int], float]]]


class Answer(NamedTuple):
    welfare: float
    bound: float


class Problem(NamedTuple):
    name: str
    ours: Callable[[int], Callable[[], Answer]]
    highs: Callable[[int], Callable[[], Answer]]


def lsvm_networks(seed: int) -> list[MVNN]:
    """Six networks of the shapes that are published for LSVM, at their random start."""
    networks = []
    for bidder in range(6):
        shape, skip = ((20, 20, 20), False) if bidder == 0 else ((30,), True)
        network = MVNN([1] * 18, shape, skip, random_state=100 * seed + bidder)
        # No answers: the first parameters stay as they were drawn.
        networks.append(network.fit(scale=400.0 if bidder == 0 else 200.0))
    return networks


def tables_solved(seed: int) -> Callable[[], Answer]:
    networks = lsvm_networks(seed)

    def solve() -> Answer:
        result = solve_wdp(networks, [1] * 18, LIMITS)
        return Answer(result.welfare, result.bound)

    return solve


def networks_by_highs(seed: int) -> Callable[[], Answer]:
    networks = lsvm_networks(seed)

    def solve() -> Answer:
        program, taken = IntegerProgram(), []
        for network in networks:
            factor = network.scale_ / 400.0
            skip = network.architecture.skip_weight(network.parameters_)
            quantities = program.add_columns(np.zeros(18) if skip is None else factor * skip, integer=True)
            add_published_network(program, network.architecture, network.parameters_, quantities, factor)
            taken.append(quantities)
        for good in range(18):
            program.add_row([quantities[good] for quantities in taken], 1.0, upper=1.0)
        found = program.maximise(LIMITS)
        if found.columns is None:
            return Answer(0.0, 400.0 * found.bound)
        bundles = [np.rint(found.columns[quantities]).astype(int) for quantities in taken]
        return Answer(
            sum(float(network.predict(bundle[None])[0]) for network, bundle in zip(networks, bundles, strict=True)),
            400.0 * found.bound,
        )

    return solve


def random_bids(seed: int, n_bidders: int) -> Bids:
    """A hundred bids of each bidder on bundles of 18 goods, a little more than additive."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(1, 10, (n_bidders, 18))
    bids: Bids = []
    for own in worth:
        bundles = (rng.random((100, 18)) < rng.uniform(0.15, 0.5, (100, 1))).astype(int)
        values = (bundles @ own) * (1 + 0.02 * bundles.sum(axis=1)) * rng.uniform(0.95, 1.05, 100)
        bids.append([(bundle, value) for bundle, value in zip(bundles.tolist(), values.tolist(), strict=True) if any(bundle)])
    return bids


def bids_solved(n_bidders: int) -> Callable[[int], Callable[[], Answer]]:
    def prepared(seed: int) -> Callable[[], Answer]:
        bids = random_bids(seed, n_bidders)

        def solve() -> Answer:
            result = solve_xor_wdp(bids, [1] * 18, LIMITS)
            return Answer(result.welfare, result.bound)

        return solve

    return prepared


def bids_by_highs(n_bidders: int) -> Callable[[int], Callable[[], Answer]]:
    def prepared(seed: int) -> Callable[[], Answer]:
        bids = random_bids(seed, n_bidders)

        def solve() -> Answer:
            program = IntegerProgram()
            columns = [program.add_columns([value for _, value in own], integer=True) for own in bids]
            for own in columns:
                program.add_row(own, 1.0, upper=1.0)
            bundles = np.array([bundle for own in bids for bundle, _ in own])
            for good in range(18):
                program.add_row(np.flatnonzero(bundles[:, good]), 1.0, upper=1.0)
            found = program.maximise(LIMITS)
            values = np.array([value for own in bids for _, value in own])
            return Answer(0.0 if found.columns is None else float(values @ np.rint(found.columns)), found.bound)

        return solve

    return prepared


PROBLEMS = (
    Problem("6 networks over 18 goods", tables_solved, networks_by_highs),
    Problem("6 bidders with 100 XOR bids on 18 goods", bids_solved(6), bids_by_highs(6)),
    Problem("7 bidders with 100 XOR bids on 18 goods", bids_solved(7), bids_by_highs(7)),
)


def measured(problem: Problem, seed: int, method: str) -> dict[str, float | str | int]:
    solve = (problem.ours if method == "foresolve" else problem.highs)(seed)
    if method == "foresolve":
        solve()  # compiles, or reads what was compiled
    started, cpu = time.perf_counter(), time.process_time()
    answer = solve()
    return {
        "problem": problem.name,
        "seed": seed,
        "method": method,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "welfare": answer.welfare,
        "bound": answer.bound,
    }


def main() -> None:
    ledger = Ledger(RESULTS / "winner_determination.jsonl", ("problem", "seed", "method"))
    rows, lines = [], []
    for problem in PROBLEMS:
        for seed in SEEDS:
            ours, highs = (
                ledger.find(problem=problem.name, seed=seed, method=method) or ledger.append(**measured(problem, seed, method))
                for method in ("foresolve", "highs")
            )
            lines += [ours, highs]
            rows.append(
                [
                    problem.name,
                    str(seed),
                    f"{ours['cpu_seconds']:.3f}",
                    f"{highs['cpu_seconds']:.2f}",
                    f"{highs['cpu_seconds'] / ours['cpu_seconds']:.0f}",
                    f"{ours['welfare'] / highs['welfare'] - 1:+.1e}",
                ]
            )
    print(markdown(["problem", "seed", "CPU s", "HiGHS", "ratio", "welfare"], rows))
    note = disturbed(lines)
    if note:
        print(note)


if __name__ == "__main__":
    main()
