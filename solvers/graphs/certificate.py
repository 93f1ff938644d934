"""Certificates as they travel: short ones inside a response, long ones in a file that the response names.

A certificate is ``{"kind": kind, ...}`` with what a stranger needs, beside the graph, to prove the bound again. One with more
than 10^4 numbers goes as JSON into a file, and ``{"kind": kind, "file": id}`` stands in its place.
"""

from __future__ import annotations

from typing import Any

import orjson

from solvers.operation import Context, ForesolveError

LARGEST_INLINE = 10_000


class UnreadableCertificate(ForesolveError):
    """A certificate's file does not hold the certificate that it should."""


def store_large(certificate: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the certificate, or what stands in its place once it is kept in a file.

    Examples
    --------
    >>> store_large({"kind": "sdp_dual", "y": [0.5, 0.5], "delta": 0.0}, Context())
    {'kind': 'sdp_dual', 'y': [0.5, 0.5], 'delta': 0.0}
    >>> sorted(store_large({"kind": "elimination", "order": list(range(20_000))}, Context()))
    ['file', 'kind']
    """
    if not _exceeds(certificate, LARGEST_INLINE):
        return certificate
    content = orjson.dumps(certificate, option=orjson.OPT_SERIALIZE_NUMPY)
    file_id = context.files.save(content, name=f"certificate-{certificate['kind']}.json", media_type="application/json")
    return {"kind": certificate["kind"], "file": file_id}


def load(certificate: Any, context: Context) -> Any:
    """Return the certificate itself where a file stands in its place.

    Raises
    ------
    ForesolveError
        If there is no such file, or it holds no certificate of that kind.
    """
    if not isinstance(certificate, dict) or "file" not in certificate:
        return certificate
    if not isinstance(certificate["file"], str):
        raise UnreadableCertificate("the file of a certificate is named by its id")
    with context.files.open(certificate["file"]) as file:
        content = file.read()
    try:
        loaded = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableCertificate(f"file {certificate['file']} is not JSON: {error}") from None
    if not isinstance(loaded, dict) or "file" in loaded or loaded.get("kind") != certificate.get("kind"):
        raise UnreadableCertificate(f"file {certificate['file']} holds no certificate of that kind")
    return loaded


def _exceeds(document: Any, limit: int) -> bool:
    """Return whether a JSON document holds more than so many scalars."""
    waiting, count = [document], 0
    while waiting and count <= limit:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list) and value and isinstance(value[0], (list, dict)):
            waiting.extend(value)
        else:
            count += len(value) if isinstance(value, list) else 1
    return count > limit
