"""Vertex cover and independent set from end to end, as the library's caller sees them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import EdgePredictions, Graph, VertexPredictions, independent_set, sample_edge_predictions, vertex_cover
from solvers.graphs.formats import read_graph
from solvers.graphs.independent_set import INDEPENDENT_SET, IndependentSetRequest
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.graphs.vertex_cover import VERTEX_COVER, VertexCoverRequest
from solvers.operation import Context
from tests.solvers.graphs.weighted_vertices import heaviest_independent_set, is_cover, is_independent, random_edges

DATA = Path(__file__).parents[2] / "data" / "graphs"
SMALL = json.loads((DATA / "small_graphs.json").read_text())
METHODS = ["auto", "paper", "greedy", "local_search", "exact"]
SOLVERS = {"vertex-cover": vertex_cover, "independent-set": independent_set}
REQUESTS = {"vertex-cover": VertexCoverRequest, "independent-set": IndependentSetRequest}
OPERATIONS = {"vertex-cover": VERTEX_COVER, "independent-set": INDEPENDENT_SET}
LARGEST = {
    "C250.9": 44,
    "brock200_2": 12,
    "p_hat300-3": 36,
    "san200_0.9_1": 70,
    "gen200_p0.9_44": 44,
    "sanr200_0.9": 42,
    "rb30-1": 30,
    "CA-GrQc": 2459,
}

both = pytest.mark.parametrize("problem", SOLVERS)


def mis(name: str) -> Graph:
    return read_graph((DATA / "mis" / f"{name}.mis").read_text())


def circulant(num_vertices: int = 61, weights: np.ndarray | None = None) -> Graph:
    """A graph that no reduction makes smaller."""
    ring = np.arange(num_vertices)
    edges = np.concatenate([np.column_stack([ring, (ring + step) % num_vertices]) for step in (1, 3, 8, 12)])
    return Graph(num_vertices, edges, vertex_weights=weights)


def weighted_graph(seed: int, num_vertices: int = 10) -> Graph:
    rng = np.random.default_rng(seed)
    edges = random_edges(num_vertices, int(rng.integers(5, 30)), rng)
    return Graph(num_vertices, edges, vertex_weights=rng.integers(0, 9, num_vertices))


def optimum(graph: Graph, problem: str) -> float:
    weights = np.ones(graph.num_vertices, np.int64) if graph.vertex_weights is None else graph.vertex_weights
    heaviest = heaviest_independent_set(graph.num_vertices, graph.edges, weights)
    return heaviest if problem == "independent-set" else weights.sum() - heaviest


def is_solution(graph: Graph, problem: str, solution: list[int]) -> bool:
    members = np.zeros(graph.num_vertices, bool)
    members[np.array(solution, np.int64) - graph.index_base] = True
    return (is_cover if problem == "vertex-cover" else is_independent)(graph.edges, members)


def verified(graph: Graph, problem: str, result):
    """What verification says of an answer."""
    body = {
        "problem": problem,
        "num_vertices": graph.num_vertices,
        "edges": (graph.edges + graph.index_base).tolist(),
        "index_base": graph.index_base,
        "vertex_weights": None if graph.vertex_weights is None else graph.vertex_weights.tolist(),
        "solution": result.solution,
        "certificate": result.certificate,
    }
    return run_verify(VerifyRequest.model_validate(body), Context())


def reference_bits(graph: Graph, problem: str, epsilon: float, seed: int = 0) -> EdgePredictions:
    solution = SOLVERS[problem](graph, max_iterations=5000, method="local_search").solution
    labels = np.zeros(graph.num_vertices, np.int8)
    labels[np.array(solution) - graph.index_base] = 1
    return sample_edge_predictions(graph.edges, labels, epsilon, seed)


@both
@pytest.mark.parametrize("weighted", [False, True])
def test_known_optima_of_small_graphs_are_found_and_proven(problem, weighted):
    quantity = {"vertex-cover": "vertex_cover", "independent-set": "independent_set"}[problem]
    direction = {"vertex-cover": "min", "independent-set": "max"}[problem]
    for case in SMALL:
        weights = case["vertex_weights"] if weighted else None
        result = SOLVERS[problem](Graph(case["n"], np.array(case["edges"]).reshape(-1, 2), vertex_weights=weights))
        expected = case["optimum"][f"{direction}_{'weight_' if weighted else ''}{quantity}"]
        assert (result.value, result.bound, result.optimal) == (expected, expected, True), case["id"]


@both
@pytest.mark.parametrize("method", METHODS)
def test_certificates_of_small_graphs_prove_the_same_bound_again(problem, method):
    for case, weighted in itertools.product(SMALL, [False, True]):
        weights = case["vertex_weights"] if weighted else None
        graph = Graph(case["n"], np.array(case["edges"]).reshape(-1, 2), vertex_weights=weights)
        result = SOLVERS[problem](graph, method=method, max_iterations=200)
        again = verified(graph, problem, result)
        assert (again.feasible, again.value, again.faults) == (True, result.value, []), case["id"]
        assert (again.bound, again.bound_kind, again.bound_proved) == (result.bound, result.bound_kind, True), case["id"]


@both
@pytest.mark.parametrize("name", LARGEST)
def test_certificates_of_large_graphs_prove_the_same_bound_again(problem, name):
    graph = mis(name)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    again = verified(graph, problem, result)
    assert (again.value, again.bound, again.bound_proved) == (result.value, result.bound, True)


@pytest.mark.parametrize("name", LARGEST)
def test_best_known_independent_sets_are_found(name):
    options = {"method": "local_search", "max_iterations": 100_000, "target": LARGEST[name], "time_limit": 100}
    assert independent_set(mis(name), **options).value == LARGEST[name]


@pytest.mark.parametrize("name", LARGEST)
def test_best_known_covers_are_what_the_sets_leave(name):
    graph = mis(name)
    least = graph.num_vertices - LARGEST[name]
    result = vertex_cover(graph, method="local_search", max_iterations=100_000, target=least, time_limit=100)
    assert result.value == least
    assert is_solution(graph, "vertex-cover", result.solution)


@pytest.mark.parametrize("name", ["brock200_2", "san200_0.9_1", "gen200_p0.9_44"])
def test_dense_graphs_are_proven_by_branch_and_bound(name):
    result = independent_set(mis(name), max_iterations=1000, time_limit=100)
    assert (result.value, result.bound, result.bound_kind) == (LARGEST[name], LARGEST[name], "search")


def test_a_search_is_proven_as_far_as_its_fallback():
    graph = mis("brock200_2")

    again = verified(graph, "independent-set", independent_set(graph, max_iterations=1000, time_limit=100))

    assert (again.bound, again.bound_proved, again.faults) == (33, False, [])


def test_reductions_solve_the_collaboration_graph():
    result = independent_set(mis("CA-GrQc"))
    assert (result.value, result.bound, result.reduction.n, result.winner) == (2459, 2459, 0, "reductions")


def test_planted_set_is_proven_by_the_cliques():
    result = independent_set(mis("rb30-1"), method="local_search", max_iterations=100_000, time_limit=100)
    assert (result.value, result.bound, result.bound_kind) == (30, 30, "clique_partition")


@both
@pytest.mark.parametrize("seed", range(40))
def test_small_weighted_graphs_are_solved_to_proven_optimality(problem, seed):
    graph = weighted_graph(seed)

    result = SOLVERS[problem](graph)

    assert result.value == result.bound == optimum(graph, problem)
    assert is_solution(graph, problem, result.solution)


@both
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_every_method_brackets_the_optimum(problem, method, seed):
    graph = weighted_graph(seed)

    result = SOLVERS[problem](graph, method=method, max_iterations=20)

    above, below = (result.value, result.bound) if problem == "vertex-cover" else (result.bound, result.value)
    assert above >= optimum(graph, problem) >= below


@both
def test_real_weights_are_bracketed_and_recomputed(problem):
    rng = np.random.default_rng(3)
    graph = Graph(10, random_edges(10, 20, rng), vertex_weights=rng.random(10) * 1e-3)

    result = SOLVERS[problem](graph)

    assert result.value == pytest.approx(optimum(graph, problem), rel=1e-12)
    assert result.optimal
    again = verified(graph, problem, result)
    assert again.faults == []
    assert again.bound == pytest.approx(result.bound, rel=1e-12)


@both
def test_real_weights_without_a_reduction_are_proven_again(problem):
    graph = circulant(weights=1 + np.random.default_rng(0).random(61) * 1e-3)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    again = verified(graph, problem, result)
    assert (again.faults, again.bound_proved) == ([], True)
    assert again.bound == pytest.approx(result.bound, rel=1e-12)


def test_components_are_solved_apart_and_added():
    parts = [nx.complete_graph(7), nx.petersen_graph(), nx.cycle_graph(5), nx.path_graph(4), nx.empty_graph(3)]
    graph = nx.disjoint_union_all(parts)
    assert independent_set(graph).value == 1 + 4 + 2 + 2 + 3
    assert vertex_cover(graph).value == 6 + 6 + 3 + 2 + 0


def test_two_components_that_stay_open_are_bounded_as_a_sum():
    ring = circulant().edges
    graph = Graph(122, np.concatenate([ring, ring + 61]))

    result = independent_set(graph, method="greedy", max_iterations=1)

    assert result.bound_kind == "sum"
    assert verified(graph, "independent-set", result).bound == result.bound


def test_cover_and_set_add_up_to_all_vertices():
    graph = circulant()
    assert vertex_cover(graph, max_iterations=100).value + independent_set(graph, max_iterations=100).value == 61


@both
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.5])
def test_answer_is_never_worse_than_the_one_without_predictions(problem, epsilon):
    graph = mis("C250.9")
    bits = reference_bits(graph, problem, epsilon, seed=1)
    options = {"method": "local_search", "max_iterations": 500, "time_limit": 60}

    result, alone = SOLVERS[problem](graph, bits, **options), SOLVERS[problem](graph, **options)

    assert alone.value == result.value_without_predictions
    assert result.value <= alone.value if problem == "vertex-cover" else result.value >= alone.value


@both
def test_advice_does_not_change_what_the_advice_free_part_finds(problem):
    graph = mis("brock200_2")
    options = {"method": "local_search", "max_iterations": 300, "seed": 5, "time_limit": 60}
    wrong = reference_bits(graph, problem, 0.5)
    inverted = EdgePredictions(1 - wrong.bits, epsilon=0.5)

    advised, alone = SOLVERS[problem](graph, inverted, **options), SOLVERS[problem](graph, **options)

    assert (advised.stopped_by, alone.stopped_by) == ("max_iterations", "max_iterations")
    assert advised.value_without_predictions == alone.value == alone.value_without_predictions


@both
def test_missing_bits_change_nothing(problem):
    graph = mis("brock200_2")
    options = {"max_iterations": 300, "seed": 2, "time_limit": 60, "method": "local_search"}
    missing = EdgePredictions(np.full((len(graph.edges), 2), -1))

    advised, alone = SOLVERS[problem](graph, missing, **options), SOLVERS[problem](graph, **options)

    assert advised.value == alone.value
    assert [warning.code for warning in advised.warnings] == ["predictions-empty"]


@both
def test_perfect_bits_give_the_reference_at_once(problem):
    graph = mis("C250.9")
    best = 44 if problem == "independent-set" else 206
    bits = reference_bits(graph, problem, 0.5)

    result = SOLVERS[problem](graph, bits, method="paper", threshold=1, max_iterations=1)

    assert (result.value, result.winner, result.threshold_used) == (best, "paper", 1)
    assert result.prediction_agreement == 1.0


@both
def test_good_predictions_are_worth_something(problem):
    graph = mis("C250.9")

    result = SOLVERS[problem](graph, reference_bits(graph, problem, 0.3), method="paper", threshold=1, max_iterations=1)

    better = result.value < result.value_without_predictions
    assert better if problem == "vertex-cover" else result.value > result.value_without_predictions
    assert result.epsilon_used == 0.3


@both
def test_a_threshold_above_all_votes_leaves_the_greedy_answer(problem):
    graph = mis("brock200_2")
    bits = reference_bits(graph, problem, 0.5)

    result = SOLVERS[problem](graph, bits, method="paper", threshold=10**6, max_iterations=1)

    assert result.value == SOLVERS[problem](graph, method="paper", max_iterations=1).value == result.value_without_predictions


@both
def test_flipped_bits_are_survived(problem):
    graph = circulant()
    bits = EdgePredictions(1 - reference_bits(graph, problem, 0.5).bits, epsilon=0.4)

    result = SOLVERS[problem](graph, bits, max_iterations=200)

    alone = result.value_without_predictions
    assert is_solution(graph, problem, result.solution)
    assert result.value <= alone if problem == "vertex-cover" else result.value >= alone


@both
def test_labels_and_probabilities_are_taken_together(problem):
    graph = circulant()
    labels = np.arange(61) % 4 == (0 if problem == "independent-set" else 1)
    predictions = [
        VertexPredictions(labels=np.where(np.arange(61) % 3, labels, -1), epsilon=0.4),
        VertexPredictions(probabilities=np.where(labels, 0.9, 0.1)),
    ]
    result = SOLVERS[problem](graph, predictions, max_iterations=100)
    assert is_solution(graph, problem, result.solution)
    assert result.epsilon_used == 0.4


@both
def test_predictions_about_weightless_vertices_and_loops_do_no_harm(problem):
    edges = np.concatenate([circulant().edges, [[5, 5]]])
    weights = np.where(np.arange(61) % 7 == 0, 0, 2)
    bits = EdgePredictions(np.ones((len(edges) - 1, 2), np.int8), epsilon=0.3)

    result = SOLVERS[problem](Graph(61, edges, vertex_weights=weights), bits, max_iterations=100)

    assert is_solution(circulant(), problem, result.solution)
    assert (5 in result.solution) == (problem == "vertex-cover")


@both
@pytest.mark.parametrize("with_advice", [False, True])
@pytest.mark.parametrize("method", ["auto", "local_search"])
def test_same_seed_gives_the_same_answer(problem, with_advice, method):
    graph = circulant()
    bits = reference_bits(graph, problem, 0.1) if with_advice else None

    runs = [SOLVERS[problem](graph, bits, max_iterations=200, seed=11, method=method) for _ in range(2)]

    first, second = (OPERATIONS[problem].comparable(run.model_dump(mode="json")) for run in runs)
    assert first == second
    assert first["deterministic"]


@both
def test_an_example_takes_every_part_of_the_search_to_its_last_iteration(problem):
    request = REQUESTS[problem](**OPERATIONS[problem].examples["Noisy predictions about every edge's ends"])

    result = OPERATIONS[problem].run(request, Context(60, seed=0))

    assert (result.stopped_by, result.deterministic, result.epsilon_used) == ("max_iterations", True, 0.25)
    assert result.reduction.n == 31


@both
def test_target_ends_the_run(problem):
    target = 40 if problem == "independent-set" else 210
    result = SOLVERS[problem](mis("C250.9"), target=target, time_limit=30)
    assert result.stopped_by == "target"
    assert result.value <= target if problem == "vertex-cover" else result.value >= target


@both
def test_tiny_time_limit_still_gives_an_answer_and_a_bound(problem):
    graph = mis("brock200_2")

    result = SOLVERS[problem](graph, time_limit=1e-6)

    assert (result.stopped_by, result.deterministic) == ("time_limit", False)
    assert is_solution(graph, problem, result.solution)
    assert verified(graph, problem, result).bound == result.bound


@both
def test_cancelled_run_returns_its_best_so_far(problem):
    reports: list[dict] = []
    context = Context(60, on_report=lambda members, snapshot: reports.append(members), is_cancelled=lambda: len(reports) > 2)

    result = OPERATIONS[problem].run(REQUESTS[problem].of(mis("C250.9"), options={"time_limit": 60}), context)

    assert result.stopped_by == "cancelled"
    last = reports[-1]["value"]
    assert result.value <= last if problem == "vertex-cover" else result.value >= last


@both
def test_a_run_with_no_time_to_reduce_the_graph_still_gives_an_answer(problem):
    body = {"num_vertices": 9, "edges": [[0, 1], [1, 2], [2, 0], [4, 5], [5, 6], [6, 4]]}

    result = OPERATIONS[problem].run(REQUESTS[problem].model_validate(body), Context(is_cancelled=lambda: True))

    assert (result.stopped_by, result.bound_kind) == ("cancelled", "trivial")
    assert is_solution(Graph(9, body["edges"]), problem, result.solution)


@both
def test_reports_go_one_way_and_snapshots_are_answers(problem):
    seen = []
    context = Context(on_report=lambda members, snapshot: seen.append((members, snapshot())), time_limit=60)
    request = REQUESTS[problem].of(mis("brock200_2"), options={"max_iterations": 200, "method": "local_search"})

    result = OPERATIONS[problem].run(request, context)

    values = [members["value"] for members, _ in seen]
    assert values == sorted(values, reverse=problem == "vertex-cover")
    assert all(snapshot.value == members["value"] for members, snapshot in seen)
    assert values[-1] == result.value


@both
def test_history_is_in_the_sense_of_the_problem(problem):
    history = SOLVERS[problem](mis("brock200_2"), max_iterations=500, method="local_search").history
    falls = problem == "vertex-cover"
    assert [row.value for row in history] == sorted((row.value for row in history), reverse=falls)
    assert [row.bound for row in history] == sorted((row.bound for row in history), reverse=not falls)
    assert all(row.bound <= row.value if falls else row.value <= row.bound for row in history)


def test_cover_is_promised_within_the_ratio_of_its_colouring():
    graph = circulant()

    guarantee = vertex_cover(graph, method="greedy", max_iterations=1).guarantee

    assert guarantee.name == "hochbaum_ratio"
    assert not guarantee.assumes_independent_predictions
    assert 1 <= guarantee.value <= 2 - 2 / 9


def test_a_cover_that_reductions_find_is_promised_to_be_a_best_one():
    guarantee = vertex_cover(nx.path_graph(50)).guarantee

    assert (guarantee.name, guarantee.value) == ("hochbaum_ratio", 1.0)


@pytest.mark.parametrize("weights", [None, 1 + np.arange(61) % 7])
def test_a_cover_that_stops_at_its_target_is_promised_twice_the_least_weight(weights):
    graph = circulant(weights=weights)

    result = vertex_cover(graph, target=10**9, max_iterations=1)

    assert result.stopped_by == "target"
    assert (result.guarantee.name, result.guarantee.value) == ("local_ratio", 2.0)
    assert result.value <= 2 * vertex_cover(graph, max_iterations=10_000).value


def test_independent_set_is_promised_a_ratio_where_bits_are_independent_and_degrees_suffice():
    graph = mis("brock200_2")
    bits = reference_bits(graph, "independent-set", 0.45)

    guarantee = independent_set(graph, bits, method="paper", max_iterations=1).guarantee

    assert guarantee.name == "independent_set_expected_ratio"
    assert guarantee.assumes_independent_predictions
    assert 0 < guarantee.value < 1


def test_nothing_is_promised_of_an_independent_set_without_predictions():
    assert independent_set(mis("brock200_2"), method="greedy", max_iterations=1).guarantee is None


def test_a_cover_is_written_in_pace_s_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = Graph(None, [["c", "a"], ["c", "b"], ["b", "d"]])

    result = vertex_cover(graph, solution_file=True)

    assert (tmp_path / "cover.txt").read_text() == "s vc 4 2\n" + "".join(
        f"{graph.labels.index(vertex) + 1}\n" for vertex in result.solution
    )


def test_a_set_is_written_one_id_per_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = independent_set(Graph(None, [["c", "a"], ["c", "b"]]), solution_file=True)

    assert result.solution == ["a", "b"]
    assert (tmp_path / "independent-set.txt").read_text() == "a\nb\n"


def test_ids_count_from_where_the_caller_s_do():
    assert vertex_cover(Graph(4, [[1, 2], [1, 3], [1, 4]], index_base=1)).solution == [1]


@both
def test_a_library_call_returns_the_certificate_itself_however_long(problem):
    path = np.column_stack([np.arange(12_000), np.arange(1, 12_001)])

    certificate = SOLVERS[problem](Graph(12_001, path)).certificate

    assert "file" not in certificate
    assert len(json.dumps(certificate)) > 10_000


@both
def test_relabelling_the_vertices_does_not_change_an_exact_answer(problem):
    graph = weighted_graph(5, num_vertices=12)
    permutation = np.random.default_rng(1).permutation(12)
    weights = np.empty(12, np.int64)
    weights[permutation] = graph.vertex_weights
    relabelled = Graph(12, permutation[graph.edges], vertex_weights=weights)
    assert SOLVERS[problem](graph).value == SOLVERS[problem](relabelled).value


# Beside the table of test_bad_input_table.py.


@both
def test_weights_of_nodes_are_used(problem):
    graph = nx.star_graph(3)
    nx.set_node_attributes(graph, {0: 10}, "weight")
    result = SOLVERS[problem](graph)
    assert result.value == (3 if problem == "vertex-cover" else 10)


@both
@pytest.mark.parametrize("graph", [Graph(0, []), nx.Graph()])
def test_the_empty_graph_has_value_0(problem, graph):
    result = SOLVERS[problem](graph)
    assert (result.value, result.bound, result.optimal, result.solution) == (0, 0, True, [])


@both
def test_weights_of_any_size_are_counted(problem):
    graph = Graph(3, [[0, 1], [1, 2]], vertex_weights=[2**50, 2**51, 2**50 + 1])
    assert SOLVERS[problem](graph).value == (2**51 if problem == "vertex-cover" else 2**51 + 1)


@both
def test_tiny_real_weights_are_proven_again(problem):
    graph = circulant(weights=(1 + np.random.default_rng(0).random(61)) * 1e-30)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    assert verified(graph, problem, result).bound == pytest.approx(result.bound, rel=1e-9)
