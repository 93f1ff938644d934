"""What the terminal shows of an auction while it runs: its rounds, their prices, and how efficient it would be to end there."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

SHOWN_ROUNDS = 15
SHOWN_PRICES = 6
BAR_WIDTH = 20


class AuctionDisplay:
    """Shows every round: on a terminal a live table of the last ones, else a line for each.

    Parameters
    ----------
    console : rich.console.Console
    title : str
    """

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._rounds: list[dict[str, Any]] = []
        self._written = 0
        self._estimate: float | None = None
        self._fraction = 0.0
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(self._table(), console=console, transient=True, auto_refresh=False)
            self._live.start()

    def report(self, members: Mapping[str, Any]) -> None:
        """Take in what the simulation reports; may be called from any thread."""
        with self._lock:
            self._estimate = members.get("estimate", self._estimate)
            self._fraction = members.get("fraction", self._fraction)
            if "round" in members:
                self._rounds.append(dict(members))

    def say(self, line: str) -> None:
        """Show a line of its own."""
        self._console.print(Text(line), soft_wrap=True)

    def tick(self) -> None:
        """Bring the display up to date."""
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
            return
        with self._lock:
            new, self._written = self._rounds[self._written :], len(self._rounds)
        for members in new:
            self.say(round_line(members))

    def close(self) -> None:
        """Show what is left to show, and leave the terminal as it was."""
        self.tick()
        if self._live is not None:
            self._live.stop()

    def _table(self) -> Group:
        with self._lock:
            rounds = self._rounds[-SHOWN_ROUNDS:]
            head = f"{self._title}  {time.monotonic() - self._started:.0f} s"
            if self._estimate is not None:
                head += f" of about {self._estimate:.0f} s"
            filled = round(BAR_WIDTH * self._fraction)
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("round", "phase", "prices", "over-demand", "efficiency"):
            table.add_column(name, justify="left" if name in ("phase", "prices") else "right")
        for members in rounds:
            table.add_row(*map(Text, _cells(members)))
        return Group(Text(f"{head}  {'#' * filled}{'.' * (BAR_WIDTH - filled)}"), table)


def round_line(members: Mapping[str, Any]) -> str:
    """Return a round in one line.

    Examples
    --------
    >>> round_line({"round": 3, "phase": "cca", "prices": [1.5, 20.0], "over_demand": 2, "efficiency": 0.8125})
    'round 3  cca  prices 1.5 20  over-demand 2  efficiency 81.25 %'
    """
    number, phase, prices, over_demand, efficiency = _cells(members)
    parts = [f"round {number}", phase]
    parts += [f"{name} {cell}" for name, cell in (("prices", prices), ("over-demand", over_demand)) if cell]
    return "  ".join([*parts, f"efficiency {efficiency or 'unknown'}"])


def _cells(members: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    prices, efficiency, over_demand = members.get("prices"), members.get("efficiency"), members.get("over_demand")
    return (
        str(members["round"]),
        str(members.get("phase", "")),
        "" if prices is None else _short(prices),
        "" if over_demand is None else str(over_demand),
        "" if efficiency is None else f"{100 * efficiency:.2f} %",
    )


def _short(prices: list[float]) -> str:
    shown = " ".join(f"{price:.4g}" for price in prices[:SHOWN_PRICES])
    return shown if len(prices) <= SHOWN_PRICES else f"{shown} .. ({len(prices)} goods)"
