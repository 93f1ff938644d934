"""The time estimate: it is there at once, and grows with what is asked."""

import pytest

from auctions.domains import srvm
from auctions.mechanism.budget import MECHANISMS
from auctions.mechanism.estimate import Estimate, estimate
from auctions.mechanism.simulation import configuration_of


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_estimate_has_parts_for_what_the_mechanism_does(mechanism: str) -> None:
    parts = estimate(configuration_of(srvm(1), mechanism)).parts
    assert parts["wdp"] > 0
    assert (parts["training"] > 0) == (mechanism != "cca")
    assert (parts["search"] > 0) == (mechanism in ("ml_cca", "mlhca"))


def test_an_estimate_states_half_and_double_of_itself_as_its_ends() -> None:
    document = (
        Estimate({"training": 3.0, "search": 1.0, "wdp": 0.0}) + Estimate({"training": 1.0, "search": 0.0, "wdp": 1.0})
    ).to_dict()
    assert (document["low"], document["seconds"], document["high"]) == (3.0, 6.0, 12.0)
