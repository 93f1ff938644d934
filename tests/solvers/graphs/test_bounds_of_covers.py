"""Bounds on covers, independent sets and set covers, asked for alone."""

import numpy as np
import pytest
from pydantic import ValidationError

from solvers.graphs.bounds import GRAPHS_BOUNDS, BoundsRequest, from_objects, run_bounds
from solvers.graphs.set_system import SetSystem
from solvers.graphs.verify import prove_cover, prove_independent_set
from solvers.graphs.verify_set_cover import prove_set_cover
from solvers.operation import Context, InvalidInput
from tests.solvers.graphs.weighted_vertices import heaviest_independent_set, random_edges

KINDS = [None, "trivial", "matching", "clique_partition", "edge_packing", "enumeration", "elimination", "reduced"]
SETS = [[0, 1], [1, 2], [0, 2], [3]]


def bounds(**fields):
    return run_bounds(BoundsRequest.model_validate(fields), Context(60, seed=0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_every_kind_lies_on_its_side_and_is_proven_by_its_certificate(kind, seed):
    rng = np.random.default_rng(seed)
    edges, loops = random_edges(9, int(rng.integers(1, 25)), rng), rng.integers(0, 9, 1)
    weights = rng.integers(0, 6, 9) if seed % 2 else rng.random(9)
    heaviest = heaviest_independent_set(9, edges, np.where(np.arange(9) == loops[0], 0, weights))
    graph = {"num_vertices": 9, "edges": [*edges.tolist(), [int(loops[0])] * 2], "vertex_weights": weights.tolist()}

    of_sets = bounds(problem="independent-set", **graph, kinds=kind and [kind])
    of_covers = bounds(problem="vertex-cover", **graph, kinds=kind and [kind])

    assert of_sets.bound >= heaviest - 1e-12
    assert of_covers.bound <= weights.sum() - heaviest + 1e-12
    for prove, result in ((prove_independent_set, of_sets), (prove_cover, of_covers)):
        proof = prove(9, edges, weights, result.certificate, loops=loops)
        assert proof.faults == ()
        assert proof.bound == pytest.approx(result.bound, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", [None, "edge_packing"])
def test_weights_are_on_one_grid_with_those_of_vertices_with_loops(kind):
    # Without the heavy vertex, the grid could be finer.
    edges, weights = np.array([[0, 1], [1, 2], [2, 0]]), np.array([0.1, 0.2, 0.3, 1000.7])
    graph = {"num_vertices": 4, "edges": [*edges.tolist(), [3, 3]], "vertex_weights": weights.tolist()}

    result = bounds(problem="independent-set", **graph, kinds=kind and [kind])

    proof = prove_independent_set(4, edges, weights, result.certificate, loops=np.array([3]))
    assert proof.bound == pytest.approx(result.bound, rel=1e-9)


@pytest.mark.parametrize("factor", [1e-60, 1e-120, 1e-280, 1e-300, 5e-324])
def test_weights_may_be_tiny(factor):
    edges, weights = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]), np.array([1.5, 2, 3, 1]) * factor
    graph = {"edges": edges.tolist(), "vertex_weights": weights.tolist()}

    of_sets, of_covers = bounds(problem="independent-set", **graph), bounds(problem="vertex-cover", **graph)

    assert of_sets.bound >= weights[2]
    assert of_covers.bound <= weights[[0, 1, 3]].sum()
    assert prove_independent_set(4, edges, weights, of_sets.certificate).bound == pytest.approx(of_sets.bound, rel=1e-9)
    assert prove_cover(4, edges, weights, of_covers.certificate).bound == pytest.approx(of_covers.bound, rel=1e-9)


@pytest.mark.parametrize("kind", [None, "trivial", "lagrangian", "enumeration"])
def test_every_kind_of_a_set_cover_lies_below_the_optimum_and_is_proven(kind):
    result = bounds(problem="set-cover", sets=SETS, kinds=kind and [kind])

    assert result.bound <= 3
    assert prove_set_cover(SetSystem(SETS), result.certificate).bound == result.bound


def test_the_best_of_all_kinds_is_the_greatest_of_a_minimum():
    result = bounds(problem="vertex-cover", edges=[[0, 1], [1, 2], [2, 0]])
    assert result.bound == max(outcome.bound for outcome in result.kinds if outcome.bound is not None) == 2


def test_a_kind_for_another_problem_says_so():
    result = bounds(problem="vertex-cover", edges=[[0, 1]], kinds=["sdp_dual", "matching"])
    assert [(outcome.kind, outcome.reason) for outcome in result.kinds] == [
        ("matching", None),
        ("sdp_dual", "it is no bound for vertex-cover"),
    ]


def test_an_element_in_no_set_is_refused():
    with pytest.raises(InvalidInput):
        bounds(problem="set-cover", sets=[[0]], num_elements=2)


@pytest.mark.parametrize(
    "fields",
    [
        {"problem": "set-cover", "edges": [[0, 1]]},
        {"problem": "set-cover"},
        {"problem": "set-cover", "sets": [[0]], "graph": {"text": "1 1\n1\n1 1\n"}},
        {"problem": "set-cover", "graph": {"text": "1 1\n1\n1 1\n"}, "costs": [1]},
        {"problem": "vertex-cover", "sets": [[0]]},
        {"problem": "vertex-cover"},
    ],
)
def test_the_instance_is_the_problem_s(fields):
    with pytest.raises(ValidationError):
        BoundsRequest.model_validate(fields)


def test_a_set_system_may_be_a_text_in_a_format_that_is_named_or_told():
    text = "3 3\n1 1 2\n2 1 3\n2 1 2\n2 2 3\n"
    named = bounds(problem="set-cover", graph={"text": text, "format": "orlib"})
    assert named.bound == bounds(problem="set-cover", graph={"text": text}).bound == 2


@pytest.mark.parametrize(
    ("problem", "graph"),
    [
        ("vertex-cover", {"text": "3 3\n1 1 2\n", "format": "orlib"}),
        ("set-cover", {"text": "2 1\n1 2\n", "format": "rudy"}),
        ("set-cover", {"node_link": {"nodes": [], "edges": []}}),
    ],
)
def test_a_format_of_the_other_kind_of_instance_is_refused(problem, graph):
    with pytest.raises(InvalidInput) as refused:
        bounds(problem=problem, graph=graph)
    assert refused.value.pointer.startswith("/graph")


@pytest.mark.parametrize(
    ("problem", "instance"),
    [("vertex-cover", [[0, 1], [1, 2]]), ("independent-set", [[0, 1], [1, 2]]), ("set-cover", SETS)],
)
def test_a_body_is_made_of_what_is_in_memory(problem, instance):
    body = from_objects(instance, ["trivial"], problem=problem)
    assert bounds(**body).kinds[0].kind == "trivial"


@pytest.mark.parametrize("title", GRAPHS_BOUNDS.examples)
def test_every_example_runs(title):
    body = GRAPHS_BOUNDS.examples[title]
    assert run_bounds(BoundsRequest.model_validate(body), Context(60)).stopped_by == "completed"
