"""API keys, their scopes, and where the service may listen without any.

A key is ``fsk_<id>_<secret>``; the database holds its SHA-256 only. Keys carry 256 random bits, so that a plain hash is enough: there is
nothing to guess. Without keys the service is for the person at this machine alone and answers on loopback addresses only.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SCOPES = ("solve", "files", "read", "metrics", "admin")
"""What a key may do: `solve` posts operations and sees its own jobs, `files` keeps files, `read` sees its own jobs, results and files,
`metrics` reads the metrics, `admin` does all of this for every owner."""

STREAM_TOKEN_SECONDS = 60
_SHORTEST_BOOTSTRAP_KEY = 24


class UnsafeConfiguration(ValueError):
    """The service would be open to people it is not meant for; it must not start."""


class NewKey(NamedTuple):
    """A fresh key: its id, its text, which is shown once, and the hash that is kept."""

    id: str
    text: str
    hash: str


def new_key() -> NewKey:
    """Draw a key.

    Examples
    --------
    >>> key = new_key()
    >>> key.text.startswith(f"fsk_{key.id}_"), key.hash == hash_key(key.text)
    (True, True)
    """
    key_id = secrets.token_hex(4)
    text = f"fsk_{key_id}_{secrets.token_urlsafe(32)}"
    return NewKey(key_id, text, hash_key(text))


def hash_key(text: str) -> str:
    """Return the hash under which a key is kept."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_bootstrap_key(path: Path) -> NewKey:
    """Read the key that a container is started with; its id follows from its text, so that every start finds the same key.

    Raises
    ------
    UnsafeConfiguration
        If the file cannot be read or the key is short enough to be guessed.
    """
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UnsafeConfiguration(f"the bootstrap key file {path} cannot be read: {error}") from None
    if len(text) < _SHORTEST_BOOTSTRAP_KEY or not text.isprintable() or " " in text:
        raise UnsafeConfiguration(
            f"the bootstrap key in {path} must have at least {_SHORTEST_BOOTSTRAP_KEY} characters and no spaces, "
            "such as `openssl rand -hex 32` prints"
        )
    digest = hash_key(text)
    return NewKey(f"bootstrap-{digest[:8]}", text, digest)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Attributes
    ----------
    owner : str
        Whose jobs and files the caller works with.
    scopes : frozenset of str
    key_id : str or None
        None where the service has no keys.
    """

    owner: str
    scopes: frozenset[str]
    key_id: str | None = None

    def may(self, *scopes: str) -> bool:
        """Whether the caller has one of these scopes."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)

    @property
    def sees(self) -> str | None:
        """The owner whose things the caller sees; None for everybody's."""
        return None if "admin" in self.scopes else self.owner


LOCAL = Caller("local", frozenset(SCOPES))
"""The person at this machine, where no keys exist."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address reaches this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("localhost.evil.io")
    (True, True, True, False, False)
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def require_safe_binding(host: str, *, keyed: bool) -> None:
    """Refuse to listen where others can reach a service that has no keys.

    Raises
    ------
    UnsafeConfiguration
        If there are no keys and `host` is not a loopback address.
    """
    if not keyed and not is_loopback(host):
        raise UnsafeConfiguration(
            f"refusing to listen on {host} without an API key: create one with `foresolve keys create`, "
            "or name a key file in FORESOLVE_BOOTSTRAP_KEY_FILE, or listen on 127.0.0.1"
        )


def stream_token(job_id: str, key_id: str, key_hash: str, *, expires: int) -> str:
    """Return a token that opens the events of one job until `expires` (unix seconds), for readers that cannot send headers.

    It is signed with the hash of the caller's key: every API process can check it, and it ends with the key.
    """
    return f"{key_id}.{expires}.{_signature(job_id, key_id, key_hash, expires)}"


def stream_token_key(token: str) -> str | None:
    """Return the id of the key that a stream token claims to be signed with."""
    key_id, *rest = token.rsplit(".", 2)
    return key_id if len(rest) == 2 else None


def is_valid_stream_token(token: str, job_id: str, key_hash: str, *, now: float | None = None) -> bool:
    """Whether a stream token is for this job, signed with this key, and not expired.

    Examples
    --------
    >>> token = stream_token("job_1", "k", "hash", expires=100)
    >>> [is_valid_stream_token(token, job, "hash", now=now) for job, now in [("job_1", 99), ("job_2", 99), ("job_1", 101)]]
    [True, False, False]
    """
    parts = token.rsplit(".", 2)
    if len(parts) != 3 or not (parts[1].isascii() and parts[1].isdigit() and len(parts[1]) <= 12):
        return False
    key_id, expires, signature = parts[0], int(parts[1]), parts[2]
    genuine = hmac.compare_digest(signature.encode(), _signature(job_id, key_id, key_hash, expires).encode())
    return genuine and (time.time() if now is None else now) < expires


def _signature(job_id: str, key_id: str, key_hash: str, expires: int) -> str:
    message = f"{job_id}\n{key_id}\n{expires}".encode()
    digest = hmac.new(key_hash.encode(), message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
