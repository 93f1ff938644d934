"""The forms in which a request names an instance: a seed to draw it from, a stored file, or the whole of it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from auctions.domains import Instance, draw_instance, read_instance_file
from auctions.domains import read_instance as from_document
from auctions.domains.json_reader import Reader
from solvers.field_faults import json_pointer
from solvers.operation import Context, ForesolveError, InvalidInput

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
                "domain": {"type": "string", "description": "gsvm, lsvm, srvm, mrvm, bvm, mbvm or cats."},
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
DRAWING = ("rng", "seed_convention", "population_seed")


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
    for member in form:
        if member not in ("domain", "seed", "parameters", *DRAWING):
            raise InvalidInput(f"an instance that is drawn has no member {member!r}", pointer=json_pointer((member,)))
    parameters = reader.get("parameters")
    given = {} if parameters is None else {name: value.value for name, value in parameters.entries()}
    drawing = {name: form.get(name) for name in DRAWING}
    return draw_instance(reader["domain"].text(), reader["seed"].integer(), given, **drawing)


def _from_file(file_id: Any, context: Context) -> Instance:
    with context.files.open(Reader(file_id, "/file").text()) as stream:
        content = stream.read()
    try:
        return read_instance_file(content)
    except ForesolveError as fault:
        # The file's own places are no places of the request.
        where = {} if fault.pointer is None else {"place": fault.pointer}
        raise type(fault)(f"in the file: {fault.detail}", pointer="/file", **fault.members | where) from None
