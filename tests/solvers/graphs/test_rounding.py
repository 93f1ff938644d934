"""Cuts by random hyperplanes."""

import math

import numpy as np

from solvers.graphs.rounding import hyperplane_sides


def test_every_cut_separates_a_half_space():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])

    sides = hyperplane_sides(vectors, 200, np.random.default_rng(0))

    assert sides.shape == (200, 4)
    assert sides.dtype == np.int8
    assert (sides[:, 0] + sides[:, 2] == 1).all()
    assert (sides[:, 1] + sides[:, 3] == 1).all()


def test_two_vectors_are_separated_with_probability_angle_over_pi():
    angle, draws = 2.0, 100_000
    vectors = np.array([[1.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]])

    sides = hyperplane_sides(vectors, draws, np.random.default_rng(1))

    share = (sides[:, 0] != sides[:, 1]).mean()
    expected = angle / math.pi
    assert abs(share - expected) < 6 * math.sqrt(expected * (1 - expected) / draws)
