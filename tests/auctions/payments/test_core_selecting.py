"""Core payments, against vectors and against all coalitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from auctions.outcome import SearchLimits
from auctions.payments.core_selecting import core_payments
from tests.auctions.vectors import cases
from tests.auctions.xor_instances import Bids, coalitions, random_bids, welfare_by_trying_all

VECTORS = cases("core_payments.json")


@pytest.mark.parametrize("case", VECTORS)
def test_published_payments_are_found(case: dict) -> None:
    bids = [[(bid["bundle"], bid["value"]) for bid in own] for own in case["bids"]]
    result = core_payments(bids, case["capacities"])
    assert result.payments == pytest.approx(np.array(case["core_payments"]), abs=1e-6)
    assert result.vcg_payments == pytest.approx(np.array(case["vcg_payments"]), abs=1e-6)
    assert result.revenue == pytest.approx(case["core_revenue"], abs=1e-6)
    assert result.exact
    assert result.blocking_gap == 0.0


def all_rows(bids: Bids, capacities: list[int], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row per coalition: who of the bidders is outside, and what they must pay together."""
    rows, offsets = [], []
    for coalition in coalitions(len(bids)):
        inside = np.isin(np.arange(len(bids)), coalition)
        worth = welfare_by_trying_all([own if i in coalition else [] for i, own in enumerate(bids)], capacities)
        rows.append(~inside * (values > 0))
        offsets.append(worth - values[inside].sum())
    return np.array(rows, dtype=float), np.array(offsets)


@pytest.mark.parametrize("seed", range(30))
def test_payments_are_the_nearest_to_vcg_in_the_whole_core(seed: int) -> None:
    capacities = [1] * 5 if seed % 2 else [2, 1, 2]
    bids = random_bids(seed, capacities, 5, 4)
    result = core_payments(bids, capacities)
    values = result.wdp.values
    rows, offsets = all_rows(bids, capacities, values)
    assert (rows @ result.payments >= offsets - 1e-7).all(), "a coalition blocks"
    assert (result.payments <= values + 1e-9).all()
    assert (result.payments >= result.vcg_payments - 1e-9).all()

    least = linprog(np.ones(len(bids)), A_ub=-rows, b_ub=-offsets, bounds=list(zip(np.zeros(len(bids)), values, strict=True)))
    assert result.revenue == pytest.approx(least.fun, abs=1e-6)

    # The gradient of the distance is a combination of the active rows' normals, with weights of the right sign.
    active = np.vstack(
        (
            rows[rows @ result.payments <= offsets + 1e-7],
            np.eye(len(bids))[result.payments <= 1e-7],
            -np.eye(len(bids))[result.payments >= values - 1e-7],
            np.ones(len(bids)),
            -np.ones(len(bids)),
        )
    )
    _, distance = nnls(active.T, result.payments - result.vcg_payments)
    assert distance <= 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_stopped_searches_give_payments_with_what_may_still_be_gained(seed: int) -> None:
    bids = random_bids(seed, [1] * 10, 6, 15)
    result = core_payments(bids, [1] * 10, SearchLimits(node_limit=seed))
    assert (result.payments >= 0).all()
    assert (result.payments <= result.wdp.values + 1e-9).all()
    assert result.blocking_gap >= 0
    if result.exact:
        assert result.blocking_gap == 0


def test_two_local_bidders_share_what_the_global_one_offers() -> None:
    result = core_payments([[([1, 0], 6.0)], [([0, 1], 6.0)], [([1, 1], 8.0)]], [1, 1])
    assert result.vcg_payments.tolist() == [2.0, 2.0, 0.0]
    assert result.payments == pytest.approx(np.array([4.0, 4.0, 0.0]), abs=1e-9)


def test_nobody_bidding_pays_nothing() -> None:
    assert core_payments([[], []], [1]).revenue == 0.0
