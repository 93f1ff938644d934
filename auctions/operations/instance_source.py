"""The forms in which a request names an instance: a seed to draw it from, a stored file, or the whole of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from auctions.domains import Gsvm, Instance, Lsvm, Mrvm, Srvm, gsvm, lsvm, mrvm, srvm
from auctions.domains.json_reader import Reader
from solvers.operation import Context, ForesolveError, InvalidInput

DRAWN: dict[str, Callable[..., Instance]] = {"gsvm": gsvm, "lsvm": lsvm, "srvm": srvm, "mrvm": mrvm}
"""The value domains, by name."""

READ: dict[str, Callable[[Reader], Instance]] = {"gsvm": Gsvm.read, "lsvm": Lsvm.read, "srvm": Srvm.read, "mrvm": Mrvm.read}

FORMS = "give {domain, seed}, {file}, or a whole instance with its schema"

InstanceForm: TypeAlias = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "Bidders and goods, in one of three forms: drawn from a domain by its seed, "
            "`{domain, seed, rng?, seed_convention?, population_seed?, parameters?}`; a file, `{file: id}`, which holds an instance as "
            "`auctions/instances` stored it, or another of the schemas; or the instance itself in one of the schemas, "
            "`{schema: .., ..}`.",
            "properties": {
                "domain": {"type": "string", "description": "gsvm, lsvm, srvm or mrvm."},
                "seed": {"type": "integer", "description": "Of the draw; signed 64 bits, not negative with the generator numpy."},
                "rng": {"type": "string", "description": "java: as SATS draws, to the last bit; numpy: a generator of NumPy."},
                "seed_convention": {"type": "string", "description": "pysats or split."},
                "parameters": {"type": "object", "description": "Counts, sizes and intervals of the domain."},
                "file": {"type": "string", "description": "Id of a file."},
                "schema": {"type": "string", "description": "Of an instance that is given whole."},
            },
        }
    ),
]
_DRAWING = ("rng", "seed_convention", "population_seed")


def read_instance(form: dict[str, Any], context: Context, pointer: str = "/instance") -> Instance:
    """Return the instance that a request names.

    Raises
    ------
    InvalidInput
        If it is malformed, with the place.
    UnknownFile
        If the caller has no such file.
    TooLarge
        If it has more bidders or goods than the service takes.
    """
    try:
        instance = _instance_of(form, context)
    except ForesolveError as fault:
        fault.pointer = pointer + (fault.pointer or "")
        raise
    context.require("max_bidders", instance.n_bidders, "bidders", pointer=pointer)
    context.require("max_goods", instance.n_goods, "goods", pointer=pointer)
    return instance


def _instance_of(form: dict[str, Any], context: Context) -> Instance:
    if "schema" in form:
        return from_document(form)
    if "file" in form:
        if len(form) > 1:
            raise InvalidInput("beside a file nothing else is said of an instance", pointer="")
        return _from_file(form["file"], context)
    if "domain" in form:
        return _drawn(form)
    raise InvalidInput(FORMS, pointer="")


def _drawn(form: dict[str, Any]) -> Instance:
    reader = Reader(form)
    name = reader["domain"].text().lower()
    if name not in DRAWN:
        raise InvalidInput(f"there is no domain {form['domain']!r}; there are {', '.join(DRAWN)}", pointer="/domain")
    draw = DRAWN[name]
    for member in form:
        if member not in ("domain", "seed", "parameters", *_DRAWING):
            raise InvalidInput(f"an instance that is drawn has no member {member!r}", pointer=f"/{member}")
    parameters = reader.get("parameters")
    given = {} if parameters is None else {key: value.value for key, value in parameters.entries()}
    known = inspect.signature(draw).parameters
    for key, value in given.items():
        if key not in known or key in ("seed", *_DRAWING):
            offered = ", ".join(one for one in known if one not in ("seed", *_DRAWING))
            raise InvalidInput(f"{name} has no parameter {key!r}; it has {offered}", pointer=f"/parameters/{key}")
        if isinstance(known[key].default, bool) and not isinstance(value, bool):
            raise InvalidInput(f"{key} is true or false", pointer=f"/parameters/{key}")
    drawing = {key: form[key] for key in _DRAWING if form.get(key) is not None}
    return draw(reader["seed"].integer(), **drawing, **given)


def _from_file(file_id: Any, context: Context) -> Instance:
    with context.files.open(Reader(file_id, "/file").text()) as stream:
        content = stream.read()
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput("the file is no JSON document", pointer="/file") from None
    try:
        return from_document(document)
    except InvalidInput as fault:
        raise InvalidInput(f"in the file, {fault.detail}", pointer="/file", place=fault.pointer) from None


def from_document(document: Any) -> Instance:
    """Return the instance of a document in one of the schemas."""
    reader = Reader(document)
    schema = reader["schema"].text()
    if schema != "sats-instance/1":
        raise InvalidInput(f"there is no schema {schema!r} of an instance", pointer="/schema")
    name = reader["domain"].text().lower()
    if name not in READ:
        raise InvalidInput(f"there is no domain {document['domain']!r}; there are {', '.join(READ)}", pointer="/domain")
    return READ[name](reader)
