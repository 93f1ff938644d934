"""Fit a model of rents through the service, read it, smooth a curve, and take it home as SQL that SQLite runs.

Starts a service of its own on a free port of this machine, with a temporary folder for its data, and stops it at the end. The rents are
drawn: they rise with the area, fall and rise again with the year of building, and depend on the district.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import numpy as np

from app.client import Client
from app.own_service import own_service

DISTRICTS = {"centre": 320.0, "harbour": 80.0, "hills": 150.0, "north": -60.0}


def main() -> None:
    rows = drawn_rents(2000)
    print("Starting the service (the first start compiles the solvers) ...")
    with own_service() as url, Client(url) as client:
        request = {"data": {"rows": rows}, "target": "rent", "holdout": {"fraction": 0.2}, "selection": {"rule": "parsimony"}}
        fitted = client.run("gam-fit", request)
        print(
            f"{fitted.n_steps} steps; the best forest of that many stumps is at most {100 * fitted.gap:.2f} % better in training"
        )
        scores = {"this model": fitted.score.holdout} | {name: one.holdout for name, one in fitted.baselines.items()}
        print("mean squared error on rows held back:", ", ".join(f"{name} {score:.0f}" for name, score in scores.items()))
        for shape in sorted(fitted.shape_functions, key=lambda shape: -shape.importance):
            print(f"  {shape.feature:9}{100 * shape.importance:3.0f} %, {min(shape.scores):+.0f} to {max(shape.scores):+.0f}")

        smoother = [{"op": "smooth", "feature": "year", "window": 3}]
        edited = client.run("gam-edit", {"model": fitted.model_id, "operations": smoother, "note": "no jumps between years"})
        print(f"the curve of the year smoothed: {edited.score_before:.0f} before, {edited.score_after:.0f} after")

        query = {"model": fitted.model_id, "format": "sql", "dialect": "sqlite", "table": "flats"}
        by_sqlite = scored(client.run("gam-export", query).text, rows)
        predicted = client.run("gam-predict", {"model": fitted.model_id, "data": {"rows": rows}}).predictions
    print(f"SQLite's predictions and the service's differ by at most {np.abs(by_sqlite - np.array(predicted)).max():.1e}")


def drawn_rents(n: int) -> list[dict[str, Any]]:
    """Return flats with their rents; of some the year is not known."""
    rng = np.random.default_rng(0)
    area, year = rng.gamma(8.0, 9.0, n).round(), rng.integers(1890, 2024, n)
    district = rng.choice(list(DISTRICTS), n)
    base = 150 + 9 * area - 0.03 * area**2 + 250 * np.cos((year - 1890) / 134 * 2 * np.pi)
    rent = base + [DISTRICTS[name] for name in district] + rng.normal(0, 60, n)
    known = rng.random(n) > 0.05
    return [
        {"area": a, "year": y if is_known else None, "district": d, "rent": r}
        for a, y, is_known, d, r in zip(
            area.tolist(), year.tolist(), known, district.tolist(), rent.round(2).tolist(), strict=True
        )
    ]


def scored(query: str, rows: list[dict[str, Any]]) -> np.ndarray:
    """Return the predictions of a query for the rows of a table, by SQLite."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        database.execute("CREATE TABLE flats (area REAL, year REAL, district TEXT, rent REAL)")
        database.executemany("INSERT INTO flats VALUES (:area, :year, :district, :rent)", rows)
        return np.array([row["prediction"] for row in database.execute(query)])


if __name__ == "__main__":
    main()
