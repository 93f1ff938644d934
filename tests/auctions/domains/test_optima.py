"""Efficient allocations and VCG payments: every method against another, against brute force, and when they are stopped."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.domains import (
    Lsvm,
    cats_regions,
    gsvm,
    lagrangian_bound,
    lsvm,
    mbvm,
    mrvm,
    read_instance,
    srvm,
)
from auctions.domains.instance import payments_of
from auctions.domains.lsvm import LsvmBidder
from auctions.domains.lsvm_mip import MOST_SETS, connected_sets, neighbour_masks
from auctions.domains.streams import Source
from benchmarks.auctions.sats_models import gsvm_model
from solvers.operation import InvalidInput
from tests.auctions.domains.ring_programme import optimum
from tests.auctions.domains.test_demand import random_additive, small_mrvm
from tests.auctions.domains.vectors import drawn


def brute_force(instance, held, without=()):
    """Return the highest welfare over all allocations; `held(bidder)` is the bundles that a bidder may hold."""
    best = {tuple(instance.capacities): 0.0}
    for bidder in range(instance.n_bidders):
        if bidder in without:
            continue
        bundles = held(bidder)
        values = instance.values(bidder, bundles)
        reached = {}
        for left, welfare in best.items():
            for bundle, value in zip(bundles, values, strict=True):
                rest = tuple(left - bundle)
                if min(rest) >= 0 and reached.get(rest, -1.0) < welfare + value:
                    reached[rest] = welfare + value
        best = reached
    return max(best.values())


def assert_optimal_by(instance, held, method="auto"):
    found = instance.efficient_allocation(method)
    assert found.welfare == pytest.approx(brute_force(instance, held), rel=1e-9)
    assert (found.status, found.stopped_by, found.deterministic) == ("optimal", None, True)
    assert (found.allocation.sum(axis=0) <= instance.capacities).all()
    payments = instance.vcg(method)
    assert payments.exact
    for bidder in range(instance.n_bidders):
        others = found.welfare - payments.outcome.values[bidder]
        marginal = brute_force(instance, held, without=(bidder,))
        assert payments.payments[bidder] == pytest.approx(marginal - others, abs=1e-8 * max(1.0, found.welfare))
        assert found.welfare >= marginal - 1e-9 * max(1.0, marginal)


def within(instance, cells):
    bundles = all_bundles(instance.capacities)
    outside = np.setdiff1d(np.arange(instance.n_goods), cells)
    return bundles[(bundles[:, outside] == 0).all(axis=1)]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_gsvm_optima_and_payments_are_those_of_brute_force(seed, legacy):
    instance = gsvm(seed, size=2, n_regional=2, legacy=legacy)

    def held(bidder):
        bundles = within(instance, instance.candidates(bidder))
        return bundles[bundles.sum(axis=1) <= instance.most_items(bidder)]

    assert_optimal_by(instance, held)


@pytest.mark.parametrize("seed", [7, 11, 13])
def test_gsvm_optima_are_those_of_the_programme_around_the_circle(seed):
    assert drawn("GSVM", seed).efficient_allocation().welfare == pytest.approx(optimum(drawn("GSVM", seed)), rel=1e-9)


def test_gsvm_optima_are_those_of_the_model_of_sats():
    instance = gsvm(3, size=3, n_regional=3)
    welfare, bound, stopped_by = gsvm_model(instance, time_limit=100.0)
    assert stopped_by is None
    assert instance.efficient_allocation().welfare == pytest.approx(welfare, rel=1e-6)
    assert bound == pytest.approx(welfare, rel=1e-6)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("method", ["dp", "mip"])
@pytest.mark.parametrize("seed", [1, 2])
def test_lsvm_optima_and_payments_are_those_of_brute_force(seed, method, legacy):
    instance = lsvm(seed, rows=2, columns=3, n_regional=2, legacy=legacy, distance=1)
    assert_optimal_by(instance, lambda bidder: within(instance, instance.cells(bidder)), method)


def test_lsvm_with_several_national_bidders_is_solved_exactly():
    instance = lsvm(4, rows=2, columns=4, n_national=3, n_regional=2)
    by_sets = instance.efficient_allocation("dp")
    assert by_sets.welfare == pytest.approx(instance.efficient_allocation("mip").welfare, rel=1e-9)


def test_lsvm_without_synergy_gives_each_cell_to_who_values_it_most():
    instance = lsvm(3, regional_a=0, national_a=0)
    highest = np.zeros(18)
    for bidder in range(6):
        np.maximum.at(highest, instance.cells(bidder), instance.worth(bidder))
    assert instance.efficient_allocation().welfare == pytest.approx(highest.sum())


@pytest.mark.parametrize("method", ["dp", "mip"])
def test_srvm_optima_and_payments_are_those_of_brute_force(method):
    instance = srvm(5, n_small=1, n_secondary=1, n_primary=0, quantities=(2, 2, 2))
    assert_optimal_by(instance, lambda bidder: all_bundles(instance.capacities), method)


@pytest.mark.parametrize("seed", range(3))
def test_srvm_methods_agree(seed):
    instance = drawn("SRVM", seed + 1)
    assert instance.efficient_allocation("mip").welfare == pytest.approx(instance.efficient_allocation("dp").welfare, rel=1e-9)


@pytest.mark.parametrize("method", ["dp", "mip"])
@pytest.mark.parametrize("seed", range(3))
def test_mrvm_optima_and_payments_are_those_of_brute_force(seed, method):
    instance = small_mrvm(seed)
    regions = np.arange(4)
    bundles = all_bundles(instance.capacities)

    def held(bidder):
        allowed = instance.admissible(bidder)[regions, instance.configurations(bundles)] > -np.inf
        return bundles[allowed.all(axis=1)]

    tables = {bidder: held(bidder) for bidder in range(instance.n_bidders)}
    found = instance.efficient_allocation(method)
    assert found.welfare == pytest.approx(sum_over_bundles(instance, tables), rel=1e-9)
    assert found.status == "optimal"


def sum_over_bundles(instance, tables):
    """Return the highest welfare by convolving tables of all bundles."""
    from auctions.bundles import indices_of
    from auctions.domains.capacity_programme import CapacityProgramme
    from auctions.outcome import SearchLimits

    full = {}
    for bidder, bundles in tables.items():
        full[bidder] = np.full(len(all_bundles(instance.capacities)), -np.inf)
        full[bidder][indices_of(bundles, instance.capacities)] = instance.values(bidder, bundles)
    return CapacityProgramme(instance, instance.capacities, full, SearchLimits()).allocate().welfare


@pytest.mark.long
def test_mrvm_methods_agree_with_and_without_caps():
    for caps in (False, True):
        instance = mrvm(3, n_local=1, n_regional=2, n_national=2, paired_caps=caps)
        assert instance.efficient_allocation("mip").welfare == pytest.approx(
            instance.efficient_allocation("dp").welfare, rel=1e-8
        )


def test_mrvm_without_national_bidders_falls_apart_into_regions():
    instance = mrvm(6, n_national=0)
    whole = instance.efficient_allocation()
    held = whole.allocation.reshape(7, 14, 3)
    for region in range(14):
        only = read_instance(instance.to_dict())
        per_region = np.array([only.region_weights(bidder)[region] * only.omega(bidder)[region] for bidder in range(7)])
        best = {(2, 3, 2): 0.0}
        for worth in per_region:
            reached = {}
            for left, welfare in best.items():
                for index, quantities in enumerate(all_bundles((2, 3, 2))):
                    rest = tuple(np.subtract(left, quantities))
                    if min(rest) >= 0 and reached.get(rest, -1.0) < welfare + worth[index]:
                        reached[rest] = welfare + worth[index]
            best = reached
        bundle = np.zeros((7, 14, 3), dtype=int)
        bundle[:, region] = held[:, region]
        assert instance.allocation_values(bundle.reshape(7, 42)).sum() == pytest.approx(max(best.values()), rel=1e-12)


def mixed(seed):
    """Return an instance in which every bidder states its values in another way."""
    random = np.random.default_rng(seed)
    capacities = [1, 2, 1]
    additive = random_additive(seed).to_dict()["bidders"][0]
    bundles = all_bundles(capacities)
    table = np.maximum.accumulate(random.integers(0, 9, len(bundles))).astype(float)
    table[0] = 0.0
    bidders = [
        {
            "kind": "xor",
            "bids": [{"bundle": bundles[i].tolist(), "value": int(random.integers(1, 12))} for i in random.permutation(12)[:3]],
        },
        {"kind": "table", "values": table.tolist(), "limits": {"max_items": 3}},
        additive
        | {
            "id": "third",
            "values": [[2], [3, 1], [4]],
            "synergies": [{"bundle": [1, 1, 0], "bonus": 3}],
            "limits": {"caps": [1, 1, 1]},
        },
    ]
    return read_instance({"schema": "valuations/1", "capacities": capacities, "bidders": bidders})


@pytest.mark.parametrize("method", ["dp", "mip"])
@pytest.mark.parametrize("seed", range(4))
def test_mixed_valuations_are_allocated_as_by_brute_force(seed, method):
    instance = mixed(seed)

    def held(bidder):
        bundles = all_bundles(instance.capacities)
        return bundles[instance.limits(bidder).admits(bundles)]

    assert_optimal_by(instance, held, method)


@pytest.mark.parametrize("method", ["xor", "mip"])
def test_bids_of_a_map_are_allocated_by_either_method(method):
    instance = cats_regions(5, n_bidders=5, goods=25)
    best = 0.0
    bids = [[((), 0.0), *offers] for offers in instance.bids]
    for chosen in product(*bids):
        goods = [good for items, _ in chosen for good in items]
        if len(set(goods)) == len(goods):
            best = max(best, sum(value for _, value in chosen))
    found = instance.efficient_allocation(method)
    assert found.welfare == pytest.approx(best, rel=1e-9)
    assert found.status == "optimal"
    assert instance.vcg(method).exact


def test_licences_of_several_bands_are_shared_out_as_band_by_band():
    instance = mbvm(2)
    alone = 0.0
    for band in range(4):
        best = np.zeros(7)
        for bidder in range(5):
            units = instance.values(bidder, np.arange(7)[:, None] * np.eye(4, dtype=int)[band])
            best = np.array([max(best[left - n] + units[n] for n in range(left + 1)) for left in range(7)])
        alone += best[-1]
    assert instance.efficient_allocation().welfare == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("domain", ["GSVM", "LSVM", "SRVM", "MRVM"])
def test_bounds_from_prices_are_above_the_optimum_and_payments_within_the_values(domain):
    instance = drawn(domain, 2)
    payments = instance.vcg()
    assert (payments.payments >= 0).all()
    assert (payments.payments <= payments.outcome.values + 1e-9 * payments.outcome.welfare).all()
    assert payments.revenue <= payments.outcome.welfare
    bound = lagrangian_bound(instance, payments.outcome.welfare, steps=20)
    assert bound.bound >= payments.outcome.welfare * (1 - 1e-12)
    demand = sum(instance.demand(bidder, bound.prices)[0].utility for bidder in range(instance.n_bidders))
    assert bound.bound == pytest.approx(demand + bound.prices @ instance.capacities)


@pytest.mark.parametrize("draw", [gsvm, lsvm, srvm, mrvm])
def test_one_bidder_gets_its_best_bundle_and_nobody_nothing(draw):
    instance = draw(1)
    everybody = range(instance.n_bidders)
    for bidder in (0, instance.n_bidders - 1):
        alone = instance.efficient_allocation(without=[other for other in everybody if other != bidder])
        assert alone.welfare == pytest.approx(instance.demand(bidder, np.zeros(instance.n_goods))[0].value, rel=1e-12)
    assert instance.efficient_allocation(without=everybody).welfare == 0.0


def test_the_same_instance_has_the_same_optimum_to_the_last_bit():
    one, other = gsvm(4).efficient_allocation(), gsvm(4).efficient_allocation()
    assert (one.allocation == other.allocation).all()
    assert (one.welfare, one.bound) == (other.welfare, other.bound)


@pytest.mark.parametrize(
    ("instance", "method"),
    [(gsvm(1), "mip"), (lsvm(1), "dp"), (lsvm(1), "mip"), (srvm(1), "dp"), (srvm(1), "mip"), (mrvm(1), "dp"), (mixed(1), "dp")],
    ids=lambda part: part if isinstance(part, str) else part.domain,
)
@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"cancelled": lambda: True}])
def test_a_stopped_search_returns_an_allocation_and_a_bound(instance, method, limit):
    found = instance.efficient_allocation(method, **limit)
    assert found.stopped_by in ("time_limit", "cancelled")
    assert not found.deterministic
    assert found.status == "feasible"
    assert 0.0 <= found.welfare <= found.bound < np.inf
    assert found.bound >= instance.efficient_allocation().welfare * (1 - 1e-9)
    payments = instance.vcg(method, **limit)
    assert not payments.exact
    assert (payments.payments >= 0).all()
    assert (payments.payments <= payments.outcome.values).all()


def test_payments_that_the_clock_had_a_part_in_are_not_deterministic():
    main = srvm(1).efficient_allocation()
    in_time = [main] * 6
    assert payments_of(main, [*in_time, main]).outcome.deterministic
    assert not payments_of(main, [*in_time, replace(main, stopped_by="time_limit")]).outcome.deterministic


def test_a_search_that_its_nodes_end_is_deterministic():
    instance = lsvm(2, rows=3, columns=4, n_regional=3)
    found = [instance.efficient_allocation("mip", node_limit=0) for _ in range(2)]
    assert found[0].bound == found[1].bound
    assert (found[0].allocation == found[1].allocation).all()
    assert found[0].deterministic
    assert found[0].bound >= instance.efficient_allocation("dp").welfare * (1 - 1e-9)


def test_all_connected_sets_of_the_default_grid_become_columns():
    sets, is_complete = connected_sets(neighbour_masks(lsvm(1), 0), MOST_SETS)
    assert (len(sets), is_complete) == (28_992, True)


def test_a_grid_too_large_to_list_is_answered_with_a_bound():
    cells = tuple(range(70))
    bidder = LsvmBidder("national", cells, tuple(float(1 + cell % 5) for cell in cells), 320, 10)
    other = LsvmBidder("national", cells, tuple(float(5 - cell % 5) for cell in cells), 320, 10)
    instance = Lsvm(7, 10, [bidder, other], legacy=False, source=Source())
    found = instance.efficient_allocation(node_limit=1, time_limit=4.0)
    assert found.status == "feasible"
    assert found.stopped_by is not None
    assert found.welfare >= instance.value(0, np.ones(70, dtype=int)) * (1 - 1e-12)
    assert found.welfare <= found.bound
    with pytest.raises(InvalidInput, match="no method 'dp'"):
        instance.efficient_allocation("dp")


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"method": "guess"}, "/method"),
        ({"gap": -1.0}, "/gap"),
        ({"gap": float("nan")}, "/gap"),
        ({"node_limit": -1}, "/node_limit"),
        ({"time_limit": -1.0}, "/time_limit"),
        ({"time_limit": float("nan")}, "/time_limit"),
        ({"without": 7}, "/without"),
        ({"without": [0, "x"]}, "/without"),
    ],
)
def test_what_is_no_search_is_refused(arguments, pointer):
    with pytest.raises(InvalidInput) as fault:
        srvm(1).efficient_allocation(**arguments)
    assert fault.value.pointer == pointer


def test_formulas_have_values_but_no_demand_and_no_allocation():
    instance = cats_regions(1, n_bidders=2, goods=9, valuation="formula")
    expected = (instance.world.common + instance.private[0]).sum() + 9**1.2
    assert instance.value(0, [1] * 9) == pytest.approx(expected)
    for asked in (lambda: instance.demand(0, [0] * 9), instance.efficient_allocation, instance.vcg):
        with pytest.raises(InvalidInput) as fault:
            asked()
        assert fault.value.pointer == "/valuation"


@pytest.mark.parametrize("allocation", [[[0, 0, 0]], [[6, 0, 0]] * 7])
def test_what_is_no_allocation_has_no_efficiency(allocation):
    with pytest.raises(InvalidInput) as fault:
        srvm(1).efficiency(allocation)
    assert fault.value.pointer == "/allocation"


def test_efficiency_is_the_share_of_the_optimum():
    instance = drawn("SRVM", 1)
    best = instance.efficient_allocation()
    assert instance.efficiency(best.allocation) == 1.0
    assert instance.efficiency(np.zeros((7, 3), dtype=int)) == 0.0
