"""Votes are counted as the reference program counts them, and every cover that advice suggests covers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import LARGEST_LOG_ODDS, paper_threshold
from solvers.graphs.incidence_predictions import IncidencePredictions, sample_incidence_predictions
from solvers.graphs.learned_set_cover import chance_weights, learned_cover, set_cover_candidates, tally_sets
from solvers.graphs.predictions import VertexPredictions
from solvers.graphs.set_system import SetSystem
from solvers.graphs.threshold_rules import threshold_rules
from solvers.operation import InvalidInput
from tests.solvers.graphs.set_systems import PREDICTED, drawn, incidence_of, set_systems, system_of


def advised(case):
    predictions = [IncidencePredictions(case["incidence_bits"], case["epsilon"] or None)]
    return tally_sets(predictions, system_of(case))


@pytest.mark.parametrize("name", PREDICTED)
def test_votes_are_those_of_the_reference_program(name):
    case = PREDICTED[name]

    advice = advised(case)

    assert advice.votes_in.tolist() == case["votes_in"]
    assert advice.votes.tolist() == [len(one) for one in case["sets"]]


@pytest.mark.parametrize("name", PREDICTED)
def test_the_learned_cover_is_that_of_the_reference_program(name):
    case = PREDICTED[name]
    incidence, advice = incidence_of(system_of(case)), advised(case)

    found = learned_cover(incidence, 2 * advice.votes_in > advice.votes, advice.votes >= case["threshold"])

    assert np.flatnonzero(found.learned).tolist() == case["J_learned"]
    covered = incidence.times_covered(found.learned)
    assert np.flatnonzero(covered == 0).tolist() == case["uncovered_after_learned"]
    assert found.greedy_small.tolist() == case["greedy_small"]
    assert found.greedy_fallback.tolist() == case["greedy_fallback"]
    assert np.flatnonzero(found.members).tolist() == case["selected"]
    assert incidence.cost_of(found.members) == case["cost"]


@pytest.mark.parametrize("name", [name for name, case in PREDICTED.items() if case["epsilon"] == 0.5])
def test_bits_that_cannot_be_wrong_give_the_optimum(name):
    case = PREDICTED[name]
    incidence, advice = incidence_of(system_of(case)), advised(case)

    costs = {one.source: incidence.cost_of(one.members) for one in set_cover_candidates(advice, incidence, threshold=1)}

    assert costs["threshold_scan"] == costs["majority"] == case["optimum"]


@given(set_systems(least=1), st.data())
def test_every_candidate_covers_whatever_the_bits(system, data):
    incidence = incidence_of(system)
    bits = [data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=size, max_size=size)) for size in incidence.sizes.tolist()]
    epsilon = data.draw(st.sampled_from([None, 0.05, 0.25, 0.5]))

    advice = tally_sets([IncidencePredictions(bits, epsilon)], system)

    for candidate in set_cover_candidates(advice, incidence):
        assert incidence.is_covered_by(candidate.members), candidate.source


def test_candidates_come_from_every_rule():
    system = drawn(3, num_sets=40)
    reference = np.random.default_rng(0).integers(0, 2, 41)
    advice = tally_sets([sample_incidence_predictions(system, reference, 0.2, seed=1)], system)

    sources = {one.source for one in set_cover_candidates(advice, incidence_of(system))}

    assert sources == {"majority", "threshold_scan", "confidence_scan", "ordered_greedy"}


def test_the_papers_rule_is_the_only_one_where_it_is_asked_for():
    elements = list(range(500))
    system = SetSystem([elements, elements[:250], elements[250:]], costs=[3, 1, 1])
    bits = sample_incidence_predictions(system, [0, 1, 1], 0.45, seed=2)
    advice = tally_sets([bits], system)

    found = list(set_cover_candidates(advice, incidence_of(system), method="paper"))

    assert [(one.source, one.threshold) for one in found] == [("paper", paper_threshold(0.45))]


def test_a_threshold_above_all_votes_leaves_the_paper_without_a_candidate():
    case = PREDICTED["sc_0_eps0.1"]

    assert list(set_cover_candidates(advised(case), incidence_of(system_of(case)), method="paper")) == []


def test_bits_of_unknown_accuracy_are_starting_points_only():
    system = drawn(4)
    rng = np.random.default_rng(5)
    advice = tally_sets([IncidencePredictions([rng.integers(0, 2, size).tolist() for size in system.listed_sizes])], system)

    assert advice.epsilon_used is None
    assert [one.source for one in set_cover_candidates(advice, incidence_of(system))] == ["majority"]
    assert [warning.code for warning in advice.warnings] == ["epsilon-unknown"]


def test_missing_bits_are_no_votes():
    system = SetSystem([[0, 1], [1, 2]])

    advice = tally_sets([IncidencePredictions([[1, None], [-1, None]], epsilon=0.2)], system)

    assert (advice.votes.tolist(), advice.votes_in.tolist()) == ([1, 0], [1, 0])


def test_bits_of_repeated_elements_are_further_votes():
    system = SetSystem([[0, 1, 0], [1]])

    assert tally_sets([IncidencePredictions([[1, 1, 0], [0]], epsilon=0.2)], system).votes.tolist() == [3, 1]
    assert tally_sets([IncidencePredictions([[1, 1], [0]], epsilon=0.2)], system).votes.tolist() == [2, 1]


def test_several_sources_add_up_and_are_not_mirrored():
    system = SetSystem([[0, 1], [1, 2]])
    labels = VertexPredictions(labels=[0, 1], epsilon=0.4)

    advice = tally_sets([IncidencePredictions([[1, 1], [0, 0]], epsilon=0.5), labels], system)

    assert advice.votes.tolist() == [3, 3]
    assert advice.votes_in.tolist() == [2, 1]
    assert 0 < advice.log_odds[0] < 2 * LARGEST_LOG_ODDS
    assert advice.agreement(np.array([1, 0])) == pytest.approx(4 / 6)
    assert advice.agreement(np.array([0, 1])) == pytest.approx(2 / 6)


def test_probabilities_of_sets_decide_by_confidence():
    system = SetSystem([[0], [1], [0, 1]])
    advice = tally_sets([VertexPredictions(probabilities=[0.99, 0.9, 0.3])], system)

    found = [one for one in set_cover_candidates(advice, incidence_of(system)) if one.source == "majority"]

    assert found[0].members.tolist() == [True, True, False]


def test_rules_that_decide_the_same_sets_are_tried_once():
    advice = tally_sets([VertexPredictions(labels=[1, 0], epsilon=0.2)], SetSystem([[0], [0]]))

    assert [rule.source for rule in threshold_rules(advice, "auto", "auto")] == ["threshold_scan"]


def test_a_set_that_is_surely_out_costs_at_most_twenty_times_as_much():
    weights = chance_weights(np.array([-50.0, 50.0]))

    assert weights[1] <= 21 * weights[0]
    assert (weights >= 1).all()


@pytest.mark.parametrize(
    ("bits", "pointer"),
    [
        ([[1, 0]], "/predictions/incidence_bits"),
        ([[1, 0], [1, 1, 1]], "/predictions/incidence_bits/1"),
        ([[1, 0], [1]], "/predictions/incidence_bits/1"),
    ],
)
def test_bits_that_do_not_fit_the_system_are_refused(bits, pointer):
    with pytest.raises(InvalidInput) as raised:
        tally_sets([IncidencePredictions(bits)], SetSystem([[0, 1], [1, 2]]))

    assert raised.value.pointer == pointer


@pytest.mark.parametrize(("bits", "pointer"), [([[0, 2]], "0/1"), ([[0], ["x"]], "1/0"), ([[0], 1], "1"), ([[True]], "0/0")])
def test_what_is_no_bit_is_named_with_its_place(bits, pointer):
    with pytest.raises(InvalidInput) as raised:
        IncidencePredictions(bits)

    assert raised.value.pointer == f"/predictions/incidence_bits/{pointer}"


@pytest.mark.parametrize("epsilon", [0.0, -0.1, 0.51])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(InvalidInput, match="epsilon lies above 0"):
        IncidencePredictions([[1]], epsilon)


def test_drawn_bits_are_right_as_often_as_epsilon_says():
    system = SetSystem([list(range(100))] * 1000)
    reference = np.arange(1000) % 2

    bits = sample_incidence_predictions(system, reference, 0.1, seed=1).bits

    # Six standard deviations of a mean of 10^5 bits.
    assert (bits == np.repeat(reference, 100)).mean() == pytest.approx(0.6, abs=6 * np.sqrt(0.24 / 1e5))


def test_large_sets_are_recognised_as_often_as_the_binomial_law_says():
    system = SetSystem([list(range(9))] * 20_000)

    advice = tally_sets([sample_incidence_predictions(system, np.ones(20_000), 0.1, seed=3)], system)

    missed = (2 * advice.votes_in <= advice.votes).mean()
    assert missed == pytest.approx(0.2665677, abs=6 * np.sqrt(0.2666 * 0.7334 / 20_000))
