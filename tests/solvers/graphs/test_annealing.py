"""Simulated annealing and 1-flip descent."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs import annealing
from solvers.graphs.annealing import Annealer, descend, fields_of, seeded_state
from solvers.graphs.csr import build_csr, cut_value
from tests.solvers.graphs.signed_graphs import gset_csr, largest_cut, random_graph, signed_graphs

MASK = 2**64 - 1


def random_sides(n, seed):
    return np.random.default_rng(seed).integers(0, 2, n).astype(np.int8)


def finish(run):
    while not run.done:
        run.advance(1000)
    return run


def anneal_in_plain_python(edges, weights, sides, sweeps, hot, cold, seed):
    """Return the sides after every sweep, gains being summed up from scratch."""
    n = len(sides)
    matrix = np.zeros((n, n))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = weights
    x = int(seeded_state(seed)[0])
    spins = [2 * int(side) - 1 for side in sides]
    scale = np.abs(weights).mean()
    history = []
    for sweep in range(sweeps):
        temperature = scale * (hot + (cold - hot) * sweep / (sweeps - 1))
        for v in range(n):
            gain = sum(matrix[v, u] * spins[u] for u in range(n)) * spins[v]
            if gain <= -12 * temperature:
                continue
            if gain <= 0:
                x ^= x << 13 & MASK
                x ^= x >> 7
                x ^= x << 17 & MASK
                if (x >> 11) * 2.0**-53 >= (0.5 if gain == 0 else math.exp(gain / temperature)):
                    continue
            spins[v] = -spins[v]
        history.append([(spin + 1) // 2 for spin in spins])
    return history


@pytest.mark.parametrize("seed", range(3))
def test_sweeps_follow_the_rule_of_metropolis(seed):
    edges, weights = random_graph(12, 30, np.random.default_rng(seed))
    sides = random_sides(12, seed)
    run = Annealer(build_csr(12, edges, weights), sides, sweeps=200, hot=3.0, cold=0.2, seed=seed)

    history = []
    while not run.done:
        run.advance(1)
        history.append(run.sides.tolist())

    assert history == anneal_in_plain_python(edges, weights, sides, 200, 3.0, 0.2, seed)


def test_fields_and_values_after_many_moves_equal_those_counted_from_scratch():
    edges, weights = random_graph(200, 800, np.random.default_rng(1), weights=range(-(2**40), 2**40, 12345677))
    csr = build_csr(200, edges, weights)
    run = Annealer(csr, random_sides(200, 1), sweeps=500, hot=3.0, cold=1.0, seed=1)

    before, moves = run.sides, 0
    while not run.done:
        run.advance(1)
        moves += int((run.sides != before).sum())
        before = run.sides

    spins = 2 * run.sides.astype(np.int64) - 1
    fields = np.zeros(200, np.int64)
    np.add.at(fields, edges[:, 0], weights * spins[edges[:, 1]])
    np.add.at(fields, edges[:, 1], weights * spins[edges[:, 0]])
    assert moves > 10_000
    assert run._fields.tolist() == fields.tolist() == fields_of(csr.indptr, csr.indices, csr.weights, spins).tolist()
    assert run.value == cut_value(edges, weights, run.sides)
    assert run.best_value == cut_value(edges, weights, run.best_sides)


def test_a_run_in_pieces_equals_a_run_at_once():
    csr, _, _ = gset_csr("G11")
    whole, pieces = (Annealer(csr, random_sides(800, 5), sweeps=100, hot=2.0, cold=0.2, seed=7) for _ in range(2))

    whole.advance(100)
    while not pieces.done:
        pieces.advance(7)

    assert whole.best_sides.tolist() == pieces.best_sides.tolist()
    assert whole.sides.tolist() == pieces.sides.tolist()


def test_a_large_graph_hands_back_before_all_sweeps_are_run(monkeypatch):
    csr, _, _ = gset_csr("G11")
    monkeypatch.setattr(annealing, "WORK_PER_CALL", 1000)
    run = Annealer(csr, random_sides(800, 5), sweeps=100, hot=2.0, cold=0.2, seed=7)

    assert 0 < run.advance(100) < 100
    assert not run.done


def test_the_start_is_not_modified():
    csr, _, _ = gset_csr("G11")
    start = np.zeros(800, np.int8)

    finish(Annealer(csr, start, sweeps=10, hot=2.0, cold=0.2, seed=1))

    assert not start.any()


def test_the_same_temperatures_serve_weights_of_any_scale():
    csr, edges, weights = gset_csr("G11")
    scaled = build_csr(800, edges, weights * 2**30)

    small, large = (finish(Annealer(c, random_sides(800, 2), sweeps=50, hot=2.0, cold=0.2, seed=3)) for c in (csr, scaled))

    assert small.best_sides.tolist() == large.best_sides.tolist()


@given(signed_graphs(), st.integers(0, 3))
def test_the_best_cut_is_never_worse_than_the_start(graph, seed):
    n, edges, weights = graph
    start = random_sides(n, seed)

    run = finish(Annealer(build_csr(n, edges, weights), start, sweeps=3, hot=5.0, cold=5.0, seed=seed))

    assert run.best_value == cut_value(edges, weights, run.best_sides) >= cut_value(edges, weights, start)


@pytest.mark.parametrize("seed", range(20))
def test_small_graphs_are_cut_best(seed):
    edges, weights = random_graph(14, 40, np.random.default_rng(seed))

    run = finish(Annealer(build_csr(14, edges, weights), random_sides(14, seed), sweeps=1000, hot=3.0, cold=0.2, seed=seed))

    assert run.best_value == largest_cut(14, edges, weights)


def test_ten_runs_of_2000_sweeps_come_within_9_of_the_best_known_cut_of_g1():
    csr, edges, weights = gset_csr("G1")

    runs = [finish(Annealer(csr, random_sides(800, s), sweeps=2000, hot=3.0, cold=0.2, seed=s)) for s in range(10)]

    assert 11615 <= max(cut_value(edges, weights, run.best_sides) for run in runs) <= 11624


@given(signed_graphs(), st.integers(0, 255))
def test_descent_never_loses_and_ends_where_no_single_move_gains(graph, code):
    n, edges, weights = graph
    start = np.array([code >> v & 1 for v in range(n)], np.int8)

    sides, gain = descend(build_csr(n, edges, weights), start)

    value = cut_value(edges, weights, sides)
    assert value == cut_value(edges, weights, start) + gain
    assert gain >= 0
    for v in range(n):
        flipped = sides.copy()
        flipped[v] ^= 1
        assert cut_value(edges, weights, flipped) <= value


def test_a_stopped_descent_returns_what_it_has(monkeypatch):
    csr, edges, weights = gset_csr("G1")
    monkeypatch.setattr(annealing, "WORK_PER_CALL", 1)
    start = np.zeros(800, np.int8)

    sides, gain = descend(csr, start, stop=lambda: True)

    assert 0 < gain == cut_value(edges, weights, sides)
    assert descend(csr, sides)[1] > 0
