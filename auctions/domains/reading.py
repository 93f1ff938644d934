"""Reading instances: JSON in the schemas `sats-instance/1`, `valuations/1` and `sats-store`, zip archives of SATS's own files, and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from auctions.domains.base_and_synergy import Bvm, Mbvm
from auctions.domains.bundle_forms import checked_bundles
from auctions.domains.cats import Cats
from auctions.domains.gsvm import Gsvm
from auctions.domains.instance import Instance
from auctions.domains.json_reader import Reader
from auctions.domains.lsvm import Lsvm
from auctions.domains.mrvm import Mrvm
from auctions.domains.sats_store import from_store, read_archive
from auctions.domains.srvm import Srvm
from auctions.domains.valuations import Valuations
from solvers.operation import InvalidInput

DOMAINS: dict[str, Callable[[Reader], Instance]] = {
    "GSVM": Gsvm.read,
    "LSVM": Lsvm.read,
    "SRVM": Srvm.read,
    "MRVM": Mrvm.read,
    "BVM": Bvm.read,
    "MBVM": Mbvm.read,
    "CATS": Cats.read,
}

# How far a value that comes with an instance may be from what its parameters say.
TOLERANCE = 1e-6


def read_instance(document: Any) -> Instance:
    """Return the instance that a JSON document describes.

    Parameters
    ----------
    document : dict
        Its `schema` is "sats-instance/1" (with `bundles` and `values` they are checked against the parameters), "valuations/1", or
        "sats-store" with the files of SATS as `world` and `bidders`.

    Raises
    ------
    InvalidInput
        With a pointer to what is wrong.

    Examples
    --------
    >>> from auctions.domains import gsvm
    >>> read_instance(gsvm(1).to_dict()).to_dict() == gsvm(1).to_dict()
    True
    """
    reader = Reader(document)
    schema = reader["schema"].text()
    if schema == "valuations/1":
        return Valuations.read(reader)
    if schema == "sats-store":
        return read_instance(from_store(reader))
    if schema != "sats-instance/1":
        raise reader["schema"].fault(f"is 'sats-instance/1', 'valuations/1' or 'sats-store', not {schema!r}")
    domain = reader["domain"].text()
    if domain not in DOMAINS:
        raise reader["domain"].fault(f"is one of {', '.join(DOMAINS)}, not {domain!r}")
    instance = DOMAINS[domain](reader)
    if reader.get("bundles") is not None and reader.get("values") is not None:
        _check_values(instance, reader)
    return instance


def read_instance_file(content: bytes) -> Instance:
    """Return the instance in a file: JSON, a zip archive in the layout of SATS, or a CSV of XOR bids.

    Raises
    ------
    InvalidInput
        It is none of these, or the instance has a fault.
    """
    if content[:4] == b"PK\x03\x04":
        return read_instance(read_archive(content))
    text = _decoded(content)
    if text.lstrip()[:1] in ("{", "["):
        return read_instance(parsed(text))
    return Valuations.read_csv(text)


def parsed(text: str) -> Any:
    """Return the JSON value of a text; `NaN` and the infinities, which JSON does not have, are refused."""

    def refuse(name: str) -> Any:
        raise InvalidInput(f"JSON has no number {name}")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"the file is not valid JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise InvalidInput("the file nests too deeply") from None


def _check_values(instance: Instance, reader: Reader) -> None:
    bundles = checked_bundles(reader["bundles"].value, instance.capacities, instance.good_names, pointer="/bundles")
    for bidder, row in enumerate(reader["values"].items(length=instance.n_bidders)):
        given = row.numbers(length=len(bundles))
        found = instance.values(bidder, bundles)
        wrong = np.abs(found - given) > TOLERANCE * np.maximum(np.abs(found), np.abs(given))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InvalidInput(
                f"bidder {bidder} values bundle {place} at {given[place]!r} here, by the parameters at {found[place]!r}",
                pointer=f"/values/{bidder}/{place}",
            )


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the file is neither a zip archive nor text in UTF-8") from None
