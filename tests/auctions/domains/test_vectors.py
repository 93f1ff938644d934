"""Instances, values, demand and optima of the four SATS domains against the published numbers."""

import numpy as np
import pytest

from auctions.domains import gsvm, lsvm
from tests.auctions.domains.vectors import DRAW, drawn, vectors

DOMAINS = pytest.mark.parametrize("domain", DRAW)


@DOMAINS
def test_full_bundles_of_a_hundred_seeds_are_worth_what_java_says(domain):
    published = vectors("full_bundle_values")["values"][domain]
    for seed, values in enumerate(published, start=1):
        instance = DRAW[domain](seed)
        everything = instance.capacities[None]
        # Tables of all sets would take longer than the hundred values.
        assert instance.value_matrix(everything)[:, 0] == pytest.approx(values, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["gsvm_seed1", "gsvm_seed2", "lsvm_seed1", "lsvm_seed2", "srvm_seed1", "srvm_seed2", "mrvm_seed1", "mrvm_seed2"]
)
def test_parameters_and_values_are_those_of_java(name):
    published = vectors(f"instances/{name}")
    instance = drawn(published["domain"], published["source"]["seed"])

    assert same(instance.to_dict()["bidders"], published["bidders"])
    assert instance.value_matrix(published["bundles"]) == pytest.approx(np.array(published["values"]), rel=1e-9)


@pytest.mark.parametrize(("name", "draw"), [("gsvm_legacy_seed1", gsvm), ("lsvm_legacy_seed1", lsvm)])
def test_legacy_parameters_and_values_are_those_of_java(name, draw):
    published = vectors(f"instances/{name}")
    instance = draw(1, legacy=True)

    assert same(instance.to_dict()["bidders"], published["bidders"])
    assert instance.value_matrix(published["bundles"]) == pytest.approx(np.array(published["values"]), rel=1e-9)


@DOMAINS
def test_demand_is_the_published_one(domain):
    for query in vectors("demand_queries")[domain]:
        instance = drawn(domain, query["seed"])
        prices = np.ravel(query["prices"])
        best = instance.demand(query["bidder"], prices, k=3, allow_negative=True)
        tolerance = {"rel": 1e-9} if domain == "MRVM" else {"abs": 1e-7}
        assert best[0].utility == pytest.approx(query["utility"], **tolerance)
        if "top3" in query:
            assert [each.utility for each in best] == pytest.approx(query["top3"], **tolerance)
            if query["top3"][0] - query["top3"][1] > 1e-6:
                assert best[0].bundle.tolist() == bundle_of(query["bundle"], instance)


@DOMAINS
@pytest.mark.parametrize("case", [0, 1, 4])
def test_efficient_allocations_are_worth_the_published_optimum(domain, case):
    published = vectors("efficient_allocations")[domain][case]
    instance = drawn(domain, published["seed"])

    found = instance.efficient_allocation()

    assert found.welfare == pytest.approx(published["welfare"], rel=1e-9)
    assert found.status == "optimal"
    assert (found.allocation.sum(axis=0) <= instance.capacities).all()
    bundles = [bundle_of(bundle, instance) for bundle in published["allocation"]]
    assert instance.allocation_values(bundles).tolist() == pytest.approx(published["values"], rel=1e-9)


@pytest.mark.long
@DOMAINS
def test_all_published_optima_are_found(domain):
    for published in vectors("efficient_allocations")[domain]:
        assert DRAW[domain](published["seed"]).efficient_allocation().welfare == pytest.approx(published["welfare"], rel=1e-9)


@pytest.mark.long
def test_legacy_optima_are_found():
    published = vectors("efficient_allocations")
    for case in published["GSVM_LEGACY"]:
        assert gsvm(case["seed"], legacy=True).efficient_allocation().welfare == pytest.approx(case["welfare"], rel=1e-9)
    for case in published["LSVM_LEGACY"]:
        assert lsvm(case["seed"], legacy=True).efficient_allocation().welfare == pytest.approx(case["welfare"], rel=1e-9)
    for case in published["LSVM_LEGACY_PUBLISHED"]:
        instance = lsvm(case["world_seed"], legacy=True, seed_convention="split", population_seed=case["population_seed"])
        assert instance.efficient_allocation().welfare == pytest.approx(case["welfare"], rel=1e-9)


@DOMAINS
@pytest.mark.parametrize("seed", [1, 2])
def test_vcg_payments_are_the_published_ones(domain, seed):
    published = vectors("efficient_allocations")[domain][seed - 1]

    found = drawn(domain, seed).vcg()

    assert found.payments == pytest.approx(published["vcg_payments"], abs=1e-6 * published["welfare"])
    assert found.exact


def test_split_seeds_give_the_world_and_the_population_streams_of_their_own():
    whole = lsvm(1498246131808, seed_convention="split", population_seed=1498246131808)
    neighbour = lsvm(1498246131808, seed_convention="split")
    assert neighbour.to_dict()["bidders"] == lsvm(0, seed_convention="split", population_seed=1498246131809).to_dict()["bidders"]
    assert neighbour.to_dict()["bidders"] != whole.to_dict()["bidders"]


def bundle_of(stored, instance):
    """Return a stored bundle, items or quantities, as quantities."""
    if instance.domain in ("GSVM", "LSVM"):
        return np.isin(np.arange(instance.n_goods), stored).astype(int).tolist()
    return np.ravel(stored).astype(int).tolist()


def same(found, published):
    """Tell whether everything published is found, numbers to 1e-12."""
    if isinstance(published, dict):
        return all(name == "favorite" or same(found[name], value) for name, value in published.items())
    if isinstance(published, list):
        return len(found) == len(published) and all(map(same, found, published))
    if isinstance(published, float):
        return found == pytest.approx(published, rel=1e-12)
    return found == published
