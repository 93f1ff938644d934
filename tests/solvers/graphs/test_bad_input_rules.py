"""What is refused and what is repaired beside the table of instances: headers, predictions, limits and numbers, for every problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from solvers.field_faults import from_validation_error
from solvers.graphs.batch import SOLVERS
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context, ForesolveError

GRAPHS = ("max-cut", "vertex-cover", "independent-set")
MATRIX = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n"
# No rule reduces this graph, and no cheap bound meets its optima.
RING = [[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)]
ARCS = [[(v + step) % 31 for step in (0, 1, 5)] for v in range(31)]

OPEN: dict[str, dict[str, Any]] = {problem: {"edges": RING} for problem in GRAPHS} | {"set-cover": {"sets": ARCS}}
BITS: dict[str, tuple[str, int]] = dict.fromkeys(GRAPHS, ("edge_bits", 2)) | {"set-cover": ("incidence_bits", 3)}

every = pytest.mark.parametrize("problem", SOLVERS)
of_graphs = pytest.mark.parametrize("problem", GRAPHS)


def answered(problem: str, body: dict[str, Any], **options: Any) -> Any:
    operation = SOLVERS[problem]
    request = operation.request.model_validate(body | {"options": {"max_iterations": 100} | options})
    return operation.run(request, Context())


def fault_of(problem: str, body: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the problem document of a body that is refused."""
    try:
        answered(problem, body, **options)
    except ValidationError as error:
        return from_validation_error(error, body | {"options": options})
    except ForesolveError as fault:
        return fault.problem()
    raise AssertionError("the body was not refused")


def with_bits(problem: str, bit_of: Any, **fields: Any) -> dict[str, Any]:
    """Return an open instance with a bit for every end of every edge, or every element of every set."""
    name, width = BITS[problem]
    rows = OPEN[problem].get("edges") or OPEN[problem]["sets"]
    table = [[bit_of(row, place) for place in range(width)] for row in range(len(rows))]
    return OPEN[problem] | {"predictions": {name: table} | fields}


@of_graphs
def test_equal_mirror_images_in_a_general_matrix_are_one_edge(problem: str) -> None:
    result = answered(problem, {"graph": {"text": MATRIX + "1 2 4\n2 1 4\n3 2 7\n"}})

    assert result.value == {"max-cut": 11, "vertex-cover": 1, "independent-set": 2}[problem]
    assert result.warnings == []


@of_graphs
@pytest.mark.parametrize("lines", ["e 1 2\ne 2 3\n", "e 1 2\ne 2 1\ne 2 3\ne 3 2\n", "e 2 1\ne 3 2\ne 1 2\n"])
def test_a_dimacs_header_may_count_lines_or_distinct_edges(problem: str, lines: str) -> None:
    expected = {"max-cut": lines.count("e"), "vertex-cover": 1, "independent-set": 2}[problem]

    for count in {2, lines.count("e")}:
        assert answered(problem, {"graph": {"text": f"p edge 3 {count}\n{lines}"}}).value == expected


MALFORMED = {
    "unequal mirror images": (MATRIX + "1 2 4\n2 1 5\n3 2 7\n", None, 4),
    "METIS self-loop": ("2 1\n1\n2\n", "metis", 2),
    "METIS repeated neighbour": ("2 2\n2 2\n1 1\n", "metis", 2),
    "METIS one-sided neighbour": ("3 2\n2 3\n1\n2\n", "metis", 2),
    "METIS header": ("3 3\n2\n1 3\n2\n", "metis", 1),
    "rudy header": ("3 3\n1 2\n2 3\n", "rudy", 1),
    "PACE header": ("p td 3 3\n1 2\n2 3\n", None, 1),
    "DIMACS header": ("p edge 3 3\ne 1 2\ne 2 1\n", None, 1),
    "Matrix Market header": (MATRIX + "1 2 4\n", None, 2),
    "id out of range": ("3 2\n1 2\n2 4\n", "rudy", 3),
    "weight NaN": ("3 2\n1 2 1\n2 3 nan\n", "rudy", 3),
    "weight infinite": ("p edge 3 2\ne 1 2 inf\ne 2 3\n", None, 2),
}


@of_graphs
@pytest.mark.parametrize("name", MALFORMED)
def test_what_a_format_forbids_is_refused_with_its_line(problem: str, name: str) -> None:
    text, format, line = MALFORMED[name]

    fault = fault_of(problem, {"graph": {"text": text, "format": format}})

    assert (fault["status"], fault["line"], fault["errors"][0]["pointer"]) == (422, line, "/graph/text")


@pytest.mark.parametrize(
    ("text", "format", "line"),
    [
        ("3 2\n5 7\n1 1\n2 1 2\n", "orlib", 4),
        ("3 2\n5 2 1 2\n7 2 2 3\n9\n", "rail", 4),
        ("4 2\n1 2 3\n2 3\n", "steiner", 1),
        ("3 2\n5 7\n1 3\n2 1 2\n1 2\n", "orlib", 3),
        ("3 2\n5 2 1 2\nnan 2 2 3\n", "rail", 3),
    ],
)
def test_what_a_format_of_sets_forbids_is_refused_with_its_line(text: str, format: str, line: int) -> None:
    fault = fault_of("set-cover", {"graph": {"text": text, "format": format}})

    assert (fault["status"], fault.get("line"), fault["errors"][0]["pointer"]) == (422, line, "/graph/text")


@every
def test_an_unknown_format_is_refused(problem: str) -> None:
    fault = fault_of(problem, {"graph": {"text": "1 1\n1\n1 1\n", "format": "gml"}})
    assert fault["errors"][0]["pointer"] == "/graph/format"


@every
@pytest.mark.parametrize("base", [2, -1, True, "1"])
def test_ids_count_from_0_or_1_only(problem: str, base: object) -> None:
    assert fault_of(problem, OPEN[problem] | {"index_base": base})["errors"][0]["pointer"] == "/index_base"


@every
@pytest.mark.parametrize("bit", [2, -1, 0.5, "1", True, []])
def test_a_bit_is_0_or_1_or_null(problem: str, bit: object) -> None:
    name, _ = BITS[problem]
    body = with_bits(problem, lambda row, place: bit if (row, place) == (3, 1) else None)
    assert fault_of(problem, body)["errors"][0]["pointer"] == f"/predictions/{name}/3/1"


@every
@pytest.mark.parametrize("epsilon", [0, -0.1, 0.6, math.nan, math.inf, "0.1", True])
def test_an_accuracy_lies_above_0_and_at_most_at_one_half(problem: str, epsilon: object) -> None:
    body = with_bits(problem, lambda row, place: 1, epsilon=epsilon)
    assert fault_of(problem, body)["errors"][0]["pointer"] == "/predictions/epsilon"


@every
def test_bits_that_look_like_noise_are_starting_points_only(problem: str) -> None:
    # Of either kind as many bits about every vertex or set as there can be: they agree less often than coins do.
    body = with_bits(problem, lambda row, place: place % 2)

    result = answered(problem, body, method="local_search")

    assert (result.epsilon_used, result.epsilon_estimate) == (None, 0.0)
    assert result.value_without_predictions == answered(problem, OPEN[problem], method="local_search").value


@every
def test_predictions_without_a_bit_are_none_and_warn(problem: str) -> None:
    alone = answered(problem, OPEN[problem])

    result = answered(problem, with_bits(problem, lambda row, place: None))

    assert (result.value, result.solution, result.epsilon_used) == (alone.value, alone.solution, None)
    assert [(entry.code, entry.pointer) for entry in result.warnings] == [("predictions-empty", "/predictions")]


@pytest.mark.parametrize("problem", ["vertex-cover", "independent-set"])
@pytest.mark.parametrize("bit", [0, 1])
def test_bits_that_contradict_the_edges_are_repaired(problem: str, bit: int) -> None:
    body = with_bits(problem, lambda row, place: bit, epsilon=0.4)

    result = answered(problem, body, method="paper", threshold=1)

    again = run_verify(VerifyRequest.model_validate(OPEN[problem] | {"problem": problem, "solution": result.solution}), Context())
    assert (again.feasible, again.value) == (True, result.value)


@pytest.mark.parametrize(
    ("body", "pointer", "named"),
    [
        ({"sets": [[0]], "num_elements": 20}, "/sets", list(range(1, 11))),
        ({"sets": [["a"]], "labels": ["a", "b"]}, "/sets", ["b"]),
        ({"sets": [[1]], "num_elements": 2, "index_base": 1}, "/sets", [2]),
        ({"graph": {"text": "2 2\n1 1\n1 1\n0\n", "format": "orlib"}}, "/graph/text", [2]),
    ],
)
def test_elements_in_no_set_are_listed_up_to_ten(body: dict[str, Any], pointer: str, named: list[Any]) -> None:
    fault = fault_of("set-cover", body)

    assert (fault["type"], fault["status"], fault["elements"]) == ("infeasible", 422, named)
    assert fault["errors"][0]["pointer"] == pointer


def test_repairs_of_a_text_of_sets_point_to_the_text() -> None:
    result = answered("set-cover", {"graph": {"text": "2 3\n4 0 1\n3 1 1 2\n1 1\n", "format": "orlib"}})
    assert {(entry.code, entry.pointer) for entry in result.warnings} == {
        ("repeated-elements", "/graph/text"),
        ("empty-sets", "/graph/text"),
        ("free-sets", "/graph/text"),
    }


@every
@pytest.mark.parametrize(
    ("option", "value"),
    [("time_limit", 0), ("time_limit", -1), ("time_limit", math.nan), ("max_iterations", 0), ("max_iterations", -5)],
)
def test_limits_are_positive(problem: str, option: str, value: float) -> None:
    assert fault_of(problem, OPEN[problem], **{option: value})["errors"][0]["pointer"] == f"/options/{option}"


@every
def test_a_tiny_limit_gives_a_feasible_answer_and_a_bound_that_is_proven(problem: str) -> None:
    result = answered(problem, OPEN[problem], max_iterations=None, time_limit=1e-9)

    body = OPEN[problem] | {"problem": problem, "solution": result.solution, "certificate": result.certificate}
    again = run_verify(VerifyRequest.model_validate(body), Context())
    assert (result.stopped_by, result.deterministic) == ("time_limit", False)
    assert (again.feasible, again.value, again.bound) == (True, result.value, result.bound)


def weighted(problem: str, weights: list[float]) -> dict[str, Any]:
    """Return two parts, a pair of a light item and a heavy one each; the weights are of edges, vertices or sets."""
    if problem == "set-cover":
        return {"sets": [[0], [0], [1], [1]], "costs": weights}
    field = "edge_weights" if problem == "max-cut" else "vertex_weights"
    edges = [[0, 1], [1, 2], [3, 4], [4, 5]] if problem == "max-cut" else [[0, 1], [2, 3]]
    return {"edges": edges, field: weights}


@every
def test_integers_are_exact_up_to_a_sum_of_2_to_the_53(problem: str) -> None:
    weights = [2**51, 2**51 + 1, 2**51 - 2, 2**51 + 1]

    result = answered(problem, weighted(problem, weights))

    lightest = weights[0] + weights[2]
    assert (
        result.value
        == result.bound
        == {"max-cut": sum(weights), "independent-set": sum(weights) - lightest}.get(problem, lightest)
    )
    assert type(result.value) is int


@every
def test_integers_beyond_that_are_refused(problem: str) -> None:
    field = {"max-cut": "/edge_weights", "set-cover": "/costs"}.get(problem, "/vertex_weights")

    fault = fault_of(problem, weighted(problem, [2**51, 2**51 + 1, 2**51, 2**51]))

    assert fault["errors"][0]["pointer"].startswith(field)
    assert "2^53" in fault["detail"]


@every
@pytest.mark.parametrize("scale", [1.0, 1e-30, 12345.678])
def test_real_weights_are_added_up_in_the_callers_unit_and_bounded_on_the_right_side(problem: str, scale: float) -> None:
    weights = [scale * weight for weight in (0.1, 0.3, 0.7, 0.9)]

    result = answered(problem, weighted(problem, weights))

    value = math.fsum({"max-cut": weights, "independent-set": weights[1::2]}.get(problem, weights[::2]))
    is_maximum = problem in ("max-cut", "independent-set")
    assert result.value == value
    assert result.optimal
    assert result.bound >= value if is_maximum else result.bound <= value
    assert result.bound == pytest.approx(value, rel=1e-9)


@of_graphs
def test_components_are_bounded_apart_with_a_whole_number_each(problem: str) -> None:
    # Relaxed, either graph is worth 6.65 as a cut and 3.5 as a cover: rounded together the bounds would stay open.
    cycle = [[v, (v + 1) % 7] for v in range(7)]
    chords = [[v, (v + 3) % 7] for v in range(7)]
    both = [*cycle, *chords, *([u + 7, v + 7] for u, v in [*cycle, *chords])]

    one, two = (answered(problem, {"edges": edges}) for edges in ([*cycle, *chords], both))

    assert (two.value, two.bound, two.optimal) == (2 * one.value, 2 * one.bound, True)


@every
def test_small_weights_are_not_solved_before_they_are(problem: str) -> None:
    sizes = {"max-cut": len(RING), "set-cover": len(ARCS)}
    weights = 1 + np.random.default_rng(0).random(sizes.get(problem, 31))
    field = {"max-cut": "edge_weights", "set-cover": "costs"}.get(problem, "vertex_weights")

    found, small = (
        answered(problem, OPEN[problem] | {field: (weights * scale).tolist()}, method="greedy") for scale in (1, 2**-60)
    )

    assert (small.optimal, small.solution, small.value) == (found.optimal, found.solution, found.value * 2**-60)
    assert small.ratio == pytest.approx(found.ratio, abs=1e-6)
    assert not found.optimal


@pytest.mark.parametrize("problem", ["vertex-cover", "set-cover"])
def test_a_light_optimum_beside_heavy_items_is_not_said_to_be_proven(problem: str) -> None:
    # Counted in multiples of what 2^53 of make 1e300, the light weights vanish, and with them what they prove.
    body: dict[str, Any] = {"edges": [[0, 1], [0, 2]], "vertex_weights": [1e300, 0.5, 2.0]}
    if problem == "set-cover":
        body = {"sets": [[0, 1], [0], [1]], "costs": [1e300, 0.5, 2.0]}

    result = answered(problem, body)

    assert (result.value, result.bound, result.optimal, result.ratio) == (2.5, 0, False, 0)
    assert result.stopped_by == "completed"
    proof = {"problem": problem, "solution": result.solution, "certificate": result.certificate}
    assert not run_verify(VerifyRequest.model_validate(body | proof), Context()).optimal


def test_a_cut_of_nothing_is_optimal_though_its_bound_allows_for_rounding() -> None:
    result = answered("max-cut", {"edges": [[0, 1], [1, 2], [2, 0]], "edge_weights": [0.1, -5.3, -2.2]})
    assert (result.value, result.optimal) == (0, True)
