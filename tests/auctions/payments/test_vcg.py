"""VCG payments, against vectors and against trying everything."""

from __future__ import annotations

import numpy as np
import pytest

from auctions.outcome import SearchLimits
from auctions.payments.vcg import vcg_payments
from auctions.winner_determination import assignment
from tests.auctions.vectors import cases
from tests.auctions.xor_instances import Bids, random_bids, welfare_by_trying_all

VECTORS = cases("xor_vcg.json")


def by_trying_all(bids: Bids, capacities: list[int], values: np.ndarray) -> list[float]:
    return [welfare_by_trying_all(bids, capacities, i) - (values.sum() - values[i]) for i in range(len(bids))]


@pytest.mark.parametrize("case", VECTORS)
def test_published_payments_are_found(case: dict) -> None:
    bids = [[(bid["bundle"], bid["value"]) for bid in own] for own in case["bids"]]
    result = vcg_payments(bids, case["capacities"])
    assert result.payments == pytest.approx(np.array(case["payments"]), abs=1e-6)
    assert result.welfare_without == pytest.approx(np.array(case["welfare_without"]), abs=1e-6)
    assert result.revenue == pytest.approx(case["revenue"], abs=1e-6)
    assert result.exact


@pytest.mark.parametrize("seed", range(30))
def test_payments_equal_those_by_trying_all(seed: int) -> None:
    bids = random_bids(seed, [1, 2, 1, 1], 4, 6)
    result = vcg_payments(bids, [1, 2, 1, 1])
    assert result.payments == pytest.approx(by_trying_all(bids, [1, 2, 1, 1], result.wdp.values), abs=1e-8)
    assert (result.error_bound <= 1e-9).all()


@pytest.mark.parametrize("seed", range(60))
def test_payments_of_stopped_searches_are_as_exact_as_they_claim(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        assignment, "repaired", lambda choices, prices: None
    )  # so that the search starts from nothing and is far off
    bids = random_bids(seed, [1] * 6, 4, 8)
    result = vcg_payments(bids, [1] * 6, SearchLimits(node_limit=seed % 12))
    exact = np.array(by_trying_all(bids, [1] * 6, result.wdp.values))
    optimum = welfare_by_trying_all(bids, [1] * 6)
    assert (result.payments >= 0).all()
    assert (result.payments <= result.wdp.values + 1e-12).all()
    assert result.wdp.welfare <= optimum + 1e-9
    winners = result.wdp.allocation.any(axis=1)
    # The exact payment of a winner is a difference of optima: that of all, not only of what was found.
    exact = exact + result.wdp.welfare - optimum
    assert (np.abs(result.payments - exact)[winners] <= result.error_bound[winners] + 1e-9).all()
    if result.exact:
        assert (result.error_bound <= 2e-6 * max(1.0, optimum)).all()


def test_two_bidders_for_one_good_pay_the_second_price() -> None:
    assert vcg_payments([[([1], 7.0)], [([1], 5.0)]], [1]).payments.tolist() == [5.0, 0.0]


def test_disjoint_interests_pay_nothing() -> None:
    assert not vcg_payments([[([1, 0, 0], 7.0)], [([0, 1, 0], 5.0)], [([0, 0, 1], 1.0)]], [1, 1, 1]).payments.any()


def test_a_single_bidder_pays_nothing() -> None:
    result = vcg_payments([[([1, 1], 7.0)]], [1, 1])
    assert (result.payments.tolist(), result.wdp.welfare) == ([0.0], 7.0)


def test_nobody_bidding_pays_nothing() -> None:
    result = vcg_payments([[], []], [1])
    assert (result.revenue, result.exact) == (0.0, True)
