"""The constrained price search against its written traces."""

from typing import Any

import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.mechanism.parameters import PriceSearchParameters
from auctions.mechanism.price_search import Visit, distant_prices, relative_distance, search_prices
from tests.auctions.vectors import cases


def net_values(net: dict[str, Any], bundles: np.ndarray) -> np.ndarray:
    units = bundles / np.array(net["capacities"])
    for layer in net["layers"]:
        units = np.clip(units @ np.array(layer["weight"]).T + layer["bias"], 0, np.array(layer["cutoff"]))
    values = units @ np.array(net["output_weight"])
    return values if net["skip_weight"] is None else values + bundles @ np.array(net["skip_weight"])


def oracle_of(case: dict[str, Any]):
    bundles = all_bundles(case["capacities"])
    tables = [scale * net_values(net, bundles) for net, scale in zip(case["nets"], case["scales"], strict=True)]

    def demand(prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        utilities = [table - bundles @ prices for table in tables]
        best = [int(np.argmax(utility)) for utility in utilities]
        return bundles[best], np.array([utility[index] for utility, index in zip(utilities, best, strict=True)])

    return demand


def parameters_of(case: dict[str, Any]) -> PriceSearchParameters:
    given = case["params"]
    return PriceSearchParameters(
        step=given["lr"],
        step_decay=given["lr_decay"],
        feasibility_multiplier=given["feasibility_multiplier"],
        feasibility_growth=given["feasibility_multiplier_increase"],
        max_idle_steps=given["max_steps_without_improvement"],
        filter_feasible=given["filter_feasible"],
    )


@pytest.mark.parametrize("case", cases("price_search.json"))
def test_the_search_takes_the_written_steps(case: dict[str, Any]) -> None:
    visits: list[Visit] = []
    result = search_prices(
        oracle_of(case),
        np.array(case["capacities"]),
        np.array(case["start_prices"]),
        parameters=parameters_of(case),
        max_steps=case["params"]["max_steps"],
        on_visit=visits.append,
    )
    for visit, expected in zip(visits, case["first_steps"], strict=False):
        assert visit.prices == pytest.approx(expected["prices"], abs=1e-8)
        assert (visit.over_demand + case["capacities"]).tolist() == expected["demand"]
        assert visit.potential == pytest.approx(expected["W"], abs=1e-8)
        assert visit.clearing_error == expected["clearing_error"]
        assert visit.is_feasible == expected["feasible"]
    assert (result.n_steps, result.best.step, result.reason) == (
        case["n_steps"],
        case["result"]["step"],
        case["result"]["reason"],
    )
    assert result.best.prices == pytest.approx(case["result"]["prices"], abs=1e-8)
    assert result.best.potential == pytest.approx(case["result"]["W"], abs=1e-8)


@pytest.mark.parametrize("method", ["multiplicative", "dual"])
@pytest.mark.parametrize("case", cases("price_search.json"))
def test_no_potential_is_below_the_optimal_welfare(case: dict[str, Any], method: str) -> None:
    visits: list[Visit] = []
    search_prices(
        oracle_of(case),
        np.array(case["capacities"]),
        np.array(case["start_prices"]),
        parameters=PriceSearchParameters(method=method),
        on_visit=visits.append,
    )
    assert min(visit.potential for visit in visits) >= case["optimal_predicted_welfare"] - 1e-8


@pytest.mark.parametrize("case", cases("price_search.json"))
def test_the_dual_search_comes_no_less_close_to_the_least_potential(case: dict[str, Any]) -> None:
    least = {
        method: search_prices(
            oracle_of(case),
            np.array(case["capacities"]),
            np.array(case["start_prices"]),
            parameters=PriceSearchParameters(method=method, filter_feasible=False),
        ).best.potential
        for method in ("multiplicative", "dual")
    }
    assert least["dual"] <= least["multiplicative"] * 1.001


def test_distant_prices_keep_their_distance() -> None:
    rng = np.random.default_rng(0)
    earlier = [np.array([1.0, 2.0]), np.array([1.02, 2.0]), np.array([0.0, 1.9])]
    moved = distant_prices(np.array([1.01, 2.0]), earlier, 0.05, rng)
    assert min(relative_distance(moved, other) for other in earlier) >= 0.05


def test_zero_prices_that_cannot_be_moved_do_not_hang_the_search_for_distance() -> None:
    zero = np.zeros(2)
    moved = distant_prices(zero, [zero], 0.05, np.random.default_rng(0))
    assert not np.array_equal(moved, zero)
