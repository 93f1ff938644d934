"""Winner determination over networks: exchange search and integer program against tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctions.bundles import Bundles, Limits, all_bundles
from auctions.networks.mvnn import MVNN
from auctions.outcome import SearchLimits
from auctions.winner_determination.choose import solve_wdp
from auctions.winner_determination.exchange import Moves
from solvers.operation import InvalidInput
from tests.auctions.networks_by_hand import random_network
from tests.auctions.vectors import cases

VECTORS = cases("wdp_mvnn.json")


def networks_of(case: dict[str, Any]) -> list[MVNN]:
    return [MVNN.from_dict(network, scale) for network, scale in zip(case["nets"], case["scales"], strict=True)]


def random_networks(seed: int, capacities: list[int], n_bidders: int, limits: Limits | None = None) -> list[MVNN]:
    rng = np.random.default_rng(seed)
    made = []
    for bidder in range(n_bidders):
        network = random_network(rng, capacities, (8, 6)[: 1 + bidder % 2], skip=bidder % 3 == 0)
        document = {
            "m": len(capacities),
            "capacities": capacities,
            "layers": [{name: array.tolist() for name, array in layer.items()} for layer in network["layers"]],
            "output_weight": network["output_weight"].tolist(),
            "skip_weight": None if network["skip_weight"] is None else network["skip_weight"].tolist(),
        }
        made.append(MVNN.from_dict(document, 50.0 + 10 * bidder, limits or Limits()))
    return made


@pytest.mark.parametrize("case", VECTORS)
def test_the_integer_program_finds_published_optima(case: dict[str, Any]) -> None:
    result = solve_wdp(networks_of(case), case["capacities"], method="milp")
    assert result.welfare == pytest.approx(case["welfare"], abs=1e-6)
    assert result.allocation.tolist() == case["allocation"]
    assert result.status == "optimal"


@pytest.mark.parametrize("case", VECTORS)
def test_the_integer_program_finds_published_optima_with_forbidden_bundles(case: dict[str, Any]) -> None:
    for restricted in case["restricted"]:
        forbidden = {restricted["bidder"]: restricted["forbidden"]}
        result = solve_wdp(networks_of(case), case["capacities"], forbidden=forbidden, method="milp")
        assert result.welfare == pytest.approx(restricted["welfare"], abs=1e-6)
        assert result.allocation[restricted["bidder"]].tolist() == restricted["bundle"]


@pytest.mark.parametrize("case", VECTORS)
def test_the_integer_program_finds_published_optima_without_a_bidder(case: dict[str, Any]) -> None:
    for marginal in case["marginal"]:
        result = solve_wdp(networks_of(case), case["capacities"], exclude=[marginal["excluded_bidder"]], method="milp")
        assert result.welfare == pytest.approx(marginal["welfare"], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("capacities", "limits"), [([1] * 8, None), ([2, 3, 1, 2], None), ([2, 2, 2], Limits(max_items=3, caps=(2, 1, 2)))]
)
def test_exchange_stays_below_what_tables_and_the_program_agree_on(
    seed: int, capacities: list[int], limits: Limits | None
) -> None:
    networks = random_networks(seed, capacities, 3, limits)
    exchanged, programmed, listed = (solve_wdp(networks, capacities, method=method) for method in ("exchange", "milp", "tables"))
    assert programmed.welfare == pytest.approx(listed.welfare, rel=1e-6)
    assert exchanged.welfare <= listed.welfare * (1 + 1e-9)
    assert exchanged.welfare >= 0.98 * listed.welfare
    assert exchanged.bound >= listed.welfare * (1 - 1e-6)
    assert (exchanged.allocation.sum(axis=0) <= capacities).all()
    if limits is not None:
        assert limits.admits(exchanged.allocation).all()


@pytest.mark.parametrize("seed", range(6))
def test_exchange_gives_nobody_what_is_forbidden(seed: int) -> None:
    capacities = [2, 1, 3]
    networks = random_networks(seed, capacities, 3)
    free = solve_wdp(networks, capacities, method="exchange")
    forbidden = {bidder: np.stack([free.allocation[bidder], np.zeros(3, dtype=int)]) for bidder in range(2)}
    result = solve_wdp(networks, capacities, forbidden=forbidden, method="exchange", warm_start=free.allocation)
    listed = solve_wdp(networks, capacities, forbidden=forbidden, method="tables")
    for bidder, bundles in forbidden.items():
        assert not (bundles == result.allocation[bidder]).all(axis=1).any()
    assert 0.95 * listed.welfare <= result.welfare <= listed.welfare * (1 + 1e-9)


@pytest.mark.parametrize("limits", [Limits(), Limits(max_items=3)])
def test_moves_are_worth_what_the_network_says(limits: Limits) -> None:
    capacities = np.array([2, 1, 3])
    (network,) = random_networks(3, capacities.tolist(), 1, limits)
    goods, units = np.repeat(np.arange(3), capacities), np.concatenate([np.arange(1, c + 1) for c in capacities])
    forbidden: Bundles = np.array([[1, 1, 1], [2, 1, 0]])
    moves = Moves(network, forbidden, goods, units, 1000.0)

    def worth(bundle: Bundles) -> float:
        return float(network.predict(bundle[None])[0]) - 1000.0 * moves.is_forbidden(bundle)

    for bundle in all_bundles(capacities):
        value, gains, losses = moves.of(bundle)
        assert value == pytest.approx(worth(bundle), abs=1e-9)
        for move, (good, amount) in enumerate(zip(goods, units, strict=True)):
            step = np.where(np.arange(3) == good, amount, 0)
            more, fewer = bundle + step, bundle - step
            can_grow = (more <= capacities).all() and limits.admits(more[None])[0]
            assert gains[move] == pytest.approx(worth(more) - value, abs=1e-9) if can_grow else gains[move] == -np.inf
            assert losses[move] == pytest.approx(value - worth(fewer), abs=1e-9) if (fewer >= 0).all() else losses[move] == np.inf


def test_many_goods_are_left_to_the_exchange_search() -> None:
    capacities = [2] * 20
    networks = random_networks(1, capacities, 4)
    first, second = (solve_wdp(networks, capacities, SearchLimits(iteration_limit=4)) for _ in range(2))
    assert first.method == "exchange"
    assert first.deterministic
    assert first.welfare == second.welfare
    assert first.bound >= first.welfare > 0


def test_a_search_without_time_still_has_an_allocation() -> None:
    networks = random_networks(2, [2] * 20, 3)
    result = solve_wdp(networks, [2] * 20, SearchLimits(time_limit=0.0), method="milp")
    assert (result.stopped_by, result.status, result.deterministic) == ("time_limit", "feasible", False)
    assert result.welfare > 0


def test_excluding_everybody_leaves_everything_unsold() -> None:
    result = solve_wdp(random_networks(1, [1, 1], 2), [1, 1], exclude=[0, 1], method="milp")
    assert (result.welfare, result.bound, result.status) == (0.0, 0.0, "optimal")


def test_the_program_needs_networks() -> None:
    with pytest.raises(InvalidInput):
        solve_wdp([[0.0, 1.0]], [1], method="milp")
