"""What a model says of rows, in the order of the columns that exports give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.gam import AdditiveModel
from solvers.gam.export.output_names import output_names
from tests.solvers.gam.random_models import offsets_of

LINKS = ("identity", "log", "logit", "softmax")


def scored_by_the_model(model: AdditiveModel, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Predictions, probabilities, decisions and contributions by output name; an exposure is no part of the decision."""
    names = output_names(model)
    offset = offsets_of(model, columns)
    is_exposure = model.offset is not None and model.offset.kind == "exposure"
    decision = model.decision(columns, None if is_exposure else offset)
    scored = {names.prediction: model.predict(columns, offset).tolist()}
    if names.probabilities:
        scored |= zip(names.probabilities, model.probabilities(decision).T.tolist(), strict=True)
    scored |= zip(names.decisions, decision.reshape(-1, model.n_outputs).T.tolist(), strict=True)
    contributions = model.contributions(columns).reshape(len(decision), -1)
    flat = [name for per_output in names.contributions for name in per_output]
    return scored | dict(zip(flat, contributions.T.tolist(), strict=True))


def assert_equal_scores(got: dict[str, Sequence[Any]], expected: dict[str, list[Any]], rtol: float = 1e-12) -> None:
    """Numbers agree to `rtol`, labels exactly."""
    for name, values in expected.items():
        if isinstance(values[0], float):
            np.testing.assert_allclose(np.array(got[name], dtype=float), values, rtol=rtol, atol=1e-12, err_msg=name)
        else:
            assert list(got[name]) == values, name
