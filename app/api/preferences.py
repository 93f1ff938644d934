"""The `Prefer` header (RFC 7240): how long a caller wants to wait for a result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_WORD = rf"(?:{_TOKEN}|{_QUOTED})"
_PARAMETER = rf"\s*+;\s*+(?:{_TOKEN}(?:\s*+=\s*+{_WORD}?+)?+)?+"
# Possessive quantifiers: a hostile header is refused in linear time.
_PREFERENCE = re.compile(rf"\s*+({_TOKEN})(?:\s*+=\s*+({_WORD})?+)?+(?:{_PARAMETER})*+\s*+(?:,|$)")
_LONGEST_NUMBER = 9


class Preference(NamedTuple):
    """What a caller prefers.

    Attributes
    ----------
    wait : int or None
        Seconds to wait for the result.
    respond_async : bool
        Answer with the job rather than wait; with `wait`, once that many seconds have passed.
    """

    wait: int | None = None
    respond_async: bool = False

    def seconds(self, default: float, longest: float) -> float:
        """Return how long to wait, given the wait without a preference and the longest that is allowed."""
        if self.wait is not None:
            return min(float(self.wait), longest)
        return 0.0 if self.respond_async else min(default, longest)

    def applied(self, longest: float) -> dict[str, str]:
        """Return the header that says which preferences were honoured."""
        honoured = ["respond-async"] if self.respond_async else []
        if self.wait is not None:
            honoured.append(f"wait={min(self.wait, int(longest))}")
        return {"Preference-Applied": ", ".join(honoured)} if honoured else {}


def parse_prefer(values: Sequence[str]) -> Preference:
    """Read the `Prefer` headers of a request; what is malformed or unknown is ignored, as the RFC asks.

    Examples
    --------
    >>> parse_prefer(["respond-async, wait=10"])
    Preference(wait=10, respond_async=True)
    >>> parse_prefer(['return=minimal; foo="a, wait=1"', "Wait = 5, wait=6"])
    Preference(wait=5, respond_async=False)
    >>> parse_prefer(["wait=soon", "wait=-1", "wait"])
    Preference(wait=None, respond_async=False)
    """
    first: dict[str, str] = {}
    for name, value in _preferences(", ".join(values)):
        first.setdefault(name, value)
    wait = first.get("wait", "")
    is_number = wait.isascii() and wait.isdigit() and len(wait) <= _LONGEST_NUMBER
    return Preference(int(wait) if is_number else None, first.get("respond-async") == "")


def _preferences(text: str) -> list[tuple[str, str]]:
    found, position = [], 0
    while position < len(text):
        match = _PREFERENCE.match(text, position)
        if match is None:
            comma = text.find(",", position)
            position = len(text) if comma < 0 else comma + 1
            continue
        found.append((match[1].lower(), _unquoted(match[2] or "")))
        position = match.end()
    return found


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1]) if word.startswith('"') else word
