"""Value networks learned from answers, asked as the service is asked."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.networks.mvnn import MVNN
from auctions.operations.mvnn_demand import MVNN_DEMAND
from auctions.operations.mvnn_fit import EXAMPLES, MVNN_FIT
from solvers.operation import MemoryFiles
from tests.auctions.operations.running import pointer_of_fault, run

(TWO_BIDDERS,) = EXAMPLES.values()
ADDITIVE = {
    "capacities": [1, 1, 1],
    "bidders": [
        {
            "value": [
                {"bundle": bundle.tolist(), "value": float(bundle @ [1, 2, 4])}
                for bundle in all_bundles([1, 1, 1])
                if bundle.any()
            ],
            "hyperparameters": {"hidden_layer_sizes": [], "epochs": 1500, "learning_rate": 0.01, "weight_decay": 0},
        }
    ],
    "phase": "value",
}


def test_additive_values_are_learned_by_a_network_without_hidden_layers():
    answer = run(MVNN_FIT, ADDITIVE)
    model = MVNN.from_dict(answer.networks[0].network, answer.networks[0].scale)
    assert model.predict(np.eye(3, dtype=int)) == pytest.approx([1, 2, 4], abs=0.1)
    assert answer.networks[0].loss_curve.value[-1] < answer.networks[0].loss_curve.value[0]
    assert (answer.networks[0].loss_curve.demand, answer.networks[0].n_parameters) == ([], 3)


def test_what_was_learned_can_be_asked_by_its_file():
    files = MemoryFiles()
    fitted = run(MVNN_FIT, TWO_BIDDERS, files=files)
    inline = [network.model_dump(include={"network", "scale"}) for network in fitted.networks]
    asked = [
        run(MVNN_DEMAND, {"networks": networks, "prices": [[10, 20]]}, files=files)
        for networks in (inline, {"file": fitted.file})
    ]
    assert asked[0] == asked[1]


def test_the_same_seed_learns_the_same_networks_and_another_one_others():
    again, other = (run(MVNN_FIT, TWO_BIDDERS | {"seed": seed}).networks for seed in (1, 2))
    assert run(MVNN_FIT, TWO_BIDDERS).networks == again != other


def test_the_table_of_a_domain_is_taken_by_type_and_phase():
    body = {"capacities": [1] * 18, "domain": "gsvm", "bidders": [{"bidder_type": "national"}], "phase": "demand"}
    (network,) = run(MVNN_FIT, body).networks
    assert [len(layer["bias"]) for layer in network.network["layers"]] == [30, 30, 30]


def test_answers_that_fall_where_a_bundle_grows_are_counted():
    value = [{"bundle": [1, 0], "value": 5}, {"bundle": [1, 1], "value": 3}]
    answer = run(MVNN_FIT, {"capacities": [1, 1], "bidders": [{"value": value}], "phase": "value"})
    assert answer.networks[0].monotonicity_violations == 1


def test_a_bidder_who_answered_nothing_gets_a_network_all_the_same():
    (network,) = run(MVNN_FIT, {"capacities": [2], "bidders": [{}], "phase": "value"}).networks
    assert MVNN.from_dict(network.network, network.scale).predict([[0]]) == pytest.approx([0])


def changed(bidder: dict[str, Any], **members: Any) -> dict[str, Any]:
    body = copy.deepcopy(TWO_BIDDERS)
    body["bidders"][1] |= bidder
    return body | members


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (changed({}, capacities=[2, 0]), "/capacities/1"),
        (changed({}, bidders=[]), "/bidders"),
        (changed({}, phase="other"), "/phase"),
        (changed({}, seed=-1), "/seed"),
        (changed({"demand": [{"prices": [1, -1], "bundle": [0, 1]}]}), "/bidders/1/demand/0/prices/1"),
        (changed({"demand": [{"prices": [1], "bundle": [0, 1]}]}), "/bidders/1/demand/0/prices"),
        (changed({"demand": [{"prices": [1, math.inf], "bundle": [0, 1]}]}), "/bidders/1/demand/0/prices/1"),
        (changed({"demand": [{"prices": [1, 1], "bundle": [0, 2]}]}), "/bidders/1/demand/0/bundle/1"),
        (changed({"value": [{"bundle": [0, 1], "value": -1}]}), "/bidders/1/value/0/value"),
        (changed({"value": [{"bundle": [0, 1], "value": math.nan}]}), "/bidders/1/value/0/value"),
        (changed({"value": [{"bundle": [0], "value": 1}]}), "/bidders/1/value/0/bundle"),
        (changed({"scale": 0}), "/bidders/1/scale"),
        (changed({"limits": {"caps": [1]}}), "/bidders/1/limits/caps"),
        (changed({"bidder_type": "none"}, domain="gsvm"), "/bidders/0/bidder_type"),
        (changed({"hyperparameters": {"epochs": 0}}), "/bidders/1/hyperparameters/epochs"),
        (changed({"hyperparameters": {"hidden_layer_sizes": [0]}}), "/bidders/1/hyperparameters/hidden_layer_sizes/0"),
        (changed({"hyperparameters": {"cutoff_range": [1, 0]}}), "/bidders/1/hyperparameters/cutoff_range"),
        (changed({"hyperparameters": {"colour": 1}}), "/bidders/1/hyperparameters/colour"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_with_its_place(body, pointer):
    assert pointer_of_fault(MVNN_FIT, body) == pointer
