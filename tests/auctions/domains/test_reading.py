"""Instances come back from every form they are written in, and faults are told by their place."""

import copy
import io
import json
import zipfile

import numpy as np
import pytest

from auctions.domains import (
    Valuations,
    bvm,
    cats_regions,
    draw_instance,
    gsvm,
    lsvm,
    mbvm,
    mrvm,
    read_instance,
    read_instance_file,
    srvm,
)
from solvers.operation import InvalidInput, TooLarge
from tests.auctions.domains.vectors import VECTORS, vectors

STORES = ["gsvm", "lsvm", "srvm", "mrvm"]


def store(domain):
    """Return the files of a domain's seed 1 as a document."""
    folder = VECTORS / "sats_store_seed1" / domain
    bidders = sorted(folder.glob("bidder_*.json"), key=lambda path: int(path.stem.removeprefix("bidder_")))
    return {
        "schema": "sats-store",
        "world": json.loads((folder / "world.json").read_text()),
        "bidders": [json.loads(path.read_text()) for path in bidders],
    }


def archive(files):
    """Return a zip archive with some JSON files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, document in files.items():
            packed.writestr(name, json.dumps(document))
    return content.getvalue()


@pytest.mark.parametrize(
    "instance",
    [
        gsvm(3),
        gsvm(3, legacy=True),
        lsvm(3),
        srvm(3, rounding="exact"),
        mrvm(3),
        mrvm(3, paired_caps=True),
        bvm(3),
        mbvm(3),
        cats_regions(3, n_bidders=3, goods=16),
    ],
    ids=lambda instance: instance.domain,
)
def test_an_instance_survives_its_json_exactly(instance):
    again = read_instance(json.loads(json.dumps(instance.to_dict())))
    assert again.to_dict() == instance.to_dict()
    bundles = instance.sample_bundles(0, 50, random_state=0)
    assert (again.value_matrix(bundles) == instance.value_matrix(bundles)).all()


@pytest.mark.parametrize("path", sorted((VECTORS / "instances").glob("*.json")), ids=lambda path: path.stem)
def test_published_instances_are_read_and_their_values_confirmed(path):
    document = json.loads(path.read_text())
    instance = read_instance(document)
    assert instance.value_matrix(document["bundles"]) == pytest.approx(np.array(document["values"]), rel=1e-9)


def test_a_value_that_the_parameters_do_not_confirm_is_refused():
    document = copy.deepcopy(vectors("instances/gsvm_seed1"))
    document["values"][2][1] *= 1.0001
    with pytest.raises(InvalidInput, match="bidder 2 values bundle 1") as fault:
        read_instance(document)
    assert fault.value.pointer == "/values/2/1"


@pytest.mark.parametrize("domain", STORES)
def test_files_of_sats_become_the_published_instance(domain):
    published = read_instance(vectors(f"instances/{domain}_seed1"))
    stored = read_instance(store(domain))
    bundles = published.sample_bundles(0, 100, "gaussian_size", random_state=0)
    assert stored.value_matrix(bundles) == pytest.approx(published.value_matrix(bundles), rel=1e-14)
    assert [stored.limits(bidder) for bidder in range(stored.n_bidders)] == [
        published.limits(bidder) for bidder in range(stored.n_bidders)
    ]
    assert stored.bidder_types == published.bidder_types


@pytest.mark.parametrize(
    ("world", "bidder"), [("world.json", "bidder_{}.json"), ("00007/00007.world.json", "00007/00003/{:05d}.bidder.json")]
)
def test_an_archive_in_either_layout_is_the_same_instance(world, bidder):
    files = store("gsvm")
    content = archive({world: files["world"]} | {bidder.format(each["id"]): each for each in files["bidders"]})
    assert read_instance_file(content).to_dict() == read_instance(files).to_dict()


def test_archives_without_one_world_and_one_population_are_refused():
    files = store("srvm")
    with pytest.raises(InvalidInput, match="one world file"):
        read_instance_file(archive({"bidder_0.json": files["bidders"][0]}))
    with pytest.raises(InvalidInput, match="several populations"):
        read_instance_file(
            archive(
                {
                    "1/1.world.json": files["world"],
                    "1/1/0.bidder.json": files["bidders"][0],
                    "1/2/1.bidder.json": files["bidders"][1],
                }
            )
        )
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        read_instance_file(archive({"world.json": files["world"]})[:60])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"{", b'{"schema": NaN}', b"[" * 100_000, b"a,b\n1,2\n"])
def test_files_that_are_no_instance_are_refused(content):
    with pytest.raises(InvalidInput):
        read_instance_file(content)


def without(document, *path):
    changed = copy.deepcopy(document)
    part = changed
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return changed


def replaced(document, value, *path):
    changed = copy.deepcopy(document)
    part = changed
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return changed


GSVM, LSVM, SRVM, MRVM = (draw(1).to_dict() for draw in (gsvm, lsvm, srvm, mrvm))
STATED = {
    "schema": "valuations/1",
    "capacities": [2, 1],
    "bidders": [
        {"id": "ann", "kind": "xor", "bids": [{"bundle": [1, 0], "value": 2}]},
        {"id": "bob", "kind": "additive", "values": [[3, 1], 4], "synergies": [{"bundle": [1, 1], "bonus": 2}]},
        {"id": "cyd", "kind": "table", "values": [0, 1, 2, 3, 4, 5]},
    ],
}


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({}, "/schema"),
        (replaced(GSVM, "sats-instance/2", "schema"), "/schema"),
        (replaced(GSVM, "TRVM", "domain"), "/domain"),
        (without(GSVM, "world", "size"), "/world/size"),
        (replaced(GSVM, 0, "world", "size"), "/world/size"),
        (replaced(GSVM, [], "bidders"), "/bidders"),
        (replaced(GSVM, 0, "bidders", 1, "id"), "/bidders/1/id"),
        (replaced(GSVM, 99, "bidders", 0, "items", 0), "/bidders/0/items/0"),
        (replaced(GSVM, 1, "bidders", 0, "items", 0), "/bidders/0/items/1"),
        (replaced(GSVM, [1.0], "bidders", 0, "values"), "/bidders/0/values"),
        (replaced(GSVM, -1.0, "bidders", 0, "values", 2), "/bidders/0/values/2"),
        (replaced(GSVM, float("nan"), "bidders", 0, "values", 2), "/bidders/0/values/2"),
        (replaced(GSVM, -1, "bidders", 0, "activity_limit"), "/bidders/0/activity_limit"),
        (replaced(LSVM, 0, "world", "rows"), "/world/rows"),
        (replaced(LSVM, -1, "bidders", 2, "a"), "/bidders/2/a"),
        (replaced(LSVM, 18, "bidders", 0, "items", 17), "/bidders/0/items/17"),
        (replaced(SRVM, 0.9, "bidders", 0, "interband_synergy"), "/bidders/0/interband_synergy"),
        (replaced(SRVM, 0.9, "bidders", 0, "intraband_synergy", 1), "/bidders/0/intraband_synergy/1"),
        (replaced(SRVM, 0, "bidders", 0, "threshold", 1), "/bidders/0/threshold/1"),
        (replaced(SRVM, 0, "world", "bands", 0, "quantity"), "/world/bands/0/quantity"),
        (without(MRVM, "world", "regions", 3), "/world/regions/3/id"),
        (replaced(MRVM, [0, 14], "world", "edges", 0), "/world/edges/0/1"),
        (replaced(MRVM, 0.3, "bidders", 0, "beta", 4), "/bidders/0/beta/4"),
        (replaced(MRVM, 0.0, "bidders", 0, "beta", 4), "/bidders/0/beta/4"),
        (replaced(MRVM, 1.5, "bidders", 0, "beta", 4), "/bidders/0/beta/4"),
        (replaced(MRVM, [0.9, 0.95], "bidders", 9, "gamma"), "/bidders/9/gamma/1"),
        (replaced(MRVM, [0.9, -0.1], "bidders", 9, "gamma"), "/bidders/9/gamma/1"),
        (replaced(MRVM, "foreign", "bidders", 9, "type"), "/bidders/9/type"),
        (replaced(MRVM, [0, 0], "bidders", 0, "regions_of_interest"), "/bidders/0/regions_of_interest/1"),
        (replaced(STATED, 0, "capacities", 0), "/capacities/0"),
        (replaced(STATED, "ann", "bidders", 1, "id"), "/bidders/1/id"),
        (replaced(STATED, "or", "bidders", 0, "kind"), "/bidders/0/kind"),
        (replaced(STATED, -2, "bidders", 0, "bids", 0, "value"), "/bidders/0/bids/0/value"),
        (replaced(STATED, [3, 0], "bidders", 0, "bids", 0, "bundle"), "/bidders/0/bids/0/bundle/0"),
        (replaced(STATED, [1], "bidders", 0, "bids", 0, "bundle"), "/bidders/0/bids/0/bundle"),
        (replaced(STATED, -2, "bidders", 1, "synergies", 0, "bonus"), "/bidders/1/synergies/0/bonus"),
        (replaced(STATED, [3], "bidders", 1, "values", 0), "/bidders/1/values/0"),
        (replaced(STATED, 1, "bidders", 2, "values", 0), "/bidders/2/values/0"),
        (replaced(STATED, [0, 1], "bidders", 2, "values"), "/bidders/2/values"),
        (replaced(STATED, {"caps": [1]}, "bidders", 2, "limits"), "/bidders/2/limits/caps"),
        ({"schema": "sats-store", "bidders": []}, "/world"),
        (replaced(store("mrvm"), "org.example.TRVMWorld", "world", "implementation"), "/world/implementation"),
        (without(store("mrvm"), "bidders", 0, "beta", "3"), "/bidders/0/beta/3"),
        (replaced(store("srvm"), 0.5, "bidders", 1, "interbandSynergyValue"), "/bidders/1/interbandSynergyValue"),
        (replaced(store("gsvm"), "Some", "bidders", 1, "allocationLimit", "kind"), "/bidders/1/allocationLimit/kind"),
    ],
)
def test_a_malformed_document_is_refused_with_the_place(document, pointer):
    with pytest.raises(InvalidInput) as fault:
        read_instance(document)
    assert fault.value.pointer == pointer


CSV = "bidder,value,A,B\nann,2,1,0\nann,5,2,1\nbob,4,0,1\n"


def test_bids_in_csv_are_those_in_json():
    document = {
        "schema": "valuations/1",
        "capacities": [2, 1],
        "good_names": ["A", "B"],
        "bidders": [
            {
                "id": "ann",
                "kind": "xor",
                "bids": [{"bundle": {"A": 1}, "value": 2}, {"bundle": {"A": 2, "B": 1}, "value": 5}],
            },
            {"id": "bob", "kind": "xor", "bids": [{"bundle": {"B": 1}, "value": 4}]},
        ],
    }
    assert read_instance_file(CSV.encode()).to_dict() == read_instance(document).to_dict()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("bidder,A\nann,1\n", 1),
        ("bidder,value\nann,1\n", 1),
        ("bidder,value,A,A\nann,1,1,1\n", 1),
        ("bidder,value,A\n", 2),
        ("bidder,value,A\nann,1\n", 2),
        ("bidder,value,A\nann,1,1\nann,one,1\n", 3),
        ("bidder,value,A\nann,nan,1\n", 2),
        ("bidder,value,A\nann,-1,1\n", 2),
        ("bidder,value,A\nann,1,0.5\n", 2),
        ("bidder,value,A\nann,1,-1\n", 2),
    ],
)
def test_a_malformed_csv_is_refused_with_the_line(text, line):
    with pytest.raises(InvalidInput) as fault:
        Valuations.read_csv(text)
    assert fault.value.members["line"] == line


@pytest.mark.parametrize(
    ("domain", "seed", "parameters", "randomness", "pointer"),
    [
        ("trvm", 1, {}, {}, "/domain"),
        (3, 1, {}, {}, "/domain"),
        ("gsvm", 2**63, {}, {}, "/seed"),
        ("gsvm", -1, {}, {"rng": "numpy"}, "/seed"),
        ("gsvm", 1.5, {}, {}, "/seed"),
        ("gsvm", True, {}, {}, "/seed"),
        ("gsvm", 1, {}, {"rng": "perl"}, "/rng"),
        ("cats", 1, {}, {"rng": "java"}, "/rng"),
        ("gsvm", 1, {}, {"seed_convention": "both"}, "/seed_convention"),
        ("gsvm", 1, {}, {"population_seed": 2}, "/population_seed"),
        ("gsvm", 1, {"regions": 3}, {}, "/parameters/regions"),
        ("gsvm", 1, {"seed": 3}, {}, "/parameters/seed"),
        ("gsvm", 1, {"legacy": 1}, {}, "/parameters/legacy"),
        ("gsvm", 1, {"size": 0}, {}, "/parameters/size"),
        ("gsvm", 1, {"n_regional": 0, "n_national": 0}, {}, "/parameters/n_regional"),
        ("gsvm", 1, {"n_regional": -1}, {}, "/parameters/n_regional"),
        ("gsvm", 1, {"regional_low": [5, 1]}, {}, "/parameters/regional_low"),
        ("gsvm", 1, {"regional_low": [-5, 1]}, {}, "/parameters/regional_low"),
        ("gsvm", 1, {"regional_low": float("nan")}, {}, "/parameters/regional_low"),
        ("gsvm", 1, {"activity_limit": -1}, {}, "/parameters/activity_limit"),
        ("lsvm", 1, {"rows": 0}, {}, "/parameters/rows"),
        ("lsvm", 1, {"columns": "6"}, {}, "/parameters/columns"),
        ("lsvm", 1, {"regional_a": -1}, {}, "/parameters/regional_a"),
        ("lsvm", 1, {"regional_a": 10**400}, {}, "/parameters/regional_a"),
        ("lsvm", 1, {"rows": 10**400}, {}, "/parameters/rows"),
        ("lsvm", 1, {"regional_b": float("inf")}, {}, "/parameters/regional_b"),
        ("srvm", 1, {"intraband_synergy": [0.5, 1]}, {}, "/parameters/intraband_synergy"),
        ("srvm", 1, {"rounding": "half"}, {}, "/parameters/rounding"),
        ("srvm", 1, {"quantities": [1, 2]}, {}, "/parameters/quantities"),
        ("mrvm", 1, {"local_beta": [0, 0.1]}, {}, "/parameters/local_beta"),
        ("mrvm", 1, {"local_beta": [0.5, 1.1]}, {}, "/parameters/local_beta"),
        ("mrvm", 1, {"local_beta": [0.3, 0.3]}, {}, "/parameters/local_beta"),
        ("mrvm", 1, {"national_b": [0.1, 0.6]}, {}, "/parameters/national_b"),
        ("mrvm", 1, {"local_regions": [3, 15]}, {}, "/parameters/local_regions"),
        ("mrvm", 1, {"lots": [2, 3]}, {}, "/parameters/lots"),
        ("cats", 1, {"jump": 2}, {}, "/parameters/jump"),
        ("cats", 1, {"valuation": "both"}, {}, "/parameters/valuation"),
    ],
)
def test_an_instance_cannot_be_drawn_from_what_is_no_parameter(domain, seed, parameters, randomness, pointer):
    with pytest.raises(InvalidInput) as fault:
        draw_instance(domain, seed, parameters, **randomness)
    assert fault.value.pointer == pointer


def huge_mrvm():
    document = replaced(MRVM, 90, "world", "bands", 0, "lots")
    return replaced(document, 90, "world", "bands", 1, "lots")


@pytest.mark.parametrize(
    "asked",
    [
        lambda: gsvm(1, n_regional=1000, size=1000),
        lambda: lsvm(1, rows=10_000, columns=10_000),
        lambda: cats_regions(1, n_bidders=1000, goods=10_000),
        lambda: mrvm(1, lots=(50, 50, 50)),
        lambda: srvm(1, quantities=(1000, 1000, 1000)).demand(0, [0, 0, 0]),
        lambda: srvm(1, quantities=(1000, 1000, 1000)).value_table(0),
        lambda: lsvm(1, rows=5, columns=6).demand(0, np.zeros(30)),
        lambda: gsvm(1).sample_bundles(0, 10**9),
        lambda: read_instance(replaced(GSVM, 10_000, "world", "size")),
        lambda: read_instance(replaced(replaced(LSVM, 10_000, "world", "rows"), 10_000, "world", "columns")),
        lambda: read_instance(huge_mrvm()),
        lambda: read_instance(STATED | {"capacities": [1] * 30, "bidders": [{"kind": "table", "values": [0]}]}),
    ],
)
def test_what_would_fill_the_memory_is_refused(asked):
    with pytest.raises((TooLarge, InvalidInput)):
        asked()


def test_more_supplies_than_a_table_holds_are_shared_out_by_the_integer_program():
    instance = srvm(1, n_small=0, n_high_frequency=0, n_secondary=1, n_primary=1, quantities=(200, 200, 200))
    found = instance.efficient_allocation()
    assert found.method == "mip"
    assert found.welfare == pytest.approx(instance.allocation_values(found.allocation).sum())
