"""Files of the service: bytes on any file system that fsspec knows, one folder per owner, never in SQL.

Names and media types are rows of the job database; here is only what cannot be a row. A file becomes visible when it is complete,
and an id is either ``file_`` and 32 hexadecimal digits or names no file, so that no path can be smuggled in.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import uuid
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from app.identifiers import is_id, new_id
from solvers.operation import UnknownFile

_CHECKPOINTS = "checkpoints"
_PARTS = "parts"
_UNFINISHED = ".part"


class StoredFile(NamedTuple):
    """One object of the store, as a sweep sees it.

    Attributes
    ----------
    path : str
    name : str
        A file's or a job's id, or that of a write that never ended.
    part : str or None
        Which part of the file it is, if it is not the file itself.
    modified : float
        Unix seconds.
    """

    path: str
    name: str
    part: str | None
    modified: float


def owner_folder(owner: str) -> str:
    """Return the folder of an owner: a digest, so that any text can be an owner."""
    return hashlib.sha256(owner.encode()).hexdigest()[:32]


class FileStore:
    """Files by owner and id.

    Parameters
    ----------
    url : str
        fsspec URL of the root folder, such as ``file:///srv/files`` or ``s3://bucket/prefix``.

    Examples
    --------
    >>> files = FileStore("memory://doctest")
    >>> with files.create("alice") as writer:
    ...     _ = writer.write(b"3 2")
    >>> files.open("alice", writer.file_id).read()
    b'3 2'
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._fs, root = fsspec.url_to_fs(url)
        self._root = root.rstrip("/")

    def of(self, owner: str, on_save: Callable[[dict[str, Any]], None] | None = None) -> OwnedFiles:
        """Return the files of one owner, as an operation sees them."""
        return OwnedFiles(self, owner, on_save)

    def open(self, owner: str, file_id: str) -> IO[bytes]:
        """Open a file for reading; :class:`UnknownFile` if the owner has none of that id."""
        try:
            return cast("IO[bytes]", self._fs.open(self._path(owner, file_id), "rb"))
        except FileNotFoundError:
            raise _unknown(file_id) from None

    def size(self, owner: str, file_id: str) -> int:
        """Return a file's length in bytes."""
        try:
            return int(self._fs.size(self._path(owner, file_id)))
        except FileNotFoundError:
            raise _unknown(file_id) from None

    @contextlib.contextmanager
    def create(self, owner: str) -> Iterator[FileWriter]:
        """Write a new file: it exists once the block ends, and never if the block raises."""
        file_id = new_id("file")
        with self._writing(self._path(owner, file_id)) as stream:
            yield FileWriter(file_id, stream)

    def delete(self, owner: str, file_id: str) -> None:
        """Remove a file; :class:`UnknownFile` if the owner has none of that id."""
        try:
            self._fs.rm_file(self._path(owner, file_id))
        except FileNotFoundError:
            raise _unknown(file_id) from None

    def parts(self, owner: str, file_id: str) -> list[str]:
        """Return the names of a file's parts: more bytes that live and end with it."""
        try:
            listed = self._fs.ls(self._part_folder(owner, file_id), detail=False)
        except FileNotFoundError:
            return []
        return [name for name in map(posixpath.basename, listed) if not name.endswith(_UNFINISHED)]

    def open_part(self, owner: str, file_id: str, part: str) -> IO[bytes]:
        """Open a part for reading; :class:`UnknownFile` if the file has none of that name."""
        try:
            return cast("IO[bytes]", self._fs.open(f"{self._part_folder(owner, file_id)}/{part}", "rb"))
        except FileNotFoundError:
            raise UnknownFile(f"the file {file_id!r} has no part {part!r}") from None

    def add_part(self, owner: str, file_id: str, part: str, content: bytes) -> None:
        """Keep a part, whole or not at all; of several writers at the same time one succeeds, the others get `FileExistsError`."""
        folder = self._part_folder(owner, file_id)
        self._fs.makedirs(folder, exist_ok=True)
        path = f"{folder}/{part}"
        if not isinstance(self._fs, LocalFileSystem):
            self._fs.pipe_file(path, content, mode="create")
            return
        unfinished = f"{path}.{uuid.uuid4().hex}{_UNFINISHED}"
        try:
            with self._fs.open(unfinished, "wb") as stream:
                stream.write(content)
            os.link(unfinished, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(unfinished)

    def delete_parts(self, owner: str, file_id: str) -> None:
        """Remove all parts of a file."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm(self._part_folder(owner, file_id), recursive=True)

    def write_checkpoint(self, job_id: str, state: bytes) -> None:
        """Keep a job's checkpoint in place of its earlier one."""
        with self._writing(self._checkpoint(job_id)) as stream:
            stream.write(state)

    def read_checkpoint(self, job_id: str) -> bytes | None:
        """Return a job's last checkpoint."""
        try:
            return cast("bytes", self._fs.cat_file(self._checkpoint(job_id)))
        except FileNotFoundError:
            return None

    def delete_checkpoint(self, job_id: str) -> None:
        """Forget a job's checkpoint, if there is one."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._checkpoint(job_id))

    def walk(self) -> Iterator[StoredFile]:
        """Yield everything that is stored, of all owners."""
        with contextlib.suppress(FileNotFoundError):
            for path in self._fs.find(self._root):
                with contextlib.suppress(FileNotFoundError):
                    folder, name = posixpath.split(path)
                    is_part = PurePosixPath(folder).parent.name == _PARTS and not name.endswith(_UNFINISHED)
                    of, part = (posixpath.basename(folder), name) if is_part else (name, None)
                    yield StoredFile(path, of, part, self._fs.modified(path).timestamp())

    def remove(self, path: str) -> None:
        """Remove what :meth:`walk` found."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(path)

    def _path(self, owner: str, file_id: str) -> str:
        if not isinstance(file_id, str) or not is_id("file", file_id):
            raise _unknown(file_id)
        return f"{self._root}/{owner_folder(owner)}/{file_id}"

    def _part_folder(self, owner: str, file_id: str) -> str:
        folder, name = posixpath.split(self._path(owner, file_id))
        return f"{folder}/{_PARTS}/{name}"

    def _checkpoint(self, job_id: str) -> str:
        if not is_id("job", job_id):
            raise ValueError(f"{job_id!r} is not the id of a job")
        return f"{self._root}/{_CHECKPOINTS}/{job_id}"

    @contextlib.contextmanager
    def _writing(self, path: str) -> Iterator[IO[bytes]]:
        # A move is one step on every file system worth the name; what it takes the place of stays whole until then.
        self._fs.makedirs(posixpath.dirname(path), exist_ok=True)
        part = f"{path}.{uuid.uuid4().hex}{_UNFINISHED}"
        try:
            with self._fs.open(part, "wb") as stream:
                yield cast("IO[bytes]", stream)
            self._fs.mv(part, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(part)
            raise


class FileWriter:
    """The file that is being written: its id, and how long it is by now."""

    def __init__(self, file_id: str, stream: IO[bytes]) -> None:
        self.file_id = file_id
        self.size = 0
        self._stream = stream

    def write(self, chunk: bytes) -> int:
        """Append `chunk`."""
        self._stream.write(chunk)
        self.size += len(chunk)
        return len(chunk)


class OwnedFiles:
    """The files of one owner; a :class:`solvers.operation.Files` that remembers in `saved` what was written through it."""

    def __init__(self, files: FileStore, owner: str, on_save: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._files = files
        self._owner = owner
        self._on_save = on_save
        self.saved: list[dict[str, Any]] = []

    def open(self, file_id: str) -> IO[bytes]:
        """Open a file for reading; :class:`UnknownFile` if the owner has none of that id."""
        return self._files.open(self._owner, file_id)

    def save(self, content: bytes, *, name: str, media_type: str) -> str:
        """Keep `content` and return its id."""
        with self.create(name=name, media_type=media_type) as writer:
            writer.write(content)
        return writer.file_id

    @contextlib.contextmanager
    def create(self, *, name: str, media_type: str) -> Iterator[FileWriter]:
        """Write a file piece by piece: it exists once the block ends, and never if the block raises."""
        with self._files.create(self._owner) as writer:
            yield writer
        entry = {"id": writer.file_id, "name": name, "media_type": media_type, "size": writer.size}
        self.saved.append(entry)
        if self._on_save is not None:
            self._on_save(entry)

    def parts(self, file_id: str) -> list[str]:
        """Return the names of a file's parts."""
        return self._files.parts(self._owner, file_id)

    def open_part(self, file_id: str, part: str) -> IO[bytes]:
        """Open a part for reading; :class:`UnknownFile` if the file has none of that name."""
        return self._files.open_part(self._owner, file_id, part)

    def add_part(self, file_id: str, part: str, content: bytes) -> None:
        """Keep a part; `FileExistsError` if the file has one of that name."""
        self._files.add_part(self._owner, file_id, part, content)


def _unknown(file_id: object) -> UnknownFile:
    return UnknownFile(f"there is no file {str(file_id)[:80]!r}")
