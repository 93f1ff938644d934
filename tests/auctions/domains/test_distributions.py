"""The native generator draws what the models say; thresholds fail by chance less than once in a million, and seeds are fixed anyway."""

import math

import numpy as np
import pytest

from auctions.bundles import Limits, all_bundles, indices_of
from auctions.domains import cats_regions, gsvm, lsvm, mrvm, srvm
from auctions.domains.sampling import uniform

N = 300


@pytest.fixture(scope="module")
def worlds():
    return {draw.__name__: [draw(seed, rng="numpy") for seed in range(N)] for draw in (gsvm, lsvm, srvm, mrvm)}


def assert_uniform(numbers, low, high):
    """Kolmogorov's distance to the uniform distribution is below 2.69 / sqrt(n)."""
    places = (np.sort(np.ravel(numbers)) - low) / (high - low)
    n = len(places)
    steps = np.arange(n)
    assert max((places - steps / n).max(), ((steps + 1) / n - places).max()) < 2.69 / math.sqrt(n)


def assert_even(counts, expected, threshold):
    assert ((counts - expected) ** 2 / expected).sum() < threshold


def test_gsvm_values_are_uniform(worlds):
    high = np.isin(np.arange(12), range(4, 8))
    national = np.array([instance.worth(6)[:12] for instance in worlds["gsvm"]])
    assert_uniform(national[:, ~high], 0, 10)
    assert_uniform(national[:, high], 0, 20)
    regional = np.array([instance.worth(2) for instance in worlds["gsvm"]])
    assert_uniform(regional[:, 4:8], 0, 40)
    assert_uniform(regional[:, 14:16], 0, 20)


def test_lsvm_values_are_uniform_and_favourites_evenly_spread(worlds):
    assert_uniform([instance.bidders[0].values for instance in worlds["lsvm"]], 3, 9)
    regionals = [bidder for instance in worlds["lsvm"] for bidder in instance.bidders[1:]]
    assert_uniform(np.concatenate([bidder.values for bidder in regionals]), 3, 20)
    counts = np.bincount([bidder.favorite for bidder in regionals], minlength=18)
    assert_even(counts, len(regionals) / 18, 60.1)


def test_srvm_parameters_are_uniform(worlds):
    bidders = [bidder for instance in worlds["srvm"] for bidder in instance.bidders]
    assert_uniform([bidder.strength for bidder in bidders], 0.75, 1.25)
    assert_uniform([bidder.interband_synergy for bidder in bidders], 1.0, 1.2)
    assert_uniform([bidder.intraband_synergy[1:] for bidder in bidders], 1.75, 2.25)
    primaries = [bidder for bidder in bidders if bidder.type == "primary"]
    assert_uniform([bidder.intraband_synergy[0] for bidder in primaries], 3.75, 4.25)
    influence = [bidder.base_values[0] / (300 * bidder.strength) for bidder in primaries]
    assert_uniform(influence, 0.75, 1.25)


def test_mrvm_parameters_are_uniform(worlds):
    instances = worlds["mrvm"]
    assert_uniform([instance.world.bands[0].base_capacity for instance in instances], 3, 4)
    assert_uniform([instance.world.bands[2].base_capacity for instance in instances], 0.5, 1)
    for first, last, alpha, beta in (
        (0, 3, (60, 100), (0.05, 0.12)),
        (3, 7, (500, 840), (0.04, 0.10)),
        (7, 10, (700, 1200), (0.08, 0.22)),
    ):
        bidders = [bidder for instance in instances for bidder in instance.bidders[first:last]]
        assert_uniform([bidder.alpha for bidder in bidders], *alpha)
        assert_uniform([bidder.beta for bidder in bidders], *beta)


def test_mrvm_homes_and_regions_of_interest_are_evenly_spread(worlds):
    locals_ = [bidder for instance in worlds["mrvm"] for bidder in instance.bidders[:3]]
    homes = [bidder.home for instance in worlds["mrvm"] for bidder in instance.bidders[3:7]]
    assert_even(np.bincount(homes, minlength=14), len(homes) / 14, 52.8)
    sizes = np.bincount([len(bidder.regions_of_interest) for bidder in locals_], minlength=8)
    assert sizes[:3].sum() == 0
    assert_even(sizes[3:], len(locals_) / 5, 33.4)
    included = np.zeros(14)
    for bidder in locals_:
        included[list(bidder.regions_of_interest)] += 1
    deviation = math.sqrt(len(locals_) * 5 / 14 * 9 / 14)
    assert (np.abs(included - len(locals_) * 5 / 14) < 5.5 * deviation).all()


@pytest.mark.parametrize(
    ("domain", "bidders", "mean"),
    [
        ("gsvm", [0, 4, 5], 120),
        ("gsvm", [1, 3], 160),
        ("gsvm", [2], 200),
        ("gsvm", [6], 256),
        ("lsvm", [0], 18 * 6 * 4.198926879582508),
        ("lsvm", [1, 2, 3, 4, 5], 241.3356),
        ("srvm", [0, 1], 44.70),
        ("srvm", [2], 512.3),
        ("srvm", [3, 4], 1964.0),
        ("srvm", [5, 6], 3184.9),
        ("mrvm", [0, 1, 2], 92_647_849),
        ("mrvm", [3, 4, 5, 6], 351_189_218),
        ("mrvm", [7, 8, 9], 5_436_248_745),
    ],
)
def test_full_bundles_have_the_mean_that_follows_from_the_model(worlds, domain, bidders, mean):
    values = np.array([[instance.value(bidder, instance.capacities) for bidder in bidders] for instance in worlds[domain]])
    error = values.mean(axis=1).std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - mean) < 5.5 * error


def test_cats_private_values_are_normal_and_bids_grow_on():
    instances = [cats_regions(seed, n_bidders=5, goods=64) for seed in range(40)]
    private = np.concatenate([instance.private.ravel() for instance in instances])
    assert abs(private.mean()) < 5.5 * 30 / math.sqrt(len(private))
    assert abs(private.std() - 30) < 5.5 * 30 / math.sqrt(2 * len(private))
    common = np.concatenate([instance.world.common for instance in instances])
    assert_uniform(common, 1, 100)
    sizes = [len(bids[0][0]) for instance in instances for bids in instance.bids]
    # A bid stops growing with chance 0.1: ten goods on average, if there were no end of them.
    assert 7 < np.mean(sizes) < 12
    assert all(len(bids) <= 6 for instance in instances for bids in instance.bids)


@pytest.mark.parametrize("limits", [Limits(max_items=2), Limits(max_items=3, goods=(True, False, True)), Limits(caps=(1, 1, 1))])
def test_uniform_bundles_are_all_as_likely(limits):
    capacities = np.array([2, 1, 2])
    n = 20_000
    drawn = uniform(capacities, limits, n, np.random.default_rng(1))
    admitted = np.flatnonzero(limits.admits(all_bundles(capacities)))
    counts = np.bincount(indices_of(drawn, capacities), minlength=18)
    assert counts.sum() == counts[admitted].sum() == n
    deviations = np.abs(counts[admitted] - n / len(admitted)) / math.sqrt(n / len(admitted))
    assert deviations.max() < 6


def test_gsvm_regional_samples_keep_to_the_activity_limit():
    instance = gsvm(1)
    drawn = instance.sample_bundles(0, 5000, random_state=0)
    assert drawn.sum(axis=1).max() == 4
    # Most bundles of at most four of eighteen goods have four: 3060 of 4048.
    assert abs((drawn.sum(axis=1) == 4).mean() - 3060 / 4048) < 0.035
    assert instance.sample_bundles(6, 500, random_state=0)[:, 12:].sum() == 0


def test_gaussian_sizes_have_the_mean_asked_for():
    drawn = lsvm(1).sample_bundles(0, 4000, "gaussian_size", random_state=0)
    sizes = drawn.sum(axis=1)
    assert sizes.min() >= 1
    assert abs(sizes.mean() - 9.3) < 0.5
    assert drawn.max() == 1
