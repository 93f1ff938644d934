"""What can happen in an auction. The log of these events is the auction: its state is a fold over them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

Bundle = tuple[int, ...]
Prices = tuple[float, ...]
Kind = Literal["dq", "vq"]
Phase = Literal["cca", "ml_dq", "bridge", "ml_vq", "initial_vq"]


@dataclass(frozen=True, slots=True)
class Planned:
    """Value queries were chosen together and will be asked one a round.

    Attributes
    ----------
    phase : str
    bundles : tuple
        Per round and bidder the bundle to ask for, None for no question.
    notes : dict
        What is worth knowing of how they were chosen, such as the economies they stem from.
    """

    type: ClassVar[str] = "planned"
    phase: Phase
    bundles: tuple[tuple[Bundle | None, ...], ...]
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A round was opened.

    Attributes
    ----------
    phase, kind : str
    prices : tuple of float, optional
        Per unit of each good, of a demand query.
    bundles : tuple, optional
        Per bidder the bundle whose value is asked, None for no question.
    asked : tuple of bool
        Which bidders have a question to answer.
    notes : dict
        What the networks predict of it.
    """

    type: ClassVar[str] = "asked"
    phase: Phase
    kind: Kind
    prices: Prices | None
    bundles: tuple[Bundle | None, ...] | None
    asked: tuple[bool, ...]
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """A valid answer to the open query came in; a later one before the round closes replaces it.

    Attributes
    ----------
    bidder : int
    answer : tuple of int, or float
        The bundle it demands, or the value of the bundle it was asked for.
    conflicts : tuple of int
        Rounds of its own earlier answers that no monotone value explains together with this one.
    """

    type: ClassVar[str] = "answered"
    bidder: int
    answer: Bundle | float
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer was refused; nothing else has changed."""

    type: ClassVar[str] = "rejected"
    bidder: int
    answer: Any
    code: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The open round takes no more answers."""

    type: ClassVar[str] = "closed"


@dataclass(frozen=True, slots=True)
class Reactivated:
    """The auctioneer takes a bidder back that had missed too many answers."""

    type: ClassVar[str] = "reactivated"
    bidder: int


@dataclass(frozen=True, slots=True)
class PhaseEnded:
    """A phase has no more questions."""

    type: ClassVar[str] = "phase_ended"
    phase: Phase
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The auction asks nothing more.

    Attributes
    ----------
    reason : {"cleared", "finished", "certified"}
    """

    type: ClassVar[str] = "ended"
    reason: Literal["cleared", "finished", "certified"]


Event = Planned | Asked | Answered | Rejected | Closed | Reactivated | PhaseEnded | Ended
_CLASSES: dict[str, type[Event]] = {
    event.type: event for event in (Planned, Asked, Answered, Rejected, Closed, Reactivated, PhaseEnded, Ended)
}


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return an event as JSON values.

    Examples
    --------
    >>> event_to_dict(Answered(1, (0, 2)))
    {'type': 'answered', 'bidder': 1, 'answer': (0, 2), 'conflicts': ()}
    """
    return {"type": event.type} | asdict(event)


def event_from_dict(document: dict[str, Any]) -> Event:
    """Return the event of a document that may have been through JSON.

    Examples
    --------
    >>> event_from_dict({"type": "answered", "bidder": 1, "answer": [0, 2], "conflicts": []})
    Answered(bidder=1, answer=(0, 2), conflicts=())
    """
    members = {name: value if name == "notes" else _as_tuples(value) for name, value in document.items() if name != "type"}
    return _CLASSES[document["type"]](**members)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value
