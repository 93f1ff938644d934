"""What the auctions' runs say: parity with published figures, the comparison of mechanisms, and how long a run takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from auctions.mechanism.comparison import FEWEST_FOR_A_TEST, paired_tests, table_of
from auctions.mechanism.experiment import RunSpec
from benchmarks.auctions.plan import BOCA, BOCA_PUBLISHED_EPOCHS, CCA, DOMAINS, ML_CCA, MLCA, MLHCA
from benchmarks.ledger import markdown

COMPARED_AT = (20, 40, 41, 60, 80, 100)
PARITY_AT = (10, 20, 40, 50, 60, 80, 100)
PUBLISHED = Path(__file__).with_name("published_paths.json")

# Standard errors by which the means of independent samples may differ.
TOLERANCE = 4.0

Found = list[tuple[RunSpec, dict[str, Any] | None]]


def tables(found: Found) -> str:
    """Return the tables of the runs that are there; those that are missing are named."""
    compared = {(spec.instance["domain"], spec.instance["seed"]) for spec, _ in found if spec.label == MLHCA}
    parts = ["# Auctions", "## Parity with the published runs", _parity(found)]
    parts += ["## Mechanisms compared", *(_comparison(found, domain, compared) for domain in DOMAINS)]
    parts += ["## Seconds of an auction of 100 questions", _seconds(found), _missing(found)]
    return "\n\n".join(part for part in parts if part)


def _parity(found: Found) -> str:
    rows = []
    apart = total = 0
    for label in (CCA, ML_CCA):
        for domain in DOMAINS:
            published = _published()[f"{label}/{domain.upper()}"]
            runs = [run for spec, run in found if run and (spec.label, spec.instance["domain"]) == (label, domain)]
            runs = [run for run in runs if run["instance_seed"] <= 200]
            if len(runs) < FEWEST_FOR_A_TEST:
                continue
            for variant in ("clock", "raised"):
                cells = []
                for questions in PARITY_AT:
                    losses = [_loss(run, variant, questions) for run in runs]
                    place = published["questions"].index(questions)
                    mean, error = published[variant][place], published[f"{variant}_standard_error"][place]
                    own = stdev(losses) / len(losses) ** 0.5
                    distance = (fmean(losses) - mean) / hypot(own, error)
                    total += 1
                    apart += abs(distance) > TOLERANCE
                    cells.append(f"{fmean(losses):.2f} / {mean:.2f} ({distance:+.1f})")
                rows.append([f"{label} {domain.upper()} {variant}", str(len(runs)), *cells])
    verdict = f"{total - apart} of {total} means agree within {TOLERANCE:.0f} standard errors."
    return (
        "Mean loss in %, ours / published (their distance in standard errors of the difference), after a number of questions:\n\n"
        + markdown(["auction", "runs", *map(str, PARITY_AT)], rows)
        + f"\n\n{verdict}"
    )


def _comparison(found: Found, domain: str, compared: set[tuple[str, int]]) -> str:
    runs = [
        (spec, run)
        for spec, run in found
        if run and spec.instance["domain"] == domain and (domain, spec.instance["seed"]) in compared
    ]
    if not runs:
        return ""
    lines = [
        line | {"domain": domain, "label": _name(spec, line["variant"]), "instance": spec.instance["seed"], "seed": spec.seed}
        for spec, run in runs
        for line in run["lines"]
        if line["questions"] in COMPARED_AT and (line["variant"] == "clock" or spec.label in (CCA, ML_CCA))
    ]
    n = max(row["n"] for row in table_of(lines))
    few = n < FEWEST_FOR_A_TEST
    body = _values(lines) if few else _means(lines)
    what = "values of each seed" if few else "mean, 95 % t interval"
    text = f"### {domain.upper()}\n\nLoss in % ({what}) after a number of questions:\n\n{body}"
    if not few and any(spec.label == MLHCA for spec, _ in runs):
        text += f"\n\nPaired differences to {MLHCA}, in % of the optimum (95 % t interval, p):\n\n{_tests(lines)}"
    if domain == "mrvm":
        text += "\n\nBOCA's published loss in MRVM: 7.77 % after 100 questions (50 instances); on seed 10001 7.66 %."
    return text


def _name(spec: RunSpec, variant: str) -> str:
    name = spec.label
    if spec.label == BOCA:
        name = f"{BOCA}, a tenth of its epochs"
    return name if variant == "clock" else f"{name}, raised bids"


def _values(lines: list[dict[str, Any]]) -> str:
    return _grid(lines, lambda group: ", ".join(f"{line['loss_percent']:.2f}" for line in group))


def _means(lines: list[dict[str, Any]]) -> str:
    def cell(group: list[dict[str, Any]]) -> str:
        (row,) = table_of([line | {"label": "", "variant": ""} for line in group])
        text = f"{row['mean_loss_percent']:.2f}"
        return text if row["low"] is None else f"{text} [{row['low']:.2f}, {row['high']:.2f}]"

    return _grid(lines, cell)


def _grid(lines: list[dict[str, Any]], cell: Any) -> str:
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["label"], line["questions"]), []).append(line)
    labels = list(dict.fromkeys(line["label"] for line in lines))
    rows = []
    for label in labels:
        counts = {len(groups[label, questions]) for questions in COMPARED_AT if (label, questions) in groups}
        cells = [cell(groups[label, questions]) if (label, questions) in groups else "" for questions in COMPARED_AT]
        rows.append([label, str(max(counts)), *cells])
    return markdown(["mechanism", "runs", *map(str, COMPARED_AT)], rows)


def _tests(lines: list[dict[str, Any]]) -> str:
    tests = paired_tests([line | {"variant": "clock"} for line in lines], MLHCA)
    cells = {}
    for test in tests:
        if test["p_value"] is not None:
            interval = f"[{test['low']:.2f}, {test['high']:.2f}]"
            cells[test["label"], test["questions"]] = f"{test['mean_difference']:+.2f} {interval} p={test['p_value']:.2g}"
    rows = [
        [label, *(cells.get((label, questions), "") for questions in COMPARED_AT)]
        for label in dict.fromkeys(label for label, _ in cells)
    ]
    return markdown(["mechanism", *map(str, COMPARED_AT)], rows)


def _seconds(found: Found) -> str:
    rows = []
    for domain in DOMAINS:
        for label in (CCA, ML_CCA, MLCA, BOCA, BOCA_PUBLISHED_EPOCHS, MLHCA):
            runs = [run for spec, run in found if run and (spec.label, spec.instance["domain"]) == (label, domain)]
            if runs:
                parts = [fmean(run["parts"][part] for run in runs) for part in ("training", "search", "wdp")]
                seconds = [fmean(run[kind] for run in runs) for kind in ("seconds", "cpu_seconds")]
                unsure = sum(not line["deterministic"] for run in runs for line in run["lines"][-1:])
                rows.append([f"{domain.upper()} {label}", str(len(runs)), *(f"{s:.1f}" for s in [*seconds, *parts]), str(unsure)])
    header = ["auction", "runs", "wall", "CPU", "training", "price search", "winner determination", "not deterministic"]
    return "Mean over the runs, one thread each:\n\n" + markdown(header, rows)


def _missing(found: Found) -> str:
    missing: dict[str, list[int]] = {}
    for spec, run in found:
        if run is None:
            missing.setdefault(f"{spec.label} on {spec.instance['domain'].upper()}", []).append(spec.instance["seed"])
    if not missing:
        return ""
    return "Missing: " + "; ".join(f"{name}, {_ranges(seeds)}" for name, seeds in missing.items()) + "."


def _ranges(seeds: Sequence[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds from {min(seeds)} to {max(seeds)}"


def _loss(run: dict[str, Any], variant: str, questions: int) -> float:
    (line,) = (line for line in run["lines"] if (line["variant"], line["questions"]) == (variant, questions))
    return float(line["loss_percent"])


@cache
def _published() -> dict[str, Any]:
    paths: dict[str, Any] = json.loads(PUBLISHED.read_text())["paths"]
    return paths
