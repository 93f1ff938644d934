"""The files that SATS writes: a world and its bidders, as JSON inline or in a zip archive, turned into the schema `sats-instance/1`."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

from auctions.domains.json_reader import Reader
from auctions.domains.mrvm_world import full_synergy
from solvers.operation import InvalidInput, TooLarge

LARGEST_ARCHIVE = 100 * 2**20

# `NNNNN/NNNNN.world.json` and `NNNNN/PPPPP/IIIII.bidder.json`, or `world.json` and `bidder_<id>.json`.
WORLD = re.compile(r"(^|.*/)(\d+\.)?world\.json")
BIDDER = re.compile(r"(?P<population>^|.*/)(?:(?P<number>\d+)\.bidder|bidder_(?P<id>\d+))\.json")

LIMIT_KINDS = ("No", "BundleSizeAllocationLimit", "GoodAllocationLimit", "BundleSizeAndGoodAllocationLimit")


def from_store(store: Reader) -> dict[str, Any]:
    """Return the instance that a world file and bidder files of SATS describe, in the schema `sats-instance/1`.

    Raises
    ------
    InvalidInput
        With a pointer into the files.
    """
    world = store["world"]
    domain = _domain(world)
    convert_world, convert_bidder = CONVERSIONS[domain]
    bidders = store["bidders"].items(least=1)
    for bidder in bidders:
        if _domain(bidder) != domain:
            raise bidder["implementation"].fault(f"is a bidder of {_domain(bidder)}, in a world of {domain}")
    return {
        "schema": "sats-instance/1",
        "domain": domain,
        "source": {"generator": "sats-java"},
        "world": convert_world(world),
        "bidders": [{"id": bidder["id"].integer(least=0)} | convert_bidder(bidder, world) for bidder in bidders],
    }


def read_archive(content: bytes) -> dict[str, Any]:
    """Return the world and the bidders in a zip archive as a document of the schema `sats-store`.

    Raises
    ------
    InvalidInput
        It is no archive, or has not one world with one population.
    TooLarge
        Unpacked it has more than 100 MiB.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST_ARCHIVE:
            raise TooLarge(f"the archive has more than {LARGEST_ARCHIVE} bytes when unpacked")
        worlds = [name for name in names if WORLD.fullmatch(name)]
        matches = [match for name in names if (match := BIDDER.fullmatch(name))]
        if len(worlds) != 1:
            raise InvalidInput(f"an archive has one world file, this one has {len(worlds)}")
        if len({match["population"] for match in matches}) > 1:
            raise InvalidInput("the archive has bidders of several populations")
        matches.sort(key=lambda match: int(match["number"] or match["id"]))
        return {
            "schema": "sats-store",
            "world": _parsed(archive, worlds[0]),
            "bidders": [_parsed(archive, match.string) for match in matches],
        }
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise InvalidInput(f"the archive cannot be unpacked: {error}") from None


def _parsed(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        content = file.read(LARGEST_ARCHIVE + 1)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput(f"{name} in the archive is not valid JSON") from None


def _domain(part: Reader) -> str:
    implementation = part["implementation"].text()
    name = implementation.rsplit(".", 1)[-1].upper()
    for domain in CONVERSIONS:
        if name.startswith(domain):
            return domain
    raise part["implementation"].fault(f"is a model of {', '.join(CONVERSIONS)}, not {implementation!r}")


def _gsvm_world(world: Reader) -> dict[str, Any]:
    return {"size": world["size"].integer(least=1), "legacy": world["isLegacyGSVM"].boolean()}


def _gsvm_bidder(bidder: Reader, world: Reader) -> dict[str, Any]:
    limit, restricted = None, False
    allocation_limit = bidder.get("allocationLimit")
    if allocation_limit is not None:
        kind = allocation_limit["kind"].text()
        if kind not in LIMIT_KINDS:
            raise allocation_limit["kind"].fault(f"is one of {', '.join(LIMIT_KINDS)}, not {kind!r}")
        if "BundleSize" in kind:
            limit = allocation_limit["numberOfItems"].integer(least=0)
        restricted = "Good" in kind
    return {
        "type": _type_of(bidder, "regional", "national"),
        "position": bidder["bidderPosition"].integer(),
        "activity_limit": limit,
        "restrict_to_items": restricted,
    } | _items_and_values(bidder)


def _lsvm_world(world: Reader) -> dict[str, Any]:
    grid = world["grid"]
    return {
        "rows": grid["numberOfRows"].integer(least=1),
        "columns": grid["numberOfColumns"].integer(least=1),
        "legacy": world["isLegacyLSVM"].boolean(),
    }


def _lsvm_bidder(bidder: Reader, world: Reader) -> dict[str, Any]:
    return {
        "type": _type_of(bidder, "regional", "national"),
        "a": bidder["LSVM_A"].number(least=0.0),
        "b": bidder["LSVM_B"].number(),
    } | _items_and_values(bidder)


def _srvm_world(world: Reader) -> dict[str, Any]:
    first, bands = 0, []
    for band in world["bands"].items(least=1):
        quantity = len(band["licenses"].items(least=1))
        bands.append({"name": band["name"].text(), "quantity": quantity, "first_license_id": first})
        first += quantity
    return {"bands": bands}


def _srvm_bidder(bidder: Reader, world: Reader) -> dict[str, Any]:
    names = [band["name"].text() for band in world["bands"].items()]
    return {
        "type": _type_of(bidder, "small", "high_frequency", "secondary", "primary"),
        "strength": bidder["bidderStrength"].number(),
        "threshold": [bidder["synergyThreshold"][name].integer(least=1) for name in names],
        "base_values": [bidder["baseValues"][name].number(least=0.0) for name in names],
        "intraband_synergy": [bidder["intrabandSynergyFactors"][name].number(least=1.0) for name in names],
        "interband_synergy": bidder["interbandSynergyValue"].number(least=1.0),
    }


def _mrvm_world(world: Reader) -> dict[str, Any]:
    regions, edges = {}, set()
    for entry in world["regionsMap"]["adjacencyGraph"].items(least=1):
        node = entry["node"]
        number = node["id"].integer(least=0)
        if number in regions:
            raise node["id"].fault(f"is the id {number}, which another region has")
        note = node.get("note")
        regions[number] = {
            "id": number,
            "name": f"region {number}" if note is None else note.text(),
            "population": node["population"].integer(least=1),
        }
        for neighbour in entry["neighbors"].integers(least=0):
            edges.add((min(number, neighbour), max(number, neighbour)))
    missing = [number for number in range(len(regions)) if number not in regions]
    if missing:
        raise world["regionsMap"]["adjacencyGraph"].fault(f"has no region {missing[0]}")
    bands = {}
    for band in world["bands"].items(least=1):
        lots = band["numberOfLots"].integer(least=1, most=100)
        factors = {int(key): factor.number(least=0.0) for key, factor in band["synergies"].entries() if key.isdigit()}
        bands[band["name"].text()] = {
            "name": band["name"].text(),
            "lots": lots,
            "base_capacity": band["baseCapacity"].number(least=0.0),
            "synergy": list(full_synergy(factors, lots)),
        }
    known = [name for name in ("LOW_PAIRED", "HIGH_PAIRED", "UNPAIRED") if name in bands]
    order = known + [name for name in bands if name not in known]
    return {
        "regions": [regions[number] for number in range(len(regions))],
        "edges": [list(edge) for edge in sorted(edges)],
        "bands": [bands[name] for name in order],
    }


def _mrvm_bidder(bidder: Reader, world: Reader) -> dict[str, Any]:
    count = len(world["regionsMap"]["adjacencyGraph"].items())
    regions = [str(number) for number in range(count)]
    document: dict[str, Any] = {
        "type": _type_of(bidder, "local", "regional", "national"),
        "alpha": bidder["alpha"].number(least=0.0),
        "beta": [bidder["beta"][number].number() for number in regions],
        "z_low": [bidder["zLow"][number].number() for number in regions],
        "z_high": [bidder["zHigh"][number].number() for number in regions],
    }
    if document["type"] == "local":
        document["regions_of_interest"] = sorted(bidder["regionsOfInterest"].distinct(least=0, most=count - 1))
    elif document["type"] == "regional":
        document["home"] = bidder["homeId"].integer(least=0, most=count - 1)
        document["distance_discounts"] = _numbered(bidder["distanceDiscounts"], 0)
    else:
        document["gamma"] = _numbered(bidder["gammaValues"], 1)
    return document


def _numbered(factors: Reader, first: int) -> list[float]:
    """Return factors that are listed by consecutive numbers."""
    return [factors[str(number)].number() for number in range(first, first + len(list(factors.entries())))]


def _items_and_values(bidder: Reader) -> dict[str, Any]:
    values = {}
    for key, value in bidder["values"].entries():
        if not (key.isascii() and key.isdigit()):
            raise value.fault("belongs to no licence: its name is not a number")
        values[int(key)] = value.number(least=0.0)
    return {"items": sorted(values), "values": [values[item] for item in sorted(values)]}


def _type_of(bidder: Reader, *types: str) -> str:
    setup = bidder["setupType"].text()
    words = setup.lower().replace("multi region model", "")
    for kind in types:
        if kind.replace("_frequency", " frequence") in words:
            return kind
    raise bidder["setupType"].fault(f"names one of {', '.join(types)}, not {setup!r}")


CONVERSIONS = {
    "GSVM": (_gsvm_world, _gsvm_bidder),
    "LSVM": (_lsvm_world, _lsvm_bidder),
    "SRVM": (_srvm_world, _srvm_bidder),
    "MRVM": (_mrvm_world, _mrvm_bidder),
}
