"""Cross-validation: no model sees what it is judged by, and what it says of its quality is true of synthetic draws."""

import math

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.cross_validation import HeldBack, assess, cross_validate, deal
from solvers.graphs.predictors.features import FEATURES
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.predictor import fit_predictor
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import subject_of
from solvers.operation import Context


def never() -> bool:
    return False


@given(st.integers(1, 40), st.integers(2, 12), st.integers(0, 9))
def test_every_instance_is_in_one_fold(count, folds, seed):
    dealt = deal(count, folds, seed)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(count))
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


def test_no_fold_is_predicted_by_what_learnt_from_it():
    seen = []
    cross_validate(7, 3, 0, lambda learnt_from, held_back: seen.append((set(learnt_from), set(held_back))) or [], never)
    assert all(not learnt_from & held_back and len(learnt_from | held_back) == 7 for learnt_from, held_back in seen)
    assert set.union(*(held_back for _, held_back in seen)) == set(range(7))


def test_no_fold_is_predicted_once_it_must_stop():
    assert cross_validate(7, 3, 0, lambda *_: pytest.fail("predicted"), lambda: True) == []


def frequencies_drawn_from_their_prior(seed: int, count: int = 200, num_vertices: int = 300) -> list[Solved]:
    """Sides of vertices whose probabilities are uniform: those for which the rule of succession is exact."""
    rng = np.random.default_rng(seed)
    path = subject_of(canonicalise(Graph.from_objects(networkx.path_graph(num_vertices))), "independent-set")
    chances = rng.random(num_vertices)
    return [Solved(path, (rng.random(num_vertices) < chances).astype(np.int8)) for _ in range(count)]


def is_calibrated(table, least=200) -> bool:
    """Whether every full bin was right as often as it said, within 6 standard deviations."""
    full = [row for row in table if row.count >= least]
    # What was learnt errs by itself, alike for the vertices of a bin: by less than 0.02 after so many draws.
    return len(full) >= 3 and all(
        abs(row.observed - row.predicted) < 6 * math.sqrt(row.predicted * (1 - row.predicted) / row.count) + 0.02 for row in full
    )


@pytest.mark.parametrize("seed", range(3))
def test_frequencies_are_calibrated_on_draws_from_the_prior(seed):
    past = frequencies_drawn_from_their_prior(seed)
    fitted = fit_predictor(past, "frequency", folds=5, seed=0, context=Context())
    assert is_calibrated(fitted.predictor.cross_validation.calibration)


def sides_drawn_from_a_regression(seed: int, count: int = 30) -> list[Solved]:
    """Sides drawn one by one with log-odds that are linear in a feature of the vertex."""
    rng = np.random.default_rng(seed)
    past = []
    for number in range(count):
        graph = networkx.barabasi_albert_graph(200, 2, seed=100 * seed + number)
        subject = subject_of(canonicalise(Graph.from_objects(graph)), "independent-set")
        log_odds = 3 - 2 * np.log1p(subject.num_votes)
        past.append(Solved(subject, (rng.random(200) < 1 / (1 + np.exp(-log_odds))).astype(np.int8)))
    return past


@pytest.mark.parametrize("seed", range(3))
def test_a_regression_is_calibrated_on_draws_from_one(seed):
    past = sides_drawn_from_a_regression(seed)
    fitted = fit_predictor(past, "logistic", folds=5, seed=0, context=Context())
    assert is_calibrated(fitted.predictor.cross_validation.calibration)


def test_a_regression_finds_the_feature_that_drew_the_sides():
    past = sides_drawn_from_a_regression(seed=4, count=60)
    model = fit_predictor(past, "logistic", folds=2, seed=0, context=Context()).predictor.model
    place = FEATURES["independent-set"].index("log_degree")
    assert model.coefficients[place] / model.scales[place] == pytest.approx(-2, abs=0.3)


def held_back(edges, truth, probabilities, problem="independent-set") -> HeldBack:
    subject = subject_of(canonicalise(Graph(len(truth), edges)), problem)
    chances = np.array(probabilities, float)
    return HeldBack(Solved(subject, np.array(truth, np.int8)), Forecast(chances, chances[subject.item_of]))


def test_figures_are_those_of_a_calculation_by_hand():
    found = assess([held_back([[0, 1], [1, 2]], [1, 0, 1], [0.9, 0.2, 0.4])], 2)
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.log_loss == pytest.approx(-(math.log(0.9) + math.log(0.8) + math.log(0.4)) / 3)
    assert found.epsilon == pytest.approx(3 / 4 - 1 / 2)


def test_copies_of_one_opinion_are_seen_to_be_copies():
    rng = np.random.default_rng(0)
    graph = networkx.random_regular_graph(6, 600, seed=0)
    truth = rng.integers(0, 2, 600)
    opinion = np.where(rng.random(600) < 0.7, truth, 1 - truth) * 0.8 + 0.1
    found = assess([held_back([list(edge) for edge in graph.edges], truth, opinion)], 2)
    assert found.overdispersion > 0.9
    assert found.epsilon == pytest.approx(0.2, abs=0.1)
    low, high = found.epsilon_interval
    # As wide as that of 600 opinions, not of 3600 bits.
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.21 / 600), rel=0.15)


def test_independent_bits_are_seen_to_be_independent():
    rng = np.random.default_rng(1)
    graph = networkx.random_regular_graph(6, 2000, seed=1)
    subject = subject_of(canonicalise(Graph.from_objects(graph)), "independent-set")
    truth = rng.integers(0, 2, 2000)
    right = truth[subject.item_of]
    bits = np.where(rng.random(len(right)) < 0.7, right, 1 - right)
    forecast = Forecast(np.full(2000, np.nan), bits * 0.8 + 0.1)
    found = assess([HeldBack(Solved(subject, truth.astype(np.int8)), forecast)], 2)
    assert found.overdispersion < 0.05
    assert found.epsilon == pytest.approx(0.2, abs=6 * math.sqrt(0.21 / 12000))


def test_a_cut_is_judged_the_same_however_it_is_turned():
    cut = [0, 1, 0, 1]
    chances = [0.9, 0.2, 0.7, 0.4]
    edges = [[0, 1], [1, 2], [2, 3]]
    upright = assess([held_back(edges, cut, chances, "max-cut")], 2)
    turned = assess([held_back(edges, [1 - side for side in cut], chances, "max-cut")], 2)
    assert upright == turned
    assert upright.accuracy == 1


def test_vertices_without_a_probability_are_counted_apart():
    found = assess([held_back([[0, 1]], [1, 0], [math.nan, math.nan])], 2)
    assert (found.items, found.unpredicted, found.accuracy, found.epsilon) == (0, 2, None, None)
