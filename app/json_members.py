"""Members that occur twice in one object of a JSON document: a parser keeps the last of them and says nothing."""

from __future__ import annotations

import json
import re

from solvers.operation import InvalidInput

# A string, with the colon behind it if it names a member, or a brace.
_TOKEN = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]', re.DOTALL)


def require_unique_members(content: bytes) -> None:
    r"""Require that no object of a document has two members of the same name.

    Parameters
    ----------
    content : bytes
        A document that a parser has accepted.

    Raises
    ------
    InvalidInput
        With the line of the second one.

    Notes
    -----
    O(length), and a step for every string and brace: numbers cost next to nothing.

    Examples
    --------
    >>> require_unique_members(b'{"a": 1, "b": {"a": "a\\": {"}}')
    >>> require_unique_members(b'{"rows": [{"a": 1,\n"\\u0061": 2}]}')
    Traceback (most recent call last):
        ...
    solvers.operation.InvalidInput: line 2: the member 'a' occurs twice in one object
    """
    objects: list[set[bytes]] = []
    for token in _TOKEN.finditer(content):
        name, colon = token.groups()
        if name is None:
            if token[0] == b"{":
                objects.append(set())
            else:
                objects.pop()
        elif colon is not None:
            if b"\\" in name:
                name = json.dumps(json.loads(name), ensure_ascii=False).encode("utf-8", "surrogatepass")
            if name in objects[-1]:
                line = content.count(b"\n", 0, token.start()) + 1
                raise InvalidInput(f"line {line}: the member {json.loads(name)!r:.80} occurs twice in one object", line=line)
            objects[-1].add(name)
