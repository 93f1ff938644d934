"""What the dispatcher asks of an executor: to run jobs somewhere, tell how they fare, and stop them.

An executor knows nothing of the database. It tells of a job through the `events` callable it was submitted with: any number of
:class:`Reported` and :class:`Checkpointed`, then one :class:`Ended`, after which nothing of the job runs any more. The callable
may be called from any thread and returns at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from app.problems import Problem

Outcome = Literal["succeeded", "failed", "cancelled", "lost"]


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job as an executor needs to know it; its body is `request`, or the file `request_file` of its owner."""

    id: str
    attempt: int
    owner: str
    operation: str
    time_limit: float
    memory_mb: int
    request: bytes | None = None
    request_file: str | None = None
    seed: int | None = None
    light: bool = False
    gpu: str = "none"
    resume: bool = False


class Reported(NamedTuple):
    """The job says how far it is."""

    job_id: str
    attempt: int
    members: dict[str, Any]


class Checkpointed(NamedTuple):
    """The job has a checkpoint among the files."""

    job_id: str
    attempt: int


class Ended(NamedTuple):
    """The job is over.

    Attributes
    ----------
    outcome : {"succeeded", "failed", "cancelled", "lost"}
        `lost` means that its worker died of itself and another attempt may succeed.
    result : bytes, optional
        JSON of the result, or of the last incumbent of a job that did not succeed.
    problem : dict, optional
        Why it failed or was lost.
    files : list of dict
        `id`, `name`, `media_type` and `size` of the files it saved.
    traceback : str, optional
        For the log alone.
    """

    job_id: str
    attempt: int
    outcome: Outcome
    result: bytes | None = None
    problem: Problem | None = None
    files: tuple[dict[str, Any], ...] = ()
    traceback: str | None = None


JobEvent = Reported | Checkpointed | Ended
OnJobEvent = Callable[[JobEvent], None]


class Capacity(NamedTuple):
    """How many jobs could start now: `light` more of the light ones beside `normal` of any kind, on a GPU or not."""

    normal: int
    light: int
    gpu: bool


class Executor(Protocol):
    """Runs jobs."""

    @property
    def ready(self) -> bool:
        """Whether jobs would start at once."""
        ...

    def start(self, on_idle: Callable[[], None]) -> None:
        """Begin to make room for jobs; `on_idle` is called when there is more of it."""
        ...

    def submit(self, spec: JobSpec, events: OnJobEvent) -> None:
        """Run a job; its time starts now."""
        ...

    def cancel(self, job_id: str, *, grace: float | None = None) -> None:
        """Ask a job to return its best answer, and stop it by force after `grace` seconds (default: the executor's own)."""
        ...

    def capacity(self) -> Capacity:
        """Return how many jobs could start now."""
        ...

    def close(self) -> None:
        """Stop everything; nothing of any job runs afterwards."""
        ...
