"""What is promised before a run, and when nothing is."""

import itertools

import numpy as np
import pytest

from solvers.graphs.advice import tally
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.guarantee import colouring_guarantee, independent_set_guarantee, wide_cut_guarantee
from solvers.graphs.learned_independent_set import learned_independent_set, trusted_set
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions

COMPLETE = np.array(list(itertools.combinations(range(50), 2)), dtype=np.int32)


def _complete(weights=None):
    return build_csr(50, COMPLETE, np.ones(len(COMPLETE)) if weights is None else weights)


def _advice(accuracy, **changes):
    bits = sample_edge_predictions(COMPLETE, np.arange(50) % 2, accuracy, seed=1).bits
    return tally([EdgePredictions(bits, **{"epsilon": accuracy, **changes})], 50, COMPLETE)


def test_a_complete_graph_is_promised_the_expression_of_the_theory():
    guarantee = wide_cut_guarantee(_advice(0.45), _complete(), prefix=1)

    eta = 1 / 49
    assert guarantee.value == pytest.approx(1 - 4 * eta - np.sqrt(eta) / 0.45)
    assert guarantee.assumes_independent_predictions


def test_the_linear_program_s_cut_keeps_the_promise_on_average():
    ratios = []
    csr = _complete()
    for seed in range(5):
        bits = sample_edge_predictions(COMPLETE, np.arange(50) % 2, 0.45, seed)
        advice = tally([bits], 50, COMPLETE)
        cuts = [c.sides for c in advice_candidates(advice, csr, threshold=1) if c.source == "wide_lp"]
        ratios.extend(cut_value(COMPLETE, np.ones(len(COMPLETE)), sides) / 25**2 for sides in cuts)

    promise = wide_cut_guarantee(_advice(0.45), csr, prefix=1).value
    assert np.mean(ratios) >= promise


@pytest.mark.parametrize(
    "advice",
    [
        _advice(0.45, epsilon=None),
        _advice(0.45, overdispersion=0.1),
        tally([VertexPredictions(labels=np.arange(50) % 2, epsilon=0.45)], 50, COMPLETE),
        tally([], 50, COMPLETE),
    ],
)
def test_nothing_is_promised_where_independence_and_accuracy_are_not_stated(advice):
    assert wide_cut_guarantee(advice, _complete(), prefix=1) is None


def test_nothing_is_promised_where_the_expression_is_no_better_than_any_local_optimum():
    assert wide_cut_guarantee(_advice(0.1), _complete(), prefix=1) is None


def test_nothing_is_promised_for_negative_weights():
    weights = np.ones(len(COMPLETE))
    weights[0] = -1

    assert wide_cut_guarantee(_advice(0.45), _complete(weights), prefix=1) is None


def test_nothing_is_promised_where_votes_are_missing():
    bits = np.full((len(COMPLETE), 2), -1)
    bits[0] = 1

    advice = tally([EdgePredictions(bits, epsilon=0.45)], 50, COMPLETE)

    assert wide_cut_guarantee(advice, _complete(), prefix=1) is None


# 150 vertices, each joined to all of 200 others, which are the largest independent set.
TWO_SIDES = np.array([(u, v) for u in range(150) for v in range(150, 350)], dtype=np.int32)


def _advice_on_two_sides(accuracy, seed=0, **changes):
    bits = sample_edge_predictions(TWO_SIDES, np.arange(350) >= 150, accuracy, seed).bits
    return tally([EdgePredictions(bits, **({"epsilon": accuracy} | changes))], 350, TWO_SIDES, symmetric=False)


def test_the_trusted_set_is_expected_to_be_as_large_as_the_analysis_says():
    csr, ones = build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES))), np.ones(350, np.int64)
    epsilon, threshold = 0.2, 121
    error = np.exp(-2 * epsilon**2 * threshold)

    sizes = []
    for seed in range(20):
        advice = _advice_on_two_sides(epsilon, seed)
        sizes.append(trusted_set(csr, ones, (advice.votes >= threshold) & (advice.log_odds > 0)).sum())

    assert np.mean(sizes) >= (1 - error - (threshold + 1) * error) * 200


def test_independent_sets_are_expected_to_reach_what_is_promised():
    csr, ones = build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES))), np.ones(350, np.int64)
    promise = independent_set_guarantee(_advice_on_two_sides(0.2), csr, 121)

    sizes = []
    for seed in range(20):
        advice = _advice_on_two_sides(0.2, seed)
        sizes.append(learned_independent_set(csr, ones, advice.votes >= 121, advice.log_odds > 0).sum())

    assert promise.assumes_independent_predictions
    assert 0.02 < promise.value <= np.mean(sizes) / 200


def test_the_promise_on_independent_sets_is_the_least_over_how_the_set_is_split():
    csr = build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES)))
    error = np.exp(-2 * 0.2**2 * 121)

    splits = np.linspace(0, 1, 100_001)
    promised = np.maximum((1 - error) * splits - 122 * error, 3 * (1 - splits) / 123)

    assert independent_set_guarantee(_advice_on_two_sides(0.2), csr, 121).value == pytest.approx(promised.min(), rel=1e-3)


@pytest.mark.parametrize("changes", [{"epsilon": None}, {"overdispersion": 0.1}])
def test_nothing_is_promised_on_independent_sets_without_independence_and_accuracy(changes):
    csr = build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES)))

    assert independent_set_guarantee(_advice_on_two_sides(0.2, **changes), csr, 121) is None


@pytest.mark.parametrize("threshold", [5, 20])
def test_nothing_is_promised_on_independent_sets_below_the_thresholds_that_the_analysis_covers(threshold):
    csr = build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES)))

    assert independent_set_guarantee(_advice_on_two_sides(0.2), csr, threshold) is None


def test_nothing_is_promised_on_independent_sets_where_bits_are_missing():
    bits = np.ones((len(TWO_SIDES), 2), np.int8)
    bits[0] = -1
    advice = tally([EdgePredictions(bits, epsilon=0.2)], 350, TWO_SIDES, symmetric=False)

    assert independent_set_guarantee(advice, build_csr(350, TWO_SIDES, np.ones(len(TWO_SIDES))), 121) is None


def test_the_ratio_of_a_colouring_assumes_nothing_of_the_predictions():
    assert colouring_guarantee(1.5) == ("hochbaum_ratio", 1.5, False)
