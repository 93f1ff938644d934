"""A desk with models on it."""

from __future__ import annotations

import pytest

from solvers.gam.operations.fit import GAM_FIT
from tests.solvers.gam.operations.running import SMALL, Desk, people, table

ROWS = people()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def spending(desk: Desk) -> str:
    """A regression with holdout rows."""
    model: str = desk(GAM_FIT, table(ROWS, "spent") | {"params": SMALL, "holdout": {"fraction": 0.25}}).model_id
    return model


@pytest.fixture
def leaving(desk: Desk) -> str:
    """A binary classification."""
    model: str = desk(GAM_FIT, table(ROWS, "left") | {"params": SMALL}).model_id
    return model
