"""What holds of every instance, drawn by Hypothesis over domains, seeds and generators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctions.domains import bvm, cats_regions, gsvm, lsvm, mbvm, mrvm, srvm

SMALL = {
    "GSVM": lambda seed, rng: gsvm(seed, rng=rng),
    "GSVM legacy": lambda seed, rng: gsvm(seed, size=4, legacy=True, rng=rng),
    "LSVM": lambda seed, rng: lsvm(seed, rows=3, columns=4, rng=rng),
    "LSVM legacy": lambda seed, rng: lsvm(seed, rows=2, columns=5, legacy=True, rng=rng),
    "SRVM": lambda seed, rng: srvm(seed, rng=rng),
    "MRVM": lambda seed, rng: mrvm(seed, rng=rng),
    "BVM": lambda seed, rng: bvm(seed, rng=rng),
    "MBVM": lambda seed, rng: mbvm(seed, rng=rng),
    "CATS": lambda seed, rng: cats_regions(seed, n_bidders=3, goods=25),
}

DOMAINS = pytest.mark.parametrize("domain", SMALL)
SEEDS = st.integers(0, 2**63 - 1)
RNGS = st.sampled_from(["java", "numpy"])
FEW = settings(max_examples=8, deadline=None)


def pairs(instance, seed):
    """Return random bundles x <= y."""
    larger = instance.sample_bundles(0, 40, "gaussian_size", random_state=seed % 2**32)
    smaller = np.minimum(larger, instance.sample_bundles(0, 40, "gaussian_size", random_state=(seed + 1) % 2**32))
    return smaller, larger


@DOMAINS
@FEW
@given(SEEDS, RNGS)
def test_nothing_is_worth_nothing_and_more_is_never_worth_less(domain, seed, rng):
    instance = SMALL[domain](seed, rng)
    smaller, larger = pairs(instance, seed)
    assert (instance.value_matrix(np.zeros((1, instance.n_goods), dtype=int)) == 0).all()
    low, high = instance.value_matrix(smaller), instance.value_matrix(larger)
    assert (low <= high * (1 + 1e-12)).all()


@DOMAINS
@FEW
@given(SEEDS, RNGS)
def test_many_values_are_to_the_last_bit_those_asked_for_one_by_one(domain, seed, rng):
    instance = SMALL[domain](seed, rng)
    bundles = instance.sample_bundles(0, 30, "gaussian_size", random_state=seed % 2**32)
    for bidder in range(instance.n_bidders):
        alone = [instance.value(bidder, bundle) for bundle in bundles]
        assert instance.values(bidder, bundles).tolist() == alone
        instance.demand(bidder, np.zeros(instance.n_goods))
        assert instance.values(bidder, bundles).tolist() == alone


@pytest.mark.parametrize("domain", ["GSVM", "LSVM"])
@FEW
@given(SEEDS, RNGS)
def test_goods_without_interest_change_nothing_and_parts_are_worth_no_more_than_the_whole(domain, seed, rng):
    instance = SMALL[domain](seed, rng)
    smaller, larger = pairs(instance, seed)
    for bidder in range(instance.n_bidders):
        interest = np.isin(np.arange(instance.n_goods), instance.goods_of_interest(bidder))
        assert instance.values(bidder, larger) == pytest.approx(instance.values(bidder, larger * interest), rel=1e-14)
        parts = instance.values(bidder, smaller) + instance.values(bidder, larger - smaller)
        assert (parts <= instance.values(bidder, larger) * (1 + 1e-12)).all()


@DOMAINS
@FEW
@given(SEEDS, RNGS, st.floats(0.0, 2.0))
def test_no_bundle_that_may_be_held_is_better_than_the_demand(domain, seed, rng, scale):
    instance = SMALL[domain](seed, rng)
    random = np.random.default_rng(seed % 2**32)
    for bidder in range(instance.n_bidders):
        singles = instance.values(bidder, np.diag(instance.capacities)) / instance.capacities
        prices = scale * random.random(instance.n_goods) * (singles + singles.mean())
        (wanted,) = instance.demand(bidder, prices)
        assert wanted.utility >= 0.0
        interest = np.isin(np.arange(instance.n_goods), instance.goods_of_interest(bidder))
        held = instance.sample_bundles(bidder, 1000, random_state=random)
        if "legacy" not in domain:
            held = held * interest
        utilities = instance.values(bidder, held) - held @ prices
        if domain != "CATS":
            assert instance.limits(bidder).admits(wanted.bundle)
        assert utilities.max() <= wanted.utility + 1e-9 * max(1.0, wanted.value)


@DOMAINS
@FEW
@given(SEEDS, RNGS)
def test_indirect_utility_is_convex_and_falls_with_prices(domain, seed, rng):
    instance = SMALL[domain](seed, rng)
    random = np.random.default_rng(seed % 2**32)
    bidder = int(random.integers(instance.n_bidders))
    level = instance.value(bidder, instance.capacities) / instance.capacities.sum()
    one, other = random.random((2, instance.n_goods)) * 2 * level
    at = [instance.demand(bidder, prices)[0].utility for prices in (one, other, (one + other) / 2, np.maximum(one, other))]
    slack = 1e-9 * (1 + max(at))
    assert at[2] <= (at[0] + at[1]) / 2 + slack
    assert at[3] <= min(at[0], at[1]) + slack


@pytest.mark.parametrize("domain", ["SRVM", "MRVM"])
def test_licences_of_one_good_are_alike(domain):
    instance = SMALL[domain](1, "java")
    random = np.random.default_rng(0)
    for bundle in instance.sample_bundles(0, 20, random_state=random):
        licences = instance.quantities_to_licences(bundle)
        assert instance.licences_to_quantities(licences).tolist() == bundle.tolist()
        others = [random.permutation(np.flatnonzero(instance.licence_goods == good))[:count] for good, count in enumerate(bundle)]
        assert instance.licences_to_quantities(np.concatenate(others).tolist()).tolist() == bundle.tolist()


def test_a_bidder_of_the_native_generator_stays_the_same_when_others_come():
    few, many = mrvm(7, rng="numpy", n_national=1), mrvm(7, rng="numpy", n_national=3)
    assert few.to_dict()["bidders"] == many.to_dict()["bidders"][:8]
    assert gsvm(7, rng="numpy").to_dict() == gsvm(7, rng="numpy").to_dict()
