"""Predictions are validated once, where they enter."""

import math

import numpy as np
import pytest

from solvers.graphs.predictions import EdgePredictions, VertexPredictions, count_votes, sample_edge_predictions
from solvers.operation import InvalidInput


@pytest.mark.parametrize(
    ("make", "pointer"),
    [
        (lambda: EdgePredictions([[0, 1], [2, 0]]), "/predictions/edge_bits/1/0"),
        (lambda: EdgePredictions([[0, 0.5]]), "/predictions/edge_bits/0/1"),
        (lambda: EdgePredictions([0, 1]), "/predictions/edge_bits"),
        (lambda: EdgePredictions([["a", "b"]]), "/predictions/edge_bits"),
        (lambda: EdgePredictions([[0, 1]], epsilon=0), "/predictions/epsilon"),
        (lambda: EdgePredictions([[0, 1]], epsilon=0.51), "/predictions/epsilon"),
        (lambda: EdgePredictions([[0, 1]], epsilon=math.nan), "/predictions/epsilon"),
        (lambda: EdgePredictions([[0, 1]], overdispersion=1.5), "/predictions/overdispersion"),
        (lambda: EdgePredictions([[0, 1]], overdispersion=math.nan), "/predictions/overdispersion"),
        (lambda: EdgePredictions([[0, 1]], endpoints=np.zeros((2, 2))), "/predictions/edge_bits"),
        (lambda: VertexPredictions(), "/predictions"),
        (lambda: VertexPredictions(labels=[0, 1, -2]), "/predictions/vertex_labels/2"),
        (lambda: VertexPredictions(probabilities=[0.2, 1.1]), "/predictions/vertex_probabilities/1"),
        (lambda: VertexPredictions(labels=[0, 1], epsilon=[0.1, 0.7]), "/predictions/epsilon/1"),
        (lambda: VertexPredictions(labels=[0, 1], epsilon=[0.1]), "/predictions/epsilon"),
    ],
)
def test_a_malformed_prediction_is_refused_where_it_is_wrong(make, pointer):
    with pytest.raises(InvalidInput) as refusal:
        make()

    assert refusal.value.pointer == pointer


def test_votes_are_counted_at_the_ends_that_the_bits_speak_of():
    endpoints = np.array([[0, 1], [1, 2], [1, 0]])
    bits = np.array([[1, 0], [1, -1], [-1, 0]], dtype=np.int8)

    votes, votes_in = count_votes(endpoints, bits, 4)

    assert votes.tolist() == [2, 2, 0, 0]
    assert votes_in.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_drawn_bits_are_right_as_often_as_epsilon_says(epsilon):
    count = 100_000
    edges = np.arange(2 * count).reshape(-1, 2)
    reference = np.random.default_rng(1).integers(0, 2, 2 * count)

    predictions = sample_edge_predictions(edges, reference, epsilon, seed=2)

    right = (predictions.bits == reference[edges]).mean()
    p = 0.5 + epsilon
    assert abs(right - p) <= 6 * math.sqrt(p * (1 - p) / (2 * count))


def test_bits_drawn_at_epsilon_zero_leave_epsilon_to_be_estimated():
    assert sample_edge_predictions([[0, 1]], [0, 1], 0).epsilon is None


def test_the_same_seed_draws_the_same_bits():
    edges = np.arange(200).reshape(-1, 2)

    first, second = (sample_edge_predictions(edges, np.zeros(200), 0.1, seed=7) for _ in range(2))

    assert np.array_equal(first.bits, second.bits)


def test_a_bit_may_not_be_drawn_with_an_accuracy_above_one():
    with pytest.raises(InvalidInput):
        sample_edge_predictions([[0, 1]], [0, 1], 0.6)
