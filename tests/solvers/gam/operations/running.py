"""Operations run as a library call runs them, on files in memory, and tables to run them on."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.operation import Context, MemoryFiles, Operation


class Desk:
    """Runs operations one after the other on the same files."""

    def __init__(self, **context: Any) -> None:
        self.files = MemoryFiles()
        self._context = context

    def __call__(self, operation: Operation, body: dict[str, Any], **context: Any) -> Any:
        request = operation.request.model_validate(body)
        return operation.run(request, Context(files=self.files, **self._context | context))

    def upload(self, content: bytes) -> str:
        return self.files.save(content, name="table", media_type="application/octet-stream")


def people(n: int = 400, seed: int = 0, **columns: Any) -> list[dict[str, Any]]:
    """Rows with a number, a level and a gap, and targets of three kinds that depend on them."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        age, plan = int(rng.integers(18, 80)), ("basic", "plus", "pro")[rng.integers(3)]
        income = None if rng.uniform() < 0.1 else round(float(rng.lognormal(3, 0.5)), 3)
        lean = 0.05 * (age - 45) + {"basic": 1.0, "plus": 0.0, "pro": -1.0}[plan] + (0.5 if income is None else 0.0)
        row = {
            "age": age,
            "plan": plan,
            "income": income,
            "spent": round(10 + lean + float(rng.normal(scale=0.3)), 4),
            "left": "yes" if rng.uniform() < 1 / (1 + np.exp(-lean)) else "no",
            "visits": int(rng.poisson(np.exp(0.3 * lean))),
            "grade": ("low", "middle", "high")[int(np.digitize(lean + rng.normal(scale=0.5), [-0.7, 0.7]))],
        }
        rows.append(row | {name: value(number) if callable(value) else value for name, value in columns.items()})
    return rows


FEATURES = ("age", "plan", "income")


def table(rows: list[dict[str, Any]], target: str, *more: str) -> dict[str, Any]:
    """The part of a request that gives some columns of rows, and the target."""
    names = [*FEATURES, target, *more]
    return {"data": {"rows": [{name: row[name] for name in names} for row in rows]}, "target": target}


def csv_text(rows: list[dict[str, Any]]) -> str:
    lines = [",".join(rows[0])]
    lines += [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


SMALL = {"n_stumps": 30, "alpha": 3.0}
