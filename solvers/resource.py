"""Kinds of resources: what operations make once and later requests name by id, such as a predictor.

A resource is a file with a media type of its own, so that there is one kind of id everywhere: the operation that makes one saves it
with :meth:`ResourceKind.save` and returns the id, and the service lists, shows and deletes the files of that media type. It lives until
its owner deletes it. Demo resources are built in and the same for everyone; their ids begin with ``demo-``.

Some kinds take whatever file is of their form, whoever wrote it, and judge what it holds. A sealed kind is trusted as it stands, so that
only what :meth:`ResourceKind.save` wrote is one of it: a part tells it, which no upload has.

A resource that can change has versions: the file is the first, later ones are parts of it, of which the newest counts. Two changes at
the same time cannot both become the next version, so that none is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from solvers.operation import Files

Shown = TypeVar("Shown", bound=BaseModel)

MEDIA_TYPE_PREFIX = "application/vnd.foresolve."
"""Files whose media type begins so are resources: they are not forgotten with the job that made them."""

DEMO_PREFIX = "demo-"
VERSION_PREFIX = "version-"


class Content(NamedTuple):
    """A resource's bytes as they stand, and the number of changes plus one."""

    content: bytes
    version: int


class Download(NamedTuple):
    """What a view returns that is no JSON.

    Attributes
    ----------
    content : bytes
    media_type : str
    name : str or None
        Of the file that a browser saves; None for what it shows.
    """

    content: bytes
    media_type: str
    name: str | None = None


@dataclass(frozen=True, eq=False)
class ResourceView:
    """A further look at a resource, below its path: a GET with query parameters.

    Attributes
    ----------
    name : str
        Last part of the path: ``plot``.
    summary : str
    query : type[pydantic.BaseModel]
        The parameters.
    render : callable
        ``render(content, query)`` returns a model of `result` or a :class:`Download`. Raises `InvalidInput`, or `NotThere` where
        the resource has nothing of what is asked for.
    result : type[pydantic.BaseModel], optional
        What is shown as JSON.
    media_types : tuple of str
        Those of downloads.
    """

    name: str
    summary: str
    query: type[BaseModel]
    render: Callable[[bytes, Any], BaseModel | Download]
    result: type[BaseModel] | None = None
    media_types: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ResourceKind(Generic[Shown]):
    """What a family keeps, where it is listed and how it is shown.

    Attributes
    ----------
    name : str
        Of one of them: ``predictor``.
    path : str
        Of the list, below ``/v1/``; its last part names several of them: ``graphs/predictors``.
    media_type : str
        Begins with :data:`MEDIA_TYPE_PREFIX`; tells the files of this kind from others.
    view : type[pydantic.BaseModel]
        What is shown of one.
    show : callable
        ``show(content) -> view`` of the bytes of a file, whoever wrote them; raises ``InvalidInput`` where they are none of this kind.
    summary : str
        One sentence that says what it is.
    demos : mapping of str to callable
        Id to the function that makes the content of a built-in one, always the same.
    views : tuple of ResourceView
    brief : callable, optional
        ``brief(content)`` returns the JSON members that a list shows of each; without it a list shows none.
    id_name : str, optional
        What results call the id; one is shown with its id under this name too.
    retained : mapping of str to str
        Names of parts that go before the resource does, to the setting that says after how many days.
    demo_parts : mapping of str to callable
        Name to the function that makes the part of that name of a built-in one: ``make(id)``.
    is_sealed : bool
        Whether only what operations made counts, and no file that was uploaded.

    Examples
    --------
    >>> from solvers.operation import MemoryFiles
    >>> kind = ResourceKind("note", "notes", "application/vnd.foresolve.note+json", BaseModel, BaseModel.model_validate_json, "A note.",
    ...                     {"demo-empty": lambda: b"{}"})
    >>> files = MemoryFiles()
    >>> kind.read(files, kind.save(files, b'{"a": 1}')), kind.read(files, "demo-empty")
    (b'{"a": 1}', b'{}')
    """

    name: str
    path: str
    media_type: str
    view: type[Shown]
    show: Callable[[bytes], Shown]
    summary: str
    demos: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    views: tuple[ResourceView, ...] = ()
    brief: Callable[[bytes], dict[str, Any]] | None = None
    id_name: str | None = None
    retained: Mapping[str, str] = field(default_factory=dict)
    demo_parts: Mapping[str, Callable[[str], bytes]] = field(default_factory=dict)
    is_sealed: bool = False

    def __post_init__(self) -> None:
        if not self.media_type.startswith(MEDIA_TYPE_PREFIX):
            raise ValueError(f"the media type of a {self.name} begins with {MEDIA_TYPE_PREFIX}")
        for demo in self.demos:
            if not demo.startswith(DEMO_PREFIX):
                raise ValueError(f"the id of a built-in {self.name} begins with {DEMO_PREFIX}")

    @property
    def plural(self) -> str:
        """What several of them are called."""
        return self.path.rpartition("/")[2]

    @property
    def seal(self) -> str:
        """Name of the part that every one of a sealed kind has."""
        return f"is-{self.name}"

    def save(self, files: Files, content: bytes, *, name: str | None = None) -> str:
        """Keep the content of a new one, under a name of its own or that of the kind, and return its id."""
        resource_id = files.save(content, name=name or f"{self.name}.json", media_type=self.media_type)
        if self.is_sealed:
            files.add_part(resource_id, self.seal, b"")
        return resource_id

    def read(self, files: Files, resource_id: str) -> bytes:
        """Return the content of one, built in or the caller's.

        Raises
        ------
        solvers.operation.UnknownFile
            If there is none.
        solvers.operation.InvalidInput
            If the kind is sealed and no operation made it.
        """
        return self.newest(files, resource_id).content

    def newest(self, files: Files, resource_id: str) -> Content:
        """Return the content of one with its version; faults as :meth:`read`."""
        demo = self.demos.get(resource_id)
        if demo is not None:
            return Content(demo(), 1)
        parts = files.parts(resource_id)
        version = newest_version(parts)
        content = Content(self.read_version(files, resource_id, version), version)
        if self.is_sealed and self.seal not in parts:
            from solvers.operation import InvalidInput  # which imports this module

            raise InvalidInput(f"the file is no {self.name}: only what an operation of the service made is one")
        return content

    def read_version(self, files: Files, resource_id: str, version: int) -> bytes:
        """Return the content of one as it was."""
        if resource_id in self.demos:
            return self.read_part(files, resource_id, f"{VERSION_PREFIX}{version}")
        stream = files.open(resource_id) if version == 1 else files.open_part(resource_id, f"{VERSION_PREFIX}{version}")
        with stream:
            return stream.read()

    def revise(self, files: Files, resource_id: str, content: bytes, version: int) -> bool:
        """Make `content` the given version; False if there is one already, or if the resource is built in and stays."""
        if resource_id in self.demos:
            return False
        try:
            files.add_part(resource_id, f"{VERSION_PREFIX}{version}", content)
        except FileExistsError:
            return False
        return True

    def read_part(self, files: Files, resource_id: str, part: str) -> bytes:
        """Return a part of one; :class:`solvers.operation.UnknownFile` if it has none of that name."""
        if resource_id in self.demos and part in self.demo_parts:
            return self.demo_parts[part](resource_id)
        with files.open_part(resource_id, part) as stream:
            return stream.read()


def newest_version(parts: list[str]) -> int:
    """Return the number of the newest version among the names of parts.

    Examples
    --------
    >>> newest_version(["rows", "version-2", "version-10"])
    10
    """
    return max((int(part.removeprefix(VERSION_PREFIX)) for part in parts if part.startswith(VERSION_PREFIX)), default=1)
