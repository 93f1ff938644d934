"""What predictions of all kinds add up to."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import MOST_VOTES, cover_prior, independent_set_prior, paper_threshold, tally
from solvers.graphs.csr import cut_value
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions
from solvers.operation import InvalidInput
from tests.solvers.graphs.prediction_vectors import VECTORS, gset

PATH = np.array([[0, 1], [1, 2]], dtype=np.int32)


def _advice_of(vector):
    return tally([EdgePredictions(vector.bits, epsilon=vector.expected["epsilon"])], vector.num_vertices, vector.edges)


@pytest.mark.parametrize("name", VECTORS)
def test_votes_are_the_reference_program_s(name):
    advice = _advice_of(VECTORS[name])

    assert advice.votes.tolist() == VECTORS[name].expected["num_votes"]
    assert advice.votes_in.tolist() == VECTORS[name].expected["votes_in"]


@pytest.mark.parametrize("name", [name for name in VECTORS if "log_odds" in VECTORS[name].expected])
def test_log_odds_are_the_reference_program_s(name):
    assert _advice_of(VECTORS[name]).log_odds == pytest.approx(VECTORS[name].expected["log_odds"], abs=1e-8)


@pytest.mark.parametrize("name", VECTORS)
def test_the_majority_cut_is_the_reference_program_s(name):
    vector = VECTORS[name]

    majority = (_advice_of(vector).log_odds > 0).astype(np.int8)

    assert majority.tolist() == vector.expected["majority_side"]
    assert cut_value(vector.edges, np.ones(len(vector.edges), dtype=np.int64), majority) == vector.expected["majority_cut"]


@pytest.mark.parametrize("name", [name for name in VECTORS if name.endswith("eps0.5")])
def test_the_majority_of_perfect_bits_is_the_cut_they_are_about(name):
    vector = VECTORS[name]

    assert (_advice_of(vector).log_odds > 0).astype(int).tolist() == vector.expected["reference"]


@pytest.mark.parametrize("name", VECTORS)
def test_flipped_bits_give_the_complementary_side_where_the_votes_are_odd(name):
    vector = VECTORS[name]
    flipped = vector._replace(bits=1 - vector.bits)

    given_side, flipped_side = (_advice_of(v).log_odds > 0 for v in (vector, flipped))

    odd = _advice_of(vector).votes % 2 == 1
    assert np.array_equal(given_side[odd], ~flipped_side[odd])


# Error rates of a strict majority of k votes of accuracy 1/2 + eps, from the binomial distribution.
@pytest.mark.parametrize(
    ("votes", "epsilon", "miss", "false_alarm"),
    [
        (9, 0.1, 0.2665677, 0.2665677),
        (10, 0.1, 0.3668967, 0.1662386),
        (25, 0.2, 0.0174697, 0.0174697),
        (50, 0.1, 0.0978074, 0.0573435),
        (101, 0.05, 0.1562446, 0.1562446),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_the_majority_errs_as_often_as_the_binomial_distribution_says(votes, epsilon, miss, false_alarm, side):
    count = 100_000
    # Vertex v of the first `count` meets its votes through edges to vertices that have one vote each.
    edges = np.column_stack((np.tile(np.arange(count), votes), np.repeat(np.arange(votes), count) + count))
    reference = np.full(count + votes, side)

    advice = tally([sample_edge_predictions(edges, reference, epsilon, seed=votes)], count + votes, edges)

    error = ((advice.log_odds[:count] > 0) != bool(side)).mean()
    expected = miss if side else false_alarm
    assert abs(error - expected) <= 6 * math.sqrt(expected * (1 - expected) / count)


def test_pooled_estimates_are_right_on_average_where_no_clipping_occurs():
    count, votes, epsilon = 100_000, 100, 0.4
    edges = np.column_stack((np.tile(np.arange(count), votes), np.repeat(np.arange(votes), count) + count))
    predictions = sample_edge_predictions(edges, np.ones(count + votes), epsilon, seed=1)
    advice = tally([predictions], count + votes, edges)

    unclipped = (2 * advice.votes_in - advice.votes) / (2 * epsilon * advice.votes)

    deviation = math.sqrt((1 / (4 * epsilon**2) - 1) / votes)
    assert abs(unclipped[:count].mean() - 1) <= 6 * deviation / math.sqrt(count)
    assert advice.estimates == pytest.approx(unclipped.clip(-1, 1))


def test_a_bit_that_cannot_be_wrong_is_worth_twenty():
    advice = tally([EdgePredictions([[1, 0], [0, 1]], epsilon=0.5)], 3, PATH)

    assert advice.log_odds.tolist() == [20, -40, 20]


def test_correlated_bits_count_for_less():
    edges = np.array([[0, 1], [0, 2], [0, 3]])
    advice = tally([EdgePredictions([[1, 0], [1, 0], [1, 0]], epsilon=0.1, overdispersion=0.5)], 4, edges)

    assert advice.log_odds[0] == pytest.approx(3 * math.log(0.6 / 0.4) / 2)


def test_a_label_is_worth_one_vote_of_its_own_accuracy():
    advice = tally([VertexPredictions(labels=[1, 0, -1], epsilon=[0.1, 0.2, 0.3])], 3, PATH)

    assert advice.log_odds == pytest.approx([math.log(0.6 / 0.4), -math.log(0.7 / 0.3), 0])
    assert advice.votes.tolist() == [1, 1, 0]


def test_a_probability_is_its_log_odds_and_never_infinite():
    advice = tally([VertexPredictions(probabilities=[0.8, 0.0, math.nan])], 3, PATH)

    assert advice.log_odds == pytest.approx([math.log(4), math.log(1e-9 / (1 - 1e-9)), 0])
    assert advice.votes.tolist() == [1, 1, 0]


def test_independent_sources_add_up():
    bits = EdgePredictions([[1, 0], [0, 1]], epsilon=0.1)
    labels = VertexPredictions(labels=[1, 0, 1], epsilon=0.2)

    both, apart = tally([bits, labels], 3, PATH), [tally([one], 3, PATH) for one in (bits, labels)]

    assert both.log_odds == pytest.approx(apart[0].log_odds + apart[1].log_odds)
    assert both.votes.tolist() == (apart[0].votes + apart[1].votes).tolist()


def test_a_source_about_the_complementary_cut_is_turned_component_by_component():
    two_edges = np.array([[0, 1], [2, 3]])
    first = VertexPredictions(labels=[0, 1, 0, 1], epsilon=0.1)
    second = VertexPredictions(labels=[1, 0, 0, 1], epsilon=0.2)

    advice = tally([first, second], 4, two_edges)

    assert np.sign(advice.log_odds).tolist() == [-1, 1, -1, 1]
    assert advice.votes_in.tolist() == [0, 2, 0, 2]


def test_a_prior_adds_to_the_log_odds():
    advice = tally([VertexPredictions(probabilities=[0.8, 0.5, 0.5])], 3, PATH, prior=np.array([1.0, 2.0, 0.0]))

    assert advice.log_odds == pytest.approx([math.log(4) + 1, 2, 0])


def test_epsilon_is_estimated_where_it_is_not_given():
    num_vertices, edges = gset("G1")
    reference = np.random.default_rng(1).integers(0, 2, num_vertices)
    bits = sample_edge_predictions(edges, reference, 0.1, seed=3).bits

    advice = tally([EdgePredictions(bits)], num_vertices, edges)

    assert advice.epsilon_used == advice.epsilon_estimate.epsilon
    assert not advice.warnings


def test_bits_that_seem_to_be_noise_are_starting_points_only():
    advice = tally([EdgePredictions([[1, 1], [0, 0]])], 3, PATH)

    assert advice.epsilon_used is None
    assert not advice.is_trusted
    assert [warning.code for warning in advice.warnings] == ["epsilon-unknown"]


def test_labels_of_unknown_accuracy_are_starting_points_only():
    advice = tally([VertexPredictions(labels=[1, 0, 1])], 3, PATH)

    assert (advice.epsilon_used, advice.is_trusted) == (None, False)
    assert (advice.log_odds > 0).tolist() == [True, False, True]


@pytest.mark.parametrize(
    "missing",
    [
        EdgePredictions([[-1, -1], [-1, -1]], epsilon=0.1),
        VertexPredictions(labels=[-1, -1, -1], epsilon=0.1),
        VertexPredictions(probabilities=[math.nan, 0.5, math.nan]),
    ],
)
def test_predictions_that_are_all_missing_are_none_and_warn(missing):
    advice = tally([missing], 3, PATH)

    assert advice.is_empty
    assert [warning.code for warning in advice.warnings] == ["predictions-empty"]


def test_no_predictions_give_no_warnings():
    advice = tally([], 3, PATH)

    assert advice.is_empty
    assert not advice.warnings


def test_a_graph_without_vertices_takes_empty_predictions():
    assert tally([EdgePredictions(np.zeros((0, 2)))], 0, np.zeros((0, 2), dtype=np.int32)).is_empty


def test_agreement_does_not_tell_a_cut_from_its_complement():
    advice = tally([VertexPredictions(labels=[0, 1, 0], epsilon=0.1)], 3, PATH)

    assert advice.agreement(np.array([1, 0, 1])) == 1.0
    assert advice.agreement(np.array([0, 1, 1])) == pytest.approx(2 / 3)


def test_there_is_no_agreement_with_no_predictions():
    assert tally([], 3, PATH).agreement(np.zeros(3)) is None


def test_bits_may_speak_of_other_pairs_than_the_edges():
    twice = EdgePredictions([[1, 0], [1, 0], [0, 1]], epsilon=0.1, endpoints=[[0, 1], [0, 1], [1, 2]])

    advice = tally([twice], 3, PATH)

    assert advice.votes.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        EdgePredictions([[1, 0]], epsilon=0.1),
        EdgePredictions([[1, 0]], epsilon=0.1, endpoints=[[0, 3]]),
        VertexPredictions(labels=[0, 1]),
        VertexPredictions(probabilities=[0.2]),
    ],
)
def test_predictions_that_do_not_fit_the_graph_are_refused(wrong):
    with pytest.raises(InvalidInput):
        tally([wrong], 3, PATH)


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=2, max_size=2), st.floats(0.01, 0.5))
def test_complementary_bits_give_opposite_log_odds_and_estimates(bits, epsilon):
    bits = np.array(bits)
    complement = np.where(bits < 0, bits, 1 - bits)

    advice, opposite = (tally([EdgePredictions(b, epsilon=epsilon)], 3, PATH) for b in (bits, complement))

    assert np.array_equal(advice.log_odds, -opposite.log_odds)
    assert np.array_equal(advice.estimates, -opposite.estimates)


# Values of 100 ln(1/eps) / eps^2, rounded up.
@pytest.mark.parametrize(
    ("epsilon", "threshold"), [(0.45, 395), (0.4, 573), (0.3, 1338), (0.2, 4024), (0.1, 23026), (0.05, 119830)]
)
def test_the_paper_s_threshold(epsilon, threshold):
    assert paper_threshold(epsilon) == threshold


# Values of 3 ln(1/eps) / eps^2, rounded up.
@pytest.mark.parametrize(("epsilon", "threshold"), [(0.45, 12), (0.4, 18), (0.3, 41), (0.2, 121), (0.1, 691), (0.05, 3595)])
def test_the_paper_s_threshold_for_independent_sets(epsilon, threshold):
    assert paper_threshold(epsilon, factor=3) == threshold


@pytest.mark.parametrize("epsilon", [1e-8, 1e-160, 5e-324])
def test_a_tiny_epsilon_asks_for_more_votes_than_there_are(epsilon):
    assert paper_threshold(epsilon) == MOST_VOTES


def test_sources_about_a_set_are_taken_as_they_are():
    first = VertexPredictions(labels=[0, 1, 0], epsilon=0.1)
    second = VertexPredictions(labels=[1, 0, 1], epsilon=0.2)

    advice = tally([first, second], 3, PATH, symmetric=False)

    assert np.sign(advice.log_odds).tolist() == [1, -1, 1]
    assert advice.votes_in.tolist() == [1, 1, 1]


def test_agreement_tells_a_set_from_its_complement():
    advice = tally([VertexPredictions(labels=[0, 1, 0], epsilon=0.1)], 3, PATH, symmetric=False)

    assert advice.agreement(np.array([0, 1, 0])) == 1.0
    assert advice.agreement(np.array([1, 0, 1])) == 0.0


@pytest.mark.parametrize(
    ("predictions", "are_labels"),
    [
        ([VertexPredictions(labels=[0, 1, 0], epsilon=0.1)], True),
        ([VertexPredictions(labels=[0, 1, 0])], False),
        ([VertexPredictions(probabilities=[0.2, 0.8, 0.5])], False),
        ([VertexPredictions(labels=[0, 1, 0], probabilities=[0.2, 0.8, 0.5], epsilon=0.1)], False),
        ([EdgePredictions([[0, 1], [1, 0]], epsilon=0.1)], False),
        ([VertexPredictions(labels=[0, 1, 0], epsilon=0.1), EdgePredictions([[0, 1], [1, 0]], epsilon=0.1)], False),
        ([], False),
    ],
)
def test_labels_of_known_accuracy_alone_are_told_from_other_predictions(predictions, are_labels):
    assert tally(predictions, 3, PATH, symmetric=False).are_labels is are_labels


def test_priors_favour_many_neighbours_in_covers_and_few_in_sets_and_heavy_vertices_in_sets():
    degrees, weights = np.array([0, 1, 3]), np.array([1, 1, 1])

    assert cover_prior(degrees, weights) == pytest.approx(2 * np.log([1, 2, 4]))
    assert independent_set_prior(degrees, weights) == pytest.approx(-2 * np.log([1, 2, 4]))
    assert independent_set_prior(degrees, np.array([4, 2, 3])) == pytest.approx(2 * np.log([4 / 3, 2 / 6, 1 / 4]))
    assert len(cover_prior(np.zeros(0), np.zeros(0))) == 0
