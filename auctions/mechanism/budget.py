"""How many questions of which kind a bidder is asked, given how many it may be asked in all.

The rule is that of the MLHCA paper (Soumalias, Heiss, Weissteiner, Seuken, ICML 2025) at 100 questions, 20 + 20 + 1 + 59, scaled to any
budget Q with r(y) = floor(y + 1/2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from solvers.operation import InvalidInput

Mechanism = Literal["cca", "ml_cca", "mlca", "boca", "mlhca"]
MECHANISMS: tuple[Mechanism, ...] = ("cca", "ml_cca", "mlca", "boca", "mlhca")

DEFAULT_BUDGET = 100
QUERIES_PER_GROUP = 4  # of MLCA and BOCA: the main economy and three marginal ones

COUNTS: dict[str, tuple[Mechanism, ...]] = {
    "n_cca_rounds": ("cca", "ml_cca", "mlhca"),
    "n_ml_demand_queries": ("ml_cca", "mlhca"),
    "bridge_bid": ("mlhca",),
    "n_initial_value_queries": ("mlca", "boca"),
    "n_value_queries": ("mlca", "boca", "mlhca"),
}
"""The explicit counts, each with the mechanisms that know it."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """Questions per bidder and phase.

    Attributes
    ----------
    n_cca_rounds, n_ml_demand_queries, n_initial_value_queries, n_value_queries : int
        `n_value_queries` does not count the bridge.
    bridge_bid : bool
        Whether the value of the bundle a bidder would win is asked before the networks choose.
    """

    n_cca_rounds: int = 0
    n_ml_demand_queries: int = 0
    bridge_bid: bool = False
    n_initial_value_queries: int = 0
    n_value_queries: int = 0

    @property
    def total(self) -> int:
        """Questions per bidder in all."""
        return (
            self.n_cca_rounds
            + self.n_ml_demand_queries
            + int(self.bridge_bid)
            + self.n_initial_value_queries
            + self.n_value_queries
        )


def question_counts(
    mechanism: Mechanism,
    query_budget: int | None = None,
    *,
    domain: str | None = None,
    explicit: Mapping[str, int | bool] | None = None,
) -> QuestionCounts:
    """Split a budget over the phases of a mechanism.

    Parameters
    ----------
    mechanism : {"cca", "ml_cca", "mlca", "boca", "mlhca"}
    query_budget : int, optional
        Questions per bidder, 100 unless said otherwise.
    domain : str, optional
        ML-CCA spends half of its budget on the clock in "mrvm", a fifth elsewhere.
    explicit : mapping, optional
        Counts that override the rule.

    Raises
    ------
    InvalidInput
        If a count is not one of the mechanism's, or the counts do not add up to a budget that was given.

    Examples
    --------
    >>> question_counts("mlhca", 10)
    QuestionCounts(n_cca_rounds=2, n_ml_demand_queries=2, bridge_bid=True, n_initial_value_queries=0, n_value_queries=5)
    >>> question_counts("mlca", explicit={"n_value_queries": 8}).total
    48
    """
    if query_budget is not None and query_budget < 0:
        raise InvalidInput("a bidder cannot be asked less than no question", pointer="/query_budget")
    explicit = {name: count for name, count in (explicit or {}).items() if count is not None}
    for name, count in explicit.items():
        if mechanism not in COUNTS[name]:
            raise InvalidInput(f"{mechanism} has no {name}", pointer=f"/parameters/{name}")
        if count < 0:
            raise InvalidInput("a count is 0 or more", pointer=f"/parameters/{name}")
    counts = replace(_split(mechanism, DEFAULT_BUDGET if query_budget is None else query_budget, domain), **explicit)  # type: ignore[arg-type]
    if explicit and query_budget is not None and counts.total != query_budget:
        raise InvalidInput(f"the counts add up to {counts.total} questions, not to {query_budget}", pointer="/query_budget")
    return counts


def _split(mechanism: Mechanism, budget: int, domain: str | None) -> QuestionCounts:
    if budget == 0:
        return QuestionCounts()
    if mechanism == "cca":
        return QuestionCounts(n_cca_rounds=budget)
    if mechanism == "ml_cca":
        n_clock = max(1, _rounded((0.5 if domain == "mrvm" else 0.2) * budget))
        return QuestionCounts(n_cca_rounds=n_clock, n_ml_demand_queries=budget - n_clock)
    if mechanism in ("mlca", "boca"):
        n_initial = max(1, _rounded(0.4 * budget))
        return QuestionCounts(n_initial_value_queries=n_initial, n_value_queries=budget - n_initial)
    n_clock = max(1, _rounded(0.2 * budget))
    n_demand = min(_rounded(0.2 * budget), budget - n_clock)
    left = budget - n_clock - n_demand
    return QuestionCounts(n_clock, n_demand, bridge_bid=left > 0, n_value_queries=max(0, left - 1))


def _rounded(questions: float) -> int:
    return math.floor(questions + 0.5)
