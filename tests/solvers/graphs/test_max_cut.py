"""MaxCut from end to end, as the library's caller sees it."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import Graph, VertexPredictions, max_cut, sample_edge_predictions
from solvers.graphs.max_cut import MAX_CUT, MaxCutRequest
from solvers.operation import Context

DATA = Path(__file__).parents[2] / "data" / "graphs"
METHODS = ["auto", "paper", "greedy", "sdp", "local_search", "exact"]


def brute_force(num_vertices: int, edges: np.ndarray, weights: np.ndarray) -> float:
    sides = np.array(list(itertools.product([0, 1], repeat=num_vertices)), dtype=np.int8).reshape(-1, num_vertices)
    if len(edges) == 0:
        return 0
    return float(((sides[:, edges[:, 0]] != sides[:, edges[:, 1]]) * weights).sum(axis=1).max())


def signed_graph(seed: int, num_vertices: int | None = None, density: float = 0.6) -> Graph:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9)) if num_vertices is None else num_vertices
    pairs = np.array(list(itertools.combinations(range(n), 2)), dtype=np.int32).reshape(-1, 2)
    edges = pairs[rng.random(len(pairs)) < density]
    return Graph(n, edges, edge_weights=rng.integers(-5, 6, len(edges)))


def gset(name: str) -> Graph:
    rows = np.loadtxt(DATA / "maxcut" / f"{name}.txt", skiprows=1, dtype=np.int64)
    return Graph(int(rows[:, :2].max()), rows[:, :2] - 1, edge_weights=rows[:, 2])


def reference(name: str) -> np.ndarray:
    rows = json.loads((DATA / "references.json").read_text())
    return np.array([int(bit) for row in rows if row["instance"] == name for bit in row["solution"]], dtype=np.int8)


def value_of(graph: Graph, sides: list[int]) -> float:
    placed = np.asarray(sides)
    separated = placed[graph.edges[:, 0]] != placed[graph.edges[:, 1]]
    weights = np.ones(len(graph.edges)) if graph.edge_weights is None else graph.edge_weights
    return float(weights[separated].sum())


@pytest.mark.parametrize("seed", range(60))
def test_small_signed_graphs_are_solved_to_proven_optimality(seed):
    graph = signed_graph(seed)

    result = max_cut(graph, max_iterations=50)

    assert result.optimal
    assert result.value == result.bound == brute_force(graph.num_vertices, graph.edges, graph.edge_weights)
    assert value_of(graph, result.solution) == result.value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(12))
def test_every_method_brackets_the_optimum(method, seed):
    graph = signed_graph(seed, num_vertices=8, density=0.9)

    result = max_cut(graph, method=method, max_iterations=20, seed=seed)

    optimum = brute_force(8, graph.edges, graph.edge_weights)
    assert value_of(graph, result.solution) == result.value <= optimum <= result.bound


def test_known_optima_of_small_graphs_are_found():
    for case in json.loads((DATA / "small_graphs.json").read_text()):
        graph = Graph(case["n"], np.array(case["edges"]).reshape(-1, 2), edge_weights=case["edge_weights"])
        assert max_cut(graph, max_iterations=50).value == case["optimum"]["max_cut"], case["id"]


def test_real_weights_are_bracketed_and_recomputed():
    rng = np.random.default_rng(3)
    pairs = np.array(list(itertools.combinations(range(8), 2)))
    weights = rng.normal(size=len(pairs)) * 1e-3

    result = max_cut(Graph(8, pairs, edge_weights=weights), max_iterations=50)

    optimum = brute_force(8, pairs, weights)
    assert result.value == pytest.approx(optimum, rel=1e-12)
    assert result.bound >= optimum
    assert result.optimal


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("predictions", [None, VertexPredictions([0, 1, 1], epsilon=0.1)])
def test_a_reduced_graph_whose_bound_is_not_met_for_rounding_is_answered(method, predictions):
    result = max_cut([[0, 1, -1e-4], [1, 2, -13205923234.210554]], predictions, method=method)

    assert (result.value, result.reduction.n, result.stopped_by) == (0, 0, "completed")
    assert 1e-9 < result.bound < 1e-5


def test_a_bound_is_not_rounded_below_a_cut():
    # The largest cut is worth 2^52 + 1/2, which no float is.
    assert max_cut([[0, 1, 2.0**52], [1, 2, 0.5]]).bound > 2**52


def test_components_are_solved_apart_and_added():
    parts = [nx.complete_graph(7), nx.petersen_graph(), nx.cycle_graph(5), nx.path_graph(4), nx.empty_graph(3)]
    result = max_cut(nx.disjoint_union_all(parts), max_iterations=100)
    assert (result.value, result.bound) == (12 + 12 + 4 + 3, 31)


@pytest.mark.parametrize("graph", [Graph(0, []), Graph(4, []), Graph(3, [[0, 1], [1, 2]], edge_weights=[-1, -2])])
def test_a_graph_without_anything_to_cut_has_value_0(graph):
    result = max_cut(graph)
    assert (result.value, result.bound, result.optimal, result.gap, result.ratio) == (0, 0, True, 0, 1)
    assert len(result.solution) == graph.num_vertices


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_cut_is_never_below_the_cut_without_predictions(epsilon, seed):
    graph, sides = gset("G43"), reference("G43")
    bits = sample_edge_predictions(graph.edges, sides, epsilon, seed)

    options = {"method": "local_search", "max_iterations": 300, "seed": seed, "time_limit": 60}

    result, alone = max_cut(graph, bits, **options), max_cut(graph, **options)

    assert result.value >= alone.value == result.value_without_predictions


def test_an_example_takes_every_part_of_the_search_to_its_last_iteration():
    request = MaxCutRequest(**MAX_CUT.examples["Noisy predictions about every edge's ends"])

    result = MAX_CUT.run(request, Context(60, seed=0))

    assert (result.stopped_by, result.deterministic, result.epsilon_used) == ("max_iterations", True, 0.25)
    assert (result.bound_kind, result.reduction.n) == ("sdp_dual", 10)


def test_a_library_call_returns_the_certificate_itself_however_long():
    ring = np.arange(12_001)
    edges = np.concatenate([np.column_stack([ring, (ring + step) % 12_001]) for step in (1, 2)])
    graph = Graph(12_001, edges)

    certificate = max_cut(graph, max_iterations=1, time_limit=60).certificate

    assert "file" not in certificate
    assert len(json.dumps(certificate)) > 10_000


def test_perfect_bits_give_the_reference_cut_at_once():
    graph, sides = gset("G43"), reference("G43")

    bits = sample_edge_predictions(graph.edges, sides, 0.5, 0)

    result = max_cut(graph, bits, method="paper", threshold=1, max_iterations=1)

    assert result.value == 6660
    assert result.prediction_agreement == 1.0


@pytest.mark.parametrize("epsilon", [0.2, 0.3])
def test_the_paper_s_method_profits_from_good_predictions(epsilon):
    graph, sides = gset("G14"), reference("G14")
    bits = sample_edge_predictions(graph.edges, sides, epsilon, 0)

    result = max_cut(graph, bits, method="paper", max_iterations=1, time_limit=60)

    assert result.value > result.value_without_predictions
    assert result.winner == "wide_lp"


def test_vertex_labels_and_probabilities_are_taken_together():
    graph, sides = gset("G43"), reference("G43")
    predictions = [
        VertexPredictions(labels=np.where(np.arange(1000) % 3, sides, -1), epsilon=0.4),
        VertexPredictions(probabilities=np.where(sides == 1, 0.9, 0.1)),
    ]
    assert max_cut(graph, predictions, max_iterations=10).value >= 6600


@pytest.mark.parametrize("with_advice", [False, True])
def test_same_seed_gives_the_same_answer(with_advice):
    graph = gset("G14")
    bits = sample_edge_predictions(graph.edges, reference("G14"), 0.1, 7) if with_advice else None

    runs = [max_cut(graph, bits, max_iterations=200, seed=11, time_limit=60) for _ in range(2)]

    first, second = (MAX_CUT.comparable(run.model_dump(mode="json")) for run in runs)
    assert first == second
    assert first["deterministic"]


def test_target_ends_the_run():
    result = max_cut(gset("G43"), target=6500, time_limit=30)
    assert result.stopped_by == "target"
    assert result.value >= 6500


def test_tiny_time_limit_still_gives_a_cut_and_a_bound():
    result = max_cut(gset("G22"), time_limit=1e-6)
    assert result.stopped_by == "time_limit"
    assert 19990 / 2 <= result.value <= result.bound <= 19990


def test_a_run_with_no_time_to_reduce_the_graph_still_gives_a_cut_and_a_bound():
    # Two triangles and three vertices without edges, the last one among them.
    body = {"num_vertices": 9, "edges": [[0, 1], [1, 2], [2, 0], [4, 5], [5, 6], [6, 4]]}

    result = MAX_CUT.run(MaxCutRequest.model_validate(body), Context(is_cancelled=lambda: True))

    assert (result.stopped_by, result.bound_kind, result.bound) == ("cancelled", "trivial", 6)
    assert result.value == value_of(Graph(9, body["edges"]), result.solution) == 4


def test_cancelled_run_returns_its_best_so_far():
    reports: list[dict] = []
    context = Context(60, on_report=lambda members, snapshot: reports.append(members), is_cancelled=lambda: len(reports) > 4)

    result = MAX_CUT.run(MaxCutRequest.of(gset("G22"), options={"time_limit": 60}), context)

    assert result.stopped_by == "cancelled"
    assert result.value >= reports[-1]["value"]


def test_reports_rise_to_the_answer_and_snapshots_are_answers():
    seen = []
    context = Context(on_report=lambda members, snapshot: seen.append((members, snapshot())), time_limit=60)

    result = MAX_CUT.run(MaxCutRequest.of(gset("G43"), options={"max_iterations": 100}), context)

    values = [members["value"] for members, _ in seen]
    assert values == sorted(values)
    assert all(snapshot.value == members["value"] for members, snapshot in seen)
    assert values[-1] == result.value


def test_history_rises_in_value_and_falls_in_bound():
    history = max_cut(gset("G43"), max_iterations=500).history
    assert [row.value for row in history] == sorted(row.value for row in history)
    assert [-row.bound for row in history] == sorted(-row.bound for row in history)


@pytest.mark.parametrize("name", ["G1", "G11", "G14", "G22", "G43", "G50"])
def test_bound_is_within_one_percent_of_the_relaxation_and_above_the_best_known_cut(name):
    with (DATA / "instances.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if row["instance"] == name)

    result = max_cut(gset(name), method="sdp", max_iterations=1, time_limit=60)

    assert int(row["best_known"]) <= result.bound <= 1.01 * float(row["upper_bound"])


@pytest.mark.parametrize(("name", "least"), [("G1", 11601), ("G43", 6647), ("G14", 3058), ("G50", 5869)])
def test_twenty_thousand_sweeps_come_close_to_the_best_known_cut(name, least):
    options = {"max_iterations": 20000, "time_limit": 100, "method": "local_search"}
    assert max(max_cut(gset(name), seed=seed, **options).value for seed in range(2)) >= least


def test_toroidal_grid_is_solved_and_proven():
    result = max_cut(gset("G11"), max_iterations=100, time_limit=60)
    assert (result.value, result.bound, result.optimal) == (564, 564, True)


def test_relabelling_the_vertices_permutes_an_exact_answer():
    graph = signed_graph(5, num_vertices=12)
    permutation = np.random.default_rng(1).permutation(12)
    relabelled = Graph(12, permutation[graph.edges], edge_weights=graph.edge_weights)
    assert max_cut(graph, max_iterations=10).value == max_cut(relabelled, max_iterations=10).value


def test_weights_scale():
    graph = signed_graph(6, num_vertices=12)
    scaled = Graph(12, graph.edges, edge_weights=graph.edge_weights * 1000)
    assert max_cut(scaled, max_iterations=10).value == 1000 * max_cut(graph, max_iterations=10).value
