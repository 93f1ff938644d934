"""Instances drawn, stored, questioned and allocated, asked as the service is asked."""

from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any

import numpy as np
import pytest

from auctions.domains import gsvm, lsvm, srvm
from auctions.operations.efficient_allocation import EFFICIENCY, EFFICIENT_ALLOCATION
from auctions.operations.instance_questions import INSTANCE_DEMAND, INSTANCE_VALUES
from auctions.operations.instances import INSTANCES
from solvers.operation import MemoryFiles, TooLarge, UnknownFile
from tests.auctions.operations.running import pointer_of_fault, run

GSVM: dict[str, Any] = {"domain": "gsvm", "seed": 1}
SRVM: dict[str, Any] = {"domain": "srvm", "seed": 1}


@pytest.mark.parametrize("domain", ["gsvm", "lsvm", "srvm", "mrvm", "bvm", "mbvm", "cats"])
def test_an_instance_is_the_same_drawn_given_whole_and_from_its_file(domain):
    files = MemoryFiles()
    made = run(INSTANCES, {"instance": {"domain": domain, "seed": 5}}, files=files)
    ask = {"bundles": [made.summary.capacities]}
    forms: list[dict[str, Any]] = [{"domain": domain.upper(), "seed": 5}, made.instance, {"file": made.file}]
    answers = [run(INSTANCE_VALUES, ask | {"instance": form}, files=files).values for form in forms]
    assert answers[0] == answers[1] == answers[2]
    assert made.summary.n_bidders == len(answers[0])


CSV = "bidder,value,A,B\nann,5,1,0\nbob,7,1,1\nbob,4,0,1\n"
STATED = {
    "schema": "valuations/1",
    "capacities": [1, 1],
    "good_names": ["A", "B"],
    "bidders": [
        {"id": "ann", "kind": "xor", "bids": [{"bundle": {"A": 1}, "value": 5}]},
        {"id": "bob", "kind": "table", "values": [0, 0, 4, 7]},
    ],
}


def test_valuations_of_users_come_as_csv_and_inline():
    files = MemoryFiles()
    file_id = files.save(CSV.encode(), name="bids.csv", media_type="text/csv")
    for form in ({"file": file_id}, STATED):
        answer = run(EFFICIENT_ALLOCATION, {"instance": form, "vcg": True}, files=files)
        assert (answer.allocation, answer.welfare, answer.vcg.payments) == ([[1, 0], [0, 1]], 9, [3, 0])


def stored_by_sats() -> bytes:
    """A zip in the layout in which SATS stores a world of GSVM and its bidders."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        world = {"implementation": "org.spectrumauctions.sats.core.model.gsvm.GSVMWorld", "size": 1, "isLegacyGSVM": False}
        archive.writestr("00001/00001.world.json", json.dumps(world))
        for number, values in enumerate([(25, 25, 15), (25, 25, 15)]):
            bidder = {
                "implementation": "org.spectrumauctions.sats.core.model.gsvm.GSVMBidder",
                "id": number,
                "setupType": "Regional Bidder Setup",
                "bidderPosition": 0,
                "values": {str(licence): value for licence, value in enumerate(values)},
                "allocationLimit": {"kind": "BundleSizeAllocationLimit", "numberOfItems": 2},
            }
            archive.writestr(f"00001/00001/{number:05}.bidder.json", json.dumps(bidder))
    return content.getvalue()


def test_files_of_sats_come_as_a_zip_archive():
    files = MemoryFiles()
    file_id = files.save(stored_by_sats(), name="store.zip", media_type="application/zip")
    answer = run(EFFICIENT_ALLOCATION, {"instance": {"file": file_id}}, files=files)
    assert answer.welfare == pytest.approx(75)  # 60 for the pair of 25 and 25, 15 for the rest


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"capacities": []}, "/instance/capacities"),
        ({"capacities": [1, 0]}, "/instance/capacities/1"),
        ({"bidders": []}, "/instance/bidders"),
        ({"bidders": [{"kind": "table", "values": [0, 1, 1]}]}, "/instance/bidders/0/values"),
        ({"bidders": [{"kind": "table", "values": [1, 1, 1, 1]}]}, "/instance/bidders/0/values/0"),
        ({"bidders": [{"kind": "table", "values": [0, 1, -1, 1]}]}, "/instance/bidders/0/values/2"),
        ({"bidders": [{"kind": "table", "values": [0, 1, math.nan, 1]}]}, "/instance/bidders/0/values/2"),
        ({"bidders": [{"kind": "xor", "bids": [{"bundle": "11", "value": -1}]}]}, "/instance/bidders/0/bids/0/value"),
        (
            {"bidders": [{"kind": "additive", "values": [1, 1], "synergies": [{"bundle": "11", "bonus": -1}]}]},
            "/instance/bidders/0/synergies/0/bonus",
        ),
        ({"bidders": [{"kind": "other"}]}, "/instance/bidders/0/kind"),
    ],
)
def test_malformed_valuations_are_refused_with_their_place(change, pointer):
    assert pointer_of_fault(INSTANCES, {"instance": STATED | change}) == pointer


def test_a_table_that_falls_is_taken_and_said_not_to_be_monotone():
    falling = STATED | {"bidders": [{"kind": "table", "values": [0, 5, 4, 3]}]}
    assert not run(INSTANCES, {"instance": falling}).summary.monotone


def test_bidders_who_value_nothing_are_taken():
    worthless = STATED | {"bidders": [{"kind": "table", "values": [0, 0, 0, 0]}] * 2}
    answer = run(EFFICIENT_ALLOCATION, {"instance": worthless, "vcg": True})
    assert (answer.welfare, answer.vcg.revenue) == (0, 0)


def test_values_are_those_of_the_library():
    bundles = [[1] * 18, [0, 1] * 9]
    answer = run(INSTANCE_VALUES, {"instance": GSVM, "bundles": bundles})
    assert np.array_equal(answer.values, gsvm(1).value_matrix(bundles))


def test_one_bidder_is_asked_alone():
    everybody = run(INSTANCE_VALUES, {"instance": GSVM, "bundles": ["1" * 18]}).values
    assert run(INSTANCE_VALUES, {"instance": GSVM, "bundles": ["1" * 18], "bidder": 3}).values == [everybody[3]]


def test_an_empty_list_of_bundles_gets_empty_lists():
    assert run(INSTANCE_VALUES, {"instance": SRVM, "bundles": []}).values == [[]] * 7


def test_demand_is_worth_more_than_any_bundle_tried():
    prices = [120.0, 45.0, 11.0]
    wanted = run(INSTANCE_DEMAND, {"instance": SRVM, "prices": [prices]}).results[0]
    table = srvm(1).value_matrix([[a, b, c] for a in range(7) for b in range(15) for c in range(10)])
    costs = np.array([[a, b, c] for a in range(7) for b in range(15) for c in range(10)]) @ prices
    assert [own[0].utility for own in wanted] == pytest.approx((table - costs).max(axis=1).tolist())


def test_k_above_the_number_of_bundles_gets_all_of_them():
    small = {"domain": "lsvm", "seed": 1, "parameters": {"rows": 1, "columns": 2, "n_regional": 0}}
    body = {"instance": small, "prices": [[100, 100]], "k": 50}
    assert len(run(INSTANCE_DEMAND, body | {"allow_negative": True}).results[0][0]) == 4
    assert [demand.bundle for demand in run(INSTANCE_DEMAND, body).results[0][0]] == [[0, 0]]


def test_negative_prices_are_taken_unless_they_are_to_be_refused():
    body = {"instance": SRVM, "prices": [[-1, 0, 0]]}
    assert run(INSTANCE_DEMAND, body).results[0][0][0].bundle[0] == 6
    assert pointer_of_fault(INSTANCE_DEMAND, body | {"require_nonnegative": True}) == "/prices/0/0"


@pytest.mark.parametrize("domain", ["gsvm", "lsvm", "srvm", "mrvm"])
def test_the_efficient_allocation_is_proved_and_its_lagrangian_bound_holds(domain):
    answer = run(EFFICIENT_ALLOCATION, {"instance": {"domain": domain, "seed": 1}})
    assert (answer.status, answer.stopped_by, answer.deterministic) == ("optimal", None, True)
    assert answer.welfare <= answer.lagrangian.bound <= 1.5 * answer.welfare
    assert answer.welfare == pytest.approx(sum(answer.values))


def test_vcg_payments_come_with_the_allocation():
    answer = run(EFFICIENT_ALLOCATION, {"instance": SRVM, "vcg": True})
    without = [run(EFFICIENT_ALLOCATION, {"instance": SRVM, "without": [bidder]}).welfare for bidder in range(7)]
    expected = [best - (answer.welfare - own) for best, own in zip(without, answer.values, strict=True)]
    assert answer.vcg.payments == pytest.approx(expected, abs=1e-6)
    assert answer.vcg.exact


def test_the_efficient_allocation_is_efficient_and_nothing_is_not():
    best = run(EFFICIENT_ALLOCATION, {"instance": GSVM})
    assert run(EFFICIENCY, {"instance": GSVM, "allocation": best.allocation}).efficiency == pytest.approx(1)
    assert run(EFFICIENCY, {"instance": GSVM, "allocation": [[0] * 18] * 7}).efficiency == 0


def test_where_nothing_is_worth_anything_there_is_no_efficiency():
    worthless = gsvm(1, n_national=0, n_regional=2).to_dict()
    for bidder in worthless["bidders"]:
        bidder["values"] = [0.0] * len(bidder["values"])
    answer = run(EFFICIENCY, {"instance": worthless, "allocation": ["1" * 18, "0" * 18]})
    assert (answer.efficiency, answer.welfare, answer.optimal_welfare) == (None, 0, 0)


def test_one_bidder_gets_the_best_it_may_hold_and_pays_nothing():
    alone = {"domain": "srvm", "seed": 2, "parameters": {"n_small": 0, "n_high_frequency": 0, "n_secondary": 0, "n_primary": 1}}
    answer = run(EFFICIENT_ALLOCATION, {"instance": alone, "vcg": True})
    assert (answer.allocation, answer.vcg.payments) == ([[6, 14, 9]], [0])


def test_a_search_that_is_cut_short_gives_a_bound_and_its_reason():
    body = {"instance": GSVM, "method": "mip", "node_limit": 0}
    answer = run(EFFICIENT_ALLOCATION, body)
    assert answer.welfare <= answer.bound
    assert answer.stopped_by in (None, "node_limit")


@pytest.mark.parametrize(
    ("instance", "pointer"),
    [
        ({}, "/instance"),
        ({"domain": "xsvm", "seed": 1}, "/instance/domain"),
        ({"domain": 3, "seed": 1}, "/instance/domain"),
        ({"domain": "gsvm"}, "/instance/seed"),
        ({"domain": "gsvm", "seed": 1.5}, "/instance/seed"),
        ({"domain": "gsvm", "seed": True}, "/instance/seed"),
        ({"domain": "gsvm", "seed": 2**63}, "/instance/seed"),
        ({"domain": "gsvm", "seed": -1, "rng": "numpy"}, "/instance/seed"),
        ({"domain": "gsvm", "seed": 1, "rng": "c"}, "/instance/rng"),
        ({"domain": "gsvm", "seed": 1, "seed_convention": "none"}, "/instance/seed_convention"),
        ({"domain": "gsvm", "seed": 1, "colour": 1}, "/instance/colour"),
        ({"domain": "gsvm", "seed": 1, "parameters": {"sizes": 6}}, "/instance/parameters/sizes"),
        ({"domain": "gsvm", "seed": 1, "parameters": {"size": 0}}, "/instance/parameters/size"),
        ({"domain": "gsvm", "seed": 1, "parameters": {"legacy": "yes"}}, "/instance/parameters/legacy"),
        ({"domain": "gsvm", "seed": 1, "parameters": {"regional_low": [5, 2]}}, "/instance/parameters/regional_low"),
        ({"domain": "gsvm", "seed": 1, "parameters": {"n_regional": 0, "n_national": 0}}, "/instance/parameters/n_regional"),
        ({"domain": "lsvm", "seed": 1, "parameters": {"rows": 0}}, "/instance/parameters/rows"),
        ({"domain": "lsvm", "seed": 1, "parameters": {"national_a": -1}}, "/instance/parameters/national_a"),
        ({"domain": "srvm", "seed": 1, "parameters": {"interband_synergy": [0.5, 1]}}, "/instance/parameters/interband_synergy"),
        ({"domain": "mrvm", "seed": 1, "parameters": {"national_b": [0.1, 0.6]}}, "/instance/parameters/national_b"),
        ({"schema": "other/1"}, "/instance/schema"),
        ({"schema": 1}, "/instance/schema"),
        ({"schema": "sats-instance/1", "domain": "none"}, "/instance/domain"),
        ({"schema": "sats-instance/1", "domain": "GSVM"}, "/instance/world"),
        ({"file": 3}, "/instance/file"),
        ({"file": "a", "seed": 1}, "/instance"),
    ],
)
def test_what_is_no_instance_is_refused_with_its_place(instance, pointer):
    assert pointer_of_fault(INSTANCES, {"instance": instance}) == pointer


def changed(member: str, value: Any, bidder: int = 1) -> dict[str, Any]:
    document = json.loads(json.dumps(lsvm(3).to_dict()))
    document["bidders"][bidder][member] = value
    return {"instance": document}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (changed("id", 0), "/instance/bidders/1/id"),
        (changed("items", [0, 99]), "/instance/bidders/1/items/1"),
        (changed("values", [1.0]), "/instance/bidders/1/values"),
        (changed("values", "many"), "/instance/bidders/1/values"),
        (changed("a", -1), "/instance/bidders/1/a"),
        (changed("a", math.nan), "/instance/bidders/1/a"),
    ],
)
def test_a_malformed_document_is_refused_with_its_place(body, pointer):
    assert pointer_of_fault(INSTANCES, body) == pointer


def test_a_malformed_file_is_refused_with_its_place():
    files = MemoryFiles()
    for content in (b"\xff\xfe", b"[1", b"[" * 100_000, b"{}", json.dumps(changed("a", -1)["instance"]).encode()):
        file_id = files.save(content, name="instance.json", media_type="application/json")
        assert pointer_of_fault(INSTANCES, {"instance": {"file": file_id}}, files=files) == "/instance/file"


def test_a_file_that_is_not_there_is_said_to_be_so():
    with pytest.raises(UnknownFile):
        run(INSTANCES, {"instance": {"file": "file_none"}})


@pytest.mark.parametrize(
    ("operation", "body", "pointer"),
    [
        (INSTANCE_VALUES, {"bundles": [[1] * 17]}, "/bundles/0"),
        (INSTANCE_VALUES, {"bundles": ["0" * 18, [0.5] + [0] * 17]}, "/bundles/1/0"),
        (INSTANCE_VALUES, {"bundles": [[2] + [0] * 17]}, "/bundles/0/0"),
        (INSTANCE_VALUES, {"bundles": [[-1] + [0] * 17]}, "/bundles/0/0"),
        (INSTANCE_VALUES, {"bundles": [{"nothing": 1}]}, "/bundles/0/nothing"),
        (INSTANCE_VALUES, {"bundles": [], "bidder": 7}, "/bidder"),
        (INSTANCE_VALUES, {"bundles": [], "bidder": -1}, "/bidder"),
        (INSTANCE_DEMAND, {"prices": [[1] * 17]}, "/prices/0"),
        (INSTANCE_DEMAND, {"prices": [[math.nan] * 18]}, "/prices/0/0"),
        (INSTANCE_DEMAND, {"prices": [[0] * 17 + [math.inf]]}, "/prices/0/17"),
        (INSTANCE_DEMAND, {"prices": [[1] * 18], "k": 0}, "/k"),
        (EFFICIENT_ALLOCATION, {"without": [7]}, "/without/0"),
        (EFFICIENT_ALLOCATION, {"without": [1], "vcg": True}, "/vcg"),
        (EFFICIENT_ALLOCATION, {"method": "luck"}, "/method"),
        (EFFICIENT_ALLOCATION, {"gap": -1}, "/gap"),
        (EFFICIENT_ALLOCATION, {"node_limit": -1}, "/node_limit"),
        (EFFICIENT_ALLOCATION, {"time_limit": -1}, "/time_limit"),
        (EFFICIENCY, {"allocation": ["0" * 18]}, "/allocation"),
        (EFFICIENCY, {"allocation": ["1" + "0" * 17] * 7}, "/allocation"),
        (EFFICIENCY, {"allocation": ["0" * 18] * 6 + ["1" * 17]}, "/allocation/6"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_with_its_place(operation, body, pointer):
    assert pointer_of_fault(operation, {"instance": GSVM} | body) == pointer


@pytest.mark.parametrize(
    ("operation", "body", "limits"),
    [
        (INSTANCES, {}, {"max_goods": 17}),
        (INSTANCES, {}, {"max_bidders": 6}),
        (INSTANCE_VALUES, {"bundles": ["0" * 18] * 3}, {"max_bundles": 2}),
        (INSTANCE_DEMAND, {"prices": [[1] * 18], "k": 100}, {"max_bundles": 600}),
    ],
)
def test_more_than_the_service_takes_is_too_large(operation, body, limits):
    with pytest.raises(TooLarge):
        run(operation, {"instance": GSVM} | body, limits=limits)
