"""Confidence bands, and the tests of what gets better or worse."""

import numpy as np
import pytest

from benchmarks.trend import band, falls, rise


def test_the_band_holds_the_mean_of_normal_samples_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(3, 2, (2000, 10))

    held = np.mean([low <= 3 <= high for _, low, high in map(band, draws)])

    # Six standard errors around 95 %.
    assert abs(held - 0.95) <= 6 * np.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.parametrize("sample", [[4.0], [4.0, 4.0, 4.0]])
def test_a_sample_without_spread_has_no_width(sample):
    assert band(sample) == (4, 4, 4)


def test_noise_is_rarely_called_a_fall():
    rng = np.random.default_rng(1)

    alarms = np.mean([bool(falls(rng.normal(size=(10, 8)))) for _ in range(1000)])

    assert alarms <= 0.05 + 6 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_fall_beyond_noise_is_found_in_whatever_pair_it_is():
    gains = np.random.default_rng(2).normal(0, 0.1, (10, 4)) + np.array([0, 1, 2, 1])

    assert falls(gains) == [(2, 3)]


def test_a_fall_of_every_subject_by_the_same_is_one():
    assert falls([[1, 0], [1, 0], [2, 1]]) == [(0, 1)]


def test_equal_levels_neither_fall_nor_rise():
    assert falls(np.ones((10, 8))) == []
    assert rise(np.ones((10, 8))) > 0.4
