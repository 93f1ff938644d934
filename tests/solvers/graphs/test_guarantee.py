"""What is promised before a run, and when nothing is."""

import itertools

import numpy as np
import pytest

from solvers.graphs.advice import tally
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.guarantee import wide_cut_guarantee
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
