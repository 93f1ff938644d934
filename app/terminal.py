"""What the command line shows of a solve: progress on standard error while it runs, a table of the result on standard output."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

PLAIN_LINE_SECONDS = 1.0
LONGEST_LINE = 60
UNWRAPPED = 10_000


class Display(Protocol):
    """What a solve tells of itself while it runs."""

    def report(self, members: Mapping[str, Any]) -> None:
        """Take in what the operation reports; may be called from any thread."""
        ...

    def say(self, line: str) -> None:
        """Show a line of its own."""
        ...

    def tick(self) -> None:
        """Bring the display up to date."""
        ...


class ProgressDisplay:
    """Shows how far an operation is: a live bar on a terminal, else a line now and then.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it.
    title : str
    time_limit : float or None
        Seconds the bar stands for; without, it only pulses.
    """

    def __init__(self, console: Console, title: str, time_limit: float | None) -> None:
        self._console = console
        self._time_limit = time_limit
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._members: dict[str, Any] = {}
        self._shown = ""
        self._next_line = 0.0
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, TextColumn("{task.fields[members]}"), console=console, transient=True)
            self._task = self._bar.add_task(title, total=None, members="")
            self._bar.start()

    def report(self, members: Mapping[str, Any]) -> None:
        """Take in what the operation reports; may be called from any thread."""
        with self._lock:
            self._members.update(members)

    def say(self, line: str) -> None:
        """Show a line of its own."""
        self._console.print(Text(line), soft_wrap=True)

    def tick(self) -> None:
        """Bring the display up to date."""
        with self._lock:
            members = dict(self._members)
        fraction = members.pop("fraction", None)
        elapsed = time.monotonic() - self._started
        if fraction is None and self._time_limit:
            fraction = min(1.0, elapsed / self._time_limit)
        line = progress_line(members)
        if self._bar is not None:
            self._bar.update(self._task, total=None if fraction is None else 1.0, completed=fraction or 0.0, members=line)
        elif line != self._shown and elapsed >= self._next_line:
            self._shown = line
            self._next_line = elapsed + PLAIN_LINE_SECONDS
            self._console.print(Text(f"{elapsed:7.1f} s  {line}"), soft_wrap=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()


def output_console() -> Console:
    """Return standard output; where it is no terminal, lines are as long as they are."""
    console = Console()
    return console if console.is_terminal else Console(width=UNWRAPPED)


def progress_line(members: Mapping[str, Any]) -> str:
    """Return the members of a report in one line, with the gap where there are a value and a bound.

    Examples
    --------
    >>> progress_line({"value": 11624.0, "bound": 12083, "source": "annealing"})
    'value 11624  bound 12083  gap 3.80 %  source annealing'
    """
    parts: list[str] = []
    for name, value in members.items():
        if value is None or isinstance(value, (dict, list)):
            continue
        parts.append(f"{name} {_short(value)}")
        if name == "bound" and "gap" not in members and (gap := _gap(members)) is not None:
            parts.append(f"gap {100 * gap:.2f} %")
    return "  ".join(parts)


def result_table(result: BaseModel) -> Table:
    """Return the result's scalar members, nested ones by dotted names, as a table of two columns."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in _rows(result.model_dump(mode="json"), ""):
        table.add_row(Text(name), Text(value))
    return table


def _rows(members: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in members.items():
        if value is None or value == []:
            continue
        if isinstance(value, dict):
            yield from _rows(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            yield f"{prefix}{name}", _abridged(value)
        else:
            yield f"{prefix}{name}", _short(value)


def _abridged(items: list[Any]) -> str:
    whole = str(items)
    return whole if len(whole) <= LONGEST_LINE else f"{len(items)} items"


def _short(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _gap(members: Mapping[str, Any]) -> float | None:
    value, bound = members.get("value"), members.get("bound")
    if not isinstance(value, (int, float)) or not isinstance(bound, (int, float)):
        return None
    return abs(value - bound) / max(1.0, abs(bound))
