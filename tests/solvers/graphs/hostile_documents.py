"""Ways to spoil a JSON document."""

import math

HOSTILE = [
    None,
    True,
    -1,
    10**30,
    -(10**30),
    1e308,
    math.nan,
    math.inf,
    "",
    "0",
    [],
    {},
    [[]],
    [None],
    {"kind": "trivial"},
    2**63,
]


def spots(document, path=()):
    """Yield the path of every number, string and list in a JSON document."""
    if path:
        yield path
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in items:
        yield from spots(value, (*path, key))


def replaced(document, path, value):
    """Return the document with another value at a path."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = replaced(document[path[0]], path[1:], value)
    return copy


def at(document, path):
    """Return what a document holds at a path."""
    for key in path:
        document = document[key]
    return document
