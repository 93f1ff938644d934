"""How well the accuracy of the bits is recovered."""

import math

import numpy as np
import pytest

from solvers.graphs.epsilon import estimate_epsilon
from solvers.graphs.predictions import sample_edge_predictions
from solvers.operation import InvalidInput
from tests.solvers.graphs.prediction_vectors import VECTORS, gset


@pytest.mark.parametrize("name", VECTORS)
def test_the_moment_estimate_is_the_reference_program_s(name):
    vector = VECTORS[name]

    estimate = estimate_epsilon(vector.edges, vector.bits, method="moment")

    assert estimate.epsilon == pytest.approx(vector.expected["epsilon_moment"], abs=1e-12)


def test_the_moment_estimate_on_g1_is_near_the_truth():
    num_vertices, edges = gset("G1")
    reference = np.random.default_rng(5).integers(0, 2, num_vertices)

    for seed in range(5):
        estimate = estimate_epsilon(edges, sample_edge_predictions(edges, reference, 0.1, seed).bits)

        assert 0.083 <= estimate.epsilon <= 0.118


def test_the_moment_interval_covers_the_truth_nearly_always():
    num_vertices, edges = gset("G1")
    reference = np.random.default_rng(5).integers(0, 2, num_vertices)
    draws = 200

    intervals = [estimate_epsilon(edges, sample_edge_predictions(edges, reference, 0.1, s).bits).interval for s in range(draws)]

    covered = sum(low <= 0.1 <= high for low, high in intervals)
    assert covered >= draws * (0.95 - 6 * math.sqrt(0.95 * 0.05 / draws))


def test_vertices_with_one_bit_tell_nothing():
    assert estimate_epsilon([[0, 1]], [[1, 0]]).epsilon is None


@pytest.mark.parametrize("method", ["moment", "em", "reference"])
def test_no_bits_give_no_estimate(method):
    assert estimate_epsilon([[0, 1]], [[-1, -1]], reference=[0, 1], method=method).epsilon is None


def _asymmetric_bits(edges, reference, in_if_in, in_if_out, seed):
    chance = np.where(reference[edges] == 1, in_if_in, in_if_out)
    return (np.random.default_rng(seed).random(chance.shape) < chance).astype(np.int8)


@pytest.mark.parametrize("method", ["em", "reference"])
def test_sides_that_are_predicted_unequally_well_show_as_asymmetry(method):
    num_vertices, edges = gset("G1")
    reference = (np.random.default_rng(3).random(num_vertices) < 0.4).astype(np.int8)
    bits = _asymmetric_bits(edges, reference, in_if_in=0.9, in_if_out=0.3, seed=4)

    estimate = estimate_epsilon(edges, bits, reference, method)

    assert estimate.asymmetry == pytest.approx(0.2, abs=0.03)


def test_the_mixture_finds_the_accuracy_of_unequal_sides():
    num_vertices, edges = gset("G1")
    reference = (np.random.default_rng(3).random(num_vertices) < 0.4).astype(np.int8)

    estimate = estimate_epsilon(edges, _asymmetric_bits(edges, reference, 0.9, 0.3, seed=4), method="em")

    assert estimate.epsilon == pytest.approx(0.3, abs=0.02)


def test_counting_right_bits_gives_a_negative_epsilon_for_flipped_bits():
    edges, reference = np.array([[0, 1], [1, 2]]), [0, 1, 0]

    estimate = estimate_epsilon(edges, [[1, 0], [0, 1]], reference)

    assert estimate.epsilon == -0.5


def test_wilson_s_interval_of_a_known_share():
    # 10 of 20: Wilson (1927) gives 0.2993 to 0.7007.
    edges = np.arange(20).reshape(-1, 2)
    bits = np.array([[1, 0]] * 10)

    low, high = estimate_epsilon(edges, bits, np.ones(20, dtype=np.int8)).interval

    assert (low + 0.5, high + 0.5) == pytest.approx((0.29930, 0.70070), abs=1e-5)


def test_independent_bits_show_hardly_any_overdispersion():
    num_vertices, edges = gset("G1")
    reference = np.random.default_rng(5).integers(0, 2, num_vertices)

    estimate = estimate_epsilon(edges, sample_edge_predictions(edges, reference, 0.1, 1).bits, reference)

    assert estimate.overdispersion < 0.01


def test_the_correlation_of_the_bits_about_a_vertex_is_recovered():
    num_vertices, edges = gset("G1")
    rng = np.random.default_rng(6)
    reference = rng.integers(0, 2, num_vertices)
    # Each bit copies a draw that the vertex's bits share with probability sqrt(rho): two of them do with probability rho.
    rho, right = 0.3, 0.7
    shared = (rng.random(num_vertices) < right)[edges]
    is_right = np.where(rng.random(edges.shape) < math.sqrt(rho), shared, rng.random(edges.shape) < right)
    bits = np.where(is_right, reference[edges], 1 - reference[edges])

    estimate = estimate_epsilon(edges, bits, reference)

    assert estimate.overdispersion == pytest.approx(rho, abs=0.05)


def test_copies_of_one_label_look_perfect_without_a_reference():
    num_vertices, edges = gset("G1")
    labels = np.random.default_rng(7).integers(0, 2, num_vertices)

    assert estimate_epsilon(edges, labels[edges]).epsilon == 0.5


def test_counting_right_bits_needs_a_reference():
    with pytest.raises(InvalidInput):
        estimate_epsilon([[0, 1]], [[0, 1]], method="reference")


def test_a_reference_that_is_too_short_is_refused():
    with pytest.raises(InvalidInput):
        estimate_epsilon([[0, 2]], [[0, 1]], reference=[0, 1])
