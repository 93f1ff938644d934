"""What an experiment says: means with t intervals, and paired t tests against a baseline."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

FEWEST_FOR_A_TEST = 5

RUN_COLUMNS = (
    "domain",
    "instance_seed",
    "seed",
    "label",
    "mechanism",
    "preset",
    "variant",
    "questions",
    "demand_queries",
    "value_queries",
    "efficiency",
    "loss_percent",
    "revenue",
    "relative_revenue",
    "cleared",
    "gap",
    "deterministic",
    "seconds",
)
TABLE_COLUMNS = (
    "domain",
    "label",
    "variant",
    "questions",
    "n",
    "mean_loss_percent",
    "standard_error",
    "low",
    "high",
    "cleared_percent",
    "n_not_deterministic",
)


def table_of(lines: Sequence[dict[str, Any]], confidence: float = 0.95) -> list[dict[str, Any]]:
    """Return a row per domain, label, variant and number of questions, in the order in which they first occur.

    Parameters
    ----------
    lines : sequence of dict
        As runs record them.
    confidence : float
        Of the t intervals, which are left out below five runs.

    Examples
    --------
    >>> line = {"domain": "gsvm", "label": "cca", "variant": "clock", "questions": 20, "cleared": False, "deterministic": True}
    >>> row, = table_of([line | {"loss_percent": loss} for loss in (10.0, 12.0)])
    >>> row["n"], row["mean_loss_percent"], row["standard_error"], row["low"]
    (2, 11.0, 1.0, None)
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["domain"], line["label"], line["variant"], line["questions"]), []).append(line)
    rows = []
    for (domain, label, variant, questions), group in groups.items():
        losses = np.array([line["loss_percent"] for line in group if line["loss_percent"] is not None])
        low, high = _interval(losses, confidence)
        rows.append(
            {
                "domain": domain,
                "label": label,
                "variant": variant,
                "questions": questions,
                "n": len(losses),
                "mean_loss_percent": float(losses.mean()) if len(losses) else None,
                "standard_error": _standard_error(losses),
                "low": low,
                "high": high,
                "cleared_percent": 100 * sum(line["cleared"] for line in group) / len(group),
                "n_not_deterministic": sum(not line["deterministic"] for line in group),
            }
        )
    return rows


def paired_tests(
    lines: Sequence[dict[str, Any]], baseline: str, *, variant: str = "clock", confidence: float = 0.95
) -> list[dict[str, Any]]:
    """Return a paired t test of the losses of every other label against those of the baseline, per domain and number of questions.

    Runs are paired by instance and seed; pairs of which one is missing are left out. Below five pairs, interval and p-value are None.
    """
    losses: dict[tuple[Any, ...], dict[tuple[str, int], float]] = {}
    for line in lines:
        if line["variant"] == variant and line["loss_percent"] is not None:
            place = (line["domain"], line["questions"], line["label"])
            losses.setdefault(place, {})[line["instance"], line["seed"]] = line["loss_percent"]
    tests = []
    for (domain, questions, label), own in losses.items():
        others = losses.get((domain, questions, baseline))
        if label == baseline or others is None:
            continue
        differences = np.array([own[pair] - others[pair] for pair in own if pair in others])
        low, high = _interval(differences, confidence)
        tests.append(
            {
                "domain": domain,
                "questions": questions,
                "label": label,
                "baseline": baseline,
                "n": len(differences),
                "mean_difference": float(differences.mean()) if len(differences) else None,
                "low": low,
                "high": high,
                "p_value": _p_value(differences),
            }
        )
    return tests


def as_csv(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> str:
    r"""Return rows as CSV, None as an empty field.

    Examples
    --------
    >>> as_csv([{"a": 1, "b": None, "c": 3}], ["a", "b"])
    'a,b\n1,\n'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _standard_error(sample: np.ndarray) -> float | None:
    return float(sample.std(ddof=1) / np.sqrt(len(sample))) if len(sample) > 1 else None


def _interval(sample: np.ndarray, confidence: float) -> tuple[float | None, float | None]:
    error = _standard_error(sample)
    if error is None or len(sample) < FEWEST_FOR_A_TEST:
        return None, None
    reach = float(stats.t.ppf((1 + confidence) / 2, len(sample) - 1)) * error
    return float(sample.mean()) - reach, float(sample.mean()) + reach


def _p_value(differences: np.ndarray) -> float | None:
    error = _standard_error(differences)
    if error is None or len(differences) < FEWEST_FOR_A_TEST:
        return None
    if error == 0:
        return 1.0 if differences[0] == 0 else 0.0
    return float(2 * stats.t.sf(abs(differences.mean()) / error, len(differences) - 1))
