"""Kinds of resources: what operations make once and later requests name by id, such as a predictor.

A resource is a file with a media type of its own, so that there is one kind of id everywhere: the operation that makes one saves it
with :meth:`ResourceKind.save` and returns the id, and the service lists, shows and deletes the files of that media type. It lives until
its owner deletes it. Demo resources are built in and the same for everyone; their ids begin with ``demo-``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from solvers.operation import Files

View = TypeVar("View", bound=BaseModel)

MEDIA_TYPE_PREFIX = "application/vnd.foresolve."
"""Files whose media type begins so are resources: they are not forgotten with the job that made them."""

DEMO_PREFIX = "demo-"


@dataclass(frozen=True, eq=False)
class ResourceKind(Generic[View]):
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
    view: type[View]
    show: Callable[[bytes], View]
    summary: str
    demos: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)

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

    def save(self, files: Files, content: bytes) -> str:
        """Keep the content of a new one and return its id."""
        return files.save(content, name=f"{self.name}.json", media_type=self.media_type)

    def read(self, files: Files, resource_id: str) -> bytes:
        """Return the content of one, built in or the caller's; :class:`solvers.operation.UnknownFile` if there is none."""
        demo = self.demos.get(resource_id)
        if demo is not None:
            return demo()
        with files.open(resource_id) as stream:
            return stream.read()
