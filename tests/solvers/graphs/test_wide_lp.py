"""The linear program of the wide part."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr
from solvers.graphs.wide_lp import best_prefix, round_against_neighbours, solve_wide_lp, truncate
from tests.solvers.graphs.prediction_vectors import VECTORS


def _truncated_with_estimates(vector):
    """Return the truncated rows of a vector with the estimates that take each edge's own bit about the neighbour."""
    csr = build_csr(vector.num_vertices, vector.edges, np.ones(len(vector.edges)))
    truncated = truncate(csr, vector.expected["threshold"])
    rows = vector.edges[truncated.edge_ids]
    bits = np.where(rows[:, 0] == truncated.indices, vector.bits[truncated.edge_ids, 0], vector.bits[truncated.edge_ids, 1])
    return truncated, truncated.row_sums(truncated.weights * (2 * bits - 1) / (2 * vector.expected["epsilon"]))


@pytest.mark.parametrize("name", VECTORS)
def test_row_estimates_are_the_reference_program_s(name):
    _, estimates = _truncated_with_estimates(VECTORS[name])

    assert estimates == pytest.approx(VECTORS[name].expected["truncated_estimate"], abs=1e-8)


@pytest.mark.parametrize("name", VECTORS)
def test_the_optimum_is_the_reference_program_s(name):
    solution = solve_wide_lp(*_truncated_with_estimates(VECTORS[name]))

    assert solution.value == pytest.approx(VECTORS[name].expected["lp_value"], abs=1e-6)


def test_the_reported_point_attains_the_optimum():
    truncated, estimates = _truncated_with_estimates(VECTORS["max_cut_4_eps0.1"])

    solution = solve_wide_lp(truncated, estimates)

    products = truncated.row_sums(truncated.weights * solution.x[truncated.indices])
    assert np.abs(solution.x).max() <= 1
    assert estimates @ solution.x + np.abs(products - estimates).sum() == pytest.approx(solution.value)


def _a_program_of_many_iterations():
    rng = np.random.default_rng(0)
    pairs = np.array(list(itertools.combinations(range(100), 2)))
    csr = build_csr(100, pairs[rng.choice(len(pairs), 1000, replace=False)], np.ones(1000))
    truncated = truncate(csr, 1)
    return truncated, truncated.row_sums(truncated.weights * rng.uniform(-1, 1, 100)[truncated.indices])


def test_a_program_that_does_not_end_in_time_has_no_solution():
    assert solve_wide_lp(*_a_program_of_many_iterations(), iteration_limit=1) is None


def test_a_program_that_is_told_to_stop_has_no_solution():
    assert solve_wide_lp(*_a_program_of_many_iterations(), stop=lambda: True) is None


def test_solving_writes_nothing_to_standard_output(capfd):
    solve_wide_lp(*_truncated_with_estimates(VECTORS["max_cut_2_eps0.1"]))

    assert capfd.readouterr().out == ""


def test_equal_entries_are_dropped_from_the_lowest_neighbour_on():
    complete = build_csr(4, list(itertools.combinations(range(4), 2)), np.ones(6))

    truncated = truncate(complete, 2)

    assert truncated.indices.tolist() == [3, 3, 3, 2]


def test_the_prefix_is_one_where_all_weights_are_equal():
    cycle = build_csr(12, [[v, (v + 1) % 12] for v in range(12)] + [[v, (v + 5) % 12] for v in range(12)], np.ones(24))

    assert best_prefix(cycle, np.full(12, 0.5)) == 1


def test_the_prefix_takes_heavy_entries_whose_errors_nothing_averages_out():
    # Every vertex has two heavy edges and many light ones.
    n = 40
    edges = [[v, (v + step) % n] for step in range(1, 11) for v in range(n)]
    weights = [100 if step == 1 else 1 for step in range(1, 11) for _ in range(n)]

    assert best_prefix(build_csr(n, edges, weights), np.full(n, 0.9)) == 1
    assert best_prefix(build_csr(n, edges, weights), np.full(n, 1.0 + 1e3)) > 1


@given(st.data())
def test_rounding_cuts_at_least_what_independent_sides_of_these_means_would(data):
    n = data.draw(st.integers(2, 7))
    pairs = list(itertools.combinations(range(n), 2))
    edges = np.array(data.draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1)))
    weights = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(edges), max_size=len(edges))))
    means = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n)))

    spins = 2.0 * round_against_neighbours(build_csr(n, edges, weights), means) - 1

    expected, cut = ((weights * (1 - x[edges[:, 0]] * x[edges[:, 1]]) / 2).sum() for x in (means, spins))
    assert cut >= expected - 1e-9


def test_a_tie_goes_to_side_one():
    assert round_against_neighbours(build_csr(2, [[0, 1]], [1]), np.zeros(2)).tolist() == [1, 0]
