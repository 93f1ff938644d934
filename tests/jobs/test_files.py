"""Files by owner: what one saves another does not find, and an id is never a path."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.files import FileStore
from solvers.operation import UnknownFile


@pytest.fixture(params=["file", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    return FileStore(f"file://{tmp_path}/files" if request.param == "file" else f"memory://{uuid.uuid4().hex}")


def save(files: FileStore, content: bytes = b"content", owner: str = "alice") -> str:
    with files.create(owner) as writer:
        writer.write(content)
    return writer.file_id


def test_a_file_holds_what_was_written(files):
    with files.create("alice") as writer:
        writer.write(b"one ")
        writer.write(b"two")

    assert files.open("alice", writer.file_id).read() == b"one two"
    assert files.size("alice", writer.file_id) == writer.size == 7


def test_a_file_is_not_another_owners(files):
    file_id = save(files)

    for act in (files.open, files.size, files.delete):
        with pytest.raises(UnknownFile):
            act("bob", file_id)
    assert files.open("alice", file_id).read() == b"content"


def test_a_file_is_not_there_before_it_is_complete(files):
    with files.create("alice") as writer:
        writer.write(b"half")
        with pytest.raises(UnknownFile):
            files.open("alice", writer.file_id)


def test_a_write_that_breaks_off_leaves_nothing(files):
    with pytest.raises(RuntimeError), files.create("alice") as writer:  # noqa: PT012 - the block is what breaks off
        writer.write(b"half")
        raise RuntimeError

    assert list(files.walk()) == []


def test_a_deleted_file_is_gone(files):
    file_id = save(files)

    files.delete("alice", file_id)

    with pytest.raises(UnknownFile):
        files.open("alice", file_id)


@pytest.mark.parametrize(
    "file_id",
    [
        "../alice/secret",
        "/etc/passwd",
        "file_../../../etc/passwd",
        "",
        "file_" + "0" * 32,
        "file_" + "A" * 32,
        "file_\x00",
        7,
        None,
    ],
)
def test_what_is_no_files_id_names_no_file(files, file_id):
    save(files)

    for act in (files.open, files.size, files.delete):
        with pytest.raises(UnknownFile):
            act("alice", file_id)


@pytest.mark.parametrize("owner", ["../..", "/", "a/b", "ünï\n", ""])
def test_any_text_can_be_an_owner(files, owner):
    assert files.open(owner, save(files, owner=owner)).read() == b"content"


@pytest.mark.parametrize("job_id", ["../x", "job_", "file_" + "0" * 32])
def test_a_checkpoint_belongs_to_a_job(files, job_id):
    with pytest.raises(ValueError, match="not the id of a job"):
        files.write_checkpoint(job_id, b"state")


def test_a_later_checkpoint_takes_the_place_of_the_earlier(files):
    job_id = f"job_{uuid.uuid4().hex}"
    assert files.read_checkpoint(job_id) is None

    files.write_checkpoint(job_id, b"one")
    files.write_checkpoint(job_id, b"two")

    assert files.read_checkpoint(job_id) == b"two"
    files.delete_checkpoint(job_id)
    assert files.read_checkpoint(job_id) is None


def test_owned_files_remember_what_was_saved(files):
    told: list[dict] = []
    owned = files.of("alice", told.append)

    file_id = owned.save(b"abc", name="x.txt", media_type="text/plain")

    assert owned.open(file_id).read() == b"abc"
    assert owned.saved == told == [{"id": file_id, "name": "x.txt", "media_type": "text/plain", "size": 3}]


def test_parts_live_and_end_with_their_file(files):
    file_id = save(files)
    files.add_part("alice", file_id, "rows", b"1 2")
    files.add_part("alice", file_id, "version-2", b"new")

    assert sorted(files.parts("alice", file_id)) == ["rows", "version-2"]
    assert files.open_part("alice", file_id, "rows").read() == b"1 2"
    assert {(file.name, file.part) for file in files.walk()} == {(file_id, None), (file_id, "rows"), (file_id, "version-2")}

    files.delete_parts("alice", file_id)
    assert files.parts("alice", file_id) == []


def test_a_part_is_written_once(files):
    file_id = save(files)
    files.add_part("alice", file_id, "version-2", b"first")

    with pytest.raises(FileExistsError):
        files.add_part("alice", file_id, "version-2", b"second")
    assert files.open_part("alice", file_id, "version-2").read() == b"first"


def test_of_those_who_add_the_same_part_at_once_one_succeeds(files):
    file_id = save(files)

    def add(number: int) -> bool:
        try:
            files.add_part("alice", file_id, "version-2", str(number).encode() * 100_000)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        winners = [number for number, won in enumerate(pool.map(add, range(8))) if won]
    assert len(winners) == 1
    assert files.open_part("alice", file_id, "version-2").read() == str(winners[0]).encode() * 100_000
    assert files.parts("alice", file_id) == ["version-2"]


def test_a_part_is_not_another_owners(files):
    file_id = save(files)
    files.add_part("alice", file_id, "rows", b"1 2")

    assert files.parts("bob", file_id) == []
    with pytest.raises(UnknownFile):
        files.open_part("bob", file_id, "rows")
