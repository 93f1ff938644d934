"""API keys, kept as hashes, and how often each was used within a minute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select, text, update

from app.jobs.database import Database
from app.jobs.schema import api_keys, now


class Key(NamedTuple):
    """An API key: `hash` is all that is known of its secret."""

    id: str
    owner: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    created_at: float
    revoked_at: float | None


_BY_HASH = select(api_keys).where(api_keys.c.hash == bindparam("hash"), api_keys.c.revoked_at.is_(None))
_ANY = select(api_keys.c.id).limit(1)
_COUNT = text(
    "INSERT INTO usage (key_id, minute, requests) VALUES (:key_id, :minute, 1) "
    "ON CONFLICT (key_id, minute) DO UPDATE SET requests = usage.requests + 1 RETURNING requests"
)


class Keys(Database):
    """The part of the job database that says who may call."""

    def add_key(self, *, key_id: str, owner: str, name: str, hash: str, scopes: Iterable[str]) -> Key:
        """Keep a new key."""
        key = {"id": key_id, "owner": owner, "name": name, "hash": hash, "scopes": list(scopes)}
        with self.writing() as connection:
            row = connection.execute(insert(api_keys).values(created_at=now(), **key).returning(*api_keys.c)).one()
        return _key(row)

    def find_key(self, hash: str) -> Key | None:
        """Return the key of that hash, unless it was revoked."""
        with self.reading() as connection:
            row = connection.execute(_BY_HASH, {"hash": hash}).first()
        return None if row is None else _key(row)

    def get_key(self, key_id: str) -> Key | None:
        """Return the key of that id, revoked or not."""
        with self.reading() as connection:
            row = connection.execute(select(api_keys).where(api_keys.c.id == key_id)).first()
        return None if row is None else _key(row)

    def revoke_key(self, key_id: str) -> bool:
        """Make a key worthless; False if there is none of that id or it was revoked before."""
        statement = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None)).values(revoked_at=now())
        with self.writing() as connection:
            return connection.execute(statement).rowcount > 0

    def list_keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        with self.reading() as connection:
            return [_key(row) for row in connection.execute(select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id))]

    def any_keys(self) -> bool:
        """Whether a key was ever made. Revoked ones count, so that revoking the last one opens nothing to everybody."""
        with self.reading() as connection:
            return connection.execute(_ANY).first() is not None

    def count_request(self, key_id: str, window: int) -> int:
        """Count one request of a key in the minute numbered `window`; return how many it is by now."""
        with self.writing() as connection:
            return int(connection.execute(_COUNT, {"key_id": key_id, "minute": window}).scalar_one())


def _key(row: object) -> Key:
    key = Key(*row)  # type: ignore[misc]
    return key._replace(scopes=tuple(key.scopes))
