"""Instances small enough to be worked out by hand."""

import numpy as np
import pytest

from auctions.domains import Gsvm, Lsvm, Mrvm, Srvm, Valuations, bvm, mrvm, read_instance
from auctions.domains.gsvm import GsvmBidder
from auctions.domains.lsvm import LsvmBidder
from auctions.domains.lsvm_table import factors
from auctions.domains.srvm import SrvmBidder
from auctions.domains.streams import Source


def gsvm_of(*bidders, size=1, legacy=False):
    return Gsvm(size, list(bidders), legacy=legacy, source=Source())


def regional(items, values, limit):
    return GsvmBidder("regional", 0, tuple(items), tuple(values), limit, False)


def national(items, values):
    return GsvmBidder("national", -1, tuple(items), tuple(values), None, True)


def lsvm_row(columns, *bidders, legacy=False):
    return Lsvm(1, columns, list(bidders), legacy=legacy, source=Source())


def test_gsvm_activity_limits_decide_the_optimum():
    pair = [regional([0, 1, 2], [25, 25, 15], 2) for _ in range(2)]
    instance = gsvm_of(*pair, national([0, 1], [16, 16]))
    found = instance.efficient_allocation()
    assert found.welfare == pytest.approx(75.0)
    assert sorted(found.values.tolist(), reverse=True) == pytest.approx([60.0, 15.0, 0.0])


@pytest.mark.parametrize(("legacy", "worth"), [(False, 42.0), (True, 48.0)])
def test_gsvm_legacy_counts_worthless_items_too(legacy, worth):
    instance = gsvm_of(regional([0, 1, 2], [10, 10, 10], None), size=2, legacy=legacy)
    assert instance.value(0, "111000") == pytest.approx(42.0)
    assert instance.value(0, "111100") == pytest.approx(worth)


def test_lsvm_components_are_worth_more_than_their_parts():
    instance = lsvm_row(3, LsvmBidder("regional", (0, 1, 2), (1.0, 1.0, 1.0), 100, 0))
    values = [instance.value(0, bundle) for bundle in ("100", "101", "110", "111")]
    assert values == pytest.approx([1.7310585786300048, 3.4621171572600096, 3.7615941559557644, 5.857722380467299], rel=1e-15)


def test_lsvm_factors_are_those_of_the_paper():
    assert factors(160, 4, 11)[[4, 11]] == pytest.approx([1.8, 2.598542318088959], rel=1e-15)
    assert factors(320, 10, 18)[[10, 18]] == pytest.approx([2.6, 4.198926879582508], rel=1e-15)


def test_lsvm_worthless_cells_join_components_in_legacy_only():
    bidder = LsvmBidder("regional", (0, 2), (1.0, 1.0), 100, 0)
    apart = lsvm_row(3, bidder).value(0, "111")
    joined = lsvm_row(3, bidder, legacy=True).value(0, "111")
    assert apart == pytest.approx(2 * 1.7310585786300048)
    assert joined == pytest.approx(2 * float(factors(100, 0, 3)[3]))


def test_srvm_bands_grow_as_tabulated():
    bidder = SrvmBidder("primary", (1.0,), (2.0,), 1.1, (4,))
    instance = Srvm(["A"], [6], [bidder], rounding="sats", source=Source())
    assert instance.values(0, [[n] for n in range(7)]) == pytest.approx([0, 1, 3, 4.33334, 5.5, 6.19315, 6.5987], abs=1e-12)


def test_srvm_without_a_factor_between_bands_adds_up():
    instance = Srvm(
        ["A", "B"], [3, 3], [SrvmBidder("small", (1.0, 2.0), (2.0, 2.0), 1.0, (2, 2))], rounding="exact", source=Source()
    )
    alone = instance.value(0, [2, 0]) + instance.value(0, [0, 3])
    assert instance.value(0, [2, 3]) == pytest.approx(alone)


def test_srvm_small_bidders_want_a_worthless_licence_for_the_factor():
    from auctions.domains import srvm

    assert all(srvm(seed).demand(0, [0, 0, 0])[0].bundle.tolist() == [0, 1, 9] for seed in range(1, 20))


def test_mrvm_full_bundles_are_worth_alpha_times_the_customers():
    instance = mrvm(4)
    for index, bidder in enumerate(instance.bidders):
        customers = np.array(bidder.beta) * instance.world.populations
        expected = bidder.alpha * (instance.region_weights(index) @ customers)
        assert instance.value(index, instance.capacities) == pytest.approx(expected, rel=1e-12)


def test_mrvm_national_bidders_with_one_region_get_the_last_factor():
    instance = mrvm(4)
    bundle = np.zeros(42, dtype=int)
    bundle[3 * 7 : 3 * 7 + 3] = [2, 3, 2]
    bidder = instance.bidders[9]
    assert instance.value(9, bundle) == pytest.approx(bidder.gamma[1] * instance.omega(9)[7, -1], rel=1e-15)


def test_mrvm_local_bidders_value_nothing_elsewhere():
    instance = mrvm(4)
    for bidder in range(3):
        bundle = instance.capacities.reshape(14, 3).copy()
        bundle[list(instance.bidders[bidder].regions_of_interest)] = 0
        assert instance.value(bidder, bundle.ravel()) == 0.0


def test_mrvm_without_losses_a_national_bidder_is_a_regional_one_everywhere():
    drawn = mrvm(5, n_local=0, n_regional=0, n_national=1, national_b=(0.0, 0.0)).to_dict()
    drawn["bidders"][0] |= {"type": "local", "regions_of_interest": list(range(14))}
    everywhere = read_instance(drawn)
    flat = mrvm(5, n_local=0, n_regional=0, n_national=1, national_b=(0.0, 0.0))
    bundles = flat.sample_bundles(0, 100, random_state=0)
    assert flat.values(0, bundles) == pytest.approx(everywhere.values(0, bundles), rel=1e-14)
    assert isinstance(everywhere, Mrvm)


def test_mrvm_capacity_that_falls_with_more_lots_is_not_monotone():
    falling = mrvm(1).to_dict()
    falling["world"]["bands"][1]["synergy"] = [1.0, 1.2, 0.7]
    assert not read_instance(falling).monotone
    assert mrvm(1).monotone


ADDITIVE = {
    "schema": "valuations/1",
    "capacities": [2, 1],
    "bidders": [{"id": "ann", "kind": "additive", "values": [[3, 1], 4], "synergies": [{"bundle": [1, 1], "bonus": 2}]}],
}
EVERY_BUNDLE = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
WORTH = [0, 3, 4, 4, 9, 10]


@pytest.mark.parametrize("form", ["additive", "table", "xor", "csv"])
def test_one_valuation_in_every_form_gives_the_same_answers(form):
    if form == "csv":
        rows = [f"ann,{value},{bundle[0]},{bundle[1]}" for bundle, value in zip(EVERY_BUNDLE, WORTH, strict=True)]
        instance = Valuations.read_csv("\n".join(["bidder,value,A,B", *rows]))
    else:
        bids = [{"bundle": bundle, "value": value} for bundle, value in zip(EVERY_BUNDLE, WORTH, strict=True)]
        forms = {
            "additive": ADDITIVE["bidders"][0],
            "table": {"kind": "table", "values": WORTH},
            "xor": {"kind": "xor", "bids": bids},
        }
        instance = read_instance(ADDITIVE | {"bidders": [forms[form]]})
    assert instance.values(0, EVERY_BUNDLE).tolist() == WORTH
    assert instance.efficient_allocation().welfare == 10.0
    assert [each.bundle.tolist() for each in instance.demand(0, [1.5, 3], k=2)] == [[1, 1], [2, 1]]
    assert instance.demand(0, [9, 9])[0].bundle.tolist() == [0, 0]


def test_a_table_that_falls_is_accepted_and_said_not_to_be_monotone():
    instance = read_instance(
        {"schema": "valuations/1", "capacities": [1, 1], "bidders": [{"kind": "table", "values": [0, 3, 2, 1]}]}
    )
    assert not instance.monotone
    assert instance.demand(0, [0, 0])[0].bundle.tolist() == [1, 0]


def test_bvm_licences_beyond_six_are_worth_nothing():
    instance = bvm(1)
    assert instance.value(0, [6, 6]) == instance.value(0, [14, 10])
    assert instance.value(0, [4, 0]) == pytest.approx(instance.bidders[0].base_values[0] * 4 * 1.8)
