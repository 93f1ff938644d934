"""Every improvement is reported with the iterations of local search that it took."""

import numpy as np
import pytest

from solvers.graphs.independent_set import INDEPENDENT_SET
from solvers.graphs.max_cut import MAX_CUT
from solvers.graphs.predictions import sample_edge_predictions
from solvers.graphs.set_cover import SET_COVER
from solvers.graphs.vertex_cover import VERTEX_COVER
from solvers.operation import Context
from tests.solvers.graphs.prediction_vectors import gset
from tests.solvers.graphs.set_systems import shipped
from tests.solvers.graphs.weighted_vertices import dimacs_graph

MOST = 400


def reports_of(operation, graph, predictions=None):
    reports = []
    request = operation.request.of(graph, predictions, options={"method": "local_search", "max_iterations": MOST, "seed": 1})
    operation.run(request, Context(60, on_report=lambda members, snapshot: reports.append(members)))
    return reports


def graph_of(operation):
    if operation is SET_COVER:
        return shipped("scpclr10")
    return gset("G14")[1] if operation is MAX_CUT else dimacs_graph("C250.9").edges


@pytest.mark.parametrize("operation", [MAX_CUT, VERTEX_COVER, INDEPENDENT_SET, SET_COVER], ids=lambda operation: operation.name)
def test_what_a_search_finds_is_reported_with_its_iterations(operation):
    reports = reports_of(operation, graph_of(operation))

    iterations = [report["iterations"] for report in reports]
    assert iterations == sorted(iterations)
    assert iterations[-1] <= MOST
    assert {report["iterations"] for report in reports if report["source"] == "greedy"} == {0}
    assert all(report["iterations"] > 0 for report in reports if report["source"] == "local_search")
    assert "local_search" in {report["source"] for report in reports}


def test_the_iterations_of_both_parts_add_up():
    edges = gset("G14")[1]
    bits = sample_edge_predictions(edges, np.random.default_rng(0).integers(0, 2, 800), 0.0, seed=0)

    reports = reports_of(MAX_CUT, edges, bits)

    assert {"local_search", "advice_local_search"} & {report["source"] for report in reports}
    assert MOST < reports[-1]["iterations"] <= 2 * MOST
