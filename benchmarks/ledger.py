"""What was measured so far: a file with one JSON line per run, so that a benchmark that was stopped is taken up again."""

from __future__ import annotations

import json
import os
import platform
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

# A run that had less than this share of a core was disturbed by others.
UNDISTURBED = 0.95

# Seconds; of shorter runs the share says little.
SHORTEST = 0.1


class Ledger:
    """The lines of a results file, found by the fields that identify a run.

    Parameters
    ----------
    path : Path
        Made with its folder at the first line.
    key : tuple of str
        The fields that identify a run.
    """

    def __init__(self, path: Path, key: tuple[str, ...]) -> None:
        self._path = path
        self._key = key
        self._lock = threading.Lock()
        self._lines: dict[tuple[Any, ...], dict[str, Any]] = {}
        if path.exists():
            for text in path.read_text().splitlines():
                # A run that was killed in the middle of a line leaves a torn one behind.
                if text.startswith("{") and text.endswith("}"):
                    line = json.loads(text)
                    self._lines[tuple(line[name] for name in key)] = line

    def find(self, **fields: Any) -> dict[str, Any] | None:
        """Return the line of a run, if it is there."""
        return self._lines.get(tuple(fields[name] for name in self._key))

    def append(self, **fields: Any) -> dict[str, Any]:
        """Write the line of a run, with the date and the machine."""
        today = datetime.now(UTC).date().isoformat()
        line = fields | {"date": today, "python": platform.python_version(), "cores": os.cpu_count()}
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            is_torn = self._path.exists() and self._path.stat().st_size and not self._path.read_bytes().endswith(b"\n")
            with self._path.open("a") as file:
                file.write(("\n" if is_torn else "") + json.dumps(line) + "\n")
            self._lines[tuple(line[name] for name in self._key)] = line
        return line


def disturbed(lines: list[dict[str, Any]]) -> str | None:
    """Say so if runs did not have a core to themselves, by their `seconds` and `cpu_seconds`."""
    shares = [line["cpu_seconds"] / line["seconds"] for line in lines if (line["seconds"] or 0) >= SHORTEST]
    low = [share for share in shares if share < UNDISTURBED]
    if not low:
        return None
    return (
        f"The machine was not quiet: {len(low)} of {len(shares)} runs had less than {UNDISTURBED:.0%} of a core, one of them "
        f"{min(low):.0%}."
    )


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a table as Markdown, its columns aligned, all but the first to the right."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def joined(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([joined(header), f"|{rule}|", *map(joined, rows)])
