"""The contract of an operation: a typed, pure function that the service can turn into an endpoint, a job and a command.

An :class:`Operation` names a request model, a result model and `run(request, context) -> result`. `run` knows nothing of HTTP,
databases or processes; whatever it needs of its surroundings it asks of the :class:`Context`: the time that is left, whether it
was cancelled, random numbers, files, and a place to report incumbents to. The same `run` therefore serves a notebook, a command
line and a worker process.
"""

from __future__ import annotations

import io
import itertools
import logging
import math
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel

from solvers.resource import ResourceKind

log = logging.getLogger("foresolve")

Request = TypeVar("Request", bound=BaseModel)
Result = TypeVar("Result", bound=BaseModel)
Item = TypeVar("Item")
Output = TypeVar("Output")


class ForesolveError(ValueError):
    """Base of every fault that a caller can act on.

    Parameters
    ----------
    detail : str
        What is wrong with which item and, where it is short, what would be right.
    pointer : str, optional
        JSON pointer (RFC 6901) to the field at fault, such as ``/edges/17``.
    **members
        Further members of the problem document, such as ``line=3``.

    Examples
    --------
    >>> InvalidInput("edge 17 joins vertex 5 to itself", pointer="/edges/17").problem()["status"]
    422
    """

    type: ClassVar[str] = "invalid-input"
    title: ClassVar[str] = "The input is not valid"
    status: ClassVar[int] = 422

    def __init__(self, detail: str, *, pointer: str | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointer = pointer
        self.members = members

    def problem(self) -> dict[str, Any]:
        """Return the fault as the members of an RFC 9457 problem document."""
        document: dict[str, Any] = {"type": self.type, "title": self.title, "status": self.status, "detail": self.detail}
        if self.pointer is not None:
            document["errors"] = [{"pointer": self.pointer, "detail": self.detail}]
        return document | self.members


class InvalidInput(ForesolveError):
    """A field of the request, or a line of a file that it names, is malformed."""


class TooLarge(ForesolveError):
    """The instance exceeds a limit that the service's owner has set."""

    type = "too-large"
    title = "The instance is too large"
    status = 413


class Conflict(ForesolveError):
    """What the request is about has changed since, or no longer has what it takes."""

    type = "conflict"
    title = "The request does not go with the state of things"
    status = 409


class NotThere(ForesolveError):
    """What is asked for is no part of a thing that exists."""

    type = "not-there"
    title = "It has no such part"
    status = 404


class UnknownFile(ForesolveError):
    """The request names a file that does not exist or belongs to somebody else."""

    type = "unknown-file"
    title = "There is no such file"


@dataclass(frozen=True, slots=True)
class Resources:
    """What a job of an operation needs.

    Attributes
    ----------
    time_limit : float
        Seconds a job may run when its request has no `options.time_limit`.
    memory_mb : int
        Resident memory (MiB) of the job's process tree above which it is killed; the service's own limit may be lower.
    cpus : int
        Threads the job uses.
    gpu : {"none", "optional", "required"}
    light : bool
        Ends within about a second; served by a reserved worker so that it never queues behind long jobs.
    """

    time_limit: float = 60.0
    memory_mb: int = 4096
    cpus: int = 1
    gpu: Literal["none", "optional", "required"] = "none"
    light: bool = False


class MapFailure(NamedTuple):
    """Stands in the place of an item of :meth:`Context.map` whose function raised."""

    index: int  # type: ignore[assignment]  # shadows tuple.index, which nobody needs here
    problem: dict[str, Any]


def internal_error() -> dict[str, Any]:
    """Return the problem document of an unforeseen fault: nothing but an incident's id to look for in the log."""
    incident = uuid.uuid4().hex
    return {
        "type": "internal-error",
        "title": "The service failed",
        "status": 500,
        "detail": f"The service failed; incident {incident}.",
        "incident": incident,
    }


class NewFile(Protocol):
    """A file that is being written."""

    @property
    def file_id(self) -> str: ...
    def write(self, chunk: bytes, /) -> int: ...


class Files(Protocol):
    """Files that a request may name and a result may hold, always those of one owner."""

    def open(self, file_id: str) -> IO[bytes]:
        """Open a file for reading; :class:`UnknownFile` if the owner has none of that id."""
        ...

    def save(self, content: bytes, *, name: str, media_type: str) -> str:
        """Keep `content` and return its id."""
        ...

    def create(self, *, name: str, media_type: str) -> AbstractContextManager[NewFile]:
        """Write a file piece by piece: it exists once the block ends, and never if the block raises."""
        ...

    def parts(self, file_id: str) -> list[str]:
        """Return the names of the parts of a file: more bytes that live and end with it."""
        ...

    def open_part(self, file_id: str, part: str) -> IO[bytes]:
        """Open a part for reading; :class:`UnknownFile` if the file has none of that name."""
        ...

    def add_part(self, file_id: str, part: str, content: bytes) -> None:
        """Keep a part; :class:`FileExistsError` if the file has one of that name, whoever else adds it at the same time."""
        ...


class MemoryFiles:
    """Files held in memory: what a library call uses.

    Examples
    --------
    >>> files = MemoryFiles()
    >>> files.open(files.save(b"3 2", name="tiny.txt", media_type="text/plain")).read()
    b'3 2'
    """

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self._parts: dict[str, dict[str, bytes]] = {}

    def open(self, file_id: str) -> IO[bytes]:
        try:
            return io.BytesIO(self._contents[file_id])
        except KeyError:
            raise UnknownFile(f"there is no file {file_id!r}") from None

    def save(self, content: bytes, *, name: str, media_type: str) -> str:
        file_id = f"file_{uuid.uuid4().hex}"
        self._contents[file_id] = content
        return file_id

    @contextmanager
    def create(self, *, name: str, media_type: str) -> Iterator[NewFile]:
        buffer = _Buffer()
        yield buffer
        buffer.file_id = self.save(buffer.content.getvalue(), name=name, media_type=media_type)

    def parts(self, file_id: str) -> list[str]:
        return list(self._parts.get(file_id, ()))

    def open_part(self, file_id: str, part: str) -> IO[bytes]:
        try:
            return io.BytesIO(self._parts[file_id][part])
        except KeyError:
            raise UnknownFile(f"the file {file_id!r} has no part {part!r}") from None

    def add_part(self, file_id: str, part: str, content: bytes) -> None:
        if self._parts.setdefault(file_id, {}).setdefault(part, content) is not content:
            raise FileExistsError(part)


class _Buffer:
    def __init__(self) -> None:
        self.file_id = ""
        self.content = io.BytesIO()

    def write(self, chunk: bytes, /) -> int:
        return self.content.write(chunk)


class FolderFiles(MemoryFiles):
    """Files that outlive the run: what an operation saves is written into a folder, and its id is the path.

    The parts of a file are in a folder beside it.

    Parameters
    ----------
    folder : pathlib.Path
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def hold(self, content: bytes) -> str:
        """Keep `content` for the run only, and return its id."""
        return super().save(content, name="", media_type="")

    def open(self, file_id: str) -> IO[bytes]:
        try:
            return super().open(file_id)
        except UnknownFile:
            path = Path(file_id)
            if not path.is_file():
                raise
            return path.open("rb")

    def save(self, content: bytes, *, name: str, media_type: str) -> str:
        stem, suffix = Path(name).stem, Path(name).suffix
        path = self._folder / name
        for number in itertools.count(2):
            try:
                with path.open("xb") as file:
                    file.write(content)
            except FileExistsError:
                path = self._folder / f"{stem}-{number}{suffix}"
            else:
                break
        return str(path)

    def parts(self, file_id: str) -> list[str]:
        folder = _parts_folder(file_id)
        return [path.name for path in folder.iterdir()] if folder.is_dir() else super().parts(file_id)

    def open_part(self, file_id: str, part: str) -> IO[bytes]:
        path = _parts_folder(file_id) / part
        return path.open("rb") if path.is_file() else super().open_part(file_id, part)

    def add_part(self, file_id: str, part: str, content: bytes) -> None:
        if not Path(file_id).is_file():
            super().add_part(file_id, part, content)
            return
        folder = _parts_folder(file_id)
        folder.mkdir(exist_ok=True)
        with (folder / part).open("xb") as file:
            file.write(content)


def _parts_folder(file_id: str) -> Path:
    return Path(f"{file_id}.parts")


Snapshot = Callable[[], BaseModel]


@dataclass(eq=False)
class Context:
    """What a running operation may know of, and say to, the outside.

    Parameters
    ----------
    time_limit : float, optional
        Seconds from now at which the operation must be done; default: no limit.
    seed : int, optional
        Seed of :attr:`rng`.
    device : str
        Torch device the job was given, ``"cpu"`` or ``"cuda:0"``.
    files : Files
        Where file ids of the request are looked up.
    limits : mapping of str to int
        Instance limits by name, such as ``{"max_edges": 1000000}``; see :meth:`require`.
    on_report : callable, optional
        Receives every report's members and its snapshot.
    is_cancelled : callable, optional
        Asked by :attr:`cancelled`.
    save_checkpoint : callable, optional
        Receives every checkpoint.
    resume : bytes, optional
        The last checkpoint of an earlier attempt, or None.
    run_id : str
        The same for every attempt at one job, so that one that is repeated can tell what an earlier one has done.
    owner : str, optional
        Whose job it is.

    Examples
    --------
    >>> context = Context(time_limit=10, seed=1)
    >>> context.stop, 9 < context.remaining <= 10
    (False, True)
    """

    time_limit: float | None = None
    seed: int | None = None
    device: str = "cpu"
    files: Files = field(default_factory=MemoryFiles)
    limits: Mapping[str, int] = field(default_factory=dict)
    on_report: Callable[[dict[str, Any], Snapshot | None], None] | None = None
    is_cancelled: Callable[[], bool] | None = None
    save_checkpoint: Callable[[bytes], None] | None = None
    resume: bytes | None = None
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    owner: str | None = None

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self.deadline = math.inf if self.time_limit is None else self.started + self.time_limit

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers of this job; the same seed gives the same stream."""
        return np.random.default_rng(self.seed)

    @property
    def elapsed(self) -> float:
        """Seconds since the operation started."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, never negative; infinite without one."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether the caller asked for the best answer so far, now."""
        return self.is_cancelled is not None and self.is_cancelled()

    @property
    def stop(self) -> bool:
        """Whether to return the best answer so far: cancelled, or out of time."""
        return self.is_over()

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether to go on to what comes next: cancelled, or this share of the time is over.

        Parameters
        ----------
        share : float
            In (0, 1].
        """
        return self.cancelled or time.monotonic() >= self.started + share * (self.deadline - self.started)

    def report(self, *, fraction: float | None = None, snapshot: Snapshot | None = None, **members: Any) -> None:
        """Say how far the operation has come.

        Parameters
        ----------
        fraction : float, optional
            Share of the work that is done, in [0, 1].
        snapshot : callable, optional
            Builds the result as it stands. It is called now and then, so that a job that must be killed leaves its best answer.
        **members
            JSON values to show, such as ``value=11624, bound=12083``.
        """
        if self.on_report is not None:
            self.on_report(({} if fraction is None else {"fraction": fraction}) | members, snapshot)

    def checkpoint(self, state: bytes) -> None:
        """Keep `state`; a later attempt of the job finds it in :attr:`resume`."""
        if self.save_checkpoint is not None:
            self.save_checkpoint(state)

    def require(self, limit: str, actual: int, what: str, *, pointer: str | None = None) -> None:
        """Raise :class:`TooLarge` if `actual` exceeds the limit of that name."""
        allowed = self.limits.get(limit)
        if allowed is not None and actual > allowed:
            raise TooLarge(
                f"{actual} {what}; this service takes at most {allowed} (setting FORESOLVE_{limit.upper()})", pointer=pointer
            )

    def map(self, function: Callable[[Item], Output], items: Iterable[Item]) -> list[Output | MapFailure]:
        """Apply `function` to every item, in order; a failed item comes back in its place as a :class:`MapFailure`.

        A failure that nobody foresaw is told by an incident's id alone; what it was goes to the log.

        Examples
        --------
        >>> def half(x):
        ...     if x % 2:
        ...         raise InvalidInput(f"{x} is odd")
        ...     return x // 2
        >>> [getattr(y, "index", y) for y in Context().map(half, [4, 3])]
        [2, 1]
        """
        outputs: list[Output | MapFailure] = []
        for index, item in enumerate(items):
            try:
                outputs.append(function(item))
            except ForesolveError as error:
                outputs.append(MapFailure(index, error.problem()))
            except Exception as error:
                problem = internal_error()
                log.error("an item failed; incident %s", problem["incident"], exc_info=error)
                outputs.append(MapFailure(index, problem))
        return outputs


@dataclass(frozen=True, eq=False)
class Operation(Generic[Request, Result]):
    """A typed, pure function with all that is needed to serve it.

    Attributes
    ----------
    name : str
        Kind of the job, command and (with underscores) client method: ``max-cut``.
    path : str
        Below ``/v1/``: ``graphs/max-cut``.
    request, result : type[pydantic.BaseModel]
    run : callable
        ``run(request, context) -> result``.
    summary : str
        One line for the endpoint's title and the command's help.
    description : str
        Markdown for the endpoint's page.
    resources : Resources
    examples : mapping of str to dict
        Title to request body; every one runs as it stands.
    volatile : sequence of str
        Fields of the result that differ between equal runs, as dotted paths that pass through lists: ``history.seconds``.
    warm : callable, optional
        Loads or compiles what the first run would otherwise wait for. Called once in every process that serves the operation.
    from_file : callable, optional
        ``from_file(file_id) -> body`` for the command line's file argument.
    from_objects : callable, optional
        ``from_objects(*objects, **options) -> body`` for the client, from NetworkX graphs, arrays and the like.
    makes : ResourceKind, optional
        The kind of resource that results name by id; the service then lists, shows and deletes those.
    """

    name: str
    path: str
    request: type[Request]
    result: type[Result]
    run: Callable[[Request, Context], Result]
    summary: str
    description: str = ""
    resources: Resources = Resources()
    examples: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    volatile: Sequence[str] = ("timings",)
    warm: Callable[[], None] | None = None
    from_file: Callable[[str], dict[str, Any]] | None = None
    from_objects: Callable[..., dict[str, Any]] | None = None
    makes: ResourceKind | None = None

    def time_limit(self, request: BaseModel) -> float:
        """Return the seconds the request asks for (`options.time_limit`), else those of :attr:`resources`."""
        asked = getattr(getattr(request, "options", None), "time_limit", None)
        return self.resources.time_limit if asked is None else float(asked)

    def seed(self, request: BaseModel) -> int | None:
        """Return the request's `options.seed`."""
        return getattr(getattr(request, "options", None), "seed", None)

    def comparable(self, document: Any) -> Any:
        """Return a result document without its volatile fields.

        Examples
        --------
        >>> operation = Operation("n", "n", BaseModel, BaseModel, lambda request, context: request, "", volatile=["rows.seconds"])
        >>> operation.comparable({"value": 1, "rows": [{"seconds": 0.1, "value": 2}]})
        {'value': 1, 'rows': [{'value': 2}]}
        """
        for path in self.volatile:
            document = _without(document, path.split("."))
        return document


def _without(document: Any, path: Sequence[str]) -> Any:
    if isinstance(document, list):
        return [_without(element, path) for element in document]
    if not isinstance(document, dict) or path[0] not in document:
        return document
    if len(path) == 1:
        return {key: value for key, value in document.items() if key != path[0]}
    return document | {path[0]: _without(document[path[0]], path[1:])}
