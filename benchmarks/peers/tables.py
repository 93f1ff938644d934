"""The tables of a comparison, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import NamedTuple

from benchmarks.instances import INDEPENDENT_SET, MAXIMISED, VERTEX_COVER, load
from benchmarks.ledger import disturbed, markdown
from benchmarks.peers.catalogue import OURS
from benchmarks.peers.measuring import Line, Run, tolerance
from solvers.graphs.result import ratio

# Late is over this multiple of the limit.
LATE = 1.05

TITLES = {
    "max-cut": "Maximum cut",
    "vertex-cover": "Least vertex cover",
    "independent-set": "Largest independent set",
    "set-cover": "Least-cost set cover",
}


class Column(NamedTuple):
    """A solver with a time limit."""

    solver: str
    limit: float


class Found(NamedTuple):
    """The lines of a problem, and how to look at them."""

    problem: str
    instances: list[str]
    columns: list[Column]
    lines: dict[tuple[str, Column], list[Line]]

    @property
    def ours(self) -> list[Column]:
        return sorted((column for column in self.columns if column.solver == OURS), key=lambda column: column.limit)

    @property
    def peers(self) -> list[Column]:
        return [column for column in self.columns if column.solver != OURS]

    def of(self, column: Column) -> list[Line]:
        return [line for name in self.instances for line in self.lines[name, column]]


def report(problem: str, lines: dict[Run, Line]) -> str:
    """Return the tables of a problem: ours with its bounds, all at the longest limit, ours over each peer's, and notes."""
    found = collected(problem, lines)
    parts = [f"## {TITLES[problem]}"]
    if found.ours:
        parts += ["Ours, worst to best over the seeds:", own_table(found)]
    if found.peers:
        limit = found.peers[0].limit
        parts += [f"At {limit:g} s, worst to best over the seeds:", values_table(found, limit), ratios_table(found, limit)]
    return "\n\n".join([*parts, *notes(problem, lines.values())])


def collected(problem: str, lines: dict[Run, Line]) -> Found:
    by_column: dict[tuple[str, Column], list[Line]] = {}
    for run, line in lines.items():
        shown = as_cover(run, line) if (problem, run.problem) == (VERTEX_COVER, INDEPENDENT_SET) else line
        by_column.setdefault((run.instance, Column(run.solver, run.limit)), []).append(shown)
    names = list(dict.fromkeys(name for name, _ in by_column))
    return Found(problem, names, list(dict.fromkeys(column for _, column in by_column)), by_column)


def as_cover(run: Run, line: Line) -> Line:
    """Return the line of an independent set as that of the cover that it leaves over."""
    size = load(VERTEX_COVER, run.instance).size
    return line | {name: None if line[name] is None else size - line[name] for name in ("value", "bound")}


def own_table(found: Found) -> str:
    """Return our values at every limit, with the weakest bound and ratio at the longest."""
    weakest = max if found.problem in MAXIMISED else min
    rows = []
    for name in found.instances:
        last = found.lines[name, found.ours[-1]]
        values = [spread(found.lines[name, column]) for column in found.ours]
        proven = min(ratio(line["value"], line["bound"]) for line in last)
        bound = weakest(line["bound"] for line in last)
        rows.append([name, str(load(found.problem, name).best_known), *values, f"{bound:g}", f"{proven:.4f}"])
    limits = [f"{column.limit:g} s" for column in found.ours]
    return markdown(["instance", "best known", *limits, "bound", "proven ratio"], rows)


def values_table(found: Found, limit: float) -> str:
    columns = [column for column in [*found.ours, *found.peers] if column.limit == limit]
    rows = []
    for name in found.instances:
        values = [spread(found.lines[name, column]) for column in columns]
        rows.append([name, str(load(found.problem, name).best_known), *values])
    return markdown(["instance", "best known", *(column.solver for column in columns)], rows)


def ratios_table(found: Found, limit: float) -> str:
    """Return how ours compares, each seed with the same seed, or with the only run that there is, and how often each proves its value."""
    ours = Column(OURS, limit)
    if ours not in found.columns:
        return ""
    title = "Ours over the peer's" if found.problem in MAXIMISED else "The peer's over ours"
    rows = []
    for column in (ours, *found.peers):
        lines = found.of(column)
        ratios = [] if column == ours else ratios_with(found, ours, column)
        cells = (f"{min(ratios):.4f}", f"{fmean(ratios):.4f}") if ratios else ("-", "-")
        without = sum(line["value"] is None for line in lines)
        proven = sum(is_proven(line) for line in lines)
        rows.append([column.solver, *cells, f"{without} of {len(lines)}", f"{proven} of {len(lines)}"])
    said = f"{title} at {limit:g} s, over all instances and seeds; at least 1 where ours is as good or better:"
    return f"{said}\n\n{markdown(['solver', 'worst', 'mean', 'runs without an answer', 'proven optimal'], rows)}"


def ratios_with(found: Found, ours: Column, peer: Column) -> list[float]:
    ratios = []
    for name in found.instances:
        by_seed = {line["seed"]: line["value"] for line in found.lines[name, peer]}
        for line in found.lines[name, ours]:
            value = by_seed.get(line["seed"], found.lines[name, peer][0]["value"])
            if value is not None:
                ratios.append(line["value"] / value if found.problem in MAXIMISED else value / line["value"])
    return ratios


def is_proven(line: Line) -> bool:
    """Return whether no integer lies between value and bound."""
    if line["value"] is None or line["bound"] is None:
        return False
    return abs(line["value"] - line["bound"]) < 1 - tolerance(line["bound"])


def notes(problem: str, lines: Iterable[Line]) -> list[str]:
    lines = list(lines)
    said = []
    if problem == VERTEX_COVER and any(line["solver"] != OURS for line in lines):
        said.append("Peers that take no covers were asked for independent sets, whose complements are shown.")
    for solver, names in _grouped(lines, lambda line: line.get("method") and (line["solver"], line["method"])).items():
        said.append(f"{solver[0]} had no answer on {names}; shown is the best of {solver[1]} in as much time.")
    for (solver, fault), names in _grouped(lines, lambda line: line.get("fault") and (line["solver"], line["fault"])).items():
        said.append(f"{solver} on {names}: {fault}.")
    late = [line for line in lines if line["seconds"] and line["seconds"] > LATE * line["limit"]]
    if late:
        listed = ", ".join(
            f"{line['solver']} on {line['instance']} ({line['seconds']:.1f} s of {line['limit']:g})" for line in late
        )
        said.append(f"Late, and counted all the same: {listed}.")
    disturbance = disturbed(lines)
    return [*said, disturbance] if disturbance else said


def _grouped(lines: list[Line], reason: Callable[[Line], tuple[str, str] | None]) -> dict[tuple[str, str], str]:
    """Return the instances, listed, of the lines that share a reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        shared = reason(line)
        if shared:
            groups.setdefault(shared, []).append(line["instance"])
    return {shared: ", ".join(dict.fromkeys(names)) for shared, names in groups.items()}


def spread(lines: list[Line]) -> str:
    values = [line["value"] for line in lines if line["value"] is not None]
    if not values:
        return "-"
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"
