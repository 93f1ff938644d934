"""The built-in models that examples name: who leaves a service, by age, plan and visits; and the same after two edits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

import numpy as np

from solvers.gam.operations import baselines, kept_data
from solvers.gam.operations.edit import EditRequest, run_edit
from solvers.gam.operations.fit import fit
from solvers.gam.operations.fit_request import FitRequest
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.models import DEMO_EDITED, MODELS, bands_part
from solvers.operation import Context, MemoryFiles
from solvers.resource import VERSION_PREFIX

MADE = datetime(2026, 1, 1, tzinfo=UTC)
EDITS = (
    {"op": "monotonise", "feature": "age", "direction": "decreasing"},
    {"op": "set", "feature": "plan", "level": "plus", "value": 0.0},
)


class Demo(NamedTuple):
    """A built-in model with its parts."""

    record: bytes
    parts: Mapping[str, bytes]


@cache
def demo_model(demo_id: str) -> Demo:
    """Return a built-in model, always the same."""
    context = Context(files=MemoryFiles(), run_id="demo")
    model_id = fit(_request(), context).model_id
    parts = {part: MODELS.read_part(context.files, model_id, part) for part in (kept_data.PART, baselines.PART, bands_part(1))}
    versions = [MODELS.read(context.files, model_id)]
    for operation in EDITS if demo_id == DEMO_EDITED else ():
        run_id = f"demo-{len(versions)}"
        request = EditRequest.model_validate({"model": model_id, "operations": [operation], "note": "agreed with the team"})
        run_edit(request, Context(files=context.files, run_id=run_id))
        versions.append(MODELS.read(context.files, model_id))
    dated = [_dated(ModelRecord.from_bytes(version)) for version in versions]
    return Demo(dated[-1], parts | {f"{VERSION_PREFIX}{number}": version for number, version in enumerate(dated, start=1)})


def _dated(record: ModelRecord) -> bytes:
    entries = [entry.model_copy(update={"at": MADE}) for entry in record.entries]
    return record.model_copy(update={"created": MADE, "timings": {}, "entries": entries}).to_bytes()


def _request() -> FitRequest:
    rng = np.random.RandomState(0)
    rows = []
    for _ in range(1000):
        age, plan, visits = int(rng.randint(18, 80)), ("basic", "plus", "pro")[rng.randint(3)], int(rng.randint(0, 20))
        lean = 2.0 * (30 < age < 55) - 1.0 + {"basic": 0.8, "plus": 0.1, "pro": -0.9}[plan] - 0.1 * (visits - 8)
        left = bool(rng.uniform() < 1 / (1 + np.exp(-lean)))
        rows.append({"age": age, "plan": plan, "visits": None if rng.uniform() < 0.05 else visits, "left": left})
    return FitRequest.model_validate(
        {
            "data": {"rows": rows},
            "target": "left",
            "params": {"n_stumps": 40, "alpha": 20.0},
            "holdout": {"fraction": 0.25},
            "name": "who leaves",
        }
    )
