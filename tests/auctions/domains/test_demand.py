"""Demand queries against enumeration, with ties, limits and prices of every kind."""

import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.domains import bvm, cats_regions, gsvm, lsvm, mrvm, read_instance, srvm
from auctions.domains.gsvm_demand import best_subsets, synergy
from auctions.domains.mrvm_bidders import MrvmBidder
from auctions.domains.mrvm_world import Band, MrvmWorld, Region
from auctions.domains.streams import Source
from solvers.operation import InvalidInput

TIE = 1e-12


def enumerated(instance, bidder, prices, k, held):
    """Return the k best of some bundles by the definition of the order."""
    values = instance.values(bidder, held)
    rows = [(value - bundle @ prices, value, bundle) for value, bundle in zip(values, held, strict=True)]
    rows.sort(key=lambda row: -row[0])
    found = []
    while rows and len(found) < k:
        utility, value, _ = rows[0]
        slack = TIE * max(abs(utility), abs(value))
        tied = [row for row in rows if row[0] >= utility - slack]
        tied.sort(key=lambda row: (row[2].sum(), row[2].tolist()))
        found += tied
        rows = rows[len(tied) :]
    return [bundle.tolist() for _, _, bundle in found[:k]]


def assert_demand_is_the_best(instance, bidder, prices, held):
    for k in (1, 4):
        found = instance.demand(bidder, prices, k, allow_negative=True)
        assert [each.bundle.tolist() for each in found] == enumerated(instance, bidder, prices, k, held)


@pytest.mark.parametrize("seed", range(12))
def test_gsvm_demand_is_that_of_enumeration(seed):
    random = np.random.default_rng(seed)
    instance = gsvm(seed, size=3, legacy=seed % 3 == 0, activity_limit=int(random.integers(0, 5)) if seed % 2 else None)
    for bidder in range(instance.n_bidders):
        prices = random.integers(-2, 20, instance.n_goods) * (random.random() < 0.8)
        held = all_bundles(instance.capacities)
        outside = np.setdiff1d(np.arange(instance.n_goods), instance.candidates(bidder))
        held = held[(held[:, outside] == 0).all(axis=1) & (held.sum(axis=1) <= instance.most_items(bidder))]
        assert_demand_is_the_best(instance, bidder, prices, held)


@pytest.mark.parametrize("seed", range(20))
def test_subsets_of_many_licences_come_in_the_same_order_as_from_the_table(seed):
    random = np.random.default_rng(seed)
    worth = random.integers(0, 5, 17).astype(float)
    prices = random.integers(0, 5, 17).astype(float)
    found = best_subsets(worth, prices, 6, 5)
    subsets = all_bundles(np.ones(17, dtype=np.int64))
    counts = subsets.sum(axis=1)
    subsets, counts = subsets[counts <= 6], counts[counts <= 6]
    utilities = (subsets @ worth) * synergy(counts) - subsets @ prices
    order = sorted(range(len(subsets)), key=lambda row: (-round(utilities[row], 9), counts[row], subsets[row].tolist()))
    assert found.tolist() == subsets[order[:5]].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_lsvm_demand_is_that_of_enumeration(seed):
    random = np.random.default_rng(seed)
    instance = lsvm(seed, rows=2, columns=4, legacy=seed % 2 == 0)
    for bidder in range(instance.n_bidders):
        held = all_bundles(instance.capacities)
        outside = np.setdiff1d(np.arange(instance.n_goods), instance.cells(bidder))
        prices = random.integers(-2, 25, instance.n_goods)
        assert_demand_is_the_best(instance, bidder, prices, held[(held[:, outside] == 0).all(axis=1)])


@pytest.mark.parametrize("instance", [srvm(3, quantities=(3, 4, 2)), bvm(3)], ids=["SRVM", "BVM"])
def test_demand_for_bands_is_that_of_enumeration(instance):
    random = np.random.default_rng(0)
    for bidder in range(instance.n_bidders):
        for _ in range(3):
            prices = random.integers(-3, 300, instance.n_goods)
            assert_demand_is_the_best(instance, bidder, prices, all_bundles(instance.capacities))


def small_mrvm(seed):
    """Return an instance of four regions with two bands, small enough to enumerate."""
    random = np.random.default_rng(seed)
    regions = tuple(Region(number, f"r{number}", int(random.integers(50, 200))) for number in range(4))
    world = MrvmWorld(regions, ((0, 1), (1, 2)), (Band("A", 2, 3.0, (1.0, 1.2)), Band("B", 1, 2.0, (1.0,))))
    shapes = [
        {"regions_of_interest": (0, 2)},
        {"home": 1, "distance_discounts": (1.0, 0.4)},
        {"gamma": (0.9, 0.6)},
        {"gamma": (0.8,)},
    ]
    bidders = []
    for kind, shape in zip(("local", "regional", "national", "national"), shapes, strict=True):
        beta = random.uniform(0.05, 0.2, 4)
        customers = beta * world.populations
        low, high = 0.01 * world.full_capacity / customers, (beta + 0.3) * world.full_capacity / customers
        bidders.append(MrvmBidder(kind, float(random.uniform(1, 3)), tuple(beta), tuple(low), tuple(high), **shape))
    from auctions.domains import Mrvm

    return Mrvm(world, bidders, paired_caps=bool(seed % 2), source=Source())


@pytest.mark.parametrize("seed", range(6))
def test_mrvm_demand_is_that_of_enumeration(seed):
    instance = small_mrvm(seed)
    random = np.random.default_rng(seed)
    bundles = all_bundles(instance.capacities)
    regions = np.arange(4)
    for bidder in range(instance.n_bidders):
        held = bundles[(instance.admissible(bidder)[regions, instance.configurations(bundles)] > -np.inf).all(axis=1)]
        prices = random.integers(-1, 12, instance.n_goods)
        assert_demand_is_the_best(instance, bidder, prices, held)


def test_bids_demand_the_best_of_themselves():
    instance = cats_regions(2, n_bidders=4, goods=16)
    prices = np.full(16, 20.0)
    for bidder in range(4):
        bundles = np.zeros((len(instance.bids[bidder]) + 1, 16), dtype=int)
        for row, (items, _) in enumerate(instance.bids[bidder]):
            bundles[row, list(items)] = 1
        utilities = instance.values(bidder, bundles) - bundles @ prices
        assert instance.demand(bidder, prices)[0].utility == pytest.approx(utilities.max())


def random_additive(seed):
    """Return an instance with one bidder of additive values, with many ties."""
    random = np.random.default_rng(seed)
    capacities = random.integers(1, 3, 5)
    bidder = {
        "kind": "additive",
        "values": [random.integers(0, 4, capacity).tolist() for capacity in capacities],
        "synergies": [
            {"bundle": random.integers(0, capacities + 1).tolist(), "bonus": int(random.integers(0, 4))} for _ in range(3)
        ],
        "limits": {"max_items": 4} if seed % 2 else None,
    }
    return read_instance({"schema": "valuations/1", "capacities": capacities.tolist(), "bidders": [bidder]})


@pytest.mark.parametrize("seed", range(6))
def test_additive_demand_by_an_integer_program_is_that_of_the_table(seed, monkeypatch):
    instance = random_additive(seed)
    prices = np.random.default_rng(seed).integers(0, 4, 5)
    bundles = all_bundles(instance.capacities)
    assert_demand_is_the_best(instance, 0, prices, bundles[instance.limits(0).admits(bundles)])
    from_table = instance.demand(0, prices, 4, allow_negative=True)
    monkeypatch.setattr("auctions.domains.additive_valuation.LARGEST_TABLE", 0)
    from_program = instance.demand(0, prices, 4, allow_negative=True)
    assert [each.bundle.tolist() for each in from_program] == [each.bundle.tolist() for each in from_table]


@pytest.mark.parametrize("instance", [gsvm(1), lsvm(1), srvm(1), mrvm(1)], ids=lambda instance: instance.domain)
def test_prices_above_all_values_leave_nothing_to_want(instance):
    for bidder in range(instance.n_bidders):
        prices = np.full(instance.n_goods, instance.value(bidder, instance.capacities) + 1.0)
        (only,) = instance.demand(bidder, prices, k=5)
        assert (only.bundle.sum(), only.utility) == (0, 0.0)


def test_k_beyond_all_bundles_returns_all_of_them():
    assert len(srvm(1, quantities=(1, 1, 1)).demand(0, [0, 0, 0], k=100, allow_negative=True)) == 8
    # Six licences of interest, at most four of them.
    assert len(gsvm(1).demand(0, np.zeros(18), k=10_000, allow_negative=True)) == 1 + 6 + 15 + 20 + 15
    assert len(gsvm(1, activity_limit=0).demand(0, np.zeros(18), k=3)) == 1


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"bidder": 7}, "/bidder"),
        ({"bidder": -1}, "/bidder"),
        ({"bidder": "0"}, "/bidder"),
        ({"bidder": True}, "/bidder"),
        ({"prices": [1, 2]}, "/prices"),
        ({"prices": [1, "a", 3]}, "/prices"),
        ({"prices": [1, float("nan"), 3]}, "/prices/1"),
        ({"prices": [1, 2, float("inf")]}, "/prices/2"),
        ({"prices": [1, -2, 3], "require_nonnegative": True}, "/prices/1"),
        ({"k": 0}, "/k"),
        ({"k": 1.5}, "/k"),
    ],
)
def test_what_is_no_demand_query_is_refused(arguments, pointer):
    with pytest.raises(InvalidInput) as fault:
        srvm(1).demand(**({"bidder": 0, "prices": [0, 0, 0]} | arguments))
    assert fault.value.pointer == pointer


@pytest.mark.parametrize(
    ("bundles", "pointer"),
    [
        ([[1, 2]], "/bundles/0"),
        ([[0, 0, 0], [0, 1, 1, 1]], "/bundles/1"),
        ([[0, 0.5, 0]], "/bundles/0/1"),
        ([[0, -1, 0]], "/bundles/0/1"),
        ([[7, 0, 0]], "/bundles/0/0"),
        ([[float("nan"), 0, 0]], "/bundles/0/0"),
        ([[True, 0, 0]], "/bundles/0/0"),
        ([["1", 0, 0]], "/bundles/0/0"),
        ([{"D": 1}], "/bundles/0/D"),
        ([{"A": 10**30}], "/bundles/0/A"),
        ([[10**400, 0, 0]], "/bundles/0/0"),
        (["12"], "/bundles/0"),
        (["12x"], "/bundles/0"),
        ("123", "/bundles"),
        (7, "/bundles"),
        ([3], "/bundles/0"),
        (np.full((2, 3), 99), "/bundles/0/0"),
    ],
)
def test_what_is_no_bundle_is_refused(bundles, pointer):
    with pytest.raises(InvalidInput) as fault:
        srvm(1).values(0, bundles)
    assert fault.value.pointer == pointer


def test_no_bundles_have_no_values():
    assert srvm(1).values(0, []).shape == (0,)
    assert srvm(1).value_matrix([]).shape == (7, 0)
