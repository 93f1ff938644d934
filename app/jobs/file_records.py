"""Names, types and sizes of the files whose bytes are in :mod:`app.files`."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, insert, select

from app.identifiers import is_id
from app.jobs.database import Database
from app.jobs.schema import files, now
from solvers.resource import MEDIA_TYPE_PREFIX


class FileRecord(NamedTuple):
    """A file as its owner sees it; `job_id` names the job that made it, None for an upload."""

    id: str
    owner: str
    name: str
    media_type: str
    size: int
    job_id: str | None
    created_at: float


class FileRecords(Database):
    """The part of the job database that lists files."""

    def add_file(
        self, owner: str, file_id: str, *, name: str, media_type: str, size: int, job_id: str | None = None
    ) -> FileRecord:
        """List a file whose bytes are stored."""
        row = {"id": file_id, "owner": owner, "name": name, "media_type": media_type, "size": size, "job_id": job_id}
        with self.writing() as connection:
            return FileRecord(*connection.execute(insert(files).values(created_at=now(), **row).returning(*files.c)).one())

    def get_file(self, file_id: str, owner: str | None = None) -> FileRecord | None:
        """Return a file; None if there is none of that id, or it is not that owner's."""
        if not is_id("file", file_id):
            return None
        with self.reading() as connection:
            row = connection.execute(select(files).where(files.c.id == file_id)).first()
        return None if row is None or owner not in {None, row.owner} else FileRecord(*row)

    def list_files(
        self,
        owner: str | None,
        *,
        before: str | None = None,
        limit: int = 50,
        media_type: str | None = None,
        name: str | None = None,
        is_made: bool = False,
    ) -> list[FileRecord]:
        """Return files, or those of one media type or name, or made by jobs, newest first, from those older than the file `before`."""
        query = select(files).order_by(files.c.id.desc()).limit(limit)
        if owner is not None:
            query = query.where(files.c.owner == owner)
        if media_type is not None:
            query = query.where(files.c.media_type == media_type)
        if name is not None:
            query = query.where(files.c.name == name)
        if is_made:
            query = query.where(files.c.job_id.is_not(None))
        if before is not None:
            query = query.where(files.c.id < before)
        with self.reading() as connection:
            return [FileRecord(*row) for row in connection.execute(query)]

    def delete_file(self, file_id: str, owner: str | None = None) -> bool:
        """Take a file off the list; False if there is none of that id, or it is not that owner's."""
        if not is_id("file", file_id):
            return False
        statement = delete(files).where(files.c.id == file_id)
        if owner is not None:
            statement = statement.where(files.c.owner == owner)
        with self.writing() as connection:
            return connection.execute(statement).rowcount > 0


def is_resource() -> ColumnElement[bool]:
    """Return the condition that a file is a resource, which lives until its owner deletes it."""
    return files.c.media_type.startswith(MEDIA_TYPE_PREFIX, autoescape=True)
