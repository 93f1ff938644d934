"""Figures over many seeds: the tables that experiments start from, and the distribution of values."""

import numpy as np
import pytest

from auctions.domains import gsvm, lsvm, mrvm, srvm
from tests.auctions.domains.vectors import DRAW, vectors

DOMAINS = pytest.mark.parametrize("domain", DRAW)
SEEDS = range(1, 101)


@DOMAINS
def test_best_values_at_zero_prices_have_the_published_means(domain):
    published = vectors("mlhca_tables")["mean_best_value_at_zero_prices_seeds_1_100"][domain]
    best = []
    for seed in SEEDS:
        instance = DRAW[domain](seed)
        nothing = np.zeros(instance.n_goods)
        best.append([instance.demand(bidder, nothing)[0].value for bidder in range(instance.n_bidders)])
    assert np.mean(best, axis=0) == pytest.approx(published, rel=1e-10)


@pytest.mark.long
@DOMAINS
def test_single_units_have_the_published_means(domain):
    published = np.ravel(vectors("mlhca_tables")["average_item_values_seeds_201_1200"][domain])
    total = np.zeros(len(published))
    for seed in range(201, 1201):
        instance = DRAW[domain](seed)
        total += instance.value_matrix(np.eye(instance.n_goods, dtype=int)).mean(axis=0)
    assert total / 1000 == pytest.approx(published, rel=1e-10)


def units(domain, instance, bidder):
    """Go through the single units of a bidder's interest: what the summary calls them, and the good."""
    for good in instance.goods_of_interest(bidder):
        if domain == "GSVM":
            third = instance.size // 3
            high = "national_high" if 2 * third <= good < 4 * third else "national_low"
            yield "regional" if good >= 2 * instance.size else high, good
        elif domain == "MRVM":
            yield instance.world.bands[good % 3].name, good
        else:
            yield None if domain == "LSVM" else instance.good_names[good], good


@DOMAINS
def test_values_are_distributed_as_published(domain):
    found = {}
    for seed in SEEDS:
        instance = DRAW[domain](seed)
        bundles = np.concatenate([instance.capacities[None], np.eye(instance.n_goods, dtype=int)])
        for bidder, kind in enumerate(instance.bidder_types):
            values = instance.values(bidder, bundles)
            found.setdefault(f"{kind}/full_bundle", []).append(values[0])
            for name, good in units(domain, instance, bidder):
                found.setdefault(f"{kind}/single" + (f"/{name}" if name else ""), []).append(values[1 + good])
            if domain == "LSVM" and kind == "regional":
                found.setdefault("regional/number_of_items", []).append(len(instance.goods_of_interest(bidder)))
    for name, figures in vectors("distribution_summary")["summary"][domain].items():
        if figures["mean"] == 0.0:
            # Bands without interest.
            continue
        values = np.array(found[name], dtype=float)
        assert len(values) == figures["n"], name
        assert values.mean() == pytest.approx(figures["mean"], rel=1e-10)
        assert values.std(ddof=1) == pytest.approx(figures["std"], rel=1e-9)
        for quantile in ("q05", "q25", "q50", "q75", "q95"):
            assert np.quantile(values, int(quantile[1:]) / 100) == pytest.approx(figures[quantile], rel=1e-9)


@pytest.mark.parametrize(
    ("instance", "values"),
    [
        (
            gsvm(10),
            [
                63.956524457507044,
                159.36257137727895,
                7.151543249868508,
                142.94765881000774,
                0,
                91.18130341220245,
                9.00418233442389,
            ],
        ),
        (lsvm(2), [10.899624216435544, 14.863588882700238, 197.91229024726067, 0, 16.870979861919466, 209.7691468662042]),
    ],
    ids=["GSVM", "LSVM"],
)
def test_optima_are_those_of_the_tests_of_pysats(instance, values):
    assert instance.efficient_allocation().values == pytest.approx(values, rel=1e-9, abs=1e-9)


def test_the_optimum_of_mrvm_is_that_of_the_tests_of_pysats():
    values = [0, 0, 0, 0, 132125599.55, 122474729.64, 12317777.67, 1823597077.50, 4760334228.38, 2438399732.69]
    assert mrvm(10).efficient_allocation().values == pytest.approx(values, abs=0.01)
    assert srvm(10).efficient_allocation().welfare == pytest.approx(4518.497659, abs=1e-6)
