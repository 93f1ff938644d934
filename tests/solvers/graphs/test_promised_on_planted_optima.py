"""What the analysis promises in expectation holds on instances whose optimum is known by construction.

Means are over fixed seeds. Where a mean has an exact expectation, six standard errors are allowed; the promises are upper bounds with
slack, so that they need none.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from solvers.graphs import set_cover, vertex_cover
from solvers.graphs.advice import tally
from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.hochbaum import coloured_cover
from solvers.graphs.incidence_predictions import sample_incidence_predictions
from solvers.graphs.learned_cover import learned_cover
from solvers.graphs.learned_independent_set import learned_independent_set
from solvers.graphs.learned_set_cover import learned_cover as learned_set_cover
from solvers.graphs.learned_set_cover import tally_sets
from solvers.graphs.predictions import sample_edge_predictions
from solvers.graphs.set_system import SetSystem
from solvers.graphs.wide_lp import round_against_neighbours, solve_wide_lp, truncate
from tests.solvers.graphs.set_systems import incidence_of

DRAWS = 20


def planted_cover(size, others, density, seed):
    """Return the edges of a graph of which the first `size` vertices are a smallest cover, as a matching of that size shows."""
    rng = np.random.default_rng(seed)
    across = np.argwhere(rng.random((size, others)) < density) + np.array([0, size])
    within = np.argwhere(np.triu(rng.random((size, size)) < density, 1))
    matching = np.column_stack([np.arange(size), size + np.arange(size)])
    return np.unique(np.concatenate([across, within, matching]), axis=0).astype(np.int32)


def advice_about(edges, reference, epsilon, seed, symmetric=False):
    return tally([sample_edge_predictions(edges, reference, epsilon, seed)], len(reference), edges, symmetric=symmetric)


def test_as_many_decisions_are_wrong_as_expected_and_no_more_than_promised():
    edges, epsilon = planted_cover(150, 1500, 0.2, seed=0), 0.1
    reference = np.arange(1650) < 150
    degrees = np.bincount(edges.ravel(), minlength=1650)

    wrong = [((advice_about(edges, reference, epsilon, seed).log_odds > 0) != reference).sum() for seed in range(DRAWS)]

    missed = binom.cdf(degrees // 2, degrees, 0.5 + epsilon)
    alarmed = binom.sf(degrees // 2, degrees, 0.5 - epsilon)
    chances = np.where(reference, missed, alarmed)
    deviation = math.sqrt((chances * (1 - chances)).sum() / DRAWS)
    assert abs(np.mean(wrong) - chances.sum()) <= 6 * deviation
    assert np.mean(wrong) <= np.exp(-2 * epsilon**2 * degrees).sum()


@pytest.mark.parametrize(("epsilon", "threshold"), [(0.2, 100), (0.25, 60)])
def test_a_cover_that_follows_the_votes_costs_no_more_than_its_analysis_says(epsilon, threshold):
    edges = planted_cover(100, 600, 0.9, seed=1)
    reference = np.arange(700) < 100
    csr, ones = build_csr(700, edges, np.ones(len(edges), np.int64)), np.ones(700, np.int64)
    assert threshold >= 1 / (2 * epsilon**2)
    assert (np.diff(csr.indptr)[:100] >= threshold).all()

    sizes = []
    for seed in range(DRAWS):
        advice = advice_about(edges, reference, epsilon, seed)
        sizes.append(learned_cover(csr, ones, advice.votes >= threshold, advice.log_odds).sum())

    # All of the cover has high degree.
    assert np.mean(sizes) <= (1 + 5 * threshold * math.exp(-2 * epsilon**2 * threshold)) * 100


@pytest.mark.parametrize(("epsilon", "threshold"), [(0.2, 121), (0.3, 41)])
def test_an_independent_set_that_follows_the_votes_is_as_large_as_its_analysis_says(epsilon, threshold):
    edges = planted_cover(100, 600, 0.7, seed=2)
    reference = np.arange(700) >= 100
    csr, ones = build_csr(700, edges, np.ones(len(edges), np.int64)), np.ones(700, np.int64)
    degrees = np.diff(csr.indptr)
    error = math.exp(-2 * epsilon**2 * threshold)
    high = (degrees[reference] >= threshold).mean()

    sizes = []
    for seed in range(DRAWS):
        advice = advice_about(edges, reference, epsilon, seed)
        sizes.append(learned_independent_set(csr, ones, advice.votes >= threshold, advice.log_odds > 0).sum())

    promised = max((1 - error) * high - (threshold + 1) * error, 3 * (1 - high) / (threshold + 2))
    assert promised > 0.02
    assert np.mean(sizes) >= promised * 600


def test_sets_that_follow_the_votes_cost_no_more_than_the_optimum_and_the_expected_false_alarms():
    # 30 blocks of 40 elements are a cheapest cover, since no set is larger; the other sets are drawn.
    rng, epsilon, size = np.random.default_rng(3), 0.2, 40
    blocks = np.split(rng.permutation(30 * size), 30)
    decoys = [rng.choice(30 * size, size, replace=False) for _ in range(1000)]
    system = SetSystem([one.tolist() for one in [*blocks, *decoys]])
    incidence, reference = incidence_of(system), np.arange(1030) < 30

    costs = []
    for seed in range(DRAWS):
        advice = tally_sets([sample_incidence_predictions(system, reference, epsilon, seed)], system)
        found = learned_set_cover(incidence, 2 * advice.votes_in > advice.votes, advice.votes >= size)
        costs.append(incidence.cost_of(found.learned))

    assert np.mean(costs) <= 30 + 1000 * math.exp(-2 * epsilon**2 * size)
    result = set_cover(system, sample_incidence_predictions(system, reference, 0.4, seed=0), max_iterations=10)
    assert (result.value, result.bound) == (30, 30)


@pytest.mark.parametrize("prefix", [0, 1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_linear_program_s_cut_loses_no_more_than_the_prefixes_and_the_error_of_the_estimates(prefix, seed):
    # The largest cut of a bipartite graph has all of its edges.
    pairs = np.array(list(itertools.product(range(30), range(30, 60))))
    edges = pairs[np.random.default_rng(seed).random(len(pairs)) < 0.5]
    spins, epsilon = np.where(np.arange(60) < 30, 1.0, -1.0), 0.2
    bits = sample_edge_predictions(edges, spins > 0, epsilon, seed).bits
    csr = build_csr(60, edges, np.ones(len(edges)))
    truncated = truncate(csr, prefix)

    about = np.where(edges[truncated.edge_ids, 0] == truncated.indices, bits[truncated.edge_ids, 0], bits[truncated.edge_ids, 1])
    estimates = truncated.row_sums(truncated.weights * (2 * about - 1) / (2 * epsilon))
    sides = round_against_neighbours(csr, solve_wide_lp(truncated, estimates).x)

    error = np.abs(truncated.row_sums(truncated.weights * spins[truncated.indices]) - estimates).sum()
    promised = len(edges) - truncated.prefix_weights.sum() / 2 - error / 2
    assert cut_value(edges, np.ones(len(edges)), sides) >= promised - 1e-6


def test_the_row_estimates_err_on_average_no_more_than_the_votes_variance_allows():
    pairs = np.array(list(itertools.combinations(range(60), 2)))
    spins, epsilon = np.where(np.arange(60) < 30, 1.0, -1.0), 0.2
    truncated = truncate(build_csr(60, pairs, np.ones(len(pairs))), 1)
    true_rows = truncated.row_sums(spins[truncated.indices])

    errors = []
    for seed in range(DRAWS):
        bits = sample_edge_predictions(pairs, spins > 0, epsilon, seed).bits
        rows = pairs[truncated.edge_ids]
        about = np.where(rows[:, 0] == truncated.indices, bits[truncated.edge_ids, 0], bits[truncated.edge_ids, 1])
        errors.append(np.abs(truncated.row_sums((2 * about - 1) / (2 * epsilon)) - true_rows).sum())

    # (W / eps) sqrt(eta / Delta), where every vertex is wide: its heaviest edge is one of 59 equal ones.
    assert np.mean(errors) <= len(pairs) / epsilon * math.sqrt(1 / 59)


@pytest.mark.parametrize("seed", range(4))
def test_the_coloured_cover_keeps_its_ratio_to_a_planted_optimum(seed):
    edges = planted_cover(60, 90, 0.1, seed)

    cover = coloured_cover(build_csr(150, edges, np.ones(len(edges), np.int64)), np.ones(150, np.int64))

    assert cover.members.sum() <= cover.ratio * 60


def test_wrong_votes_on_a_large_side_leave_the_least_cover_of_a_whole_run():
    edges = np.array(list(itertools.product(range(20), range(20, 20_020))), dtype=np.int32)
    bits = sample_edge_predictions(edges, np.arange(20_020) < 20, 0.2, seed=3)

    result = vertex_cover(edges, bits, method="paper", threshold=5, max_iterations=1, time_limit=100)

    assert (result.value, result.bound) == (20, 20)
    assert sorted(result.solution) == list(range(20))
