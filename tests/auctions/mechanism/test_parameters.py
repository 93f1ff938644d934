"""Parameters, presets and what is refused."""

import json
import math

import pytest

from auctions.bundles import Limits
from auctions.mechanism.config import AuctionConfig, BidderConfig
from auctions.mechanism.network_settings import network_settings
from auctions.mechanism.parameters import PRESETS
from auctions.mechanism.rules import configure
from solvers.operation import InvalidInput


def a_configuration(**changes):
    arguments = {"mechanism": "mlhca", "capacities": [1, 2], "n_bidders": 2, "start_prices": [1.0, 2.0]} | changes
    return configure(**arguments)


def test_the_presets_differ_in_all_they_list() -> None:
    assert PRESETS["reference"].keys() == PRESETS["default"].keys()
    assert all(PRESETS["reference"][name] != PRESETS["default"][name] for name in PRESETS["reference"])


def test_a_single_parameter_overrides_the_preset() -> None:
    parameters = a_configuration(parameters={"preset": "reference", "refresh": "epoch"}).parameters
    assert (parameters.refresh, parameters.stop_on_clear, parameters.epoch_factor) == ("epoch", False, 1.0)


def test_a_configuration_survives_json() -> None:
    config = a_configuration(
        n_bidders=None,
        bidders=[BidderConfig("a", "Regional", Limits(2, (True, False), (1, 1))), BidderConfig("b")],
        parameters={"preset": "reference", "price_search": {"method": "dual"}},
        seed=2**62,
    )
    assert AuctionConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"mechanism": "vickrey"}, "/mechanism"),
        ({"capacities": []}, "/capacities"),
        ({"capacities": [1, 0]}, "/capacities/1"),
        ({"capacities": [1, 1.5]}, "/capacities/1"),
        ({"capacities": [1, True]}, "/capacities/1"),
        ({"capacities": [1, 1001]}, "/capacities/1"),
        ({"capacities": [1] * 501}, "/capacities"),
        ({"n_bidders": 0}, "/bidders"),
        ({"bidders": [BidderConfig("a"), BidderConfig("a")]}, "/bidders/1/id"),
        ({"bidders": [BidderConfig("a", limits=Limits(caps=(1,)))]}, "/bidders/0/limits/caps"),
        ({"bidders": [BidderConfig("a", limits=Limits(max_items=-1))]}, "/bidders/0/limits"),
        ({"start_prices": [1.0]}, "/start_prices"),
        ({"start_prices": [1.0, math.nan]}, "/start_prices/1"),
        ({"start_prices": [1.0, -2.0]}, "/start_prices/1"),
        ({"start_prices": None}, "/parameters/start_prices"),
        ({"seed": -1}, "/seed"),
        ({"seed": 1.5}, "/seed"),
        ({"query_budget": -1}, "/query_budget"),
        ({"parameters": {"preset": "best"}}, "/parameters/preset"),
        ({"parameters": {"increment": 0}}, "/parameters/increment"),
        ({"parameters": {"increment": math.inf}}, "/parameters/increment"),
        ({"parameters": {"start_prices": [1.0, math.nan]}}, "/parameters/start_prices/1"),
        ({"parameters": {"price_search": {"step": 0}}}, "/parameters/price_search/step"),
        ({"parameters": {"price_search": {"start_noise": [1.1, 0.9]}}}, "/parameters/price_search/start_noise"),
        ({"parameters": {"price_search": {"start_noise": [-1, 1]}}}, "/parameters/price_search/start_noise/0"),
        ({"parameters": {"hyperparameters": {"bids": {"epochs": 3}}}}, "/parameters/hyperparameters/bids"),
        ({"parameters": {"colour": "red"}}, "/parameters/colour"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(changes, pointer) -> None:
    with pytest.raises(InvalidInput) as fault:
        a_configuration(**changes)
    assert fault.value.pointer == pointer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", "fast"),
        ("init_E", None),
        ("epochs", True),
        ("hidden_layer_sizes", "30"),
        ("hidden_layer_sizes", [100_000]),
        ("skip_connection", 1),
        ("loss", 2),
        ("cutoff_range", [0]),
        ("depth", 3),
    ],
)
def test_a_setting_that_no_network_can_have_is_refused_with_its_place(name, value) -> None:
    config = a_configuration(parameters={"hyperparameters": {"value": {name: value}}})
    with pytest.raises(InvalidInput) as fault:
        network_settings(config, None, "ml_vq")
    assert fault.value.pointer == f"/parameters/hyperparameters/value/{name}"


@pytest.mark.parametrize(
    ("mechanism", "domain", "n_rounds", "expected"),
    [
        ("cca", "gsvm", 100, 0.05),
        ("cca", "mrvm", 50, 0.1025),
        ("mlhca", "lsvm", 20, 0.15),
        ("mlhca", "mrvm", 20, 0.22),
        ("ml_cca", "mrvm", 50, 0.08),
    ],
)
def test_published_increments_are_taken(mechanism, domain, n_rounds, expected) -> None:
    from auctions.mechanism.domain_tables import increment

    assert increment(mechanism, n_rounds, domain) == expected


@pytest.mark.parametrize(("n_rounds", "increment"), [(20, 0.15), (50, 0.0575)])
def test_increments_reach_the_same_prices_in_any_number_of_rounds(n_rounds, increment) -> None:
    from auctions.mechanism.domain_tables import GROWTH_BEFORE_ML

    assert (1 + GROWTH_BEFORE_ML ** (1 / n_rounds) - 1) ** n_rounds == pytest.approx(16.4)
    assert GROWTH_BEFORE_ML ** (1 / n_rounds) - 1 == pytest.approx(increment, rel=0.01)
