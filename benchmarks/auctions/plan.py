"""Which auctions are run, in which order: parity with published figures, the comparison of mechanisms, and what takes longer.

Parity runs take the published mechanism (preset "reference") but for `refresh="epoch"`; the comparison takes every mechanism by its
defaults, and CCA and ML-CCA from the parity runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from auctions.mechanism.budget import Mechanism
from auctions.mechanism.experiment import RunSpec

REPORT_AT = (10, 20, 40, 41, 50, 60, 80, 100)
PARITY = {"preset": "reference", "refresh": "epoch"}
DOMAINS = ("srvm", "gsvm", "lsvm", "mrvm")

CCA, ML_CCA, MLCA, BOCA, MLHCA = "CCA", "ML-CCA", "MLCA", "BOCA", "MLHCA"
BOCA_PUBLISHED_EPOCHS = "BOCA, published epochs"
MECHANISMS: dict[str, tuple[Mechanism, dict[str, Any]]] = {
    CCA: ("cca", PARITY),
    ML_CCA: ("ml_cca", PARITY),
    MLCA: ("mlca", {}),
    BOCA: ("boca", {}),
    BOCA_PUBLISHED_EPOCHS: ("boca", {"epoch_factor": 1.0}),
    MLHCA: ("mlhca", {}),
}

# The seeds of each domain, first those of the required runs, then those of the long benchmark.
CCA_SEEDS = range(101, 201)
ML_CCA_SEEDS = {"srvm": range(101, 121), "gsvm": range(101, 121), "lsvm": range(101, 111), "mrvm": range(10001, 10002)}
COMPARED_SEEDS = {"srvm": range(101, 106), "gsvm": range(101, 106), "lsvm": range(101, 106), "mrvm": range(10001, 10002)}
BOCA_DOMAINS = ("gsvm", "lsvm")

LONG_ML_CCA_SEEDS = ML_CCA_SEEDS | {"lsvm": range(101, 121), "mrvm": range(10001, 10004)}
LONG_COMPARED_SEEDS = {"srvm": range(101, 111), "gsvm": range(101, 111), "lsvm": range(101, 111), "mrvm": range(10001, 10004)}


def required() -> list[RunSpec]:
    """Return the required runs in their order."""
    return _runs(ML_CCA_SEEDS, COMPARED_SEEDS, BOCA_DOMAINS)


def long() -> list[RunSpec]:
    """Return the required runs and those of the long benchmark."""
    runs = _runs(LONG_ML_CCA_SEEDS, LONG_COMPARED_SEEDS, DOMAINS)
    return [*runs, *_of(BOCA_PUBLISHED_EPOCHS, "lsvm", range(101, 102))]


def with_budget(specs: Iterable[RunSpec], questions: int) -> list[RunSpec]:
    """Return the same runs with another number of questions."""
    report_at = tuple(count for count in REPORT_AT if count <= questions)
    return [replace(spec, query_budget=questions, report_at=report_at) for spec in specs]


def _runs(
    ml_cca: dict[str, range],
    compared: dict[str, range],
    boca_domains: Sequence[str],
) -> list[RunSpec]:
    specs = [spec for domain in DOMAINS for spec in _of(CCA, domain, CCA_SEEDS)]
    for domain in DOMAINS:
        specs += _of(CCA, domain, [seed for seed in compared[domain] if seed not in CCA_SEEDS])
        specs += _of(ML_CCA, domain, ml_cca[domain])
        for label in (MLHCA, MLCA, *([BOCA] if domain in boca_domains else [])):
            specs += _of(label, domain, compared[domain])
    return specs


def _of(label: str, domain: str, seeds: Iterable[int]) -> list[RunSpec]:
    mechanism, parameters = MECHANISMS[label]
    return [
        RunSpec(
            instance={"domain": domain, "seed": seed},
            mechanism=mechanism,
            label=label,
            parameters=parameters,
            report_at=REPORT_AT,
            bid_variants=("clock", "raised"),
        )
        for seed in seeds
    ]
